r"""Elastic springs that can be learned: force as a curve over the deformation, differentiable.

A *restoring law* of this package is a small object with

- ``theta``: everything that is learned, a tree of arrays without units, about one in size,
- ``rest()``: its state before anything moved,
- ``law(state, d) -> (f, new state)``: force at the deformation d of one sample,
- ``prior()``: standardised deviations of `theta` from what is believed before any measurement; linear in `theta`,
- ``within(low, high)``: the same law, trusted only where it was learned, between two deformations.

Every spring is free of force at d = 0, because the structure was at rest there. Outside its `reach` a spring goes on
along its tangent at the end, or level where that would fall: a force that falls without end lets a simulation diverge.
"""

from collections.abc import Callable
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.errors import OutOfBounds

__all__ = [
    "BrokenLine",
    "CubicSpline",
    "Curve",
    "NetworkSpring",
    "layers_of",
    "perceptron",
    "positive",
    "reach_of",
    "spline",
]

SMOOTH = 0.03  # prior deviation of third differences of spline coefficients, in units of the force scale
SLOPE = 10.0  # prior deviation of slopes: weak, to keep what no sample visits defined
WEIGHT = 3.0  # prior deviation of the weights of a network
KNOT = 0.2  # prior deviation of a knot from its even spacing, of the width of the range


class CubicSpline(eqx.Module):
    r"""Cubic B-spline with evenly spaced knots.

    .. math:: f(d) = F\,[S(d) - S(0)], \qquad S(d) = \sum_j c_j\, B(\tfrac{d - d_j}{h})

    Parameters
    ----------
    low, high : float
        Range of the knots in m (or rad), around zero.
    intervals : int
        Number of intervals of length h = (high - low)/intervals.
    force : float
        Scale F in N (or N m), the order of magnitude of the force expected.
    """

    theta: jax.Array
    reach: jax.Array
    scale: jax.Array  # knots: first, spacing; force

    def __init__(self, low: float, high: float, intervals: int = 32, *, force: float) -> None:
        self.reach = reach_of("CubicSpline", low, high)
        if intervals < 4:
            raise OutOfBounds(f"CubicSpline: intervals = {intervals} must be 4 or more.")
        self.scale = jnp.array([low, (high - low) / intervals, positive("CubicSpline: force", force)])
        self.theta = jnp.zeros(intervals + 3)

    def rest(self):
        return jnp.zeros(0)

    def __call__(self, state, d):
        def curve(d):
            return spline(self.theta, (d - self.scale[0]) / self.scale[1])

        return self.scale[2] * (_beyond(curve, d, self.reach) - curve(jnp.zeros_like(d))), state

    def prior(self):
        c = self.theta
        # with f(0) = 0 a constant does nothing: the last row settles it
        return jnp.concatenate([jnp.diff(c, 3) / SMOOTH, jnp.diff(c) / SLOPE, jnp.mean(c)[None]])

    def within(self, low, high):
        # up to the next knot: the pieces there are held by what was seen on this side of it, and by the smooth prior
        h = float(self.scale[1])
        return eqx.tree_at(lambda law: law.reach, self, _narrower(self.reach, low - h, high + h))


class BrokenLine(eqx.Module):
    r"""Straight pieces with free knots, for springs with corners (slack cables, gaps, stops).

    .. math:: f(d) = F\,[s_0 x + \sum_j c_j \{(x - b_j)_+ - (-b_j)_+\}], \qquad x = d/\max(|low|, |high|)

    Knots start evenly spaced over the range and move where the corners are.
    """

    theta: dict
    reach: jax.Array
    scale: jax.Array  # length, force
    start: jax.Array

    def __init__(self, low: float, high: float, knots: int = 8, *, force: float) -> None:
        self.reach = reach_of("BrokenLine", low, high)
        if knots < 1:
            raise OutOfBounds(f"BrokenLine: knots = {knots} must be 1 or more.")
        width = max(-low, high)
        self.scale = jnp.array([width, positive("BrokenLine: force", force)])
        self.start = jnp.linspace(low / width, high / width, knots + 2)[1:-1]
        self.theta = {"slope": jnp.zeros(()), "jump": jnp.zeros(knots), "knot": self.start}

    def rest(self):
        return jnp.zeros(0)

    def __call__(self, state, d):
        b = self.theta["knot"]

        def curve(d):
            x = d / self.scale[0]
            return self.theta["slope"] * x + self.theta["jump"] @ (jnp.maximum(x - b, 0.0) - jnp.maximum(-b, 0.0))

        return self.scale[1] * _beyond(curve, d, self.reach), state

    def prior(self):
        moved = (self.theta["knot"] - self.start) / KNOT
        return jnp.concatenate([self.theta["slope"][None] / SLOPE, self.theta["jump"] / SLOPE, moved])

    def within(self, low, high):
        return eqx.tree_at(lambda law: law.reach, self, _narrower(self.reach, low, high))


class NetworkSpring(eqx.Module):
    """Multilayer perceptron with tanh units, ``f = F [N(3 d / width) - N(0)]``, as in Luo et al. (2024), Table 1.

    The last layer starts at zero, so that the spring starts without force; the others start at random from `seed`.
    The paper has four layers of 500 units; `layers` of 32 units or one of 16 learn the same curves far sooner.
    """

    theta: list
    reach: jax.Array
    scale: jax.Array

    def __init__(self, low: float, high: float, layers: tuple[int, ...] = (16,), *, force: float, seed: int = 0):
        self.reach = reach_of("NetworkSpring", low, high)
        # most deformations are well inside the range: there the inputs are about one in size
        self.scale = jnp.array([max(-low, high) / 3, positive("NetworkSpring: force", force)])
        self.theta = layers_of(1, layers, seed)

    def rest(self):
        return jnp.zeros(0)

    def __call__(self, state, d):
        def curve(d):
            return perceptron(self.theta, (d / self.scale[0])[None])

        return self.scale[1] * (_beyond(curve, d, self.reach) - curve(jnp.zeros_like(d))), state

    def prior(self):
        return jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(self.theta)]) / WEIGHT

    def within(self, low, high):
        return eqx.tree_at(lambda law: law.reach, self, _narrower(self.reach, low, high))


class Curve(eqx.Module):
    """A known spring with nothing to learn, f = function(d), written with `jax.numpy`."""

    function: Callable = eqx.field(static=True)
    theta: tuple = ()

    def rest(self):
        return jnp.zeros(0)

    def __call__(self, state, d):
        return self.function(d), state

    def prior(self):
        return jnp.zeros(0)

    def within(self, low, high):
        return self


def spline(c, t, order: int = 0):
    """Cubic B-spline with coefficients c at t, in units of the spacing from the first knot, or its derivative.

    The derivative rule is written down because it is cheap that way: along many directions at once, JAX would
    differentiate every basis function along every direction.
    """
    return _spline(c, t, order)


def _value(c, t, order):
    return basis(t, len(c) - 3, order) @ c


def _derivative(order, primals, tangents):
    (c, t), (dc, dt) = primals, tangents
    along = _value(dc, t, order)
    return spline(c, t, order), along + (spline(c, t, order + 1) * dt if order < 3 else 0.0)


_spline = jax.custom_jvp(_value, nondiff_argnums=(2,))
_spline.defjvp(_derivative)


def basis(t, intervals: int, order: int = 0):
    """The intervals + 3 cubic B-splines at t, or a derivative of them."""
    x = t - jnp.arange(-1.0, intervals + 2.0)
    s, sign, rest = jnp.abs(x), jnp.sign(x), jnp.maximum(2.0 - jnp.abs(x), 0.0)
    inner, outer = (
        (2 / 3 - s**2 + s**3 / 2, rest**3 / 6),
        (sign * (1.5 * s**2 - 2 * s), -sign * rest**2 / 2),
        (3 * s - 2, rest),
        (3 * sign, jnp.where(rest > 0.0, -sign, 0.0)),
    )[order]
    return jnp.where(s < 1.0, inner, outer)


def layers_of(inputs: int, layers: tuple[int, ...], seed: int) -> list:
    """Weights and biases, Glorot's uniform start with a last layer of zeros."""
    rng, sizes, theta = np.random.default_rng(seed), (inputs, *layers), []
    for n_in, n_out in pairwise(sizes):
        bound = np.sqrt(6 / (n_in + n_out))
        # spread biases put the bends of the units all over the range
        theta.append((jnp.array(rng.uniform(-bound, bound, (n_out, n_in))), jnp.array(rng.uniform(-1, 1, n_out))))
    return [*theta, (jnp.zeros((1, sizes[-1])), jnp.zeros(1))]


def perceptron(theta, x, unit=jnp.tanh):
    """One number from the inputs x."""
    for weight, bias in theta[:-1]:
        x = unit(weight @ x + bias)
    weight, bias = theta[-1]
    return (weight @ x + bias)[0]


def _beyond(curve: Callable, d, reach):
    """The curve inside its reach, outside its tangent at the end, which does not fall."""
    inside = jnp.clip(d, reach[0], reach[1])
    value, slope = jax.jvp(curve, (inside,), (jnp.ones_like(inside),))
    return value + jnp.maximum(slope, 0.0) * (d - inside)


def _narrower(reach, low, high):
    return jnp.array([max(float(reach[0]), low), min(float(reach[1]), high)])


def reach_of(where: str, low: float, high: float) -> jax.Array:
    """Ends of a range around zero."""
    if not (np.isfinite([low, high]).all() and low < 0.0 < high):
        raise OutOfBounds(f"{where}: the range [{low!r}, {high!r}] must reach from below zero to above it.")
    return jnp.array([low, high], dtype=float)


def positive(where: str, value: float) -> float:
    if not (np.isfinite(value) and value > 0.0):
        raise OutOfBounds(f"{where} = {value!r} must be positive and finite.")
    return float(value)
