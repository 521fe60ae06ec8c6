"""The two-story reinforced-concrete moment frame of Malik, Cao, Ricles and Downey (2025), ready to run."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyloop.errors import OutOfBounds
from hyloop.structure.fibres.materials import Steel, kent_park
from hyloop.structure.fibres.reinforced import rc_rectangle
from hyloop.structure.fibres.sections import FibreSection
from hyloop.structure.frames.model import Model
from hyloop.structure.structure import Structure

__all__ = ["BEAMS", "COLUMN", "MASSES", "RcSection", "damper", "moment_frame"]

# full scale, in m, m² and Pa
BAY, STORY = 7.30, 3.66
FC, FY, ES, HARDENING = 27.5e6, 414e6, 200e9, 0.01
COVER = 0.038  # clear, to the outside of the hoops (ACI 318: 1.5 in)
NUMBER_9, NUMBER_8, NUMBER_7 = (0.0287, 645e-6), (0.0254, 510e-6), (0.0222, 387e-6)  # diameter and area of a bar
RIGID = 0.057  # of a member's length at each end in a joint; 0.057 · 7.30/2 m is half a column, 0.416/2 m
STANDARD_GRAVITY = 9.80665
MASSES = (17730.0, 15617.0)  # kg at half scale: T1 = 0.390 s and T2 = 0.120 s, uncracked
DOUBLED = 2.0  # the paper doubled the masses for larger drifts; what weighs is the mass before that


@dataclass(frozen=True)
class RcSection:
    """A rectangular section at full scale, in m and m².

    Parameters
    ----------
    width, depth : float
        Out of the plane of the frame and in it.
    bar : (float, float)
        Diameter and area of a bar.
    layers : tuple of int
        Number of bars in each layer, from the bottom to the top, at equal distances.
    hoop : (float, float)
        Diameter and area of the hoops, closed ones without further legs.
    spacing : float
        Of the hoops.
    """

    width: float
    depth: float
    bar: tuple[float, float]
    layers: tuple[int, ...]
    hoop: tuple[float, float]
    spacing: float

    def fibres(self, scale: float) -> FibreSection:
        """The section at another scale, stresses kept: lengths times `scale`, areas times its square."""
        b, h = self.width - 2 * COVER, self.depth - 2 * COVER  # of the core, to the outside of the hoops
        ratio = 2 * (b + h) * self.hoop[1] / (b * h * self.spacing)
        shell, core = kent_park(FC, ratio, FY, min(b, h), self.spacing)
        edge = self.depth / 2 - COVER - self.hoop[0] - self.bar[0] / 2
        heights = np.linspace(-edge, edge, len(self.layers))
        bars = [(scale * y, scale**2 * n * self.bar[1]) for y, n in zip(heights, self.layers, strict=True)]
        return rc_rectangle(
            scale * self.width, scale * self.depth, scale * COVER, core, shell, bars, Steel(FY, ES, HARDENING)
        )

    def hinges(self, scale: float) -> tuple[float, float]:
        """Lengths of the plastic hinges at both ends: half the depth."""
        return scale * self.depth / 2, scale * self.depth / 2


NUMBER_4, NUMBER_3 = (0.0127, 129e-6), (0.0095, 71e-6)
COLUMN = RcSection(0.457, 0.416, NUMBER_9, (3, 2, 3), NUMBER_4, 0.100)
BEAMS = (
    RcSection(0.305, 0.559, NUMBER_8, (2, 2), NUMBER_3, 0.125),
    RcSection(0.305, 0.457, NUMBER_7, (2, 2), NUMBER_3, 0.100),
)


def moment_frame(masses: Sequence[float] | None = None, carried: float = 0.5, scale: float = 0.5) -> Model:
    """The two-story frame: one bay, columns A and B, nodes M1 and M2 in the middle of the beams.

    All members are force-based, with fibre hinges (5 + 10 + 5 layers of concrete) at both ends and an uncracked elastic
    interior. Members are called ``"column A1"`` and ``"beam A1-M1"``. At half scale T1 = 0.39 s and T2 = 0.12 s.

    Parameters
    ----------
    masses : two floats, optional
        Of floor and roof in kg, horizontal, in the middle of the beams. Default: `MASSES`, from half scale brought to
        `scale`.
    carried : float
        Part of the weight that stands on this frame, half of it in the middle of the beam and a quarter on each column.
        The rest leans on it, with its P-Delta effect alone. The weight is g times half the masses, since the paper
        doubled them.
    scale : float
        Of lengths, from the building to the model; stress and acceleration are kept.

    Notes
    -----
    Printed: sections and their bars, the strengths, the fibres, rigid ends of 5.7 %, the periods. Chosen here: the bay
    and the stories; columns bending about the axis with a depth of 416 mm, because 5.7 % of half the bay is half of
    that; closed hoops #4 at 100 mm in the columns and #3 at 125 and 100 mm in the beams, which are what ACI 318 asks of
    special frames; 38 mm of cover; hinges as long as half the depth of the section; 1 % hardening of the bars; masses
    that give both periods. Participation of the first mode is 88 % (printed: 92 %).

    Examples
    --------
    >>> from hyloop.buildings.moment_frame import moment_frame
    >>> moment_frame().structure(gravity=False).modes().periods.round(3)
    array([0.39, 0.12])

    References
    ----------
    Malik, Cao, Ricles and Downey (2025), section 2.1; Kolay and Ricles (2018), doi:10.1061/(ASCE)ST.1943-541X.0001944.
    """
    if not 0.0 < scale < np.inf:
        raise OutOfBounds(f"moment_frame: scale = {scale!r} must be positive, 0.5 for half scale.")
    if not 0.0 <= carried <= 1.0:
        raise OutOfBounds(f"moment_frame: carried = {carried!r} is the part of the weight on this frame, from 0 to 1.")
    m = np.array(MASSES if masses is None else masses, dtype=float) * (4 * scale**2 if masses is None else 1.0)
    if m.shape != (2,) or not (np.isfinite(m).all() and m.min() > 0.0):
        raise OutOfBounds(f"moment_frame: masses = {masses!r}; give two masses in kg, of floor and roof.")
    bay, story = scale * BAY, scale * STORY
    model = Model(dimensions=2)
    for level in (0, 1, 2):
        for name, x in (("A", 0.0), ("M", bay / 2), ("B", bay)):
            if name != "M" or level > 0:
                model.node(f"{name}{level}", x, level * story)
    for foot in ("A0", "B0"):
        model.support(foot, "fixed")
    column = COLUMN.fibres(scale)
    for s, beam in enumerate(BEAMS, start=1):
        for line in "AB":
            rigid = (RIGID * story if s > 1 else 0.0, RIGID * story)
            model.fibre(
                f"column {line}{s}", f"{line}{s - 1}", f"{line}{s}", column, hinges=COLUMN.hinges(scale), offsets=rigid
            )
        section, rigid = beam.fibres(scale), RIGID * bay / 2
        for i, j, ends in ((f"A{s}", f"M{s}", (rigid, 0.0)), (f"M{s}", f"B{s}", (0.0, rigid))):
            model.fibre(f"beam {i}-{j}", i, j, section, hinges=beam.hinges(scale), offsets=ends, pdelta=False)
    weight = STANDARD_GRAVITY * m / DOUBLED
    for s in (1, 2):
        model.mass(f"M{s}", ux=m[s - 1])
        for node, share in ((f"A{s}", 0.25), (f"M{s}", 0.5), (f"B{s}", 0.25)):
            model.load(node, uy=-share * carried * weight[s - 1])
        model.lean_on(f"leaning {s}", _below(s), f"M{s}", (1.0 - carried) * weight[s - 1 :].sum())
    return model


def damper(structure: Structure, story: int) -> np.ndarray:
    """Direction of the dampers in story 1 or 2: the drift of the beam's middle, where their brace ends.

    The four dampers of a story are one site: ``Site("damper1", damper(structure, 1), lugre(), count=4)``.
    """
    if story not in (1, 2):
        raise OutOfBounds(f"moment_frame: story {story!r}; the frame has stories 1 and 2.")
    return structure.between(f"M{story}.ux", f"{_below(story)}.ux" if story > 1 else None)


def _below(story: int) -> str:
    """Node under a story from which drift is counted."""
    return "A0" if story == 1 else f"M{story - 1}"
