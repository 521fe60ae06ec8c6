"""The Bouc-Wen benchmark: black box, law with a learned correction, and white box, judged on signals nobody fitted."""

from time import perf_counter

import numpy as np

from hyloop.neural import load_network
from hyloop.study.seeds import Seeds, Value
from hyloop.study.tasks import Task

from . import fits, models, pages, records
from .fits import FILES

TUNED, FRESH = (0, 1, 2), (3, 4, 5)  # seeds: seen while the schedule was fixed, and run once after
SOURCES = ("own", "estimation")
SHIPPED = "black_box.safetensors"
REPEATS = 20_000  # ticks over which a step is timed
QUICK = (
    "The quick run judges the engine and the white box from the estimation record; of the networks it runs one that a "
    "full run has trained (black_box.safetensors): shown, and not judged."
)


def run(job):
    """Values of all claims; a quick run judges what takes seconds."""
    tests = records.tests()
    values: dict[str, Value] = {"engine with the published parameters": pages.engine(tests[0])}
    rows = []
    whites = _white_boxes(job)
    for source, found in whites.items():
        instance = models.bouc_wen_oscillator(**found["parameters"])
        rows.append(_row("white box", source, "-", [instance], tests, models.LAW_TICKS))
        values |= pages.white_values(source, found, rows[-1])
    pages.white_table(job, whites)
    if job.quick:
        job.notes.append(QUICK)
        shipped = load_network(job.folder / SHIPPED).device()
        rows.append(_row("black box", "own", FRESH[:1], [shipped], tests, models.BLACK_TICKS))
    else:
        rows += _networks(job, tests, values)
    pages.answer(job, rows, tests)
    return values


def _white_boxes(job):
    """Parameters by source; in this process and every time, because the time is part of the answer."""
    found = {}
    for source in SOURCES[1:] if job.quick else SOURCES:
        job.progress(f"white box from {source} records", 0.0)
        found[source] = fits.white_box(source)
    return found


def _networks(job, tests, values):
    """Rows of the black boxes and of the law with its correction, and the values of their claims."""
    alone = {s: Task(f"law alone, {s}", "fits:law_alone", (s,), FILES) for s in SOURCES}
    found = job.work("law alone", list(alone.values()))
    laws = {source: found[task.name] for source, task in alone.items()}
    tasks = {}
    for seed in (*TUNED, *FRESH):
        for source in SOURCES:
            name = f"law and network, {source}, seed {seed}"
            arguments = (source, seed, laws[source])
            tasks["law and network", source, seed] = Task(name, "fits:law_and_network", arguments, FILES)
            name = f"black box, {source}, seed {seed}"
            tasks["black box", source, seed] = Task(name, "fits:black_box", (source, seed), FILES)
    found = job.work("networks", list(tasks.values()))
    rows = [
        _row("law alone", source, "-", [models.dahl_oscillator(**laws[source])], tests, models.LAW_TICKS)
        for source in SOURCES
    ]
    for kind, factor in (("black box", models.BLACK_TICKS), ("law and network", models.LAW_TICKS)):
        for source in SOURCES:
            start, used = fits.start(source), fits.training(source)
            for seeds in (TUNED, FRESH):
                blocks = []
                for seed in seeds:
                    like = (
                        models.black_box(start, seed) if kind == "black box" else models.corrected(laws[source], seed)
                    )
                    model = models.restored(like, found[tasks[kind, source, seed].name])
                    blocks.append(models.frozen(model, start, used, seed))
                rows.append(_row(kind, source, seeds, [block.device() for block in blocks], tests, factor))
                if seeds == FRESH:  # all seeds are judged: one fresh seed alone would say too little
                    values |= pages.network_values(kind, source, rows[-2:])
                if (kind, source, seeds) == ("black box", "own", FRESH):
                    blocks[0].save(job.out / SHIPPED)
    return rows


def _row(kind, source, seeds, blocks, tests, factor):
    """What one kind of model gave: errors of validation and tests by seed, and the time of a step."""
    held = fits.validation(source)
    part = slice(-fits.HELD, None) if source == "estimation" else slice(None)
    residuals = [models.displacement(block, held, factor)[part] - held.y[part] for block in blocks]
    return pages.Row(
        kind,
        source,
        seeds,
        Seeds.of(np.sqrt(np.mean(r**2)) for r in residuals),
        {seen.name: Seeds.of(models.error(block, seen, factor) for block in blocks) for seen in tests},
        models.displacement(blocks[0], tests[0], factor),
        _step_time(blocks[0], factor),
        factor,
    )


def _step_time(block, factor) -> float:
    """Median time in µs of a tick of the compiled block, of five runs."""
    u = np.resize(records.ticks(fits.training("estimation")[0], factor)[0], REPEATS)
    times = []
    for _ in range(5):
        began = perf_counter()
        block.drive(1 / (records.RATE * factor), u=u)
        times.append(1e6 * (perf_counter() - began) / len(u))
    return float(np.median(times))
