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
ROUND_OFF = 1e-10  # of the largest entry: sums of a few terms, and differences of two
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


def test_uncertain_parts_make_the_structure_that_is_drawn(parts):
    """Masses and stiffness, and Rayleigh's damping of the structure believed, C = a0 M + a1 K, that goes with them."""
    from hyloop_study_luo2024 import structures, uncertain

    from hyloop.learn.springs.operators import with_factors

    off = uncertain.drawn(next(s for s in uncertain.UNCERTAIN if s.stories), np.random.default_rng(1))
    assert max(abs(one) for one in off.values()) <= uncertain.OFF and len(set(off.values())) == len(off)
    chosen, believed = uncertain.parts("stories", "measured"), structures.chain()
    made = with_factors(believed, chosen, [off.get(part.name, 0.0) / part.deviation for part in chosen])
    drawn = structures.chain([1 + off[f"k{i}"] for i in (1, 2, 3)], [1 + off[f"m{i}"] for i in (1, 2, 3)])
    a1 = believed.C[0, 1] / believed.K[0, 1]
    a0 = (believed.C[0, 0] - a1 * believed.K[0, 0]) / believed.M[0, 0]
    for ours, theirs in ((made.M, drawn.M), (made.K, drawn.K), (made.C, a0 * drawn.M + a1 * drawn.K)):
        np.testing.assert_allclose(ours, theirs, rtol=ROUND_OFF, atol=ROUND_OFF * np.abs(theirs).max())
    free = uncertain.parts("stories, free C", "measured")
    assert all(part.C is None for part in free if part.name[0] in "km")


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
    assert "judges 1 of 25 claims" in result.sentence
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
