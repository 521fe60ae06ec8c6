"""The study of Luo et al. (2024): its structures against the paper, and a quick run."""

from pathlib import Path

import numpy as np
import pytest
from oracles.pages import Page, assert_claims

from hyloop.study import studies
from hyloop.study.claims import read_verdicts

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "studies" / "luo2024"
PRINTED = 1e-3  # relative: the paper prints four digits of a frequency
REPEATED = 0.05  # relative: an optimiser on another processor stops elsewhere in its tolerance
SINGLE = 1e-5  # relative: numbers on a page have single precision, and so has the slope where the curve is flat
LEARNED = 1e-3  # of the largest force: 3.5e-4 is reached between ±50 mm, the reach of the samples


@pytest.fixture(scope="module")
def parts():
    return studies._load(FOLDER / "study.py")


def test_frequencies_are_those_of_the_paper(parts):
    from hyloop_study_luo2024 import structures

    hertz = structures.chain().modes().omega / (2 * np.pi)
    assert hertz == pytest.approx([1.417, 3.969, 5.736], rel=PRINTED)
    omega = structures.beam().modes().omega
    assert omega[:2] / (2 * np.pi) == pytest.approx([2.748, 10.997], rel=PRINTED)
    assert omega[-1] == pytest.approx(5621.415, rel=PRINTED)
    assert len(omega) == 16


def test_noise_is_that_of_equation_5(parts):
    from hyloop_study_luo2024 import structures

    rng = np.random.default_rng(0)
    readings = rng.normal(size=(4, 5000, 3)) * [1.0, 3.0, 0.5]
    added = structures.noisy(readings, 0.3, ["a", "a", "u"], rng) - readings
    assert np.std(added, axis=(0, 1)) == pytest.approx([0.3 * np.sqrt(5), 0.3 * np.sqrt(5), 0.15], rel=0.05)


def softening(d):
    """The spring to be learned: 400 MN/m at first, 12 MN at last."""
    return 4e8 * d / np.sqrt(1.0 + (4e8 * d / 1.2e7) ** 2)


def test_quick_run(parts, tmp_path):
    """One scenario in full: its goal is judged, and nothing else is claimed."""
    result = studies.run_study("luo2024", tmp_path, quick=True, progress=lambda what, part: None)
    judged = {verdict.claim: verdict for verdict in result.verdicts}
    assert {claim: v.verdict for claim, v in judged.items()} == {"goal, case I": "goal met"}
    full = {v.claim: v.ours for v in read_verdicts(FOLDER / "claims.json")}
    for claim, verdict in judged.items():  # the same seeds and settings as in the full run
        assert verdict.ours == pytest.approx(full[claim], rel=REPEATED)
    assert "judges 1 of 13 claims" in result.sentence
    page = Page(result.report)
    assert_claims(page, result.verdicts)
    assert page.rows("Every run")["N0"][1] == "spline"  # the broken line cannot follow a smooth curve
    # the curves drawn: the true one is the formula of the study, the learned one lies on it where there were samples
    curves = page.lines(page.chart("Force against"))
    d, true = curves["softening", "truth"]
    assert true == pytest.approx(softening(1e-3 * d.astype(float)) / 1e3, rel=SINGLE)
    seen = np.abs(d) < 50.0  # mm
    _, learned = curves["softening", "learned"]
    assert seen.sum() > 200
    assert np.abs(learned - true)[seen].max() < LEARNED * np.abs(true).max()
