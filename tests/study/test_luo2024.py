"""The study of Luo et al. (2024): its structures against the paper, and a quick run."""

from pathlib import Path

import numpy as np
import pytest

from hyloop.study import studies

FOLDER = Path(__file__).parents[2] / "studies" / "luo2024"
PRINTED = 1e-3  # relative: the paper prints four digits of a frequency


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


def test_quick_run(parts, tmp_path):
    result = studies.run_study("luo2024", tmp_path, quick=True, progress=lambda what, part: None)
    assert all(verdict.verdict == "not-comparable" for verdict in result.verdicts)
    page = result.report.read_text(encoding="utf-8")
    assert "Learned springs" in page and "softening" in page
