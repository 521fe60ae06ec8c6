"""The time step of `hyloop.core.kernel` under JAX: predict, resist, respond, correct, record.

Read the kernel first; the verbs here have its names and do the same to the same numbers, with full matrices and pure
laws alone. On the way back every step is computed once more from the state it began with, which costs less time than
writing and reading what it computed. Where the states of all steps are many numbers, histories are scanned in sqrt(N)
pieces, each of which is computed once more as well: N steps then take the memory of 2 sqrt(N) states.
"""

from collections.abc import Sequence
from math import ceil, sqrt
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from hyloop.core import Plan
from hyloop.integrators import Operators
from hyloop.learn.loops.lanes import Bus, Lane, stale

__all__ = ["Histories", "Motion", "Recurrence"]

WHOLE = 4_000_000  # numbers: so many of the states of all steps are kept (32 MB), more are computed again in pieces


class Motion(NamedTuple):
    """What a step hands to the next one."""

    u: Any
    v: Any
    w: Any
    g: Any
    d: Any  # deformation of the sites at the end of the step
    rate: Any
    states: tuple  # of the blocks, lane by lane
    held: Any  # what blocks read of the tick before


class Histories(NamedTuple):
    """What is recorded of a step, or of all; None where it is not wanted."""

    u: Any
    v: Any
    a: Any
    kept: Any  # signals of blocks and sites


class Recurrence:
    """A loop as constants and lanes.

    Parameters
    ----------
    plan : Plan
        Of the compiled loop: its numbers, not its matrices.
    matrices : dict of str to ndarray
        Full K, C, E (a column for each excitation), S (a row for each site), dead and rest (displacements at rest).
    operators : Operators
        With full matrices.
    order : sequence of Lane
    kept : ndarray of int
        Positions on the bus that are recorded beside the motion.
    wanted : str
        What is recorded of the motion: some of "uva".
    """

    def __init__(
        self,
        plan: Plan,
        matrices: dict[str, np.ndarray],
        operators: Operators,
        order: Sequence[Lane],
        kept: np.ndarray,
        wanted: str = "uva",
    ) -> None:
        self.plan, self.operators, self.lanes, self.kept = plan, operators, tuple(order), kept
        self.wanted = wanted
        self.K, self.C, self.E, self.S, self.dead, self.rest = (
            matrices[key] for key in ("K", "C", "E", "S", "dead", "rest")
        )
        self.resisting = np.hstack([self.K, self.C, self.S.T])  # one product instead of three
        self.signals = plan.site_signal.reshape(-1, 4).T  # rows: d, v, a and f of all sites
        first, n = plan.bus_response, plan.n
        excited = plan.bus_excitation + np.arange(plan.excitations)
        self.motion = excited, *(np.arange(first + k * n, first + (k + 1) * n) for k in range(3))
        later = {0, *np.concatenate(self.motion).tolist()}
        self.held = stale(self.lanes, set(self.signals[:3].ravel().tolist()), later)

    def histories(self, base: Any, counts: Any, rows: Any) -> Histories:
        """Histories from rest, the state at t = 0 in the first row.

        `base` is the bus at the start, with all parameters; `counts` the number of devices at each site; `rows` has
        the excitation, a row for each step.
        """
        bus = Bus(base)
        for positions in (lane.parameters.ravel() for lane in self.lanes if lane.parameters.size):
            bus.put(positions, base[positions])  # gathered once, not in every step
        motion, first = self.start(base, counts, rows[0])
        steps = len(rows) - 1
        numbers = sum(np.size(part) for part in jax.tree.leaves(motion))
        length = max(steps, 1) if steps * numbers <= WHOLE else ceil(sqrt(steps))
        pieces = ceil(steps / length)
        ahead = jnp.pad(rows[1:], ((0, pieces * length - steps), (0, 0)))  # what is too much is cut off below
        given = jnp.arange(1.0, pieces * length + 1.0), ahead, ahead @ self.E.T + self.dead
        cut = jax.tree.map(lambda a: a.reshape(pieces, length, *a.shape[1:]), given)

        def step(motion, given):
            return self.step(bus, counts, motion, *given)

        def piece(motion, given):
            return jax.lax.scan(jax.checkpoint(step, prevent_cse=False), motion, given)

        again = jax.checkpoint(piece, prevent_cse=False) if pieces > 1 else piece
        _, found = jax.lax.scan(again, motion, cut)
        whole = jax.tree.map(lambda a: a.reshape(pieces * length, *a.shape[2:])[:steps], found)
        return jax.tree.map(lambda one, rest: jnp.concatenate([one[None], rest]), first, whole)

    def start(self, base: Any, counts: Any, row: Any) -> tuple[Motion, Histories]:
        """Equilibrium with the excitation at t = 0; devices begin untouched (`Loop.start`)."""
        plan, still = self.plan, jnp.zeros(len(self.S))
        u = jnp.asarray(self.rest)
        f = base[self.signals[3]] * counts
        g = self.dead - self.K @ u - self.S.T @ f + self.E @ row
        w = self.operators.start @ g
        lag = plan.lag * self.mixed(w)
        states = tuple(
            tuple(jnp.asarray(np.broadcast_to(x, lane.x0.shape[1:])) for x in lane.x0) for lane in self.lanes
        )
        motion = Motion(u, -lag, w, g + self.C @ lag, still, still, states, base[self.held])
        bus = Bus(base)
        found = self.report(bus, motion, row, 0.0)
        return motion._replace(held=bus.take(self.held)), self.recorded(found, base[self.kept])

    def step(self, bus: Bus, counts: Any, motion: Motion, number: Any, row: Any, load: Any) -> tuple[Motion, Histories]:
        """Advance by one step Δt; `load` is that of the excitation `row` at its end, and the dead load."""
        motion, was = self.predict(motion), motion
        states, held, kept, f = self.respond(bus, motion, was)
        g = load - self.resisting @ jnp.concatenate([motion.u, motion.v, counts * f])  # F - R - C v
        motion = self.correct(motion._replace(states=states, held=held), g)
        bus = bus.copy()
        bus.put(self.held, held)
        found = self.report(bus, motion, row, number * self.plan.dt)
        return motion._replace(held=bus.take(self.held)), self.recorded(found, kept)

    def mixed(self, w: Any) -> Any:
        """P w, or w itself where P is the identity."""
        return self.operators.P @ w if len(self.operators.P) else w

    def predict(self, motion: Motion) -> Motion:
        """Displacement and velocity at the end of the step, and from them the deformation of every site."""
        plan, mixed = self.plan, self.mixed(motion.w)
        u = motion.u + plan.dt * motion.v + plan.w_to_u * mixed
        d = self.S @ u - plan.site_rest
        return motion._replace(u=u, v=motion.v + plan.w_to_v * mixed, d=d, rate=(d - motion.d) / plan.dt)

    def respond(self, base: Bus, motion: Motion, was: Motion) -> tuple[tuple, Any, Any, Any]:
        """Controller rate: states, what the next tick reads of this one, what is recorded, and forces of the sites."""
        plan, jump = self.plan, (motion.rate - was.rate) / self.plan.dt

        def tick(states, held, part):
            bus = base.copy()
            bus.put(self.held, held)
            for row, signal in zip(
                self.signals, (part * motion.d + (1.0 - part) * was.d, motion.rate, jump), strict=False
            ):
                bus.put(row, signal)
            states = tuple(lane.advance(x, bus, plan.tick_dt) for lane, x in zip(self.lanes, states, strict=True))
            return states, bus.take(self.held), bus.take(self.kept), bus.take(self.signals[3])

        if plan.substeps == 1:
            return tick(was.states, was.held, 1.0)
        parts = (np.arange(plan.substeps) + 1.0) / plan.substeps
        first = was.states, was.held, jnp.zeros(len(self.kept)), jnp.zeros(len(self.S))
        return jax.lax.scan(lambda last, part: (tick(*last[:2], part), None), first, parts)[0]

    def correct(self, motion: Motion, g: Any) -> Motion:
        """Equation of motion: the increment w that carries the structure on from here."""
        plan, A, B = self.plan, self.operators.A, self.operators.B
        b = plan.alpha_f * motion.g + (1.0 - plan.alpha_f) * g if plan.alpha_f else g
        w = A @ (b - B @ motion.w if len(B) else b)
        v = motion.v + plan.w_to_v_after * w if plan.w_to_v_after else motion.v
        return motion._replace(v=v, w=w, g=g)

    def report(self, bus: Bus, motion: Motion, row: Any, time: Any) -> tuple[Any, Any, Any]:
        """Put time, excitation and motion on the bus, where the next tick may read them; returns u, v and a."""
        plan = self.plan
        found = motion.u, motion.v + plan.lag * self.mixed(motion.w), plan.w_to_a * motion.w
        bus.put([0], jnp.reshape(time, 1))
        for positions, values in zip(self.motion, (row, *found), strict=True):
            bus.put(positions, values)
        return found

    def recorded(self, found: tuple[Any, Any, Any], kept: Any) -> Histories:
        """Of u, v and a those that are wanted, and what is kept beside them."""
        u, v, a = (values if symbol in self.wanted else None for symbol, values in zip("uva", found, strict=True))
        return Histories(u, v, a, kept)
