"""The page about a model: a picture, modes, masses, members and materials."""

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.report.charts import COLORS
from hyloop.report.model_picture import draw_model, lines, trace
from hyloop.report.model_sites import PlacedSite, site_lines, site_texts, sites_table
from hyloop.report.model_summary import ModelSummary, materials
from hyloop.report.page import Answer, Section, Table, write_page
from hyloop.report.provenance import versions
from hyloop.structure.frames.members import Elastic, Fibre
from hyloop.structure.frames.model import Model

__all__ = ["write_model"]


def write_model(path: Path, title: str, model: Model, summary: ModelSummary, sites: Sequence[PlacedSite] = ()) -> Path:
    """Write one HTML page about a model, with the sites of its experiment; it loads nothing."""
    plane = "plane" if model.dimensions == 2 else "space"
    first = f"{summary.periods[0]:.3g} s" if len(summary.periods) else "none"
    sentence = (
        f"A {plane} frame of {summary.counts['nodes']} nodes and {summary.counts['members']} members"
        f"{' that stands under its loads' if model.loads else ''}, with a first period of {first}."
    )
    sections = [
        *[Section("Sites", tables=[table]) for table in sites_table(sites)],
        Section("Size", tables=[_counts(summary)]),
        Section(
            "Modes",
            ["Of the initial stiffness. Mass: effective modal mass over all mass that moves in that direction."],
            tables=[_modes(summary)],
        ),
        Section("Masses and loads", tables=[_masses(summary), *_floors(model)]),
        Section("Sections and materials", tables=[*_sections(model), *_materials(model)]),
        Section(
            "Checks",
            tables=[
                Table("Passed", ["check"], [[text] for text in summary.checks]),
                Table("Versions", ["", "version"], [list(row) for row in versions().items()]),
            ],
        ),
    ]
    numbers = [
        (first, "first period"),
        (f"{summary.mass.get('ux', 0.0) / 1e3:.4g} t", "mass that moves in ux"),
        (f"{summary.structure.n}", "degrees of freedom"),
    ]
    drawing = draw_model(model, summary)
    if drawn := site_lines(sites):
        look: Any = {"line": {"width": 4, "color": COLORS[3], "dash": "dash"}, "hoverinfo": "text"}
        devices = trace(model, lines(drawn), "site of a device", "lines", **look, text=site_texts(sites))
        drawing = replace(drawing, data=[*drawing.data, devices])
    return write_page(path, title, Answer(sentence, numbers, drawing), sections)


def _counts(summary: ModelSummary) -> Table:
    return Table("Size", ["", "number"], [[name, count] for name, count in summary.counts.items()])


def _modes(summary: ModelSummary) -> Table:
    columns = ["mode", "period [s]", "frequency [Hz]", *(f"mass in {d} [%]" for d in summary.participation)]
    rows = [
        [k + 1, float(T), 1.0 / float(T), *(f"{100 * parts[k]:.1f}" for parts in summary.participation.values())]
        for k, T in enumerate(summary.periods)
    ]
    rows.append(["sum", None, None, *(f"{100 * parts.sum():.1f}" for parts in summary.participation.values())])
    return Table("Natural modes", columns, rows)


def _masses(summary: ModelSummary) -> Table:
    rows = [[f"mass that moves in {d} [t]", m / 1e3] for d, m in summary.mass.items()]
    rows += [["weight of the mass in ux [kN]", summary.weight / 1e3], ["dead load [kN]", summary.dead_load / 1e3]]
    return Table("Totals", ["", "value"], rows)


def _floors(model: Model) -> list[Table]:
    rows = []
    for name, floor in model.floors.items():
        rotary = model.masses.get(f"{name}.ry")
        rows.append(
            [
                name,
                float(floor.master[1]),
                len(floor.nodes),
                model.masses.get(f"{name}.ux", 0.0) / 1e3,
                None if rotary is None else rotary / 1e3,
            ]
        )
    columns = ["floor", "height [m]", "nodes", "mass of the master [t]", "moment of inertia [t m²]"]
    return [Table("Rigid floors", columns, rows)] if rows else []


def _sections(model: Model) -> list[Table]:
    """Stiffness of every section and how many members have it."""
    found: dict[Any, list[str]] = {}
    for member in model.members.values():
        if isinstance(member, (Elastic, Fibre)):
            section = member.section if isinstance(member, Elastic) else member.beam.sections[0]
            found.setdefault(section, []).append(member.name)
    rows = []
    for section, names in found.items():
        k = np.diag(section.stiffness(model.dimensions))
        kind = f"{len(section.area)} fibres" if hasattr(section, "area") else "elastic"
        rows.append([f"{names[0]}{', ...' if len(names) > 1 else ''}", len(names), kind, *(float(v) / 1e6 for v in k)])
    columns = ["first member", "members", "section", "EA [MN]", "EIz [MN m²]", "EIy [MN m²]"][: 3 + model.dimensions]
    return [Table("Sections of beam-columns, uncracked, about the member's axis", columns, rows)] if rows else []


def _materials(model: Model) -> list[Table]:
    rows = []
    for material, count in materials(model).items():
        text = ", ".join(f"{field.name} = {getattr(material, field.name):.5g}" for field in fields(material))
        rows.append([type(material).__name__, text, count])
    return (
        [Table("Materials of fibres and braces (SI units)", ["material", "parameters", "members"], rows)]
        if rows
        else []
    )
