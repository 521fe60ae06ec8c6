r"""Hysteretic springs that can be learned. The interface is that of `hyloop.learn.springs.elastic`."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core.block import Instance
from hyloop.errors import BadInput, OutOfBounds
from hyloop.learn.laws.jax_law import jax_law
from hyloop.learn.springs.elastic import SLOPE, SMOOTH, WEIGHT, layers_of, perceptron, positive, reach_of, spline

__all__ = ["KnownLaw", "LearnedSlope", "NetworkReturn", "StopOperators"]


class StopOperators(eqx.Module):
    r"""Prandtl-Ishlinskii operator with given thresholds and learned stiffnesses (`hyloop.devices.prandtl_ishlinskii`).

    .. math:: f = F\,[k_e x + \sum_j w_j e_j / r_j], \qquad e_j = \operatorname{clip}(x - x_j, -r_j, r_j), \quad
        x_j \leftarrow x - e_j, \quad x = d/\max(|low|, |high|)

    The thresholds are spaced evenly on a logarithmic scale between `finest` and `coarsest` (the end of the range, if
    not given); what yields later counts as elastic. Linear in what is learned, rate-independent, and bounded but for
    :math:`k_e`, which is not negative beyond the range.
    """

    theta: dict
    reach: jax.Array
    scale: jax.Array  # length, force
    r: jax.Array

    def __init__(
        self, low: float, high: float, stops: int = 20, *, force: float, finest: float, coarsest: float | None = None
    ) -> None:
        self.reach = reach_of("StopOperators", low, high)
        width = max(-low, high)
        coarsest = width if coarsest is None else coarsest
        if not 0.0 < finest < coarsest <= width:
            raise OutOfBounds(
                f"StopOperators: thresholds from {finest!r} to {coarsest!r} must rise from above 0 to at most the "
                f"end of the range, {width:g}."
            )
        self.scale = jnp.array([width, positive("StopOperators: force", force)])
        self.r = jnp.geomspace(finest / width, coarsest / width, stops)
        self.theta = {"k": jnp.zeros(()), "w": jnp.zeros(stops)}

    def rest(self):
        return jnp.zeros(len(self.r))

    def __call__(self, state, d):
        x, k = d / self.scale[0], self.theta["k"]
        inside = jnp.clip(x, self.reach[0] / self.scale[0], self.reach[1] / self.scale[0])
        e = jnp.clip(x - state, -self.r, self.r)
        f = k * inside + jnp.maximum(k, 0.0) * (x - inside) + self.theta["w"] @ (e / self.r)
        return self.scale[1] * f, x - e

    def prior(self):
        return jnp.append(self.theta["w"], self.theta["k"]) / SLOPE

    def within(self, low, high):
        return self  # bounded outside as inside


class LearnedSlope(eqx.Module):
    r"""Hysteresis of Duhem's kind: the slope is a learned function of the force and of the direction of motion.

    .. math:: f = F\,(k\,x + z), \qquad \frac{dz}{dx} = \varphi(z \operatorname{sgn} \Delta x), \qquad
        x = d/d_0

    with a cubic spline :math:`\varphi` over -1 to 1 and z held inside. Bouc and Wen's law belongs to it, with
    :math:`\varphi(s) = A - |s|^n (\gamma + \beta \operatorname{sgn} s)`; laws with a corner at yield do not.

    Parameters
    ----------
    yielding : float
        Deformation :math:`d_0` in m at which the device is expected to yield, about.
    force : float
        Scale F in N: above what the hysteretic part can carry.
    """

    theta: dict
    scale: jax.Array  # length, force
    start: jax.Array

    def __init__(self, intervals: int = 16, *, force: float, yielding: float) -> None:
        self.scale = jnp.array([positive("LearnedSlope: yielding", yielding), positive("LearnedSlope: force", force)])
        if intervals < 4:
            raise OutOfBounds(f"LearnedSlope: intervals = {intervals} must be 4 or more.")
        # elastic first and level at the end, the least that hysteresis does
        self.start = 1.0 - jnp.linspace(-1.0 - 2 / intervals, 1.0 + 2 / intervals, intervals + 3)
        self.theta = {"k": jnp.zeros(()), "phi": self.start}

    def rest(self):
        return jnp.zeros(2)

    def __call__(self, state, d):
        x, z, phi = d / self.scale[0], state[0], self.theta["phi"]
        h = x - state[1]
        direction = jnp.sign(h)

        def slope(z):
            return spline(phi, (1.0 + z * direction) * (len(phi) - 3) / 2)

        # one Runge-Kutta step for the straight increment, every stage held inside
        k1 = slope(z)
        k2 = slope(jnp.clip(z + h / 2 * k1, -1.0, 1.0))
        k3 = slope(jnp.clip(z + h / 2 * k2, -1.0, 1.0))
        k4 = slope(jnp.clip(z + h * k3, -1.0, 1.0))
        z = jnp.clip(z + h / 6 * (k1 + 2 * (k2 + k3) + k4), -1.0, 1.0)
        return self.scale[1] * (self.theta["k"] * x + z), jnp.stack([z, x])

    def prior(self):
        phi = self.theta["phi"]
        return jnp.concatenate([jnp.diff(phi, 3) / SMOOTH, (phi - self.start) / SLOPE, self.theta["k"][None] / SLOPE])

    def within(self, low, high):
        return self  # z is bounded


class NetworkReturn(eqx.Module):
    r"""Perceptron that returns the next force from the last one and three deformations (Luo et al. 2024, Fig. 2c).

    .. math:: f_i = F\,[N(q) - N(-q)]/2 + \text{linear}(q), \qquad
        q = (f_{i-1}/F,\; x_i,\; \Delta x_i,\; \Delta x_{i-1}), \quad x = d/\max(|low|, |high|)

    The paper's inputs with deformations as increments, an odd network and a linear path beside it; increments are
    counted in units of `finest`. It holds for the step it was trained with and no other.
    """

    theta: dict
    scale: jax.Array  # length, force, increment
    relu: bool = eqx.field(static=True)

    def __init__(
        self,
        low: float,
        high: float,
        layers: tuple[int, ...] = (10,),
        *,
        force: float,
        finest: float,
        relu: bool = True,
        seed: int = 0,
    ) -> None:
        reach_of("NetworkReturn", low, high)
        increment = positive("NetworkReturn: finest", finest)
        self.scale = jnp.array([max(-low, high), positive("NetworkReturn: force", force), increment])
        self.relu = relu
        self.theta = {"layers": layers_of(4, layers, seed), "linear": jnp.zeros(4)}

    def rest(self):
        return jnp.zeros(3)

    def __call__(self, state, d):
        increment = (d - state[1]) / self.scale[2]
        q = jnp.stack([state[0], d / self.scale[0], increment, state[2]])
        unit = jax.nn.relu if self.relu else jnp.tanh
        odd = perceptron(self.theta["layers"], q, unit) - perceptron(self.theta["layers"], -q, unit)
        f = odd / 2 + self.theta["linear"] @ q
        return self.scale[1] * f, jnp.stack([f, d, increment])

    def prior(self):
        return jnp.concatenate([jnp.ravel(leaf) for leaf in jax.tree.leaves(self.theta)]) / WEIGHT

    def within(self, low, high):
        return self


class KnownLaw(eqx.Module):
    """A pure device law of hyloop that reads the deformation only; nothing in it is learned."""

    instance: Instance = eqx.field(static=True)
    theta: tuple = ()

    def __check_init__(self):
        if tuple(self.instance.block.inputs) != ("d",):
            needs = ", ".join(self.instance.block.inputs)
            raise BadInput(f"KnownLaw: {self.instance.block.name} reads {needs}; choose a law that reads d alone.")
        jax_law(self.instance.block)  # refuses a law written for Numba alone

    def rest(self):
        return jnp.array(list(self.instance.initial.values()), dtype=float)

    def __call__(self, state, d):
        block = self.instance.block
        p = jnp.array(np.array(list(self.instance.params.values())))
        outputs, new = jax_law(block)(state, d[None], 0.0, p)
        return outputs[list(block.outputs).index("f")], jnp.stack(new) if block.state else state

    def prior(self):
        return jnp.zeros(0)

    def within(self, low, high):
        return self
