"""Learning, by JAX: device laws with derivatives, networks, physics layers, and springs unknown to begin with.

What users need is imported from here; the rooms behind the door are `laws`, `loops`, `networks`, `training`, `physics`
and `springs`.
"""

from hyloop.learn.freezing import freeze
from hyloop.learn.laws.extended import extended
from hyloop.learn.laws.gradients import gradient_fit
from hyloop.learn.laws.jax_law import jax_drive, jax_law, rollout
from hyloop.learn.loops.differentiable import Differentiable, differentiable
from hyloop.learn.loops.peaks import mean_peak
from hyloop.learn.networks.stack import Stack, thaw
from hyloop.learn.networks.state_space import StateSpaceNetwork, state_space_network
from hyloop.learn.physics.friction import augmented_lugre, lugre_parallel
from hyloop.learn.physics.guided import GuidedLaw, guided_law
from hyloop.learn.physics.layers import PhysicsLayer, physics_layer
from hyloop.learn.physics.recurrent_fit import follow
from hyloop.learn.springs.elastic import BrokenLine, CubicSpline, Curve, NetworkSpring
from hyloop.learn.springs.hysteresis import KnownLaw, LearnedSlope, NetworkReturn, StopOperators
from hyloop.learn.springs.operators import UncertainPart
from hyloop.learn.springs.response_descent import descend_response
from hyloop.learn.springs.response_fit import fit_response
from hyloop.learn.springs.through_structure import UnknownSprings
from hyloop.learn.springs.unmeasured_load import fit_unmeasured
from hyloop.learn.training.ensembles import train_ensemble
from hyloop.learn.training.networks import Recipe, predict, train_network
from hyloop.learn.training.train import train

__all__ = [
    "BrokenLine",
    "CubicSpline",
    "Curve",
    "Differentiable",
    "GuidedLaw",
    "KnownLaw",
    "LearnedSlope",
    "NetworkReturn",
    "NetworkSpring",
    "PhysicsLayer",
    "Recipe",
    "Stack",
    "StateSpaceNetwork",
    "StopOperators",
    "UncertainPart",
    "UnknownSprings",
    "augmented_lugre",
    "descend_response",
    "differentiable",
    "extended",
    "fit_response",
    "fit_unmeasured",
    "follow",
    "freeze",
    "gradient_fit",
    "guided_law",
    "jax_drive",
    "jax_law",
    "lugre_parallel",
    "mean_peak",
    "physics_layer",
    "predict",
    "rollout",
    "state_space_network",
    "thaw",
    "train",
    "train_ensemble",
    "train_network",
]
