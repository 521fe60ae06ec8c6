"""What the time step works with: `Plan`, constant during a run, and `State`, which changes.

All arrays of `State` are views of one flat vector `memory`: a copy of it is a complete snapshot. Inside compiled code
the arrays of both are plain pointers (`hyloop.core.jit.bind`), and full matrices are stored by columns: entry (i, j)
stands at ``j n + i``.
"""

from typing import NamedTuple

from hyloop.core.jit import Floats, Ints, Table

__all__ = [
    "ASKED",
    "CALLED",
    "CALLED_OFF",
    "DISPLACEMENT",
    "DRIFT",
    "ENERGY",
    "FAULT",
    "IMBALANCE",
    "IMPULSE",
    "INTERLOCKED",
    "LIMIT",
    "LOST",
    "NON_FINITE",
    "NOT_CONVERGED",
    "OK",
    "PLACE",
    "STATUS",
    "STEP",
    "TAKEN_OVER",
    "TOO_LATE",
    "TRIPPED",
    "Plan",
    "State",
]

OK, NON_FINITE, LIMIT, NOT_CONVERGED, DISPLACEMENT, ENERGY, DRIFT, IMBALANCE, CALLED_OFF, INTERLOCKED = range(10)
STEP, STATUS, PLACE, IMPULSE = range(4)  # of the clock
ASKED, TOO_LATE, FAULT, TRIPPED, LOST, TAKEN_OVER = range(1, 7)  # why a run is called off; three for interlocks alone
CALLED = 1  # reason of an interlock that has tripped because it was told to; all others are its own


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
    # load of a unit excitation: whole columns of the first ones, of the others the entries that are not zero
    full_excitations: int
    E: Floats
    load_start: Ints
    load_dof: Ints
    load_coef: Floats
    dead: Floats  # load that always acts
    sparse: int  # whether A, B, K and C stand in `matrices`
    matrices: Table  # of hyloop.core.sparse_products.Matrices
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
    # what is watched beside the motion
    watched: int
    watch: Table  # of hyloop.core.watch.Watch
    # recording: channels, and whether a row belongs to every controller tick
    n_channels: int
    channels: Ints
    every_tick: int
    # wind-down
    physical: int  # how many blocks, the first ones, belong to physical sites
    interlocks: int
    trips: Ints  # bus positions of what each interlock says: why it has tripped, and whether its rig is safe
    settles: Ints
    bus_stop: int  # channel that makes all of them trip; 0: there are none
    down: int  # most steps of a wind-down


class State(NamedTuple):
    """Everything that changes, as views of `memory`; what `newton` has is empty between steps."""

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
    newton: Table  # of hyloop.core.newton.Iteration
