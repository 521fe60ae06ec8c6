"""Springs from the response of the structure by gradient descent, as in Luo et al. (2024): networks and Adam."""

from collections.abc import Callable, Sequence
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import optax

from hyloop.errors import OutOfBounds
from hyloop.learn.springs.learned import Learned, checked, covered
from hyloop.learn.springs.through_structure import UnknownSprings, prepare, sensed
from hyloop.learn.springs.unknowns import with_parameters
from hyloop.learn.training.train import Progress, train

__all__ = ["descend_response"]


def descend_response(
    problem: UnknownSprings,
    laws: Sequence,
    loads: Any,
    measured: Any,
    *,
    held_out: int,
    epochs: int,
    batch: int = 128,
    optimiser: optax.GradientTransformation | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Learned:
    """Minimise the NMSE of the sensors, Eq. (2), by Adam through the whole histories.

    The parameters after the epoch with the least NMSE on the held-out samples are kept. `fit_response` is faster and
    more accurate for laws with up to some hundred parameters; this is for large networks, and for comparison.

    Parameters
    ----------
    problem, laws, loads, measured, held_out
        As for `hyloop.learn.springs.response_fit.fit_response`.
    epochs, batch : int
        Passes over the samples and samples in an update; the paper has 1000 and 128 of 1024.
    optimiser : optax.GradientTransformation
        Default: Adam with the paper's learning rate of 1e-3.
    seed : int
        Of the order of the samples.
    """
    loads, measured = checked("descend_response", problem, laws, loads, measured, held_out)
    keep = len(loads) - held_out
    if held_out < 1 or not 1 <= batch <= keep:
        raise OutOfBounds(
            f"descend_response: held_out = {held_out} and batch = {batch} of {len(loads)} samples. Hold out at "
            "least one, and take a batch no larger than what is left."
        )
    weight = 1.0 / np.std(measured[:keep], axis=(0, 1))
    entries = np.asarray(prepare(loads, problem.substeps)), np.moveaxis(measured, 1, 0)
    ops, scale = problem.operators(), jnp.asarray(weight)
    loss = eqx.Partial(_nmse, list(laws), ops, scale)

    def of(samples):
        return entries[0][:, :, samples], entries[1][:, samples]

    def shuffled(epoch: int):
        order = np.random.default_rng([seed, epoch]).permutation(keep)
        return [of(order[i : i + batch]) for i in range(0, keep - batch + 1, batch)]

    last, judged = of(np.arange(keep, len(loads))), eqx.filter_jit(_nmse)
    trained = train(
        [law.theta for law in laws],
        loss,
        shuffled,
        optimiser=optimiser or optax.adam(1e-3),
        epochs=epochs,
        seed=seed,
        progress=progress,
        validate=lambda theta: judged(list(laws), ops, scale, theta, last, None),
    )
    return covered(
        problem, with_parameters(laws, trained.model), loads, measured, held_out, weight, epochs * (keep // batch)
    )


def _nmse(laws, ops, weight, theta, batch, key):
    force, target = batch
    return jnp.mean((weight * (sensed(with_parameters(laws, theta), ops, jnp.asarray(force)) - target)) ** 2)
