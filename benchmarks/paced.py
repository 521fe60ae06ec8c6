"""How well whole hybrid tests keep their time: computing time and lateness of every tick, recording on.

`hyloop bench paced` takes two minutes for each of two tests on the clock:

- `experiments/live_six_story.toml` at 1024 Hz: six stories, a virtual specimen behind ATS, actuator and sensor, an
  unscented filter whose parameters four dampers follow, a network that listens behind a guard; 64 channels recorded.
- The servo-hydraulic plant of the benchmark problem of Silva et al. (2020) at 4096 Hz, behind ATS; all its channels.

Goal for the first: 99.9 % of the ticks compute for less than a quarter of the tick. `python -m benchmarks.paced
--seconds 5` is short. With `--page` the first runs four times instead, in turns alone and with its page open in a real
browser (Chromium), so that what disturbs the machine disturbs both alike; goal: the 99 % quantiles differ by less than
a tenth.
"""

import argparse
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from hyloop import Loop
from hyloop.files.load import load_experiment
from hyloop.hazards import band_limited_noise
from hyloop.live import PageServer
from hyloop.loop import PacedRun, Pacing, Timing
from hyloop.record import Recorder, Recording
from hyloop.study.build import build

__all__ = ["Case", "compared", "frame", "paced", "page", "plant", "run"]

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "experiments" / "live_six_story.toml"
SECONDS = 120.0
QUANTILES = {"50 %": 0.5, "99 %": 0.99, "99.9 %": 0.999, "99.99 %": 0.9999, "largest": 1.0}
RATE, RMS = 4096, 0.3  # Hz, and m/s2 of the ground: the rig then stays well within its stroke

Beside = Callable[[PacedRun], AbstractContextManager[Any]]
"""What goes on beside a run, such as a page that shows it; the state, rows and times of the run lie on its `board`."""


class Case(NamedTuple):
    """A test that can be run again and again."""

    name: str
    loop: Loop
    rows: np.ndarray
    record: list[str]
    shown: Callable[[], Callable[[Recording], Recording]]  # a new one for every run: what is recorded of its pieces
    overrun: str


def frame(seconds: float = SECONDS) -> Case:
    """The six-story frame with all that a test may have."""
    experiment = load_experiment(FILE, [f"excitation.duration={seconds:g} s"])
    built = build(experiment)
    own, derived = built.recorded()
    assert derived is not None

    def shown() -> Callable[[Recording], Recording]:
        joining = built.loop.derived()
        return lambda piece: joining.joined(piece, own, 1)

    record = list(dict.fromkeys([*own, *derived.sources]))
    return Case("six-story frame, 1024 Hz", built.loop, built.excitation, record, shown, experiment.pace.overrun)


def plant(seconds: float = SECONDS) -> Case:
    """The servo-hydraulic plant under its structure."""
    laboratory, schemes = (import_module(f"studies.silva2020.{name}") for name in ("laboratory", "schemes"))
    loop = laboratory.loop(schemes.scheme("ATS"), laboratory.Setting())
    ground = band_limited_noise(RMS, 0.3, 5.0, seconds, 1 / RATE, seed=1)
    return Case("servo-hydraulic plant, 4096 Hz", loop, loop.rows(ground), ["*"], lambda: lambda piece: piece, "go on")


def run(case: Case, beside: Beside | None = None, core: int | None = None) -> Timing:
    """One run on the clock, recorded into a file as `hyloop run --paced` does; the loop on a core, if one is named."""
    pacing = Pacing(overrun=case.overrun, core=core)
    going = PacedRun(case.loop, case.rows, record=case.record, every="tick", pacing=pacing, shared={"title": case.name})
    assert going.board is not None
    try:
        with TemporaryDirectory() as folder, (beside or nullcontext)(going):
            _recorded(going, case, Path(folder) / "run.h5")
    finally:
        going.board.remove()
    return going.timing


def _recorded(going: PacedRun, case: Case, path: Path) -> None:
    shown, first = case.shown(), going.rows(0, 0)
    start = shown(Recording(np.zeros(1), going.first, first.names, first.units, first.attributes))
    with Recorder(path, start.names, start.units, case.loop.dt / case.loop.substeps) as recorder:
        recorder.write(start.data)
        for piece in going.pieces():
            recorder.write(shown(piece).data)


def compared(case: Case, beside: Mapping[str, Beside], rounds: int = 2, core: int | None = None) -> dict[str, Any]:
    """Runs of a test in turns, A B A B; of each its times, and `ratio` of its 99 % quantiles to those of the first.

    With a core for the loop, all else, a browser included, keeps to the others.
    """
    if core is not None:
        os.sched_setaffinity(0, os.sched_getaffinity(0) - {core})
    timings: dict[str, list[Timing]] = {name: [] for name in beside}
    for _ in range(rounds):
        for name, one in beside.items():
            timings[name].append(run(case, one, core))
    found: dict[str, Any] = {name: told(case.name, timing) for name, timing in timings.items()}
    first = next(iter(found.values()))
    for one in found.values():
        one["ratio"] = {key: one[key]["99 %"] / first[key]["99 %"] for key in ("computes", "late")}
    return found


@contextmanager
def page(going: PacedRun) -> Iterator[None]:
    """The live page of a run, open in a browser on this machine."""
    from playwright.sync_api import sync_playwright

    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    assert going.board is not None
    with PageServer() as server, sync_playwright() as playwright:
        server.start("board", going.board.path)
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shown = started.new_page(viewport={"width": 1400, "height": 900})
        shown.goto(server.url)
        yield
        draws = shown.evaluate("hyloop.stats.draws")
        print(f"the page has drawn {draws} times")
        started.close()


def told(name: str, timings: Sequence[Timing]) -> dict[str, Any]:
    """Quantiles of all ticks of some runs in µs, and how many were too late."""
    work, late = (np.concatenate([getattr(one, key) for one in timings]) for key in ("work", "lateness"))
    tick = timings[0].tick
    return {
        "name": name,
        "tick": 1e6 * tick,
        "ticks": len(work),
        "computes": {key: 1e6 * float(np.quantile(work, q)) for key, q in QUANTILES.items()},
        "share": {key: float(np.quantile(work, q)) / tick for key, q in QUANTILES.items()},
        "late": {key: 1e6 * float(np.quantile(late, q)) for key, q in QUANTILES.items()},
        "overruns": sum(one.overruns for one in timings),
        "refused": list(dict.fromkeys(text for one in timings for text in one.refused)),
    }


def lines(found: Mapping[str, Any]) -> list[str]:
    """What `told` says, as a small table."""
    rows = [f"{found['name']}: {found['ticks']} ticks of {found['tick']:.1f} µs"]
    rows.append(f"{'':14s}" + "".join(f"{key:>10s}" for key in QUANTILES))
    for what, key, scale in (
        ("computes, µs", "computes", 1.0),
        ("of a tick, %", "share", 100.0),
        ("late, µs", "late", 1),
    ):
        rows.append(f"{what:>14s}" + "".join(f"{scale * found[key][q]:10.3g}" for q in QUANTILES))
    return [*rows, f"{'too late':>14s}{found['overruns']:10d}", *(f"note: {text}" for text in found["refused"])]


def paced(seconds: float = SECONDS) -> dict[str, Any]:
    """Both tests; the numbers of the report are computing times of the first, and its peer is the second."""
    ours, other = (told(case.name, [run(case)]) for case in (frame(seconds), plant(seconds)))
    median, there = ours["computes"]["50 %"], other["computes"]["50 %"]
    return {
        "name": "paced",
        "median": median,
        "p99": ours["computes"]["99 %"],
        "p999": ours["computes"]["99.9 %"],
        "unit": "us",
        "peers": {other["name"]: {"median": there, "ratio": there / median}},
        "tests": [ours, other],
        "lines": [*lines(ours), *lines(other)],
    }


def main() -> None:
    """Print the times of both tests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each test")
    parser.add_argument("--page", action="store_true", help="the first test alone and with its page in a browser")
    parser.add_argument("--core", type=int, help="with --page: a core that the loop has for itself")
    given = parser.parse_args()
    if not given.page:
        print("\n".join(paced(given.seconds)["lines"]))
        return
    both = {"alone": lambda _: nullcontext(), "page": page}
    for beside, found in compared(frame(given.seconds), both, core=given.core).items():
        ratio = found["ratio"]
        print("\n".join([f"{beside}:", *lines(found)]))
        print(f"{'99 % over alone':>14s}  computes {ratio['computes']:.3f}, late {ratio['late']:.3f}")


if __name__ == "__main__":
    main()
