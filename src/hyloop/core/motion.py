"""Parts of the equation of motion: deformations of the sites, unbalanced force, and the response on the bus."""

from hyloop.core.full_products import add_product, subtract_product
from hyloop.core.jit import verb
from hyloop.core.plan import IMPULSE, STEP

__all__ = ["balance", "collect", "deform", "load", "mix", "report"]


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
    """g = F - R, with the excitation noted on the bus; R has the damping force already where matrices are sparse."""
    for i in range(plan.n):
        state.g[i] = plan.dead[i] - state.r[i]
    for j in range(plan.excitations):
        e = excitation[k + j]
        state.bus[plan.bus_excitation + j] = e
        state.clock[IMPULSE] += plan.dt * plan.impulse[j] * abs(e)
        if j < plan.full_excitations:
            for i in range(plan.n):
                state.g[i] += plan.E[j * plan.n + i] * e
        else:
            for i in range(plan.load_start[j], plan.load_start[j + 1]):
                state.g[plan.load_dof[i]] += plan.load_coef[i] * e


@verb
def mix(plan, state):
    """P w, or w itself where P is the identity."""
    for i in range(plan.n):
        state.mixed[i] = 0.0 if plan.has_P else state.w[i]
    if plan.has_P:
        add_product(plan.n, plan.P, state.w, state.mixed)


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
