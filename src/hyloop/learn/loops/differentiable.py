"""The response of a whole loop as a function under JAX."""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.learn.loops.channels import Channels
from hyloop.learn.loops.reading import read

__all__ = ["Differentiable", "differentiable"]


def differentiable(
    loop: Any, parameters: Sequence[str] | str = ("*",), record: Sequence[str] | str = ("u.*",)
) -> "Differentiable":
    """Make a JAX function of a built loop: its response to an excitation, for any parameters of its laws.

    The recurrence is that of the compiled run, with the operators the loop has: the response equals that of
    ``loop.copy(parameters).run(excitation)`` to round-off, and JAX has its derivatives. As with `Loop.copy`, the
    linearised devices inside a model-based method and inside damping by modes, and the states that blocks begin with,
    stay those of the loop as it was built.

    Parameters
    ----------
    loop : Loop
        With an explicit method and pure laws, without nonlinear elements. Sparse matrices of up to 200 degrees of
        freedom are made full. Whatever cannot be represented exactly is refused by name.
    parameters : sequence of str, or one str
        Channels of parameters that may be given; ``*`` and ``?`` match as in a shell.
    record : sequence of str, or one str
        Channels that are returned; also ``drift.*``, ``drift_ratio.*``, ``a_abs.*`` and ``base_shear``, no energies.

    Returns
    -------
    Differentiable
        ``response(parameters, excitation, counts)``; see there.

    Notes
    -----
    Limits of the loop do not stop anything here: a response that grows shows as numbers that are not finite. A law with
    a kink (a corner of `np.where`, `np.clip`) has one-sided derivatives there. JAX must compute in double precision.

    Examples
    --------
    ::

        response = differentiable(loop, "damper*.f_y", record="drift.*")
        peak = jax.jit(lambda p: jnp.abs(response(p, ground)["drift.1"]).max())
        jax.grad(peak)({"damper1.f_y": 2e5})
    """
    if jnp.zeros(1).dtype != jnp.float64:
        raise BadInput(
            "differentiable: loops are computed in double precision, which JAX has switched off. Set JAX_ENABLE_X64=1 "
            'or call jax.config.update("jax_enable_x64", True) before the first use of JAX.'
        )
    return Differentiable(loop, _matching(parameters, loop.parts.bounds), record)


class Differentiable:
    """The response of a loop; call it with parameters and an excitation. Made by `differentiable`.

    Attributes
    ----------
    parameters : dict of str to float
        Parameters that may be given, and their values in the loop.
    counts : dict of str to float
        Number of devices at each site.
    """

    def __init__(self, loop: Any, names: Sequence[str], record: Sequence[str] | str) -> None:
        self._loop, parts = loop, loop.parts
        self._position = {name: k for k, name in enumerate(loop.channels)}
        self._base = np.array(parts.initial.bus)
        self._bounds = {name: parts.bounds[name] for name in names}
        self._channels = Channels(loop, record)
        self._recurrence = read(loop, self._channels.beside, self._channels.motion)
        self.parameters = {name: float(self._base[self._position[name]]) for name in names}
        self.counts = {site.name: float(site.count) for site in loop.sites}
        self._histories: Callable = jax.jit(self._all)

    def __call__(
        self, parameters: Mapping[str, Any], excitation: Any, counts: Mapping[str, Any] | None = None
    ) -> dict[str, jax.Array]:
        """Histories by channel, one value for each row of the excitation, the first at t = 0.

        Every argument may be differentiated and vectorised by JAX.

        Parameters
        ----------
        parameters : mapping of str to number
            Parameters by channel; those not named keep their values. Numbers that JAX does not trace are checked
            against their bounds.
        excitation : array_like, (N,) or (N, k), or as `Loop.run` takes it
            Ground acceleration in m/s2 (and further loads), one row for each Δt.
        counts : mapping of str to number, optional
            Number of devices at a site, by its name.
        """
        given = {name: self._checked(name, value) for name, value in parameters.items()}
        base = jnp.asarray(self._base)
        if given:
            places = np.array([self._position[name] for name in given])
            base = base.at[places].set(jnp.stack([jnp.asarray(value, dtype=float) for value in given.values()]))
        number = self.counts | dict(counts or {})
        for name in number:
            if name not in self.counts:
                raise UnknownName("site", name, self.counts, where="counts")
            if not isinstance(number[name], Tracer) and not number[name] > 0.0:
                raise OutOfBounds(f"counts: {name} = {number[name]!r} must be positive.")
        many = jnp.stack([jnp.asarray(value, dtype=float) for value in number.values()]) if number else jnp.zeros(0)
        return self._histories(base, many, self._rows(excitation))

    def _all(self, base: Any, counts: Any, rows: Any) -> dict[str, jax.Array]:
        return self._channels.of(self._recurrence.histories(base, counts, rows), rows, self._loop.dt)

    def _checked(self, name: str, value: Any) -> Any:
        if name not in self._bounds:
            raise UnknownName("parameter", name, self._bounds, where="differentiable")
        return value if isinstance(value, Tracer) else self._bounds[name].check(value, name)

    def _rows(self, excitation: Any) -> Any:
        if not isinstance(excitation, Tracer):
            return jnp.asarray(self._loop.rows(excitation))
        rows, wanted = jnp.atleast_2d(excitation.T).T, self._loop.parts.plan.excitations
        if rows.ndim != 2 or rows.shape[1] != wanted:
            raise BadShape(
                f"excitation must have one row for each step and {wanted} column(s), got shape {excitation.shape}."
            )
        return rows


def _matching(patterns: Sequence[str] | str, names: Mapping[str, Any]) -> list[str]:
    """Names that any of the patterns fits."""
    wanted = [patterns] if isinstance(patterns, str) else list(patterns)
    for pattern in wanted:
        if pattern != "*" and not any(fnmatchcase(name, pattern) for name in names):
            raise UnknownName("parameter", pattern, names, where="differentiable")
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in wanted)]
