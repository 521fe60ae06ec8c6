"""Clipped-optimal control: the forces of an ideal actuator, and a command that brings the device near them."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from hyloop.control.lqg import Lqg, Weights, design_lqg
from hyloop.control.passive import level_of
from hyloop.core.block import Block, Param, inplace_block, rebind
from hyloop.core.jit import verb
from hyloop.core.memory import laid_out, views
from hyloop.core.noise import normal_pair
from hyloop.devices.commands import command_of
from hyloop.errors import BadInput, OutOfBounds
from hyloop.loop import FreeBlock, Site
from hyloop.structure import Structure

__all__ = ["clipped_optimal"]

# sizes of one design, put among the globals of the compiled step: states, devices, samples, accelerometers, ticks
# in a step, and where everything lies
N = M = Q = HEARD = EVERY = 0
PLACES: Any = None


def clipped_optimal(
    name: str,
    structure: Structure,
    sites: Sequence[Site],
    *,
    dt: float,
    substeps: int = 1,
    drift: float,
    acceleration: float,
    force: float,
    measured: Sequence[str | int] | None = None,
    ground: float = 1.0,
    noise: float = 0.02,
    noise_d: float | None = None,
    level: float | None = None,
    full: float = 0.0,
    others: Sequence[Site] = (),
    seed: int = 0,
) -> list[FreeBlock]:
    r"""LQG control from the structure's own matrices, clipped to what a semi-active device can do.

    .. math:: i = i_{max}\,H\{(f_c - f_m)\,f_m\}, \qquad f_c = -K_{LQR}\,\hat x

    The command is full where the device pushes in the wanted direction and not enough, and zero elsewhere. With `full`
    the command is not `level` but :math:`\min(|f_c| / \text{full}, 1)` of it.

    It is causal and hears instruments alone: absolute accelerations of the degrees of freedom `measured` when a step
    has ended, the force that every site measures, and with `noise_d` its deformation too. From these it estimates the
    motion one tick ahead. An accelerometer shows the sum of the motion relative to the ground and that of the ground;
    neither is heard alone, nor any displacement.

    Parameters
    ----------
    name : str
        Prefix of its channels: the wanted forces are ``name.f_SITE``.
    structure : Structure
        What is believed of the structure: its matrices, with the initial stiffness of nonlinear members.
    sites : sequence of Site
        Sites whose devices it commands.
    dt, substeps : float, int
        Step in s and ticks in a step of the loop it is made for.
    drift, acceleration, force : float
        What counts as one in the cost: a drift of a story in m, an absolute acceleration of a floor in m/s2, and the
        force of one device in N. Larger numbers count less.
    measured : sequence of names, optional
        Degrees of freedom with an accelerometer; default: all floors.
    ground : float
        Root mean square of the ground acceleration that the estimator expects, in m/s2.
    noise : float
        Standard deviation of the accelerometers in m/s2. It is expected, and it is there: what is heard has it.
    noise_d : float, optional
        Standard deviation in m that is expected of the measured deformations; not given, they are not heard.
    level : float, optional
        Command when on; default: the largest that the device takes.
    full : float
        Wanted force in N from which on the command is full; 0 (default) switches.
    others : sequence of Site
        Other devices in the structure, known by their initial stiffness and damping.
    seed : int
        Of the noise of the accelerometers.

    Returns
    -------
    list of FreeBlock
        For `hyloop.Loop`, which must have the same `dt` and `substeps`.

    References
    ----------
    Dyke, Spencer, Sain, Carlson (1996), doi:10.1088/0964-1726/5/5/006; Yoshida, Dyke (2004),
    doi:10.1061/(ASCE)0733-9399(2004)130:4(482) for the command in proportion.
    """
    if substeps != int(substeps) or substeps < 1:
        raise OutOfBounds(f"{name}: substeps = {substeps!r} must be a whole number of at least 1.")
    if not 0.0 <= full < np.inf:
        raise OutOfBounds(f"{name}: full = {full!r} N must be finite and not negative.")
    commands = [command_of(site.device, f"site {site.name}") for site in sites]
    if len({site.name for site in sites}) < len(sites):
        raise BadInput(f"{name}: a site is named twice.")
    if any(site.shares for site in sites):
        raise BadInput(f"{name}: a site that shares its parameters has no command of its own.")
    weights = Weights(drift, acceleration, force)
    design = design_lqg(
        structure,
        sites,
        weights,
        dt=dt,
        substeps=substeps,
        measured=measured,
        ground=ground,
        noise=noise,
        noise_d=noise_d,
        others=others,
    )
    names = [structure.names[place] for place in design.measured]
    inputs = {f"a_{k}": f"a.{dof}" for k, dof in enumerate(names)} | {"ground": "ground"}
    inputs |= {f"f_{k}": site.measured["f"] for k, site in enumerate(sites)}
    heard = [site.measured["d"] for site in sites] if noise_d is not None else []
    inputs |= {f"d_{k}": channel for k, channel in enumerate(heard)}
    marks = [site.name.replace(".", "_") for site in sites]
    units = tuple(command.unit for command in commands)
    block = _block(len(design.Ad), len(sites), len(names), bool(heard), int(substeps), tuple(marks), units)
    levels = [level_of(site, level) for site in sites]
    influence = structure.influence[list(design.measured), 0]
    contents = _contents(design, influence, levels, [site.physical for site in sites])
    made = replace(block, contents=contents, tick=dt / substeps)(full=full, noise_a=noise, seed=float(seed))
    channels = [f"{site.name}.{command.param}" for site, command in zip(sites, commands, strict=True)]
    targets = {f"command_{mark}": channel for mark, channel in zip(marks, channels, strict=True)}
    return [FreeBlock(name, made, inputs, targets)]


class Places(NamedTuple):
    """What lies in the memory of the block after its tick counter: the design by rows, then what it remembers."""

    Ad: int
    Bd: int
    As: int
    Bs: int
    Rs: int
    gain: int
    Cm: int
    Dm: int
    correction: int
    influence: int  # of the ground on every accelerometer
    level: int  # command when on
    fresh: int  # 1 where the force is of this tick (a physical site), 0 where it is of the last (a model)
    now: int  # estimate at this tick
    end: int  # estimate at the end of the last step, then of this one
    f_last: int  # forces at the last tick
    f_end: int  # and at the end of the step before
    d_last: int  # deformations at the last tick, after as many places as there are accelerometers
    innovation: int
    work: int


def _places(n: int, m: int, accelerometers: int, q: int) -> tuple[Places, int]:
    sizes = {"Ad": n * n, "Bd": n * m, "As": n * n, "Bs": n * m, "Rs": n * m, "gain": m * n, "Cm": q * n, "Dm": q * m}
    sizes |= {"correction": n * q, "influence": accelerometers, "level": m, "fresh": m, "now": n, "end": n}
    return laid_out(Places, sizes | {"f_last": m, "f_end": m, "d_last": q, "innovation": q, "work": n}, 1)


def _contents(design: Lqg, influence: np.ndarray, levels: list[float], fresh: list[bool]) -> np.ndarray:
    """The memory of the block at the start."""
    places, size = _places(len(design.Ad), len(levels), len(influence), len(design.Cm))
    memory = np.zeros(size)
    parts = {key: value for key, value in design._asdict().items() if key != "measured"}
    for key, part in (parts | {"influence": influence, "level": levels, "fresh": fresh}).items():
        at = getattr(places, key)
        memory[at : at + np.size(part)] = np.ravel(part)
    return memory[1:]


@cache
def _block(n: int, m: int, accelerometers: int, deformations: bool, every: int, marks: tuple, units: tuple) -> Block:
    q = accelerometers + (m if deformations else 0)
    inputs = {f"a_{k}": "m/s2" for k in range(accelerometers)} | {"ground": "m/s2"}
    inputs |= {f"f_{k}": "N" for k in range(m)} | ({f"d_{k}": "m" for k in range(m)} if deformations else {})
    outputs = {f"command_{mark}": unit for mark, unit in zip(marks, units, strict=True)}
    places, size = _places(n, m, accelerometers, q)
    make = inplace_block(
        inputs=inputs,
        outputs=outputs | {f"f_{mark}": "N" for mark in marks},
        state={"ticks": "-"},
        params={
            "full": Param("N", 0.0, 0.0, about="wanted force from which on the command is full; zero: it switches"),
            "noise_a": Param("m/s2", 0.0, 0.0, about="standard deviation of the accelerometers"),
            "seed": Param("-", 0.0, 0.0, about="of their noise"),
        },
        memory=size - 1,
        reference="Dyke, Spencer, Sain, Carlson (1996), doi:10.1088/0964-1726/5/5/006.",
    )
    sizes = {"N": n, "M": m, "Q": q, "HEARD": accelerometers, "EVERY": every, "PLACES": places}
    return replace(make(rebind(_advance, **sizes)), name="clipped_optimal")


def _advance(x, u, dt, p, y):
    """One tick: correct the estimate where a step has ended, move it on, and choose the commands."""
    m = views(x, PLACES)
    ground, forces, ticks = u[HEARD], u[HEARD + 1 : HEARD + 1 + M], int(x[0])
    for k in range(M):
        if m.fresh[k] == 0.0:
            m.f_last[k] = forces[k]
    if ticks % EVERY == 0:
        for i in range(N):
            for k in range(M):
                m.end[i] += m.Rs[i * M + k] * (m.f_last[k] - m.f_end[k])
        for k in range(Q):
            if k < HEARD:
                noise, _ = normal_pair(p[2], ticks * HEARD + k)
                m.innovation[k] = u[k] + m.influence[k] * ground + p[1] * noise
            else:
                m.innovation[k] = m.d_last[k]
            subtract_row(N, m.Cm, k, m.end, m.innovation)
            subtract_row(M, m.Dm, k, m.f_last, m.innovation)
        for i in range(N):
            for k in range(Q):
                m.end[i] += m.correction[i * Q + k] * m.innovation[k]
            m.now[i] = m.end[i]
        move(N, M, m.As, m.Bs, m.now, m.f_last, m.end)
        for k in range(M):
            m.f_end[k] = m.f_last[k]
    move(N, M, m.Ad, m.Bd, m.now, m.f_last, m.work)
    for i in range(N):
        m.now[i] = m.work[i]
    for k in range(M):
        wanted = 0.0
        for j in range(N):
            wanted -= m.gain[k * N + j] * m.now[j]
        more = 1.0 if p[0] == 0.0 else min(abs(wanted) / p[0], 1.0)
        y[k] = m.level[k] * more if (wanted - forces[k]) * forces[k] > 0.0 else 0.0
        y[M + k] = wanted
        m.f_last[k] = forces[k]
    for k in range(HEARD, Q):
        m.d_last[k] = u[HEARD + 1 + M + k - HEARD]
    x[0] += 1.0


@verb
def subtract_row(n, matrix, k, x, y):
    """y[k] -= row k of a matrix times x."""
    for j in range(n):
        y[k] -= matrix[k * n + j] * x[j]


@verb
def move(n, m, A, B, x, f, moved):
    """moved = A x + B f."""
    for i in range(n):
        moved[i] = 0.0
        for j in range(n):
            moved[i] += A[i * n + j] * x[j]
        for j in range(m):
            moved[i] += B[i * m + j] * f[j]
