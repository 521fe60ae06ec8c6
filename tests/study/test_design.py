"""Designs: the budget is kept, gradients find what is known, compiled runs judge, and what cannot be is refused."""

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from hyloop.cli.main import main
from hyloop.data import data_folder
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.study.build import build
from hyloop.study.design import design
from hyloop.study.design_problem import motions, problem

SAME = 1e-12  # of the value: sums in another order
TOLD = 6e-6  # half a digit of the page, and a search that may end a little elsewhere on another machine

BASE = """
[structure]
kind = "shear_frame"
stories = 3
masses = "100 t"
stiffnesses = ["90 kN/mm", "45 kN/mm", "60 kN/mm"]
heights = "3.5 m"
damping = { kind = "rayleigh", ratio = "2 %", modes = [1, 2] }
[integrator]
method = "newmark_explicit"
dt = "0.01 s"
[excitation]
kind = "harmonic"
amplitude = "0.2 g"
frequency = "1.5 Hz"
duration = "4 s"
[sites.damper1]
story = 1
count = 2
device = { law = "dashpot", c = "1 MN s/m" }
[sites.damper2]
like = "damper1"
story = 2
[sites.damper3]
like = "damper1"
story = 3
[design]
vary = "damper*.c"
low = "10 kN s/m"
high = "2 MN s/m"
budget = "3 MN s/m"
trials = 25
seeds = 2
iterations = 12
[design.training.one]
kind = "synthetic"
sds = "1 g"
sd1 = "0.6 g"
duration = "8 s"
[design.training.two]
kind = "harmonic"
amplitude = "0.2 g"
frequency = "1.7 Hz"
duration = "4 s"
[design.test.three]
kind = "synthetic"
sds = "1 g"
sd1 = "0.6 g"
duration = "8 s"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "frame.toml"
    path.write_text(BASE, encoding="utf-8")
    return path


def task_of(file, *overrides):
    experiment = load_experiment(file, list(overrides))
    loop = build(experiment).loop
    return experiment, loop, problem(loop, experiment.design)


def test_shares_spend_the_budget_between_the_bounds(file):
    _, _, task = task_of(file)
    rng = np.random.default_rng(3)
    for share in [np.ones(3), *rng.exponential(size=(50, 3)) ** 4]:
        x = task.spent(share)
        assert task.cost @ x == pytest.approx(3e6, rel=SAME)
        assert np.all((x >= 10e3) & (x <= 2e6))
    assert np.allclose(task.spent(np.ones(3)), 5e5, rtol=SAME)  # two devices in each story
    assert np.allclose(task.spent([1.0, 2.0, 3.0]), [2.5e5, 5e5, 7.5e5], rtol=SAME)


def test_weights_and_common_values(file):
    _, _, task = task_of(file, "design.weights.damper1=2", "sites.damper3.story=2", "design.by_story=true")
    assert list(task.groups.values()) == [["damper1.c"], ["damper2.c", "damper3.c"]]
    assert task.cost.tolist() == [4.0, 4.0]


def test_peaks_are_those_of_the_derived_channels(file):
    experiment, loop, task = task_of(file)
    rows, notes = motions(experiment, "training", experiment.design.training, loop)
    x = task.spent([1.0, 3.0, 2.0])
    run = loop.copy(task.parameters(x)).run(rows[0], derived=True)
    expected = [np.abs(run[name]).max() for name in task.drifts]
    assert np.allclose(task.peaks(x, rows)[0], expected, rtol=SAME)
    assert task.drifts[0] == "drift_ratio.1" and len(notes) == 2


@pytest.mark.slow
def test_a_design_is_better_than_the_uniform_one_and_judged_by_compiled_runs(file, tmp_path, monkeypatch, capsys):
    pytest.importorskip("jax", reason="JAX is not installed (extra: learn)")
    monkeypatch.chdir(tmp_path)
    words = ["hyloop", "design", str(file), "--json"]
    searched = find_spec("optuna") is not None
    monkeypatch.setattr(sys, "argv", [*words, *([] if searched else ["--trials", "0"])])
    main()
    said = json.loads(capsys.readouterr().out)
    found = said["distributions"]
    experiment, loop, task = task_of(file)
    rows, _ = motions(experiment, "training", experiment.design.training, loop)
    for one in found.values():
        x = np.array(one["values"])
        assert task.cost @ x == pytest.approx(3e6, rel=1e-9)
        # built anew, with the values as the file would have them
        changes = [f"sites.damper{k + 1}.device.c={value!r}" for k, value in enumerate(one["values"])]
        fresh = build(load_experiment(file, changes)).loop
        drifts = [fresh.run(e, derived=True) for e in rows]
        peaks = [max(np.abs(run[name]).max() for name in task.drifts) for run in drifts]
        assert one["training"] == pytest.approx(np.mean(peaks), rel=SAME)
    assert found["gradients"]["training"] < 0.98 * found["uniform"]["training"]
    assert np.all(np.diff(said["gradients"]["best"]) <= 0.0)
    assert said["gradients"]["best"][-1] == pytest.approx(found["gradients"]["training"], rel=1e-9)
    assert len(said["optuna"]) == (2 if searched else 0)
    page = (tmp_path / said["report"]).read_text(encoding="utf-8")
    assert said["sentence"].split("(")[0] in page


@pytest.mark.slow
@pytest.mark.skipif(data_folder() is None, reason="needs the ground motions")
def test_the_example_is_better_than_the_uniform_one_on_records_it_has_not_seen():
    """As docs/design.md says, to the digits it has."""
    pytest.importorskip("jax", reason="JAX is not installed (extra: learn)")
    experiment = load_experiment(Path(__file__).parents[2] / "experiments" / "design_eight_story.toml")
    found = design(experiment, trials=0)
    told = {key: (one.trained, one.tested) for key, one in found.distributions.items()}
    assert told["uniform"] == pytest.approx((0.00947, 0.01042), abs=TOLD)
    assert told["gradients"] == pytest.approx((0.00859, 0.00995), abs=TOLD)
    assert not any("instead" in note for note in found.notes) and len(found.motions["test"]) == 6


@pytest.mark.parametrize(
    ("override", "text"),
    [
        ("design.vary=damper*.k", r"design\.vary.*damper\*\.k"),
        ("design.budget=40 MN s/m", r"design\.budget.*between"),
        ("design.low=3 MN s/m", r"design\.low"),
        ("design.low=3 kN", "design.low"),
        ("design.weights.damper9=2", "damper9"),
    ],
)
def test_what_does_not_fit_the_loop_is_refused(file, override, text):
    with pytest.raises(BadInput, match=text):
        task_of(file, override)


def test_a_test_motion_must_be_of_another_record(file):
    text = BASE + '[design.training.a]\nkind = "record"\nname = "kobe"\ncomponent = 1\n'
    file.write_text(text + '[design.test.b]\nkind = "record"\nname = "kobe"\ncomponent = 2\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"design\.test\.b.*training\.a"):
        load_experiment(file)


def test_a_file_without_a_design_is_refused(file, monkeypatch, capsys):
    file.write_text(BASE.split("[design]")[0], encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["hyloop", "design", str(file)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2 and "[design]" in capsys.readouterr().err
