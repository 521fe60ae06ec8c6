"""The tests as models see them: the motion before it was averaged, and how the force of a model is compared."""

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from hyloop.data.mr_damper import tests

from .averages import averaged, readings, tracked, window

TICK = 1e-3  # s
MOTIONS = ("25mm_0.1Hz", "25mm_0.25Hz", "25mm_0.5Hz", "10mm_1Hz", "5mm_3Hz", "2mm_5Hz")
CURRENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
QUAKE_CURRENTS = (0.2, 0.6, 1.0)
SLOW = 1.0  # Hz; sines below it are simulated at 5 ms, which is exact for what moves on straight lines
LONGEST = 42.0  # s of a sine that are used: four periods of the slowest


class Seen(NamedTuple):
    """A test: motion of the model, and the published force that its averaged force is compared with."""

    name: str
    motion: str
    current: float  # A
    dt: float  # s, of the model
    d: np.ndarray  # m, from before the first average
    stride: int  # every how many samples of the model a reading was taken
    window: int  # readings of an average
    f: np.ndarray  # N, averages
    skip: int  # first averages that are not compared: what was before the record is in them

    @property
    def range(self) -> float:
        """Range of the published force in N."""
        return float(np.ptp(self.f))

    def shown(self, force: np.ndarray) -> np.ndarray:
        """What would have been published of the force of a model."""
        return averaged(force[:: self.stride], self.window)

    def nrmse(self, force: np.ndarray, part: slice = slice(None)) -> float:
        """Error of the force of a model over the range of the published one, in %, over a part of the record."""
        deviation = (self.shown(force) - self.f)[max(self.skip, part.start or 0) : part.stop]
        return 100.0 * float(np.sqrt(np.mean(deviation**2))) / self.range


def sine(test, *, known: bool = True) -> Seen:
    """A sine test; with the averaging not `known`, the published motion is taken for the true one."""
    keep = min(len(test.f), round(LONGEST / test.dt))
    n = window(test) if known else 1
    slow = test.frequency < SLOW
    d = readings(test.d[:keep], n, from_rest=False) if known else test.d[:keep]
    ticks = round(test.dt / TICK)
    if ticks > 1:
        at = np.arange(len(d)) * ticks
        d = CubicSpline(at, d)(np.arange(at[-1] + 1))
    d = tracked(d, TICK)[:: ticks if slow else 1]
    dt, stride = (test.dt, 1) if slow else (TICK, ticks)
    # whatever the window, as many averages are left out: only so can errors be compared
    skip = window(test)
    return Seen(test.name, test.motion.removeprefix("sine_"), test.current, dt, d, stride, n, test.f[:keep], skip)


def quake(test, *, known: bool = True) -> Seen:
    """The earthquake test: causal throughout, from rest, no force heard."""
    n = window(test) if known else 1
    d = readings(test.d, n, from_rest=True)
    return Seen(test.name, "earthquake", test.current, test.dt, tracked(d, test.dt), 1, n, test.f, 0)


@cache
def sines(known: bool = True) -> tuple[Seen, ...]:
    """All sine tests, motion by motion."""
    found = {seen.name: seen for seen in (sine(test, known=known) for test in tests("sine_*").values())}
    return tuple(
        seen for motion in MOTIONS for seen in sorted(found.values(), key=lambda s: s.current) if seen.motion == motion
    )


@cache
def quakes(known: bool = True) -> dict[float, Seen]:
    """The earthquake tests that there are, by current."""
    found = [quake(test, known=known) for test in tests("earthquake_*").values()]
    return {seen.current: seen for seen in sorted(found, key=lambda s: s.current)}
