r"""What the force of a device that knows no rate can be made of: a wide choice of functions of the path of its motion.

Three elementary hystereses of thresholds *r*, each solved exactly for a straight increment of the motion, normalised to
:math:`|z| \le 1`:

.. math::
    \text{stop:}\quad z \leftarrow \operatorname{clip}(z + \Delta/r, -1, 1), \qquad
    \text{Dahl:}\quad \dot z = \frac{\dot d - |\dot d| z}{r}, \qquad
    \text{Bouc-Wen:}\quad \dot z = \frac{\dot d}{r}\,(1 - z^2\,[\dot d z > 0])

Sums of stops are laws of Masing's kind; Dahl's part is that of LuGre, whose small cycles do not close; functions of a
stop with corners give gaps and pinching.

References
----------
Brokate, Sprekels (1996), Hysteresis and Phase Transitions, doi:10.1007/978-1-4612-4048-8 (stops and their sums); Dahl
(1968), A solid friction model, Aerospace Corp. TOR-0158; Wen (1976), J. Eng. Mech. Div. ASCE 102(2), 249-263.
"""

import numpy as np

from hyloop.core.jit import jit

__all__ = ["regressors"]

_STOPS, _SMOOTH, _CORNERED = 24, 8, 14  # thresholds of stops, of Dahl's and Bouc-Wen's, and of stops with corners
_SMALLEST, _LARGEST = 0.02, 0.7  # thresholds over the largest deformation
_CORNERS = np.linspace(-0.9, 0.9, 9)  # of functions of a stop, over its threshold
_SLOW = 0.03, 0.1, 0.3, 1.0  # over the root mean square velocity: friction that is larger in slow motion


def regressors(x: np.ndarray, even: bool) -> tuple[np.ndarray, int]:
    """Columns (samples, regressors) for a motion of largest size 1, and how many of the first make a coarse fit.

    Without `even` all are odd: a device that pushes as it pulls.
    """
    n = len(x)
    stops, dahl, wen, corners = (
        _driven(x, np.geomspace(low, high, count), kind)
        for count, low, high, kind in (
            (_STOPS, _SMALLEST, _LARGEST, 0),
            (_SMOOTH, _SMALLEST, _LARGEST, 1),
            (_SMOOTH, _SMALLEST, _LARGEST, 2),
            (_CORNERED, 2.0 * _SMALLEST, 1.0, 0),
        )
    )
    v = np.abs(np.gradient(x))
    weaker = np.exp(-v[:, None] / (np.sqrt(np.mean(v**2)) * np.array(_SLOW)))
    slow = np.concatenate([weaker * corners[:, [k]] for k in (2, 6, 10)], axis=1)
    grown = np.linspace(0.0, 1.0, n)[:, None]  # devices that degrade or stiffen
    first = [x[:, None], stops, dahl]
    if even:
        first += [x[:, None] ** 2, np.abs(stops), dahl**2]
    more = [x[:, None] ** 3, wen, slow, grown * stops[:, ::3], grown * wen[:, ::2], grown * x[:, None]]
    if even:
        more += [wen**2, np.abs(slow), *(np.maximum(corners - c, 0.0) for c in _CORNERS)]
    else:
        more += [np.maximum(corners - c, 0.0) - np.maximum(-corners - c, 0.0) for c in _CORNERS if c > 0.0]
    return np.concatenate([*first, *more], axis=1), sum(part.shape[1] for part in first)


def _driven(x: np.ndarray, thresholds: np.ndarray, kind: int) -> np.ndarray:
    out = np.empty((len(x), len(thresholds)))
    _drive(x, thresholds, kind, out)
    return out


@jit
def _drive(x, thresholds, kind, out):
    """Elementary hystereses of many thresholds, from rest: 0 stop, 1 Dahl, 2 Bouc-Wen."""
    z = np.zeros(len(thresholds))
    last = x[0]
    for i in range(len(x)):
        step = x[i] - last
        last = x[i]
        for k in range(len(thresholds)):
            h = step / thresholds[k]
            if kind == 0:
                z[k] = min(max(z[k] + h, -1.0), 1.0)
            elif kind == 1:
                way = 1.0 if h > 0.0 else -1.0
                z[k] = way + (z[k] - way) * np.exp(-abs(h))
            else:
                back = 0.0  # elastic way back to zero
                if h * z[k] < 0.0:
                    back = -z[k] if abs(h) > abs(z[k]) else h
                z[k] += back
                # beyond 1 - 1e-12 the inverse of tanh has no digits left
                z[k] = (
                    np.tanh(np.arctanh(min(max(z[k], -1.0 + 1e-12), 1.0 - 1e-12)) + (h - back)) if h != back else z[k]
                )
            out[i, k] = z[k]
