"""Two devices in laboratories, heard by one place: a network that hears both beside one that hears the first alone.

The second one may move along in another story, or run another test altogether; what it then tells is what devices of
this make are like.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from hyloop.files.load import load_experiment
from hyloop.neural import load_network
from hyloop.study.build import build

from .looped import SEED, drawn_device, sibling
from .motions import Motion
from .scores import listening, scores, table
from .specimens import Run, moved

FILE = Path(__file__).parent / "two_laboratories.toml"
PLACES = (3, 4)  # stories with a model; the two below have dampers in laboratories
ORDERS = ("first moves along", "first moves otherwise")  # who hears two then hears the other case from the second


def validated(paths: Mapping[str, Path], runs: Sequence[Run]) -> dict[tuple[str, str], float]:
    """NRMSE in % on histories, by "one" or "two" devices heard and what the first does."""
    found = {}
    for model, kind in (("one", "listening"), ("two", "two")):
        for order, hears in zip(ORDERS, ("own run", "another"), strict=True):
            heard = listening(load_network(paths[kind]), kind, hears=hears)
            found[model, order] = float(table(heard, runs)[:, 0].mean())
    return found


def looped(kind: str, level: float, motion: Motion, path: Path, number: int = 0, *, both: bool = True) -> np.ndarray:
    """NRMSE in % of every place in a hybrid test with two measured devices; a place hears both or the first."""
    words = [f"seed={SEED + number}", f"sites.damper1.device={drawn_device(kind, level)}"]
    words += [f"sites.damper3.device.network={path}", 'recording.channels=["ground"]']
    words += [] if both else ['sites.damper3.hears="damper1"']
    loop = build(load_experiment(FILE, words)).loop
    first = next(site for site in loop.sites if site.name == "damper1")
    result = loop.run(motion.a, record=("damper?.d", "damper?.f"))
    truth = {s: moved(sibling(first, number, s), result[f"damper{s}.d"])["f"] for s in PLACES}
    return np.array([scores(f, result[f"damper{s}.f"])[0] for s, f in truth.items()])
