"""Smooth peaks of the response to several ground motions, with their gradient: what a design lowers."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.errors import BadInput
from hyloop.learn.loops.differentiable import differentiable

__all__ = ["mean_peak"]


def mean_peak(
    loop: Any, groups: Sequence[Sequence[str]], record: Sequence[str], excitations: Sequence[Any]
) -> Callable[[np.ndarray, float], tuple[float, np.ndarray, float]]:
    r"""Make ``(x, p) -> (value, gradient, largest)`` of the mean smooth peak over several excitations.

    .. math:: \frac1R \sum_r \Bigl(\sum_{t,s} |y_{s,r}(t)|^p\Bigr)^{1/p}

    `largest` is the mean peak itself, which the value exceeds the less the larger p is; the gradient of the peak itself
    would be that of one moment alone. The excitations run side by side, those that end earlier followed by zeros, so
    that all of them cost little more than one.

    Parameters
    ----------
    loop : Loop
        As `differentiable` takes it.
    groups : sequence of sequence of str
        Parameters, by channel, that have one value together: x has a number for each group.
    record : sequence of str
        Channels whose peak counts, all in one unit.
    excitations : sequence of array_like
        Each as `Loop.run` takes it.
    """
    response = differentiable(loop, [name for group in groups for name in group], record)
    rows = [loop.rows(one) for one in excitations]
    longest = max(len(one) for one in rows)
    ground = jnp.asarray(np.stack([np.pad(one, ((0, longest - len(one)), (0, 0))) for one in rows]))

    def peak(x, exponent, e):
        found = response({name: x[k] for k, group in enumerate(groups) for name in group}, e)
        y = jnp.abs(jnp.stack(list(found.values())))
        largest = jax.lax.stop_gradient(jnp.maximum(y.max(), np.finfo(float).tiny))
        return largest * jnp.sum((y / largest) ** exponent) ** (1.0 / exponent), largest

    def mean(x, exponent):
        smooth, largest = jax.vmap(peak, in_axes=(None, None, 0))(x, exponent, ground)
        return jnp.mean(smooth), jnp.mean(largest)

    compiled = jax.jit(jax.value_and_grad(mean, has_aux=True))

    def function(x: np.ndarray, exponent: float) -> tuple[float, np.ndarray, float]:
        if not exponent >= 2.0:
            raise BadInput(f"mean_peak: exponent = {exponent!r} must be at least 2.")
        (value, largest), slope = compiled(jnp.asarray(x, dtype=float), float(exponent))
        return float(value), np.asarray(slope), float(largest)

    return function
