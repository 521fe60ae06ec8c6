"""Design spectra."""

from typing import Any

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import OutOfBounds
from hyloop.hazards.checks import period_axis, positive

__all__ = ["asce7_spectrum"]


def asce7_spectrum(periods: Any, sds: float, sd1: float, tl: float = 8.0) -> Floats:
    r"""Design response spectrum of ASCE 7, 5 % damping.

    With :math:`T_S = S_{D1}/S_{DS}` and :math:`T_0 = 0.2\,T_S`,

    .. math::
        S_a = \begin{cases} S_{DS}(0.4 + 0.6\,T/T_0) & T < T_0 \\ S_{DS} & T_0 \le T \le T_S \\
              S_{D1}/T & T_S < T \le T_L \\ S_{D1} T_L/T^2 & T > T_L \end{cases}

    Parameters
    ----------
    periods : array
        Periods in s, 0 allowed.
    sds, sd1 : float
        Design accelerations at short periods and at 1 s, m/s2.
    tl : float
        Long-period transition, s.

    Returns
    -------
    array
        Spectral acceleration, m/s2.

    References
    ----------
    ASCE/SEI 7-16 (2017), Minimum Design Loads and Associated Criteria for Buildings and Other Structures, 11.4.6.
    """
    where = "ASCE 7 spectrum"
    T = period_axis(where, periods)
    sds, sd1, tl = positive(where, "sds", sds), positive(where, "sd1", sd1), positive(where, "tl", tl)
    ts = sd1 / sds
    if ts > tl:
        raise OutOfBounds(f"{where}: sd1/sds = {ts:g} s exceeds tl = {tl:g} s; the plateau must end before tl.")
    rising = sds * (0.4 + 0.6 * T / (0.2 * ts))
    falling = sd1 / np.maximum(T, ts) * np.minimum(tl / np.maximum(T, ts), 1.0)
    return np.minimum(rising, falling)
