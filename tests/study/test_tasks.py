"""Tasks of a study: done once, in processes of their own, and done again when what they hang on has changed."""

import importlib
import os
import time

import numpy as np
import pytest

from hyloop.core import cache
from hyloop.errors import BadInput
from hyloop.study import tasks
from hyloop.study.code import load_code
from hyloop.study.tasks import Task, run_tasks

FITS = """
import os
from pathlib import Path

def fit(seed, log):
    with Path(log).open("a") as file:
        file.write(f"{seed}\\n")
    if seed < 0:
        raise ValueError("diverged")
    return {"seed": seed, "process": os.getpid(), "threads": os.environ.get("OMP_NUM_THREADS")}
"""


LONG = """
def wait(seconds):
    time.sleep(seconds)
    return seconds
"""
SOON = 120.0  # s: two processes start within that on a busy machine, and the longer task takes five times as long


@pytest.fixture
def study(tmp_path):
    """Folder of a study that counts its fits."""
    folder = tmp_path / f"counted_{tmp_path.name}"  # modules of one name would be taken for those loaded before
    folder.mkdir()
    (folder / "study.py").write_text("")
    (folder / "fits.py").write_text(FITS)
    return folder


def work(study, *seeds, workers=1, files=("fits.py",)):
    """Results, how many were kept, and every fit made since the beginning."""
    log = study.parent / "log"
    every = [Task(f"seed {seed}", "fits:fit", (seed, str(log)), files) for seed in seeds]
    found, read = run_tasks(study, study.parent / "kept", every, workers=workers, progress=lambda part: None)
    return found, read, [int(line) for line in log.read_text().split()]


def test_what_is_there_is_not_done_again(study):
    assert work(study, 1, 2)[1:] == (0, [1, 2])
    found, read, done = work(study, 1, 2, 3)
    assert (read, done) == (2, [1, 2, 3]) and [found[f"seed {k}"]["seed"] for k in (1, 2, 3)] == [1, 2, 3]


def test_a_task_that_fails_leaves_those_before_it(study):
    with pytest.raises(ValueError, match="diverged"):
        work(study, 1, -1, 2)
    assert work(study, 1, 2)[1:] == (1, [1, -1, 2])


def test_another_version_of_the_library_does_everything_again(study, tmp_path, monkeypatch):
    copy = tmp_path / "package"
    for name in ("learn", "report"):
        (copy / name).mkdir(parents=True)
        (copy / name / "code.py").write_text("one = 1")
    monkeypatch.setattr(cache, "_PACKAGE", copy)
    assert work(study, 1)[1:] == (0, [1])
    (copy / "report" / "code.py").write_text("one = 2")  # how a page looks changes no fit
    assert work(study, 1)[1:] == (1, [1])
    (copy / "learn" / "code.py").write_text("one = 2")
    assert work(study, 1)[1:] == (0, [1, 1])
    monkeypatch.setattr(tasks, "version", lambda package: "99")
    assert work(study, 1)[1:] == (0, [1, 1, 1])


def test_other_settings_of_the_study_do_its_tasks_again(study):
    (study / "settings.py").write_text("ITERATIONS = 10")
    both = ("fits.py", "settings.py")
    assert work(study, 1, files=both)[1:] == (0, [1])
    (study / "settings.py").write_text("ITERATIONS = 20")
    assert work(study, 1, files=both)[1:] == (0, [1, 1])


def test_arguments_are_part_of_a_name_by_value(study):
    def path(*arguments):
        return tasks.kept_path(study, study, Task("a", "fits:fit", arguments), "")

    assert path(np.arange(3.0), ["x"]) == path(np.arange(3.0), ["x"])
    different = [path(np.arange(3.0)), path(np.arange(4.0)), path(np.arange(3)), path(["a"], "b"), path(["a", "b"])]
    assert len(set(different)) == len(different)


def test_names_are_unique(study):
    with pytest.raises(BadInput, match="same name"):
        work(study, 1, 1)


@pytest.mark.slow
def test_an_interrupt_waits_for_nobody_and_the_same_command_goes_on(study):
    (study / "fits.py").write_text("import time\n" + LONG)
    every = [Task(f"{k}", "fits:wait", (k,), ("fits.py",)) for k in (0, 600)]

    def stop(part):
        if part > 0.0:
            raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_tasks(study, study.parent / "kept", every, workers=2, progress=stop)
    assert time.monotonic() - begin < SOON
    found, read = run_tasks(study, study.parent / "kept", every[:1], workers=2, progress=lambda part: None)
    assert (found, read) == ({"0": 0}, 1)


@pytest.mark.slow
def test_several_processes_with_one_thread_each(study, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    found, read, done = work(study, *range(4), workers=2)
    assert read == 0 and sorted(done) == [0, 1, 2, 3]
    assert {result["threads"] for result in found.values()} == {"1"} and "OMP_NUM_THREADS" not in os.environ
    assert os.getpid() not in {result["process"] for result in found.values()}
    assert [found[f"seed {k}"]["seed"] for k in range(4)] == [0, 1, 2, 3]


def test_arguments_may_be_of_the_studys_own_classes(study):
    """A process that is handed one has loaded the code of the study before."""
    (study / "cases.py").write_text("from typing import NamedTuple\n\nclass Case(NamedTuple):\n    seed: int\n")
    (study / "fits.py").write_text("def double(case):\n    return 2 * case.seed\n")
    load_code(study / "study.py")
    case = importlib.import_module(f"hyloop_study_{study.name}.cases").Case
    every = [Task(f"fit-{k}", "fits:double", (case(k),), ("fits.py",)) for k in (1, 2)]
    found, _ = run_tasks(study, study.parent / "kept", every, workers=2, progress=lambda part: None)
    assert found == {"fit-1": 2, "fit-2": 4}
