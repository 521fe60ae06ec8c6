"""Scaling a pair of horizontal components to a target spectrum."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hyloop.core.jit import Floats
from hyloop.hazards.checks import choice, ordinates, period_axis
from hyloop.hazards.motion import GroundMotion
from hyloop.hazards.spectrum import response_spectrum

__all__ = ["ScaledPair", "geometric_mean", "scale_factor", "scale_pair"]


@dataclass(frozen=True, eq=False)
class ScaledPair:
    """Two components times one factor, and how they compare with the target.

    Attributes
    ----------
    first, second : GroundMotion
        The scaled components.
    factor : float
        The factor both were multiplied by.
    periods, mean, target : array
        Periods (s), geometric mean of the scaled pair and target (m/s2).
    error : float
        Weighted root mean square of ``ln(mean/target)`` (fit "log") or of ``mean - target`` (fit "linear").
    """

    first: GroundMotion
    second: GroundMotion
    factor: float
    periods: Floats
    mean: Floats
    target: Floats
    error: float


def geometric_mean(first: Any, second: Any) -> Floats:
    """Geometric mean of the ordinates of two components."""
    return np.sqrt(np.asarray(first, np.float64) * np.asarray(second, np.float64))


def scale_factor(spectrum: Any, target: Any, weights: Any = 1.0, fit: str = "log") -> float:
    r"""The factor that brings a spectrum closest to a target.

    With ordinates :math:`s_i`, targets :math:`t_i` and weights :math:`w_i`, fit "log" minimises
    :math:`\sum w_i (\ln f s_i - \ln t_i)^2` and fit "linear" :math:`\sum w_i (f s_i - t_i)^2`:

    .. math::
        \ln f = \frac{\sum w_i \ln(t_i/s_i)}{\sum w_i}, \qquad f = \frac{\sum w_i s_i t_i}{\sum w_i s_i^2}

    The logarithm weighs an ordinate twice too large like one half too small; the linear fit is ruled by the largest.

    References
    ----------
    PEER (2010), Technical report for the PEER ground motion database web application (fit "log").
    """
    where = "scale factor"
    s = np.atleast_1d(np.asarray(spectrum, np.float64))
    s = ordinates(where, "spectrum", s, s.size)
    t, w = ordinates(where, "target", target, s.size), ordinates(where, "weights", weights, s.size)
    if choice(where, "fit", fit, ("log", "linear")) == "log":
        return float(np.exp(np.sum(w * np.log(t / s)) / np.sum(w)))
    return float(np.sum(w * s * t) / np.sum(w * s * s))


def scale_pair(
    first: GroundMotion,
    second: GroundMotion,
    periods: Any,
    target: Any,
    weights: Any = None,
    *,
    fit: str = "log",
    damping: float = 0.05,
) -> ScaledPair:
    """Scale two components by one factor so that the geometric mean of their psa fits a target.

    Parameters
    ----------
    first, second : GroundMotion
        Horizontal components; steps and lengths may differ.
    periods : array
        The period range, s: the fit is over these periods and no others. Evenly spaced in ln T, each octave has the
        same say.
    target : array
        Target pseudo-acceleration at the periods, m/s2.
    weights : array, optional
        Positive weights at the periods; equal by default.
    fit : {"log", "linear"}
        Least squares of logarithms or of ordinates, see `scale_factor`.
    damping : float
        Damping of the target spectrum.

    References
    ----------
    Malik, Cao, Ricles and Downey (2025), Online Cyber-Physical Neural Network Model for Real-Time Hybrid Simulation,
    section 2.3.1: weighted sum of squares between the target and the geometric mean of the pair.
    """
    where = "scale pair"
    T = period_axis(where, periods)
    goal = ordinates(where, "target", target, T.size)
    w = ordinates(where, "weights", 1.0 if weights is None else weights, T.size)
    spectra = [
        ordinates(f"{where}: motion '{m.name}'", "psa", response_spectrum(m.a, m.dt, T, damping).psa, T.size)
        for m in (first, second)
    ]
    mean = geometric_mean(*spectra)
    factor = scale_factor(mean, goal, w, fit)
    residual = np.log(factor * mean / goal) if fit == "log" else factor * mean - goal
    error = float(np.sqrt(np.sum(w * residual**2) / np.sum(w)))
    return ScaledPair(first.scaled(factor), second.scaled(factor), factor, T, factor * mean, goal, error)
