"""Compensators: what is sent to an actuator so that it will be where the structure wants it."""

from hyloop.transfer.compensators.amb import amb
from hyloop.transfer.compensators.ats import ats
from hyloop.transfer.compensators.cats import conditional_ats
from hyloop.transfer.compensators.extrapolation import extrapolation
from hyloop.transfer.compensators.inverse import inverse
from hyloop.transfer.compensators.lead import phase_lead, pi_lead
from hyloop.transfer.compensators.unscented_inverse import unscented_inverse

__all__ = ["amb", "ats", "conditional_ats", "extrapolation", "inverse", "phase_lead", "pi_lead", "unscented_inverse"]
