"""Device laws. Every one is a `Block`: call it with parameters and put it at a site."""

from hyloop.core.block import Block
from hyloop.devices.backlash import friction_backlash
from hyloop.devices.bilinear import bilinear
from hyloop.devices.bouc_wen import bouc_wen
from hyloop.devices.brfd import brfd_gap_slip, brfd_stick_slip, draw_brfd
from hyloop.devices.brfd_laws import gap_slip, stick_slip
from hyloop.devices.bwbn import bouc_wen_baber_noori
from hyloop.devices.commands import command_of
from hyloop.devices.linear import dashpot, spring
from hyloop.devices.linearised import linearised
from hyloop.devices.lugre import lugre, lugre_elastoplastic, lugre_exact
from hyloop.devices.mr_damper import mr_damper
from hyloop.devices.mr_eyring import mr_eyring
from hyloop.devices.prandtl_ishlinskii import play, prandtl_ishlinskii
from hyloop.devices.steel import giuffre_menegotto_pinto
from hyloop.devices.variable_friction import variable_friction
from hyloop.devices.viscous import nonlinear_maxwell, nonlinear_viscous
from hyloop.devices.viscous_specimen import viscous_specimen

__all__ = [
    "LAWS",
    "bilinear",
    "bouc_wen",
    "bouc_wen_baber_noori",
    "brfd_gap_slip",
    "brfd_stick_slip",
    "command_of",
    "dashpot",
    "draw_brfd",
    "friction_backlash",
    "gap_slip",
    "giuffre_menegotto_pinto",
    "linearised",
    "lugre",
    "lugre_elastoplastic",
    "lugre_exact",
    "mr_damper",
    "mr_eyring",
    "nonlinear_maxwell",
    "nonlinear_viscous",
    "play",
    "prandtl_ishlinskii",
    "spring",
    "stick_slip",
    "variable_friction",
    "viscous_specimen",
]

# the catalogue: laws by name, and of a family of laws its default member
LAWS: dict[str, Block] = {name: law for name in __all__ if isinstance(law := globals().get(name), Block)}
LAWS["prandtl_ishlinskii"] = prandtl_ishlinskii()
