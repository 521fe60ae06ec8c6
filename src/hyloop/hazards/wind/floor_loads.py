"""Floor loads of a rectangular building in turbulent wind: along it, across it, and torque."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import cast

import numpy as np
from scipy.fft import next_fast_len

from hyloop.core.jit import Floats
from hyloop.errors import OutOfBounds
from hyloop.hazards.checks import choice, positive
from hyloop.hazards.loads import LoadHistory
from hyloop.hazards.wind.building import WindBuilding
from hyloop.hazards.wind.coefficients import WindCoefficients, leeward_coefficient
from hyloop.hazards.wind.spectra import SPECTRA, band_pass, wake_correlation, width_admittance
from hyloop.hazards.wind.terrain import WindSite

__all__ = ["FloorWind"]

_HOUR = 3600.0  # s; the mean is an hourly one, so that nothing slower belongs to the gusts


@dataclass(frozen=True, eq=False)
class FloorWind:
    r"""Wind loads at the floors of a building: mean, spectra, and samples.

    The wind comes from `direction`, θ from north towards east, and flows along e = (-cos θ, -sin θ) on the axes
    (x north, z east). On the pair of faces normal to x, of width :math:`L_z`, floor k carries

    .. math:: F_{x,k} = \tfrac12 \rho\, C_x L_z h_k\, e_x |e_x|^{n-1} \left( U_k^2 + 2 U_k u_k(t) \right)

    and the same with z. :math:`C_x` is the sum of windward and leeward coefficient, h the tributary height. The gusts
    u have the spectrum S of the site, its part that acts on a face at once (`width_admittance` over the width that the
    wind sees, :math:`L_z |e_x|`), the part that acts on both faces at once (`wake_correlation`), and the coherence

    .. math:: \gamma_{kl}(f) = \exp\left( -C_z f \int_{z_k}^{z_l} \frac{\mathrm{d}z}{U} \right)

    which for neighbours is Davenport's :math:`\exp(-C_z f \Delta z / \bar U)`. Along a line it is that of a Markov
    chain, so that its Cholesky factor is known: :math:`g_k = \gamma_{k-1,k}\, g_{k-1} + (1 - \gamma^2)^{1/2} w_k`.

    Across the wind acts :math:`\lambda\, q_k B h_k\, s_k(t)` along n = (e_z, -e_x), s of unit variance with
    the spectrum `band_pass` about :math:`f_s = St\, U_H / B` and the correlation :math:`\exp(-|\Delta z| / (c B))`. λ
    follows from the rms base moment :math:`C_L q_H B H^2`. The torque :math:`\tau q_k B^2 h_k\, t_k(t)` is made alike
    for the base torque :math:`C_T q_H B^2 H`. Gusts, lift and torque are independent of each other. Pressure that is
    eccentric on the faces adds torque, see `WindCoefficients.eccentricity`.

    Parameters
    ----------
    building : WindBuilding
    site : WindSite
    direction : float
        θ in rad, where the wind comes from: 0 north, π/4 north-east, π/2 east.
    coefficients : WindCoefficients
    spectrum : {"kaimal", "von_karman"}
        Of the gusts.

    References
    ----------
    Davenport (1961), The application of statistical concepts to the wind loading of structures, Proc. ICE 19, 449-472.
    Shinozuka and Jan (1972), Digital simulation of random processes and its applications, J. Sound Vib. 25, 111-128.
    """

    building: WindBuilding
    site: WindSite
    direction: float = 0.0
    coefficients: WindCoefficients = field(default_factory=WindCoefficients)
    spectrum: str = "kaimal"

    def __post_init__(self) -> None:
        choice("wind", "spectrum", self.spectrum, tuple(SPECTRA))
        if not abs(self.direction) <= 2.0 * np.pi:
            raise OutOfBounds(f"wind: direction = {self.direction!r} is not within ±2π; give it in rad.")
        self.coefficients.shedding(*self.building.seen(self.direction))  # refuses a plan it knows nothing of

    @cached_property
    def speeds(self) -> Floats:
        """Mean speed at the floors, m/s; the last is that at the roof."""
        return self.site.mean(self.building.heights)

    @property
    def flow(self) -> tuple[float, float]:
        """Direction (x, z) in which the wind flows."""
        return -float(np.cos(self.direction)), -float(np.sin(self.direction))

    @cached_property
    def _drag(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Windward and leeward coefficient of the faces normal to x, and of those normal to z."""
        c, a, b = self.coefficients, self.building.length_x, self.building.length_z
        of_x = leeward_coefficient(a / b) if c.leeward_x is None else c.leeward_x
        of_z = leeward_coefficient(b / a) if c.leeward_z is None else c.leeward_z
        return (c.windward, of_x), (c.windward, of_z)

    @cached_property
    def _arms(self) -> tuple[float, float]:
        """Where the pressure on the faces acts, (x, z) from the masters, m."""
        e, (north, east) = self.coefficients.eccentricity, (-self.flow[0], -self.flow[1])
        x, z = self.building.master
        return 2.0 * e * self.building.length_x * abs(east) * north - x, (
            2.0 * e * self.building.length_z * abs(north) * east - z
        )

    def _pushes(self) -> Floats:
        """Force over ½ρU² at every floor along x and z, m2; columns for the two."""
        power = self.coefficients.obliquity - 1.0
        widths = (self.building.length_z, self.building.length_x)
        factors = [
            sum(pair) * width * e * abs(e) ** power if e else 0.0
            for pair, width, e in zip(self._drag, widths, self.flow, strict=True)
        ]
        return self.building.tributary[:, None] * np.array(factors)

    def _with_torque(self, x: Floats, z: Floats) -> Floats:
        """Forces and their moment about the masters, M = r_z F_x - r_x F_z, side by side."""
        r_x, r_z = self._arms
        return np.stack([x, z, r_z * x - r_x * z], axis=1)

    @cached_property
    def mean(self) -> Floats:
        """Mean loads at the floors, (n, 3): N along x and z, N m about y."""
        q = 0.5 * self.coefficients.density * self.speeds**2
        return self._with_torque(*(q[:, None] * self._pushes()).T)

    def gusts(self, f: Floats, floors: slice = slice(None)) -> Floats:
        """Root of the spectra of the loads of the gusts, (n, 3, m), N/√Hz; with the sign of the load."""
        c, body, e = self.coefficients, self.building, self.flow
        z, U = body.heights[floors, None], self.speeds[floors, None]
        S = SPECTRA[self.spectrum](f, self.site.deviation(z), self.site.length(z), U)
        spacing = 4.0 * min(body.length_x, body.length_z, body.roof)
        N = wake_correlation(c.decay_wake * f * spacing / U)
        loads = []
        for axis, width in enumerate((body.length_z, body.length_x)):
            front, back = self._drag[axis]
            both = (front**2 + 2.0 * front * back * N + back**2) / (front + back) ** 2
            part = width_admittance(c.decay_y * f * width * abs(e[axis]) / U) * both
            loads.append(c.density * U * self._pushes()[floors, axis, None] * np.sqrt(part * S))
        return self._with_torque(*loads)

    @cached_property
    def shedding(self) -> tuple[Floats, Floats]:
        """Standard deviations of the across-wind force, N, and of the torque about the middle, N m, at the floors."""
        B, D = self.building.seen(self.direction)
        lift, _, _, torsion, _, _ = self.coefficients.shedding(B, D)
        z, H = self.building.heights, self.building.roof
        q = 0.5 * self.coefficients.density * self.speeds**2
        force = q * B * self.building.tributary
        R = np.exp(-np.abs(z[:, None] - z) / (self.coefficients.correlation * B))
        moment = np.sqrt(force * z @ R @ (force * z))
        return lift * q[-1] * B * H**2 / moment * force, torsion * q[-1] * B * H / np.sqrt(
            force @ R @ force
        ) * force * B

    def _peaks(self, f: Floats) -> tuple[Floats, Floats]:
        """Spectra of unit variance of the across-wind force and of the torque."""
        B, D = self.building.seen(self.direction)
        _, St, beta, _, St_torsion, beta_torsion = self.coefficients.shedding(B, D)
        fastest = self.speeds[-1] / B
        return band_pass(f, St * fastest, beta), band_pass(f, St_torsion * fastest, beta_torsion)

    def _across(self) -> Floats:
        """Loads (x, z and about y) of a unit force across the wind."""
        n_x, n_z = self.flow[1], -self.flow[0]
        x, z = self.building.master
        return np.array([n_x, n_z, -z * n_x + x * n_z])

    def spectra(self, f: Floats) -> Floats:
        """Spectra of the loads at the frequencies f (Hz), one-sided, (n, 3, m), N²/Hz and (N m)²/Hz."""
        f = np.asarray(f, np.float64)
        lift, torque = self.shedding
        of_lift, of_torque = self._peaks(f)
        total = self.gusts(f) ** 2
        total += (lift[:, None] * self._across())[:, :, None] ** 2 * of_lift
        total[:, 2] += torque[:, None] ** 2 * of_torque
        return total

    def sample(
        self, duration: float, dt: float, seed: int, *, up: float = 0.0, down: float = 0.0, name: str = "wind"
    ) -> LoadHistory:
        """Loads over time; the same seed gives the same loads.

        Every frequency of an hour (or of `duration`, if longer) has an independent complex normal amplitude, so that
        the loads are Gaussian; the first `duration` of that hour are given.

        Parameters
        ----------
        duration, dt : float
            s.
        seed : int
            Of the random amplitudes.
        up, down : float
            Ramps on a line at the beginning and at the end, on the mean as well, s.
        """
        duration, dt = positive("wind", "duration", duration), positive("wind", "dt", dt)
        n = round(duration / dt) + 1
        period = cast(int, next_fast_len(max(n, int(np.ceil(_HOUR / dt))), True))
        # neither the mean nor the Nyquist frequency
        f = np.arange(1, (period + 1) // 2, dtype=np.float64) / (period * dt)
        streams = [np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(3)]
        B, _ = self.building.seen(self.direction)
        U, gaps = self.speeds, np.diff(self.building.heights, prepend=self.building.heights[0])
        across, (lifts, torques), peaks = self._across(), self.shedding, [np.sqrt(S) for S in self._peaks(f)]
        values = np.empty((n, len(self.building.at)))
        gust = lift = torque = np.zeros(f.size, np.complex128)
        for k, gap in enumerate(gaps):
            slow = np.exp(-self.coefficients.decay_z * f * 2.0 * gap / (U[k] + U[k - 1]))
            kept = np.exp(-gap / (self.coefficients.correlation * B))
            # the chain begins with nothing behind it
            shares = (slow, kept, kept) if k else (0.0, 0.0, 0.0)
            gust, lift, torque = (
                share * below + np.sqrt(1.0 - np.square(share)) * _normal(rng, f.size)
                for share, below, rng in zip(shares, (gust, lift, torque), streams, strict=True)
            )
            lines = self.gusts(f, slice(k, k + 1))[0] * gust + across[:, None] * (lifts[k] * peaks[0] * lift)
            lines[2] += torques[k] * peaks[1] * torque
            for j in range(3):
                values[:, 3 * k + j] = self.mean[k, j] + _signal(lines[j], period, dt)[:n]
        meta = {"seed": seed, "direction": self.direction, "roof_speed": float(U[-1]), "exposure": self.site.exposure}
        return LoadHistory(values, dt, self.building.at, name, meta).ramped(up, down)


def _normal(rng: np.random.Generator, n: int) -> np.ndarray:
    """Complex normal numbers of unit mean square."""
    parts = rng.standard_normal((n, 2)) * np.sqrt(0.5)
    return parts[:, 0] + 1j * parts[:, 1]


def _signal(lines: np.ndarray, period: int, dt: float) -> Floats:
    """Signal of `period` samples from the root spectrum times amplitudes of unit mean square, above f = 0.

    A line of the width 1/T has the variance S/T, half of it in each of the two that irfft makes of one.
    """
    spectrum = np.zeros(period // 2 + 1, np.complex128)
    spectrum[1 : lines.size + 1] = lines * (period * np.sqrt(0.5 / (period * dt)))
    return np.fft.irfft(spectrum, period)
