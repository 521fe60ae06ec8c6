"""The study of updating behind faulty sensors: what is drawn, what is counted, and one fault in the loop."""

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from hyloop.data import data_folder
from hyloop.errors import BadInput
from hyloop.study.code import load_code

FOLDER = Path(__file__).parents[2] / "studies" / "sensor_faults"


@pytest.fixture(scope="module")
def study():
    return load_code(FOLDER / "study.py")


@pytest.fixture(scope="module")
def parts(study):
    return sys.modules[f"{study.__name__}.cases"], sys.modules[f"{study.__name__}.naming"]


def test_records_of_the_judgement_are_of_other_events(parts):
    cases, _ = parts
    # of Imperial Valley there are two: 1940 and 1979
    events = [
        {record[: record.index("-", 17)] if "1940" in record else record.split("-")[0] for record in records}
        for records in (cases.CHOSEN_ON, cases.RECORDS)
    ]
    assert not events[0] & events[1] and len(cases.RECORDS) == len(cases.FORMER) == 6
    assert not set(cases.RECORDS) & set(cases.FORMER)  # of the same events, but other components
    assert not set(cases.NEW) & {*cases.CHOSEN_ON, *cases.RECORDS, *cases.FORMER} and len(cases.NEW) == 6


def test_a_test_begins_at_rest_and_holds_the_strong_part_scaled_to_one_peak(parts):
    cases, _ = parts
    a = np.concatenate([np.full(2000, 1e-3), np.sin(0.3 * np.arange(6000))])  # 10 s of nothing at 200 Hz, then 30 s
    rows = cases.strong_part(cases.GroundMotion(a, 0.005), 0.01)
    still = rows[: round(cases.REST / 0.01), 0]
    assert rows.shape == (2501, 1) and not still.any()
    assert np.abs(rows).max() == pytest.approx(cases.PEAK, rel=0.02)  # other samples than those that were scaled
    before = np.abs(rows[100:150]).max()
    assert 0.0 < before < 0.05 * cases.PEAK  # the last second before the strong part is there


def test_faults_are_drawn_from_their_ranges(parts):
    _, naming = parts
    rng, peak = np.random.default_rng(0), 5e4
    for _ in range(50):
        (offset,) = naming.drawn(rng, "offset", peak)[0].values()
        (drift,) = naming.drawn(rng, "drift", peak)[0].values()
        assert 0.0075 * peak <= abs(offset) <= 0.03 * peak and 0.015 * peak <= abs(drift) * 25.0 <= 0.06 * peak
        fault, device = naming.drawn(rng, "other device", peak)
        assert not fault and len(device) == 3
    assert naming.drawn(rng, "none", peak) == ({}, ())


def test_a_motion_beyond_the_training_is_no_fault(parts):
    _, naming = parts
    table = np.zeros((5, 7), dtype=int)
    table[np.arange(5), np.arange(5)] = 4  # named rightly
    table[0, 5], table[3, 5], table[4, 0] = 2, 1, 3
    assert naming.rightly(table) == pytest.approx(22 / 26)


@pytest.mark.slow
@pytest.mark.skipif(data_folder() is None, reason="needs the ground motions")
def test_a_late_force_does_no_harm_and_the_delay_is_found(parts, tmp_path):
    """El Centro, the network of wang2020; an updater that takes the force as it comes is more than ten times worse."""
    cases, _ = parts
    shutil.copyfile(FOLDER.parent / "wang2020" / "brace.safetensors", tmp_path / "symmetric-right-0.safetensors")
    campaign, record = cases.Campaign(tmp_path), cases.CHOSEN_ON[0]
    assert campaign.ratio(record, "right", 0, "one step late").max() < 1.3
    assert campaign.ratio(record, "right", 0, "one step late", updater="ANN1 anchored").max() > 2.0
    made, size, _ = cases.built(record)
    network = cases.network(tmp_path, "right", 0)
    instruments = cases.instrument(size, 60.0, 0, delay_f=1.0)
    loop = cases.loop_of(made, instruments, network.device(), cases.UPDATERS["default"](network))
    delay = cases.forces(loop, made, "updater.delay")[1]["updater.delay"]
    assert delay[-1] == pytest.approx(made.loop.dt, rel=0.1)


def test_without_the_records_nothing_is_compared(parts, monkeypatch, tmp_path):
    cases, _ = parts
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    with pytest.raises(BadInput, match="HYLOOP_DATA"):
        cases.built.__wrapped__(cases.RECORDS[0])
