"""The study of pairs of real tests: its parts against closed forms and simulated devices, and a quick run."""

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from oracles.data import data_path
from oracles.pages import Page, assert_claims

from hyloop.data.banded_damper import DamperTest
from hyloop.devices import gap_slip
from hyloop.identification import MeasuredTest, predict
from hyloop.study import studies
from hyloop.study.claims import load_claims, read_verdicts

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "studies" / "real_pairs"
DT = 1 / 1024
ROUND_OFF = 1e-9  # of the largest force: the same formulas in another order
FOUND = 1e-3  # relative: calibrated without noise at a quarter of the rate
FILTERED = 0.03  # relative: what a filter leaves after eight cycles without noise, its slip position not filtered
SAME = 1e-3  # relative: a descent on another processor stops elsewhere in its tolerance
PRINTED = 0.05  # %: the analysis prints two digits


@pytest.fixture(scope="module")
def study():
    return studies._load(FOLDER / "study.py")


def part(study, name):
    return import_module(f"{study.__name__}.{name}")


def motion(hertz, amplitude, seconds=8.0):
    t = DT * np.arange(round(seconds / DT))
    return amplitude * np.sin(2 * np.pi * hertz * t) * np.clip(t, 0, 1)


def simulated(law, name, hertz=1.0, amplitude=0.02, seconds=8.0):
    """A test of a device that is the law, with the velocity that models hear."""
    d = motion(hertz, amplitude, seconds)
    test = DamperTest(name, DT, d, np.zeros(len(d)), np.gradient(d, DT))
    signals = test.signals("causal")
    return replace(test, f=law.drive(DT, **{key: signals[key] for key in "dva"})["f"])


def scaled(law, pos, neg):
    p = law.params
    values = {f"{k}_{s}": x * p[f"{k}_{s}"] for s, x in (("pos", pos), ("neg", neg)) for k in ("Fc", "dF")}
    return gap_slip(**p | values)


def test_the_band_is_gap_slip_with_factors_and_signals(study):
    band, law = part(study, "band"), gap_slip()
    d = motion(1.0, 0.02, 2.0)
    v = np.gradient(d, DT)
    u = {"d": d, "v": v, "a": np.gradient(v, DT)}
    one = np.ones(len(d))
    cases = (
        (band.banded(law), 0.0, law),
        (band.band(**law.params, mu_pos=0.7, mu_neg=1.4), 0.0, scaled(law, 0.7, 1.4)),
        (band.band(**law.params, a1_pos=0.5, a2_neg=-0.3), 2.0, scaled(law, np.e, np.exp(-0.6))),
        (band.band(**law.params, b1=1e-3, b2=-0.2e-3), 1.0, gap_slip(**law.params | {"gp": 1.0e-3})),
    )
    for device, c, expected in cases:
        device = replace(device, initial=dict(expected.initial))
        f, wanted = device.drive(DT, **u, c1=c * one, c2=c * one)["f"], expected.drive(DT, **u)["f"]
        assert f == pytest.approx(wanted, abs=ROUND_OFF * np.abs(wanted).max())
    back = band.plain(band.band(**law.params, mu_pos=0.7, mu_neg=1.4))
    assert back.params == pytest.approx(scaled(law, 0.7, 1.4).params)


def test_what_is_heard_is_found(study):
    hearing, law = part(study, "hearing"), gap_slip()
    test = simulated(scaled(law, 0.6, 1.3), "heard")
    found = hearing.calibrated("gap-slip", law, test)
    truth = scaled(law, 0.6, 1.3).params
    for key in ("Fc_pos", "dF_pos", "Fc_neg", "dF_neg"):
        assert found.params[key] == pytest.approx(truth[key], rel=10 * FOUND)
        assert hearing.updated(law, test, factors=True).params[key] == pytest.approx(truth[key], rel=FILTERED)


def test_all_ordered_pairs_and_nothing_of_the_test_that_is_judged(study):
    pairs, law = part(study, "pairs"), gap_slip()
    device = scaled(law, 0.6, 1.3)
    tests = {name: simulated(device, name, hertz, seconds=4.0) for name, hertz in (("a", 0.5), ("b", 1.0), ("c", 2.0))}
    found, made = pairs.errors(tests, {"gap-slip": law}, pairs.QUICK)
    wanted = {(one, other) for one in tests for other in tests if one != other}
    assert all(set(found[model]) == wanted for model in pairs.QUICK)
    for pair in wanted:  # the device is the law with other friction: a calibrated one is all but right
        assert found[pairs.CALIBRATED][pair] < 0.02 < 0.05 < found[pairs.NONE][pair]
    # another force in the test that is judged, but for its first sample, is judged and not heard
    f = np.concatenate([tests["c"].f[:1], -tests["c"].f[1:]])
    other, same = pairs.errors(tests | {"c": replace(tests["c"], f=f)}, {"gap-slip": law}, pairs.QUICK)
    for model in pairs.QUICK:
        assert same[model, "a"].params == made[model, "a"].params
    assert other[pairs.CALIBRATED]["a", "c"] > 0.5
    assert found[pairs.NONE]["a", "c"] == found[pairs.NONE]["b", "c"]  # which hears nothing


def test_only_earlier_samples_and_the_first_force_are_seen(study):
    sessions, law = part(study, "sessions"), gap_slip()
    test = simulated(law, "one", seconds=2.0)
    later = replace(test, d=np.concatenate([test.d[:1500], 2 * test.d[1500:]]), f=np.r_[test.f[0], 0 * test.f[1:]])
    one, two = (predict(law, sessions.measured("gap-slip", t)) for t in (test, later))
    assert np.array_equal(one[:1500], two[:1500]) and np.abs(one - two)[1500:].max() > 1e3


def test_the_spread_is_that_of_the_analysis(study):
    data_path("brfd", "index.json")
    found = study.spread()
    assert len(found) == 7
    assert 100 * min(found.values()) == pytest.approx(4.3, abs=PRINTED)
    assert 100 * max(found.values()) == pytest.approx(7.8, abs=PRINTED)


def test_a_level_that_is_a_line_in_one_feature_is_predicted_by_that_one(study, rng):
    tension = part(study, "tension")
    found = {}
    for k in range(5):
        x = rng.uniform(10, 200, size=(4, 3)) + 30 * k
        level = 3e3 + 70 * x[:, 2]
        found[f"session {k}", "pos"] = np.column_stack([np.ones(4), x, level])
    errors = tension.left_out(found)
    slips = np.concatenate([*errors["slack end, slipping"].values()])
    mean = np.concatenate([*errors["mean of the other sessions"].values()])
    assert slips.max() < 1e-9 < 0.05 < np.median(mean)
    # the session that is left out has no say in what is predicted of it
    odd = dict(found)
    odd["session 0", "pos"] = found["session 0", "pos"] * [1, 1, 1, 1, 3]
    changed = tension.left_out(odd)["slack end, slipping"]["session 0", "pos"]
    assert changed == pytest.approx(2 / 3)


def test_the_slack_end_is_the_one_that_is_not_pulled(study):
    tension = part(study, "tension")
    test = replace(simulated(gap_slip(), "d3_h30lb_1Hz_1in"), tension=133.0)
    t1 = 50.0 + np.maximum(-test.f, 0.0) / 1.88
    t2 = 80.0 + np.maximum(test.f, 0.0) / 2.02
    test = replace(test, t1=t1, t2=t2)
    assert tension.features(test, "pos")[1] == 133.0
    assert [tension.features(test, side)[3] for side in ("pos", "neg")] == pytest.approx([50.0, 80.0])
    assert tension.features(replace(test, name="d2_h0lb_1Hz_0.5in"), "pos") is None  # by the provider's note


def test_a_network_is_scaled_by_what_was_heard(study):
    network = part(study, "network")

    class Known:
        def drive(self, dt, d, v):
            return {"f": 1e6 * d + 1e3 * v}

    def test_of(name, hertz):
        d = motion(hertz, 0.02)
        test = DamperTest(name, DT, d, np.zeros(len(d)), d)
        f = 1e6 * d + 1e3 * test.signals("causal")["v"]
        return replace(test, f=np.where(f > 0, 0.7, 1.2) * f + 150.0)

    found = network.Listener(Known())(test_of("a", 1.0), test_of("b", 2.0))
    assert found["LSTM, calibrated"] < 1e-9 < 0.02 < found["LSTM, none"]


def test_a_held_out_law_follows_positions_where_the_device_does(study):
    """Four simulated tests of a device whose friction follows its first actuator."""
    semi, band, law = part(study, "semi_active"), part(study, "band"), gap_slip()
    device = band.band(**law.params, mu_pos=1.2, a1_pos=0.4, a1_neg=-0.3)
    tests = {}
    for k, name in enumerate("abcd"):
        d = motion(1.0, 0.02, 4.0)
        t = DT * np.arange(len(d))
        p1 = 16e-3 + 0.8e-3 * np.sin(2 * np.pi * (0.3 + 0.1 * k) * t)
        test = DamperTest(name, DT, d, np.zeros(len(d)), d, p1=p1, p2=0.02 + 0 * t, t1=0 * t, t2=0 * t)
        u = test.signals("causal")
        f = device.drive(DT, d=u["d"], v=u["v"], a=u["a"], c1=(p1 - p1[0]) / 1e-3, c2=0 * t)["f"]
        tests[name] = replace(test, f=f)
    tables, shown = [], []
    job = type("Job", (), {"tables": tables, "progress": staticmethod(lambda what, done: shown.append(done))})
    values = semi.study(job, tests, law)
    assert values["d4 semi-active, friction follows positions over constant"] < 0.3
    assert len(tables[0].rows) == 5 and shown[-1] == 1.0


def test_a_test_that_is_read_has_the_positions_of_its_actuators():
    data_path("brfd", "index.json")
    from hyloop.data.banded_damper import tests

    (test,) = tests("d4_step0.015forward").values()
    assert np.ptp(test.p1) == pytest.approx(0.39e-3, abs=0.01e-3) and len(test.p2) == len(test.d)


def test_quick_run(tmp_path):
    data_path("brfd", "index.json")
    result = studies.run_study("real_pairs", tmp_path / "out", quick=True, progress=lambda what, done: None)
    values = {verdict.claim: verdict for verdict in result.verdicts}
    full = {row.claim: row for row in read_verdicts(FOLDER / "claims.json")}
    assert len(values) == 5
    for claim, verdict in values.items():  # one session in full: the numbers of the full run
        assert verdict.ours == pytest.approx(full[claim].ours, rel=SAME) and verdict.verdict == full[claim].verdict
    page = Page(result.report)
    assert_claims(page, result.verdicts)
    rows = page.tables[next(title for title in page.tables if title.startswith("Error in the test not heard"))]
    none, calibrated, updated = (row for row in rows if row)
    assert [row[5] for row in (none, calibrated, updated)] == ["56"] * 3
    ratio = float(calibrated[2]) / float(none[2])
    assert ratio == pytest.approx(values["d3 30 lb, calibrated over none"].ours, rel=0.01)
    loops = page.lines(page.chart("Force against"))
    assert {name for _, name in loops} == {"measured", "gap-slip, none", "gap-slip, calibrated"}


def test_committed_verdicts_are_those_of_the_claims():
    claims = {claim.claim: claim for claim in load_claims(FOLDER / "claims.toml")}
    verdicts = read_verdicts(FOLDER / "claims.json")
    assert [verdict.claim for verdict in verdicts] == list(claims)
    assert all(verdict.command == "hyloop study run real_pairs" for verdict in verdicts)
    for row in json.loads((FOLDER / "claims.json").read_text(encoding="utf-8")):
        assert row["verdict"] == claims[row["claim"]].verdict(row["ours"])


def test_measured_tests_begin_with_the_state_of_the_first_force(study):
    sessions = part(study, "sessions")
    test = simulated(gap_slip(), "one", seconds=2.0)
    seen = sessions.measured("band", test, 4)
    assert isinstance(seen, MeasuredTest) and seen.start == "s" and seen.dt == 4 * DT and not seen.inputs["c1"].any()
