"""From a structure, its sites and a method to the flat arrays of a `Plan`, and the memory of a `State`."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hyloop.core import Param, Plan, State, Table
from hyloop.core.low_rank import split
from hyloop.core.newton import workspace
from hyloop.core.sparse import matrices
from hyloop.errors import BadShape
from hyloop.integrators import Operators
from hyloop.loop.limits import UNBOUNDED, Drift, Limits, impulses
from hyloop.loop.site import STOP, Site
from hyloop.loop.storage import EACH
from hyloop.loop.watching import watch_rows
from hyloop.loop.wiring import Wiring
from hyloop.structure import Structure

__all__ = ["Parts", "allocate", "compile_plan", "own_state"]

_NONE = np.empty((0, 0))


class Parts(NamedTuple):
    """What a run works with: constants, initial state, operators, the structure as stored, bounds of parameters."""

    plan: Plan
    initial: State
    operators: Operators
    structure: Structure
    bounds: dict[str, Param]


def compile_plan(
    structure: Structure,
    sites: Sequence[Site],
    wiring: Wiring,
    operators: Operators,
    dt: float,
    substeps: int,
    memory: int,
    limits: Limits,
) -> Plan:
    """All constants of a run as numbers and flat arrays; nothing is recorded yet."""
    return Plan(
        dt=float(dt),
        tick_dt=dt / substeps,
        substeps=substeps,
        n=structure.n,
        excitations=structure.excitation.shape[1],
        sites=len(sites),
        blocks=len(wiring.instances),
        groups=len(structure.elements),
        memory=memory,
        **_method(operators),
        **_matrices(structure, operators),
        **_sites(structure, sites, wiring),
        **_limits(structure, limits),
        **_blocks(wiring),
        **_groups(structure),
        bus_excitation=1,
        bus_response=wiring.response,
        bus_imbalance=wiring.imbalance,
        **_watch(sites, wiring),
        n_channels=0,
        channels=np.empty(0, np.int64),
        every_tick=False,
        **_interlocks(sites, wiring, max(round(limits.wind_down / dt), 1)),
    )


def _method(operators: Operators) -> dict[str, Any]:
    same = ("w_to_u", "w_to_v", "w_to_v_after", "lag", "w_to_a", "alpha_f", "gamma", "beta", "alpha_m")
    return {
        **{key: getattr(operators, key) for key in same},
        "has_P": len(operators.P) > 0,
        "P": _columns(operators.P),
        "implicit": len(operators.M) > 0,
        "M": _columns(operators.M),
    }


def _matrices(structure: Structure, operators: Operators) -> dict[str, Any]:
    """Full matrices as they are, sparse ones in a table of their own."""
    full = {"A": operators.A, "B": operators.B, "K": structure.K, "C": structure.C}
    laid_out = None
    if structure.is_sparse:
        full = dict.fromkeys(full, _NONE)
        laid_out = matrices(structure.K, structure.C, operators.A, operators.B, operators.rho)
    return {
        **{key: _columns(matrix) for key, matrix in full.items()},
        "has_B": len(full["B"]) > 0,
        **_loads(structure.excitation),
        "dead": structure.dead_load,
        "sparse": structure.is_sparse,
        "matrices": Table(laid_out),
    }


def _loads(excitation: np.ndarray) -> dict[str, Any]:
    """Columns as they are, from the first that is nearly empty on without their zeros: wind acts at few places."""
    entries = [np.flatnonzero(column) for column in excitation.T]
    filled = [EACH * len(dofs) >= len(excitation) for dofs in entries]
    full = filled.index(False) if False in filled else len(filled)
    entries[:full] = [np.empty(0, np.int64)] * full
    return {
        "full_excitations": full,
        "E": _columns(excitation[:, :full]),
        "load_start": _starts(entries),
        "load_dof": _flat(entries, np.int64),
        "load_coef": _flat([column[dofs] for column, dofs in zip(excitation.T, entries, strict=True)], float),
    }


def _sites(structure: Structure, sites: Sequence[Site], wiring: Wiring) -> dict[str, Any]:
    entries = [np.flatnonzero(site.along) for site in sites]
    return {
        "site_start": _starts(entries),
        "site_dof": _flat(entries, np.int64),
        "site_coef": _flat([site.along[dofs] for site, dofs in zip(sites, entries, strict=True)], float),
        "site_rest": np.array([site.along @ structure.at_rest for site in sites], dtype=float),
        "site_count": np.array([site.count for site in sites], dtype=float),
        "site_signal": _flat(wiring.site_signal, np.int64),
        "site_limit": _flat([(site.max_d, site.max_f) for site in sites], float),
    }


def _limits(structure: Structure, limits: Limits) -> dict[str, Any]:
    drifts = [(_drift(name, drift, structure.n), drift) for name, drift in limits.drifts.items()]
    return {
        "max_u": limits.max_u,
        "max_energy": min(limits.max_energy, UNBOUNDED),
        "max_imbalance": limits.max_imbalance,
        "impulse": impulses(structure),
        "mass": np.asarray(abs(structure.M).sum(axis=1), dtype=float),
        "drifts": len(drifts),
        "drift_start": _starts([dofs for dofs, _ in drifts]),
        "drift_dof": _flat([dofs for dofs, _ in drifts], np.int64),
        "drift_coef": _flat([np.asarray(drift.along, float)[dofs] for dofs, drift in drifts], float),
        "drift_limit": np.array([drift.limit for _, drift in drifts], dtype=float),
    }


def _drift(name: str, drift: Drift, n: int) -> np.ndarray:
    """Degrees of freedom that take part in a drift."""
    if np.shape(drift.along) != (n,) or not np.isfinite(drift.along).all():
        raise BadShape(f"limits: drift '{name}': along must be {n} finite numbers, one for each degree of freedom.")
    return np.flatnonzero(drift.along)


def _blocks(wiring: Wiring) -> dict[str, Any]:
    return {
        "address": np.array([i.block.address for i in wiring.instances], dtype=np.int64),
        "in_start": _starts(wiring.inputs),
        "in_bus": _flat(wiring.inputs, np.int64),
        "out_start": _starts(wiring.outputs),
        "out_bus": _flat(wiring.outputs, np.int64),
        "x_start": _starts([i.x0 for i in wiring.instances]),
        "p_start": np.array(wiring.p_start, dtype=np.int64),
    }


def _groups(structure: Structure) -> dict[str, Any]:
    groups = structure.elements
    starts = _starts([g.initial for g in groups])
    imbalance = [at + g.imbalance if g.imbalance >= 0 else -1 for at, g in zip(starts[:-1], groups, strict=True)]
    return {
        "group_address": np.array([g.function.address for g in groups], dtype=np.int64),
        "group_x": starts,
        "group_p": _starts([g.parameters for g in groups]),
        "group_i": _starts([g.integers for g in groups]),
        "group_parameters": _flat([g.parameters for g in groups], float),
        "group_integers": _flat([g.integers for g in groups], np.int64),
        "group_imbalance": np.array(imbalance, dtype=np.int64),
    }


def _watch(sites: Sequence[Site], wiring: Wiring) -> dict[str, Any]:
    feedback = [signal[-1] for signal in wiring.site_signal]
    rows = watch_rows(wiring.watched, sites, feedback, wiring.first_watched) if wiring.watched else None
    return {"watched": len(wiring.watched), "watch": Table(rows)}


def _interlocks(sites: Sequence[Site], wiring: Wiring, steps: int) -> dict[str, Any]:
    names = [site.prefix("interlock") for site in sites if "interlock" in site.transfer]
    trips, settles = ([wiring.layout[f"{name}.{key}"] for name in names] for key in ("trip", "settled"))
    return {
        "physical": wiring.physical,
        "interlocks": len(names),
        "trips": np.array(trips, dtype=np.int64),
        "settles": np.array(settles, dtype=np.int64),
        "bus_stop": wiring.layout[STOP] if names else 0,
        "down": steps if names else 0,
    }


def allocate(structure: Structure, sites: Sequence[Site], wiring: Wiring) -> State:
    """One flat memory for a run, and named views of it; blocks and elements at their initial state."""
    n, s = structure.n, len(sites)
    x = np.concatenate([np.empty(0), *(i.x0 for i in wiring.instances)])
    elements = _flat([g.initial for g in structure.elements], float)
    sizes = dict.fromkeys(("u", "v", "w", "g", "r", "b", "mixed"), n) | dict.fromkeys(("d0", "d1", "rate", "jump"), s)
    sizes |= {
        "clock": 4,
        "bus": len(wiring.values),
        "x": len(x),
        "elements": len(elements),
        "gather": max((len(i) + len(o) for i, o in zip(wiring.inputs, wiring.outputs, strict=True)), default=0),
        "modal": 2 * len(split(structure.C)[2]) if structure.is_sparse else 0,
    }
    ends = np.cumsum([sizes[name] for name in State._fields[1:-1]])
    memory = np.zeros(ends[-1])
    state = State._make([memory, *np.split(memory, ends[:-1]), Table(workspace(0, 0))])
    state.bus[:], state.x[:], state.elements[:] = wiring.values, x, elements
    return state


def own_state(state: State, implicit: bool = False, memory: np.ndarray | None = None) -> State:
    """A state of the same contents in a memory of its own, or in this; with what an implicit method needs beside it."""
    if memory is None:
        memory = np.empty_like(state.memory)
    memory[:] = state.memory
    parts = np.split(memory, np.cumsum([len(view) for view in state[1:-2]]))
    sizes = (len(state.u), len(memory)) if implicit else (0, 0)
    return State._make([memory, *parts, Table(workspace(*sizes))])


def _starts(lists: Sequence[Any]) -> np.ndarray:
    return np.cumsum([0] + [len(item) for item in lists]).astype(np.int64)


def _flat(lists: Sequence[Any], dtype: Any) -> np.ndarray:
    return np.array([value for item in lists for value in item], dtype=dtype)


def _columns(matrix: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(matrix.T, dtype=float)
