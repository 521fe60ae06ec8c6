"""Does a tested device take energy? One that gives it has most likely the sign of its force reversed."""

import numpy as np

__all__ = ["gives_energy"]

_LEAST = 0.2  # of the positive work: what noise and a sensor that lags do not reach


def gives_energy(d: np.ndarray, f: np.ndarray) -> bool:
    """Whether the net work of a force over a deformation is clearly negative.

    Counted until the deformation is last back where it began, so that energy which a spring held at the start, or holds
    at the end, is not mistaken for energy that was made.
    """
    side = np.sign(d - d[0])
    back = np.flatnonzero((side[:-1] * side[1:] < 0.0) | (side[1:] == 0.0))
    moved = np.flatnonzero(side)
    if len(back) == 0 or len(moved) == 0 or back[-1] < moved[0]:
        return False
    end = back[-1] + 2
    work = 0.5 * (f[1:end] + f[: end - 1]) * np.diff(d[:end])
    return float(work.sum()) < -_LEAST * float(work[work > 0.0].sum())
