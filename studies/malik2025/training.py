"""Training of one network: lanes, windows that grow, SOAP with a cosine; the last weights count."""

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import jax

from hyloop.devices import lugre_elastoplastic
from hyloop.learn import freeze
from hyloop.learn.networks.stack import Stack
from hyloop.learn.physics.guided import guided_law
from hyloop.learn.training.lanes import lanes, train_lanes
from hyloop.learn.training.schedules import cosine
from hyloop.learn.training.soap import soap
from hyloop.learn.training.train import Progress
from hyloop.neural.card import Card
from hyloop.neural.guided import Head

from .baselines import FREE, fitted_lugre
from .data import load_runs
from .networks import EVERY, LATEST, NOMINAL, PHYSICS, UNRELATED, Recipe, architecture, card, drawing

HELD = Head(0.0, 1.35)  # of the share of 0.7 that bristles hold: from nothing to 0.945 of the sliding force
FEW = 42  # runs of the paper: 14 records at three capacities


def train(
    source: Path,
    out: Path,
    kind: str,
    seed: int,
    *,
    recipe: Recipe | None = None,
    few: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
) -> None:
    """Train a network on the measured runs of one kind of specimen and write it; goes on from a checkpoint beside it.

    Parameters
    ----------
    source : Path
        Measured runs, of `data.make_runs`.
    kind : str
        Of `networks.signals`.
    few : bool
        Train on first components at the full level alone, as many runs as the paper had.
    """
    recipe = recipe or Recipe()
    runs = load_runs(source, "train")
    if few:
        runs = [run for run in runs if run.name.endswith((".1", "_180"))][:FEW]
    schedule = cosine(recipe.rate, recipe.epochs * recipe.updates, warmup=recipe.warmup, final=recipe.final)
    signals = card(kind, runs)
    model = _model(source.stem, kind, signals, jax.random.fold_in(jax.random.key(seed), 0))
    checkpoint = out.with_suffix(".checkpoint.safetensors")
    trained = train_lanes(
        model,
        lanes(drawing(kind, runs), recipe.lanes, recipe.stages, updates=recipe.updates, seed=seed),
        epochs=recipe.epochs,
        optimiser=soap(schedule, clip=recipe.clip),
        seed=seed,
        checkpoint=checkpoint,
        resume=checkpoint.exists(),
        identity=f"{kind} {recipe}",
        progress=progress,
    )
    about = {"recipe": asdict(recipe), "kind": kind, "latest": LATEST, "unrelated": UNRELATED, "every": EVERY}
    events = ", ".join(dict.fromkeys(run.event for run in runs))
    data = f"{len(runs)} runs of the virtual specimen '{source.stem}' under {events}"
    if kind in PHYSICS:  # its force is physical
        signals = replace(signals, outputs=(replace(signals.outputs[0], factor=1.0),))
    freeze(trained.model, replace(signals, data=data, seed=seed, about=about)).save(out)


def _model(specimen: str, kind: str, signals: Card, key: Any) -> Any:
    """A stack, or one that gives parameters of the law fitted to the specimen."""
    if kind not in PHYSICS:
        return Stack(architecture(kind), key=key)
    law = fitted_lugre(specimen, NOMINAL)
    if kind != "physics":
        law = lugre_elastoplastic(**law.params)
    levelled = [name for name in law.params if name not in ("sigma2", "vs", "hold")]
    guided = {name: Head() for name in FREE} | ({"hold": HELD} if kind == "holding" else {})
    stack = architecture(kind, outputs=len(guided))
    return guided_law(law, guided, stack, signals.inputs, signals.outputs, dt=signals.dt, by_level=levelled, key=key)
