"""The study of a real MR damper: its parts against closed forms and a simulated device, and a quick run."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from oracles.data import data_path
from oracles.pages import Page, assert_claims

from hyloop.data.mr_damper import MrTest
from hyloop.devices import mr_eyring
from hyloop.study import studies
from hyloop.study.claims import load_claims, read_verdicts

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "studies" / "mr_damper"
DT = 1e-3
ROUND_OFF = 1e-9  # relative: sums of thousands of terms in another order
SAMPLED = 0.02  # relative: a mean over 600 of the residuals against that over all
RECOVERED = 2e-6  # m: what a sine loses of its beginning, which nobody has recorded
FOUND = 0.02  # of a factor: what filter and beginning cost
SAME = 1e-6  # relative: the same law in the same arithmetic, on another processor


@pytest.fixture(scope="module")
def study():
    return studies._load(FOLDER / "study.py")


def part(study, name):
    return import_module(f"{study.__name__}.{name}")


def motion(hertz, amplitude, seconds, dt=DT):
    t = dt * np.arange(round(seconds / dt))
    return amplitude * np.sin(2 * np.pi * hertz * t) * np.clip(hertz * t / 2, 0, 1) ** 2


def simulated(study, law, hertz, name="sine", seconds=4.0):
    """What the authors would have published of a device that is the law."""
    averages = part(study, "averages")
    raw = motion(hertz, 8e-3, seconds)
    n = round(0.1 / hertz / DT)
    d, f = (averages.averaged(x, n) for x in (raw, law.drive(DT, d=raw)["f"]))
    return MrTest(name, DT, d, f, None, law.params["i"], name, 8e-3, hertz), raw


def test_readings_come_back_from_their_averages(study):
    averages = part(study, "averages")
    x = np.concatenate([np.full(40, 0.3), 0.3 + np.cumsum(np.random.default_rng(2).normal(size=500))])
    means = averages.averaged(x, 40)
    assert means[7] == pytest.approx(x[7:47].mean())
    assert averages.readings(means, 40, from_rest=True) == pytest.approx(x, rel=ROUND_OFF, abs=ROUND_OFF)
    # causal: what comes later changes nothing before
    other = averages.readings(np.concatenate([means[:300], 0 * means[300:]]), 40, from_rest=True)
    assert np.array_equal(other[:339], averages.readings(means, 40, from_rest=True)[:339])
    # a record that begins in motion: as smooth as it can be, and its averages are those given
    sine = 0.02 * np.sin(2 * np.pi * 0.004 * np.arange(900) + 1.0)
    found = averages.readings(averages.averaged(sine, 25), 25, from_rest=False)
    assert averages.averaged(found, 25) == pytest.approx(averages.averaged(sine, 25), abs=ROUND_OFF)
    assert found == pytest.approx(sine, abs=RECOVERED)


def test_the_filter_is_causal_and_not_late(study):
    averages = part(study, "averages")
    d = 0.03 * DT * np.arange(500)
    assert averages.tracked(d, DT)[200:] == pytest.approx(d[200:], abs=0.03 * DT)  # within the way of a tick
    later = np.concatenate([d[:300], np.zeros(200)])
    assert np.array_equal(averages.tracked(later, DT)[:300], averages.tracked(d, DT)[:300])


def test_windows_are_a_tenth_of_a_period_or_300_ms(study):
    averages = part(study, "averages")
    for hertz, dt, n in ((0.1, 0.005, 200), (0.25, 0.005, 80), (1.0, 0.001, 100), (3.0, 0.001, 33), (5.0, 0.005, 4)):
        test = MrTest("x", dt, np.zeros(2), np.zeros(2), None, 0.0, "x", 0.01, hertz)
        assert averages.window(test) == n
    assert averages.window(MrTest("x", DT, np.zeros(2), np.zeros(2), None, 0.2, "earthquake")) == 300


def test_a_device_that_is_the_law_is_predicted(study, monkeypatch):
    records, models, calibration = (part(study, name) for name in ("records", "models", "calibration"))
    law = mr_eyring(i=0.6)
    test, _ = simulated(study, law, 1.0)
    seen = records.sine(test)
    known = seen.nrmse(law.drive(DT, d=seen.d)["f"])
    assert known < 0.5  # %, what filter and beginning cost
    assert records.sine(test, known=False).nrmse(law.drive(DT, d=test.d)["f"]) > 5.0 * known
    # two factors are found from it where no noise is expected, and nothing behind the time heard has a say
    monkeypatch.setattr(calibration, "NOISE", 1e-5)
    layer = models.law_layer({"F_0": 28 / 1.1, "F_1": 260 / 1.1, "Y_0": 40 / 0.9, "Y_1": 700 / 0.9})
    signals = (models.Signal("d", "m"),), (models.Signal("f", "N"), models.Signal("i_coil", "A"))
    frozen = models.freeze(layer, models.Card(*signals))
    found = calibration.calibrated(frozen, seen, seconds=2.5)
    deaf = seen._replace(f=np.where(np.arange(len(seen.f)) < 2500, seen.f, 0.0))
    assert calibration.calibrated(frozen, deaf, seconds=2.5) == found
    assert found == pytest.approx({"flow": 1.1, "friction": 0.9}, abs=FOUND)


def test_the_law_that_flows_behind_its_gap(study):
    flowing, second, records = (part(study, name) for name in ("flowing", "second", "records"))
    seen = records.sine(simulated(study, mr_eyring(i=0.6), 1.0)[0])
    # hardly flowing, it is the law with friction: the same block, written anew
    law = {key: spec.default for key, spec in mr_eyring.params.items()}
    law |= {"v_y": 1e-30, "y": 10.0, "n": 0.0}
    friction = mr_eyring(i=0.6).drive(DT, d=seen.d)["f"]
    assert flowing.force(law, seen) == pytest.approx(friction, rel=ROUND_OFF, abs=1e-6 * np.ptp(friction))
    # a slow steady motion is held by both flows
    law |= {"v_y": 2e-3, "y": 0.4, "n": 1.0}
    slow = seen._replace(current=1.0, d=1e-3 * DT * np.arange(5000))
    f = flowing.force(law, slow)[-1] - law["k_0"] * slow.d[-1]
    sigma = 1.0 / (1.0 + law["i_h"] ** law["m"])
    F, Y = law["F_0"] + law["F_1"] * sigma, law["Y_0"] + law["Y_1"] * sigma
    assert f == pytest.approx(F * np.arcsinh(1e-3 / law["v_e"]) + 0.4 * Y * np.arcsinh(0.5), rel=1e-6)
    # nothing behind or before the time heard has a say
    heard = slice(1000, 2000)
    index = np.arange(len(seen.f))
    deaf = seen._replace(f=np.where((index >= 1000) & (index < 2000), seen.f, 0.0))
    assert second.calibrated([], seen, heard, evaluations=3) == second.calibrated([], deaf, heard, evaluations=3)


def test_the_cost_of_a_fit_is_the_error_that_is_reported(study):
    fitting, records, models = (part(study, name) for name in ("fitting", "records", "models"))
    tests = [records.sine(simulated(study, mr_eyring(i=i), 2.0, f"{i:g}", 2.0)[0]) for i in (0.3, 0.9)]
    layer = models.law_layer({"F_1": 300.0})
    make, data = fitting._Make(layer), fitting.arranged(tests, tests[1:])
    r = np.asarray(fitting._residuals(make.flat, make, data)).reshape(2, -1)
    law = mr_eyring(F_1=300.0, i=0.9)
    assert not r[0].any()
    expected = tests[1].nrmse(law.drive(DT, d=tests[1].d)["f"])
    assert 100 * np.sqrt(np.sum(r[1] ** 2)) == pytest.approx(expected, rel=SAMPLED)


def test_quick_run(tmp_path):
    data_path("mr_damper", "index.json")
    result = studies.run_study("mr_damper", tmp_path / "out", quick=True, progress=lambda what, done: None)
    values = {verdict.claim: verdict for verdict in result.verdicts}
    full = {row.claim: row for row in read_verdicts(FOLDER / "claims.json")}
    assert len(values) == 10
    for claim, verdict in values.items():  # the law of the full run: its numbers
        assert verdict.ours == pytest.approx(full[claim].ours, rel=SAME) and verdict.verdict == full[claim].verdict
    page = Page(result.report)
    assert_claims(page, result.verdicts)


def test_committed_verdicts_are_those_of_the_claims():
    claims = {claim.claim: claim for claim in load_claims(FOLDER / "claims.toml")}
    rows = json.loads((FOLDER / "claims.json").read_text(encoding="utf-8"))
    assert [row["claim"] for row in rows] == list(claims)
    assert all(row["command"] == "hyloop study run mr_damper" for row in rows)
