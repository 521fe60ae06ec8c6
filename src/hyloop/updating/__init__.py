"""Model updating: blocks that keep the parameters of a device model true to a measured device."""

from hyloop.updating.ensemble import ensemble
from hyloop.updating.filtered_network import filtered_network
from hyloop.updating.forgetting import forgetting_network
from hyloop.updating.least_squares import recursive_least_squares
from hyloop.updating.network import Network, hysteresis_network
from hyloop.updating.observability import Observability, covariance, observability
from hyloop.updating.pretraining import pretrain
from hyloop.updating.unscented import unscented

__all__ = [
    "Network",
    "Observability",
    "covariance",
    "ensemble",
    "filtered_network",
    "forgetting_network",
    "hysteresis_network",
    "observability",
    "pretrain",
    "recursive_least_squares",
    "unscented",
]
