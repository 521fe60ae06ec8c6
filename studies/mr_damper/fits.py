"""All fits of the study, as tasks for processes of their own."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from . import fitting, models
from .records import sines

FILES = ("fits.py", "fitting.py", "models.py", "records.py", "averages.py")


def _tests(motion, current, known=True):
    """All sine tests, and those that are neither of this motion nor of this current."""
    every = sines(known)
    return every, [seen for seen in every if seen.motion != motion and seen.current != current]


def law(motion=None, current=None, known=True, iterations=fitting.ITERATIONS) -> dict[str, float]:
    """Parameters of the law from the sines, all or without a motion or a current."""
    layer, _ = fitting.fitted(models.law_layer(), *_tests(motion, current, known), iterations=iterations)
    return models.parameters(layer)


def network(seed, params, motion=None, current=None, iterations=models.ITERATIONS) -> list[np.ndarray]:
    """The law with a network, from where the law stood alone; as bare arrays."""
    layer = models.with_network(params, seed)
    prior = models.precision(layer)
    layer, _ = fitting.fitted(layer, *_tests(motion, current), prior=prior, iterations=iterations)
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(layer, eqx.is_inexact_array))]


def restored(params, seed, arrays):
    """The layer that a task returned as arrays."""
    like = models.with_network(params, seed)
    mine, rest = eqx.partition(like, eqx.is_inexact_array)
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(mine), [jnp.asarray(a) for a in arrays]), rest)
