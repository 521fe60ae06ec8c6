r"""What was published are moving averages: over which window, and the motion that was averaged.

.. math:: \bar d_k = \frac1N \sum_{j=0}^{N-1} d_{k-j}, \qquad d_k = d_{k-N} + N (\bar d_k - \bar d_{k-1})

The second equation gives the readings back, sample by sample, from what came before: causal and exact, but for a
part of period N and mean zero, which every average loses. Of the earthquake that part is known (it begins at rest); of
a sine, whose record begins in motion, it is chosen so that the whole motion is as smooth as it can be.
"""

import numpy as np

from hyloop.transfer import kinematics

QUAKE = 0.3  # s
OF_PERIOD = 0.1  # of a sine
CUTOFF = 50.0  # Hz, of the filter that takes the noise of the transducer away


def window(test) -> int:
    """Samples of the average in a test; the authors' preprocessing has it, and the zeros of every spectrum show it."""
    seconds = QUAKE if np.isnan(test.frequency) else OF_PERIOD / test.frequency
    return round(seconds / test.dt)


def averaged(x: np.ndarray, n: int) -> np.ndarray:
    """Means over n samples; n - 1 fewer."""
    total = np.concatenate([[0.0], np.cumsum(x)])
    return (total[n:] - total[:-n]) / n


def readings(mean: np.ndarray, n: int, *, from_rest: bool) -> np.ndarray:
    """What was averaged over n samples: n - 1 more than there are means.

    `from_rest`: the first n readings are alike, and every other follows from means up to its own time. Else the first n
    lie on a line of the first slope, and what has period n is then chosen by least squares of the third difference over
    the whole record, which is not causal.
    """
    x = np.full(len(mean) + n - 1, mean[0])
    if not from_rest:
        x[:n] += (mean[1] - mean[0]) * (np.arange(n) - 0.5 * (n - 1))
    steps = n * np.diff(mean)
    for k, step in enumerate(steps):
        x[k + n] = x[k] + step
    return x if from_rest else x + _smoothest(x, n)


def _smoothest(x: np.ndarray, n: int) -> np.ndarray:
    """The part of period n and mean zero to be added so that the third differences become least."""
    third = np.diff(x, 3)
    rows, phase = np.arange(len(third)), np.arange(len(x)) % n
    A = np.zeros((len(third), n))
    for shift, factor in enumerate((-1.0, 3.0, -3.0, 1.0)):
        np.add.at(A, (rows, phase[shift : shift + len(third)]), factor)
    # the mean is fixed at zero by one more equation, a large one
    A, b = np.vstack([A, np.full(n, 1e3)]), np.append(-third, 0.0)
    return np.linalg.lstsq(A, b, rcond=None)[0][phase]


def tracked(d: np.ndarray, dt: float) -> np.ndarray:
    r"""Readings without their noise, causal, and without lag at a constant velocity.

    `hyloop.transfer.kinematics` filters the velocity by a low-pass, late by √2/ω. Its integral is late by as much, and
    √2/ω times the velocity brings it up to date.
    """
    v = kinematics(cutoff=CUTOFF).drive(dt, d=d)["v"]
    return d[0] + dt * np.cumsum(v) + np.sqrt(2.0) / (2.0 * np.pi * CUTOFF) * v
