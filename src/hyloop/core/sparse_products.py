"""Products and solutions of a time step with sparse matrices, as large models have them.

The operators of `hyloop.core.kernel` are then

    A = a W⁻¹,   W = S + V diag(e) Vᵀ,   P S Pᵀ = L D Lᵀ,   U = L⁻¹ P V
    P W⁻¹ b = L⁻ᵀ (z - D⁻¹ U H Uᵀ z),   z = D⁻¹ L⁻¹ P b,   H = (I + diag(e) Uᵀ D⁻¹ U)⁻¹ diag(e)      (Woodbury)
    w[i+1] = A { ... - B w[i] } - ρ w[i]

where ρ makes B a multiple of M (`hyloop.integrators.model_based`), and r holds the damping forces as well: K u + C v
is one pass over one pattern of entries, of which one half is stored. Between the two triangular solutions U has few
rows that are not zero: those of the masses and of what is eliminated after them.
"""

from typing import NamedTuple

from hyloop.core.jit import Floats, Ints, Table, bind, verb
from hyloop.core.panels import Panels, backward, forward

__all__ = ["Matrices", "restore", "solve"]


class Matrices(NamedTuple):
    """Sparse matrices of a run, by rows: entries start[i] to start[i+1] belong to row i."""

    # K and C on one pattern, their values side by side: the diagonal, and what stands right of it
    diagonal: Floats
    start: Ints
    column: Ints
    pair: Floats
    # the part of low rank of C: rows of V that are not zero, and its weights d
    rank: int
    V_rows: int
    V_row: Ints
    V: Floats
    d: Floats
    # B, and the part ρ of w that is carried on
    B_start: Ints
    B_column: Ints
    B: Floats
    rho: float
    # the order of elimination, L without its diagonal, and a/D
    order: Ints
    L: Table  # of hyloop.core.panels.Panels
    scale: Floats
    # Woodbury: rows of U that are not zero, and H/a by rows
    U_rows: int
    U_row: Ints
    U: Floats
    H: Floats


@verb
def restore(plan, state):
    """r = K u + C v."""
    m = bind(Matrices, plan.matrices)
    for i in range(plan.n):
        state.r[i] = m.diagonal[2 * i] * state.u[i] + m.diagonal[2 * i + 1] * state.v[i]
    for i in range(plan.n):
        u, v, force = state.u[i], state.v[i], 0.0
        for k in range(m.start[i], m.start[i + 1]):
            j, stiffness, damping = m.column[k], m.pair[2 * k], m.pair[2 * k + 1]
            force += stiffness * state.u[j] + damping * state.v[j]
            state.r[j] += stiffness * u + damping * v
        state.r[i] += force
    if m.rank:
        project(m.rank, m.V_rows, m.V_row, m.V, state.v, state.modal)
        for k in range(m.V_rows):
            force = 0.0
            for q in range(m.rank):
                force += m.V[k * m.rank + q] * (m.d[q] * state.modal[q])
            state.r[m.V_row[k]] += force


@verb
def solve(plan, state):
    """The new w from the right-hand side b."""
    m, n, x = bind(Matrices, plan.matrices), plan.n, state.mixed
    L = bind(Panels, m.L)
    for i in range(n):
        product = 0.0
        for k in range(m.B_start[i], m.B_start[i + 1]):
            product += m.B[k] * state.w[m.B_column[k]]
        state.b[i] -= product
    for k in range(n):
        x[k] = state.b[m.order[k]]
    forward(L, x)
    for j in range(n):
        x[j] *= m.scale[j]
    if m.rank:
        project(m.rank, m.U_rows, m.U_row, m.U, x, state.modal)
        for p in range(m.rank):
            weight = 0.0
            for q in range(m.rank):
                weight += m.H[p * m.rank + q] * state.modal[q]
            state.modal[m.rank + p] = weight
        for k in range(m.U_rows):
            part = 0.0
            for q in range(m.rank):
                part += m.U[k * m.rank + q] * state.modal[m.rank + q]
            x[m.U_row[k]] -= m.scale[m.U_row[k]] * part
    backward(L, x)
    for k in range(n):
        i = m.order[k]
        state.w[i] = x[k] - m.rho * state.w[i]


@verb
def project(rank, rows, row, V, x, s):
    """s = Vᵀ x over the rows of V that are not zero."""
    for q in range(rank):
        s[q] = 0.0
    for k in range(rows):
        value = x[row[k]]
        for q in range(rank):
            s[q] += V[k * rank + q] * value
