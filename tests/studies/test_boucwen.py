"""The study of the Bouc-Wen benchmark: its parts against SciPy and closed forms, and a quick run with a sine sweep."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from oracles.data import data_path
from oracles.pages import Page, assert_claims
from scipy.integrate import solve_ivp
from scipy.signal import lsim

from hyloop.data import bouc_wen as benchmark
from hyloop.study import studies
from hyloop.study.claims import load_claims, read_verdicts

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "studies" / "boucwen"
STEP = 1e-3  # relative: second order of a straight line of force, or of a kink, over 1/6000 s
ENGINE = 1e-4  # relative: central difference at 30 kHz
INTERPOLATED = 1e-6  # relative: side lobes of the window
FOUND = 2e-2  # relative: parameters of a linear system from samples, the force between them being a straight line
SAME = 0.05  # relative: the same fit on another processor


@pytest.fixture(scope="module")
def study():
    return studies._load(FOLDER / "study.py")


def part(study, name):
    return import_module(f"{study.__name__}.{name}")


def sweep(n, rate):
    """Force of a sweep from 20 to 50 Hz."""
    t = np.arange(n) / rate
    return 40.0 * np.sin(2 * np.pi * (20.0 * t + 15.0 * t**2 / (n / rate)))


def reference(u, rate, r):
    """The published equations by SciPy, force on straight lines."""
    t = np.arange(len(u)) / rate

    def slope(now, x):
        y, v, z = x
        f = np.interp(now, t, u)
        rate_z = r.ALPHA * v - r.BETA_GAMMA * abs(v) * z - r.BETA_DELTA * v * abs(z)
        return v, (f - r.DAMPING * v - r.STIFFNESS * y - z) / r.MASS, rate_z

    return solve_ivp(slope, (0.0, t[-1]), np.zeros(3), t_eval=t, rtol=1e-8, atol=1e-10, max_step=2.0 / rate).y[0]


def test_engine_and_white_box_are_the_published_equations(study):
    r, o = part(study, "records"), part(study, "oscillators")
    fine, every = 30_000, 5
    u = sweep(6000, fine)
    y = reference(u, fine, r)
    assert r.simulated(u, fine) == pytest.approx(y, abs=ENGINE * np.abs(y).max())
    published = part(study, "pages").PUBLISHED
    coarse = o.bouc_wen_oscillator(**published).drive(every / fine, u=u[::every])["y"]
    assert coarse == pytest.approx(y[::every], abs=STEP * np.abs(y).max())
    linear = o.bouc_wen_oscillator(**published | {"beta_gamma": 0.0, "beta_delta": 0.0}).drive(1 / fine, u=u)["y"]
    assert np.abs(linear - y).max() > 0.1 * np.abs(y).max()  # hysteresis is seen


def test_the_law_before_its_correction_is_dahl_friction(study):
    o = part(study, "oscillators")
    u, rate = sweep(2000, 6000), 6000
    spring = o.dahl_oscillator(m=2.0, c=10.0, k=5e4, k_out=3e4, k_back=3e4, rho=0.0).drive(1 / rate, u=u)["y"]
    A, B = [[0.0, 1.0], [-8e4 / 2.0, -10.0 / 2.0]], [[0.0], [0.5]]
    _, y, _ = lsim((A, B, [[1.0, 0.0]], [[0.0]]), u, np.arange(len(u)) / rate)
    assert spring == pytest.approx(y, abs=STEP * np.abs(y).max())
    # rho alone is Bouc-Wen's beta gamma
    dahl = o.dahl_oscillator(m=2.0, c=10.0, k=5e4, k_out=5e4, k_back=5e4, rho=800.0).drive(1 / rate, u=u)
    same = o.bouc_wen_oscillator(m=2.0, c=10.0, k=5e4, alpha=5e4, beta_gamma=800.0).drive(1 / rate, u=u)
    assert dahl["y"] == pytest.approx(same["y"], abs=1e-12)
    ahead = dahl["z"] + 0.5 * np.gradient(dahl["z"])
    assert dahl["z_mid"][:-1] == pytest.approx(np.abs(ahead)[:-1], abs=0.05 * np.abs(ahead).max())


def test_own_records_are_multisines_of_the_benchmarks_kind(study):
    r = part(study, "records")
    one, two = r.own(2)
    for seen in (one, two):
        power = np.abs(np.fft.rfft(seen.u)) ** 2
        hertz = np.arange(len(power)) * r.RATE / r.PERIOD
        inside = (hertz >= 5.0) & (hertz <= 150.1)
        assert np.sqrt(np.mean(seen.u**2)) == pytest.approx(50.0, rel=1e-9)
        assert power[inside].min() > 0.99 * power.max() and power[~inside].max() < 1e-12 * power.max()
        # above 300 Hz there is hardly anything but the noise
        tail = np.abs(np.fft.rfft(seen.y)[hertz > 300.0]) ** 2
        assert np.sqrt(tail.mean() / r.PERIOD) == pytest.approx(8e-6, rel=0.1)
    assert np.abs(np.corrcoef(one.u, two.u)[0, 1]) < 0.1
    assert np.array_equal(r.own(1)[0].y, one.y)


def test_the_force_between_samples(study):
    r = part(study, "records")
    seen = r.own(1)[0]
    u, before = r.ticks(seen, 4)
    assert u[4 * before :: 4] == pytest.approx(seen.u, abs=INTERPOLATED * 200.0)
    assert u[: 4 * before] == pytest.approx(u[-4 * before :], abs=INTERPOLATED * 200.0)  # run-in: the end of the period
    dense = sweep(30_000, 3000.0)
    u, before = r.ticks(r.Seen("sweep", dense[::4], dense[::4], periodic=False), 4)
    assert before == 0 and u[:-400] == pytest.approx(dense[: len(u)][:-400], abs=1.0)  # N: the kink at the start rings
    assert u[2000:-2000] == pytest.approx(dense[2000:-2000], abs=1e-3)


def test_the_linear_start_finds_a_linear_system(study):
    r, m = part(study, "records"), part(study, "models")
    fine = r.multisine(np.random.default_rng(1))
    law = part(study, "oscillators").bouc_wen_oscillator(m=3.0, c=40.0, k=1e5, alpha=1e-9)
    y = law.drive(1 / (r.RATE * r.FINE), u=np.tile(fine, 2))["y"][len(fine) :: r.FINE]
    found = m.linear(r.Seen("linear", fine[:: r.FINE], y))
    assert (found.m, found.c, found.k) == pytest.approx((3.0, 40.0, 1e5), rel=FOUND)


def test_fits_learn_and_never_ask_for_a_test(study, monkeypatch):
    """Few trials on own records of own making, the first of which may fail; what is asked of it is written down."""
    r, m, fits = (part(study, name) for name in ("records", "models", "fits"))
    asked = []

    def tests(pattern="*"):
        asked.append(pattern)
        seen = r.own(1)[0]
        return {pattern: benchmark.BenchmarkRecord(pattern, 1 / 750, np.tile(seen.u, 4), np.tile(seen.y, 4), 4)}

    monkeypatch.setattr(r.benchmark, "tests", tests)
    for cached in (fits.training, fits.validation, fits.start):
        cached.cache_clear()
    monkeypatch.setattr(fits, "_KNOWN", {})
    start, seen = fits.start("estimation"), fits.training("estimation")
    params = fits.law_alone("estimation", (3, 0))
    like = {"law": m.corrected(params, 0), "black": m.black_box(start, 0)}
    found = {
        "law": fits.law_and_network("estimation", 0, params, (10, 0)),
        "black": fits.black_box("estimation", 0, (10, 0)),
    }
    for key, factor in (("law", m.LAW_TICKS), ("black", m.BLACK_TICKS)):
        before, after = (
            m.error(m.frozen(model, start, seen).device(), seen[0], factor)
            for model in (like[key], m.restored(like[key], found[key]))
        )
        assert after < 0.95 * before, key
    assert set(asked) == {"estimation"}
    for cached in (fits.training, fits.validation, fits.start):
        cached.cache_clear()


def test_quick_run_with_a_sine_sweep(study, tmp_path, monkeypatch):
    """The sweep has the layout of the other files and is made by the engine; it is run because it is there."""
    r = part(study, "records")
    folder = tmp_path / "data" / "boucwen"
    folder.mkdir(parents=True)
    for name in ("estimation.npz", "test_multisine.npz"):
        (folder / name).symlink_to(data_path("boucwen", name))
    n = 15_000
    fine = sweep(n * r.FINE, r.RATE * r.FINE)
    np.savez(folder / "test_sinesweep.npz", u=fine[:: r.FINE], y=r.simulated(fine)[:: r.FINE], fs=750)
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path / "data"))
    result = studies.run_study("boucwen", tmp_path / "out", quick=True, progress=lambda what, done: None)
    full = {row.claim: row for row in read_verdicts(FOLDER / "claims.json")}
    values = {verdict.claim: verdict for verdict in result.verdicts}
    assert set(values) == {name for name in full if "engine" in name or "white box, estimation" in name}
    for claim, verdict in values.items():
        assert "time" in claim or verdict.ours == pytest.approx(full[claim].ours, rel=SAME)
        assert verdict.verdict == full[claim].verdict
    page = Page(result.report)
    assert_claims(page, result.verdicts)
    found = page.rows("RMSE in m")  # source, seeds, validation, multisine, sweep, ...
    assert float(found["white box"][4]) < 1e-6
    assert float(found["black box"][4]) < 0.1 * r.simulated(fine).std()
    assert not any("sweep is not" in note for note in result.notes)


def test_committed_verdicts_are_those_of_the_claims():
    claims = {claim.claim: claim for claim in load_claims(FOLDER / "claims.toml")}
    rows = json.loads((FOLDER / "claims.json").read_text(encoding="utf-8"))
    assert [row["claim"] for row in rows] == list(claims)
    assert all(row["command"] == "hyloop study run boucwen" for row in rows)
