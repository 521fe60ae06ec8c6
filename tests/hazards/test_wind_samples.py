"""Samples of wind loads against their targets: exactly, line by line, and within the sampling error of a long one."""

import numpy as np
import pytest

from hyloop.hazards.wind import FloorWind, WindBuilding, WindCoefficients, WindSite, floor_loads

EXACT = 1e-9  # relative: transforms of 7200 samples and the sums over floors
SIGMAS = 4.5  # of the sampling error: all the comparisons here together fail by chance once in a thousand seeds
HEIGHTS = np.array([20.0, 55.0, 80.0, 130.0, 166.0])
BODY = WindBuilding(HEIGHTS, 32.6, 51.7, master=(1.0, -2.0))
WIND = FloorWind(BODY, WindSite(177 / 3.6), np.pi / 5, WindCoefficients(eccentricity=0.05, torsion=0.02))
LINES = 2**18


def target(wind, f):
    """Cross spectra (15, 15, m) written out: gusts, lift and torque of all pairs of floors."""
    z, U, n = wind.building.heights, wind.speeds, len(wind.building.heights)
    path = np.concatenate(([0.0], np.cumsum(np.diff(z) * 2 / (U[1:] + U[:-1]))))
    coherence = np.exp(-10.0 * np.abs(path[:, None] - path)[:, :, None] * f)
    B = wind.building.seen(wind.direction)[0]
    R = np.exp(-np.abs(z[:, None] - z) / B)
    gusts, (lifts, torques) = wind.gusts(f), wind.shedding
    of_lift, of_torque = wind._peaks(f)
    c, s = np.cos(wind.direction), np.sin(wind.direction)
    across = np.array([-s, c, 2.0 * -s + 1.0 * c])  # along (e_z, -e_x); moment about a master at (1, -2)
    S = np.einsum("kaf,lbf,klf->kalbf", gusts, gusts, coherence)
    S += np.einsum("k,l,kl,a,b,f->kalbf", lifts, lifts, R, across, across, of_lift)
    S[:, 2, :, 2] += np.einsum("k,l,kl,f->klf", torques, torques, R, of_torque)
    return S.reshape(3 * n, 3 * n, f.size)


def test_lines_have_exactly_the_cross_spectra_of_the_target(monkeypatch):
    """One random amplitude after the other is 1 and the rest 0: together they are the factor of the matrix."""
    dt, n = 0.5, 7200
    factor = []
    for chosen in range(15):
        calls = iter(range(15))
        monkeypatch.setattr(
            floor_loads,
            "_normal",
            lambda rng, size, chosen=chosen, calls=calls: np.full(size, 1.0 * (next(calls) == chosen)),
        )
        values = WIND.sample((n - 1) * dt, dt, 0).values - WIND.mean.ravel()
        factor.append(np.fft.rfft(values, axis=0)[1:-1] * np.sqrt(2.0 * dt / n))  # root of the one-sided spectrum
    H = np.array(factor)  # amplitude, line, load
    f = np.fft.rfftfreq(n, dt)[1:-1]
    found = np.einsum("jfa,jfb->abf", H, H.conj())
    expected = target(WIND, f)
    size = np.sqrt(np.einsum("aaf,bbf->abf", expected, expected))
    assert np.abs(found - expected).max(axis=2).max() < EXACT * np.abs(expected).max()
    assert (np.abs(found - expected) / size).max() < EXACT
    diagonal = np.einsum("aaf->af", expected).reshape(5, 3, -1)
    np.testing.assert_allclose(WIND.spectra(f), diagonal, rtol=EXACT)


@pytest.fixture(scope="module")
def long_sample():
    """36 hours at 4 Hz, all of the period, so that its lines are independent."""
    dt = 0.25
    return WIND.sample((2 * LINES - 1) * dt, dt, 11)


BANDS = [(2e-4, 2e-3), (2e-3, 0.01), (0.01, 0.03), (0.03, 0.08), (0.08, 0.2), (0.2, 0.6), (0.6, 1.9)]


def test_spectra_and_coherence_of_a_long_sample(long_sample):
    """Over the lines of a band; the mean of n independent lines has a relative error of 1/√n."""
    values, dt = long_sample.values, long_sample.dt
    n = len(values)
    X = np.fft.rfft(values, axis=0) * np.sqrt(2.0 * dt / n)
    f = np.fft.rfftfreq(n, dt)
    for low, high in BANDS:
        inside = np.flatnonzero((f >= low) & (f < high))
        some = inside[:: max(1, inside.size // 400)]  # the target is smooth
        S = target(WIND, f[some])
        spectrum = np.einsum("aaf->af", S)
        interpolated = np.array([np.interp(f[inside], f[some], row) for row in spectrum])
        ratio = (np.abs(X[inside].T) ** 2 / interpolated).mean(axis=1)
        assert np.abs(ratio - 1.0).max() < SIGMAS / np.sqrt(inside.size), (low, ratio)
        # squares of complex normal numbers scatter by their mean, which n of them show to √(2/n)
        spread = (np.abs(X[inside].T) ** 2 / interpolated).std(axis=1)
        assert np.abs(spread - 1.0).max() < SIGMAS * np.sqrt(2.0 / inside.size)
        for a, b in ((0, 3), (0, 12), (6, 9), (0, 1), (2, 5), (1, 13)):
            cross = np.interp(f[inside], f[some], S[a, b] / np.sqrt(spectrum[a] * spectrum[b]))
            whitened = [X[inside, j] / np.sqrt(interpolated[j]) for j in (a, b)]
            found = (whitened[0] * whitened[1].conj()).mean()
            assert abs(found - cross.mean()) < SIGMAS / np.sqrt(inside.size), (low, a, b)


def test_mean_and_covariance_of_a_long_sample(long_sample):
    """The error of a covariance over the time T is √(∫(S_aa S_bb + S_ab²)/2 df / T) for one-sided spectra."""
    values, dt = long_sample.values, long_sample.dt
    n = len(values)
    np.testing.assert_allclose(values.mean(axis=0), WIND.mean.ravel(), rtol=1e-9, atol=1e-3)  # N
    f = np.concatenate(([0.5 / (n * dt)], np.geomspace(1e-5, 0.5 / dt, 6000)))
    S = target(WIND, f)
    expected = np.trapezoid(S, f, axis=2)
    diagonal = np.einsum("aaf->af", S)
    products = 0.5 * (diagonal[:, None] * diagonal + S**2)
    error = np.sqrt(np.trapezoid(products, f, axis=2) / (n * dt))
    found = np.cov(values.T, bias=True)
    assert (np.abs(found - expected) / error).max() < SIGMAS
    assert (error.diagonal() / expected.diagonal()).max() < 0.02  # it is a sharp comparison


def test_samples_of_a_test_have_the_mean_of_the_target():
    """Thirty of 325 s from as many seeds; the error is that of the mean of what they scatter."""
    means = np.array([WIND.sample(325.0, 0.25, seed).values.mean(axis=0) for seed in range(30)])
    error = means.std(axis=0, ddof=1) / np.sqrt(30)
    assert (np.abs(means.mean(axis=0) - WIND.mean.ravel()) / error).max() < SIGMAS


def test_seeds():
    one, again, other = (WIND.sample(900.0, 0.25, seed).values for seed in (3, 3, 4))
    assert one.tobytes() == again.tobytes()
    a, b = ((x - x.mean(0)) / x.std(0) for x in (one, other))
    # of seeds that are independent a correlation scatters by √(∫S² df/(2T))/∫S, at most 0.08 here
    assert np.abs((a * b).mean(axis=0)).max() < SIGMAS * 0.08


def test_gusts_lift_and_torque_have_streams_of_their_own():
    """Without lift and torque the gusts stay as they are."""
    bare = FloorWind(BODY, WindSite(177 / 3.6), 0.0, WindCoefficients(lift=0.0, torsion=0.0))
    full = FloorWind(BODY, WindSite(177 / 3.6), 0.0)
    one, other = (w.sample(100.0, 0.25, 5).values for w in (bare, full))
    np.testing.assert_allclose(one[:, ::3], other[:, ::3], rtol=1e-9)  # along the wind nothing else acts
    assert np.abs(one[:, 1::3]).max() < 1e-6 * np.abs(other[:, 1::3]).max()


def test_ramps_and_names():
    load = WIND.sample(325.0, 0.05, 1, up=30.0, down=30.0)
    plain = WIND.sample(325.0, 0.05, 1)
    assert len(load) == 6501 and load.duration == pytest.approx(325.0)
    assert load.at[:4] == ("floor1.ux", "floor1.uz", "floor1.ry", "floor2.ux")
    np.testing.assert_allclose(load.values[300], 0.5 * plain.values[300], rtol=1e-9)
    np.testing.assert_array_equal(load.values[1000:5000], plain.values[1000:5000])
    assert np.abs(load.values[[0, -1]]).max() == 0.0
    assert load.meta["roof_speed"] == pytest.approx(44.66, rel=1e-4)
