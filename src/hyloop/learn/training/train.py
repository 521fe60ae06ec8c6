r"""Train a model by gradients: updates in epochs, validation, early stopping, checkpoints that resume bit for bit.

One update is :math:`\theta \leftarrow \theta - \mathrm{optimiser}(\partial L/\partial\theta)` for the loss *L* of one
batch. Everything random in an update comes from (seed, epoch, number of the update), never from what ran before; so a
training that is resumed at the end of an epoch goes on as if it had never stopped, and on a CPU two trainings with one
seed agree to the last bit.

The same code runs wherever JAX does; numbers keep the precision the model's arrays have.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

import equinox as eqx
import jax
import numpy as np
import optax

from hyloop.errors import BadInput, BadShape, OutOfBounds, RunFailed
from hyloop.learn.training.checkpoints import Checkpoint, Losses, data_digest, read_checkpoint, write_checkpoint

__all__ = [
    "Data",
    "Losses",
    "Progress",
    "Sweep",
    "Trained",
    "Update",
    "checked_data",
    "is_weight",
    "mean_loss",
    "run_epochs",
    "train",
    "update",
]

_REPORT = 0.5  # s between reports inside an epoch: reading a loss waits for the device
Data = Sequence[Any] | Callable[[int], Iterable[Any]]


class Update(NamedTuple):
    """Model and state of the optimiser after an update, and the loss it was made from."""

    model: Any
    optimiser: Any
    loss: Any


Sweep = Callable[[Update, int, jax.Array], Iterator[Update]]  # from where it stands, epoch, key


class Progress(NamedTuple):
    """Where a training stands."""

    epoch: int
    """Epochs finished."""
    epochs: int
    loss: float
    """Of the last update; after an epoch its mean."""
    validation: float
    """Of the last epoch, NaN if there is none."""
    best_epoch: int
    elapsed: float
    """Seconds since this process began to train."""
    remaining: float
    """Seconds to the last epoch at the pace so far; early stopping may save some."""


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model.

    Attributes
    ----------
    model
        After the epoch with the least validation loss; without validation, after the last one.
    history : Losses
    best_epoch : int
        The epoch the model is from; the first is 1, and 0 is the model as given.
    seconds : float
        Time spent by this process.
    """

    model: Any
    history: Losses
    best_epoch: int
    seconds: float


def train(
    model: Any,
    loss: Callable[[Any, Any, jax.Array], jax.Array],
    data: Data,
    *,
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
    """Train a model on batches, each of which gives one update.

    Parameters
    ----------
    model : pytree
        An Equinox module or any pytree. Its floating-point JAX arrays are trained; NumPy arrays in it are constants.
    loss : function
        ``loss(model, batch, key)``, a scalar. The key is for dropout and the like.
    data : sequence of pytrees, or function
        The batches (pytrees of arrays), or ``epoch -> batches``, in which the epochs count from 0 and the batches
        depend on nothing else, as `hyloop.learn.training.batches.batches` makes it.
    optimiser : optax.GradientTransformation
    epochs : int
    seed : int
        Of the keys. The starting weights are the caller's.
    validate : function, optional
        ``validate(model)``, a scalar over validation events only, asked after every epoch; see `mean_loss`.
    patience : int, optional
        Stop after so many epochs without a lower validation loss.
    checkpoint : path, optional
        File rewritten every `checkpoint_every` epochs and at the end.
    resume : bool
        Go on from the checkpoint; it must be of the same kind of model, seed, data and identity.
    identity : str
        Settings the trainer does not see, such as the learning rate, as text; kept with the checkpoint.
    progress : function
        Hears a `Progress` after every epoch, and within long ones twice a second.

    Raises
    ------
    BadInput
        Before training: data that are not finite, no batches, settings out of range, a checkpoint of something else.
    RunFailed
        If a loss is not finite; ``result`` is what was trained until then.
    """
    epoch_of = checked_data(data)

    def sweep(now, epoch, key):
        for number, batch in enumerate(epoch_of(epoch)):
            now, _ = update(now, None, batch, key, number, eqx.Partial(_stateless, loss), optimiser)
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


def mean_loss(loss: Callable[..., jax.Array], batches: Sequence[Any]) -> Callable[[Any], float]:
    """Make a ``validate`` for `train`: the mean loss over batches with dropout switched off."""
    checked_data(batches)
    key = jax.random.key(0)

    def validate(model):
        model = eqx.nn.inference_mode(model)
        return float(np.mean([float(_evaluate(loss, model, batch, key)) for batch in batches]))

    return validate


@eqx.filter_jit
def _evaluate(loss, model, batch, key):
    return loss(model, batch, key)


def run_epochs(
    model: Any,
    sweep: Sweep,
    *,
    optimiser: optax.GradientTransformation,
    epochs: int,
    seed: int,
    validate: Callable[[Any], Any] | None,
    patience: int | None,
    checkpoint: str | PathLike[str] | None,
    checkpoint_every: int,
    resume: bool,
    identity: str,
    progress: Callable[[Progress], None],
    digest: Callable[[], str],
) -> Trained:
    """What every way of training shares; `sweep` makes the updates of one epoch, the rest is as for `train`."""
    _check(epochs, seed, validate, patience, checkpoint, checkpoint_every, resume)
    now = Checkpoint(0, model, model, optimiser.init(eqx.filter(model, is_weight)), [], [], [])
    about = {"seed": seed, "settings": identity, "data": digest() if checkpoint is not None else ""}
    if checkpoint is not None and resume:
        now = read_checkpoint(checkpoint, now, about)
    begin, first, root = time.perf_counter(), now.epoch, jax.random.key(seed)

    def report(loss: float, done: float) -> None:
        spent = time.perf_counter() - begin
        pace = spent / (done - first) if done > first else np.nan
        valid = now.validation[-1] if now.validation else np.nan
        progress(Progress(now.epoch, epochs, loss, valid, now.best_epoch, spent, pace * (epochs - done)))

    def result() -> Trained:
        return Trained(now.best if validate else now.model, now.losses(), now.best_epoch, time.perf_counter() - begin)

    while now.epoch < epochs and not _stalled(now, patience):
        losses, told, last = [], time.perf_counter(), Update(now.model, now.optimiser, np.nan)
        per_epoch = len(now.updates) / now.epoch if now.epoch else np.inf
        for last in sweep(last, now.epoch, jax.random.fold_in(root, now.epoch)):  # noqa: B020, a sweep is called once
            losses.append(last.loss)
            if time.perf_counter() - told > _REPORT:
                report(float(last.loss), now.epoch + min(len(losses) / per_epoch, 1.0))
                told = time.perf_counter()
        values = [float(value) for value in losses]
        if not np.isfinite(values).all():
            bad = int(np.argmin(np.isfinite(values))) + 1
            raise RunFailed(
                f"training: the loss of update {bad} in epoch {now.epoch + 1} is not finite. Lower the learning rate, "
                "clip the gradients or shorten the windows.",
                now.epoch + 1,
                "non-finite",
                "loss",
                result(),
            )
        valid = None if validate is None else float(validate(last.model))
        now = now.after_epoch(last.model, last.optimiser, values, valid)
        if checkpoint is not None and (
            now.epoch % checkpoint_every == 0 or now.epoch == epochs or _stalled(now, patience)
        ):
            write_checkpoint(checkpoint, now, about)
        report(now.train[-1], now.epoch)
    return result()


def is_weight(leaf: Any) -> bool:
    """Whether a leaf of a model is trained: a floating-point array of JAX. NumPy arrays are constants."""
    return isinstance(leaf, jax.Array) and eqx.is_inexact_array(leaf)


def update(
    now: Update,
    carry: Any,
    batch: Any,
    key: jax.Array,
    number: int,
    loss: Callable,
    optimiser: optax.GradientTransformation,
) -> tuple[Update, Any]:
    """One update by ``loss(model, carry, batch, key) -> (scalar, new carry)``."""
    # apart before compilation, which makes JAX arrays, and so weights, of the constants too
    weights, constants = eqx.partition(now.model, is_weight)
    weights, state, value, carry = _update(
        weights, constants, now.optimiser, carry, batch, key, np.int32(number), loss, optimiser
    )
    return Update(eqx.combine(weights, constants), state, value), carry


@eqx.filter_jit
def _update(weights, constants, state, carry, batch, key, number, loss, optimiser):
    """Compiled once for all trainings that share loss, optimiser and shapes."""

    def of_weights(weights):
        return loss(eqx.combine(weights, constants), carry, batch, jax.random.fold_in(key, number))

    (value, carry), gradient = jax.value_and_grad(of_weights, has_aux=True)(weights)
    change, state = optimiser.update(gradient, state, weights)
    return eqx.apply_updates(weights, change), state, value, carry


def _stateless(loss, model, carry, batch, key):
    return loss(model, batch, key), carry


def _stalled(now: Checkpoint, patience: int | None) -> bool:
    return patience is not None and now.epoch - now.best_epoch >= patience


def checked_data(data: Data) -> Callable[[int], Iterable[Any]]:
    """The batches as a function of the epoch; the first epoch is looked through."""
    epoch_of = data if callable(data) else lambda epoch: data
    count = 0
    for count, batch in enumerate(epoch_of(0), start=1):
        for path, leaf in jax.tree_util.tree_leaves_with_path(batch):
            values = np.asarray(leaf)
            if values.size == 0:
                raise BadShape(f"training data: batch {count}{jax.tree_util.keystr(path)} is empty.")
            if np.issubdtype(values.dtype, np.inexact) and not np.isfinite(values).all():
                place = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
                raise BadInput(
                    f"training data: batch {count}{jax.tree_util.keystr(path)} is {values[place]} at {place}. Repair "
                    "or cut the record; a gap that must stay belongs into a weight of the loss."
                )
    if count == 0:
        raise BadInput("training data: there are no batches. Give at least one history.")
    return epoch_of


def _check(
    epochs: int, seed: int, validate: Any, patience: int | None, checkpoint: Any, every: int, resume: bool
) -> None:
    if epochs < 1:
        raise OutOfBounds(f"training: epochs = {epochs} must be 1 or more.")
    if not 0 <= seed < 2**32:
        raise OutOfBounds(f"training: seed = {seed} must be from 0 to 2^32 - 1.")
    if every < 1:
        raise OutOfBounds(f"training: checkpoint_every = {every} must be 1 or more.")
    if patience is not None and (patience < 1 or validate is None):
        raise OutOfBounds(
            f"training: patience = {patience} must be 1 or more, and needs `validate`: training stops early on "
            "validation events only."
        )
    if resume and checkpoint is None:
        raise BadInput("training: to resume, name the checkpoint to go on from.")
