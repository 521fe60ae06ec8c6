"""Train a network on recorded histories by a recipe: the papers' ones and newer ones are settings of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from os import PathLike
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from hyloop.errors import BadInput, UnknownName
from hyloop.learn.networks.stack import Stack
from hyloop.learn.training import schedules
from hyloop.learn.training.batches import Batch, batches, count_updates, stack
from hyloop.learn.training.train import Progress, Trained, mean_loss, train
from hyloop.learn.training.truncated import train_truncated
from hyloop.neural.architecture import Architecture
from hyloop.neural.histories import History, Split

__all__ = ["Recipe", "make_optimiser", "predict", "train_network"]

# sets the keys of the starting weights apart from those of the epochs, which are folded in by their number
_WEIGHTS = 2**31


@dataclass(frozen=True)
class Recipe:
    """How to train.

    Attributes
    ----------
    epochs : int
    batch : int
        Histories in a batch.
    window : int, optional
        Samples between updates, by truncated backpropagation; whole histories where it is None.
    dropout : float
        Part of the outputs of every hidden layer that is left out at random.
    schedule, rate, factor, every, warmup, final
        Course of the learning rate, see `hyloop.learn.training.schedules`.
    weight_decay, clip
        See `hyloop.learn.training.schedules.adam`.
    patience, checkpoint_every
        See `hyloop.learn.training.train.train`.

    Notes
    -----
    Malik et al. (2025): batch 10, window 6000, dropout 0.1, staircase from 1e-3. Coble et al. (2024): window 200,
    constant 1e-4.
    """

    epochs: int
    batch: int = 10
    window: int | None = None
    dropout: float = 0.0
    schedule: str = "constant"
    rate: float = 1e-3
    factor: float = 0.99
    every: int = 10
    warmup: int = 0
    final: float = 0.0
    weight_decay: float = 0.0
    clip: float | None = None
    patience: int | None = None
    checkpoint_every: int = 10

    @property
    def identity(self) -> str:
        """All that decides the updates, as text; more epochs change them only if the learning rate depends on them."""
        epochs = self.epochs if self.schedule == "cosine" else 0
        return repr(replace(self, epochs=epochs, patience=None, checkpoint_every=1))


def make_optimiser(recipe: Recipe, updates: int, updates_per_epoch: int) -> optax.GradientTransformation:
    """Adam with the learning rate of a recipe over so many updates."""
    options: dict[str, dict[str, float]] = {
        "constant": {},
        "staircase": {"updates_per_epoch": updates_per_epoch, "factor": recipe.factor, "every": recipe.every},
        "cosine": {"updates": updates, "warmup": recipe.warmup, "final": recipe.final},
    }
    if recipe.schedule not in options:
        raise UnknownName("schedule", recipe.schedule, options, where="recipe")
    return _adam(recipe.schedule, recipe.rate, recipe.weight_decay, recipe.clip, **options[recipe.schedule])


@cache  # one object for the same settings: trainings that share it are compiled once
def _adam(
    schedule: str, rate: float, weight_decay: float, clip: float | None, **options: float
) -> optax.GradientTransformation:
    return schedules.adam(getattr(schedules, schedule)(rate, **options), weight_decay=weight_decay, clip=clip)


def train_network(
    architecture: Architecture,
    parts: Split,
    recipe: Recipe,
    *,
    seed: int = 0,
    model: Any = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Trained:
    """Train a network on the mean square error of scaled histories; validation events choose the epoch.

    Parameters
    ----------
    parts : Split
        Scaled. Test events are not looked at.
    seed : int
        Of starting weights, order of the histories and dropout.
    model : optional
        What to train instead of a fresh `Stack` of the architecture: anything that is called as one and has its `rest`,
        such as a `hyloop.learn.GuidedLaw`; its dropout is its own.
    """
    if recipe.window is not None and not architecture.recurrent:
        raise BadInput("train_network: the network has no memory to carry from window to window; leave window out.")
    updates, in_first = (
        count_updates(parts.train, recipe.batch, epochs=epochs, seed=seed, window=recipe.window)
        for epochs in (recipe.epochs, 1)
    )
    if model is None:
        model = Stack(architecture, key=jax.random.fold_in(jax.random.key(seed), _WEIGHTS), dropout=recipe.dropout)
    data = batches(parts.train, recipe.batch, seed=seed, window=recipe.window)
    validate = mean_loss(_quiet, [stack(parts.validation)]) if parts.validation else None
    settings = {
        "optimiser": make_optimiser(recipe, updates, in_first),
        "epochs": recipe.epochs,
        "seed": seed,
        "validate": validate,
        "patience": recipe.patience,
        "checkpoint": checkpoint,
        "checkpoint_every": recipe.checkpoint_every,
        "resume": resume,
        "identity": recipe.identity,
        "progress": progress,
    }
    if recipe.window is None:
        return train(model, _whole, data, **settings)
    return train_truncated(model, _window, data, window=recipe.window, start=_rest, **settings)


def predict(model: Stack, history: History) -> np.ndarray:
    """Scaled outputs (samples, outputs) of a model that runs freely from rest over a scaled history."""
    return np.asarray(_outputs(model, history.inputs.astype(np.float32)), dtype=float)


@eqx.filter_jit
def _outputs(model, inputs):
    return model(inputs)[0]


def _rest(model: Stack, batch: Batch) -> Any:
    return model.rest(len(batch.inputs))


def _window(model: Stack, state: Any, batch: Batch, key: jax.Array | None) -> tuple[jax.Array, Any]:
    """Mean square error of a window over the samples that histories have, and the state at its end."""
    y, state = model(batch.inputs, state, key=key)
    errors = jnp.mean((y - batch.target) ** 2, axis=-1)
    return jnp.sum(batch.weight * errors) / jnp.sum(batch.weight), state


def _whole(model: Stack, batch: Batch, key: jax.Array) -> jax.Array:
    return _window(model, None, batch, key)[0]


def _quiet(model: Stack, batch: Batch, key: jax.Array) -> jax.Array:
    """Without a key a network has no dropout."""
    return _window(model, None, batch, None)[0]
