"""Structures: matrices, shear frames, damping, condensation, similitude and nonlinear elements."""

from hyloop.structure.condense import condense
from hyloop.structure.damping import caughey, modal, rayleigh
from hyloop.structure.elements import Elements, springs
from hyloop.structure.shear import shear_frame
from hyloop.structure.similitude import Similitude
from hyloop.structure.structure import Modes, Structure

__all__ = [
    "Elements",
    "Modes",
    "Similitude",
    "Structure",
    "caughey",
    "condense",
    "modal",
    "rayleigh",
    "shear_frame",
    "springs",
]
