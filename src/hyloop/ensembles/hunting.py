"""Which intensity a record is run at next: hunt for collapse, close in on it, fill the gaps below.

References
----------
Vamvatsikos and Cornell (2004), Applied incremental dynamic analysis, doi:10.1193/1.1737737. There the steps grow by a
constant as well until the structure collapses; here the bracket of collapse is halved.
"""

from collections.abc import Sequence
from itertools import pairwise

from hyloop.files.ida import Ida

__all__ = ["next_level"]

_DIGITS = 6  # of a level, so that it can be read
_LEAST_GAP = 1e-3  # of the highest level: a smaller gap is not filled


def next_level(plan: Ida, stood: Sequence[float], fell: Sequence[float]) -> float | None:
    """The next level of a record, or None.

    Parameters
    ----------
    stood, fell : sequence of float
        Levels that have been run, which the structure stood, and at which it fell.
    """
    if len(stood) + len(fell) >= plan.levels:
        return None
    found = _hunted(plan, stood) if not fell else _closer(plan, stood, min(fell))
    if found is None and plan.fill and stood:
        found = _filled(stood, min(fell, default=None))
    return None if found is None else float(f"{found:.{_DIGITS}g}")


def _hunted(plan: Ida, stood: Sequence[float]) -> float | None:
    """The next one up, by a step that grows; None where the highest has been run."""
    k = len(stood)
    level = plan.first + k * plan.step + 0.5 * k * (k - 1) * plan.growth
    if plan.highest is None:
        return level
    return None if max(stood, default=0.0) >= plan.highest else min(level, plan.highest)


def _closer(plan: Ida, stood: Sequence[float], lowest: float) -> float | None:
    """The middle between the highest that stands and the lowest that falls; None where they are close enough."""
    highest = max((level for level in stood if level < lowest), default=0.0)
    if lowest - highest <= plan.resolution * highest:
        return None
    return 0.5 * (lowest + highest)


def _filled(stood: Sequence[float], fell: float | None) -> float | None:
    """The middle of the widest gap below collapse; of gaps that are equally wide that of the lowest."""
    levels = [0.0, *sorted(level for level in stood if fell is None or level < fell)]
    gaps = [(high - low, low) for low, high in pairwise(levels)]
    width, low = max(gaps, key=lambda gap: (round(gap[0], 9), -gap[1]), default=(0.0, 0.0))
    return low + 0.5 * width if width > _LEAST_GAP * levels[-1] else None
