r"""A linear structure with unknown springs, simulated under JAX: what sensors see, differentiable.

Stabilised central difference with the tangent of the springs, :math:`A_i = M + \alpha h^2 (K + S^T k_i S) + h C/2`:

.. math::
    A_i (u_{i+1} - 2u_i + u_{i-1}) &= h^2 (P_i - K u_i - S^T f_i) - h\,C (u_i - u_{i-1}) \\
    v_i = (u_{i+1} - u_{i-1})/(2h), &\qquad a_i = (u_{i+1} - 2u_i + u_{i-1})/h^2

:math:`\alpha = \tanh(\omega_{max} h/4)/4` belongs to a reference stiffness and stays, so that only the few springs
change :math:`A_i` and Woodbury's formula takes the place of a factorisation in every step. The tangent :math:`k_i` is
a derivative of the law itself (jvp). The algorithm printed by Luo et al. counts the damping half-step twice.

References
----------
Luo, Sun, Li, Xia (2024), Structural nonlinear boundary condition identification using a hybrid physics data-driven
approach; Soares and Grosseholz (2018), Nonlinear structural dynamic analysis by a stabilized central difference method.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.integrators.operators import highest_frequency
from hyloop.learn.springs.operators import Assembly, Operators, UncertainPart, stacked, with_factors
from hyloop.structure import Structure

__all__ = ["Response", "UnknownSprings", "begin", "prepare", "read", "respond", "sensed", "with_structure"]


class Response(NamedTuple):
    """Histories of one sample or, with a further first axis, of many."""

    sensors: np.ndarray
    u: np.ndarray
    v: np.ndarray
    a: np.ndarray
    d: np.ndarray  # deformation of every unknown spring
    f: np.ndarray  # and its force


@dataclass(frozen=True, eq=False)
class UnknownSprings:
    """A linear structure, springs of unknown law, and the sensors there are.

    Parameters
    ----------
    structure : Structure
        M, C, K of the known, linear part and its `loads`, a column for each force history.
    along : sequence of array_like, (n,)
        Direction vector of every unknown spring (`Structure.between`).
    sensors : mapping of str to (kind, direction)
        Kind ``"u"``, ``"v"`` or ``"a"`` and what the sensor reads of it: a direction vector or the name of a degree of
        freedom.
    dt : float
        Sampling interval of loads and sensors in s.
    substeps : int
        Steps of the simulation in a sampling interval; loads are straight lines between samples.
    stiffness : float or sequence
        Expected initial stiffness of the springs in N/m, for α alone.
    tangent : bool
        Whether the added mass follows the tangent of the springs; else it is that of `stiffness`, as in a `Loop` with
        `hyloop.integrators.stabilized_central_difference`.
    """

    structure: Structure
    along: Sequence[Any]
    sensors: Mapping[str, tuple[str, Any]]
    dt: float
    substeps: int = 1
    stiffness: float | Sequence[float] = 0.0
    tangent: bool = True

    def __post_init__(self) -> None:
        n = self.structure.n
        if self.structure.elements:
            raise BadInput("UnknownSprings: the known part must be linear; the structure has nonlinear elements.")
        if self.structure.loads.shape[1] == 0:
            raise BadInput("UnknownSprings: the structure has no load patterns. Give it `loads`, a column for each.")
        S = np.atleast_2d(np.asarray(self.along, dtype=float))
        if S.shape[1] != n or len(S) == 0 or not np.isfinite(S).all() or not S.any(axis=1).all():
            raise BadShape(
                f"UnknownSprings: along needs a finite vector of {n} numbers, not all zero, for each spring."
            )
        if not self.sensors:
            raise BadInput("UnknownSprings: no sensors. Name at least one, such as {'A1': ('a', '1')}.")
        if not (np.isfinite(self.dt) and self.dt > 0.0):
            raise OutOfBounds(f"UnknownSprings: dt = {self.dt!r} s must be positive and finite.")
        if not isinstance(self.substeps, int) or self.substeps < 1:
            raise OutOfBounds(f"UnknownSprings: substeps = {self.substeps!r} must be a whole number, 1 or more.")
        object.__setattr__(self, "along", S)
        self.outputs  # noqa: B018 - a sensor that does not exist is refused here

    @property
    def outputs(self) -> np.ndarray:
        """What the sensors read of u, v and a: (3, sensors, n)."""
        found = np.zeros((3, len(self.sensors), self.structure.n))
        for i, (name, (kind, direction)) in enumerate(self.sensors.items()):
            if kind not in ("u", "v", "a"):
                raise UnknownName("kind of sensor", str(kind), ("u", "v", "a"), where=f"sensor {name}")
            if isinstance(direction, (str, int)):
                direction = self.structure.between(direction)
            row = np.asarray(direction, dtype=float)
            if row.shape != (self.structure.n,) or not np.isfinite(row).all() or not row.any():
                raise BadShape(f"sensor {name}: its direction must be {self.structure.n} finite numbers, not all zero.")
            found["uva".index(kind), i] = row
        return found

    def assembly(self, parts: Sequence[UncertainPart] = ()) -> Assembly:
        """What the operators are made of, with parts of the structure that are uncertain."""
        if jnp.zeros(1).dtype != jnp.float64:
            raise BadInput(
                "UnknownSprings: simulations are computed in double precision, which JAX has switched off. Set "
                'JAX_ENABLE_X64=1 or call jax.config.update("jax_enable_x64", True) before the first use of JAX.'
            )
        M, C, K, S = self.structure.M, self.structure.C, self.structure.K, np.asarray(self.along)
        added = np.broadcast_to(np.asarray(self.stiffness, dtype=float), len(S))
        highest_frequency(M, K + S.T @ (added[:, None] * S))  # refuses what has no mass
        nominal = tuple(jnp.asarray(part) for part in (M, C, K, self.structure.loads))
        uncertain = tuple(jnp.asarray(part) for part in stacked(self.structure, parts))
        S, outputs, h, added = (
            jnp.asarray(part, dtype=float) for part in (S, self.outputs, self.dt / self.substeps, added)
        )
        return Assembly(nominal, uncertain, S, outputs, h, added, self.tangent)

    def operators(self) -> Operators:
        """Operators of the recurrence."""
        return _operators(self.assembly())

    def simulate(self, laws: Sequence, loads: Any) -> Response:
        """Responses to load histories from rest.

        Parameters
        ----------
        laws : sequence
            A restoring law (`hyloop.learn.springs.elastic`, `hyloop.learn.springs.hysteresis`) for every spring.
        loads : array_like, (samples, steps, patterns) or (steps, patterns)
            Forces at the sampling instants in N.
        """
        loads = self.checked_loads(loads)
        if len(laws) != len(np.asarray(self.along)):
            raise BadShape(f"UnknownSprings: {len(laws)} laws for {len(np.asarray(self.along))} springs.")
        histories = _simulate(list(laws), self.operators(), prepare(loads, self.substeps))
        return Response(*(np.asarray(part) for part in histories))

    def checked_loads(self, loads: Any) -> np.ndarray:
        """Loads as (samples, steps, patterns), finite."""
        loads = np.asarray(loads, dtype=float)
        loads = loads[None] if loads.ndim == 2 else loads
        patterns = self.structure.loads.shape[1]
        if loads.ndim != 3 or loads.shape[2] != patterns or 0 in loads.shape:
            raise BadShape(f"loads must be (samples, steps, {patterns}), got {loads.shape}.")
        if not np.isfinite(loads).all():
            sample = int(np.argmax(~np.isfinite(loads).all(axis=(1, 2))))
            raise BadShape(f"loads of sample {sample} contain numbers that are not finite. Leave the sample out.")
        return loads


def with_structure(problem: UnknownSprings, parts: Sequence[UncertainPart], z: Any) -> UnknownSprings:
    """The same problem with other factors of uncertain parts; z counts in deviations."""
    return replace(problem, structure=with_factors(problem.structure, parts, z)) if parts else problem


def prepare(loads: np.ndarray, substeps: int) -> jax.Array:
    """Loads at all steps, (steps, substeps, samples, patterns); the last one is held."""
    following = np.concatenate([loads[:, 1:], loads[:, -1:]], axis=1)
    part = np.arange(substeps)[:, None, None, None] / substeps
    return jnp.asarray(np.moveaxis(loads * (1 - part) + following * part, 2, 0))


def begin(laws, ops: Operators, first):
    """State at rest under the load P₀ = E first: u, u[0] - u[-1] and the states of the springs."""
    rests = [law.rest() for law in laws]
    k = jnp.stack([_force(law, state, jnp.zeros(()))[1] for law, state in zip(laws, rests, strict=True)])
    Mhat = ops.Mhat + ops.stabilised * ops.S.T @ (k[:, None] * ops.S)
    a = jnp.linalg.solve(Mhat, ops.E @ first)
    return jnp.zeros(len(a)), -(ops.h**2) / 2 * a, rests


def respond(laws, ops: Operators, carry, load):
    """One step of one sample from u and u[i] - u[i-1]; also u, v, a, d and f at its beginning."""
    u, w, states = carry
    d = ops.S @ u
    found = [_force(law, state, d[j]) for j, (law, state) in enumerate(zip(laws, states, strict=True))]
    f, k = jnp.stack([one[0] for one in found]), jnp.stack([one[1] for one in found])
    increment = ops.h2AE @ load - ops.h2AK @ u - ops.hAC @ w - ops.h**2 * (ops.X @ f)
    increment = increment - ops.X @ _woodbury(ops.stabilised * k, ops.H, ops.S @ increment)
    new = w + increment
    return (u + new, new, [one[2] for one in found]), (u, (w + increment / 2) / ops.h, increment / ops.h**2, d, f)


def _force(law, state, d):
    """Force, tangent and new state."""
    f, k, new = jax.jvp(lambda d: law(state, d), (d,), (jnp.ones_like(d),), has_aux=True)
    return f, k, new


def _woodbury(k, H, s):
    """(I + k H)⁻¹ k s by elimination, without pivoting: α h² k H is small beside one."""
    A, b = jnp.eye(len(k)) + k[:, None] * H, k * s
    rows = [(A[i], b[i]) for i in range(len(k))]
    for i in range(len(rows)):
        row, right = rows[i][0] / rows[i][0][i], rows[i][1] / rows[i][0][i]
        rows = [
            (row, right) if j == i else (other - other[i] * row, value - other[i] * right)
            for j, (other, value) in enumerate(rows)
        ]
    return jnp.stack([right for _, right in rows])


def read(ops: Operators, u, v, a):
    """What the sensors show."""
    return ops.outputs[0] @ u + ops.outputs[1] @ v + ops.outputs[2] @ a


def _histories(laws, ops, loads):
    def sample(carry, load):
        carry, (u, v, a, d, f) = respond(laws, ops, carry, load[0])
        carry, _ = jax.lax.scan(lambda c, p: (respond(laws, ops, c, p)[0], None), carry, load[1:])
        return carry, (read(ops, u, v, a), u, v, a, d, f)

    def history(loads):
        # recomputed on the way back: a step costs less than keeping what it computed
        return jax.lax.scan(jax.checkpoint(sample), begin(laws, ops, loads[0, 0]), loads)[1]

    return jax.vmap(history, in_axes=2)(loads)


def sensed(laws, ops: Operators, loads):
    """Sensor readings (steps, samples, sensors) for loads from `prepare`; for use inside other JAX functions."""
    return jnp.moveaxis(_histories(laws, ops, loads)[0], 0, 1)


_simulate = eqx.filter_jit(_histories)
_operators = eqx.filter_jit(lambda assembly: assembly.operators(jnp.zeros(assembly.count)))
