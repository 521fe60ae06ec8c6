"""A model as nodes and lines, for pictures of what moves."""

from typing import Any

from hyloop.structure.frames.members import LeanOn
from hyloop.structure.frames.model import Model

__all__ = ["LINES", "wireframe"]

LINES = 1500  # lines; more are a grey cloud and weigh on every recording


def wireframe(model: Model) -> dict[str, Any]:
    """Coordinates of all nodes, pairs of nodes that members join, and the rigid floor of nodes that have one.

    Empty for a model with too many members to be drawn line by line.
    """
    members = [[m.i, m.j] for m in model.members.values() if not isinstance(m, LeanOn)]
    if len(members) > LINES:
        return {}
    return {
        "nodes": {name: [round(float(x), 4) for x in place] for name, place in model.nodes.items()},
        "members": members,
        "rigid": {node: floor.name for floor in model.floors.values() for node in floor.nodes},
    }
