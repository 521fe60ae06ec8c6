"""Static pushover and slow cyclic loading of any structure, led by one displacement."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hyloop.core.block import Block, Instance
from hyloop.errors import BadInput, OutOfBounds
from hyloop.structure.elements import Elements, law_of, spring_members, springs
from hyloop.structure.frames.equilibrium import Path
from hyloop.structure.frames.hinges import Hinge, SpringWatch, watches
from hyloop.structure.frames.load_patterns import dof_heights, load_pattern, roof
from hyloop.structure.structure import Structure

if TYPE_CHECKING:
    from hyloop.structure.frames.model import Model

__all__ = ["PushedDevice", "Pushover", "control_heights", "cycles", "pushover"]

STEPS = 200  # on the way to the largest target
LEAP = 10  # rows beyond the last equilibrium in which one is looked for
MOST = 100_000  # steps in all; more are a slip of the pen


@dataclass(frozen=True, eq=False)
class PushedDevice:
    """A device law at a place of the structure: `along` is its direction vector, `count` the number of equal ones."""

    law: Instance
    along: np.ndarray
    count: float = 1.0


@dataclass(frozen=True, eq=False)
class Pushover:
    """States of equilibrium along the path of the control displacement; the first row is the state at rest.

    Attributes
    ----------
    control : str
        Degree of freedom that was led.
    displacement : ndarray, (rows,)
        Its displacement from rest in m.
    load_factor, base_shear : ndarray, (rows,)
        Factor on the load pattern, and the base shear in N. Both are the same where the pattern has a base shear.
    u : ndarray, (rows, n)
        Displacements of all degrees of freedom.
    drifts : ndarray, (rows, stories)
        Story drifts from rest in m, bottom to top, where the structure knows its floors.
    load : ndarray, (n,)
        The load pattern, brought to a base shear of one.
    height : float
        Of the control degree of freedom above the ground in m; nan where it is not known.
    hinges : tuple of Hinge
        What has yielded, in the order in which it did.
    devices : dict of name to (deformation, force of one), each (rows,)
    left_out : tuple of str
        What does not take part, as its force depends on velocity.
    leaps : tuple of float
        Displacements behind which the path falls back: it was left there and found again farther on, as a structure
        would jump. What stands behind a leap hangs on the size of the steps.
    fault : str
        Where and why the path ended early; empty if it did not.
    """

    control: str
    displacement: np.ndarray
    load_factor: np.ndarray
    base_shear: np.ndarray
    u: np.ndarray
    drifts: np.ndarray
    load: np.ndarray
    height: float
    hinges: tuple[Hinge, ...] = ()
    devices: dict[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    leaps: tuple[float, ...] = ()
    fault: str = ""

    @property
    def complete(self) -> bool:
        """Whether every target was reached."""
        return not self.fault


def cycles(amplitudes: Sequence[float], repeat: int = 1) -> list[float]:
    """Targets of slow cyclic loading: each amplitude to and fro `repeat` times, and back to zero in the end.

    >>> cycles([0.01, 0.02])
    [0.01, -0.01, 0.02, -0.02, 0.0]
    """
    if repeat < 1:
        raise OutOfBounds(f"repeat = {repeat!r} must be at least 1.")
    return [sign * float(a) for a in amplitudes for _ in range(repeat) for sign in (1.0, -1.0)] + [0.0]


def pushover(
    structure: Structure,
    targets: float | Sequence[float],
    pattern: Any = "first_mode",
    control: str | int | None = None,
    *,
    steps: int = STEPS,
    devices: Mapping[str, PushedDevice] | None = None,
    model: "Model | None" = None,
    progress: Callable[[float], None] | None = None,
) -> Pushover:
    """Push a structure sideways, slowly and under its dead load, along one displacement.

    Members take part with all they have, P-Delta included; springs and devices whose force depends on velocity are left
    out, which the result says. Displacement control passes a peak and follows the branch behind it, as long as the
    control displacement grows there.

    Parameters
    ----------
    targets : float or sequence of float
        Displacements of the control degree of freedom from rest in m, visited one after another; see `cycles`.
    pattern : str, mapping or array_like
        Load pattern; see `load_pattern`.
    control : str or int, optional
        Degree of freedom that is led. Default: the roof.
    steps : int
        Steps from zero to the largest target; smaller ones are made where that is needed.
    devices : mapping of name to PushedDevice, optional
        Devices that are installed at rest.
    model : Model, optional
        What the structure was made of, for names of braces and springs and for the heights of nodes.
    progress : callable, optional
        Called with the fraction done.

    Examples
    --------
    >>> from hyloop.structure import pushover, shear_frame, springs
    >>> from hyloop.devices import bilinear
    >>> frame = shear_frame([2e4, 2e4], [0.0, 3e7])
    >>> frame = frame.with_elements(springs(bilinear(k=3e7, f_y=1e5, alpha=0.1), frame.story(1)))
    >>> curve = pushover(frame, 0.05, "uniform")
    >>> curve.base_shear.max().round(-2)
    np.float64(228600.0)
    """
    goals = np.atleast_1d(np.asarray(targets, dtype=float))
    if goals.ndim != 1 or not np.isfinite(goals).all() or not goals.any():
        raise OutOfBounds(f"targets: {targets!r} must be finite displacements in m, not all of them zero.")
    at = roof(structure) if control is None else structure.dof(control)
    places = _places(goals, steps)
    heights = control_heights(structure, model)
    chosen, known = load_pattern(structure, pattern, at, heights), devices or {}
    taking_part, left_out = _slow(structure, known)
    # a device feels displacements from rest, where it was installed, and there are `count` of it
    attached = {n: _attached(d, structure) for n, d in known.items() if n not in left_out}
    direction = np.zeros(structure.n)
    direction[at] = 1.0
    watched = {
        name: SpringWatch("device", [name], spring_members(group.one), structure.at_rest)
        for name, group in attached.items()
    }
    seeing = [*watches(taking_part, model), *watched.values()]

    def follow(u: np.ndarray) -> None:
        for watch in seeing:
            watch.follow(u)

    path = Path(replace(structure, elements=[*taking_part, *attached.values()]), chosen.load, direction, follow)
    rows, fault, k = [], "", 0

    def take_down() -> None:
        rows.append((path.displacement, path.factor, path.u))
        for watch, x in zip(seeing, path.states, strict=True):
            watch.see(x)

    take_down()
    while k < len(places) and not fault:
        farther = next((j for j in _farther(places, k) if path.leap(places[j])), None) if not path.go(places[k]) else k
        if farther is None:
            fault = _ended(structure, at, path, places[k], heights[at])
        k = len(places) if farther is None else farther + 1
        take_down()
        if progress:
            progress(k / len(places))
    d, factor, u = (np.array(column) for column in zip(*rows, strict=True))
    stories = np.array([structure.story(s + 1) for s in range(len(structure.floors))]).reshape(-1, structure.n)
    hinges = sorted((hinge for watch in seeing for hinge in watch.hinges()), key=lambda hinge: hinge.row)
    felt = {name: watch.histories for name, watch in watched.items()}
    return Pushover(
        control=structure.names[at],
        displacement=d,
        load_factor=factor,
        base_shear=factor * float(chosen.along @ chosen.load),
        u=u,
        drifts=(u - u[0]) @ stories.T,
        load=chosen.load,
        height=float(heights[at]),
        hinges=tuple(hinges),
        devices={name: (d[:, 0], f[:, 0]) for name, (d, f) in felt.items()},
        left_out=tuple(left_out),
        leaps=tuple(path.leaps),
        fault=fault,
    )


def _places(goals: np.ndarray, steps: int) -> np.ndarray:
    """The displacements of all rows after the first: equal steps to every goal, none larger than what `steps` says."""
    if not 1 <= steps <= MOST:
        raise OutOfBounds(f"steps = {steps!r} must lie between 1 and {MOST}.")
    largest = float(np.abs(goals).max()) / steps
    ways = np.abs(np.diff(goals, prepend=0.0))
    # a whole number of steps may be a little too many by round-off
    counts = np.ceil(ways / largest * (1.0 - 1e-9)).astype(int)
    if counts.sum() > MOST:
        raise OutOfBounds(f"the targets need {counts.sum()} steps in all, more than {MOST}; give fewer steps.")
    starts = np.append(0.0, goals[:-1])
    pieces = [np.linspace(a, b, n + 1)[1:] for a, b, n in zip(starts, goals, counts, strict=True)]
    return np.concatenate(pieces)


def _farther(places: np.ndarray, k: int) -> range:
    """The next rows on the same way, which are tried where there is no equilibrium in row k."""
    ways = np.sign(np.diff(places[k : k + LEAP + 1]))
    return range(
        k, k + 1 + int(np.argmin(np.append(ways == np.sign(places[k] - (places[k - 1] if k else 0.0)), False)))
    )


def control_heights(structure: Structure, model: "Model | None") -> np.ndarray:
    """Of the degrees of freedom above the lowest node; of the floors alone where there is no model."""
    if model is None:
        return dof_heights(structure)
    foot = min(float(place[1]) for place in model.nodes.values())
    nodes = (name.split(".")[0] for name in structure.names)
    return np.array([float(model.nodes[node][1]) - foot if node in model.nodes else np.nan for node in nodes])


def _slow(structure: Structure, devices: Mapping[str, PushedDevice]) -> tuple[list[Elements], list[str]]:
    """Groups that take part, and the names of springs and devices that do not."""
    groups, left_out = [], []
    for group in structure.elements:
        law = law_of(group)
        if law is None or "rate-independent" in law.flags:
            groups.append(group)
        else:
            left_out.append(group.name)
    return groups, [*left_out, *(name for name, device in devices.items() if not _takes_part(device.law.block))]


def _takes_part(law: Block) -> bool:
    return "rate-independent" in law.flags and tuple(law.inputs) == ("d",) and len(law.outputs) == 1


@dataclass(frozen=True, eq=False)
class _Attached(Elements):
    """Equal devices that were installed at rest."""

    one: Any = None
    count: float = 1.0
    zero: Any = None

    def forces(self, u: np.ndarray, v: np.ndarray, dt: float, x: np.ndarray) -> np.ndarray:
        return self.count * super().forces(u - self.zero, v, dt, x)


def _attached(device: PushedDevice, structure: Structure) -> _Attached:
    along = np.asarray(device.along, dtype=float)
    if along.shape != (structure.n,):
        raise BadInput(f"devices: a direction has shape {along.shape}; {structure.n} numbers are needed.")
    one = springs(device.law, along)
    shared = {key: getattr(one, key) for key in ("name", "function", "initial", "parameters", "integers", "keep")}
    return _Attached(
        **shared, stiffness=device.count * one.stiffness, one=one, count=device.count, zero=structure.at_rest
    )


def _ended(structure: Structure, at: int, path: Path, goal: float, height: float) -> str:
    """Where the path ends, for a person."""
    there, share = path.displacement, f" ({path.displacement / height:.3%} of its height)" if height > 0.0 else ""
    return (
        f"no equilibrium was found beyond {structure.names[at]} = {there:.6g} m{share}, on the way to {goal:.6g} m, "
        f"where the load factor is {path.factor:.6g}. Until there everything is kept. A member may have lost its "
        "strength, or the displacement led may not grow any more: try more steps, or another control."
    )
