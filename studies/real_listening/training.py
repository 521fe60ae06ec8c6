"""Training of a network on virtual runs, and its adaptation: SOAP with a cosine, windows that grow, last weights."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from hyloop.learn import Stack, freeze, thaw
from hyloop.learn.training.lanes import LaneBatch, Stage, lanes, train_lanes
from hyloop.learn.training.schedules import cosine
from hyloop.learn.training.soap import soap
from hyloop.learn.training.train import Progress
from hyloop.neural import load_network

from .networks import EVERY, LISTENING, architecture, card, drawing
from .runs import Run


@dataclass(frozen=True)
class Recipe:
    """How long and in which windows a network is trained; nothing is chosen by validation, the last weights count."""

    lanes: int = 16
    updates: int = 500  # in an epoch
    stages: tuple[Stage, ...] = (Stage(16, 128), Stage(12, 256))
    rate: float = 5e-3
    warmup: int = 200
    final: float = 1e-5
    clip: float = 1.0

    @property
    def epochs(self) -> int:
        return sum(stage.epochs for stage in self.stages)


# on real pairs as often as on virtual ones, so that what was learned of other friction is not forgotten
ADAPTING = Recipe(updates=250, stages=(Stage(4, 256),), rate=1e-3, warmup=50)


def train(path: Path, kind: str, seed: int, runs: Sequence[Run], recipe: Recipe | None = None, progress=None) -> None:
    """Train a network on virtual runs from drawn weights and write it; goes on from a checkpoint beside it."""
    recipe = recipe or Recipe()
    model = Stack(architecture(kind), key=jax.random.fold_in(jax.random.key(seed), 0))
    data = f"{len(runs)} runs of virtual specimens, no real test"
    _fit(path, model, card(kind, runs, data=data), drawing(kind, runs), seed, recipe, {"kind": kind}, progress)


def adapt(path: Path, begun: Path, seed: int, runs: Sequence[Run], real: Sequence[Run], recipe=None, progress=None):
    """Train a network on with real pairs, as often as with virtual runs."""
    recipe, network = recipe or ADAPTING, load_network(begun)
    kind = str(network.card.about["kind"])
    virtual, measured = drawing(kind, runs), drawing(kind, real)

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return (measured if rng.random() < 0.5 else virtual)(rng)

    tests = ", ".join(dict.fromkeys(run.event for run in real))
    data = f"{network.card.data}; then {len(real)} pairs of {tests}"
    about = {"kind": kind, "adapted": True}
    _fit(path, thaw(network), replace(network.card, data=data), draw, seed + 1000, recipe, about, progress)


def _fit(path, model, signals, draw, seed, recipe, about, progress: Callable[[Progress], None] | None) -> None:
    checkpoint = path.with_suffix(".checkpoint.safetensors")
    schedule = cosine(recipe.rate, recipe.epochs * recipe.updates, warmup=recipe.warmup, final=recipe.final)
    trained = train_lanes(
        model,
        weighted(lanes(draw, recipe.lanes, recipe.stages, updates=recipe.updates, seed=seed)),
        epochs=recipe.epochs,
        optimiser=soap(schedule, clip=recipe.clip),
        seed=seed,
        checkpoint=checkpoint,
        resume=checkpoint.exists(),
        identity=f"{about} {recipe}",
        progress=progress or (lambda _: None),
    )
    about = {**about, "recipe": asdict(recipe), "every": EVERY, "listening": about["kind"] == LISTENING}
    freeze(trained.model, replace(signals, seed=seed, about=about)).save(path)


def weighted(data: Callable[[int], Iterator[LaneBatch]]) -> Callable[[int], Iterator[LaneBatch]]:
    """Batches whose last input is taken out as the weight of its history."""

    def of_epoch(epoch: int) -> Iterator[Any]:
        for batch in data(epoch):
            yield batch._replace(inputs=batch.inputs[..., :-1], weight=batch.weight * batch.inputs[..., -1])

    return of_epoch
