"""Checkpoints of a training: one safetensors file with every array, and the rest as JSON in its header.

No code is stored, so a checkpoint from somewhere else can be read without risk; the caller makes the model anew and its
arrays are filled in. The file is replaced in one stroke: a training that dies while writing leaves the last one whole.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hyloop.core.writing import replacing
from hyloop.errors import BadInput
from hyloop.neural.file import CHECKPOINT

__all__ = ["Checkpoint", "Losses", "data_digest", "read_checkpoint", "write_checkpoint"]

_LISTS = ("updates", "train", "validation")
_TREES = ("model", "best", "optimiser")


@dataclass(frozen=True, eq=False)
class Losses:
    """Loss of every update, and of every epoch: mean of its updates, and validation (empty without it)."""

    updates: np.ndarray
    train: np.ndarray
    validation: np.ndarray


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """All that a training knows at the end of an epoch.

    Attributes
    ----------
    epoch : int
        Epochs finished.
    model, best
        The model now, and after the epoch with the least validation loss.
    optimiser
        State of the optimiser: moments and counts.
    updates, train, validation : list of float
        As in `Losses`.
    """

    epoch: int
    model: Any
    best: Any
    optimiser: Any
    updates: list[float]
    train: list[float]
    validation: list[float]

    @property
    def best_epoch(self) -> int:
        """Epoch with the least validation loss (the first of equal ones); without validation the last one."""
        if not self.validation:
            return self.epoch
        return int(np.argmin(self.validation)) + 1 if np.isfinite(self.validation).any() else 0

    def after_epoch(self, model: Any, optimiser: Any, losses: list[float], validation: float | None) -> "Checkpoint":
        """The next checkpoint. A validation loss that is not a number is never the best."""
        checked = [] if validation is None else [validation if np.isfinite(validation) else np.inf]
        better = bool(checked) and checked[0] < min(self.validation, default=np.inf)
        return Checkpoint(
            self.epoch + 1,
            model,
            model if better or not checked else self.best,
            optimiser,
            self.updates + losses,
            [*self.train, float(np.mean(losses))],
            self.validation + checked,
        )

    def losses(self) -> Losses:
        return Losses(*(np.array(getattr(self, key), dtype=float) for key in _LISTS))


def data_digest(batches: Iterable[Any]) -> str:
    """Digest of the arrays of some batches, to tell whether a training is resumed on the data it began with."""
    digest = hashlib.sha256()
    for batch in batches:
        for leaf in jax.tree.leaves(batch):
            values = np.ascontiguousarray(leaf)
            digest.update(f"{values.dtype} {values.shape}".encode())
            digest.update(values.data)
    return digest.hexdigest()


def write_checkpoint(path: str | PathLike[str], now: Checkpoint, about: Mapping[str, Any]) -> None:
    """Write or replace a checkpoint; `about` (seed, settings, digest of the data) must be the same to go on from it."""
    arrays = {name: np.array(leaf) for name, leaf in _named(now).items()}
    arrays |= {key: np.array(getattr(now, key), dtype=float) for key in _LISTS}
    header = {"kind": CHECKPOINT, "epoch": str(now.epoch), "about": json.dumps(dict(about))}
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with replacing(Path(path)) as part:
            part.write_bytes(save(arrays, header))
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error}. Give a folder that can be written to.") from error


def read_checkpoint(path: str | PathLike[str], like: Checkpoint, about: Mapping[str, Any]) -> Checkpoint:
    """The checkpoint in a file, with models and optimiser of the shapes in `like`.

    Raises
    ------
    BadInput
        If there is none, if it is damaged, or if it is of another model, optimiser, seed or data.
    """
    try:
        data = Path(path).read_bytes()
        arrays = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
        kind, epoch, stored = header["kind"], int(header["epoch"]), json.loads(header["about"])
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise BadInput(f"{path}: no readable checkpoint ({error}). Train from the start, without resuming.") from error
    if kind != CHECKPOINT:
        raise BadInput(f"{path}: holds '{kind}', not a {CHECKPOINT}.")
    for key, value in about.items():
        if stored.get(key) != value:
            raise BadInput(
                f"{path}: the checkpoint has another {key}: {stored.get(key)}, now {value}. Resume with "
                "what the training began with, or train from the start."
            )
    wanted = _named(like)
    if set(wanted) | set(_LISTS) != set(arrays):
        raise BadInput(f"{path}: the checkpoint is of another model or optimiser (their arrays have other names).")
    for name, leaf in wanted.items():
        found = arrays[name]
        if found.shape != leaf.shape or found.dtype != leaf.dtype:
            raise BadInput(
                f"{path}: '{name}' is {found.dtype} {found.shape} in the checkpoint and {leaf.dtype} "
                f"{leaf.shape} now: another model, optimiser or precision."
            )
    trees = [_filled(getattr(like, key), arrays, key) for key in _TREES]
    lists = [arrays[key].tolist() for key in _LISTS]
    return Checkpoint(epoch, *trees, *lists)


def _named(now: Checkpoint) -> dict[str, Any]:
    """Every array that training changes, under the path it has in the model or the optimiser's state."""
    return {
        f"{key}{jax.tree_util.keystr(path)}": leaf
        for key in _TREES
        for path, leaf in jax.tree_util.tree_leaves_with_path(eqx.filter(getattr(now, key), _is_kept))
    }


def _is_kept(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array)  # NumPy arrays are constants of the model


def _filled(tree: Any, arrays: Mapping[str, np.ndarray], key: str) -> Any:
    def fill(path, leaf):
        return jnp.asarray(arrays[f"{key}{jax.tree_util.keystr(path)}"]) if _is_kept(leaf) else leaf

    return jax.tree_util.tree_map_with_path(fill, tree)
