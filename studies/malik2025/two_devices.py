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

FILE = Path(__file__).parent / "two_devices.toml"
PLACES = (2, 3)  # stories with a network
ORDERS = ("first moves along", "first moves otherwise")  # who hears two then hears the other case from the second
CHANNELS = ("damper?.d", "damper?.f")


def validated(paths: Mapping[str, Path], runs: Sequence[Run]) -> dict[tuple[str, str], float]:
    """NRMSE in % on histories, by "one" or "two" devices heard and what the first does."""
    found = {}
    for model, kind in (("one", "listening"), ("two", "two")):
        for order, hears in zip(ORDERS, ("own run", "another"), strict=True):
            heard = listening(load_network(paths[kind]), kind, hears=hears)
            found[model, order] = float(table(heard, runs)[:, 0].mean())
    return found


def looped(kind: str, level: float, shakes: Sequence[Motion], paths: Mapping[str, Path]) -> dict[str, dict[str, float]]:
    """NRMSE in %, mean of the places, in the frame with devices in the first and in the fourth story, by event."""
    each = {"one": paths["listening"], "two": paths["two"]}
    return {
        model: {motion.event: float(two_sites_test(kind, level, motion, path).mean()) for motion in shakes}
        for model, path in each.items()
    }


def two_sites_test(kind: str, level: float, motion: Motion, network: Path, number: int = 0) -> np.ndarray:
    """NRMSE in % of each place in a test with two physical devices."""
    one = "f1" in load_network(network).block.inputs
    words = [
        f"seed={SEED + number}",
        f"sites.damper1.device={drawn_device(kind, level)}",
        f"sites.damper2.device.network={network}",
        *(['sites.damper2.hears="damper1"'] if one else []),
    ]
    loop = build(load_experiment(FILE, words)).loop
    first = next(site for site in loop.sites if site.name == "damper1")
    result = loop.run(motion.a, record=CHANNELS)
    truth = {s: moved(sibling(first, number, s), result[f"damper{s}.d"])["f"] for s in PLACES}
    return np.array([scores(f, result[f"damper{s}.f"])[0] for s, f in truth.items()])
