"""The study of the RTHS benchmark: its numbers by other ways, its published table, and a few cold starts."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg, signal

from hyloop.data import data_folder
from hyloop.errors import BadInput
from hyloop.study.claims import judge, load_claims
from hyloop.study.code import load_code
from hyloop.study.studies import Job

FOLDER = Path(__file__).parents[2] / "studies" / "silva2020"
RECORDS = data_folder() is not None and (data_folder() / "rths_benchmark" / "elcentro.csv").is_file()
needs_records = pytest.mark.skipif(not RECORDS, reason="needs the ground motions")
POINTS = 0.5  # how near a published entry is to be


@pytest.fixture(scope="module")
def study():
    return load_code(FOLDER / "study.py")


@pytest.fixture(scope="module")
def part(study):
    return lambda name: sys.modules[f"{study.__name__}.{name}"]


def test_plant_and_structure_are_those_described(part):
    benchmark = part("benchmark")
    # coefficients written out in the description, with the paper's A0 ... A5
    p = benchmark.NOMINAL
    oil = p.k + p.c * p.a3 + p.a2
    A = [
        p.k * p.a3 * p.beta2 + p.a1_beta0,
        p.k * p.a3 * p.beta1 + oil * p.beta2,
        p.k * p.a3 + oil * p.beta1 + (p.c + p.m * p.a3) * p.beta2,
        oil + (p.c + p.m * p.a3) * p.beta1 + p.m * p.beta2,
        p.c + p.m * p.a3 + p.m * p.beta1,
        p.m,
    ]
    np.testing.assert_allclose(p.denominator * p.a1_beta0 * p.gain, A, rtol=1e-12)
    assert p.denominator[1] / p.denominator[0] == pytest.approx(0.025, rel=0.01)  # the delay described
    for case, frequencies in {1: (3.61, 16.0, 38.1), 3: (3.17, 14.0, 33.4)}.items():
        whole = benchmark.reference(case)
        found = np.sqrt(linalg.eigh(whole.K, whole.M, eigvals_only=True)) / (2 * np.pi)
        np.testing.assert_allclose(found, frequencies, rtol=3e-3)  # three digits are stated
        left = benchmark.numerical(case)
        np.testing.assert_allclose(left.K + np.diag([p.k, 0, 0]), whole.K)
        np.testing.assert_allclose(left.M @ left.influence[:, 0], np.diag(whole.M))


def test_random_plants_are_drawn_as_described(part):
    benchmark = part("benchmark")
    drawn = benchmark.plants(1000, 3)
    assert drawn == benchmark.plants(1000, 3)
    for key, deviation in benchmark.DEVIATIONS.items():
        values = np.array([getattr(plant, key) for plant in drawn])
        # 1000 values: standard error of the deviation 2.2 %; four of them, and what is cut off of a3
        assert np.std(values) == pytest.approx(deviation, rel=0.1)
    assert min(plant.a3 for plant in drawn) >= 0.0


def test_criteria_are_those_of_known_signals(part):
    criteria = part("criteria")
    rate, rng = 1024, np.random.default_rng(0)
    sos = signal.butter(2, 8.0, fs=rate, output="sos")
    y = signal.sosfilt(sos, rng.standard_normal((8 * rate, 3)), axis=0)
    late = np.concatenate([np.zeros(7), y[:-7, 0]])
    found = criteria.criteria(y, late, 1.1 * y[:, 0], 2.0 * y, rate)
    assert found.delay == pytest.approx(7e3 / rate)
    assert (found.true_tracking, found.floor2, found.floor3_peak) == pytest.approx((10.0, 50.0, 50.0))
    assert found.tracking == pytest.approx(100 * np.std(late - y[:, 0]) / np.std(y[:, 0]))
    lead = criteria.criteria(y, np.concatenate([y[7:, 0], np.zeros(7)]), y[:, 0], y, rate)
    assert lead.delay == 0.0 and lead.true_tracking == 0.0


@needs_records
@pytest.mark.slow
def test_the_quick_run_repeats_the_published_table_and_the_floor(study, part, tmp_path):
    job = Job(FOLDER, tmp_path, True, lambda what, part: None)
    values = study.run(job)
    claims = load_claims(FOLDER / "claims.toml")
    verdicts = judge("silva2020", claims, values, "", {}, partial=True)
    assert len(verdicts) == 37 and {verdict.verdict for verdict in verdicts} == {"met", "goal met"}
    rows = [[values[f"case {case}, {name}"] for name in names(part)] for case in (1, 2, 3, 4)]
    np.testing.assert_allclose(rows, list(part("printed").BASELINE.values()), atol=POINTS)
    assert len(job.tables) == 2 and job.numbers


def names(part):
    return [f"{number}: {key.replace('_', ' ')}" for key, (number, _) in part("criteria").NUMBERS.items()]


@needs_records
@pytest.mark.slow
def test_ours_begins_cold_and_tracks(part):
    campaign = part("campaign")
    rows = np.array(campaign.many("bounded filter", 0.02, 0, 4, all_cases=False))
    assert rows[:, campaign.COLUMNS.index("stable")].all()
    assert rows[:, campaign.COLUMNS.index("true_tracking")].max() < 1.0
    assert campaign.variant("bounded filter", "no noise", (1,))[0][campaign.COLUMNS.index("true_tracking")] < 0.3


def test_without_the_records_nothing_runs(part, monkeypatch, tmp_path):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="HYLOOP_DATA"):
        part("benchmark").ground.__wrapped__("elcentro")
