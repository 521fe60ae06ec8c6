"""Pages of searches and analyses from numbers that nobody computed: with failures, long names and many records."""

import numpy as np

from hyloop.report.design_page import write_design
from hyloop.report.design_result import Designed, Distribution, Search
from hyloop.report.ida_page import write_ida
from hyloop.report.ida_result import IdaRecord, IdaResult, compare
from hyloop.report.stripes import stripes_of, write_stripes
from hyloop.report.tune_page import write_tuning
from hyloop.report.tune_result import Judged, Trial, Tuned

G = 9.80665


def analysis(title, strength):
    """Records that soften and fall; some that stand at their highest level."""
    rng, records = np.random.default_rng(3), []
    for k in range(12):
        falls = strength * 8.0 * rng.lognormal(0.0, 0.4)
        levels = tuple(np.linspace(0.5, 12.0, 9).tolist())
        responses = tuple(0.004 * x / (1.02 * falls - x) if x < falls else None for x in levels)
        reasons = tuple("" if response is not None else "drift: step 3" for response in responses)
        name = f"a-record-with-a-name-that-is-longer-than-its-column_{k}"
        records.append(IdaRecord(name, 1.0 + k, levels, responses, reasons))
    return IdaResult(
        title=title,
        source="x.toml",
        overrides=(),
        intensity="sa_t1",
        period=0.39,
        damping=0.05,
        response="peak drift_ratio.*",
        unit="-",
        collapse="5 %",
        flattening=0.0,
        resolution=0.05,
        records=tuple(records),
        states={"slight": (0.002, "-"), "severe": (0.01, "-")},
        mce=4.0,
        samples=200,
    )


def ida(path):
    """An analysis beside another one."""
    one, other = analysis("A frame with a network that listens to a damper", 0.9), analysis("The truth", 1.0)
    write_ida(path, one, "hyloop ida x.toml", (other, compare(one, other)))


def fragility(path):
    """A sweep at fixed levels, of which some failed."""
    rng = np.random.default_rng(4)
    levels = np.repeat([2.0, 4.0, 7.0, 9.0], 20)
    drifts = [float(x) if x < 0.05 else None for x in 0.005 * levels * rng.lognormal(0.0, 0.5, len(levels))]
    outcomes = ["stopped" if drift is None else "complete" for drift in drifts]
    columns = {"excitation.peak": levels.tolist(), "outcome": outcomes, "drift_ratio": drifts}
    states = {"severe": (0.02, "-")}
    found = stripes_of(columns, "excitation.peak", states, None, source="out/x-sweep", samples=200)
    write_stripes(path, found, "hyloop fragility out/x-sweep")


def tune(path):
    """Settings with long places, a choice, and trials that failed."""
    rng, trials = np.random.default_rng(5), []
    window, every = "sites.damper1.transfer.compensator.window", "sites.damper1.transfer.compensator.every"
    for k in range(40):
        at = {} if k == 0 else {window: float(rng.uniform(0.1, 4.0)), every: float(rng.integers(0, 3))}
        value = None if k % 9 == 4 else float(0.002 + 0.001 * rng.random())
        texts = {name: f'"{x:.6g} s"' if name == window else str(1 + int(x)) for name, x in at.items()}
        trials.append(Trial(k, texts, (value,), value, "" if value else "stopped: limit: step 3 (t = 0.1 s)", at))
    best = min((trial for trial in trials[1:] if trial.value is not None), key=lambda trial: trial.value)
    found = Tuned(
        source="x.toml",
        title="Settings of a compensator",
        objective="error damper1.actuator.d damper1.d",
        unit="-",
        goal="least",
        over="mean",
        trials=tuple(trials),
        best=best,
        judged=Judged(("seed=13", "seed=14"), (0.003, 0.0031), (0.0021, 0.0022), 0.00305, 0.00215),
        training=("seed=3",),
        units={window: "s"},
        choices={every: ("1", "2", "3")},
        seed=0,
        together=4,
    )
    write_tuning(path, found)


def design(path):
    """A budget over eight stories, with a search beside it that was never reached."""
    rng = np.random.default_rng(6)
    spread = {"uniform": np.full(8, 6e5), "gradients": 6e5 * rng.uniform(0.3, 1.7, 8), "optuna": np.full(8, 5e5)}
    names = {"uniform": "uniform", "gradients": "by gradients", "optuna": "by Optuna"}
    peaks = rng.uniform(0.004, 0.01, (2, 6, 8))
    steps = np.arange(1.0, 41.0)
    searches = [Search(f"Optuna, TPE, seed {k}", 6.0 * steps, 0.0085 - 1e-5 * steps, 3.0) for k in (1, 2)]
    found = Designed(
        title="Eight-story frame, slip forces of its friction dampers",
        source="x.toml",
        groups={f"damper{k}.f_y": [f"damper{k}.f_y", f"damper{k + 8}.f_y"] for k in range(1, 9)},
        unit="N",
        cost=np.full(8, 2.0),
        budget=9.6e6,
        measure="story drift",
        shown=(100.0, "%"),
        distributions={key: Distribution(names[key], x, *peaks) for key, x in spread.items()},
        gradient=Search("by gradients", 20.0 * steps, 0.0085 - 5e-6 * steps, 9.0),
        optuna=tuple(searches),
        motions={"training": list("abcdef"), "test": list("ghijkl")},
        equivalence=20.0,
        notes=("training: a: a note",),
    )
    write_design(path, found, "hyloop design x.toml")
