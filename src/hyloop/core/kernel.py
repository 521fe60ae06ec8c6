"""The time step, compiled. `tick` is the picture of the method; read it first.

Every explicit method is one recurrence with its own operators (`hyloop.integrators`):

    u[i+1] = u[i] + Δt v[i] + w_to_u P w[i]
    v*     = v[i] + w_to_v P w[i]
    g[i+1] = F[i+1] - R(u[i+1]) - C v*
    w[i+1] = A { (1 - αf) g[i+1] + αf g[i] - B w[i] }
    v[i+1] = v* + w_to_v_after w[i+1]

`w` is the velocity increment of the step (or, in plain forms with a matrix P, the acceleration). Responses
are reported as u, v + lag P w and w_to_a w.

`Plan` holds what is constant during a run, `State` what changes. All arrays of `State` are views of one flat
vector `memory`: a copy of it is a complete snapshot. Inside compiled code the arrays of both are plain
pointers (`hyloop.core.jit.bind`), and matrices are stored by columns: entry (i, j) stands at ``j n + i``. Those of
large models are sparse and have their own table, and their own tick (`hyloop.core.sparse_tick`).
"""

from typing import NamedTuple

import numpy as np

from hyloop.core.jit import Floats, Ints, call_block, call_group, verb

__all__ = [
    "DISPLACEMENT",
    "DRIFT",
    "ENERGY",
    "IMBALANCE",
    "LIMIT",
    "NON_FINITE",
    "NOT_CONVERGED",
    "OK",
    "Plan",
    "State",
    "tick",
]

OK, NON_FINITE, LIMIT, NOT_CONVERGED, DISPLACEMENT, ENERGY, DRIFT, IMBALANCE = range(8)
STEP, STATUS, PLACE, IMPULSE = range(4)  # of the clock
FINITE = np.finfo(float).max


class Plan(NamedTuple):
    """Constants of a run."""

    dt: float  # Δt, step of the structure
    tick_dt: float  # δt = Δt/m, step of the controller and of every block
    substeps: int  # m
    # sizes
    n: int  # degrees of freedom
    excitations: int
    sites: int
    blocks: int
    groups: int
    memory: int
    # the method
    w_to_u: float
    w_to_v: float
    w_to_v_after: float
    lag: float
    w_to_a: float
    alpha_f: float
    A: Floats
    has_B: int
    B: Floats
    has_P: int
    P: Floats
    # implicit methods
    implicit: int
    M: Floats
    gamma: float
    beta: float
    alpha_m: float
    # the structure
    K: Floats
    C: Floats
    E: Floats  # load of a unit excitation, by columns
    dead: Floats  # load that always acts
    sparse: int  # whether A, B, K and C stand in `matrices`
    matrices: Ints  # table of hyloop.core.sparse_tick.Matrices
    # sites: d = Σ coef u[dof] - rest over the entries of a site; the force enters as count·f along the same vector
    site_start: Ints
    site_dof: Ints
    site_coef: Floats
    site_rest: Floats
    site_count: Floats
    site_signal: Ints  # bus positions of d, v, a, f of each site
    site_limit: Floats  # largest |d| and |f| of each site
    # what else stops a run
    max_u: float  # displacement in m, rotation in rad
    max_energy: float  # kinetic energy over the largest that a passive structure can have
    impulse: Floats  # what a unit impulse of each excitation adds to the root of twice the energy
    mass: Floats  # of each degree of freedom: row sums of |M|, which give no less than the kinetic energy
    max_imbalance: float  # strain left between a member and its sections
    drifts: int  # drift = Σ coef u[dof] over its entries
    drift_start: Ints
    drift_dof: Ints
    drift_coef: Floats
    drift_limit: Floats
    # blocks in the order they run
    address: Ints
    in_start: Ints
    in_bus: Ints
    out_start: Ints
    out_bus: Ints
    x_start: Ints
    p_start: Ints  # positions on the bus
    # element groups of the analytical substructure
    group_address: Ints
    group_x: Ints
    group_p: Ints
    group_i: Ints
    group_parameters: Floats
    group_integers: Ints
    group_imbalance: Ints  # where a group keeps its imbalance, or -1
    # bus positions
    bus_excitation: int
    bus_response: int
    bus_imbalance: int  # zero: no group has one
    # recording: channels, and whether a row belongs to every controller tick
    n_channels: int
    channels: Ints
    every_tick: int


class State(NamedTuple):
    """Everything that changes, as views of `memory`."""

    memory: Floats
    clock: Floats  # step, status, place of a fault, root of twice the energy that may have gone in
    u: Floats
    v: Floats
    w: Floats
    g: Floats  # F - R - C v of the last step
    r: Floats  # restoring force (with that of the inherent damping where matrices are sparse)
    d0: Floats  # deformation of each site at the start of the step
    d1: Floats  # and at its end
    rate: Floats  # slope of the ramp between them
    jump: Floats  # change of slope over Δt
    bus: Floats
    x: Floats  # states of all blocks
    elements: Floats  # states of all element groups
    b: Floats  # scratch: right-hand side
    mixed: Floats  # scratch: P w
    gather: Floats  # scratch: inputs, then outputs, of one block
    modal: Floats  # scratch: amplitudes of the low-rank part of the damping, twice


@verb
def tick(plan, state, excitation, k, rows, row):
    """Advance by one step Δt, recording from `row` on; the excitation at its end stands from excitation[k] on."""
    predict(plan, state)
    resist(plan, state)
    respond(plan, state, rows, row)
    correct(plan, state, excitation, k)
    record(plan, state, rows, row + (plan.substeps - 1) * plan.every_tick)
    return check(plan, state)


@verb
def respond(plan, state, rows, row):
    """Controller rate: move the sites along their ramps and let every block run."""
    for j in range(plan.substeps):
        ramp(plan, state, j)
        for b in range(plan.blocks):
            advance(plan, state, b)
        if plan.every_tick and j + 1 < plan.substeps:
            record(plan, state, rows, row + j)


@verb
def predict(plan, state):
    """Displacement and velocity at the end of the step, and from them the deformation of every site."""
    mix(plan, state)
    for i in range(plan.n):
        state.u[i] += plan.dt * state.v[i] + plan.w_to_u * state.mixed[i]
        state.v[i] += plan.w_to_v * state.mixed[i]
    deform(plan, state)


@verb
def mix(plan, state):
    """P w, or w itself where P is the identity."""
    for i in range(plan.n):
        state.mixed[i] = 0.0 if plan.has_P else state.w[i]
    if plan.has_P:
        add_product(plan.n, plan.P, state.w, state.mixed)


@verb
def deform(plan, state):
    """Deformation, its rate and the change of rate of every site over the step."""
    for s in range(plan.sites):
        d = 0.0 - plan.site_rest[s]  # not a minus sign: zero shall keep its own
        for k in range(plan.site_start[s], plan.site_start[s + 1]):
            d += plan.site_coef[k] * state.u[plan.site_dof[k]]
        state.d0[s] = state.d1[s]
        state.d1[s] = d
        rate = (d - state.d0[s]) / plan.dt
        state.jump[s] = (rate - state.rate[s]) / plan.dt
        state.rate[s] = rate


@verb
def resist(plan, state):
    """Restoring force of the analytical substructure: linear part, then every element group."""
    for i in range(plan.n):
        state.r[i] = 0.0
    add_product(plan.n, plan.K, state.u, state.r)
    members(plan, state)


@verb
def members(plan, state):
    """Add the forces of every element group to the restoring force."""
    for k in range(plan.groups):
        call_group(
            plan.group_address[k],
            state.u,
            0,
            state.v,
            0,
            plan.dt,
            state.elements,
            plan.group_x[k],
            plan.group_parameters,
            plan.group_p[k],
            plan.group_integers,
            plan.group_i[k],
            state.r,
            0,
        )
    if plan.bus_imbalance:
        state.bus[plan.bus_imbalance] = 0.0
        for k in range(plan.groups):
            if plan.group_imbalance[k] >= 0:
                left = state.elements[plan.group_imbalance[k]]
                if not left <= state.bus[plan.bus_imbalance]:  # nan counts as larger
                    state.bus[plan.bus_imbalance] = left


@verb
def ramp(plan, state, j):
    """Move every site along a straight line to tick j + 1 of m."""
    part = (j + 1) / plan.substeps
    for s in range(plan.sites):
        state.bus[plan.site_signal[4 * s]] = part * state.d1[s] + (1.0 - part) * state.d0[s]
        state.bus[plan.site_signal[4 * s + 1]] = state.rate[s]
        state.bus[plan.site_signal[4 * s + 2]] = state.jump[s]


@verb
def advance(plan, state, b):
    """Gather the inputs of block b from the bus, advance it, scatter its outputs to the bus."""
    first, last = plan.in_start[b], plan.in_start[b + 1]
    for k in range(first, last):
        state.gather[k - first] = state.bus[plan.in_bus[k]]
    y = last - first
    call_block(
        plan.address[b],
        state.x,
        plan.x_start[b],
        state.gather,
        0,
        plan.tick_dt,
        state.bus,
        plan.p_start[b],
        state.gather,
        y,
    )
    first, last = plan.out_start[b], plan.out_start[b + 1]
    for k in range(first, last):
        state.bus[plan.out_bus[k]] = state.gather[y + k - first]


@verb
def correct(plan, state, excitation, k):
    """Equation of motion: the increment w that carries the structure on from here."""
    collect(plan, state)
    for i in range(plan.n):
        state.b[i] = plan.alpha_f * state.g[i]
    balance(plan, state, excitation, k)
    for i in range(plan.n):
        state.b[i] += (1.0 - plan.alpha_f) * state.g[i]
    if plan.has_B:
        subtract_product(plan.n, plan.B, state.w, state.b)
    for i in range(plan.n):
        state.w[i] = 0.0
    add_product(plan.n, plan.A, state.b, state.w)
    for i in range(plan.n):
        state.v[i] += plan.w_to_v_after * state.w[i]
    state.clock[STEP] += 1.0
    report(plan, state)


@verb
def collect(plan, state):
    """Add the measured or modelled site forces to the restoring force."""
    for s in range(plan.sites):
        f = plan.site_count[s] * state.bus[plan.site_signal[4 * s + 3]]
        for k in range(plan.site_start[s], plan.site_start[s + 1]):
            state.r[plan.site_dof[k]] += plan.site_coef[k] * f


@verb
def balance(plan, state, excitation, k):
    """Unbalanced force g = F - R - C v."""
    load(plan, state, excitation, k)
    subtract_product(plan.n, plan.C, state.v, state.g)


@verb
def load(plan, state, excitation, k):
    """g = F - R, with the excitation noted on the bus."""
    for i in range(plan.n):
        state.g[i] = plan.dead[i] - state.r[i]
    for j in range(plan.excitations):
        e = excitation[k + j]
        state.bus[plan.bus_excitation + j] = e
        state.clock[IMPULSE] += plan.dt * plan.impulse[j] * abs(e)
        for i in range(plan.n):
            state.g[i] += plan.E[j * plan.n + i] * e


@verb
def report(plan, state):
    """Put time, displacement, velocity and acceleration on the bus."""
    state.bus[0] = state.clock[STEP] * plan.dt
    mix(plan, state)
    first, n = plan.bus_response, plan.n
    for i in range(n):
        state.bus[first + i] = state.u[i]
        state.bus[first + n + i] = state.v[i] + plan.lag * state.mixed[i]
        state.bus[first + 2 * n + i] = plan.w_to_a * state.w[i]


@verb
def record(plan, state, rows, row):
    """Copy the recorded channels from the bus to a row of the recording."""
    for k in range(plan.n_channels):
        rows[row * plan.n_channels + k] = state.bus[plan.channels[k]]


@verb
def check(plan, state):
    """Status of the step just made; on failure the clock notes the place (of a displacement, a site or a drift).

    Every comparison is written so that nan fails it.
    """
    outside, even, odd = 0, 0.0, 0.0  # two sums, because each addition waits for the one before
    for i in range(plan.n):
        outside += int(not abs(state.u[i]) <= plan.max_u) + int(not abs(state.w[i]) <= FINITE)
    for i in range(0, plan.n - 1, 2):
        even += plan.mass[i] * state.v[i] ** 2
        odd += plan.mass[i + 1] * state.v[i + 1] ** 2
    if plan.n % 2:
        even += plan.mass[plan.n - 1] * state.v[plan.n - 1] ** 2
    status = OK
    if outside > 0:
        status = displaced(plan, state)
    elif not even + odd <= plan.max_energy * state.clock[IMPULSE] ** 2:
        status = ENERGY
    elif plan.bus_imbalance and not state.bus[plan.bus_imbalance] <= plan.max_imbalance:
        status = IMBALANCE
    else:
        for s in range(plan.sites):
            f = state.bus[plan.site_signal[4 * s + 3]]
            if not (abs(state.d1[s]) <= plan.site_limit[2 * s] and abs(f) <= plan.site_limit[2 * s + 1]):
                status = LIMIT
                state.clock[PLACE] = s
        for s in range(plan.drifts):
            drift = 0.0
            for k in range(plan.drift_start[s], plan.drift_start[s + 1]):
                drift += plan.drift_coef[k] * state.u[plan.drift_dof[k]]
            if not abs(drift) <= plan.drift_limit[s]:
                status = DRIFT
                state.clock[PLACE] = s
    state.clock[STATUS] = status
    return status


@verb
def displaced(plan, state):
    """Which displacement is not finite, or the largest of those that are too large.

    A force that is not finite makes all of w so, through a full matrix; the unbalanced force tells where it acts.
    """
    status = DISPLACEMENT
    state.clock[PLACE] = 0
    for i in range(plan.n):
        if abs(state.u[i]) > abs(state.u[int(state.clock[PLACE])]):
            state.clock[PLACE] = i
    for i in range(plan.n - 1, -1, -1):
        if not np.isfinite(state.w[i] + state.u[i]):
            status = NON_FINITE
            state.clock[PLACE] = i
    for i in range(plan.n - 1, -1, -1):
        if status == NON_FINITE and not np.isfinite(state.g[i]):
            state.clock[PLACE] = i
    return status


@verb
def add_product(n, columns, x, y):
    """y += A x with A stored by columns: vectorises without reordering any sum."""
    for j in range(n):
        for i in range(n):
            y[i] += columns[j * n + i] * x[j]


@verb
def subtract_product(n, columns, x, y):
    """y -= A x with A stored by columns."""
    for j in range(n):
        for i in range(n):
            y[i] -= columns[j * n + i] * x[j]
