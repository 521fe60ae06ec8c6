"""Uniaxial materials of fibres and braces: stress as a function of the history of strain.

Tension is positive. A material is a frozen set of numbers; what is compiled stands in `hyloop.structure.fibres.stress`.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from hyloop.core.jit import jit, pointer
from hyloop.core.memory import columns, tail
from hyloop.errors import BadShape, OutOfBounds
from hyloop.structure.fibres import stress
from hyloop.structure.fibres.stress import BilinearNumbers, ConcreteNumbers, ElasticNumbers, SteelNumbers, Work

__all__ = ["Bilinear", "Concrete", "Elastic", "Material", "Steel", "kent_park"]


@dataclass(frozen=True)
class Material(ABC):
    """A uniaxial law; use one of `Elastic`, `Bilinear`, `Concrete` and `Steel`."""

    kind: ClassVar[int]
    carries_tension: ClassVar[bool] = True

    @property
    @abstractmethod
    def stiffness(self) -> float:
        """Tangent modulus of the virgin material in Pa."""

    @abstractmethod
    def numbers(self) -> tuple[float, ...]:
        """The parameters as the compiled law wants them, a NamedTuple of `hyloop.structure.fibres.stress`."""

    def stress(self, strain) -> np.ndarray:
        """Stresses along a history of strains that starts from the virgin material.

        Examples
        --------
        >>> Elastic(200e9).stress([0.0, 1e-3]) / 1e6
        array([  0., 200.])
        """
        strain = np.atleast_1d(np.asarray(strain, dtype=float))
        if strain.ndim != 1 or not np.isfinite(strain).all():
            raise BadShape(f"{type(self).__name__}.stress: strains must be a vector of finite numbers.")
        out = np.empty_like(strain)
        x = np.zeros(stress.WORK + stress.HISTORY[self.kind])
        _drive(self.kind, 1, strain, x, np.array(self.numbers()), out)
        return out

    def _positive(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if not 0.0 < value < math.inf:
                raise OutOfBounds(f"{type(self).__name__}: {name} = {value:g} must be positive and finite.")

    def _within(self, name: str, low: float, high: float) -> None:
        value = getattr(self, name)
        if not low <= value < high:
            raise OutOfBounds(f"{type(self).__name__}: {name} = {value:g} must lie in [{low:g}, {high:g}).")


@dataclass(frozen=True)
class Elastic(Material):
    r"""Linear elastic, :math:`\sigma = E \varepsilon`; E in Pa."""

    E: float
    kind: ClassVar[int] = stress.ELASTIC

    def __post_init__(self) -> None:
        self._positive("E")

    @property
    def stiffness(self) -> float:
        return self.E

    def numbers(self) -> ElasticNumbers:
        return ElasticNumbers(**asdict(self))


@dataclass(frozen=True)
class Bilinear(Material):
    r"""Elastic-plastic with linear kinematic hardening.

    .. math::
        \sigma = E(\varepsilon - \varepsilon_p), \qquad |\sigma - H \varepsilon_p| \le f_y, \qquad
        H = \frac{b}{1-b} E

    Parameters
    ----------
    fy, E : float
        Yield stress and modulus in Pa.
    b : float
        Modulus after yield over E, from 0 (ideally plastic) to below 1.

    References
    ----------
    Simo and Hughes (1998), Computational Inelasticity, section 1.3, doi:10.1007/b98904.
    """

    fy: float
    E: float
    b: float = 0.0
    kind: ClassVar[int] = stress.BILINEAR

    def __post_init__(self) -> None:
        self._positive("fy", "E")
        self._within("b", 0.0, 1.0)

    @property
    def stiffness(self) -> float:
        return self.E

    def numbers(self) -> BilinearNumbers:
        return BilinearNumbers(**asdict(self))


@dataclass(frozen=True)
class Steel(Material):
    r"""Steel after Giuffré, Menegotto and Pinto, with the isotropic hardening of Filippou et al.

    Between the last reversal :math:`(\varepsilon_r, \sigma_r)` and the point :math:`(\varepsilon_0, \sigma_0)` where
    the elastic line through it meets the hardening asymptote of the present direction

    .. math::
        \frac{\sigma - \sigma_r}{\sigma_0 - \sigma_r} = b \rho + \frac{(1-b)\rho}{(1 + |\rho|^R)^{1/R}}, \qquad
        \rho = \frac{\varepsilon - \varepsilon_r}{\varepsilon_0 - \varepsilon_r}, \qquad
        R = R_0 \left(1 - \frac{c_{R1}\,\xi}{c_{R2} + \xi}\right)

    with ξ the distance, in yield strains, between :math:`\varepsilon_0` and the extreme strain reached before in that
    direction. At a reversal the asymptotes are shifted by :math:`1 + a (\Delta/(2 a' \varepsilon_y))^{0.8}`, where Δ is
    the range of strain so far and (a, a') are (a1, a2) towards compression and (a3, a4) towards tension. These are the
    rules of OpenSees' Steel02, which has the power 0.8 in place of the linear shift of the 1983 report.

    Parameters
    ----------
    fy, E : float
        Yield stress and modulus in Pa.
    b : float
        Hardening ratio, from 0 to below 1.
    R0, cR1, cR2 : float
        Sharpness of the knee and its loss with plastic excursions.
    a1, a2, a3, a4 : float
        Isotropic hardening; none by default.

    References
    ----------
    Menegotto and Pinto (1973), IABSE reports 13, 15-22; Filippou, Popov and Bertero (1983), report UCB/EERC-83/19.
    """

    fy: float
    E: float
    b: float = 0.01
    R0: float = 20.0
    cR1: float = 0.925
    cR2: float = 0.15
    a1: float = 0.0
    a2: float = 1.0
    a3: float = 0.0
    a4: float = 1.0
    kind: ClassVar[int] = stress.STEEL

    def __post_init__(self) -> None:
        self._positive("fy", "E", "cR2", "a2", "a4")
        self._within("b", 0.0, 1.0)
        self._within("R0", 1.0, math.inf)
        self._within("cR1", 0.0, 1.0)
        self._within("a1", 0.0, math.inf)
        self._within("a3", 0.0, math.inf)

    @property
    def stiffness(self) -> float:
        return self.E

    def numbers(self) -> SteelNumbers:
        return SteelNumbers(**asdict(self))


@dataclass(frozen=True)
class Concrete(Material):
    r"""Modified Kent-Park concrete without tensile strength; all four numbers are given positive.

    The envelope, for compression :math:`\varepsilon` and :math:`\eta = \varepsilon/\varepsilon_c`, is

    .. math::
        \sigma = f_c\,\eta (2 - \eta) \;\; (\varepsilon \le \varepsilon_c), \qquad
        \sigma = f_c - (f_c - f_{cu}) \frac{\varepsilon - \varepsilon_c}{\varepsilon_{cu} - \varepsilon_c}
        \;\; (\varepsilon \le \varepsilon_{cu}), \qquad \sigma = f_{cu} \text{ beyond.}

    Unloading and reloading follow one straight line between the largest compression reached,
    :math:`\varepsilon_m = \eta_m \varepsilon_c`, and the strain where the stress is gone,

    .. math::
        \frac{\varepsilon_p}{\varepsilon_c} = 0.145\,\eta_m^2 + 0.13\,\eta_m \;\; (\eta_m < 2), \qquad
        \frac{\varepsilon_p}{\varepsilon_c} = 0.707\,(\eta_m - 2) + 0.834 \text{ beyond,}

    with :math:`\eta_m` at most :math:`\varepsilon_{cu}/\varepsilon_c` in these, and the line never steeper than the
    initial :math:`E_0 = 2 f_c/\varepsilon_c`. These are the rules of OpenSees' Concrete01.

    Parameters
    ----------
    fc, ec : float
        Strength in Pa and the strain at it.
    fcu, ecu : float
        Stress in Pa that remains, from 0 to fc, and the strain from which on it does.

    References
    ----------
    Scott, Park and Priestley (1982), ACI Journal 79(1), 13-27; Karsan and Jirsa (1969), J. Struct. Div. 95(12).
    """

    fc: float
    ec: float
    fcu: float
    ecu: float
    kind: ClassVar[int] = stress.CONCRETE
    carries_tension: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("fc", "ec", "fcu", "ecu"):
            if getattr(self, name) < 0.0:
                raise OutOfBounds(
                    f"Concrete: {name} = {getattr(self, name):g} is negative; "
                    "give compressive stresses and strains as positive numbers."
                )
        self._positive("fc", "ec")
        if self.fcu > self.fc:
            raise OutOfBounds(f"Concrete: fcu = {self.fcu:g} Pa exceeds the strength fc = {self.fc:g} Pa.")
        if not self.ec < self.ecu < math.inf:
            raise OutOfBounds(f"Concrete: ecu = {self.ecu:g} must be larger than ec = {self.ec:g}.")

    @property
    def stiffness(self) -> float:
        return 2.0 * self.fc / self.ec

    def numbers(self) -> ConcreteNumbers:
        descent = (self.fc - self.fcu) / (self.ecu - self.ec)
        return ConcreteNumbers(**asdict(self), E0=self.stiffness, descent=descent)


def kent_park(
    fc: float, hoop_ratio: float, hoop_yield: float, core_width: float, spacing: float
) -> tuple[Concrete, Concrete]:
    r"""Cover and confined core of a section with hoops: ``cover, core = kent_park(...)``.

    With stresses in MPa,

    .. math::
        K = 1 + \frac{\rho_s f_{yh}}{f_c}, \qquad
        Z = \frac{0.5}{\dfrac{3 + 0.29 f_c}{145 f_c - 1000} + \dfrac{3}{4} \rho_s \sqrt{h''/s} - 0.002 K}

    the strength is K fc at the strain 0.002 K, and from there the stress falls by Z K fc for a unit strain down to a
    fifth of the strength. The cover has no hoops: K = 1 and :math:`\rho_s = 0`.

    Parameters
    ----------
    fc, hoop_yield : float
        Cylinder strength of the concrete and yield stress of the hoops in Pa.
    hoop_ratio : float
        Volume of hoops over volume of core, measured to the outside of the hoops.
    core_width, spacing : float
        Width of the core to the outside of the hoops, and the spacing of the hoops, in m.

    Examples
    --------
    >>> cover, core = kent_park(27.5e6, 0.01, 414e6, 0.35, 0.1)
    >>> round(core.fc / cover.fc, 4)
    1.1505

    References
    ----------
    Scott, Park and Priestley (1982), ACI Journal 79(1), 13-27.
    """
    MPa = fc / 1e6
    if not MPa > 1000.0 / 145.0:
        raise OutOfBounds(f"kent_park: fc = {fc:g} Pa must exceed 6.9e6 Pa, the limit of the formula; is it in Pa?")
    for name, value, zero in (
        ("hoop_ratio", hoop_ratio, True),
        ("hoop_yield", hoop_yield, False),
        ("core_width", core_width, False),
        ("spacing", spacing, False),
    ):
        if not (value > 0.0 or (zero and value == 0.0)):
            raise OutOfBounds(f"kent_park: {name} = {value:g} must be {'at least zero' if zero else 'positive'}.")
    half = (3.0 + 0.29 * MPa) / (145.0 * MPa - 1000.0)  # strain at half the strength, plain concrete

    def envelope(K: float, confinement: float) -> Concrete:
        remaining = half + confinement - 0.002 * K
        if remaining <= 0.0:
            raise OutOfBounds(
                f"kent_park: hoops {spacing:g} m apart round a core of {core_width:g} m give a vertical "
                "descent, where the formula ends; is the spacing in m?"
            )
        return Concrete(fc=K * fc, ec=0.002 * K, fcu=0.2 * K * fc, ecu=0.002 * K + 1.6 * remaining)

    core = envelope(1.0 + hoop_ratio * hoop_yield / fc, 0.75 * hoop_ratio * math.sqrt(core_width / spacing))
    return envelope(1.0, 0.0), core


@jit
def _drive(kind, n, strains, x, p, out):
    work, history = columns(Work, x, n), tail(x, stress.WORK * n)
    for k in range(strains.shape[0]):
        work.strain[0] = strains[k]
        stress.advance(kind, n, work, history, pointer(p), n > 0)
        out[k] = work.stress[0]
