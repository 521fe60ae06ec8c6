"""Springs learned through a structure: Luo et al. (2024), cases I to III."""

import jax
import numpy as np

from hyloop.record import Recording
from hyloop.report.page import Table
from hyloop.study.seeds import Seeds
from hyloop.study.tasks import Task

jax.config.update("jax_enable_x64", True)  # before the first array of the modules below

from . import uncertain_tables  # noqa: E402
from .scenarios import SCENARIOS  # noqa: E402
from .uncertain import UNCERTAIN  # noqa: E402

SEEDS = (5, 6, 7, 8, 9, 10)  # never run while settings were chosen
FILES = ("scenarios.py", "structures.py", "uncertain.py")
QUICK = ("N0",)
DRAWN = {"N0": "softening", "T1": "hardening", "T2": "anisotropic", "III": "beam"}
RESPONSES = {"u": "displacement", "v": "velocity", "a": "acceleration", "f": "restoring force"}
TABLE_3 = ("N0", "II", "III")
BY_ADAM, SLOWEST = "N0, network by Adam", "goal, processor time of the slowest run"
NOT_IN_TABLE_2 = (
    BY_ADAM,
    "II",
    "II Bouc-Wen",
    "N0, fine truth",
    "II, fine truth",
    "III, fine truth, rotational",
    "III, fine truth, vertical",
)
GOALS = {
    "case I": ["N0"],
    "case I, 30 % noise": ["N4"],
    "case I, one sensor at the worst place": ["P1", "P2", "P3"],
    "case I, anisotropic": ["T2"],
    "case II, bilinear": ["II"],
    "case II, Bouc-Wen": ["II Bouc-Wen"],
    "case III, rotational": ["III, rotational"],
    "case III, vertical": ["III, vertical"],
    "case I, fine truth": ["N0, fine truth"],
    "case II, fine truth": ["II, fine truth"],
    "case III, fine truth, rotational": ["III, fine truth, rotational"],
    "case III, fine truth, vertical": ["III, fine truth, vertical"],
}


def run(job):
    """Values of all claims; a quick run judges the goals of the scenarios it runs."""
    chosen = [s for s in SCENARIOS if not job.quick or s.name in QUICK]
    uncertain = () if job.quick else UNCERTAIN
    # the longest come last in the tables and shall be begun first
    tasks = {
        (scenario.name, seed): Task(f"{scenario.name}, seed {seed}", function, (scenario.name, seed), FILES)
        for function, scenarios in (("uncertain:run_named", uncertain), ("scenarios:run_named", chosen))
        for scenario in reversed(scenarios)
        for seed in SEEDS
    }
    found = job.work("scenarios", list(tasks.values()))
    outcomes, off = (
        {s.name: [found[tasks[s.name, seed].name] for seed in SEEDS] for s in scenarios}
        for scenarios in (chosen, uncertain)
    )
    job.tables += [_learned(chosen, outcomes), _responses(outcomes), _choices(outcomes)]
    job.tables += [uncertain_tables.table(off)] if off else []
    job.recordings.update(_drawings(outcomes))
    return _values(outcomes) | (uncertain_tables.values(off) if off else {})


def _figures(scenario, runs):
    """What a scenario is judged by: curve MRE of each spring, or the MRE of the force for hysteretic ones."""
    if scenario.startswith("III"):
        return {
            f"{scenario}, rotational": [o.curve[0] for o in runs],
            f"{scenario}, vertical": [o.curve[1] for o in runs],
        }
    return {scenario: [o.curve[0] if o.curve else o.response["f"] for o in runs]}


def _errors(outcomes):
    errors = {}
    for scenario, runs in outcomes.items():
        errors |= {name: Seeds.of(each) for name, each in _figures(scenario, runs).items()}
    return errors


def _printed(outcomes):
    """What the paper's two tables print, of the scenarios that were run."""
    values = {f"Table 2, {name}": error for name, error in _errors(outcomes).items() if name not in NOT_IN_TABLE_2}
    for scenario in (name for name in TABLE_3 if name in outcomes):
        for key, word in RESPONSES.items():
            values[f"Table 3, {scenario}, {word}"] = Seeds.of(o.response[key] for o in outcomes[scenario])
    return values


def _values(outcomes):
    errors, values = _errors(outcomes), _printed(outcomes)
    run = {goal: names for goal, names in GOALS.items() if set(names) <= set(errors)}
    worst = {goal: max((errors[name] for name in names), key=lambda seeds: seeds.mean) for goal, names in run.items()}
    values |= {f"goal, {goal}": seeds for goal, seeds in worst.items()}
    if len(outcomes) == len(SCENARIOS):
        values[SLOWEST] = max(o.seconds for runs in outcomes.values() for o in runs)
        values[BY_ADAM] = errors[BY_ADAM]
    return values


def _spread(errors):
    return f"{np.mean(errors):.3g} ± {np.std(errors, ddof=1):.2g}" if len(errors) > 1 else f"{errors[0]:.3g}"


def _learned(scenarios, outcomes):
    rows = []
    for scenario in scenarios:
        runs = outcomes[scenario.name]
        R = [min(o.r) for o in runs if o.r]
        for name, errors in _figures(scenario.name, runs).items():
            rows.append(
                [
                    name,
                    f"{100 * scenario.noise:g}",
                    ", ".join(scenario.sensors) or "all",
                    _spread(errors),
                    f"{max(errors):.3g}",
                    f"{min(R):.6f}" if R else None,
                    f"{runs[0].coverage[0, 0]:.3f}..{runs[0].coverage[0, 1]:.3f}",
                    f"{100 * max(o.outside for o in runs):.2g}",
                    f"{np.mean([o.seconds for o in runs]):.1f}",
                    f"{max(o.seconds for o in runs):.1f}",
                ]
            )
    columns = [
        "scenario",
        "noise, %",
        "sensors",
        "MRE, %, mean ± spread",
        "worst seed",
        "R, least",
        "coverage, a seed",
        "fresh outside, %",
        "processor s, mean",
        "most",
    ]
    return Table("Learned springs: curve MRE (force MRE on fresh samples where hysteretic)", columns, rows)


def _responses(outcomes):
    rows = [[name, *(_spread([o.response[key] for o in runs]) for key in RESPONSES)] for name, runs in outcomes.items()]
    return Table("Response of fresh samples, MRE in %", ["scenario", *RESPONSES.values()], rows)


def _choices(outcomes):
    rows = []
    for name, runs in outcomes.items():
        for seed, o in zip(SEEDS, runs, strict=True):
            errors = ", ".join(f"{law} {error:.2e}" for law, error in o.held_out.items())
            rows.append([name, seed, o.chosen, errors, o.iterations])
    columns = ["scenario", "seed", "chosen", "NMSE of held-out samples", "evaluations"]
    return Table("Every run: the law is chosen by samples held out", columns, rows)


def _drawings(outcomes):
    """True and learned curves, and loops of a fresh sample, of the first seed."""
    true, learned = {}, {}
    for scenario, case in DRAWN.items():
        if scenario not in outcomes:
            continue
        sites = ("rotation", "midspan") if case == "beam" else (case,)
        for site, (d, f, ours) in zip(sites, outcomes[scenario][0].curves, strict=True):
            true |= {f"{site}.d": d, f"{site}.f": f}
            learned |= {f"{site}.d": d, f"{site}.f": ours}
    for scenario, site in (("II", "bilinear"), ("II Bouc-Wen", "bouc_wen")):
        if scenario in outcomes:
            d, f, d_ours, f_ours = outcomes[scenario][0].loops
            true |= {f"{site}.d": d, f"{site}.f": f}
            learned |= {f"{site}.d": d_ours, f"{site}.f": f_ours}
    units = [
        "rad" if key == "rotation.d" else "N m" if key == "rotation.f" else "m" if key.endswith(".d") else "N"
        for key in true
    ]
    return {
        name: Recording(
            np.arange(len(next(iter(found.values())))) * 1.0,
            np.column_stack(list(found.values())),
            tuple(found),
            tuple(units),
        )
        for name, found in (("truth", true), ("learned", learned))
    }
