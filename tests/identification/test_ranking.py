"""Laws fitted without being told what is free, and ranked: the law that made the data comes first."""

import json
import re

import numpy as np
import pytest
from oracles.data import data_path

from hyloop.devices import LAWS
from hyloop.errors import BadInput
from hyloop.files.measurements import Measured, read_measured
from hyloop.files.tables import Sampling
from hyloop.identification import DEFAULTS, LEFT_OUT, MeasuredTest, beginning, fit, rank
from hyloop.study.identify import rank_laws

DT, N = 1 / 200, 3000
NOISE = 0.005  # of the largest force
OUTSIDE = 1  # of the intervals of 95 % of all cases below may miss the truth

TRUTHS = {
    "bilinear": {"k": 3e7, "alpha": 0.04, "f_y": 6e4},
    "bouc_wen": {"k": 2e7, "alpha": 0.06, "d_y": 2e-3, "n": 1.7},
    "lugre": {"sigma0": 2e7, "sigma2": 2e4},
    "nonlinear_viscous": {"C": 3e5, "alpha": 0.4},
}


def motion():
    t = DT * np.arange(N)
    d = 0.015 * np.sin(2 * np.pi * 0.8 * t) * np.clip(t / 6, 0.1, 1) + 0.004 * np.sin(2 * np.pi * 2.3 * t)
    return {"d": d, "v": np.gradient(d, DT)}


def simulated(name, seed=0, **more):
    signals = motion()
    law = LAWS[name](**{**TRUTHS[name], **more})
    f = law.drive(DT, **{key: signals[key] for key in law.block.inputs})["f"]
    f = f + NOISE * np.abs(f).max() * np.random.default_rng(seed).normal(size=N)
    return law, MeasuredTest(DT, signals, f, name=name)


@pytest.mark.parametrize("name", ["bilinear", "bouc_wen", "nonlinear_viscous"])
def test_parameters_come_back_from_defaults_alone(name):
    """Every interval but at most one holds the truth; the start and the bounds are those of the data."""
    law, test = simulated(name)
    start, bounds, _ = beginning(name, LAWS[name], [test])
    fitted = fit(start, [test], bounds, starts=4, tolerance=1e-8)
    missed = [key for key, e in fitted.estimates.items() if not e.low <= law.params[key] <= e.high]
    assert len(missed) <= OUTSIDE, missed
    for key in TRUTHS[name]:
        assert fitted.estimates[key].value == pytest.approx(law.params[key], rel=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("name", TRUTHS)
def test_the_law_that_made_the_data_is_first(name):
    _, test = simulated(name)
    others = ("spring", "dashpot", "bilinear", "bouc_wen", "giuffre_menegotto_pinto", "nonlinear_viscous", "lugre")
    ranking = rank({other: (LAWS[other], [test]) for other in others})
    assert ranking.best.name == name and not ranking.left_out
    assert ranking.best.error == pytest.approx(np.sqrt(np.mean(ranking.best.unseen ** np.array(2))))
    assert ranking.best.error < 1.1 * NOISE  # of the range: twice the largest force
    # more parameters never fit worse, and that decides nothing
    errors = {candidate.name: candidate for candidate in ranking.candidates}
    assert errors["spring"].error > 10 * ranking.best.error
    assert all(candidate.seen <= 1.05 * candidate.error for candidate in ranking.candidates)


def test_laws_that_cannot_be_told_apart_tie_and_the_simplest_is_first():
    """A bilinear device: the steel law can have as sharp a knee as it likes, and needs two parameters more."""
    _, test = simulated("bilinear")
    ranking = rank({name: (LAWS[name], [test]) for name in ("giuffre_menegotto_pinto", "bilinear", "spring")})
    assert [candidate.name for candidate in ranking.candidates] == ["bilinear", "giuffre_menegotto_pinto", "spring"]
    assert json.dumps([candidate.tie for candidate in ranking.candidates]) == "[true, true, false]"
    assert "fewest free parameters" in ranking.notes[-1]
    assert re.findall(r"<td>(first|tie|)</td></tr>", ranking._repr_html_()) == ["first", "tie", ""]


def test_with_three_tests_whole_tests_are_predicted():
    tests = [simulated("bilinear", seed)[1] for seed in range(3)]
    ranking = rank({"bilinear": (LAWS["bilinear"], tests)})
    assert len(ranking.best.unseen) == 3 and "each test in turn is left out" in ranking.notes[-1]


def test_what_cannot_be_fitted_is_listed_with_the_reason():
    """A test in which only velocity and force were measured, and a law that is not meant by all."""
    _, test = simulated("nonlinear_viscous")
    signals = {"v": motion()["v"], "f": test.f}
    measured = Measured("a", "a.csv", Sampling(DT, N, 0.0), signals, {"v": "m/s", "f": "N"}, {"v": "v", "f": "f"})
    ranking = rank_laws([measured], ["nonlinear_viscous", "bilinear", "stick_slip"])
    assert ranking.best.name == "nonlinear_viscous"
    assert (
        ranking.left_out["bilinear"] == "reads d, which was not measured" and "--free" in ranking.left_out["stick_slip"]
    )
    with pytest.raises(BadInput, match="no law is left to fit: bilinear reads d"):
        rank_laws([measured], "bilinear")


def test_every_law_is_either_fitted_or_left_out_for_a_reason():
    assert set(LAWS) == set(DEFAULTS) | set(LEFT_OUT)
    _, test = simulated("bouc_wen")
    inputs = {**motion(), "a": np.gradient(motion()["v"], DT)}
    test = MeasuredTest(DT, inputs, test.f)
    for name, default in DEFAULTS.items():
        law, bounds, _ = beginning(name, LAWS[name], [test])
        assert set(default.free) == set(bounds)
        assert all(low <= law.params[key] <= high and low < high for key, (low, high) in bounds.items())
        assert default.state is None or default.state in LAWS[name].state


@pytest.mark.slow
def test_the_banded_damper_is_known_by_its_own_law():
    """A real test: the law made for that damper beats the others, its two sides and its slack among them."""
    data_path("brfd", "index.json")
    ranking = rank_laws(read_measured("brfd:d2_h36lb_1Hz_1in"), ["bouc_wen", "lugre", "gap_slip"])
    assert [candidate.name for candidate in ranking.candidates] == ["gap_slip", "lugre", "bouc_wen"]


@pytest.mark.slow
def test_a_ranking_is_a_line_and_says_when_no_law_fits(rng):
    signals = motion()
    noise = MeasuredTest(DT, signals, rng.uniform(-1e4, 1e4, size=N))
    ranking = rank({"spring": (LAWS["spring"], [noise])})
    assert ranking.poor and "No law fits well: spring" in ranking._repr_html_()
    assert repr(ranking).startswith("Ranking: 1 law; best spring, unseen error 29 %")
    law, test = simulated("bilinear")
    assert not rank({"bilinear": (law.block, [test])}).poor
