"""Batches of whole histories: padded to one length, with weights that take the padding out of the loss."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hyloop.errors import OutOfBounds
from hyloop.neural.histories import History

__all__ = ["Batch", "batches", "count_updates", "stack"]


class Batch(NamedTuple):
    """Some histories side by side.

    Attributes
    ----------
    inputs : ndarray, (histories, samples, inputs)
    target : ndarray, (histories, samples, outputs)
    weight : ndarray, (histories, samples)
        1 where a history has a sample, 0 in its padding.
    """

    inputs: np.ndarray
    target: np.ndarray
    weight: np.ndarray


def batches(
    histories: Sequence[History], size: int, *, seed: int = 0, window: int | None = None, dtype: type = np.float32
) -> Callable[[int], list[Batch]]:
    """Make ``epoch -> batches``: the histories in an order that depends on (seed, epoch) alone, `size` at a time.

    Parameters
    ----------
    histories : sequence of History
        Scaled.
    size : int
        Histories in a batch. The last batch is filled up with lanes of no weight, so that all have one shape and the
        update is compiled once.
    window : int, optional
        Length of the windows of truncated backpropagation. Batches are then as long as their longest history, rounded
        up to windows; otherwise as long as the longest history of all.
    """
    if size < 1:
        raise OutOfBounds(f"batches: size = {size} must be 1 or more.")
    if window is not None and window < 1:
        raise OutOfBounds(f"batches: window = {window} must be 1 or more.")
    lanes, longest = min(size, len(histories)), max(len(history) for history in histories)

    def of_epoch(epoch: int) -> list[Batch]:
        groups = _groups(histories, lanes, seed, epoch)
        return [stack(group, lanes, _length(group, longest, window), dtype) for group in groups]

    return of_epoch


def count_updates(
    histories: Sequence[History], size: int, *, epochs: int, seed: int = 0, window: int | None = None
) -> int:
    """Updates in so many epochs of `batches` with the same arguments, for learning rates that depend on them."""
    if window is None:
        return epochs * -(-len(histories) // size)
    groups = (group for epoch in range(epochs) for group in _groups(histories, size, seed, epoch))
    return sum(_length(group, 0, window) // window for group in groups)


def stack(
    histories: Sequence[History], lanes: int | None = None, length: int | None = None, dtype: type = np.float32
) -> Batch:
    """Histories as one batch of so many lanes and samples (by default as many as there are)."""
    lanes = lanes or len(histories)
    length = length or max(len(history) for history in histories)
    first = histories[0]
    batch = Batch(
        np.zeros((lanes, length, first.inputs.shape[1]), dtype),
        np.zeros((lanes, length, first.target.shape[1]), dtype),
        np.zeros((lanes, length), dtype),
    )
    for i, history in enumerate(histories):
        n = len(history)
        batch.inputs[i, :n], batch.target[i, :n], batch.weight[i, :n] = history.inputs, history.target, 1.0
    return batch


def _groups(histories: Sequence[History], size: int, seed: int, epoch: int) -> list[list[History]]:
    order = np.random.default_rng([seed, epoch]).permutation(len(histories))
    return [[histories[j] for j in order[i : i + size]] for i in range(0, len(order), size)]


def _length(group: Sequence[History], longest: int, window: int | None) -> int:
    if window is None:
        return longest
    # a window in which nobody has a sample would still move the weights, by Adam's momentum
    return -(-max(len(history) for history in group) // window) * window
