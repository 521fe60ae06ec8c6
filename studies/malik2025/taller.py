"""One network at several places of a frame it has never known: four stories, columns that yield, other periods.

The specimen stands in the first story behind its actuator. Every other story has a damper of the same make, so that
afterwards each place has a truth of its own; a reference run has specimens everywhere.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyloop import Site
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.study.build import build

from .frame import COUNT
from .looped import SEED, drawn_device, sibling, site_words
from .motions import Motion
from .scores import scores
from .specimens import moved

FILE = Path(__file__).parent / "taller.toml"
PLACES = (2, 3, 4)  # stories with a model
# stiffness of the stories in N/m and yield forces in N: the columns have 70 % of the stiffness; stiff or soft frame
STORIES = {
    "stiff": ((48e6, 43e6, 36e6, 26e6), (210e3, 185e3, 150e3, 105e3)),
    "soft": ((16e6, 14.3e6, 12e6, 8.8e6), (130e3, 115e3, 95e3, 65e3)),
}
ELASTIC = 0.3
CHANNELS = ("u.*", "damper?.d", "damper?.f")


@dataclass(frozen=True)
class TallTest:
    """One test: its recording, and the force of the specimen of each place under the deformation it had."""

    result: Recording
    truth: dict[int, np.ndarray]

    def errors(self) -> np.ndarray:
        """NRMSE in % of every place."""
        return np.array([scores(f, self.result[f"damper{s}.f"])[0] for s, f in self.truth.items()])

    def roof(self) -> float:
        """Largest displacement of the roof, m."""
        return float(np.abs(self.result["u.4"]).max())


def tall_test(
    kind: str, level: float, motion: Motion, model: str | Path, number: int = 0, frame: str = "soft"
) -> TallTest:
    """Run a test; `model` as in `looped.hybrid_test`, the same at all places."""
    words = [
        f"seed={SEED + number}",
        f"sites.damper1.device={drawn_device(kind, level)}",
        'recording.channels=["ground"]',
        *_frame(frame),
    ]
    for story in PLACES[: 1 if isinstance(model, Path) else None]:  # the other places of the file are like the first
        words += site_words(kind, level, model, story)
    loop = build(load_experiment(FILE, words)).loop
    named = {site.name: site for site in loop.sites}
    others = {story: sibling(named["damper1"], number, story) for story in PLACES}
    if model == "specimen":
        loop = loop.replace(
            sites={
                f"damper{s}": Site(f"damper{s}", named[f"damper{s}"].along, other, count=COUNT)
                for s, other in others.items()
            }
        )
    result = loop.run(motion.a, record=CHANNELS)
    return TallTest(result, {s: moved(other, result[f"damper{s}.d"])["f"] for s, other in others.items()})


def periods(frame: str) -> list[float]:
    """The longest natural periods in s of a frame with its columns, without dampers."""
    from hyloop.structure import shear_frame

    return [float(T) for T in shear_frame([14e3] * 4, STORIES[frame][0]).modes().periods[:2]]


def _frame(frame: str) -> list[str]:
    """Stiffness and strength of the stories, as changes of the file."""
    stiffness, strength = STORIES[frame]
    words = [f"structure.stiffnesses={[ELASTIC * k for k in stiffness]}"]
    for story, (k, f_y) in enumerate(zip(stiffness, strength, strict=True), start=1):
        words += [
            f"sites.columns{story}.device.k={(1.0 - ELASTIC) * k:.9g}",
            f"sites.columns{story}.device.f_y={f_y:.9g}",
        ]
    return words
