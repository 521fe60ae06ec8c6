"""A structure from an OpenSeesPy script that runs in a process of its own."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hyloop.errors import BadInput, UnknownName
from hyloop.structure.condensation import condense
from hyloop.structure.frames.opensees_process import FAILED, REFUSED
from hyloop.structure.frames.script_running import run_within, what_was_printed
from hyloop.structure.frames.wireframe import LINES
from hyloop.structure.structure import DENSE, Structure

__all__ = ["ScriptModel", "run_script"]

_ROTATIONS = ("rx", "ry", "rz")


@dataclass(frozen=True, eq=False)
class ScriptModel:
    """What an OpenSeesPy script built, in SI units.

    Attributes
    ----------
    script : str
        Name of the script's file.
    sha256 : str
        Of the script that ran.
    structure : Structure
        Mass, tangent stiffness, damping and the state at rest under the loads; names such as ``"3.ux"``.
    dimensions : int
    nodes : dict of str to ndarray
        Places, by tag.
    dofs : dict of str to int
        Rows of `motions`, by names of the degrees of freedom of all nodes.
    equations : tuple of str
        Degrees of freedom of the model that are free; all those of the structure, where none is condensed.
    motions : ndarray
        How all follow from these: those held, and those that follow others, too.
    elements : dict of str to (str, tuple of str)
        Kind and nodes, by tag.
    held : tuple of str
        Degrees of freedom that do not move.
    left_out : tuple of str
        What the structure does not have of the model, a sentence for each.
    """

    script: str
    sha256: str
    structure: Structure
    dimensions: int
    nodes: dict[str, np.ndarray]
    dofs: dict[str, int]
    equations: tuple[str, ...]
    motions: np.ndarray
    elements: dict[str, tuple[str, tuple[str, ...]]]
    held: tuple[str, ...]
    left_out: tuple[str, ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of results must know."""
        size = f"{len(self.nodes)} nodes, {len(self.elements)} elements, {self.structure.n} degrees of freedom"
        note = f"structure: the OpenSees model that {self.script} builds ({size}), sha256 {self.sha256[:16]}"
        left = f"structure: linearised, without {'; '.join(self.left_out)}"
        return (note, left) if self.left_out else (note,)

    def between(self, ends: tuple[str, ...]) -> np.ndarray:
        """Direction of a device: two nodes, along the line between them with elongation positive; or a degree of
        freedom, alone or less another: ``("3.ux", "1.ux")``."""
        pairs = [end.partition(".") for end in ends]
        for node, _, _ in pairs:
            if node not in self.nodes:
                raise UnknownName("node", node, self.nodes)
        if all(dof for _, _, dof in pairs):
            row = self._motion(ends[0]) - (self._motion(ends[1]) if len(ends) == 2 else 0.0)
        elif len(ends) == 2 and not any(dof for _, _, dof in pairs):
            row = self._along(*ends)
        else:
            raise BadInput(f"got {list(ends)}; name two nodes, or degrees of freedom such as '{pairs[0][0]}.ux'.")
        if not row.any():
            raise BadInput(f"{' and '.join(ends)}: both ends move alike or not at all.")
        place = {name: k for k, name in enumerate(self.structure.names)}
        direction = np.zeros(self.structure.n)
        for k in np.flatnonzero(row):
            if self.equations[k] not in place:
                raise BadInput(f"{self.equations[k]} has been condensed; name it in structure.condense to keep it.")
            direction[place[self.equations[k]]] = row[k]
        return direction

    def wireframe(self) -> dict[str, Any]:
        """Nodes and lines for a picture of what moves; none in space, where OpenSees usually has z point up."""
        lines = [list(pair) for _, nodes in self.elements.values() for pair in pairwise(nodes)]
        if self.dimensions != 2 or len(lines) > LINES:
            return {}
        return {
            "nodes": {name: [round(float(x), 4) for x in place] for name, place in self.nodes.items()},
            "members": lines,
            "rigid": {},
        }

    def condensed(self, named: Sequence[str]) -> "ScriptModel":
        """The same without the degrees of freedom that have no mass, but for those named.

        Raises
        ------
        BadInput
            If damping acts on one of them by itself, so that the response would be another.
        """
        full = self.structure
        for name in named:
            full.dof(name)
        heavy = np.asarray(abs(full.M).sum(axis=1)).ravel() > 0.0
        keep = [k for k, name in enumerate(full.names) if heavy[k] or name in named]
        if not keep:
            raise BadInput("condense: no degree of freedom has mass; add masses to the script.")
        small, T = condense(full, keep)
        whole: Any = T
        alone = np.delete(full.C @ (whole.toarray() if full.is_sparse else whole), keep, axis=0)
        if abs(alone).max(initial=0.0) > 1e-9 * abs(full.C).max():
            raise BadInput(
                "condense: the script's damping acts on degrees of freedom without mass. Give damping here instead of "
                "in the script, or leave condense out and use mkr_alpha, which needs no mass."
            )
        return replace(self, structure=small)

    def _along(self, i: str, j: str) -> np.ndarray:
        line = self.nodes[j] - self.nodes[i]
        length = np.linalg.norm(line)
        if length == 0.0:
            raise BadInput(f"nodes {i} and {j} lie in one place; name the direction too: ['{j}.ux', '{i}.ux'].")
        directions = ("ux", "uy", "uz")[: self.dimensions]
        return sum(
            (
                c * (self._motion(f"{j}.{dof}") - self._motion(f"{i}.{dof}"))
                for c, dof in zip(line / length, directions, strict=True)
            ),
            start=np.zeros(len(self.equations)),
        )

    def _motion(self, dof: str) -> np.ndarray:
        if dof not in self.dofs:
            node = dof.partition(".")[0]
            raise UnknownName("degree of freedom", dof, [name for name in self.dofs if name.startswith(f"{node}.")])
        return self.motions[self.dofs[dof]]


def run_script(
    script: Path,
    function: str = "build",
    arguments: Mapping[str, Any] | None = None,
    *,
    ground: str = "ux",
    directions: Sequence[str] = (),
    length: float = 1.0,
    force: float = 1.0,
    linearise: bool = False,
    timeout: float = 60.0,
) -> ScriptModel:
    """Run an OpenSeesPy script in a process of its own and read the model it leaves. It may do anything: trust it.

    Parameters
    ----------
    script : Path
        It is run as a module, from its own folder, and then `function` of it is called with `arguments`.
    ground : str
        Direction of the ground motion, and of the stories.
    directions : sequence of str
        Directions of several ground motions; default: `ground` alone.
    length, force : float
        Units of the script in m and N; time is in s.
    linearise : bool
        Take the tangent of the state the script leaves where the model is not linear; otherwise it is refused.
    timeout : float
        Seconds after which it is stopped.

    Raises
    ------
    BadInput
        If the script fails, takes too long, or its model cannot be carried over exactly.
    """
    if not script.is_file():
        raise BadInput(f"{script} is missing. Check the path.")
    with TemporaryDirectory() as folder:
        task, said, result = (Path(folder) / name for name in ("task.json", "said.txt", "model.npz"))
        words = {"script": str(script.resolve()), "function": function, "arguments": dict(arguments or {})}
        task.write_text(json.dumps(words | {"linearise": linearise, "result": str(result)}), encoding="utf-8")
        # unbuffered (-u): what is printed before a sudden end is there to be shown
        command = [sys.executable, "-u", "-m", "hyloop.structure.frames.opensees_process", str(task)]
        with said.open("wb") as output:
            code = run_within(command, output, timeout)
        printed = what_was_printed(said)
        if code is None:
            raise BadInput(
                f"{script.name} did not end within {timeout:g} s. Set structure.timeout if that is too short.{printed}"
            )
        refusal = result.with_suffix(".json")
        if code == REFUSED and refusal.is_file():
            raise BadInput(f"{script.name}: {json.loads(refusal.read_text(encoding='utf-8'))}")
        if code == FAILED or code < 0:
            raise BadInput(f"{script.name} failed.{printed}")
        if code != 0 or not result.is_file():
            raise BadInput(
                f"{script.name}: the script ended before the model was read. Take exit() out of it.{printed}"
            )
        with np.load(result, allow_pickle=False) as arrays:
            return _model(script.name, dict(arrays), ground, tuple(directions) or (ground,), length, force)


def _floors(nodes: Mapping[str, np.ndarray], heavy: Sequence[str], ground: str) -> dict[str, float]:
    """Degrees of freedom of the floors along the ground motion, bottom to top, and their heights above the feet.

    A floor is the leftmost node of a level that has mass; y points up in the plane, and z in space. None where the
    ground moves up and down.
    """
    up = len(next(iter(nodes.values()))) - 1
    if up == 0 or ground == ("ux", "uy", "uz")[up]:
        return {}
    foot = min(float(place[up]) for place in nodes.values())
    own = sorted((name.split(".")[0] for name in heavy if name.endswith(f".{ground}")), key=lambda n: -nodes[n][0])
    levels = {round(float(nodes[node][up]) - foot, 6): node for node in own}
    return {f"{levels[height]}.{ground}": height for height in sorted(levels) if height > 0.0}


def _model(
    script: str, found: dict[str, np.ndarray], ground: str, directions: Sequence[str], length: float, force: float
) -> ScriptModel:
    labels, names = found["labels"].tolist(), found["dofs"].tolist()
    own, every = (
        np.array([1.0 if name.split(".")[1] in _ROTATIONS else length for name in group]) for group in (labels, names)
    )
    # u in SI is `own` times u in the units of the script; work is in force times length
    M, C, K = (force * length * found[key] / np.outer(own, own) for key in "MCK")
    for direction in directions:
        if not any(label.endswith("." + direction) for label in labels):
            known = {label.split(".")[1] for label in labels}
            raise UnknownName("direction of ground motion", direction, known)
    rest = own * found["at_rest"]
    tags = [str(tag) for tag in found["nodes"]]
    nodes = dict(zip(tags, length * found["places"], strict=True))
    floors = _floors(nodes, [name for name, m in zip(labels, M.diagonal(), strict=True) if m > 0.0], ground)
    keep = csr_array if len(K) > DENSE else np.asarray
    structure = Structure(
        M=keep(M),
        K=keep(K),
        C=keep(C) if C.any() else None,
        influence=np.array([[float(label.endswith("." + d)) for d in directions] for label in labels]),
        directions=[direction[1:] for direction in directions],
        names=labels,
        dead_load=K @ rest,
        at_rest=rest,
        floors=list(floors),
        heights=np.diff([0.0, *floors.values()]),
    )
    ends = [tuple(str(node) for node in row if node >= 0) for row in found["ends"]]
    return ScriptModel(
        script,
        str(found["sha256"]),
        structure,
        int(found["dimensions"]),
        nodes,
        {name: k for k, name in enumerate(names)},
        tuple(labels),
        every[:, None] * found["motions"] / own,
        dict(zip(map(str, found["elements"]), zip(found["kinds"].tolist(), ends, strict=True), strict=True)),
        tuple(found["held"].tolist()),
        tuple(found["left_out"].tolist()),
    )
