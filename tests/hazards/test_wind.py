"""Wind: profiles, spectra and mean loads against hand calculations, closed forms and quadrature."""

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from scipy.special import gamma

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.hazards.wind import EXPOSURES, FloorWind, WindBuilding, WindCoefficients, WindSite
from hyloop.hazards.wind.coefficients import leeward_coefficient
from hyloop.hazards.wind.spectra import band_pass, kaimal, von_karman, wake_correlation, width_admittance

ROUNDING = 1e-12
QUADRATURE = 1e-8  # relative, asked of SciPy
HAND = 1e-3  # relative: hand calculations of four digits
V = 177 / 3.6
HEIGHTS = np.arange(1, 41) * 4.15
TOWER = WindBuilding(HEIGHTS, 32.6, 51.7)


def test_exposures_in_feet():
    """The table of ASCE 7 as it is printed in customary units: ᾱ, b̄, c, length and z_min in ft, ε̄."""
    printed = {
        "B": (1 / 4.0, 0.45, 0.30, 320.0, 30.0, 1 / 3.0),
        "C": (1 / 6.5, 0.65, 0.20, 500.0, 15.0, 1 / 5.0),
        "D": (1 / 9.0, 0.80, 0.15, 650.0, 7.0, 1 / 8.0),
    }
    for name, (alpha, b, c, length, z_min, epsilon) in printed.items():
        one = EXPOSURES[name]
        assert (one.alpha, one.b, one.c, one.epsilon) == (alpha, b, c, epsilon)
        assert one.length == pytest.approx(0.3048 * length, rel=1e-4)
        assert one.z_min == pytest.approx(0.3048 * z_min, abs=5e-3)
    assert [one.z0 for one in EXPOSURES.values()] == [0.3, 0.03, 0.005]  # m, the defaults that the docs name


def test_aij_at_another_proportion():
    """By hand at D/B = 0.5."""
    found = WindCoefficients().shedding(60.0, 30.0)[:4]
    assert found == pytest.approx((0.09328, 0.11068, 0.3187, 0.02829), rel=HAND)


def integral(S):
    """Over all frequencies, on a logarithmic axis."""
    return quad(lambda x: S(np.exp(x)) * np.exp(x), -25.0, 25.0, epsrel=QUADRATURE, limit=500)[0]


def test_mean_speed_by_hand():
    assert WindSite(V, "B").mean(166.0) == pytest.approx(0.45 * 16.6**0.25 * 49.1667, rel=HAND)  # 44.66 m/s
    assert WindSite(V, "C").mean(10.0) == pytest.approx(0.65 * 49.1667, rel=HAND)
    assert WindSite(V, "D").mean(50.0) == pytest.approx(0.80 * 5 ** (1 / 9) * 49.1667, rel=HAND)
    assert WindSite(V, "B").mean(1.0) == WindSite(V, "B").mean(9.14)  # z_min
    assert WindSite(V, averaging=1.06).mean(50.0) == pytest.approx(1.06 * WindSite(V).mean(50.0), rel=ROUNDING)


def test_the_two_step_procedure_by_hand():
    """32.35 m/s in the open, u* = 0.4 32.35/ln(10/0.03) = 2.227; 2.227 10^0.0706 = 2.620 at the site."""
    assert WindSite(V, "B", "log").mean(166.0) == pytest.approx(2.620 / 0.4 * np.log(166.0 / 0.3), rel=HAND)
    assert WindSite(V, "C", "log").mean(10.0) == pytest.approx(V / 1.52, rel=ROUNDING)


def test_two_sources_agree_on_the_mean_speed():
    """The power law of ASCE 7 and the logarithmic one, which holds in the lower part of the boundary layer."""
    for exposure in "BCD":
        power, log = (
            WindSite(V, exposure, profile).mean(np.array([30.0, 60.0, 100.0, 166.0])) for profile in ("power", "log")
        )
        assert np.abs(log / power - 1.0).max() < 0.08


def test_turbulence_by_hand():
    site = WindSite(V, "B")
    assert site.intensity(10.0) == pytest.approx(0.30, rel=ROUNDING)
    assert site.intensity(166.0) == pytest.approx(0.3 / 16.6 ** (1 / 6), rel=ROUNDING)
    assert site.length(166.0) == pytest.approx(97.54 * 2.551, rel=HAND)
    assert site.deviation(166.0) == pytest.approx(site.intensity(166.0) * site.mean(166.0), rel=ROUNDING)


def test_the_integral_of_a_spectrum_is_the_variance():
    how = (3.0, 200.0, 40.0)
    assert integral(lambda f: kaimal(f, *how)) == pytest.approx(9.0, rel=1e-6)
    # ∫ 4/(1 + 70.8 x²)^(5/6) dx = 4/√70.8 (√π/2) Γ(1/3)/Γ(5/6) = 0.99985
    whole = 4.0 / np.sqrt(70.8) * np.sqrt(np.pi) / 2.0 * gamma(1 / 3) / gamma(5 / 6)
    assert whole == pytest.approx(1.0, abs=3e-4)
    assert integral(lambda f: von_karman(f, *how)) == pytest.approx(9.0 * whole, rel=1e-6)
    for beta in (0.05, 0.28, 0.6, 0.95):
        assert integral(lambda f, beta=beta: band_pass(f, 0.07, beta)) == pytest.approx(1.0, rel=1e-6)


def test_shapes_of_the_spectra():
    f = np.array([50.0, 100.0])
    for S in (kaimal, von_karman):  # Kolmogorov's law
        values = S(f, 3.0, 200.0, 40.0)
        assert np.log2(values[1] / values[0]) == pytest.approx(-5 / 3, abs=1e-3)
    f = np.linspace(0.01, 0.2, 19001)
    assert f[np.argmax(f * band_pass(f, 0.07, 0.28))] == pytest.approx(0.07, abs=1e-5)


def test_admittance_is_the_double_integral():
    for x in (1e-4, 0.02, 1.0, 15.0):
        square = dblquad(lambda a, b, x=x: np.exp(-x * abs(a - b)), 0, 1, 0, lambda b: b, epsrel=1e-10)[0] * 2
        assert width_admittance(x) == pytest.approx(square, rel=1e-7)
    x = np.array([1e-3 * (1 - 1e-9), 1e-3 * (1 + 1e-9)])  # where the series ends
    assert np.diff(width_admittance(x))[0] == pytest.approx(0.0, abs=1e-9)
    for x in (0.3, 4.0):
        assert wake_correlation(x) == pytest.approx(1 / x - (1 - np.exp(-2 * x)) / (2 * x**2), rel=ROUNDING)


def test_mean_load_by_hand():
    """Wind from the north: 0.8 + 0.5 on the faces of 51.7 m, at floor 20 (83 m, U = 37.55 m/s)."""
    wind = FloorWind(TOWER, WindSite(V))
    U = 0.45 * 8.3**0.25 * V
    assert wind.mean[19, 0] == pytest.approx(-0.5 * 1.161 * 1.3 * 51.7 * 4.15 * U**2, rel=ROUNDING)
    assert np.abs(wind.mean[:, 1:]).max() < 1e-9  # N: cos 90° is not quite zero elsewhere
    assert wind.mean[-1, 0] / wind.mean[-2, 0] == pytest.approx(0.5 * (40 / 39) ** 0.5, rel=ROUNDING)  # half a story
    east = FloorWind(TOWER, WindSite(V), np.pi / 2)
    C = 0.8 + leeward_coefficient(51.7 / 32.6)
    assert leeward_coefficient(51.7 / 32.6) == pytest.approx(0.5 - 0.2 * (51.7 / 32.6 - 1.0), rel=ROUNDING)
    assert east.mean[19, 1] == pytest.approx(-0.5 * 1.161 * C * 32.6 * 4.15 * U**2, rel=ROUNDING)


def test_base_moment_is_that_of_the_profile():
    """∫ ½ρ C B U² z dz with U² ~ z^(1/2); floors converge to it with the square of the story."""
    H, a = 166.0, 0.5
    at = 0.5 * 1.161 * 1.3 * 51.7 * (0.45 * V) ** 2
    exact = -at * (9.14**2 / 2 * 0.914**a + (H ** (2 + a) - 9.14 ** (2 + a)) / 10.0**a / (2 + a))
    errors = []
    for n in (40, 80, 160):
        body = WindBuilding(np.arange(1, n + 1) * H / n, 32.6, 51.7)
        errors.append(abs(FloorWind(body, WindSite(V)).mean[:, 0] @ body.heights / exact - 1.0))
    assert errors[0] < 5e-4
    assert errors[1] < errors[0] / 3.5 and errors[2] < errors[1] / 3.5


def test_wind_from_the_north_east():
    wind = FloorWind(TOWER, WindSite(V), np.pi / 4)
    north, east = FloorWind(TOWER, WindSite(V)), FloorWind(TOWER, WindSite(V), np.pi / 2)
    np.testing.assert_allclose(wind.mean[:, 0], north.mean[:, 0] / np.sqrt(2), rtol=ROUNDING)
    np.testing.assert_allclose(wind.mean[:, 1], east.mean[:, 1] / np.sqrt(2), rtol=ROUNDING)
    assert wind.mean[:, :2].max() < 0.0  # to the south-west
    normal = FloorWind(TOWER, WindSite(V), np.pi / 4, WindCoefficients(obliquity=2.0))
    np.testing.assert_allclose(normal.mean[:, 0], north.mean[:, 0] / 2, rtol=ROUNDING)
    assert TOWER.seen(np.pi / 4) == pytest.approx(((32.6 + 51.7) / np.sqrt(2),) * 2)
    assert TOWER.seen(0.0) == pytest.approx((51.7, 32.6)) and TOWER.seen(np.pi / 2) == pytest.approx((32.6, 51.7))


def test_a_square_building_turned_is_the_same_building():
    square, f = WindBuilding(HEIGHTS, 40.0, 40.0), np.geomspace(1e-3, 5.0, 30)
    one = FloorWind(square, WindSite(V), 0.3)
    other = FloorWind(square, WindSite(V), 0.3 + np.pi / 2)  # a quarter to the east: x takes -z, z takes x
    np.testing.assert_allclose(other.mean[:, 0], -one.mean[:, 1], rtol=1e-9)
    np.testing.assert_allclose(other.mean[:, 1], one.mean[:, 0], rtol=1e-9)
    np.testing.assert_allclose(other.spectra(f)[:, [1, 0, 2]], one.spectra(f), rtol=1e-9)


def test_uneven_pressure_turns_towards_the_side_that_is_hit():
    """From the north-east the north face is hit more in its east, 0.1 x 51.7 m from the middle: clockwise."""
    wind = FloorWind(TOWER, WindSite(V), np.pi / 4, WindCoefficients(eccentricity=0.1))
    F_x, F_z, M = wind.mean.T
    np.testing.assert_allclose(M, 5.17 * F_x - 3.26 * F_z, rtol=1e-9)
    assert M.max() < 0.0
    straight = FloorWind(TOWER, WindSite(V), 0.0, WindCoefficients(eccentricity=0.1))
    assert np.abs(straight.mean[:, 2]).max() < 1e-6


def test_loads_about_a_master_away_from_the_middle():
    moved = WindBuilding(HEIGHTS, 32.6, 51.7, master=(1.63, 2.585))
    wind = FloorWind(moved, WindSite(V), np.pi / 4)
    F_x, F_z, M = wind.mean.T
    np.testing.assert_allclose(M, -2.585 * F_x + 1.63 * F_z, rtol=ROUNDING)


def test_gusts_as_strong_as_the_gust_factor_says():
    """Rms over mean of the base moment, 2 I Q, with the background factor of ASCE 7-16, Eq. (26.11-8).

    Q was fitted for many buildings, with other coherences; a tenth is as well as codes agree on it.
    """
    wind, f = FloorWind(TOWER, WindSite(V), 0.0, WindCoefficients(decay_wake=0.0)), np.geomspace(1e-5, 20.0, 4000)
    z, U = HEIGHTS, wind.speeds
    path = np.concatenate(([0.0], np.cumsum(np.diff(z) * 2 / (U[1:] + U[:-1]))))
    roots = wind.gusts(f)[:, 0] * z[:, None]
    S = sum(roots[k] * (roots * np.exp(-10.0 * f * np.abs(path - path[k])[:, None])).sum(0) for k in range(40))
    rms = np.sqrt(np.trapezoid(S, f)) / abs(wind.mean[:, 0] @ z)
    Q = np.sqrt(1.0 / (1.0 + 0.63 * ((51.7 + 166.0) / WindSite(V).length(0.6 * 166.0)) ** 0.63))
    assert rms == pytest.approx(2.0 * WindSite(V).intensity(0.6 * 166.0) * Q, rel=0.10)


def test_gusts_by_hand():
    """Floor 20 in wind from 30° east of north, every factor written out."""
    wind, f = FloorWind(TOWER, WindSite(V), np.pi / 6), np.array([0.01, 0.15, 0.6])
    U, z = 0.45 * 8.3**0.25 * V, 83.0
    sigma, L = 0.3 * (10 / z) ** (1 / 6) * U, 97.54 * 8.3 ** (1 / 3)
    x = f * L / U
    S = sigma**2 / f * 6.8 * x / (1 + 10.2 * x) ** (5 / 3)
    e = 3.85 * f * 4 * 32.6 / U
    N = 1 / e - (1 - np.exp(-2 * e)) / (2 * e**2)
    for axis, width, cosine, C in ((0, 51.7, np.cos(np.pi / 6), 0.5), (1, 32.6, 0.5, 0.5 - 0.2 * (51.7 / 32.6 - 1))):
        y = 16.0 * f * width * cosine / U
        over_width = 2 * (y - 1 + np.exp(-y)) / y**2
        both = 0.8**2 + 2 * 0.8 * C * N + C**2
        expected = (1.161 * width * 4.15 * U * cosine) ** 2 * both * over_width * S
        np.testing.assert_allclose(wind.gusts(f)[19, axis] ** 2, expected, rtol=1e-9)
        assert wind.gusts(f)[19, axis].max() < 0.0  # a gust pushes as the mean does
    other = FloorWind(TOWER, WindSite(V), np.pi / 6, spectrum="von_karman").gusts(f)[19, 0]
    ratio = 4 / (1 + 70.8 * x**2) ** (5 / 6) / (6.8 / (1 + 10.2 * x) ** (5 / 3))
    np.testing.assert_allclose((other / wind.gusts(f)[19, 0]) ** 2, ratio, rtol=1e-9)


def test_across_wind_spectrum_by_hand():
    """Wind from the north: along z the lift alone, with its peak at St U_H/B; the torque has a peak of its own."""
    own = WindCoefficients(strouhal=0.1, bandwidth=0.2, strouhal_torsion=0.3, bandwidth_torsion=0.4)
    wind, f = FloorWind(TOWER, WindSite(V), 0.0, own), np.array([0.03, 0.09, 0.4])
    peaks = [0.1 * wind.speeds[-1] / 51.7, 0.3 * wind.speeds[-1] / 51.7]
    found = wind.spectra(f)
    for k, column, size, beta in ((0, 1, wind.shedding[0], 0.2), (1, 2, wind.shedding[1], 0.4)):
        r = f / peaks[k]
        phi = np.arcsin(beta)
        area = (np.pi - 2 * phi) / (2 * np.sin(2 * phi))
        expected = size[19] ** 2 / f * r**2 / ((1 - r**2) ** 2 + 4 * beta**2 * r**2) / area
        np.testing.assert_allclose(found[19, column], expected, rtol=1e-9)


def test_shedding_by_hand():
    """AIJ at D/B = 1: 0.157, St 0.0901, β 0.281, 0.0502; so have base moment and base torque."""
    wind = FloorWind(TOWER, WindSite(V), np.pi / 4)
    B = (32.6 + 51.7) / np.sqrt(2)
    lift, St, beta, torsion, *of_torque = wind.coefficients.shedding(B, B)
    assert (lift, St, beta, torsion) == pytest.approx((0.1572, 0.0901, 0.2806, 0.0502), rel=HAND)
    assert of_torque == [St, beta]
    R = np.exp(-np.abs(HEIGHTS[:, None] - HEIGHTS) / B)
    forces, torques = wind.shedding
    q = 0.5 * 1.161 * wind.speeds[-1] ** 2
    moments = forces * HEIGHTS
    assert np.sqrt(moments @ R @ moments) == pytest.approx(lift * q * B * 166.0**2, rel=ROUNDING)
    assert np.sqrt(torques @ R @ torques) == pytest.approx(torsion * q * B**2 * 166.0, rel=ROUNDING)
    np.testing.assert_allclose(forces / (wind.speeds**2 * TOWER.tributary), forces[0] / wind.speeds[0] ** 2 / 4.15)


def test_bad_input():
    with pytest.raises(BadInput, match="exposure = 'A'"):
        WindSite(V, "A")
    with pytest.raises(OutOfBounds, match="speed"):
        WindSite(-1.0)
    with pytest.raises(BadInput, match="profile"):
        WindSite(V, "B", "linear")
    with pytest.raises(OutOfBounds, match="increase"):
        WindBuilding([3.0, 2.0], 30.0, 50.0)
    with pytest.raises(BadShape, match="1 floors for 2 heights"):
        WindBuilding([3.0, 6.0], 30.0, 50.0, ["floor1"])
    with pytest.raises(BadInput, match="different"):
        WindBuilding([3.0, 6.0], 30.0, 50.0, ["floor1", "floor1"])
    with pytest.raises(OutOfBounds, match="length_x"):
        WindBuilding([3.0], 0.0, 50.0)
    with pytest.raises(OutOfBounds, match="in rad"):
        FloorWind(TOWER, WindSite(V), 45.0)
    with pytest.raises(BadInput, match="'davenport'"):
        FloorWind(TOWER, WindSite(V), spectrum="davenport")
    with pytest.raises(OutOfBounds, match=r"D/B = 0\.1"):
        FloorWind(WindBuilding([3.0], 10.0, 100.0), WindSite(V))
    with pytest.raises(OutOfBounds, match=r"bandwidth = 1\.0 must be above 0 to 0\.99"):
        WindCoefficients(bandwidth=1.0)
    with pytest.raises(OutOfBounds, match="density"):
        WindCoefficients(density=0.0)
    for bad in ({"eccentricity": 0.6}, {"eccentricity": -0.6}, {"bandwidth_torsion": 1.0}, {"lift": -0.1}):
        with pytest.raises(OutOfBounds, match=next(iter(bad))):
            WindCoefficients(**bad)
    with pytest.raises(OutOfBounds, match="above 0"):
        WindBuilding([0.0, 3.0], 30.0, 50.0)
    assert WindCoefficients(lift=0.0, torsion=0.0).lift == 0.0
