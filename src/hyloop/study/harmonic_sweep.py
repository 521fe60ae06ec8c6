"""Runs of one loop under a harmonic load at many frequencies, and loads scaled until a channel peaks as wanted."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import NamedTuple

import numpy as np

from hyloop.errors import BadInput, OutOfBounds, RunFailed
from hyloop.hazards.loads import harmonic_load
from hyloop.loop import Loop
from hyloop.metrics.resonance import sine_amplitude

__all__ = ["FITTED", "STEADY", "HarmonicSweep", "Point"]

FITTED = 3  # last cycles of constant load to which the sine is fitted, and as many before them to compare
STEADY = 0.005  # part by which the complex amplitude may change between the two
MOST = 640  # cycles of constant load; a damping of 0.1 % decays to 2 % in them
PER_CYCLE = 20  # steps, at least: fewer bend the sine
NEAR = 0.02  # part by which the peak of the channel asked for may be off
SCALINGS = 20
FAR = np.log(10.0)  # most by which a load grows or shrinks in one go, as a logarithm


class Point(NamedTuple):
    """The answer at one frequency."""

    amplitude: complex
    cycles: int
    change: float
    largest: float  # of the channel the load is scaled by, in the constant part


class HarmonicSweep:
    """Runs of copies of a loop, each with a harmonic load."""

    def __init__(
        self,
        loop: Loop,
        channel: str,
        scaled_by: str,
        cycles: tuple[int, int, int],
        as_given: bool,
        workers: int | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        self._loop, self._channel, self._by, self._cycles = loop, channel, scaled_by, cycles
        self._as_given, self._workers, self._progress, self._done = as_given, workers, progress, 0.0

    def run(self, frequencies: np.ndarray, force: float, until: float) -> list[Point]:
        """All frequencies, with the progress going on to `until`."""
        fast = float(frequencies.max())
        if fast * self._loop.dt * PER_CYCLE > 1.0 + 1e-9:
            raise OutOfBounds(
                f"half-power test: at {fast:.4g} Hz a step of {self._loop.dt:g} s leaves "
                f"{1 / (fast * self._loop.dt):.3g} steps in a cycle; {PER_CYCLE} are needed. Make integrator.dt "
                "smaller."
            )
        begin = self._done
        with ThreadPoolExecutor(self._workers or os.cpu_count()) as pool:
            futures = [pool.submit(self.point, float(f), force) for f in frequencies]
            try:
                for k, future in enumerate(as_completed(futures), 1):
                    future.result()
                    if self._progress:
                        self._progress(begin + (until - begin) * k / len(futures))
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        self._done = until
        return [future.result() for future in futures]

    def to_peak(
        self, frequencies: np.ndarray, force: float, wanted: float | None, until: float
    ) -> tuple[list[Point], float]:
        """All frequencies with a load that makes a channel peak near what is wanted, where something is; and that load.

        The frequency of the peak moves with the load, so that both are found in turn.
        """
        points = self.run(frequencies, force, until)
        if wanted is None:
            return points, force
        known: list[tuple[float, float]] = []  # load and largest, as logarithms
        for _ in range(SCALINGS):
            largest = max(point.largest for point in points)
            if not largest > 0.0:
                raise BadInput(f"half-power test: {self._by} does not move, so that no load can be scaled by it.")
            if abs(largest / wanted - 1.0) < NEAR:
                return points, force
            known.append((np.log(force), np.log(largest)))
            force = float(np.exp(_next_load(known, np.log(wanted))))
            points = self.run(frequencies, force, until)
        raise BadInput(
            f"half-power test: no load was found with which {self._by} peaks near {wanted:.4g}; the last, {force:.4g}, "
            f"gives {max(point.largest for point in points):.4g}. Give another peak, or the amplitude of the load."
        )

    def point(self, frequency: float, force: float) -> Point:
        """The steady answer at one frequency; with twice the cycles until it is steady."""
        up, hold, down = self._cycles
        while True:
            rows = harmonic_load({"load": force}, frequency, self._loop.dt, (up, hold, down)).values
            ground = np.zeros((len(rows), self._loop.structure.influence.shape[1]))
            names = list(dict.fromkeys([self._channel, self._by]))
            try:
                with np.errstate(all="ignore"):
                    result = self._loop.copy().run(np.hstack([ground, rows]), record=names)
            except RunFailed as failure:
                raise BadInput(
                    f"half-power test: the run at {frequency:.4g} Hz with a load of {force:.4g} stops: {failure} Give "
                    "a smaller load, or change the limits of the file."
                ) from failure
            end, length = (up + hold) / frequency, FITTED / frequency
            last, before = (_window(result.time, end - k * length, length) for k in (0, 1))
            signal = result[self._channel]
            z, z_before = (sine_amplitude(result.time[w], signal[w], frequency) for w in (last, before))
            change = abs(z - z_before) / max(abs(z), np.finfo(float).tiny)
            if change < STEADY or self._as_given or 2 * hold > MOST:
                steady = result[self._by][last] - np.mean(result[self._by][last])
                return Point(z, hold, float(change), float(np.abs(steady).max()))
            hold *= 2


def _window(time: np.ndarray, end: float, length: float) -> np.ndarray:
    return (time > end - length) & (time <= end)


def _next_load(known: list[tuple[float, float]], wanted: float) -> float:
    """Logarithm of a better load: on the power law through the last two, within what is known to lie on both sides.

    Devices that yield or slide answer with far more than in proportion.
    """
    load, largest = known[-1]
    power = 1.0
    if len(known) > 1 and load != known[-2][0]:
        power = float(np.clip((largest - known[-2][1]) / (load - known[-2][0]), 0.5, 20.0))
    below = max((f for f, x in known if x < wanted), default=load - FAR)
    above = min((f for f, x in known if x > wanted), default=load + FAR)
    better = load + (wanted - largest) / power
    return better if below < better < above else 0.5 * (below + above)
