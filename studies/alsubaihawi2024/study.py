"""Hybrid tests of a forty-story tower, after Al-Subaihawi et al. (2024)."""

import numpy as np

from hyloop.study.seeds import Seeds
from hyloop.study.tasks import Task

from . import beyond, tables
from .events import JUDGING
from .figures import figures
from .half_power import SUPPLEMENTAL, figure_24
from .pictures import profile_section
from .specimens import COMPARED, RUBBING, SAME, SPECIMENS
from .tower_checks import PRINTED_FREQUENCIES

TOWER = ("hybrid.py", "specimens.py", "events.py", "earthquake.toml", "wind.toml")
TESTS = (*TOWER, "campaign.py", "filters.py", "printed.py", "response.py")
CHECKS = (*TOWER, "tower_checks.py")
WINDS = (1, 2, 3)
SEEDS = {"earthquake": (0, 1, 2), "wind": (0,)}  # of noise; each wind is another one already
CHOSEN = 4  # ticks in a step of the earthquake tests, from the convergence table
HAZARDS = ("earthquake", "wind")
QUICK_SPECIMENS = (COMPARED, RUBBING)


def run(job):
    """Values of all claims; a quick run has one record, a short wind, two specimens and one seed."""
    quick = job.quick
    events = {"earthquake": JUDGING[:1] if quick else JUDGING, "wind": WINDS[:1] if quick else WINDS}
    seeds = {hazard: each[:1] if quick else each for hazard, each in SEEDS.items()}
    names = QUICK_SPECIMENS if quick else tuple(SPECIMENS)
    each = [(hazard, event) for hazard in HAZARDS for event in events[hazard]]
    tests = {
        key: Task(f"{key[0]}, {key[1]}", "campaign:models", (*key, names, seeds[key[0]], quick), TESTS) for key in each
    }
    shaken = {
        (*key, damped): Task(
            f"{key[0]}, {key[1]}, {'damped' if damped else 'bare'}", "campaign:building", (*key, damped, quick), TESTS
        )
        for key in each
        for damped in (True, False)
    }
    checks = {
        f"frequencies {hazard}": Task(f"frequencies, {hazard}", "tower_checks:frequencies", (hazard,), CHECKS)
        for hazard in HAZARDS
    }
    if not quick:
        checks["convergence"] = Task("convergence", "tower_checks:convergence", (JUDGING[0],), CHECKS)
        checks["condensed"] = Task("condensed", "tower_checks:condensed", (JUDGING[0],), CHECKS)
        for direction in SUPPLEMENTAL:
            checks[direction] = Task(
                f"half power, {direction}", "half_power:sweep", (direction,), (*TOWER, "half_power.py")
            )
    more = {} if quick else beyond.tasks()
    found = job.work("hybrid tests", [*tests.values(), *shaken.values(), *checks.values(), *more.values()])
    found_tests = {key: found[task.name] for key, task in tests.items()}
    buildings = {key: found[task.name] for key, task in shaken.items()}
    checked = {key: found[task.name] for key, task in checks.items()}
    job.notes.extend(dict.fromkeys(result["note"] for result in found_tests.values()))
    values = (
        _followers(found_tests, names, seeds)
        | _filter(found_tests, names)
        | _tower(checked)
        | _building(buildings, each)
    )
    job.tables += tables.all_tables(found_tests, buildings, checked, names, seeds)
    if more:
        further = {key: found[task.name] for key, task in more.items()}
        values |= beyond.values(further)
        job.tables += beyond.tables(further)
    first = {hazard: buildings[hazard, events[hazard][0], True] for hazard in HAZARDS}
    job.sections += [profile_section(buildings), *figures(first["earthquake"], first["wind"])]
    if not quick:
        job.sections.append(figure_24({direction: checked[direction] for direction in SUPPLEMENTAL}))
    missing = [note for note in job.notes if "missing" in note]
    if missing:
        job.not_comparable |= dict.fromkeys(values, missing[0])
    return values


def _errors(tests, hazard, name, seeds, kind, filter_="ours"):
    """(events, seeds, followers) of NRMSE in %."""
    return np.array(
        [
            [result[f"{filter_}|{name}|{seed}"][kind] for seed in seeds[hazard]]
            for key, result in tests.items()
            if key[0] == hazard
        ]
    )


def _followers(tests, names, seeds):
    values = {}
    for hazard in HAZARDS:
        ours, printed = (_errors(tests, hazard, COMPARED, seeds, "updated", filter_) for filter_ in ("ours", "printed"))
        constant = _errors(tests, hazard, COMPARED, seeds, "constant")
        values[f"{hazard}: mean NRMSE of eleven followers, updated"] = _over_tests(ours.mean(axis=2))
        values[f"{hazard}: largest NRMSE of a follower, updated"] = _over_tests(ours.max(axis=2))
        values[f"{hazard}: mean NRMSE, updated as printed"] = _over_tests(printed.mean(axis=2))
        values[f"{hazard}: mean NRMSE, constant"] = _over_tests(constant.mean(axis=2))
        ratios = {name: _ratio(tests, hazard, name, seeds) for name in names if name != SAME}
        worst = max(ratio for name, ratio in ratios.items() if name != RUBBING)
        values[f"{hazard}: updated over constant, noise-free, worst specimen that differs"] = worst
        values[f"{hazard}: updated over constant with seal friction, noise-free"] = ratios[RUBBING]
        each = [
            result[f"ours|{name}|{seed}"]["tracking"]
            for key, result in tests.items()
            if key[0] == hazard
            for name in names
            for seed in seeds[hazard]
        ]
        values[f"{hazard}: tracking, NRMSE without noise"] = float(np.mean(each))
    return values


def _ratio(tests, hazard, name, seeds):
    """Mean error over tests and followers, updated over constant, without the noise of the repetition."""
    kinds = ("updated free", "constant free")
    updated, constant = (_errors(tests, hazard, name, seeds, kind).mean() for kind in kinds)
    return float(updated / constant)


def _over_tests(errors):
    return Seeds.of(errors.ravel())


def _filter(tests, names):
    runs = [result[f"wrong|{name}"] for result in tests.values() for name in names]
    froze = [one["frozen"] for result in tests.values() for key, one in result.items() if key.startswith("ours|")]
    return {
        "hybrid tests in which our filter froze": float(np.sum(froze)),
        "runs finished with the nearest definite covariance": float(np.mean([not r["repair nearest"] for r in runs])),
        "estimates inside their bounds": float(np.mean([r["inside"] for r in runs])),
        "runs that fail without repair, as printed": float(np.mean([r["repair printed"] > 0 for r in runs])),
        "runs that fail without repair, single precision": float(np.mean([r["repair single"] > 0 for r in runs])),
        "runs that fail without repair, our sums": float(np.mean([r["repair none"] > 0 for r in runs])),
    }


def _tower(checked):
    values = {}
    for hazard in HAZARDS:
        ours = np.array(checked[f"frequencies {hazard}"]["found"][:5])
        off = 100 * np.abs(ours / np.array(PRINTED_FREQUENCIES[hazard]) - 1.0)
        values[f"frequencies of the {hazard} model, largest deviation"] = float(off.max())
    if "convergence" in checked:
        key = "damper forces at the step that was chosen, NRMSE against half a tick"
        values[key] = checked["convergence"][str(CHOSEN)]["force"]
        values["condensed against whole tower, largest difference over the peak"] = checked["condensed"]
        for direction in SUPPLEMENTAL:
            values[f"supplemental damping, {direction}"] = checked[direction]["supplemental"]
    return values


def _building(buildings, each):
    earthquakes, winds = ([buildings[*key, True] for key in each if key[0] == hazard] for hazard in HAZARDS)
    roof = [float(np.hypot(r["residual ux"][-1], r["residual uz"][-1])) for r in earthquakes]
    left = [
        float(np.hypot(r["residual ux"][-1], r["residual uz"][-1]) / np.hypot(r["peak ux"][-1], r["peak uz"][-1]))
        for r in winds
    ]
    values = {
        "residual displacement of the roof after the earthquake": 1e3 * float(np.mean(roof)),
        "residual displacement of the roof after the wind, over its peak": 100 * float(np.mean(left)),
        "braces that yield in the wind": float(max(r["yielded"] for r in winds)),
        "peak ductility of a brace in the earthquake": float(np.mean([r["ductility"] for r in earthquakes])),
        "peak acceleration at the centre of floor 40 in the wind": float(
            np.mean([r["centre"][-1] for r in winds]) / 9.81e-3
        ),
    }
    for floor in (20, 30, 40):
        more = [100 * float(r["corner"][floor - 1] / r["centre"][floor - 1] - 1.0) for r in winds]
        values[f"corner over centre acceleration in the wind, floor {floor}"] = float(np.mean(more))
    return values
