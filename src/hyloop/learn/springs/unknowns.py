"""What is learned of laws, flat, and what is believed of it beforehand."""

from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

__all__ = ["parameters", "prior_of", "with_parameters"]


def parameters(laws):
    """What is learned, flat, and how to put it back."""
    flat, unravel = ravel_pytree([law.theta for law in laws])

    def put(theta):
        return with_parameters(laws, unravel(jnp.asarray(theta)))

    return flat, put


def with_parameters(laws: Sequence, trees: Sequence) -> list:
    """The same laws with other parameters, a tree for each."""
    return [eqx.tree_at(lambda law: law.theta, law, tree) for law, tree in zip(laws, trees, strict=True)]


def prior_of(laws, theta):
    """R and c of the deviations from the prior, which are linear in the parameters."""
    R, value = (np.asarray(part) for part in _deviations(theta, laws))
    return R, R @ np.asarray(theta) - value


@eqx.filter_jit
def _deviations(theta, laws):
    _, put = parameters(laws)

    def deviations(theta):
        return jnp.concatenate([law.prior() for law in put(theta)])

    return jax.jacfwd(deviations)(theta), deviations(theta)
