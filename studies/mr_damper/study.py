"""A real magnetorheological damper: learned from sines, tested once on an earthquake at currents never seen."""

import numpy as np

from hyloop.study.seeds import Seeds, Value
from hyloop.study.tasks import Task

from . import authors, pages, second
from .calibration import SECONDS, calibrated, errors, force, scaled
from .fits import FILES
from .records import CURRENTS, MOTIONS, QUAKE_CURRENTS, quakes, sines

SEEDS = (3, 4, 5, 6, 7, 8)  # 0 to 2 were in view when settings were chosen
HEARD = 0.6  # A, the current of which the first seconds are heard; said before the earthquake was looked at
SECOND = "second look: law that flows behind its gap, after 10 s at 1 A"
SECOND_FILES = ("second.py", "flowing.py", "records.py", "averages.py", "law.toml")
QUICK_NOTE = (
    "The quick run takes both laws as they were found (law.toml, second.toml), and fits nothing: no networks, nothing "
    "left out."
)


def run(job):
    """Values of all claims."""
    theirs = {velocity: authors.errors(velocity) for velocity in ("zero-phase", "causal")}
    values: dict[str, Value] = {f"authors' law, {i:g} A": theirs["zero-phase"][i] for i in QUAKE_CURRENTS}
    if job.quick:
        job.notes.append(QUICK_NOTE)
        laws, networks = {"all": pages.read_law(job.folder)}, {}
        flows = pages.read_law(job.folder, pages.SECOND)
    else:
        laws, networks = _fits(job)
        task = Task("law that flows behind its gap", "second:law", (), SECOND_FILES)
        flows = job.work("second look", [task])[task.name]
        pages.save_law(job.out, flows, pages.SECOND)
    from . import models  # here: JAX takes seconds to import

    frozen = {"law alone": [models.frozen(models.law_layer(laws["all"]))]}
    if networks:
        frozen["law and network"] = _frozen(job, laws["all"], networks)
        pages.save_law(job.out, laws["all"])
        pages.chosen(job, laws, networks)
    tested = {name: [_tested(each) for each in some] for name, some in frozen.items()}
    for name, some in tested.items():
        for claim, key in (("from the sines alone", "before"), ("after 10 s at one current", "after")):
            mean = Seeds.of(float(np.mean([one[key][i] for i in QUAKE_CURRENTS])) for one in some)
            value = mean if len(some) > 1 else mean.mean
            values |= {f"{name}, {claim}": value, f"{name}, {claim}, further goal": value}
    if not job.quick:
        unaware = models.frozen(models.law_layer(laws["averages not known"]))
        tested["law alone, averages not known"] = [_tested(unaware, known=False)]
    values["law alone, 12 numbers against the authors' 12"] = values["law alone, from the sines alone"]
    pages.answer(job, theirs, tested, frozen)
    after = second.errors(flows)
    mean = float(np.mean(list(after.values())))
    values |= {SECOND: mean, f"{SECOND}, further goal": mean}
    pages.second_look(job, after, flows)
    return values


def _fits(job):
    """Parameters of the law by what was left out, and networks by seed."""
    tasks: dict[object, Task] = {"all": Task("law", "fits:law", (), FILES)}
    tasks |= {m: Task(f"law without {m}", "fits:law", (m,), FILES) for m in MOTIONS}
    tasks |= {c: Task(f"law without {c:g} A", "fits:law", (None, c), FILES) for c in CURRENTS}
    tasks["averages not known"] = Task("law, averages not known", "fits:law", (None, None, False), FILES)
    found = job.work("laws", list(tasks.values()))
    laws = {key: found[task.name] for key, task in tasks.items()}
    tasks = {seed: Task(f"network, seed {seed}", "fits:network", (seed, laws["all"]), FILES) for seed in SEEDS}
    for motion in MOTIONS:
        name, arguments = f"network without {motion}", (SEEDS[0], laws[motion], motion)
        tasks[motion] = Task(name, "fits:network", arguments, FILES)
    found = job.work("networks", list(tasks.values()))
    return laws, {key: found[task.name] for key, task in tasks.items()}


def _frozen(job, law, networks):
    """Networks as blocks of the loop; that of the first seed is kept in the folder of results."""
    from . import fits, models

    made = []
    for seed in SEEDS:
        layer = fits.restored(law, seed, networks[seed])
        block = models.frozen(layer, seed)
        error = float(np.mean(errors(block, sines())))
        made.append(models.frozen(layer, seed, **{"NRMSE of the sines, %": error}))
    made[0].save(job.out / "mr_damper.safetensors")
    return made


def _tested(frozen, known=True):
    """Errors in % by current before and after the calibration, its factors, and forces of the earthquake tests."""
    found = quakes(known)
    heard = found[HEARD]
    factors = calibrated(frozen, heard)
    rest = slice(round(SECONDS / heard.dt), None)
    result = {"before": {}, "after": {}, "readings": {}, "factors": factors, "force": {}, "calibrated": {}}
    for i, seen in found.items():
        f, g = force(frozen, seen), force(scaled(frozen, factors), seen)
        result["before"][i] = seen.nrmse(f)
        result["after"][i] = seen.nrmse(g, rest if i == HEARD else slice(None))
        result["force"][i], result["calibrated"][i] = f, g
        result["readings"][i] = pages.against_readings(seen, f) if known else np.nan
    return result
