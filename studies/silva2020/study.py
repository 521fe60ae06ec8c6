"""The RTHS benchmark of Silva et al. (2020): its baseline repeated, our compensators ranked, and harder variants."""

from hyloop.study.tasks import Task

from .benchmark import ground
from .campaign import COLUMNS, FILES, VARIANTS
from .criteria import NUMBERS
from .laboratory import PERFECT
from .printed import BASELINE, FLOOR
from .schemes import COLD, FIXED, OURS, SEEDED
from .tables import above_floor, column, show_baseline, show_many, show_ranking, show_variants

SAMPLE = "PI + lead"
PLANTS, OTHERS, PIECE = 1000, 250, 50  # random plants of ours (in all cases), of the others (in one each), of a task
TWENTY = 20  # plants of the ranking
HARD_CASES = (1, 4)
HARD_SCHEMES = (PERFECT, OURS, "ATS", "conditional ATS", "AMB", "inverse, 3rd order")
MANY = {OURS: PLANTS, "ATS": OTHERS, "conditional ATS": OTHERS, "AMB": OTHERS}


def run(job):
    """Values of all claims; a quick run repeats the published table and the floor."""
    ground("elcentro")  # is it there?
    names = (SAMPLE, PERFECT)
    found = job.work("baseline", [Task(name, "campaign:nominal", (name,), FILES) for name in names])
    values = _baseline(found[SAMPLE])
    values["perfect rig: farthest from the stated floor"] = max(
        abs(row[COLUMNS.index(key)] - stated)
        for case, row in enumerate(found[PERFECT], start=1)
        for key, stated in FLOOR[case].items()
    )
    show_baseline(job, found[SAMPLE], found[PERFECT])
    if job.quick:
        return values
    return values | _ranking(job, found[PERFECT]) | _variants(job) | _many(job)


def _baseline(rows):
    values = {}
    for case, printed in BASELINE.items():
        for k, (key, (number, _)) in enumerate(NUMBERS.items()):
            assert len(printed) == len(NUMBERS)
            values[f"case {case}, {number}: {key.replace('_', ' ')}"] = rows[case - 1][k]
    return values


def _ranking(job, perfect):
    random = [PERFECT, OURS, *SEEDED]
    tasks = [Task(f"20 plants, {name}", "campaign:ranking", (name, TWENTY), FILES) for name in random]
    tasks += [Task(f"nominal, {name}", "campaign:nominal", (name,), FILES) for name in FIXED]
    found = job.work("ranking", tasks)
    rows = {name: found[f"20 plants, {name}"] for name in random}
    show_ranking(job, rows, {name: found[f"nominal, {name}"] for name in FIXED})
    return {
        f"{name}: most above the stated floor, cases 1 to 4": above_floor(rows[name]) for name in ("ATS", "AMB", OURS)
    }


def _variants(job):
    pairs = [(name, harder) for harder in VARIANTS for name in HARD_SCHEMES]
    tasks = [
        Task(f"{harder}, {name}".replace(",", ""), "campaign:variant", (name, harder, HARD_CASES), FILES)
        for name, harder in pairs
        if not (name == PERFECT and harder.startswith("cold"))
    ]
    found = job.work("harder variants", tasks)
    rows = {pair: found[key] for pair in pairs if (key := f"{pair[1]}, {pair[0]}".replace(",", "")) in found}
    show_variants(job, rows, HARD_CASES)
    ours = [row for (name, _), two in rows.items() if name == OURS for row in two]
    return {
        f"harder variants, {OURS}: worst tracking of the true displacement": max(column(ours, "true_tracking")),
        f"harder variants, {OURS}: unstable runs": sum(column(ours, "stable") == 0.0),
        "no noise, case 1, ATS: tracking": rows["ATS", "no noise"][0][COLUMNS.index("true_tracking")],
        "no noise, case 1, AMB: tracking": rows["AMB", "no noise"][0][COLUMNS.index("true_tracking")],
        f"no noise, case 1, {OURS}: tracking": rows[OURS, "no noise"][0][COLUMNS.index("true_tracking")],
    }


def _many(job):
    tasks = [
        Task(f"{name}, plants from {first}", "campaign:many", (name, COLD, first, first + PIECE, name == OURS), FILES)
        for name, count in MANY.items()
        for first in range(0, count, PIECE)
    ]
    found = job.work("random plants", tasks)
    rows = {
        name: [row for first in range(0, count, PIECE) for row in found[f"{name}, plants from {first}"]]
        for name, count in MANY.items()
    }
    show_many(job, rows)
    worst = max(column(rows[OURS], "tracking"))
    return {
        "1000 plants, cold: worst tracking": worst,
        "1000 plants, cold: worst tracking, own goal": worst,
        "1000 plants, cold: unstable runs": sum(column(rows[OURS], "stable") == 0.0),
        "1000 plants, cold: worst tracking of the true displacement": max(column(rows[OURS], "true_tracking")),
    }
