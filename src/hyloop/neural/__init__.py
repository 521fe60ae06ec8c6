"""Trained models as blocks of the loop: frozen weights, their cards and files. Training is in `hyloop.learn`."""

from hyloop.neural.architecture import Architecture, Layer, mlp, ocp_nn, recurrent
from hyloop.neural.card import Card, Signal
from hyloop.neural.frozen import FrozenNetwork, load_network
from hyloop.neural.guided import FrozenGuidedLaw, Head
from hyloop.neural.hysteresis import HysteresisNetwork, hysteresis_network
from hyloop.neural.law import FrozenLaw
from hyloop.neural.spring import FrozenSpring
from hyloop.neural.stack import FrozenStack
from hyloop.neural.state_space import FrozenStateSpace

__all__ = [
    "Architecture",
    "Card",
    "FrozenGuidedLaw",
    "FrozenLaw",
    "FrozenNetwork",
    "FrozenSpring",
    "FrozenStack",
    "FrozenStateSpace",
    "Head",
    "HysteresisNetwork",
    "Layer",
    "Signal",
    "hysteresis_network",
    "load_network",
    "mlp",
    "ocp_nn",
    "recurrent",
]
