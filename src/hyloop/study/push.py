"""Push the frame of a file: an experiment file with its devices, or a file of a frame."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.errors import BadInput
from hyloop.files.frames.frame import FrameBase, with_stories
from hyloop.files.frames.models import load_frame
from hyloop.files.load import load_experiment, read_experiment
from hyloop.files.opensees import OpenSeesScript
from hyloop.files.units import quantity
from hyloop.loop.building import describe_building
from hyloop.record import Recording
from hyloop.report.provenance import provenance
from hyloop.report.push_result import capacity
from hyloop.structure import Model, PushedDevice, Pushover, Structure, cycles, pushover
from hyloop.structure.frames.load_patterns import PATTERNS, roof
from hyloop.structure.frames.pushover import STEPS, control_heights
from hyloop.structure.frames.wireframe import wireframe
from hyloop.study.build import build

__all__ = ["Pushed", "push_file", "push_recording"]

DEFAULT = "3 %"  # roof drift, beyond what codes allow in an earthquake


@dataclass(frozen=True, eq=False)
class Pushed:
    """A pushover of a file, and what is needed to show it.

    Attributes
    ----------
    curve : Pushover
    structure : Structure
    model : Model, optional
        Of a frame with nodes.
    title : str
    building : dict
        Floors, heights, nodes, members and sites, as in the recordings of runs.
    weight : float
        Of all mass along the direction of the push, in N.
    pattern : str
        In words.
    notes : tuple of str
        What a reader must know: what was left out, where the path was left, why it ended.
    """

    curve: Pushover
    structure: Structure
    model: Model | None
    title: str
    building: dict[str, Any]
    weight: float
    pattern: str
    notes: tuple[str, ...]


def push_file(
    file: Path,
    overrides: Sequence[str] = (),
    *,
    targets: str | None = None,
    cyclic: str | None = None,
    repeat: int = 1,
    pattern: str = "first_mode",
    control: str | None = None,
    steps: int = STEPS,
    allow_scripts: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Pushed:
    """Push the structure of a file.

    Parameters
    ----------
    targets, cyclic : str
        Displacements of the control degree of freedom, as in ``"3 %"`` (of its height), ``"120 mm"`` or a list with
        commas; visited one after another, or each to and fro `repeat` times. One of the two.
    pattern : str
        A name of `load_pattern`, or loads by degree of freedom: ``"floor1.ux=1, floor2.ux=2"``.
    control : str, optional
        Degree of freedom that is led; default: the roof.

    Raises
    ------
    BadInput
        For a file or a target that is refused.
    """
    if targets is not None and cyclic is not None:
        raise BadInput("--targets and --cycles are both given; give one of them.")
    structure, model, devices, laws, title, building = _parts(file, overrides, allow_scripts)
    at = roof(structure) if control is None else structure.dof(control)
    height = float(control_heights(structure, model)[at])
    if cyclic is not None:
        goals = cycles(_displacements("--cycles", cyclic, height, structure.names[at]), repeat)
    else:
        goals = _displacements("--targets", targets or DEFAULT, height, structure.names[at])
    loads = _pattern(pattern)
    curve = pushover(structure, goals, loads, at, steps=steps, devices=devices, model=model, progress=progress)
    along = structure.influence[:, int(np.argmax(np.abs(structure.influence[at])))]
    notes = [
        f"{name} ({laws.get(name, 'members of the frame')}) is left out: its force depends on velocity or on more than "
        "its deformation."
        for name in curve.left_out
    ]
    if curve.leaps:
        places = ", ".join(f"{1e3 * leap:.4g}" for leap in curve.leaps)
        notes.append(
            f"The path falls back behind {curve.control} = {places} mm (cracks close or cover spalls all at once); it "
            "was left there and found again farther on. What stands behind hangs on the size of the steps: try others."
        )
    notes += [f"{curve.fault[0].upper()}{curve.fault[1:]}"] if curve.fault else []
    return Pushed(
        curve=curve,
        structure=structure,
        model=model,
        title=title,
        building=building,
        weight=9.80665 * float(along @ (structure.M @ along)),
        pattern=pattern.replace("_", " ") if isinstance(loads, str) else pattern,
        notes=tuple(notes),
    )


def push_recording(pushed: Pushed, source: Path | None = None, overrides: Sequence[str] = ()) -> Recording:
    """The states of equilibrium as a recording; its time counts them.

    ``control`` is the displacement that was led, from rest; ``u.NAME`` count from the unloaded shape, as in runs.
    """
    curve, structure = pushed.curve, pushed.structure
    channels = {
        "control": ("m", curve.displacement),
        "load_factor": ("-", curve.load_factor),
        "base_shear": ("N", curve.base_shear),
        **{f"drift.{k + 1}": ("m", drift) for k, drift in enumerate(curve.drifts.T)},
    }
    if structure.heights:
        ratios = curve.drifts / np.asarray(structure.heights)
        channels |= {f"drift_ratio.{k + 1}": ("-", ratio) for k, ratio in enumerate(ratios.T)}
    for name, (d, f) in curve.devices.items():
        channels |= {f"{name}.d": ("m", d), f"{name}.f": ("N", f)}
    channels |= {f"u.{name}": ("m", column) for name, column in zip(structure.names, curve.u.T, strict=True)}
    about = provenance(source, None) | {
        "title": pushed.title,
        "notes": list(pushed.notes),
        "building": pushed.building,
        "push": {
            "control": curve.control,
            "pattern": pushed.pattern,
            "hinges": [
                {"member": h.member, "kind": h.kind, "row": h.row, "ductility": h.ductility} for h in curve.hinges
            ],
            "capacity": capacity(curve).as_dict(),
        },
    }
    if overrides:
        about["overrides"] = list(overrides)
    if curve.fault:
        about["fault"] = curve.fault
    units, columns = zip(*channels.values(), strict=True)
    rows = np.arange(len(curve.displacement), dtype=float)
    return Recording(rows, np.column_stack(columns), tuple(channels), units, about, complete=curve.complete)


def _parts(file: Path, overrides: Sequence[str], allow_scripts: bool) -> tuple:
    """Structure, model, devices and their laws, title and picture of what stands in a file."""
    data = read_experiment(file)
    if "structure" not in data:
        spec = load_frame(file, overrides)
        if isinstance(spec, OpenSeesScript):
            script = spec.model(allow_scripts)
            return script.structure, None, {}, {}, file.stem, describe_building(script.structure, ())
        model = spec.model()
        structure = with_stories(model, spec.structure(model))
        building = describe_building(structure, ()) | wireframe(model)
        return structure, model, {}, {}, spec.title or file.stem.replace("_", " "), building
    experiment = load_experiment(file, list(overrides))
    built = build(experiment, allow_scripts=allow_scripts)
    model = experiment.structure.model() if isinstance(experiment.structure, FrameBase) else None
    sites = built.loop.sites
    devices = {site.name: PushedDevice(site.device, site.along, site.count) for site in sites}
    laws = {site.name: site.device.block.name for site in sites}
    title = experiment.title or file.stem.replace("_", " ")
    return built.loop.structure, model, devices, laws, title, built.building


def _displacements(option: str, text: str, height: float, control: str) -> list[float]:
    found = []
    for word in text.split(","):
        if "%" in word:
            if not height > 0.0:
                raise BadInput(
                    f"{option}: '{word.strip()}' is a part of the height of {control}, which is not known. Give "
                    "lengths, such as '100 mm', or story heights in the file."
                )
            found.append(height * quantity(word.strip(), "-", option))
        else:
            found.append(quantity(word.strip(), "m", option))
    return found


def _pattern(text: str) -> str | dict[str, float]:
    if "=" not in text:
        return text.strip().replace(" ", "_").replace("-", "_")
    loads = {}
    for word in text.split(","):
        name, equals, value = word.partition("=")
        if not equals or not name.strip():
            raise BadInput(
                f"--pattern: '{word.strip()}' is no load; write 'floor1.ux=1, floor2.ux=2', or one of {list(PATTERNS)}."
            )
        loads[name.strip()] = quantity(value.strip(), "-", f"--pattern: {name.strip()}")
    return loads
