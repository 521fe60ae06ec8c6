"""`Loop`: a structure, its sites and a method, ready to run."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numba.core.errors import TypingError

from hyloop.core import Instance, Table, begin, run, settle
from hyloop.core.plan import ASKED, FAULT, IMPULSE, OK, PLACE, STATUS, STEP
from hyloop.core.wind_down import wind_down
from hyloop.errors import BadInput, BadShape, OutOfBounds, RunFailed, UnknownName
from hyloop.integrators import Method
from hyloop.loop.building import describe_building
from hyloop.loop.derived import Derived
from hyloop.loop.faults import failed, fault
from hyloop.loop.identity import identity, unlike
from hyloop.loop.interlocks import interlock_log
from hyloop.loop.limits import Limits, initial_impulse
from hyloop.loop.parts import bounds, check_parts, excitation_rows, vector
from hyloop.loop.plan import Parts, allocate, compile_plan, own_state
from hyloop.loop.site import FreeBlock, Site, replaced
from hyloop.loop.snapshot import Snapshot
from hyloop.loop.storage import suited, unit_spring
from hyloop.loop.watching import prepared
from hyloop.loop.wiring import Connection, check_ticks, placed, shared_advice, wire
from hyloop.record import Recording
from hyloop.structure import Modes, Structure, Watched

__all__ = ["Loop"]

_NOTHING = np.empty((0, 0))  # where a live step records


class Loop:
    """A hybrid simulation: build it once, then run a whole history, or step live.

    Parameters
    ----------
    structure : Structure
        The analytical substructure.
    sites : sequence of Site
        Devices and where they act.
    method : Method
        Integration method, such as ``mkr_alpha(rho_inf=0.75)``.
    dt : float
        Step Δt of the structure in s.
    substeps : int
        Controller ticks in a step, m = Δt/δt; the deformation of every site is ramped over them.
    blocks : sequence of FreeBlock
        Blocks that belong to no site, such as updaters.
    limits : Limits, optional
        Bounds on displacement, energy, drifts and section imbalance that stop a run; the default ones catch a run that
        has diverged.
    watch : sequence of Watched
        Forces and deformations of members, reactions and the like, as channels: ``model.watch(structure, ...)``.

    Notes
    -----
    Everything is checked here, before anything moves: names, shapes, bounds, and the stability of the step for a
    conditionally stable method with the initial stiffness of all devices.

    A step of `mkr_alpha`, `kr_alpha` and `cr` works with sparse matrices where that is faster, even if the structure
    has full ones (`hyloop.loop.storage`). Other methods work with full ones, made of sparse ones up to 200 degrees of
    freedom and refused beyond.
    """

    def __init__(
        self,
        structure: Structure,
        sites: Sequence[Site] = (),
        *,
        method: Method,
        dt: float,
        substeps: int = 1,
        blocks: Sequence[FreeBlock] = (),
        limits: Limits | None = None,
        watch: Sequence[Watched] = (),
    ) -> None:
        check_parts(structure, sites, method, blocks, limits)
        if not isinstance(substeps, (int, float, np.integer)) or int(substeps) != substeps or substeps < 1:
            raise OutOfBounds(f"substeps = {substeps!r} must be a whole number of at least 1.")
        if not isinstance(dt, (int, float, np.floating, np.integer)):
            raise BadInput(f"dt = {dt!r} must be a number of seconds.")
        self.structure, self.sites, self.method, self.dt = structure, tuple(sites), method, float(dt)
        self.blocks = tuple(blocks)
        self._changed: dict[str, float] = {}  # parameters, by `copy`
        self.limits = Limits() if limits is None else limits
        self.watch = watch
        self._wiring = wire(structure, self.sites, blocks, prepared(watch, structure, self.sites))
        self._building = describe_building(structure, self.sites)
        self._stored = structure = suited(structure, self.sites, method)
        Km, Cm = structure.initial_stiffness, structure.C
        for site in self.sites:
            outer = site.count * unit_spring(site.along, structure.is_sparse)
            Km, Cm = Km + site.stiffness * outer, Cm + site.damping * outer
        self._device_stiffness, self._model_stiffness = Km - structure.initial_stiffness, Km
        self._operators = method.operators(structure.M, structure.C, structure.K, dt, Cm=Cm, Km=Km)
        check_ticks(structure, self.sites, blocks, dt, int(substeps))
        self._initial = allocate(structure, self.sites, self._wiring)
        self._plan = compile_plan(
            structure,
            self.sites,
            self._wiring,
            self._operators,
            dt,
            int(substeps),
            len(self._initial.memory),
            self.limits,
        )
        self._bounds = bounds(self.sites, blocks)
        self._identity = identity(self)
        self._plan_table = Table(self._plan)
        self._own_state()

    # --- channels ---------------------------------------------------------------------------------------------

    def modes(self, count: int | None = None) -> Modes:
        """Natural modes with the initial stiffness of all devices; the first `count` of them, or all."""
        return self.structure.modes(self._device_stiffness, count)

    @property
    def substeps(self) -> int:
        """Controller ticks in a step."""
        return self._plan.substeps

    @property
    def channels(self) -> dict[str, str]:
        """Name and unit of every channel."""
        return dict(zip(self._wiring.layout.names, self._wiring.layout.units, strict=True))

    @property
    def connections(self) -> dict[str, Connection]:
        """What every block reads and writes, in the order they run, by what its channels begin with."""
        w, names = self._wiring, self._wiring.layout.names
        return {
            place: Connection(
                one,
                {key: names[k] for key, k in zip(one.block.inputs, reads, strict=True)},
                {key: names[k] for key, k in zip(one.block.outputs, writes, strict=True)},
            )
            for place, one, reads, writes in zip(w.places, w.instances, w.inputs, w.outputs, strict=True)
        }

    def select(self, record: Sequence[str] | str) -> list[str]:
        """Names of the channels that match; ``*`` and ``?`` match as in a shell."""
        return [self._wiring.layout.names[k] for k in self._selected(record)]

    def derived(self) -> Derived:
        """What follows from the motion, to be computed from recordings of a run from its start on."""
        return Derived(self.structure, self.sites)

    @property
    def watched(self) -> tuple[str, ...]:
        """Channels of what is watched."""
        return tuple(one.name for one in self._wiring.watched)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Channels that are parameters of blocks."""
        return tuple(self._bounds)

    def __getitem__(self, channel: str) -> float:
        """Present value of a channel, such as ``loop["damper1.f"]``."""
        return float(self._state.bus[self._wiring.layout[channel]])

    @property
    def parts(self) -> Parts:
        """What a run of this loop works with, for those who compute it by other means; not to be changed."""
        return Parts(self._plan, self._initial, self._operators, self._stored, self._bounds)

    def rows(self, excitation: Any) -> np.ndarray:
        """Numbers of an excitation as `run` takes it: a row for each step, a column for each excitation."""
        return self._rows(excitation)

    def reader(self, channels: Sequence[str] | str) -> Callable[[], np.ndarray]:
        """A function that returns the present values of the given channels, fast enough for every live step."""
        names = [channels] if isinstance(channels, str) else channels
        bus, positions = self._state.bus, np.array([self._wiring.layout[name] for name in names], dtype=np.int64)
        return lambda: bus.take(positions)

    def copy(
        self, parameters: Mapping[str, float] | None = None, contents: Mapping[str, np.ndarray] | None = None
    ) -> "Loop":
        """An independent loop that shares the compiled plan, with other parameters where given.

        Parameters are named as channels: ``loop.copy({"damper1.Fc": 20e3})``. The linearised device stiffness inside
        the method stays that of the original; `replace` builds a new one. `contents` are what the memory of blocks
        begins with, by what their channels begin with: another plant of the same size, another trained network.
        """
        other = copy(self)
        other._changed = {**self._changed, **(parameters or {})}
        other._initial = own_state(self._initial)
        for channel, value in (parameters or {}).items():
            if channel in self._wiring.shared:
                raise BadInput(f"{channel}: {shared_advice(channel, self._wiring.shared)}")
            if channel not in self._bounds:
                raise UnknownName("parameter", channel, self._bounds)
            other._initial.bus[self._wiring.layout[channel]] = self._bounds[channel].check(value, channel)
        for name, memory in (contents or {}).items():
            other._initial.x[self._memory_of(name, len(memory))] = memory
        for where, instance in placed(self.sites, self.blocks).items() if parameters else ():
            changed = {
                key: other._changed[name] for key in instance.params if (name := f"{where}.{key}") in other._changed
            }
            if changed:
                instance.check_fit(self._plan.tick_dt, where, **changed)
        other._own_state()
        return other

    def _memory_of(self, name: str, length: int) -> slice:
        """Where the memory of a block lies among the states of all blocks."""
        blocks = placed(self.sites, self.blocks)
        if name not in blocks:
            raise UnknownName("block", name, blocks)
        wanted = blocks[name]
        if length != len(wanted.memory):
            raise BadShape(f"{name}: its memory has {len(wanted.memory)} numbers, got {length}.")
        k = next(k for k, instance in enumerate(self._wiring.instances) if instance is wanted)
        end = int(self._plan.x_start[k + 1])
        return slice(end - length, end)

    def replace(self, *, sites: Sequence[Site] | Mapping[str, Site | Instance] | None = None, **changes: Any) -> "Loop":
        """A loop built anew with something else in place of what is named, and the rest as it is.

        ``loop.replace(dt=0.005, method=cr())`` takes any argument of `Loop`. Sites may be named one by one, with a
        device or a whole site: ``loop.replace(sites={"damper1": bilinear(k=1e7, f_y=2e4)})``.
        """
        arguments = {
            "structure": self.structure,
            "method": self.method,
            "dt": self.dt,
            "substeps": self.substeps,
            "blocks": self.blocks,
            "limits": self.limits,
            "watch": self.watch,
        }
        for key in changes:
            if key not in arguments:
                raise UnknownName("argument", key, ["sites", *arguments], where="Loop.replace")
        other = Loop(**(arguments | changes), sites=replaced(self.sites, {} if sites is None else sites))
        exchanged = [site.name for site, old in zip(other.sites, self.sites, strict=False) if site is not old]
        kept = {name: value for name, value in self._changed.items() if name in other._bounds}
        # what `copy` has changed stays changed, but for a site that was exchanged
        return other.copy({k: v for k, v in kept.items() if k.rpartition(".")[0] not in exchanged}) if kept else other

    def _about(self, names: Sequence[str]) -> dict[str, Any]:
        """Where a recording of these channels comes from."""
        return {
            "method": self.method.name,
            "dt": self.dt,
            "substeps": self.substeps,
            "counts": {site.name: float(site.count) for site in self.sites},
            "parameters": [name for name in names if name in self._bounds],
            "building": self._building,
            **self._transfer_channels(),
        }

    def _transfer_channels(self) -> dict[str, Any]:
        """What shows, at sites with an actuator, the deformation that was achieved and the one that was measured."""
        sites = [site for site in self.sites if "d" in site.given.get("actuator", {})]
        channels = {s.name: {"achieved": s.given["actuator"]["d"], "measured": s.measured["d"]} for s in sites}
        return {"transfer": channels} if channels else {}

    def _selected(self, record: Sequence[str] | str) -> list[int]:
        wanted = [record] if isinstance(record, str) else list(record)
        if not wanted:
            raise BadInput("record = [] records nothing. Name at least one channel, or leave it out for all.")
        return self._wiring.layout.select(wanted)

    def _own_state(self, memory: np.ndarray | None = None) -> None:
        self._state = own_state(self._initial, bool(self._plan.implicit), memory)
        self._state_table = Table(self._state)
        self._words = self._plan_table.words, self._state_table.words

    def _rows(self, excitation: Any, allow_empty: bool = False) -> np.ndarray:
        return excitation_rows(excitation, self.structure, self.dt, allow_empty)

    # --- running ----------------------------------------------------------------------------------------------

    def run(
        self,
        excitation: Any,
        *,
        record: Sequence[str] | str = ("*",),
        every: str = "step",
        u0: Any = None,
        v0: Any = None,
        on_fault: str = "raise",
        derived: bool = False,
    ) -> Recording:
        """Run a whole history in one compiled call.

        Parameters
        ----------
        excitation : array_like, (N,) or (N, k), or GroundMotion, LoadHistory or a list of these
            Ground acceleration in m/s2 (and further loads), one row for each Δt, the first at t = 0. In a list a motion
            for each direction of the ground, or none, and loads at degrees of freedom that the structure has loads at
            (`Structure.with_loads`); what ends earlier is followed by zeros. Another time step is brought to Δt.
        record : sequence of str, or one str
            Channels to record; ``*`` and ``?`` match as in a shell.
        every : {"step", "tick"}
            Record at every step Δt or at every controller tick δt.
        u0, v0 : array_like, optional
            Initial displacement (by default that of the structure at rest) and velocity.
        on_fault : {"raise", "stop"}
            What to do with a non-finite response or a passed limit: raise `RunFailed`, which carries what was
            recorded, or return it.
        derived : bool
            Add absolute accelerations, story drifts, base shear and energies (`hyloop.loop.derived`).
        """
        rows = self._rows(excitation)
        self.start(rows[0], u0=u0, v0=v0)
        settings: Any = {"every": every, "on_fault": on_fault, "with_present": True}
        if not derived:
            return self.advance(rows[1:], record=record, **settings)
        wanted = self.select(record) if len(record) else []
        more = self.derived()
        per_step = self.substeps if every == "tick" else 1
        try:
            result = self.advance(rows[1:], record=[*wanted, *more.sources], **settings)
        except RunFailed as failure:
            failure.result = more.joined(failure.result, wanted, per_step)
            raise
        return more.joined(result, wanted, per_step)

    def start(self, excitation: Any = 0.0, *, u0: Any = None, v0: Any = None) -> None:
        """Return to the initial state at t = 0, in equilibrium with the excitation there."""
        given = np.asarray(excitation, dtype=float)  # one number stands for all excitations
        first = self._rows(np.full(self._plan.excitations, given)[None] if given.ndim == 0 else given[None])[0]
        plan, state, n = self._plan, self._state, self.structure.n
        state.memory[:] = self._initial.memory
        at_rest = self.structure.at_rest
        state.u[:], state.v[:] = vector("u0", at_rest if u0 is None else u0, n), vector("v0", v0, n)
        for s, site in enumerate(self.sites):
            state.d0[s] = state.d1[s] = site.along @ (state.u - at_rest)
            state.rate[s] = site.along @ state.v
            state.bus[self._wiring.site_signal[s][:2]] = state.d1[s], state.rate[s]
        # devices at rest begin untouched, as they were declared
        begin(*self._words, first, bool((state.u != at_rest).any() or state.v.any()))
        state.w[:] = self._operators.start @ state.g
        lag = plan.lag * (self._operators.P @ state.w if plan.has_P else state.w)
        state.v[:] -= lag  # the method's own velocity may run behind the true one
        state.g[:] += self._stored.C @ lag
        state.clock[IMPULSE] = initial_impulse(self._stored, self._model_stiffness, state.u - at_rest, state.v + lag)
        settle(*self._words)
        if plan.interlocks:
            wind_down(*self._words, ASKED, 0, _NOTHING)  # compiled now, not when it is needed

    def advance(
        self,
        excitation: Any,
        *,
        record: Sequence[str] | str = ("*",),
        every: str = "step",
        on_fault: str = "raise",
        with_present: bool = False,
    ) -> Recording:
        """Go on from the present state in one compiled call; arguments as in `run`.

        With `with_present` the present state is recorded as a first row.
        """
        if on_fault not in ("raise", "stop"):
            raise UnknownName("policy", on_fault, ["raise", "stop"])
        rows = self._rows(excitation, allow_empty=True)
        names, units, plan, m = self._recorded(record, every)
        lead = 1 if with_present else 0
        history = np.empty((lead + len(rows) * m, len(names)))
        history[:lead] = self._state.bus[plan.channels]
        ticks = self._state.clock[STEP] * m + np.arange(1 - lead, len(rows) * m + 1)
        done = run(Table(plan).words, self._state_table.words, len(rows), rows.ravel(), history[lead:])
        time = ticks / m * self.dt
        kept = lead + done * m
        result = Recording(time[:kept], history[:kept], names, units, self._about(names))
        status = int(self._state.clock[STATUS])
        if status == OK:
            return result
        found, step = fault(self, status, int(self._state.clock[PLACE])), int(self._state.clock[STEP])
        if plan.interlocks:
            result = result.followed_by(self.wind_down(record=record, every=every, why=FAULT))
        failure = failed(self, found, step, result)
        if on_fault == "stop":
            return failure.result
        raise failure

    def step(self, excitation: np.ndarray) -> int:
        """Make one live step; `excitation` is a float64 vector at the end of the step. Returns a status code.

        The response is then on the bus: ``loop["u.1"]``. The numbers are those of `run` to the last bit. This is the
        call for a real-time thread: that the vector has the right length and lies in one piece is all that is checked.
        """
        try:
            if run(*self._words, 1, excitation, _NOTHING) < 0:
                raise BadShape(f"a step needs {self._plan.excitations} excitation(s), got {excitation.size}.")
        except TypingError as error:
            raise BadShape("a step needs a contiguous vector of float64; np.ascontiguousarray makes one.") from error
        return int(self._state.clock[STATUS])

    def step_down(self, why: int = ASKED) -> bool:
        """Make one live step of a wind-down: the structure stands still, and interlocks bring their rigs to safety.

        Returns whether all of them are there. It is the call that follows a `step` whose status is not OK, or a wish to
        stop, until it returns True.
        """
        wind_down(*self._words, why, 1, _NOTHING)
        return all(self._state.bus[k] for k in self._plan.settles)

    def wind_down(self, *, record: Sequence[str] | str = ("*",), every: str = "step", why: int = ASKED) -> Recording:
        """Bring all rigs to their safe state, as far as they have interlocks and `Limits.wind_down` lasts.

        The structure stands still, and time goes on. `interlocks` tells what has happened.
        """
        names, units, plan, m = self._recorded(record, every)
        first, rows = self._state.clock[STEP] * m, np.empty((plan.down * m, len(names)))
        made = wind_down(Table(plan).words, self._state_table.words, why, plan.down, rows) * m
        time = (first + np.arange(1, made + 1)) / m * self.dt
        return Recording(time, rows[:made], names, units, self._about(names))

    @property
    def interlocks(self) -> list[dict[str, Any]]:
        """Every interlock that has tripped, the first one first (`hyloop.loop.interlocks.interlock_log`)."""
        return interlock_log(self)

    def _recorded(self, record: Sequence[str] | str, every: str) -> tuple[tuple[str, ...], tuple[str, ...], Any, int]:
        """Names and units of the channels that are recorded, the plan that does so, and rows in a step."""
        if every not in ("step", "tick"):
            raise UnknownName("recording rate", every, ["step", "tick"])
        layout, m = self._wiring.layout, self._plan.substeps if every == "tick" else 1
        channels = np.array(self._selected(record), dtype=np.int64)
        names, units = (tuple(texts[k] for k in channels) for texts in (layout.names, layout.units))
        plan = self._plan._replace(n_channels=len(channels), channels=channels, every_tick=every == "tick")
        return names, units, plan, m

    # --- snapshots --------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """A complete copy of the state; `restore` brings it back bit for bit, in any process."""
        return Snapshot(self._state.memory.copy(), *self._identity)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of this loop or of one built in the same way."""
        difference = unlike(self, snapshot)
        if difference or len(snapshot.memory) != len(self._state.memory):
            raise BadInput(
                f"this snapshot was taken from a loop with {difference or 'another state'}; build the loop "
                "as it was then."
            )
        self._state.memory[:] = snapshot.memory
