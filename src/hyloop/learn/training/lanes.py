r"""Training in lanes: each runs through one history after another, from rest, its state carried from update to update.

A batch of whole histories advances all of them together, so that every update sees the same part of an earthquake.
Lanes are out of step: one is in the strong part of a motion while another begins. A lane that has reached the end of
its history draws another one, and what is drawn may differ each time (a delay, a sign, what is heard), so that nothing
has to be stored for it. Windows may grow from stage to stage: short ones first, many updates for the same work.

Everything random comes from (seed, epoch), and every epoch begins with fresh lanes; so a training resumes bit for bit.
"""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax

from hyloop.errors import BadShape, OutOfBounds
from hyloop.learn.training.checkpoints import data_digest
from hyloop.learn.training.train import Progress, Trained, checked_data, run_epochs, update

__all__ = ["Draw", "LaneBatch", "Stage", "lanes", "train_lanes"]

Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""A scaled history drawn at random: inputs (samples, inputs) and target (samples, outputs)."""


class LaneBatch(NamedTuple):
    """One window of all lanes.

    Attributes
    ----------
    inputs, target, weight : ndarray, (lanes, samples, ...)
        As in `hyloop.learn.training.batches.Batch`: the weight is 0 behind the end of a history.
    fresh : ndarray, (lanes,)
        Whether a history begins here, so that the lane starts from rest.
    """

    inputs: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    fresh: np.ndarray


class Stage(NamedTuple):
    """So many epochs with windows of so many samples."""

    epochs: int
    window: int


def lanes(
    draw: Draw, count: int, stages: Sequence[Stage], *, updates: int, seed: int = 0
) -> Callable[[int], Iterator[LaneBatch]]:
    """Make ``epoch -> batches``, one for each update.

    Parameters
    ----------
    draw : function
        Gives a scaled history; asked whenever a lane needs another one.
    count : int
        Number of lanes.
    stages : sequence of Stage
        Windows, epoch by epoch.
    updates : int
        Updates in an epoch.
    """
    if count < 1 or updates < 1 or not stages or any(stage.epochs < 1 or stage.window < 1 for stage in stages):
        raise OutOfBounds(f"lanes: count = {count}, updates = {updates} and all of {list(stages)} must be 1 or more.")
    windows = [stage.window for stage in stages for _ in range(stage.epochs)]

    def of_epoch(epoch: int) -> Iterator[LaneBatch]:
        rng, window = np.random.default_rng([seed, epoch]), windows[epoch]
        running = [_drawn(draw, rng) for _ in range(count)]
        begins = _out_of_step(running, window, rng)
        for _ in range(updates):
            yield _window(running, begins, window)
            for lane, begin in enumerate(begins):
                begins[lane] = begin + window
                if begins[lane] >= len(running[lane][0]):
                    running[lane], begins[lane] = _drawn(draw, rng), 0

    return of_epoch


def train_lanes(
    model: Any,
    data: Callable[[int], Iterator[LaneBatch]],
    *,
    epochs: int,
    optimiser: optax.GradientTransformation,
    seed: int = 0,
    validate: Callable[[Any], Any] | None = None,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    identity: str = "",
    progress: Callable[[Progress], None] = lambda _: None,
) -> Trained:
    """Train a network that has ``rest(lanes)`` and ``outputs, state = model(inputs, state)`` on the mean square error.

    Parameters
    ----------
    data : function
        Of `lanes`.
    optimiser, epochs, seed, validate, checkpoint, resume, identity, progress
        As for `hyloop.learn.training.train.train`.
    """
    epoch_of = checked_data(data)

    def sweep(now, epoch, key):
        state = None
        for number, batch in enumerate(epoch_of(epoch)):
            state = now.model.rest(len(batch.fresh)) if state is None else state
            now, state = update(now, state, batch, key, number, _mean_square, optimiser)
            yield now

    return run_epochs(
        model,
        sweep,
        optimiser=optimiser,
        epochs=epochs,
        seed=seed,
        validate=validate,
        patience=None,
        checkpoint=checkpoint,
        checkpoint_every=1,
        resume=resume,
        identity=identity,
        progress=progress,
        digest=lambda: data_digest(epoch_of(0)),
    )


def _mean_square(model: Any, state: Any, batch: LaneBatch, key: Any) -> tuple[jax.Array, Any]:
    """Mean square error of a window over the samples that histories have, and the state at its end."""
    rest = model.rest(len(batch.fresh))
    begin = jax.tree.map(lambda now, zero: jnp.where(_beside(batch.fresh, now), zero, now), state, rest)
    y, state = model(batch.inputs, begin)
    errors = jnp.mean((y - batch.target) ** 2, axis=-1)
    return jnp.sum(batch.weight * errors) / jnp.sum(batch.weight), state


def _beside(fresh: Any, state: Any) -> Any:
    """One flag a lane in the shape of a state (lanes, ...)."""
    return jnp.reshape(fresh, (-1,) + (1,) * (state.ndim - 1))


def _drawn(draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    inputs, target = draw(rng)
    if len(inputs) != len(target) or len(inputs) == 0:
        raise BadShape(f"lanes: a history was drawn with {len(inputs)} samples of inputs and {len(target)} of target.")
    return inputs, target


def _out_of_step(running: list[tuple[np.ndarray, np.ndarray]], window: int, rng: np.random.Generator) -> list[int]:
    """Where the lanes begin: at rest, in histories cut to random lengths."""
    for lane, (inputs, target) in enumerate(running):
        kept = window * int(rng.integers(1, max(len(inputs) // window, 1) + 1))
        running[lane] = inputs[:kept], target[:kept]
    return [0] * len(running)


def _window(running: list[tuple[np.ndarray, np.ndarray]], begins: list[int], window: int) -> LaneBatch:
    inputs, target = running[0]
    shape = (len(running), window)
    batch = LaneBatch(
        np.zeros((*shape, inputs.shape[1]), np.float32),
        np.zeros((*shape, target.shape[1]), np.float32),
        np.zeros(shape, np.float32),
        np.array(begins) == 0,
    )
    for lane, ((inputs, target), begin) in enumerate(zip(running, begins, strict=True)):
        size = min(window, len(inputs) - begin)
        batch.inputs[lane, :size] = inputs[begin : begin + size]
        batch.inputs[lane, size:] = inputs[-1]  # not zero: a law may divide by what is never zero in a history
        batch.target[lane, :size] = target[begin : begin + size]
        batch.weight[lane, :size] = 1.0
    return batch
