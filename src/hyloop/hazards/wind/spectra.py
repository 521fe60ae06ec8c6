"""Spectra of turbulence and of shedding, and what a face makes of gusts that are smaller than it.

All spectra are one-sided, in (unit)²/Hz: their integral from 0 to infinity is the variance.
"""

import numpy as np

from hyloop.core.jit import Floats

__all__ = ["SPECTRA", "band_pass", "kaimal", "von_karman", "wake_correlation", "width_admittance"]

_SMALL = 1e-3  # below it the closed forms cancel, and three terms of the series are exact to rounding


def kaimal(f: Floats, sigma: Floats | float, length: Floats | float, U: Floats | float) -> Floats:
    r"""Spectrum of the speed along the wind.

    .. math:: \frac{f S(f)}{\sigma^2} = \frac{6.8 x}{(1 + 10.2 x)^{5/3}}, \qquad x = \frac{f L}{U}

    Its integral is σ² exactly, as 6.8 = 2/3 · 10.2.

    References
    ----------
    Kaimal et al. (1972), Spectral characteristics of surface-layer turbulence, Q. J. R. Meteorol. Soc. 98, 563-589, in
    the form of EN 1991-1-4:2005, Eq. (B.2).
    """
    x = f * length / U
    return sigma**2 * length / U * 6.8 / (1.0 + 10.2 * x) ** (5.0 / 3.0)


def von_karman(f: Floats, sigma: Floats | float, length: Floats | float, U: Floats | float) -> Floats:
    r"""Spectrum of the speed along the wind after von Kármán; its integral is 0.9998 σ².

    .. math:: \frac{f S(f)}{\sigma^2} = \frac{4 x}{(1 + 70.8 x^2)^{5/6}}, \qquad x = \frac{f L}{U}

    References
    ----------
    von Kármán (1948), Progress in the statistical theory of turbulence, PNAS 34, 530-539.
    """
    x = f * length / U
    return sigma**2 * length / U * 4.0 / (1.0 + 70.8 * x**2) ** (5.0 / 6.0)


SPECTRA = {"kaimal": kaimal, "von_karman": von_karman}


def band_pass(f: Floats, peak: float, bandwidth: float) -> Floats:
    r"""Spectrum of unit variance with one peak, as vortex shedding has.

    .. math:: f S(f) = \frac{1}{I} \frac{r^2}{(1 - r^2)^2 + 4 \beta^2 r^2}, \qquad r = \frac{f}{f_s}, \qquad
              I = \frac{\pi - 2 \varphi}{2 \sin 2 \varphi}, \qquad \beta = \sin \varphi

    This is the shape of the across-wind force in AIJ (2004), A6.4, with one peak. There the factor before it is a
    fit; here it is 1/I, so that the integral is one.

    Parameters
    ----------
    f, peak : array, float
        Frequency and f_s, Hz.
    bandwidth : float
        β, between 0 and 1.

    References
    ----------
    Architectural Institute of Japan (2004), Recommendations for Loads on Buildings, A6.4.
    """
    phi = np.arcsin(bandwidth)
    area = (np.pi - 2.0 * phi) / (2.0 * np.sin(2.0 * phi))
    r = f / peak
    return r / peak / ((1.0 - r**2) ** 2 + (2.0 * bandwidth * r) ** 2) / area


def width_admittance(x: Floats | float) -> Floats:
    r"""Mean square of the average over a width B of what decays as exp(-c|y - y'|), over the value at a point.

    .. math:: \frac{1}{B^2} \int_0^B\!\!\int_0^B e^{-c|y - y'|}\,\mathrm{d}y\,\mathrm{d}y' =
              \frac{2}{x^2} \left(x - 1 + e^{-x}\right), \qquad x = c B

    With Davenport's coherence c = C_y f/U this is the square of the aerodynamic admittance over the width.

    References
    ----------
    Davenport (1961), The application of statistical concepts to the wind loading of structures, Proc. ICE 19, 449-472.
    """
    x = np.asarray(x, np.float64)
    safe = np.maximum(x, _SMALL)
    return np.where(x < _SMALL, 1.0 - x / 3.0 + x**2 / 12.0, 2.0 * (safe + np.expm1(-safe)) / safe**2)


def wake_correlation(x: Floats | float) -> Floats:
    r"""Correlation of pressures on the windward and the leeward face.

    .. math:: N(x) = \frac{1}{x} - \frac{1 - e^{-2x}}{2 x^2}, \qquad x = \frac{3.85 f \Delta x}{U}

    where Δx is four times the smallest of width, depth and height.

    References
    ----------
    Simiu and Scanlan (1996), Wind Effects on Structures, 3rd ed., chapter 9 (along-wind response).
    """
    return width_admittance(2.0 * np.asarray(x, np.float64))
