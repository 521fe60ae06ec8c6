"""Model updating: blocks that keep the parameters of a device model true to a measured device."""

from hyloop.updating.filters.ensemble import ensemble
from hyloop.updating.filters.least_squares import recursive_least_squares
from hyloop.updating.filters.noise_level import noise_level
from hyloop.updating.filters.observability import Observability, covariance, observability
from hyloop.updating.filters.sensed import sensed
from hyloop.updating.filters.unscented import unscented
from hyloop.updating.networks.filtered_network import filtered_network
from hyloop.updating.networks.forgetting import forgetting_network
from hyloop.updating.networks.pretraining import pretrain

__all__ = [
    "Observability",
    "covariance",
    "ensemble",
    "filtered_network",
    "forgetting_network",
    "noise_level",
    "observability",
    "pretrain",
    "recursive_least_squares",
    "sensed",
    "unscented",
]
