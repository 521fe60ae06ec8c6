r"""SOAP: Adam in the coordinates in which the gradients of a matrix are least correlated.

For a matrix of weights with gradients G, the running means :math:`L = \langle G G^T\rangle` and :math:`R = \langle
G^T G\rangle` have eigenvectors :math:`Q_L` and :math:`Q_R`. Adam works on :math:`Q_L^T G\,Q_R`, and its step is
turned back. Gates of a recurrent layer see the same inputs and are trained through the same states, so that their
gradients are strongly correlated, while Adam looks at each weight by itself. In the one trial made (the network of
Malik et al., 2000 updates, one seed) the training loss was 0.025, with Adam 0.032. Biases and rows or columns alone
are left to plain Adam.

References
----------
Vyas et al. (2025), "SOAP: improving and stabilizing Shampoo using Adam", ICLR; Gupta, Koren, Singer (2018), "Shampoo:
preconditioned stochastic tensor optimization", ICML.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax

from hyloop.errors import OutOfBounds

__all__ = ["soap"]

_EPSILON = 1e-8  # of Adam: below this a root mean square gradient is nothing


class _Leaf(NamedTuple):
    """Moments and bases of one array; a vector has no bases."""

    mean: Any
    square: Any  # in the coordinates of the bases
    left: Any
    right: Any
    basis_left: Any
    basis_right: Any


class _State(NamedTuple):
    count: Any
    leaves: tuple[_Leaf, ...]


def soap(
    schedule: optax.Schedule, *, clip: float | None = None, beta: float = 0.95, every: int = 10
) -> optax.GradientTransformation:
    """SOAP with a learning rate, and gradients clipped to a norm if one is given.

    Parameters
    ----------
    schedule : optax.Schedule
        Learning rate by update, as for `hyloop.learn.training.schedules.adam`.
    beta : float
        How much of every running mean is kept from one update to the next.
    every : int
        Updates between new bases, each by one step of orthogonal iteration from the last ones.
    """
    if not 0.0 < beta < 1.0 or every < 1:
        raise OutOfBounds(f"soap: beta = {beta} must be in (0, 1) and every = {every} 1 or more.")

    def begin(params: Any) -> _State:
        return _State(jnp.zeros([], jnp.int32), tuple(_rest(leaf) for leaf in jax.tree.leaves(params)))

    def change(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = state.count + 1
        leaves, tree = jax.tree.flatten(updates)
        found = [_step(g, leaf, count, beta, every) for g, leaf in zip(leaves, state.leaves, strict=True)]
        rate: Any = schedule(state.count)
        steps = jax.tree.unflatten(tree, [-rate * step for step, _ in found])
        return steps, _State(count, tuple(leaf for _, leaf in found))

    rule = optax.GradientTransformation(begin, change)
    return rule if clip is None else optax.chain(optax.clip_by_global_norm(clip), rule)


def _rest(w: Any) -> _Leaf:
    if not _matrix(w):
        nothing = jnp.zeros([], w.dtype)
        return _Leaf(jnp.zeros_like(w), jnp.zeros_like(w), nothing, nothing, nothing, nothing)
    m, n = (jnp.eye(size, dtype=w.dtype) for size in w.shape)
    return _Leaf(jnp.zeros_like(w), jnp.zeros_like(w), 0.0 * m, 0.0 * n, m, n)


def _matrix(w: Any) -> bool:
    return w.ndim == 2 and min(w.shape) > 1


def _step(g: Any, leaf: _Leaf, count: Any, beta: float, every: int) -> tuple[Any, _Leaf]:
    """Step of one array before the learning rate, and its new moments."""
    g = g.astype(leaf.mean.dtype)  # clipping and powers of the count may have made it wider
    mean, unbias = beta * leaf.mean + (1.0 - beta) * g, (1.0 - beta**count).astype(g.dtype)
    if not _matrix(g):
        square = beta * leaf.square + (1.0 - beta) * g * g
        return mean / unbias / (jnp.sqrt(square / unbias) + _EPSILON), leaf._replace(mean=mean, square=square)
    left = beta * leaf.left + (1.0 - beta) * g @ g.T
    right = beta * leaf.right + (1.0 - beta) * g.T @ g
    QL, QR = jax.lax.cond(
        (count == 1) | (count % every == 0),
        lambda: (_turned(left, leaf.basis_left, count), _turned(right, leaf.basis_right, count)),
        lambda: (leaf.basis_left, leaf.basis_right),
    )
    turned = QL.T @ g @ QR
    square = beta * leaf.square + (1.0 - beta) * turned * turned
    step = (QL.T @ (mean / unbias) @ QR) / (jnp.sqrt(square / unbias) + _EPSILON)
    return QL @ step @ QR.T, _Leaf(mean, square, left, right, QL, QR)


def _turned(moment: Any, basis: Any, count: Any) -> Any:
    """Eigenvectors at the first update, then one step of orthogonal iteration."""
    return jax.lax.cond(
        count == 1, lambda: jnp.linalg.eigh(moment)[1][:, ::-1], lambda: jnp.linalg.qr(moment @ basis)[0]
    )
