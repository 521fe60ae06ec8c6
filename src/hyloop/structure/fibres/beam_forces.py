r"""State determination of force-based beam-columns, a few iterations in a step; compiled.

Equilibrium is built in: the section forces are b q, linear in the basic forces q = (N, M_i, M_j, ...). Sections and
compatibility are two sets of equations,

.. math:: b_s\,q = D_s(d_s), \qquad e = F_e\,q + \sum_s w_s\,b_s^T d_s

with the elastic sections summed in the constant flexibility :math:`F_e`. Newton's method on both at once needs the
fibres once in an iteration:

.. math::
    q = \Big(F_e + \sum_s w_s b_s^T f_s b_s\Big)^{-1} \Big(e - \sum_s w_s b_s^T (d_s - f_s D_s)\Big), \qquad
    d_s \leftarrow d_s + f_s (b_s q - D_s), \qquad \text{then } D_s, f_s \text{ from the fibres}

Both equations are in total quantities. What an iteration leaves unbalanced in a section, or incompatible along the
member, is part of the state and enters the next one, be it in this time step or in the following: nothing is dropped
and nothing can pile up. So a small number of iterations serves a time step, as Kolay and Ricles have it; more are made
only where the last correction is not yet small.

Where a crack closes, the tangent of the open crack overshoots, and Newton's method may go on to another solution of
the same equations, at strains of a tenth and more. Nothing of that kind is committed: corrections must shrink, and
where they do not, the member goes back and takes half of the increment first.

References
----------
Neuenhofer and Filippou (1997), doi:10.1061/(ASCE)0733-9445(1997)123:7(958); Kolay and Ricles (2018),
doi:10.1061/(ASCE)ST.1943-541X.0001944.
"""

import numpy as np

from hyloop.core.jit import verb
from hyloop.structure.fibres import section_forces
from hyloop.structure.fibres.rows import deform, load

__all__ = ["HEADER", "MEMBER", "POINT", "resist"]

# integers: header, members, points, rows of fibres, B
# header: members, iterations, size of a row; x of e, q and scratch; p of B; i of members, points and B; x of the
# deformations of the last step, of what is kept of the sections, and of the imbalance
HEADER = 13
MEMBER = 3  # first point, point after the last, constants (length, GJ/L, elastic flexibility)
POINT = 5  # state, constants of the section, first row of fibres, rows, place (position/length and weight)

FAR = 0.5  # of the last correction: a further one beyond this shows that the tangent led astray
NEAR = 1e-4  # strain, a twentieth of the yield strain of steel: corrections below this lead nowhere
FINEST = 1.0 / 64.0  # smallest part of a step
CLOSE = 2e-5  # strain: a correction below this is the last one
MOST = 10  # iterations for one part of a step, where more than those asked for are needed


@verb
def resist(n, u, x, p, i, r):
    """Add the forces of all members to r; `n` is 2 in the plane and 3 in space."""
    members, e, q, last = i[0], i[3], i[4], i[10]
    rows = 4 if n == 2 else 8
    deform(members * rows, u, x, e, p, i[6], i, i[9])
    x[i[12]] = 0.0
    for m in range(members):
        member = i[7] + MEMBER * m
        _increment(n, x, last + rows * m, e + rows * m, q + rows * m, p, i, member)
        _rest(n, x, e + rows * m, q + rows * m, p, i[member + 2])
    load(members * rows, x, q, r, p, i[6], i, i[9])


@verb
def _increment(n, x, last, e, q, p, i, member):
    """Take a member from its last deformations to e: at once, or in smaller parts where its sections cannot follow."""
    count = 2 * n - 1
    goal = i[5] + count * count
    done, part = 0.0, 1.0
    while done < 1.0:
        at = done + part
        for a in range(count):
            x[goal + a] = x[last + a] + at * (x[e + a] - x[last + a]) if at < 1.0 else x[e + a]
        if _equilibrate(n, x, goal, q, p, i, member, part > FINEST):
            done = at
        else:
            part *= 0.5
    for a in range(count):
        x[last + a] = x[e + a]


@verb
def _equilibrate(n, x, e, q, p, i, member, divisible):
    """Iterate to the deformations e and commit; False, with nothing committed, where a smaller part should be tried."""
    iterations, size, w, kept = i[1], i[2], i[5], i[11]
    fibres = w + 2 * n * (2 * n - 1)
    _copy_sections(n, x, kept, i, member, True)
    before, iteration, balanced = np.inf, 0, False
    while not balanced:
        iteration += 1
        _basic_forces(n, x, e, q, w, p, i, member)
        correction = _correction(n, x, q, p, i, member)
        if divisible and iteration > 1 and not (correction <= NEAR or correction <= FAR * before):
            _copy_sections(n, x, kept, i, member, False)
            return False
        before = correction
        balanced = iteration >= iterations and (correction <= CLOSE or iteration >= MOST)
        for s in range(i[member], i[member + 1]):
            point = i[8] + POINT * s
            _follow(n, x, i[point], q, p[i[point + 4]])
            section_forces.resist(
                n, x, i[point], fibres, size, p, i[point + 1], i, i[point + 2], i[point + 3], balanced
            )
    _basic_forces(n, x, e, q, w, p, i, member)
    left = _correction(n, x, q, p, i, member)
    x[i[12]] = x[i[12]] if left <= x[i[12]] else left
    return True


@verb
def _copy_sections(n, x, kept, i, member, keep):
    """Keep deformations, forces and flexibility of the sections of a member, or bring them back."""
    size = 2 * n + n * n
    for s in range(i[member], i[member + 1]):
        here, there = i[i[8] + POINT * s], kept + size * (s - i[member])
        for a in range(size):
            if keep:
                x[there + a] = x[here + a]
            else:
                x[here + a] = x[there + a]


@verb
def _correction(n, x, q, p, i, member):
    """Largest strain, at the radius of gyration, by which the basic forces ask a section for other deformations."""
    largest = 0.0
    for s in range(i[member], i[member + 1]):
        point = i[8] + POINT * s
        strain = _asked(n, x, i[point], q, p, i[point + 1], p[i[point + 4]])
        largest = largest if strain <= largest else strain  # nan counts as larger
    return largest


@verb
def _asked(n, x, d, q, p, constants, position):
    """Strain of f (b q - D)."""
    D, f = d + n, d + 2 * n
    strain = 0.0
    for a in range(n):
        change = 0.0
        for b in range(n):
            first, b_i, b_j = _place(b, position)
            excess = b_i * x[q + first] - x[D + b]
            if b > 0:
                excess += b_j * x[q + first + 1]
            change += x[f + n * a + b] * excess
        strain += abs(change) * _lever(n, p, constants, a)
    return strain


@verb
def _lever(n, p, constants, a):
    """One for the mean strain, the radius of gyration for a curvature (from the section's stiffness)."""
    return np.sqrt(p[constants + n * a + a] / p[constants])


@verb
def _basic_forces(n, x, e, q, F, p, i, member):
    """Basic forces q that make the member compatible with e, for the sections as they are."""
    count, elastic = 2 * n - 1, i[member + 2] + 2
    for a in range(count * count):
        x[F + a] = p[elastic + a]
    for a in range(count):
        x[q + a] = x[e + a]
    for s in range(i[member], i[member + 1]):
        point = i[8] + POINT * s
        _add_section(n, count, x, i[point], F, q, p[i[point + 4]], p[i[point + 4] + 1])
    _solve(count, x, F, q)


@verb
def _add_section(n, count, x, d, F, c, position, weight):
    """Add w b' f b to F and subtract w b' (d - f D) from c."""
    D, f = d + n, d + 2 * n
    for a in range(n):
        gap = x[d + a]
        for b in range(n):
            gap -= x[f + n * a + b] * x[D + b]
        first, a_i, a_j = _place(a, position)
        x[c + first] -= weight * a_i * gap
        if a > 0:
            x[c + first + 1] -= weight * a_j * gap
        for b in range(n):
            column, b_i, b_j = _place(b, position)
            flex, at = weight * x[f + n * a + b], F + count * first + column
            x[at] += a_i * flex * b_i
            if b > 0:
                x[at + 1] += a_i * flex * b_j
            if a > 0:
                x[at + count] += a_j * flex * b_i
            if a > 0 and b > 0:
                x[at + count + 1] += a_j * flex * b_j


@verb
def _place(a, position):
    """Section force a from the basic forces: index of the first one, and the factors of it and of the next."""
    if a == 0:
        return 0, 1.0, 0.0
    return 2 * a - 1, position - 1.0, position


@verb
def _follow(n, x, d, q, position):
    """d += f (b q - D)."""
    D, f = d + n, d + 2 * n
    for b in range(n):
        first, b_i, b_j = _place(b, position)
        excess = b_i * x[q + first] - x[D + b]
        if b > 0:
            excess += b_j * x[q + first + 1]
        for a in range(n):
            x[d + a] += x[f + n * a + b] * excess


@verb
def _solve(count, x, F, c):
    """Solve F q = c in place for a symmetric F, by elimination on its upper half."""
    for k in range(count):
        for a in range(k + 1, count):
            factor = x[F + count * k + a] / x[F + count * k + k]
            for b in range(a, count):
                x[F + count * a + b] -= factor * x[F + count * k + b]
            x[c + a] -= factor * x[c + k]
    for k in range(count - 1, -1, -1):
        for b in range(k + 1, count):
            x[c + k] -= x[F + count * k + b] * x[c + b]
        x[c + k] /= x[F + count * k + k]


@verb
def _rest(n, x, e, q, p, member):
    """Torsion, elastic, and the moment of the axial force along the turned chord (P-Delta)."""
    length, N = p[member], x[q]
    first = 3
    if n == 3:
        x[q + 5] = p[member + 1] * x[e + 5]
        first = 6
    for k in range(first, first + n - 1):
        x[q + k] = N * length * x[e + k]
