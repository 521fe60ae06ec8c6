"""The noise of a measured force while it is measured, for a filter that is not told."""

import numpy as np

from hyloop.core.block import Param, block

__all__ = ["MODEL_ERROR", "noise_level"]

MODEL_ERROR = 0.04  # of the largest force so far
_THIRD = 0.6745 * 20.0**0.5  # median of the absolute third difference of unit white noise
_FIRST, _STEP = 1.0, 0.02  # sign steps: of the first tick, falling as one over ticks, and for ever


@block(
    inputs={"f_m": "N"},
    outputs={"noise": "N"},
    state={"f_1": "N", "f_2": "N", "f_3": "N", "median": "N", "peak": "N", "ticks": "-"},
    params={
        "model_error": Param("-", MODEL_ERROR, 0.0, about="what the law cannot follow, over the largest force so far"),
        "least": Param("N", 1e-3, 1e-30, about="noise that is always there, so that none is never believed"),
    },
    reference="Rousseeuw, Croux (1993), doi:10.1080/01621459.1993.10476408 (median of absolute deviations); Robbins, "
    "Monro (1951), doi:10.1214/aoms/1177729586 (steps towards a quantile).",
)
def noise_level(x, u, dt, p):
    r"""Standard deviation of the noise of a force, with what a law cannot follow of it, tick by tick.

    .. math::
        r = |f_i - 3 f_{i-1} + 3 f_{i-2} - f_{i-3}|, \qquad
        m \leftarrow m\,e^{\eta\,\operatorname{sign}(r - m)}, \qquad
        \sigma^2 = \left(\frac{m}{0.6745 \sqrt{20}}\right)^2 + (\varepsilon \max |f|)^2

    Third differences of a force that is smooth against the tick are those of its noise, with 20 times the variance of
    white noise; the median *m* of their absolute values is not moved by the few at corners. The error of the law is
    stated, not found: no measurement tells it beforehand. Where a sample is not finite nothing changes.
    """
    f, ticks = u[0], x[5]
    whole = np.abs(f) < 1e300  # false for nan
    f = np.where(whole, f, x[0])
    r = np.maximum(np.abs(f - 3.0 * x[0] + 3.0 * x[1] - x[2]), _THIRD * p[1])
    step = np.maximum(_FIRST / np.maximum(ticks - 3.0, 1.0), _STEP)
    m = np.where(ticks == 3.0, r, np.maximum(x[3] * np.exp(step * np.sign(r - x[3])), _THIRD * p[1]))
    m = np.where(np.where(whole, ticks, 0.0) < 3.0, x[3], m)
    peak = np.maximum(x[4], np.abs(f))
    noise = np.sqrt(np.maximum(m / _THIRD, p[1]) ** 2 + (p[0] * peak) ** 2)
    return (noise,), (f, x[0], x[1], m, peak, ticks + 1.0)
