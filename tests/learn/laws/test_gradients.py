"""Fits with exact derivatives against differences and against fits without them."""

import numpy as np
import pytest

from hyloop.devices import brfd_gap_slip, lugre, nonlinear_maxwell
from hyloop.errors import BadInput
from hyloop.identification import MeasuredTest, fit
from hyloop.learn.laws.gradients import gradient_fit

DT = 1 / 256
DIFFERENCES = 1e-6  # of a column: error of central differences with a step of 1e-5, larger where a law has kinks
SAME = 1e-6  # of a parameter: both end at 1e-10 of the sum of squares

CASES = [
    (lugre(), "z", ["sigma0", "sigma1", "Fc_pos", "vs"]),
    (nonlinear_maxwell(K=2e7, C=2e5), "f_last", ["K", "C", "alpha"]),
]


@pytest.mark.parametrize(
    ("law", "state", "free"), CASES, ids=lambda case: getattr(getattr(case, "block", None), "name", None)
)
def test_exact_derivatives_equal_differences_and_lead_to_the_same_minimum(law, state, free):
    """Also through the initial state, which depends on the parameters where it is found from the first force."""
    d = 8e-3 * np.sin(2 * np.pi * np.arange(400) / 200)
    inputs = {"d": d, "v": np.gradient(d, DT)}
    f = law.drive(DT, **{key: inputs[key] for key in law.block.inputs})["f"]
    f += 50 * np.random.default_rng(0).normal(size=f.size)
    turn = slice(50, None)  # the first turning point, where the device rests under force
    test = MeasuredTest(DT, {key: signal[turn] for key, signal in inputs.items()}, f[turn], start=state)
    exact, differences = gradient_fit(law, test, free, starts=1), fit(law, test, free, starts=1)
    J, K = exact.problem.jacobian(exact.z), differences.problem.jacobian(exact.z)
    assert np.max(np.abs(J - K), axis=0) == pytest.approx(np.zeros(len(free)), abs=DIFFERENCES * np.abs(K).max())
    assert exact.method == "gradient"
    assert exact.evaluations < differences.evaluations
    for key, estimate in exact.estimates.items():
        assert estimate.value == pytest.approx(differences.estimates[key].value, rel=SAME)


def test_a_law_in_place_has_no_gradient():
    n = 50
    inputs = {key: np.sin(np.arange(n)) for key in ("d", "v", "a")}
    with pytest.raises(BadInput, match="only a pure law"):
        gradient_fit(brfd_gap_slip(), MeasuredTest(DT, inputs, np.ones(n)), ["kp"])
