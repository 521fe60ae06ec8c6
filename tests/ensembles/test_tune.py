"""Tunings: a known optimum is found, one that broke off goes on bit for bit, and test events wait for the end."""

import tomllib

import numpy as np
import pytest
from problems.repeated import FRAME, Here

from hyloop.ensembles import Campaign, Plan
from hyloop.ensembles.events import as_changes
from hyloop.ensembles.table import read_table
from hyloop.ensembles.tune import tuned
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment, read_experiment
from hyloop.report.tune_page import write_tuning
from hyloop.report.tune_piece import piece

DELAY = 8.0  # ms, of the actuator: who undoes it has no error
NEAR = 0.6  # ms; a fifteenth of the range, and less than three ticks of 1/1024 s
COMPENSATED = """
[sites.damper1.transfer.compensator]
law = "extrapolation"
delay = "3 ms"
"""
TUNE = """
[tune]
objective = "error damper1.actuator.d damper1.d"
training = ["seed=1", "seed=2"]
test = ["seed=3"]
trials = 18
together = 3
[tune.settings]
sites.damper1.transfer.compensator.delay = { low = "2 ms", high = "12 ms" }
"""


class Breaks(Here):
    """Ends like Ctrl-C after so many rounds."""

    def __init__(self, rounds):
        self.rounds = rounds

    def executor(self):
        pool = super().executor()
        submit, left = pool.submit, iter(range(self.rounds))

        def counted(*args):
            if next(left, None) is None:
                raise KeyboardInterrupt
            return submit(*args)

        pool.submit = counted
        return pool


@pytest.fixture
def written(tmp_path):
    """A function that writes an experiment file and says its path."""

    def write(text, name="plan.toml"):
        path = tmp_path / name
        path.write_text(FRAME + text, "utf-8")
        return path

    return write


def tune(path, folder, engine=None, **changes):
    spec = load_experiment(path).tune
    return tuned(path, spec.model_copy(update=changes), folder, engine or Here())


@pytest.mark.slow
def test_a_known_optimum_is_found_and_said(written, tmp_path):
    path = written(COMPENSATED + TUNE)
    found = tune(path, tmp_path / "whole")
    (text,) = found.best.settings.values()
    assert abs(float(text.removesuffix(" ms")) - DELAY) < NEAR
    assert len(found.trials) == 18 and found.trials[0].settings == {}
    assert found.trials[0].at == {"sites.damper1.transfer.compensator.delay": pytest.approx(3.0)}
    assert found.best.value < found.trials[0].value and found.judged.best_value < found.judged.own_value
    assert "better than the file on 1 test event" in found.sentence()
    assert found.best_so_far()[-1] == found.best.value

    # the piece, included behind the file, gives the best settings and their value on the test event
    (tmp_path / "best.toml").write_text(piece(found), "utf-8")
    both = tmp_path / "both.toml"
    both.write_text('include = ["plan.toml", "best.toml"]', "utf-8")
    with Campaign.opened(Plan(both, measures={"e": found.objective}), tmp_path / "again", Here()) as campaign:
        assert campaign.run([("seed=3",)])[0].values["e"] == found.judged.best_value
    page = write_tuning(tmp_path / "page.html", found).read_text("utf-8")
    assert found.sentence() in page and "best so far" in page


@pytest.mark.slow
def test_broken_off_and_gone_on_is_the_same_to_the_last_bit(written, tmp_path):
    path = written(COMPENSATED + TUNE)
    whole = tune(path, tmp_path / "whole", trials=9)
    with pytest.raises(KeyboardInterrupt):
        tune(path, tmp_path / "broken", Breaks(7), trials=9)
    with Campaign.opened(plan_of(path, tmp_path / "broken"), tmp_path / "broken", Here()) as campaign:
        there = len(campaign.rows)
        assert 0 < there < 18
        for own in ("", "sites.damper1.transfer.compensator.delay=8 ms"):
            assert campaign.known([*([own] if own else []), "seed=3"]) is None  # the test waits for the end
    again = tune(path, tmp_path / "broken", trials=9)
    assert again == whole
    one, two = ((tmp_path / name / "runs.parquet").read_bytes() for name in ("whole", "broken"))
    assert one == two
    rows = read_table(tmp_path / "whole" / "runs.parquet")
    assert rows["side"].count("training") == 18 and rows["side"].count("test") == len(rows["side"]) - 18
    assert set(rows["event"]) == {"seed=1", "seed=2", "seed=3"}
    lines = (tmp_path / "broken" / "runs.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == len((tmp_path / "whole" / "runs.jsonl").read_text("utf-8").splitlines())  # none twice


def plan_of(path, folder):
    """The plan that the folder is for."""
    import json

    there = json.loads((folder / "campaign.json").read_text("utf-8"))
    return Plan(path, (), there["measures"], kind=there["kind"])


@pytest.mark.slow
def test_more_trials_go_on_and_a_search_with_another_seed_does_not(written, tmp_path):
    path = written(COMPENSATED + TUNE)
    few = tune(path, tmp_path / "one", trials=7)
    more = tune(path, tmp_path / "one", trials=10)
    assert more.trials[:7] == few.trials
    with pytest.raises(BadInput, match="other settings"):
        tune(path, tmp_path / "one", seed=5)


@pytest.mark.slow
def test_what_fails_ranks_last_and_says_why(written, tmp_path):
    """The actuator is late, so the stiffest spring grows by itself until a limit stops it."""
    text = """
[limits]
max_f = "300 kN"
[tune]
objective = "peak drift.1"
training = ["seed=1"]
test = ["seed=2"]
trials = 12
[tune.settings]
sites.damper1.device.k = ["1 kN/mm", "2 kN/mm", "500 kN/mm"]
"""
    found = tune(written(text), tmp_path / "one")
    failed = [trial for trial in found.trials if trial.value is None]
    assert failed and all("stopped" in trial.reason for trial in failed)
    assert {trial.settings["sites.damper1.device.k"] for trial in failed} == {'"500 kN/mm"'}
    assert found.best.value == min(trial.value for trial in found.trials if trial.value is not None)
    (one,) = found.importance()
    assert not one.ordered and 0.0 <= one.correlation <= 1.0 + 1e-12


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('test = ["seed=3"]', 'test = ["seed=2"]', "seed=2 is the event"),
        ('test = ["seed=3"]', 'test = [["seed=2", "excitation.rms=0.1 g"]]', "cannot judge"),
        ('test = ["seed=3"]', 'test = ["seed=3", "seed=3"]', "twice"),
        ('test = ["seed=3"]', "test = []", "test"),
        ('test = ["seed=3"]', 'test = ["no-such-record"]', "no-such-record"),
        ("compensator.delay =", "compensator.dealy =", "Did you mean 'delay'"),
        ('low = "2 ms"', 'low = "2 s"', "one unit"),
        ('low = "2 ms"', 'low = "20 ms"', "below high"),
        ('low = "2 ms"', 'low = "-2 ms"', "delay"),
        ("damper1.actuator.d damper1.d", "damper1.actuator.d", "two channels"),
        ("error damper1.actuator.d", "eror damper1.actuator.d", "Did you mean 'error'"),
        ("damper1.actuator.d damper1.d", "damper1.actuator.d u.*", "several channels"),
    ],
)
def test_bad_tables_are_refused_and_nothing_is_run(written, tmp_path, old, new, said):
    assert old in TUNE
    path = written(COMPENSATED + TUNE.replace(old, new))
    with pytest.raises(BadInput, match=said):
        tune(path, tmp_path / "one")
    assert not (tmp_path / "one").exists()  # so that the corrected file can go there


def test_a_record_takes_the_place_of_the_motion_and_keeps_peak_and_duration(written, tmp_path, monkeypatch):
    folder = tmp_path / "records"
    folder.mkdir()
    for name in ("quake-090", "quake-180", "other"):
        motion = np.random.default_rng(len(name)).normal(size=600)
        lines = "\n".join(f"{k / 100:.2f},{a:.6f}" for k, a in enumerate(motion))
        (folder / f"{name}.csv").write_text(f"t,a [m/s2]\n{lines}\n", "utf-8")
    monkeypatch.setenv("HYLOOP_DATA", str(folder))
    motion = '[excitation]\nkind = "record"\nname = "other"\npeak = "0.1 g"\nduration = "2 s"\n'
    head, _, rest = FRAME.partition("[excitation]")
    path = tmp_path / "plan.toml"
    path.write_text(head + motion + "[sites" + rest.partition("[sites")[2], "utf-8")
    (change,) = as_changes("quake-090", read_experiment(path))
    table = tomllib.loads(change)["excitation"]
    assert table == {"kind": "record", "name": "quake-090", "peak": "0.1 g", "duration": "2 s"}
    text = TUNE.replace('["seed=1", "seed=2"]', '["quake-090"]').replace('["seed=3"]', '["quake-180"]')
    path.write_text(path.read_text("utf-8") + COMPENSATED + text, "utf-8")
    with pytest.raises(BadInput, match="quake-180 is the event that quake-090"):  # the other component of it
        tune(path, tmp_path / "one")
