"""Tables and claims of the band: scores compared on validation events, the chosen one judged on test events."""

from pathlib import Path

from hyloop.metrics import compare_bands
from hyloop.neural import load_network
from hyloop.report.page import Table
from hyloop.study.tasks import Task

from . import bands
from .data import split

TEST = (("test", (0,), tuple(range(601, 606))),)
THREE = ("floor", "force", "spread")  # chosen for three networks on validation events, as ONE for a single network
ONE = ("floor", "force")
TRIED = {
    1: (("floor",), ONE, ("floor", "twin"), ("floor", "force", "twin")),
    3: (("floor",), ("floor", "force"), ("floor", "spread"), THREE, ("floor", "force", "spread", "twin")),
}


SOURCES = ("banded.py", "bands.py", "data.py", "frame.py", "motions.py", "networks.py", "scores.py", "specimens.py")


def run(job, paths):
    """Values of the claims and tables by kind of specimen, from the paths of its networks; each kind is a task."""
    tasks = {
        kind: Task(f"{kind}, band", "banded:judged", (kind, names), (*SOURCES, "baselines.py", *files))
        for kind, some in paths.items()
        if (names := [path.name for path in some[:3]]) and (files := [f"networks/{name}" for name in names])
    }
    found = job.work("bands", list(tasks.values()))
    return {kind: found[task.name] for kind, task in tasks.items()}


def judged(kind, names):
    """Values of the claims, of the first three networks together; the first alone has a table for its own q."""
    networks = [load_network(Path(__file__).parent / "networks" / name) for name in names]
    events, heard = list(dict.fromkeys(split()["validation"].values())), {}
    for side, groups in (("fitting", bands.FITTING), ("calibrating", bands.CALIBRATING), ("test", TEST)):
        heard[side] = [(run, bands.heard(kind, networks, run)) for run in bands.drawn(kind, groups)]
    found, rows, tables = {}, [], []
    for count, chosen in ((1, ONE), (3, THREE)):
        if count > len(networks):
            continue
        fitting, calibrating = ([one[count] for _, one in heard[side]] for side in ("fitting", "calibrating"))
        for parts in TRIED[count]:
            weights = bands.weigh(fitting, parts)
            q = bands.factor(calibrating, weights)
            rows.append(_tried(count, weights, q, calibrating, events))
            if parts == chosen:
                found, shown = _judged(kind, count, [(run, one[count]) for run, one in heard["test"]], weights, q)
                tables.append(shown)
    title = f"Specimen '{kind}': scores of a band of 90 %, each validation event left out in turn; widths in N"
    head = ["networks", "score", "q", *events, "runs with 80 to 97 %", "width", "interval score"]
    return found, [*tables, Table(title, head, rows)]


def _tried(count, weights, q, runs, events):
    """A row: a score, and how it does on events its q has not known."""
    out = bands.left_out(runs, weights, events)
    words = " + ".join(f"{weight:.3g} {part}" for part, weight in weights.items())
    numbers = [*(f"{100 * share:.1f}" for share in out.coverage), f"{100 * out.inside:.0f}", f"{out.width:.0f}"]
    return [str(count), words, f"{q:.3f}", *numbers, f"{out.interval:.0f}"]


def _judged(kind, count, there, weights, q):
    """The claims, and coverage of every run of the test events."""
    judged = compare_bands(q, [one.error for _, one in there], [one.score(weights) for _, one in there])
    rows = [
        [run.name, f"{run.level / 1e3:.0f}", f"{100 * share:.1f}"]
        for (run, _), share in zip(there, judged.by_run, strict=True)
    ]
    said = f"{100 * judged.pooled:.1f} % pooled, {judged.width:.0f} N wide, {judged.narrower:.3f} of a constant band"
    title = f"Specimen '{kind}': band of {count} on test events: {said}"
    shown = Table(title, ["run", "capacity kN", "samples in the band %"], rows, folded=True)
    first = f"{kind}, band on test events"
    found = {
        f"{first}: pooled coverage": 100 * judged.pooled,
        f"{first}: runs with 80 to 97 %": 100 * bands.inside(judged.by_run),
        f"{first}: width over a constant band": judged.narrower,
    }
    return found, shown
