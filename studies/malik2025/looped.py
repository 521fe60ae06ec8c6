"""The hybrid test itself: frame, specimen behind actuator and compensator, and a model in the second story.

Afterwards the deformation of the second story is imposed on a second specimen, as a laboratory would do with its own,
and the force of the model is compared with what that gives. A reference run has specimens in both stories.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hyloop import Site
from hyloop.core.block import Instance
from hyloop.devices.brfd import draw_sibling
from hyloop.files.examples import find_example
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.study.build import build

from .baselines import TUNED, fitted_lugre
from .frame import COUNT, DT
from .motions import Motion
from .scores import scores
from .specimens import CENTRED, MISMATCH, SPECIMENS, moved

LAWS = {"gap-slip": "brfd_gap_slip", "stick-slip": "brfd_stick_slip"}
SEED = 404  # of the devices of the test runs
PLACES = ("column_base", "beam_end")  # sections that the experiment names
CHANNELS = ("u.*", "damper?.d", "damper?.f", "damper1.d", "damper1.actuator.d", *(f"{place}.*" for place in PLACES))


@dataclass(frozen=True)
class Test:
    """One hybrid test: its recording, the force of the specimen in the second story, and what its sections felt."""

    result: Recording
    truth: np.ndarray
    sections: dict[str, np.ndarray]  # moment and curvature (samples, 2) by place

    @property
    def scores(self) -> np.ndarray:
        """NRMSE in %, MAE in kN, R2 and TRAC of the force in the second story."""
        return scores(self.truth, self.result["damper2.f"])

    def peaks(self) -> np.ndarray:
        """Largest roof displacement and deformation of the second damper, m."""
        return np.array([np.abs(self.result[name]).max() for name in ("u.M2.ux", "damper2.d")])


def hybrid_test(kind: str, level: float, motion: Motion, model: str | Path, number: int = 0, dt: float = DT) -> Test:
    """Run a test.

    Parameters
    ----------
    model : str or Path
        A network, "cukf", "fixed", or "specimen" for the reference run.
    number : int
        Of the device that is drawn; the same in all tests that are compared.
    dt : float
        Tick of the controller, and step of the frame; the motion is brought to it along straight lines.
    """
    words = [
        f"seed={SEED + number}",
        f"integrator.dt={dt!r}",
        f"sites.damper1.device={drawn_device(kind, level)}",
        f"blocks.afterwards.block.law={LAWS[SPECIMENS[kind][0]]}",
        *site_words(kind, level, model),
        'recording.channels=["ground"]',
    ]
    example = find_example("ocp_nn_two_story")
    loop = build(load_experiment(example.root / example.file, words)).loop
    first, second = (next(site for site in loop.sites if site.name == name) for name in ("damper1", "damper2"))
    other = sibling(first, number)
    if model == "specimen":
        loop = loop.replace(sites={"damper2": Site("damper2", second.along, other, count=COUNT)})
    result = loop.run(in_steps(motion.a, dt), record=CHANNELS)
    return Test(result, moved(other, result["damper2.d"], dt)["f"], _sections(result))


def in_steps(a: np.ndarray, dt: float) -> np.ndarray:
    """A motion of the study in steps of `dt`."""
    if dt == DT:
        return a
    end = (len(a) - 1) * DT
    return np.interp(np.arange(int(end / dt + 1e-9) + 1) * dt, np.arange(len(a)) * DT, a)


def drawn_device(kind: str, level: float) -> str:
    """The specimen in the laboratory, as it stands in a file."""
    law, spread = SPECIMENS[kind]
    return _table({"law": LAWS[law], "draw": True, "level": level, "centred": CENTRED, **spread})


def site_words(kind: str, level: float, model: str | Path, story: int = 2) -> Sequence[str]:
    """What stands in a story, as changes of the file."""
    site = f"sites.damper{story}"
    if isinstance(model, Path):
        return [f"{site}.device.network={model}", f'{site}.resample="phases"']
    fitted = fitted_lugre(kind, level)
    law = {"law": "lugre", **fitted.params}
    if model != "cukf":  # the reference run has its specimen put in afterwards
        return [f"{site}={_table({'story': story, 'count': COUNT, 'device': law})}"]
    follow = {"updater": "unscented", "device": law, **TUNED[kind].options(fitted)}
    return [
        f"sites.damper1.model={_table(follow)}",
        f"{site}={_table({'story': story, 'count': COUNT, 'follows': 'damper1'})}",
    ]


def sibling(site: Site, number: int, story: int = 2) -> Instance:
    """The damper of another story, of the same make as the one in the laboratory."""
    rng = np.random.default_rng([SEED, number] if story == 2 else [SEED, number, story])
    return draw_sibling(rng, replace(site.device), mismatch=MISMATCH, centred=CENTRED)


def _sections(result: Recording) -> dict[str, np.ndarray]:
    """Moment and curvature at the foot of a column and at the end of a beam."""
    pairs = {place: (result[f"{place}.moment"], result[f"{place}.curvature"]) for place in PLACES}
    return {place.replace("_", " "): np.column_stack(pair) for place, pair in pairs.items()}


def _table(values: dict) -> str:
    """A table as it stands in a line of a file."""
    return "{" + ", ".join(f"{key} = {_word(value)}" for key, value in values.items()) + "}"


def _word(value) -> str:
    if isinstance(value, dict):
        return _table(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return repr([float(v) for v in value])
    return f'"{value}"' if isinstance(value, str) else repr(value)
