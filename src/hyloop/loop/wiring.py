"""From sites and blocks with names to the flat index arrays of a `Plan`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hyloop.core import Block, Instance, Layout, Plan, State, table
from hyloop.core.low_rank import split
from hyloop.core.sparse import matrices
from hyloop.core.sparse_tick import Matrices
from hyloop.core.tick import check_tick
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.integrators import Operators
from hyloop.loop.limits import UNBOUNDED, Drift, Limits, impulses
from hyloop.loop.site import FreeBlock, Site
from hyloop.structure import Structure

__all__ = ["Wiring", "allocate", "check_ticks", "compile_plan", "lay_out", "views", "wire"]

_ROTATIONS = ("rx", "ry", "rz")  # how names of rotations end, such as A1.rz


class Wiring(NamedTuple):
    """Everything about names and connections: what the kernel needs as indices."""

    layout: Layout
    instances: list[Instance]
    inputs: list[list[int]]
    outputs: list[list[int]]
    p_start: list[int]
    site_signal: list[list[int]]  # positions of d, v, a and the force of every site
    values: np.ndarray  # initial values of the bus
    response: int
    imbalance: int  # zero: no member of the structure has one
    shared: dict[str, str]  # parameter a site does not have for itself, and the channel that stands for it


def wire(structure: Structure, sites: Sequence[Site], blocks: Sequence[FreeBlock]) -> Wiring:
    """Name every channel, then connect every block."""
    layout, values, shared = Layout(), {}, _shared(sites)
    layout.add("t", "s")
    _add_excitation(layout, structure)
    response = len(layout)
    for symbol, rate in (("u", ""), ("v", "/s"), ("a", "/s2")):
        for name in structure.names:
            length = "rad" if name.rpartition(".")[2] in _ROTATIONS else "m"
            layout.add(f"{symbol}.{name}", length + rate)
    imbalance = len(layout) if any(group.imbalance >= 0 for group in structure.elements) else 0
    if imbalance:
        layout.add("imbalance", "-")

    for site in sites:
        if len(site.along) != structure.n:
            raise BadShape(f"site {site.name}: along has {len(site.along)} entries, the structure {structure.n}.")
        for symbol, unit in (("d", "m"), ("v", "m/s"), ("a", "m/s2")):
            layout.add(f"{site.name}.{symbol}", unit)
        for role, instance in site.chain.items():
            own = role != "device" or site.shares is None
            _add_block(layout, values, site.prefix(role), instance, {}, own)
    for free in blocks:
        for key, channel in free.outputs.items():
            if channel in shared:
                raise BadInput(f"{free.name}: output {key} to {channel}: {shared_advice(channel, shared)}")
        _add_block(layout, values, free.name, free.block, free.outputs, True)

    schedule = [*(s for s in sites if s.physical), *blocks, *(s for s in sites if not s.physical)]
    instances, inputs, outputs, p_start = [], [], [], []

    def place(prefix: str, instance: Instance, sources: dict[str, str], targets: dict[str, str]) -> None:
        law = instance.block
        instances.append(instance)
        inputs.append([layout[sources[key]] for key in law.inputs])
        outputs.append([layout[targets.get(key, f"{prefix}.{key}")] for key in law.outputs])
        first = f"{prefix}.{next(iter(law.params))}" if law.params else ""
        p_start.append(layout[shared.get(first, first)] if law.params else 0)

    for item in schedule:
        if isinstance(item, FreeBlock):
            place(item.name, item.block, dict(item.inputs), dict(item.outputs))
        else:
            _place_site(item, place)
    signal = [[layout[c] for c in (f"{s.name}.d", f"{s.name}.v", f"{s.name}.a", s.feedback)] for s in sites]
    bus = np.zeros(len(layout))
    for name, value in values.items():
        bus[layout[name]] = value
    return Wiring(layout, instances, inputs, outputs, p_start, signal, bus, response, imbalance, shared)


def check_ticks(
    structure: Structure, sites: Sequence[Site], blocks: Sequence[FreeBlock], dt: float, substeps: int
) -> None:
    """Refuse trained blocks that would run at another rate than they were trained at."""
    laws = {site.prefix(role): instance.block for site in sites for role, instance in site.chain.items()}
    laws |= {free.name: free.block.block for free in blocks}
    for where, law in laws.items():
        check_tick(
            law.name,
            law.tick,
            dt / substeps,
            where,
            "this loop runs its blocks",
            "Set dt and substeps so that dt/substeps is {} s",
        )
    for group in structure.elements:  # members of the structure are asked once in a step
        for law in group.keep:
            if isinstance(law, Block):
                check_tick(law.name, law.tick, dt, group.name, "this loop steps its structure", "Set dt to {} s")


def shared_advice(channel: str, shared: dict[str, str]) -> str:
    """What to do instead of setting a parameter that a site shares."""
    site, leader = channel.rpartition(".")[0], shared[channel].rpartition(".")[0]
    return f"site {site} shares the parameters of {leader}; set {shared[channel]} instead."


def _shared(sites: Sequence[Site]) -> dict[str, str]:
    """Parameters that sites share; nothing is copied, both blocks read the same slots of the bus."""
    named, shared = {site.name: site for site in sites}, {}
    for site in sites:
        if site.shares is None:
            continue
        where, law = f"site {site.name}: shares", site.device.block
        if site.shares not in named or site.shares == site.name:
            raise UnknownName("site", site.shares, [name for name in named if name != site.name], where=where)
        leader = named[site.shares]
        if leader.shares is not None:
            raise BadInput(
                f"{where} = '{leader.name}', which itself shares with '{leader.shares}'. Name a site that "
                "has parameters of its own."
            )
        if leader.device.block is not law:
            raise BadInput(
                f"{where} = '{leader.name}': one device is {law.name}, the other "
                f"{leader.device.block.name}. Only devices of one law can share parameters."
            )
        for key, value in site.device.params.items():
            if value != leader.device.params[key]:
                raise BadInput(
                    f"{where} = '{leader.name}': {key} = {value:g} here and {leader.device.params[key]:g} "
                    "there. Give both the same parameters; those of the other site are used."
                )
            shared[f"{site.name}.{key}"] = f"{leader.name}.{key}"
    return shared


def _add_excitation(layout: Layout, structure: Structure) -> None:
    directions, loads = structure.influence.shape[1], structure.loads.shape[1]
    for k in range(directions):
        layout.add("ground" if directions == 1 else f"ground.{k + 1}", "m/s2")
    for k in range(loads):
        layout.add(f"load.{k + 1}", "N")


def _add_block(
    layout: Layout, values: dict, prefix: str, instance: Instance, redirected: Any, own_parameters: bool
) -> None:
    law = instance.block
    for key, unit in law.outputs.items():
        if key not in redirected:
            layout.add(f"{prefix}.{key}", unit)
    for key, spec in law.params.items() if own_parameters else ():
        layout.add(f"{prefix}.{key}", spec.unit)
        values[f"{prefix}.{key}"] = instance.params[key]


def _place_site(site: Site, place: Any) -> None:
    available = {key: f"{site.name}.{key}" for key in ("d", "v", "a")}
    for role, instance in site.chain.items():
        sources = available | (dict(site.wiring) if role == "device" else {})
        missing = [key for key in instance.block.inputs if key not in sources]
        if missing:
            raise BadInput(
                f"site {site.name}: input {', '.join(missing)} of {instance.block.name} is not connected. "
                "Name a channel for it in wiring."
            )
        prefix = site.prefix(role)
        place(prefix, instance, sources, {})
        available |= {key: f"{prefix}.{key}" for key in instance.block.outputs}


def _starts(lists: Sequence[Any]) -> np.ndarray:
    return np.cumsum([0] + [len(item) for item in lists]).astype(np.int64)


def _flat(lists: Sequence[Any], dtype: Any) -> np.ndarray:
    return np.array([value for item in lists for value in item], dtype=dtype)


def _columns(matrix: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(matrix.T, dtype=float)


def lay_out(structure: Structure, operators: Operators) -> Matrices | None:
    """The matrices of a sparse structure as the compiled step reads them; whoever holds the plan must keep them."""
    if not structure.is_sparse:
        return None
    return matrices(structure.K, structure.C, operators.A, operators.B, operators.rho)


def compile_plan(
    structure: Structure,
    sites: Sequence[Site],
    wiring: Wiring,
    operators: Operators,
    laid_out: Matrices | None,
    dt: float,
    substeps: int,
    memory: int,
    limits: Limits,
) -> Plan:
    """All constants of a run as numbers and flat arrays; nothing is recorded yet."""
    entries = [np.flatnonzero(site.along) for site in sites]
    drifts = [(_drift(name, drift, structure.n), drift) for name, drift in limits.drifts.items()]
    groups = structure.elements
    group_x = _starts([g.initial for g in groups])
    nothing = np.empty((0, 0))
    A, B, K, C = (nothing,) * 4 if laid_out else (operators.A, operators.B, structure.K, structure.C)
    return Plan(
        dt=float(dt),
        tick_dt=dt / substeps,
        substeps=substeps,
        n=structure.n,
        excitations=structure.excitation.shape[1],
        sites=len(sites),
        blocks=len(wiring.instances),
        groups=len(groups),
        memory=memory,
        w_to_u=operators.w_to_u,
        w_to_v=operators.w_to_v,
        w_to_v_after=operators.w_to_v_after,
        lag=operators.lag,
        w_to_a=operators.w_to_a,
        alpha_f=operators.alpha_f,
        A=_columns(A),
        has_B=len(B) > 0,
        B=_columns(B),
        has_P=len(operators.P) > 0,
        P=_columns(operators.P),
        implicit=len(operators.M) > 0,
        M=_columns(operators.M),
        gamma=operators.gamma,
        beta=operators.beta,
        alpha_m=operators.alpha_m,
        K=_columns(K),
        C=_columns(C),
        E=_columns(structure.excitation),
        dead=structure.dead_load,
        sparse=laid_out is not None,
        matrices=table(laid_out) if laid_out else np.empty(0, np.int64),
        site_start=_starts(entries),
        site_dof=_flat(entries, np.int64),
        site_coef=_flat([site.along[dofs] for site, dofs in zip(sites, entries, strict=True)], float),
        site_rest=np.array([site.along @ structure.at_rest for site in sites], dtype=float),
        site_count=np.array([site.count for site in sites], dtype=float),
        site_signal=_flat(wiring.site_signal, np.int64),
        site_limit=_flat([(site.max_d, site.max_f) for site in sites], float),
        max_u=limits.max_u,
        max_energy=min(limits.max_energy, UNBOUNDED),
        max_imbalance=limits.max_imbalance,
        impulse=impulses(structure),
        mass=np.asarray(abs(structure.M).sum(axis=1), dtype=float),
        drifts=len(drifts),
        drift_start=_starts([dofs for dofs, _ in drifts]),
        drift_dof=_flat([dofs for dofs, _ in drifts], np.int64),
        drift_coef=_flat([np.asarray(drift.along, float)[dofs] for dofs, drift in drifts], float),
        drift_limit=np.array([drift.limit for _, drift in drifts], dtype=float),
        address=np.array([i.block.address for i in wiring.instances], dtype=np.int64),
        in_start=_starts(wiring.inputs),
        in_bus=_flat(wiring.inputs, np.int64),
        out_start=_starts(wiring.outputs),
        out_bus=_flat(wiring.outputs, np.int64),
        x_start=_starts([i.x0 for i in wiring.instances]),
        p_start=np.array(wiring.p_start, dtype=np.int64),
        group_address=np.array([g.function.address for g in groups], dtype=np.int64),
        group_x=group_x,
        group_p=_starts([g.parameters for g in groups]),
        group_i=_starts([g.integers for g in groups]),
        group_parameters=_flat([g.parameters for g in groups], float),
        group_integers=_flat([g.integers for g in groups], np.int64),
        group_imbalance=np.array(
            [first + g.imbalance if g.imbalance >= 0 else -1 for first, g in zip(group_x[:-1], groups, strict=True)],
            dtype=np.int64,
        ),
        bus_excitation=1,
        bus_response=wiring.response,
        bus_imbalance=wiring.imbalance,
        n_channels=0,
        channels=np.empty(0, np.int64),
        every_tick=False,
    )


def _drift(name: str, drift: Drift, n: int) -> np.ndarray:
    """Degrees of freedom that take part in a drift."""
    if np.shape(drift.along) != (n,) or not np.isfinite(drift.along).all():
        raise BadShape(f"limits: drift '{name}': along must be {n} finite numbers, one for each degree of freedom.")
    return np.flatnonzero(drift.along)


def allocate(structure: Structure, sites: Sequence[Site], wiring: Wiring) -> State:
    """One flat memory for a run, and named views of it; blocks and elements at their initial state."""
    n, s = structure.n, len(sites)
    rank = len(split(structure.C)[2]) if structure.is_sparse else 0
    widest = max((len(i) + len(o) for i, o in zip(wiring.inputs, wiring.outputs, strict=True)), default=0)
    x = np.concatenate([np.empty(0), *(i.x0 for i in wiring.instances)])
    elements = _flat([g.initial for g in structure.elements], float)
    sizes = {
        "clock": 4,
        "u": n,
        "v": n,
        "w": n,
        "g": n,
        "r": n,
        "d0": s,
        "d1": s,
        "rate": s,
        "jump": s,
        "bus": len(wiring.values),
        "x": len(x),
        "elements": len(elements),
        "b": n,
        "mixed": n,
        "gather": widest,
        "modal": 2 * rank,
    }
    ends = np.cumsum(list(sizes.values()))
    memory = np.zeros(ends[-1])
    state = State(memory, *np.split(memory, ends[:-1]))
    assert State._fields[1:] == tuple(sizes)
    state.bus[:], state.x[:], state.elements[:] = wiring.values, x, elements
    return state


def views(state: State, memory: np.ndarray) -> State:
    """The same views of another memory."""
    return State(memory, *np.split(memory, np.cumsum([len(view) for view in state[1:-1]])))
