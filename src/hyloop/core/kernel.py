"""The time step, compiled. `tick` is the picture of the method; read it first.

Every explicit method is one recurrence with its own operators (`hyloop.integrators`):

    u[i+1] = u[i] + Δt v[i] + w_to_u P w[i]
    v*     = v[i] + w_to_v P w[i]
    g[i+1] = F[i+1] - R(u[i+1]) - C v*
    w[i+1] = A { (1 - αf) g[i+1] + αf g[i] - B w[i] }
    v[i+1] = v* + w_to_v_after w[i+1]

`w` is the velocity increment of the step (or, in plain forms with a matrix P, the acceleration). Responses
are reported as u, v + lag P w and w_to_a w.

Three kinds of runs share the tick, and each is compiled from it with its own verbs, so that none pays for the others.
Where matrices are sparse, `restore` and `solve` are others (`sparse_products`), and r holds the damping force as well.
Where the method is implicit, the first guess of u is improved until the equation of motion holds (`newton`).
"""

from hyloop.core import newton, sparse_products
from hyloop.core.check import check
from hyloop.core.full_products import add_product, subtract_product
from hyloop.core.jit import call_block, call_group, rebind, verb
from hyloop.core.motion import balance, collect, deform, load, mix, report
from hyloop.core.plan import STEP

__all__ = ["advance", "newton_tick", "resist", "resist_sparse", "sparse_tick", "tick"]


def _tick(plan, state, excitation, k, rows, row):
    """Advance by one step Δt, recording from `row` on; the excitation at its end stands from excitation[k] on."""
    predict(plan, state)
    holds = False
    while not holds:  # once, unless the method is implicit
        resist(plan, state)
        respond(plan, state, rows, row)
        holds = correct(plan, state, excitation, k)
    record(plan, state, rows, row + (plan.substeps - 1) * plan.every_tick)
    return check(plan, state)


@verb
def predict(plan, state):
    """Displacement and velocity at the end of the step, and from them the deformation of every site."""
    mix(plan, state)
    for i in range(plan.n):
        state.u[i] += plan.dt * state.v[i] + plan.w_to_u * state.mixed[i]
        state.v[i] += plan.w_to_v * state.mixed[i]
    deform(plan, state)


def _resist(plan, state):
    """Restoring force of the analytical substructure: linear part, then every element group."""
    restore(plan, state)
    members(plan, state)


@verb
def restore(plan, state):
    """r = K u."""
    for i in range(plan.n):
        state.r[i] = 0.0
    add_product(plan.n, plan.K, state.u, state.r)


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


def _respond(plan, state, rows, row):
    """Controller rate: move the sites along their ramps and let every block run."""
    for j in range(plan.substeps):
        ramp(plan, state, j)
        for b in range(plan.blocks):
            advance(plan, state, b)
        if plan.every_tick and j + 1 < plan.substeps:
            record(plan, state, rows, row + j)


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


def _correct(plan, state, excitation, k):
    """Equation of motion: the increment w that carries the structure on from here. True: it holds."""
    collect(plan, state)
    for i in range(plan.n):
        state.b[i] = plan.alpha_f * state.g[i]
    balance(plan, state, excitation, k)
    for i in range(plan.n):
        state.b[i] += (1.0 - plan.alpha_f) * state.g[i]
    solve(plan, state)
    state.clock[STEP] += 1.0
    report(plan, state)
    return True


@verb
def solve(plan, state):
    """The new w from the right-hand side b, and the velocity with it."""
    if plan.has_B:
        subtract_product(plan.n, plan.B, state.w, state.b)
    for i in range(plan.n):
        state.w[i] = 0.0
    add_product(plan.n, plan.A, state.b, state.w)
    for i in range(plan.n):
        state.v[i] += plan.w_to_v_after * state.w[i]


@verb
def record(plan, state, rows, row):
    """Copy the recorded channels from the bus to a row of the recording."""
    for k in range(plan.n_channels):
        rows[row * plan.n_channels + k] = state.bus[plan.channels[k]]


resist, respond, correct = verb(_resist), verb(_respond), verb(_correct)
tick = verb(_tick)

resist_sparse = verb(rebind(_resist, restore=sparse_products.restore))
correct_sparse = verb(rebind(_correct, solve=sparse_products.solve, balance=load))
sparse_tick = verb(rebind(_tick, resist=resist_sparse, correct=correct_sparse))

newton_tick = verb(rebind(_tick, predict=newton.guess, correct=newton.improve))
