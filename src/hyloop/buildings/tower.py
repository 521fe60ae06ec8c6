"""Braced towers in space: a core of braced frames, rigid floors and outriggers."""

from dataclasses import replace
from math import hypot
from typing import Any

import numpy as np

from hyloop.buildings.tower_layout import Table, Tower
from hyloop.errors import OutOfBounds
from hyloop.structure.fibres.materials import Steel
from hyloop.structure.fibres.sections import ElasticSection
from hyloop.structure.frames.model import Model

__all__ = ["Tower", "filled_box", "tower"]

E_STEEL, E_CONCRETE, G_STEEL, GRAVITY = 200e9, 40e9, 77e9, 9.81
YIELD_STRESS = 290e6  # Pa, from which the nominal area of a brace follows
YIELDING_PART = 0.7  # of the length of a brace between its nodes; the rest is taken as rigid
HARDENING = 0.02

BEAM = ElasticSection(E=E_STEEL, A=0.035, Iz=4e-3, Iy=3e-4, G=G_STEEL, J=1e-5)
CHORD = ElasticSection(E=E_STEEL, A=0.18, Iz=4.5e-3, Iy=4.5e-3, G=G_STEEL, J=6e-3)


def filled_box(size: float, plate: float, axial: float = 1.0) -> ElasticSection:
    r"""Square steel box filled with concrete, as an equivalent steel section.

    .. math:: EA = E_s A_s + E_c A_c, \qquad EI = E_s I_s + \tfrac12 E_c I_c, \qquad J = t\,(b - t)^3

    Parameters
    ----------
    size, plate : float
        Outer width b and thickness t in m.
    axial : float
        Factor on EA.
    """
    if not 0.0 < 2 * plate < size:
        raise OutOfBounds(f"filled_box: a plate of {plate:g} m does not fit into a box of {size:g} m.")
    inside, n = size - 2 * plate, E_CONCRETE / E_STEEL
    A = (size**2 - inside**2) + n * inside**2
    inertia = (size**4 - inside**4) / 12 + 0.5 * n * inside**4 / 12
    J = plate * (size - plate) ** 3  # of the thin-walled box alone
    return ElasticSection(E=E_STEEL, A=axial * A, Iz=inertia, Iy=inertia, G=G_STEEL, J=J)


def tower(layout: Tower | None = None, **changes: Any) -> Model:
    """The model of a braced tower.

    Nodes are ``"N3-12"`` (column N3 at level 12), ``"N3S3-12"`` (apex of the braces between N3 and S3),
    ``"NEtip-24"`` (end of an outrigger) and ``"floor12"`` (master of a floor, at its centre of mass). Gravity acts by
    P-Delta: the weight above each story leans on its floors.

    Parameters
    ----------
    layout : Tower, optional
        Default: the 40-story tower, with 44 levels and 1080 braces.
    changes
        Fields of `Tower` to change.

    Examples
    --------
    >>> small = tower(heights=(4.0,) * 3, basements=0, outriggers=(3,))
    >>> sum(name.startswith("brace") for name in small.members)
    80
    """
    t = replace(layout or Tower(), **changes)
    model = Model(dimensions=3)
    _nodes(model, t)
    for level in range(1, t.levels + 1):
        _columns(model, t, level)
        for a, b in t.frames:
            _braced_bay(model, t, level, a, b)
        _floor(model, t, level)
    for level in t.outriggers:
        for core, corner in t.arms:
            _outrigger(model, t, level, core, corner)
    return model


def _nodes(model: Model, t: Tower) -> None:
    height = np.concatenate([[0.0], np.cumsum(t.heights)])
    for level, y in enumerate(height):
        for name, (x, z) in t.columns.items():
            model.node(f"{name}-{level}", x, y, z)
        for a, b in t.frames if level else ():
            x, z = np.mean([t.columns[a], t.columns[b]], axis=0)
            model.node(f"{a}{b}-{level}", x, y, z)
    for name in t.columns:
        model.support(f"{name}-0", "pinned")
    for top in t.outriggers:
        for level in (top - 1, top):
            for _, corner in t.arms:
                model.node(f"{corner}tip-{level}", *model.nodes[f"{corner}-{level}"])


def _columns(model: Model, t: Tower, level: int) -> None:
    corners = {corner for _, corner in t.arms}
    for name in t.columns:
        if name in corners:
            section = filled_box(*_row(t.corner_boxes, level), axial=t.corner_area)
        else:
            section = filled_box(*_row(t.core_boxes, level), axial=t.core_area[_on_end_line(t, name)])
        model.elastic(f"column {name}-{level}", f"{name}-{level - 1}", f"{name}-{level}", section)


def _braced_bay(model: Model, t: Tower, level: int, a: str, b: str) -> None:
    apex = f"{a}{b}-{level}"
    model.elastic(f"beam {a}-{apex}", f"{a}-{level}", apex, BEAM, release=("i",))
    model.elastic(f"beam {apex}-{b}", apex, f"{b}-{level}", BEAM, release=("j",))
    across = a[1:] == b[1:]  # on one line, from row to row
    kind = int(_on_end_line(t, a)) if across else 2
    taper = 1.0 - (1.0 - t.brace_taper[not across]) * level / t.levels
    (force,) = _row(t.brace_strength, level)
    for foot in (a, b):
        _brace(model, f"brace {foot}-{apex}", f"{foot}-{level - 1}", apex, force, t.brace_area[kind] * taper)


def _outrigger(model: Model, t: Tower, level: int, core: str, corner: str) -> None:
    # chords are pinned to the core column, and their tips free to slide on the floor: it holds the core only
    for k in (level - 1, level):
        model.elastic(f"chord {corner}-{k}", f"{core}-{k}", f"{corner}tip-{k}", CHORD, release=("i",))
    model.elastic(f"post {corner}-{level}", f"{corner}tip-{level - 1}", f"{corner}tip-{level}", CHORD)
    for foot, head in ((level - 1, level), (level, level - 1)):
        _brace(
            model,
            f"brace {core}-{foot}-{corner}tip-{head}",
            f"{core}-{foot}",
            f"{corner}tip-{head}",
            t.outrigger_strength,
            1.0,
        )


def _brace(model: Model, name: str, i: str, j: str, force: float, area_factor: float) -> None:
    area = force / YIELD_STRESS * area_factor
    length = YIELDING_PART * float(np.linalg.norm(model.nodes[j] - model.nodes[i]))
    model.brace(name, i, j, Steel(fy=force / area, E=E_STEEL, b=HARDENING), area, length)


def _floor(model: Model, t: Tower, level: int) -> None:
    nodes = [f"{name}-{level}" for name in t.columns] + [f"{a}{b}-{level}" for a, b in t.frames]
    y, (a, b) = model.nodes[nodes[0]][1], t.plan
    if t.wall > 0.0 and level <= t.basements:
        model.node(f"wall-{level}", 0.0, y, 0.0)
        model.node(f"ground-{level}", 0.0, y, 0.0)
        model.support(f"wall-{level}", "uy")
        model.support(f"ground-{level}")
        springs = {"ux": t.wall, "uz": t.wall, "ry": t.wall * (a**2 + b**2) / 8}
        model.link(f"wall {level}", f"ground-{level}", f"wall-{level}", springs)
        nodes.append(f"wall-{level}")
    radius = t.gyration * hypot(a, b) / np.sqrt(12.0)
    centre = (t.eccentricity[0] * a, y, t.eccentricity[1] * b)
    model.diaphragm(f"floor{level}", nodes, centre, mass=t.mass, rotary=t.mass * radius**2)
    weight_above = (t.levels - level + 1) * t.mass * GRAVITY
    below = f"floor{level - 1}" if level > 1 else "N1-0"  # any node that stands still
    model.lean_on(f"weight {level}", below, f"floor{level}", weight_above)


def _row(table: Table, level: int) -> tuple[float, ...]:
    return next(tuple(values) for last, *values in table if level <= last)


def _on_end_line(t: Tower, column: str) -> bool:
    return column[1:] in ("1", str(t.bays + 1))
