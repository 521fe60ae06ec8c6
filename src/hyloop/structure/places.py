"""Where excitations act, and their names: directions of the ground, degrees of freedom, floors on top of stories."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName

if TYPE_CHECKING:
    from hyloop.structure.structure import Structure

__all__ = ["by_direction", "excitation_names", "labels", "load_columns", "place"]

_STORY = re.compile(r"story (?P<number>\d+)(?:\.(?P<dof>\w+))?")


def place(structure: "Structure", name: str) -> int:
    """Index of a degree of freedom by its name, or of the floor on top of a story: "story 3", "story 3.uz".

    "story 3" is the degree of freedom that `Structure.floors` has for it, and with an ending another one of the same
    node.
    """
    found = _STORY.fullmatch(name)
    if name in structure.names or found is None:
        return structure.dof(name)
    number, floors = int(found["number"]), structure.floors
    if not floors:
        raise BadInput(f"'{name}': this structure does not know its floors. Name the degree of freedom.")
    if not 1 <= number <= len(floors):
        raise OutOfBounds(f"'{name}' does not exist; stories run from 1 to {len(floors)}.")
    own = structure.names[structure.dof(floors[number - 1])]
    if found["dof"] is None:
        return structure.dof(own)
    node = own.rpartition(".")[0]
    other = f"{node}.{found['dof']}"
    if not node or other not in structure.names:
        beside = [f"story {number}", *_beside(structure, node, number)]
        raise UnknownName("degree of freedom", name, beside)
    return structure.dof(other)


def _beside(structure: "Structure", node: str, number: int) -> list[str]:
    own = [name.rpartition(".") for name in structure.names]
    return [f"story {number}.{dof}" for stem, dot, dof in own if dot and stem == node]


def load_columns(structure: "Structure", loads: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """Unit loads at the places of a load history, or at these places, and their names; without those there already."""
    names: Sequence[str] = tuple(getattr(loads, "at", loads))
    if structure.loads.shape[1] and not structure.load_names:
        raise BadInput("the loads of this structure have no names; give load_names, one for each, to add others.")
    new = tuple(dict.fromkeys(name for name in names if name not in structure.load_names))
    columns = np.zeros((structure.n, len(new)))
    columns[[place(structure, name) for name in new], range(len(new))] = 1.0
    return columns, new


def labels(key: str, given: Sequence[str], columns: np.ndarray) -> tuple[str, ...]:
    """Different names for all columns, or none."""
    names = (given,) if isinstance(given, str) else tuple(given)
    if names and (len(names) != columns.shape[1] or len(set(names)) < len(names)):
        raise BadShape(f"{key}: {columns.shape[1]} different names are needed, got {list(names)}.")
    return names


def by_direction(structure: "Structure", word: str) -> tuple[str, ...]:
    """Channels of a quantity for each direction of the ground: its name alone where there is one direction."""
    count = structure.influence.shape[1]
    return (word,) if count == 1 else tuple(f"{word}.{d}" for d in structure.directions or range(1, count + 1))


def excitation_names(structure: "Structure") -> tuple[str, ...]:
    """Channel of each excitation: those of the ground, then those of the loads."""
    loads = structure.load_names or range(1, structure.loads.shape[1] + 1)
    return (*by_direction(structure, "ground"), *(f"load.{name}" for name in loads))
