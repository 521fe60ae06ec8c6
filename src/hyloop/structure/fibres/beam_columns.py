"""A beam-column by itself: its length, integration points and sections."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyloop.errors import BadShape, OutOfBounds
from hyloop.structure.fibres.integration import Rule, hinge_radau
from hyloop.structure.fibres.sections import ElasticSection, FibreSection

__all__ = ["BeamColumn", "hinged"]

Section = ElasticSection | FibreSection


@dataclass(frozen=True, eq=False)
class BeamColumn:
    """A force-based beam-column: sections at the points of an integration rule.

    Parameters
    ----------
    length : float
        Length in m between the rigid ends.
    rule : Rule
        Integration points, from `hinge_radau` or `gauss_lobatto`.
    sections : Section or sequence of Section
        One for all points, or one for each.
    name : str
        For error messages.
    """

    length: float
    rule: Rule
    sections: Sequence[Section]
    name: str = "beam"

    def __post_init__(self) -> None:
        x, weight = (np.asarray(values, dtype=float) for values in self.rule)
        if not 0.0 < self.length < np.inf:
            raise OutOfBounds(f"member '{self.name}': length = {self.length:g} m must be positive and finite.")
        if x.ndim != 1 or x.shape != weight.shape or len(x) == 0:
            raise BadShape(f"member '{self.name}': the rule has {x.shape} points and {weight.shape} weights.")
        off = x.min() < 0.0 or x.max() > self.length * (1 + 1e-9)
        if off or not np.isclose(weight.sum(), self.length, rtol=1e-9):
            raise OutOfBounds(
                f"member '{self.name}': the rule was made for another length; its points end at {x.max():g} m and its "
                f"weights sum to {weight.sum():g} m, not {self.length:g} m."
            )
        sections = self.sections
        sections = (sections,) * len(x) if isinstance(sections, Section) else tuple(sections)
        if len(sections) != len(x) or not all(isinstance(section, Section) for section in sections):
            raise BadShape(
                f"member '{self.name}': {len(sections)} sections for {len(x)} integration points; give an "
                "ElasticSection or FibreSection for all, or one for each."
            )
        object.__setattr__(self, "sections", sections)


def hinged(
    length: float, section: FibreSection, lp_i: float, lp_j: float, interior: Section | None = None, name: str = "beam"
) -> BeamColumn:
    """A beam-column with fibre hinges of lengths `lp_i` and `lp_j` at its ends and an elastic interior.

    Parameters
    ----------
    interior : Section, optional
        Section between the ends; default: `section.elastic()`, uncracked.
    """
    inner = section.elastic() if interior is None else interior
    return BeamColumn(length, hinge_radau(length, lp_i, lp_j), [section, inner, inner, inner, inner, section], name)
