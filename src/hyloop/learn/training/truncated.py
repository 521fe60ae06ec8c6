r"""Truncated backpropagation through time: long histories in windows, the state carried from one to the next.

Gradients end at the beginning of a window, the state does not: each window begins where the last one ended, with the
weights updated in between (Algorithm 1 of [1]_).

References
----------
.. [1] Malik, Cao, Ricles, Downey (2025), "Online Cyber-Physical Neural Network Model for Real-Time Hybrid Simulation",
   section 2.3.1: windows of 6000 samples.
.. [2] Coble, Cao, Downey, Ricles (2024), "Physics-informed machine learning for dry friction and backlash modeling in
   structural control systems", section 2.1: an update every 200 samples.
"""

from collections.abc import Callable
from os import PathLike
from typing import Any

import jax
import numpy as np
import optax

from hyloop.errors import BadShape, OutOfBounds
from hyloop.learn.training.checkpoints import data_digest
from hyloop.learn.training.train import Data, Progress, Trained, checked_data, run_epochs, update

__all__ = ["train_truncated"]


def train_truncated(
    model: Any,
    loss: Callable[[Any, Any, Any, jax.Array], tuple[jax.Array, Any]],
    data: Data,
    *,
    window: int,
    start: Callable[[Any, Any], Any],
    optimiser: optax.GradientTransformation,
    epochs: int,
    seed: int = 0,
    validate: Callable[[Any], Any] | None = None,
    patience: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    checkpoint_every: int = 1,
    resume: bool = False,
    identity: str = "",
    progress: Callable[[Progress], None] = lambda _: None,
) -> Trained:
    """Train on long histories, one update for each window of a batch.

    Parameters
    ----------
    loss : function
        ``loss(model, state, batch, key) -> (scalar, new state)`` for one window.
    data : sequence of pytrees, or function
        As for `train`; every array is (histories, samples, ...). A last window that is shorter is
        used as it is, and compiled for itself.
    window : int
        Samples in a window.
    start : function
        ``start(model, batch)``: state at the beginning of a batch of histories.
    optimiser, epochs, seed, validate, patience, checkpoint, checkpoint_every, resume, identity, progress
        As for `hyloop.learn.training.train.train`.
    """
    if window < 1:
        raise OutOfBounds(f"training: window = {window} must be 1 or more.")
    epoch_of = checked_data(data)
    for batch in epoch_of(0):
        if len({np.shape(leaf)[1:2] for leaf in jax.tree.leaves(batch)}) != 1:
            shapes = ", ".join(str(np.shape(leaf)) for leaf in jax.tree.leaves(batch))
            raise BadShape(f"truncated training: every array of a batch must be histories by samples, got {shapes}.")

    def sweep(now, epoch, key):
        number = 0
        for batch in epoch_of(epoch):
            state = start(now.model, batch)
            for begin in range(0, np.shape(jax.tree.leaves(batch)[0])[1], window):
                part = jax.tree.map(lambda leaf, k=begin: leaf[:, k : k + window], batch)
                now, state = update(now, state, part, key, number, loss, optimiser)
                number += 1
                yield now

    return run_epochs(
        model,
        sweep,
        optimiser=optimiser,
        epochs=epochs,
        seed=seed,
        validate=validate,
        patience=patience,
        checkpoint=checkpoint,
        checkpoint_every=checkpoint_every,
        resume=resume,
        identity=identity,
        progress=progress,
        digest=lambda: data_digest(epoch_of(0)),
    )
