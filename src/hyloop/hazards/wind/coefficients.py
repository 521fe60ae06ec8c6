"""Coefficients of the wind on a rectangular building, each with its source."""

from dataclasses import dataclass, fields

import numpy as np

from hyloop.errors import OutOfBounds

__all__ = ["WindCoefficients", "aij_bandwidth", "aij_lift", "aij_strouhal", "aij_torsion", "leeward_coefficient"]

_LOWEST, _HIGHEST = 0.2, 5.0  # D/B for which AIJ (2004), A6.4 and A6.5, gives coefficients


def leeward_coefficient(depth_over_width: float) -> float:
    """Size of the suction on the leeward wall: 0.5 to D/B = 1, 0.3 at 2, 0.2 from 4 on (ASCE 7-16, Figure 27.3-1)."""
    return float(np.interp(depth_over_width, [1.0, 2.0, 4.0], [0.5, 0.3, 0.2]))


def aij_lift(r: float) -> float:
    """Rms coefficient of the across-wind base moment, σ_M / (q_H B H²), for r = D/B (AIJ 2004, A6.4)."""
    return 0.0082 * r**3 - 0.071 * r**2 + 0.22 * r


def aij_torsion(r: float) -> float:
    """Rms coefficient of the base torque, σ_T / (q_H B² H), for r = D/B (AIJ 2004, A6.5)."""
    return (0.0066 + 0.015 * r**2) ** 0.78


def aij_strouhal(r: float) -> float:
    """Peak f_s B / U_H of the across-wind force for r = D/B (AIJ 2004, A6.4)."""
    return 0.12 / (1.0 + 0.38 * r**2) ** 0.89


def aij_bandwidth(r: float) -> float:
    """Bandwidth β of that peak for r = D/B (AIJ 2004, A6.4)."""
    return (r**4 + 2.3 * r**2) / (2.4 * r**4 - 9.2 * r**3 + 18.0 * r**2 + 9.5 * r - 0.15) + 0.12 / r


@dataclass(frozen=True)
class WindCoefficients:
    """What turns wind into loads. None: from the proportions of the building, by the source named.

    B and D are the widths of the plan as the wind sees them, across and along it; H is the height of the roof and
    q_H = ½ ρ U(H)².
    """

    density: float = 1.161
    """Density of air ρ, kg/m3 (Al-Subaihawi et al. 2024, section 4.2)."""
    windward: float = 0.8
    """Pressure on the windward face over ½ρU² (ASCE 7-16, Figure 27.3-1)."""
    leeward_x: float | None = None
    """Suction on the leeward one of the faces north and south; None: `leeward_coefficient`."""
    leeward_z: float | None = None
    """The same for the faces east and west."""
    obliquity: float = 1.0
    """Power n of cos θ, θ between wind and normal of a face, with which the load on that pair of faces falls. 1: the
    drag is a vector, 0.71 on both pairs at 45° (ASCE 7-16, Figure 27.3-8, case 3: 0.75). 2: only the part of the wind
    that is normal to the face counts."""
    decay_z: float = 10.0
    """Davenport's decay of coherence over the height, C_z (Simiu and Scanlan 1996, section 2.3)."""
    decay_y: float = 16.0
    """Davenport's decay of coherence across the wind, C_y (same)."""
    decay_wake: float = 3.85
    """Decay of the correlation between windward and leeward face (same, chapter 9); 0: as one."""
    lift: float | None = None
    """Rms coefficient of the across-wind base moment, σ_M / (q_H B H²); None: `aij_lift`."""
    strouhal: float | None = None
    """Peak of the across-wind force, f_s B / U_H; None: `aij_strouhal`."""
    bandwidth: float | None = None
    """Bandwidth β of that peak; None: `aij_bandwidth`."""
    correlation: float = 1.0
    """Length of correlation of the across-wind force and of the torque over the height, in widths B. The correlation
    cos(2r/3) exp(-r²/9) of Vickery and Clark (1972), J. Struct. Div. ASCE 98(ST1), 1-20, r = Δz/B, has the integral
    3√π/(2e) = 0.98."""
    torsion: float | None = None
    """Rms coefficient of the base torque, σ_T / (q_H B² H); None: `aij_torsion`."""
    strouhal_torsion: float | None = None
    """Peak of the torque; None: that of the across-wind force."""
    bandwidth_torsion: float | None = None
    """Its bandwidth; None: that of the across-wind force."""
    eccentricity: float = 0.0
    """Distance of the pressure on a face from its middle towards the upwind edge, over its width, at 45°; at other
    angles times sin 2θ. It makes torque of the mean and of the gusts. No value is known for all plans: default 0. ASCE
    7-16, Figure 27.3-8, designs with 0.15."""

    def __post_init__(self) -> None:
        may_be_zero = {"leeward_x", "leeward_z", "decay_z", "decay_y", "decay_wake", "lift", "torsion"}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None:
                continue
            low = -0.5 if field.name == "eccentricity" else 0.0
            high = {"eccentricity": 0.5, "bandwidth": 0.99, "bandwidth_torsion": 0.99}.get(field.name, np.inf)
            closed = field.name in may_be_zero or field.name == "eccentricity"
            if not np.isfinite(value) or value > high or (value < low if closed else value <= low):
                limit = f"from {low:g}" if closed else f"above {low:g}"
                raise OutOfBounds(
                    f"wind coefficients: {field.name} = {value!r} must be {limit}"
                    f"{f' to {high:g}' if high < np.inf else ''} and finite."
                )

    def shedding(self, width: float, depth: float) -> tuple[float, float, float, float, float, float]:
        """Lift, its Strouhal number and bandwidth, torsion, its Strouhal number and bandwidth, for a plan B x D."""
        r = depth / width
        given = (self.lift, self.strouhal, self.bandwidth, self.torsion)
        if None in given and not _LOWEST <= r <= _HIGHEST:
            raise OutOfBounds(
                f"wind coefficients: a plan {width:g} m wide and {depth:g} m deep has D/B = {r:.3g}; lift, strouhal, "
                f"bandwidth and torsion are known from {_LOWEST:g} to {_HIGHEST:g}. Give all four."
            )
        laws = (aij_lift, aij_strouhal, aij_bandwidth, aij_torsion)
        lift, strouhal, bandwidth, torsion = (
            law(r) if value is None else value for law, value in zip(laws, given, strict=True)
        )
        of_torque = strouhal if self.strouhal_torsion is None else self.strouhal_torsion
        broad = bandwidth if self.bandwidth_torsion is None else self.bandwidth_torsion
        return lift, strouhal, bandwidth, torsion, of_torque, broad
