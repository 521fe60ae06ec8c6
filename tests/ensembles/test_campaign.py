"""Campaigns in real processes: rows are those of single runs to the last bit, and what goes wrong is a row."""

import sys
from pathlib import Path

import numpy as np
import pytest
from problems.sweeps import DEADLY, TINY, deadly

import hyloop
import hyloop.ensembles.batches
from hyloop.ensembles import Campaign, Plan, parse_measure
from hyloop.ensembles.engines import LocalProcesses
from hyloop.ensembles.measures import values_of
from hyloop.ensembles.work import Batch, work
from hyloop.errors import BadInput
from hyloop.files.load import read_experiment
from hyloop.record import Recording

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
LIMIT = "limits.max_d=11.8mm"  # which the weaker dampers pass
RUNS = [(f"sites.damper1.device.f_y={f} kN", f"seed={seed}") for f in (5, 20, 80) for seed in (1, 2)]
REFUSED = ("sites.damper1.device.f_y=-1 kN",)


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(TINY)
    return Plan(Path("tiny.toml"), (LIMIT,))


def swept(plan, folder, workers, runs, **more):
    with Campaign.opened(plan, Path(folder), LocalProcesses(workers), **more) as campaign:
        return campaign.run(runs)


def test_rows_are_those_of_single_runs_whatever_the_workers(plan):
    one, two = (swept(plan, f"with{n}", n, [*RUNS, REFUSED]) for n in (1, 2))
    assert one == two
    assert [row.outcome for row in one] == ["stopped", "stopped", *["complete"] * 4, "refused"]
    assert one[0].reason.startswith("limit: step ") and "outside its bounds" in one[-1].reason
    for run, row in zip(RUNS[2:], one[2:-1], strict=True):
        single = hyloop.run("tiny.toml", dict(change.split("=") for change in (LIMIT, *run)))
        measures = [parse_measure(name, text) for name, text in MEASURED.items()]
        assert {name: row.values[name] for name in MEASURED} == values_of(single, measures)


MEASURED = {"drift": "peak drift.*", "acceleration": "peak a_abs.*", "device_f": "peak damper1 damper1.f damper2.f"} | {
    "energy": "last energy.input",
    "residual_drift": "end drift.*",
}


def test_recordings_hold_what_the_rows_say_and_nothing_is_left_beside(plan):
    kept = Plan(plan.path, plan.overrides, {"drift": "peak drift.*", "v": "rms v.*"}, recordings=True)
    rows = swept(kept, "kept", 1, RUNS)
    bare = swept(Plan(plan.path, plan.overrides, kept.measures), "bare", 1, RUNS)
    assert [(row.outcome, row.values) for row in rows] == [(row.outcome, row.values) for row in bare]
    names = {path.name for path in Path("kept/recordings").iterdir()}
    assert names == {f"{row.identity}.h5" for row in rows}
    stopped, done = (Recording.load(f"kept/recordings/{rows[k].identity}.h5") for k in (0, 2))
    assert not stopped.complete and done.complete
    assert max(np.abs(done[f"drift.{k}"]).max() for k in (1, 2)) == rows[2].values["drift"]


def test_a_run_that_kills_its_workers_is_a_row_and_no_other_is_lost(plan, monkeypatch):
    monkeypatch.setattr(hyloop.ensembles.batches, "work", deadly)
    runs = [*RUNS[:3], (DEADLY,), *RUNS[3:]]
    rows = swept(plan, "deadly", 1, runs)
    assert [row.outcome for row in rows] == ["stopped", "stopped", "complete", "died", *["complete"] * 3]
    assert rows[3].reason == "the process that ran it ended, 3 times"


def test_what_is_there_is_not_run_again_and_what_died_is(plan, monkeypatch):
    with Campaign.opened(plan, Path("again"), LocalProcesses(1)) as campaign:
        first = campaign.try_first(RUNS[2])
        assert campaign.known(RUNS[2]) == first and campaign.known(RUNS[3]) is None
        assert campaign.run([RUNS[2]] * 2) == [first, first]  # nothing is started for it
    text = Path("again/runs.jsonl").read_text()
    assert text.count("\n") == 1
    Path("again/runs.jsonl").write_text(text.replace("complete", "died"))
    assert swept(plan, "again", 1, [RUNS[2]]) == [first]


def test_a_folder_is_for_one_plan_and_one_process(plan):
    with Campaign.opened(plan, Path("taken")) as campaign:
        campaign.try_first(RUNS[2])
    for other, said in (
        (Plan(plan.path), "other values of --set"),
        (Plan(plan.path, plan.overrides, {"x": "peak drift.1"}), "other measures"),
        (Plan(plan.path, plan.overrides, kind="other"), "other settings"),
        (Plan(plan.path, plan.overrides, recordings=True), "another choice of recordings"),
    ):
        with pytest.raises(BadInput, match=said), Campaign.opened(other, Path("taken")):
            pass
    before = Path("taken/runs.jsonl").read_bytes()
    with pytest.raises(BadInput), Campaign.opened(plan, Path("taken"), check=[REFUSED], fresh=True):
        pass
    assert Path("taken/runs.jsonl").read_bytes() == before
    with Campaign.opened(Plan(plan.path), Path("taken"), fresh=True) as campaign:
        assert not campaign.rows and not Path("taken/runs.jsonl").exists()
    Path("full").mkdir()
    Path("full/mine.txt").write_text("mine")
    with pytest.raises(BadInput, match="holds other files"), Campaign.opened(plan, Path("full"), fresh=True):
        pass
    with pytest.raises(BadInput), Campaign.opened(plan, Path("new"), check=[REFUSED]):
        pass
    assert Path("full/mine.txt").exists() and not Path("new").exists()


def batch(file, runs, measures, folder=ROOT):
    import json

    path = folder / file
    texts = tuple((str(k), tuple(run)) for k, run in enumerate(runs))
    parsed = tuple(parse_measure(*item) for item in measures.items())
    return Batch(json.dumps(read_experiment(path), default=str), str(path), parsed, texts)


@pytest.mark.parametrize(
    ("file", "changes", "measures"),
    [
        (
            "rc_frame",
            ("sites.damper1.count=2", "sites.damper1.count=5"),
            {"d": "peak drift.*", "e": "last energy.input"},
        ),
        ("servo_hydraulic", ("seed=1", "seed=2"), {"d": "peak damper1.d", "f": "rms damper1.f"}),
        ("friction_frame", ("sites.damper2.count=3", "sites.damper3.count=2"), {"a": "peak a_abs.*"}),
    ],
)
def test_a_run_after_another_one_with_the_same_structure_is_that_of_a_new_process(file, changes, measures):
    """Structures and motions are kept: nothing that one run does to them may be seen by the next."""
    short = [(change, *SHORT[file]) for change in changes]
    runs = [short[0], short[1], short[0]]
    many = work(batch(f"experiments/{file}.toml", runs, measures)).rows
    assert many[0].values == many[2].values
    path = ROOT / "experiments" / f"{file}.toml"
    assert many[0].outcome == many[1].outcome == "complete" and many[0].values != many[1].values
    for run, row in zip(runs[:2], many[:2], strict=True):
        single = hyloop.run(path, dict(change.split("=", 1) for change in run))
        assert values_of(single, [parse_measure(*item) for item in measures.items()]) == row.values


SHORT = {
    "rc_frame": ("excitation.duration=1s",),
    "servo_hydraulic": ("excitation.duration=2s",),
    "friction_frame": ("excitation.duration=2s",),
}


def test_a_defect_and_a_lack_of_memory_are_rows(plan, monkeypatch):
    import hyloop.ensembles.work as module

    one = batch("tiny.toml", [RUNS[2]], {"drift": "peak drift.*"}, Path())
    for error, outcome in ((ZeroDivisionError("x"), "failed"), (MemoryError(), "died")):

        def wrong(*_, error=error):
            raise error

        monkeypatch.setattr(module, "measured", wrong)
        (row,) = work(one).rows
        assert row.outcome == outcome and row.reason
    monkeypatch.setattr(module, "measured", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(OSError, match="No space"):
        work(one)
    assert sys.modules["hyloop.ensembles.work"] is module
