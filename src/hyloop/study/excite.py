"""From the excitations and loads of an experiment to directions of the ground, load patterns and rows for a loop."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.files.directions import AXES, cosines
from hyloop.files.excitations import named_motion
from hyloop.files.frames.frame import FrameBase
from hyloop.files.loads import load_history
from hyloop.files.schema import Experiment
from hyloop.files.structures import Matrices, OpenSeesScript, ShearFrame, StructureSpec
from hyloop.hazards import GroundMotion, LoadHistory
from hyloop.structure import Model, Structure
from hyloop.structure.frames.opensees_script import ScriptModel
from hyloop.study.kept import Kept

__all__ = ["Excited", "check_mass", "excite", "ground_axes", "load_histories", "with_patterns"]

Loads = tuple[LoadHistory | None, tuple[str, ...]]  # all of them, added, and notes


class Excited(NamedTuple):
    """Rows for a loop, a column for each of its excitations; the ground motions, and notes on what was used."""

    rows: np.ndarray
    motions: tuple[GroundMotion, ...]
    notes: tuple[str, ...]


def ground_axes(experiment: Experiment) -> tuple[str, ...]:
    """Axes along which the ground moves, in the order x, y, z; none: the one direction that the structure has.

    A direction that the structure does not have is refused. With loads, a frame in space has both horizontal axes, so
    that there is a base shear for each.
    """
    wanted = set()
    for name, spec in experiment.motions.items():
        if spec.direction is None:
            continue
        own = {axis for axis, part in zip(AXES, cosines(spec.direction), strict=True) if part}
        where = f"excitations.{name}.direction" if name else "excitation.direction"
        said = f"{where}: got {list(spec.direction) if isinstance(spec.direction, tuple) else repr(spec.direction)}"
        if isinstance(experiment.structure, OpenSeesScript) and str(spec.direction).endswith(("deg", "rad")):
            raise BadInput(
                f"{said}; which way is up only the script knows, so that an angle in plan has no meaning. Give an axis "
                "of the script or a vector [cx, cy, cz]."
            )
        known, reason = _known(experiment.structure)
        if not own <= set(known):
            raise BadInput(f"{said}, which needs {' and '.join(sorted(own - set(known)))}, but {reason}.")
        wanted |= own
    undirected = any(spec.direction is None for spec in experiment.motions.values())
    if experiment.loads and not undirected and _in_space(experiment.structure):
        wanted |= {"x", "z"}
    if undirected and isinstance(experiment.structure, Matrices) and len(experiment.structure.columns()) > 1:
        raise BadInput(
            "excitation.direction: is missing; structure.influence has several directions: "
            f"{', '.join(experiment.structure.columns())}."
        )
    return tuple(axis for axis in AXES if axis in wanted)


def _in_space(spec: StructureSpec) -> bool:
    return isinstance(spec, FrameBase) and getattr(spec, "dimensions", 3) == 3 and spec.kind != "plane_frame"


def _known(spec: StructureSpec) -> tuple[tuple[str, ...], str]:
    """Axes of a structure, and why there are no others."""
    if isinstance(spec, ShearFrame):
        return ("x",), "the floors of a shear frame move along x alone"
    if isinstance(spec, Matrices):
        known = tuple(spec.columns())
        return known, f"structure.influence has {' and '.join(known)} alone; give it by direction: {{ x = [...] }}"
    if isinstance(spec, FrameBase) and not _in_space(spec):
        return ("x", "y"), "a frame in the plane moves along x and y alone"
    return AXES, ""


def check_mass(experiment: Experiment, structure: Structure) -> None:
    """Refuse a motion along an axis in which nothing has mass: it would do nothing."""
    moved = np.sum(structure.influence * (structure.M @ structure.influence), axis=0)
    without = {axis for axis, mass in zip(structure.directions, moved, strict=True) if not mass > 0.0}
    for name, spec in experiment.motions.items():
        parts: dict[str, float] = {}
        if spec.direction is not None:
            parts = dict(zip(AXES, cosines(spec.direction).tolist(), strict=True))
        if bad := sorted(axis for axis in without if parts.get(axis)):
            raise BadInput(
                f"{f'excitations.{name}' if name else 'excitation'}.direction: nothing in the structure has mass along "
                f"{' and '.join(bad)}, so that this motion does nothing. Give masses there, or leave it out."
            )


def load_histories(experiment: Experiment, structure: Structure) -> Loads:
    """All load histories of an experiment added, at the step of the integrator, and notes on them."""
    total, notes = None, []
    for name, spec in experiment.loads.items():
        history, note = load_history(name, spec, experiment.integrator.dt, experiment.seed, structure)
        total = history if total is None else total + history
        notes.append(note)
    return total, tuple(notes)


def with_patterns(structure: Structure, model: Model | ScriptModel | None, loads: LoadHistory) -> Structure:
    """The structure with a load pattern for each column of the loads; a node that moves with a floor hands them on."""
    columns = [_pattern(structure, model, name) for name in loads.at]
    return replace(structure, loads=np.column_stack([structure.loads, *columns]), load_names=loads.at)


def _pattern(structure: Structure, model: Model | ScriptModel | None, name: str) -> np.ndarray:
    try:
        return np.eye(1, structure.n, structure.place(name))[0]
    except UnknownName:
        if model is None or "." not in name or name.startswith("story "):
            raise
    return model.acting(structure, name) if isinstance(model, Model) else model.between((name,))


def excite(experiment: Experiment, structure: Structure, loads: Loads, kept: Kept) -> Excited:
    """Read or make the ground motions and put everything side by side; what ends first is followed by zeros."""
    dt, seed = experiment.integrator.dt, experiment.seed
    made = {
        name: kept.get(spec, (name, dt, seed), lambda name=name, spec=spec: named_motion(name, spec, dt, seed))
        for name, spec in experiment.motions.items()
    }
    history, about_loads = loads
    lengths = [len(motion) for motion, _ in made.values()] + ([] if history is None else [len(history)])
    directions = structure.influence.shape[1]
    rows, notes = np.zeros((max(lengths), directions + structure.loads.shape[1])), []
    for name, (motion, note) in made.items():
        direction = experiment.motions[name].direction
        if direction is None:
            parts = np.ones(1)
        else:
            parts = cosines(direction)[[AXES.index(axis) for axis in structure.directions]]
        rows[: len(motion), :directions] += motion.a[:, None] * parts
        notes.append(note + _zeros(len(motion), len(rows), dt))
    if history is not None:
        rows[: len(history), directions:] = history.values
        about_loads = tuple(note + _zeros(len(history), len(rows), dt) for note in about_loads)
    return Excited(rows, tuple(motion for motion, _ in made.values()), (*notes, *about_loads))


def _zeros(length: int, longest: int, dt: float) -> str:
    return f"; followed by {(longest - length) * dt:.4g} s of zeros" if length < longest else ""
