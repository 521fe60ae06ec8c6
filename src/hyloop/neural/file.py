"""The file of a network: safetensors with a header that says what is inside. The one place that writes and reads it.

Nothing in such a file is ever executed: numbers are safetensors, everything else is JSON. The header has

- ``kind``: ``"hyloop network"``,
- ``model``: what the numbers are, a name that a class of `hyloop.neural` has (`hyloop.neural.frozen.MODELS`),
- ``parts``: how the model is put together, as JSON,
- ``card``: signals, scaling, range, rate and history, as JSON (`hyloop.neural.card`),
- ``digest``: SHA-256 of the numbers.

Two older kinds of files are read as well: stacks of layers without ``model``, and ``"hysteresis_network"``.
"""

import hashlib
import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from hyloop.core.writing import replacing
from hyloop.errors import BadInput

__all__ = ["CHECKPOINT", "KIND", "Contents", "read", "unreadable", "write"]

KIND = "hyloop network"
CHECKPOINT = "hyloop training checkpoint"  # what a training keeps beside its network, see `hyloop.learn`
_OLD_KIND = "hysteresis_network"


class Contents(NamedTuple):
    """What a file holds, not yet made a network: the model, its parts, its numbers, and its card as plain data."""

    model: str
    parts: dict[str, Any]
    tensors: dict[str, np.ndarray]
    card: dict[str, Any]


def write(path: str | PathLike[str], contents: Contents) -> None:
    """Write a file, whole or not at all; its folder must be there."""
    path = Path(path)
    tensors = {key: np.ascontiguousarray(value) for key, value in contents.tensors.items()}
    header = {
        "kind": KIND,
        "model": contents.model,
        "parts": json.dumps(contents.parts, allow_nan=False),
        "digest": _digest(tensors),
        "card": json.dumps(contents.card, allow_nan=False),
    }
    try:
        with replacing(path) as part:
            part.write_bytes(save(tensors, header))
    except OSError as error:
        if not path.parent.is_dir():
            raise BadInput(f"{path}: there is no folder {path.parent}. Make the folder first.") from None
        raise BadInput(f"cannot write {path}: {error}. Give a folder that can be written to.") from error


def read(path: str | PathLike[str]) -> Contents:
    """Read a file of any age; numbers that are not those that were saved are refused."""
    try:
        data = Path(path).read_bytes()
        tensors = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")]).get("__metadata__", {})
        if header.get("kind") != CHECKPOINT:
            return _contents(tensors, header)
    except FileNotFoundError:
        raise BadInput(
            f"{path}: there is no such file. Make it with `hyloop train` or `save` of a network, or correct the name."
        ) from None
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise unreadable(path, error) from error
    name = Path(path).name.replace(".checkpoint", "")
    network = f"{name} beside it" if name != Path(path).name else "the network beside it"
    raise BadInput(
        f"{path}: is the checkpoint of a training, which `hyloop train --resume` goes on from. Take {network}, which "
        "is there when the training has ended."
    )


def unreadable(path: str | PathLike[str], error: Exception) -> BadInput:
    """The refusal of a file that holds no network, or a damaged one."""
    said = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) and error.args else str(error)
    return BadInput(f"{path}: no readable network ({said.rstrip('.')}). Copy the file again or train the network anew.")


def _contents(tensors: dict[str, np.ndarray], header: dict[str, Any]) -> Contents:
    if header.get("kind") == _OLD_KIND:
        return _old_hysteresis(tensors, json.loads(header["card"]))
    if header.get("kind") != KIND:
        raise BadInput(f"holds {header.get('kind')!r}, not a {KIND}")
    if _digest(tensors) != header["digest"]:
        raise BadInput("the weights are not those that were saved")
    card = json.loads(header["card"])
    if "model" not in header:  # before there was more than one
        return Contents("stack", {"architecture": json.loads(header["architecture"])}, tensors, card)
    return Contents(header["model"], json.loads(header["parts"]), tensors, card)


def _old_hysteresis(tensors: dict[str, np.ndarray], card: dict[str, Any]) -> Contents:
    """Such files had all in the card; signals and ranges follow from the scaling."""
    keys = ("error", "mse", "width", "depth", "energy", "stiffness")
    about = {key: value for key, value in card.items() if key not in (*keys, "dt", "seed", "data", "training")}
    data = card.get("data") or card.get("training", "")
    new = {"dt": card.get("dt", 0.0), "data": data, "seed": card.get("seed", 0), "about": about}
    return Contents("hysteresis", {key: card[key] for key in keys}, tensors, new)


def _digest(tensors: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for key in sorted(tensors):
        digest.update(key.encode() + np.ascontiguousarray(tensors[key]).tobytes())
    return digest.hexdigest()
