"""Half-power tests: a building shaken by a harmonic load at many frequencies, and its damping from the answer.

The experiment is that of its file, devices and rigs included, with a harmonic load in place of its excitation. Every
frequency is a run of its own by a copy of one loop, in threads. A first sweep finds the peak, a second one lies close
about it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.files.recording import Recording as RecordingSpec
from hyloop.files.schema import Experiment
from hyloop.loop import Loop
from hyloop.metrics.resonance import fit_resonance, half_power, phase_damping
from hyloop.report.half_power_result import HalfPowerTest
from hyloop.study.build import build
from hyloop.study.harmonic_sweep import FITTED, STEADY, HarmonicSweep, Point

__all__ = ["half_power_test", "swept"]

CYCLES = (2, 10, 3)  # of ramp up, constant load and ramp down (Al-Subaihawi et al. 2024)
WIDE = (0.6, 1.4)  # first sweep, of the expected frequency
POINTS = 15  # of a sweep
NARROW = 2.5  # second sweep: so many times the damping to both sides
LEAST_WIDTH = 0.02  # of the frequency, to both sides
GUESS = 0.05  # damping, for the first load where none is given
ORDERS = {"m/s": 1, "rad/s": 1, "m/s2": 2, "rad/s2": 2}


def half_power_test(
    experiment: Experiment,
    at: str | Mapping[str, float],
    *,
    amplitude: float | None = None,
    channel: str | None = None,
    frequencies: Sequence[float] | None = None,
    peak: tuple[str, float] | None = None,
    cycles: tuple[int, int, int] = CYCLES,
    as_given: bool = False,
    workers: int | None = None,
    allow_scripts: bool = False,
    progress: Callable[[float], None] | None = None,
) -> HalfPowerTest:
    """Find frequency and damping of the mode that a harmonic load at some degree of freedom excites most.

    Parameters
    ----------
    at : str, or mapping of str to float
        Degree of freedom of the load, or several with factors on the amplitude. At a rotation the load is a moment.
    amplitude : float, optional
        In N or N m. It may be left out with `peak`.
    channel : str, optional
        What is looked at; default: the displacement of the (first) degree of freedom.
    frequencies : sequence of float, optional
        In Hz. Default: a wide sweep about the mode and a narrow one about its peak.
    peak : (channel, value), optional
        Scale the load until this channel peaks near the value at resonance: the damping of nonlinear devices depends
        on how far they move.
    cycles : (int, int, int)
        Of ramp up, constant load and ramp down.
    as_given : bool
        Keep these cycles even where the answer is not steady yet. By default the constant part is doubled until it is.
    workers : int, optional
        Runs at the same time; by default one on every core.

    Returns
    -------
    HalfPowerTest
    """
    loads = {at: 1.0} if isinstance(at, str) else dict(at)
    _check(loads, amplitude, frequencies, peak, cycles, workers)
    whole = experiment.model_copy(update={"recording": RecordingSpec()})
    loop = build(whole, allow_scripts=allow_scripts).loop
    return swept(
        loop,
        loads,
        amplitude=amplitude,
        channel=channel,
        frequencies=frequencies,
        peak=peak,
        cycles=cycles,
        as_given=as_given,
        workers=workers,
        progress=progress,
        title=experiment.title,
        source=experiment.source or "",
    )


def swept(
    loop: Loop,
    at: Mapping[str, float],
    *,
    amplitude: float | None = None,
    channel: str | None = None,
    frequencies: Sequence[float] | None = None,
    peak: tuple[str, float] | None = None,
    cycles: tuple[int, int, int] = CYCLES,
    as_given: bool = False,
    workers: int | None = None,
    progress: Callable[[float], None] | None = None,
    title: str = "",
    source: str = "",
) -> HalfPowerTest:
    """The same with a loop of one's own; arguments as in `half_power_test`."""
    _check(at, amplitude, frequencies, peak, cycles, workers)
    structure, first = loop.structure, next(iter(at))
    pattern = np.zeros(structure.n)
    for name, factor in at.items():
        pattern[structure.dof(name)] = factor
    column = structure.names[structure.dof(first)]
    looked_at = f"u.{column}" if channel is None else channel
    loaded = loop.replace(structure=replace(structure, loads=pattern[:, None], load_names=()))
    for name in (looked_at, *([peak[0]] if peak else ())):
        if name not in loaded.channels:
            raise UnknownName("channel", name, loaded.channels, where="half-power test")
    sweep = HarmonicSweep(loaded, looked_at, peak[0] if peak else looked_at, cycles, as_given, workers, progress)
    expected, flexibility = _mode(loaded, pattern)
    force = amplitude
    if force is None:
        force = abs(peak[1]) * 2 * GUESS / flexibility if peak else 1.0
    wanted = abs(peak[1]) if peak else None
    if frequencies is None:
        wide = np.linspace(*WIDE, POINTS) * expected
        points, force = sweep.to_peak(wide, force, wanted, 0.5)
        given = _narrow(wide, points)
        points, force = sweep.to_peak(given, force, wanted, 0.9)
        if np.isnan(half_power(given, [abs(point.amplitude) for point in points]).damping):
            # a curve that leans does not lie about its peak: all frequencies together
            given = np.unique(np.append(wide, given))
            points = sweep.run(given, force, 1.0)
    else:
        given = np.unique(np.asarray(frequencies, dtype=float))
        points, force = sweep.to_peak(given, force, wanted, 1.0)
    if progress:
        progress(1.0)
    unit = loaded.channels[looked_at]
    order, z = ORDERS.get(unit, 0), np.array([point.amplitude for point in points])
    change = np.array([point.change for point in points])
    notes = []
    if change.max() > STEADY:
        notes.append(
            f"The answer is not steady at {int((change > STEADY).sum())} of {len(given)} frequencies: it still changes "
            f"by up to {change.max():.1%} over the last cycles, so that the damping found is too large. Give more "
            "cycles, or leave out --as-given."
        )
    return HalfPowerTest(
        title=title,
        source=source,
        at={name: force * factor for name, factor in at.items()},
        channel=looked_at,
        unit=unit,
        frequency=given,
        amplitude=z,
        cycles=np.array([point.cycles for point in points]),
        change=change,
        band=half_power(given, np.abs(z)),
        fit=fit_resonance(given, z / (2j * np.pi * given) ** order),
        by_phase=phase_damping(given, z / (2j * np.pi * given) ** order),
        order=order,
        expected=expected,
        peak=None if peak is None else (peak[0], abs(peak[1]), max(point.largest for point in points)),
        notes=tuple(notes),
    )


def _mode(loop: Loop, pattern: np.ndarray) -> tuple[float, float]:
    """Frequency of the mode that answers most to the load, and its flexibility along the load."""
    modes = loop.modes(min(30, loop.structure.n))
    moving = modes.omega > 0.0
    share = np.zeros(len(moving))
    share[moving] = ((modes.shapes.T @ pattern)[moving] / modes.omega[moving]) ** 2
    k = int(np.argmax(share))
    if not share[k] > 0.0:
        raise BadInput("half-power test: no mode answers to a load there; give another degree of freedom.")
    return float(modes.omega[k] / (2 * np.pi)), float(share[k])


def _highest(points: Sequence[Point]) -> int:
    return int(np.argmax([abs(point.amplitude) for point in points]))


def _narrow(wide: np.ndarray, points: Sequence[Point]) -> np.ndarray:
    """Frequencies about the peak, as far as the damping found at first reaches."""
    z = np.array([point.amplitude for point in points])
    try:
        rough = fit_resonance(wide, z)
        centre, width = rough.frequency, max(NARROW * rough.damping, LEAST_WIDTH)
    except (BadInput, np.linalg.LinAlgError):
        centre, width = float(wide[_highest(points)]), 0.2
    if not wide[0] < centre < wide[-1]:
        centre = float(wide[_highest(points)])
    width = min(width, 0.5)
    return np.linspace(1.0 - width, 1.0 + width, POINTS) * centre


def _check(
    at: Mapping[str, float],
    amplitude: float | None,
    frequencies: Sequence[float] | None,
    peak: tuple[str, float] | None,
    cycles: tuple[int, int, int],
    workers: int | None,
) -> None:
    if not at or not all(np.isfinite(factor) and factor != 0.0 for factor in at.values()):
        raise BadInput("half-power test: name at least one degree of freedom that is loaded, with a factor not zero.")
    if amplitude is None and peak is None:
        raise BadInput("half-power test: give the amplitude of the load, or a channel and the peak it shall have.")
    if amplitude is not None and not 0.0 < amplitude < np.inf:
        raise OutOfBounds(f"half-power test: amplitude = {amplitude!r} must be positive.")
    if peak is not None and not 0.0 < abs(peak[1]) < np.inf:
        raise OutOfBounds(f"half-power test: the peak of {peak[0]}, {peak[1]!r}, must be finite and not zero.")
    if frequencies is not None and (len(frequencies) < 5 or min(frequencies) <= 0.0):
        raise OutOfBounds("half-power test: give at least five positive frequencies, on both sides of the peak.")
    if len(cycles) != 3 or min(cycles) < 0 or cycles[1] < 2 * FITTED:
        raise OutOfBounds(
            f"half-power test: cycles = {tuple(cycles)}; three whole numbers, at least {2 * FITTED} of constant load."
        )
    if workers is not None and workers < 1:
        raise OutOfBounds(f"workers = {workers!r} must be at least 1.")
