"""The head of a page about a watched model: numbers against their definitions on made-up histories."""

import numpy as np
import pytest

from hyloop.record import Recording
from hyloop.report.trust import trust_answer, trust_sentence, watched

N, DT = 2000, 1e-3
ERROR, HALF = 300.0, 250.0  # N: error of the model in every other tick, half width of its band


def recording(fallback=0.0, truth=True):
    """A model that is right and wrong by turns, so that half of the samples lie in its band."""
    t = np.arange(N + 1) * DT
    true = 1e4 * np.sin(2 * np.pi * t)
    f = true + ERROR * (np.arange(N + 1) % 2)
    columns = {
        "damper2.d": 1e-2 * np.sin(2 * np.pi * t),
        "damper2.f": f,
        "damper2.f_low": f - HALF,
        "damper2.f_high": f + HALF,
        "damper2.trust": np.full(N + 1, 0.8),
        "damper2.fallback": np.where(t > 1.9005, fallback, 0.0),
        "truth.f": true,
    }
    units = ("m", "N", "N", "N", "-", "-", "N")
    about = {"coverage": 0.9, "capacity": 2e4, "limit": 0.25, **({"truth": "truth.f"} if truth else {})}
    made = Recording(t, np.column_stack(list(columns.values())), tuple(columns), units)
    made.attributes["trust"] = {"damper2": about}
    return made


def test_numbers_are_error_coverage_and_least_trust():
    (one,) = watched(recording())
    assert one.covered == pytest.approx(0.5)
    assert one.error == pytest.approx(ERROR / np.sqrt(2) / 2e4, rel=1e-3)  # root mean square over the range
    answer = trust_answer(recording())
    assert answer is not None
    assert [number for number, _ in answer.numbers] == ["1.06 %", "50 %", "0.80"]
    assert (
        answer.sentence == "The model at damper2 answers within 1.06 % of the true force and is trusted all the time."
    )


def test_a_fallback_is_said_and_without_a_truth_there_is_no_answer():
    answer = trust_answer(recording(fallback=0.5))
    assert answer is not None and "its fallback helps for 0.1 s" in answer.sentence
    assert trust_answer(recording(truth=False)) is None
    (one,) = watched(recording(truth=False))
    assert "off the true force" not in trust_sentence(one)
    (one,) = watched(recording())
    assert "1.06 % off the true force (NRMSE); the band for 90 % is 0.25 kN wide" in trust_sentence(one)
