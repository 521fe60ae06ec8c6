"""What of a live OpenSees model is not linear: read from its own description of itself.

``printModel -JSON`` lists materials, sections, transformations and elements, one after the other. Not every class of
OpenSees can print itself as JSON, so entries are read one by one; what cannot be read counts as not linear.
"""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

__all__ = ["not_linear", "tags_of"]

GROUPS = ("uniaxialMaterials", "ndMaterials", "sections", "crdTransformations", "elements")
# small displacements, and linear if what they are made of is
ELEMENTS = {
    "ElasticBeam2d",
    "ElasticBeam3d",
    "ModElasticBeam2d",
    "ModElasticBeam3d",
    "ElasticTimoshenkoBeam2d",
    "ElasticTimoshenkoBeam3d",
    "ForceBeamColumn2d",
    "ForceBeamColumn3d",
    "DispBeamColumn2d",
    "DispBeamColumn3d",
    "Truss",
    "TrussSection",
    "ZeroLength",
    "ZeroLengthSection",
    "TwoNodeLink",
    "FourNodeQuad",
    "ShellMITC4",
    "ShellDKGQ",
    "Brick",
}
MADE_OF = {
    "LinearCrdTransf2d",
    "LinearCrdTransf3d",
    "ElasticSection2d",
    "ElasticSection3d",
    "ElasticShearSection2d",
    "ElasticShearSection3d",
    "ElasticMembranePlateSection",
    "FiberSection2d",
    "FiberSection3d",
    "PlateFiber",
    "SectionAggregator",
    "ElasticMaterial",
    "ElasticIsotropicMaterial",
    "ParallelMaterial",
    "SeriesMaterial",
}
# keys of an entry that name others, and the groups they may stand in
REFERENCES = {
    "material": ("uniaxialMaterials", "ndMaterials"),
    "materials": ("uniaxialMaterials", "ndMaterials"),
    "section": ("sections",),
    "sections": ("sections",),
    "crdTransformation": ("crdTransformations",),
}

Entries = dict[str, dict[str, dict[str, Any]]]  # group, name, entry


def not_linear(ops: Any) -> list[str]:
    """One sentence for every kind of element that is not linear: which elements they are, and why."""
    entries = _read(_description(ops))
    found: dict[tuple[str, str], list[int]] = {}
    for tag in ops.getEleTags():
        entry = entries["elements"].get(str(tag), {"type": ops.eleType(tag)})
        unknown = [] if entry["type"] in ELEMENTS and str(tag) in entries["elements"] else ["not known as linear"]
        reasons = unknown or sorted(set(_reasons(entry, entries)))
        if reasons:
            found.setdefault((entry["type"], ", ".join(reasons)), []).append(tag)
    return [f"{kind} ({tags_of('element', tags)}): {why}" for (kind, why), tags in found.items()]


def tags_of(word: str, tags: Iterable[int]) -> str:
    """Tags in a sentence: "elements 1, 2, 3"."""
    tags = sorted(set(tags))
    shown = ", ".join(map(str, tags[:6])) + (", ..." if len(tags) > 6 else "")
    return f"{word}{'s' if len(tags) > 1 else ''} {shown}"


def _reasons(entry: dict[str, Any], entries: Entries) -> Iterable[str]:
    """Types of what an entry is made of, as far as they are not linear."""
    parts = [entry, *entry.get("fibers", ())]
    for key, groups in REFERENCES.items():
        for name in (name for part in parts for name in _listed(part.get(key, ()))):
            # a material of either group may be meant: OpenSees numbers them apart
            named = [entries[group][name] for group in groups if name in entries[group]]
            if not named:
                yield f"{key.removesuffix('s')} {name}, which OpenSees does not describe"
            for other in named:
                if other["type"] not in MADE_OF:
                    yield other["type"]
                elif not _symmetric(other):
                    yield f"{other['type']} with two moduli or damping"
                yield from _reasons(other, entries)


def _symmetric(entry: dict[str, Any]) -> bool:
    """An elastic material has one modulus for both directions, and no damping."""
    return entry.get("Epos") == entry.get("Eneg") and not entry.get("eta")


def _listed(value: Any) -> list[str]:
    return [str(name) for name in (value if isinstance(value, (list, tuple)) else [value])]


def _description(ops: Any) -> str:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        ops.printModel("-JSON", "-file", str(path))
        return path.read_text()


def _read(text: str) -> Entries:
    entries: Entries = {group: {} for group in GROUPS}
    group, pending = "", ""
    for line in map(str.strip, text.splitlines()):
        if heading := re.fullmatch(r'"(\w+)": \[', line):
            group, pending = heading[1], ""
        # an entry begins with its name and may go on over lines
        pending = line if line.startswith('{"name"') else pending + line if pending else ""
        if group not in entries or not pending:
            continue
        try:
            entry = json.loads(pending.removesuffix(","))
        except json.JSONDecodeError:
            continue
        entries[group][str(entry["name"])] = entry
        pending = ""
    return entries
