"""Structures: matrices, shear frames, damping, condensation, similitude and nonlinear elements."""

from hyloop.structure.condensation import condense
from hyloop.structure.damping import caughey, modal, modal_and_stiffness, rayleigh
from hyloop.structure.elements import Elements, springs
from hyloop.structure.fibres.beams import BeamColumn, fibre_beams, hinged, section_response
from hyloop.structure.fibres.braces import axial_response, trusses
from hyloop.structure.fibres.integration import Rule, gauss_lobatto, hinge_radau
from hyloop.structure.fibres.materials import Bilinear, Concrete, Elastic, Material, Steel, kent_park
from hyloop.structure.fibres.reinforced import rc_rectangle
from hyloop.structure.fibres.sections import ElasticSection, FibreSection, moment_curvature
from hyloop.structure.frames.model import Model
from hyloop.structure.frames.plane_frame import plane_frame
from hyloop.structure.frames.pushover import PushedDevice, Pushover, cycles, pushover
from hyloop.structure.modes import Modes
from hyloop.structure.shear import shear_frame
from hyloop.structure.similitude import Similitude
from hyloop.structure.structure import Structure
from hyloop.structure.super_element import eliminate, flexibility, from_flexibility
from hyloop.structure.watched import Watched

__all__ = [
    "BeamColumn",
    "Bilinear",
    "Concrete",
    "Elastic",
    "ElasticSection",
    "Elements",
    "FibreSection",
    "Material",
    "Model",
    "Modes",
    "PushedDevice",
    "Pushover",
    "Rule",
    "Similitude",
    "Steel",
    "Structure",
    "Watched",
    "axial_response",
    "caughey",
    "condense",
    "cycles",
    "eliminate",
    "fibre_beams",
    "flexibility",
    "from_flexibility",
    "gauss_lobatto",
    "hinge_radau",
    "hinged",
    "kent_park",
    "modal",
    "modal_and_stiffness",
    "moment_curvature",
    "plane_frame",
    "pushover",
    "rayleigh",
    "rc_rectangle",
    "section_response",
    "shear_frame",
    "springs",
    "trusses",
]
