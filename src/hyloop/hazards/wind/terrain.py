"""Mean wind and turbulence over the height, by exposure."""

from dataclasses import dataclass

import numpy as np

from hyloop.core.jit import Floats
from hyloop.hazards.checks import choice, positive

__all__ = ["EXPOSURES", "Exposure", "WindSite"]

_KAPPA = 0.4  # von Kármán's constant
_ROUGHER = 0.0706  # exponent of the ratio of friction velocities, Simiu and Scanlan (1996), section 2.2
_TEN = 10.0  # m, height to which basic wind speeds refer


@dataclass(frozen=True)
class Exposure:
    """Constants of a terrain.

    The first six are those of ASCE 7-16, Table 26.11-1 (metric). The roughness length lies in the range that its
    commentary C26.7 gives for the exposure.
    """

    alpha: float
    """Exponent of the mean hourly speed, ᾱ."""
    b: float
    """Mean hourly speed at 10 m over the basic wind speed, b̄."""
    c: float
    """Turbulence intensity at 10 m."""
    length: float
    """Integral length of turbulence at 10 m, m."""
    epsilon: float
    """Exponent of the integral length, ε̄."""
    z_min: float
    """Height below which nothing changes any more, m."""
    z0: float
    """Roughness length, m; only the logarithmic profile needs it."""


EXPOSURES = {
    "B": Exposure(1 / 4.0, 0.45, 0.30, 97.54, 1 / 3.0, 9.14, 0.30),
    "C": Exposure(1 / 6.5, 0.65, 0.20, 152.40, 1 / 5.0, 4.57, 0.03),
    "D": Exposure(1 / 9.0, 0.80, 0.15, 198.12, 1 / 8.0, 2.13, 0.005),
}
"""Urban and suburban (B), open (C), open water (D)."""


@dataclass(frozen=True)
class WindSite:
    r"""Wind at a site: basic speed, exposure, and the profiles that follow from them.

    Parameters
    ----------
    speed : float
        Basic wind speed V in m/s: a gust of 3 s, 10 m above open terrain (exposure C).
    exposure : {"B", "C", "D"}
        Terrain about the building.
    profile : {"power", "log"}
        "power", mean hourly speed of ASCE 7-16, Eq. (26.11-16): :math:`U(z) = \bar b\, (z / 10)^{\bar\alpha}\, V`.

        "log", in two steps. The hourly mean in open terrain is :math:`U_{10} = V / G`; it gives the friction
        velocity there, :math:`u_{*o} = \kappa U_{10} / \ln(10 / z_{0o})`. At the site it is
        :math:`u_* = u_{*o} (z_0 / z_{0o})^{0.0706}`, and :math:`U(z) = u_* / \kappa\; \ln(z / z_0)`.
    gust_ratio : float
        G, gust of 3 s over hourly mean in open terrain; only "log" needs it. Default 1.52 (Durst).
    averaging : float
        Factor on the hourly mean for a mean over another time: about 1.06 for ten minutes (Durst).

    References
    ----------
    ASCE 7-16, sections 26.5, 26.7 and 26.11. Simiu and Scanlan (1996), Wind Effects on Structures, 3rd ed., chapter 2.
    Durst (1960), Wind speeds over short periods of time, Meteorological Magazine 89, 181-186.
    """

    speed: float
    exposure: str = "B"
    profile: str = "power"
    gust_ratio: float = 1.52
    averaging: float = 1.0

    def __post_init__(self) -> None:
        choice("wind", "exposure", self.exposure, tuple(EXPOSURES))
        choice("wind", "profile", self.profile, ("power", "log"))
        for key in ("speed", "gust_ratio", "averaging"):
            object.__setattr__(self, key, positive("wind", key, getattr(self, key)))

    @property
    def terrain(self) -> Exposure:
        """Constants of the exposure."""
        return EXPOSURES[self.exposure]

    def _height(self, z: Floats | float) -> Floats:
        return np.maximum(np.asarray(z, np.float64), self.terrain.z_min)

    def mean(self, z: Floats | float) -> Floats:
        """Mean speed U at the heights z (m), m/s; below z_min that of z_min."""
        z, terrain = self._height(z), self.terrain
        if self.profile == "power":
            return self.averaging * terrain.b * (z / _TEN) ** terrain.alpha * self.speed
        z0_open = EXPOSURES["C"].z0
        friction = _KAPPA * self.speed / self.gust_ratio / np.log(_TEN / z0_open) * (terrain.z0 / z0_open) ** _ROUGHER
        return self.averaging * friction / _KAPPA * np.log(z / terrain.z0)

    def intensity(self, z: Floats | float) -> Floats:
        """Turbulence intensity I = σ/U = c (10/z)^(1/6), ASCE 7-16, Eq. (26.11-7)."""
        return self.terrain.c * (_TEN / self._height(z)) ** (1.0 / 6.0)

    def deviation(self, z: Floats | float) -> Floats:
        """Standard deviation σ of the speed along the wind, I U, m/s."""
        return self.intensity(z) * self.mean(z)

    def length(self, z: Floats | float) -> Floats:
        """Integral length of turbulence L = L₁₀ (z/10)^ε̄, m, ASCE 7-16, Eq. (26.11-9)."""
        return self.terrain.length * (self._height(z) / _TEN) ** self.terrain.epsilon
