"""Trained networks as blocks of the loop: frozen weights, their cards and files. Training is in `hyloop.learn`."""

from hyloop.neural.architecture import Architecture, Layer, mlp, ocp_nn, recurrent
from hyloop.neural.card import Card, Signal
from hyloop.neural.frozen import FrozenNetwork, load_network

__all__ = ["Architecture", "Card", "FrozenNetwork", "Layer", "Signal", "load_network", "mlp", "ocp_nn", "recurrent"]
