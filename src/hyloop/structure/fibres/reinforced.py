"""Reinforced-concrete sections from their drawings."""

from collections.abc import Sequence

import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.fibres.materials import Material
from hyloop.structure.fibres.sections import FibreSection

__all__ = ["rc_rectangle"]


def rc_rectangle(
    width: float,
    depth: float,
    cover: float,
    core: Material,
    shell: Material,
    bars: Sequence,
    steel: Material,
    layers: tuple[int, int, int] = (5, 10, 5),
    columns: int = 1,
    GJ: float = 0.0,
) -> FibreSection:
    """A rectangular section: confined core, cover all round, bars.

    Parameters
    ----------
    width, depth : float
        Size along z and along y in m.
    cover : float
        From the faces to the outside of the hoops, where the core begins, in m; zero: no cover.
    core, shell : Material
        Concrete inside and outside the hoops, see `kent_park`.
    bars : sequence of (y, area) or (y, z, area)
        Bars, or layers of them, by their place from the centre in m and their area in m².
    steel : Material
        Material of the bars.
    layers : (int, int, int)
        Fibres over the depth: bottom cover, core, top cover. The cover beside the core has the layers of the core.
    columns : int
        Fibres across the width of the core; one is enough for bending about z.
    GJ : float
        Torsional stiffness in N m², needed in space.

    Examples
    --------
    >>> from hyloop.structure import Steel, kent_park
    >>> shell, core = kent_park(27.5e6, 0.01, 414e6, 0.35, 0.1)
    >>> bars = [(-0.2, 12.9e-4), (0.2, 12.9e-4)]
    >>> section = rc_rectangle(0.416, 0.457, 0.04, core, shell, bars, Steel(414e6, 200e9))
    >>> len(section.in_plane().y), round(float(section.area.sum()), 6)
    (32, 0.192692)
    """
    for name, value in (("width", width), ("depth", depth)):
        if not 0.0 < value < np.inf:
            raise OutOfBounds(f"rc_rectangle: {name} = {value:g} m must be positive.")
    if not 0.0 <= cover < min(width, depth) / 2:
        raise OutOfBounds(
            f"rc_rectangle: cover = {cover:g} m must lie between zero and half the smaller side, "
            f"{min(width, depth) / 2:g} m."
        )
    if len(layers) != 3 or min(layers) < 1 or columns < 1:
        raise OutOfBounds(f"rc_rectangle: layers {tuple(layers)} and columns {columns} must be at least one each.")
    placed = _bars(bars, width, depth)
    bottom, middle, top = layers
    beside = max(1, round(columns * cover / (width - 2 * cover)))
    y, z, c = depth / 2, width / 2, cover
    patches = [(core, -y + c, y - c, middle, -z + c, z - c, columns)]
    if c > 0.0:
        patches += [
            (shell, -y, -y + c, bottom, -z, z, columns),
            (shell, y - c, y, top, -z, z, columns),
            (shell, -y + c, y - c, middle, -z, -z + c, beside),
            (shell, -y + c, y - c, middle, z - c, z, beside),
        ]
    fibres = [fibre for patch in patches for fibre in _patch(*patch)]
    fibres += [(*bar, steel) for bar in placed]
    ys, zs, areas, materials = zip(*fibres, strict=True)
    return FibreSection(np.array(ys), np.array(areas), materials, np.array(zs), GJ)


def _patch(material, y0, y1, rows, z0, z1, columns):
    """Equal fibres of a rectangle, each at its own centre."""
    area = (y1 - y0) * (z1 - z0) / (rows * columns)
    for a in range(rows):
        for b in range(columns):
            yield y0 + (a + 0.5) * (y1 - y0) / rows, z0 + (b + 0.5) * (z1 - z0) / columns, area, material


def _bars(bars: Sequence, width: float, depth: float) -> list[tuple[float, float, float]]:
    if len(bars) == 0:
        raise BadInput(
            "rc_rectangle: the section has no bars; concrete alone carries no tension. "
            "Give bars as (y, area) or (y, z, area)."
        )
    placed = []
    for k, bar in enumerate(bars):
        if len(bar) not in (2, 3):
            raise BadShape(f"rc_rectangle: bar {k} is {tuple(bar)}; give (y, area) or (y, z, area).")
        y, z, area = (bar[0], 0.0, bar[1]) if len(bar) == 2 else bar
        if not area > 0.0:
            raise OutOfBounds(f"rc_rectangle: bar {k} has the area {area:g} m²; it must be positive.")
        if not (abs(y) < depth / 2 and abs(z) < width / 2):
            raise OutOfBounds(f"rc_rectangle: bar {k} at y = {y:g}, z = {z:g} m lies outside the section.")
        placed.append((float(y), float(z), float(area)))
    return placed
