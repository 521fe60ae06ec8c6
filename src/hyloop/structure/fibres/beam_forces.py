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

from typing import Any, NamedTuple

import numpy as np

from hyloop.core.jit import verb
from hyloop.core.memory import entry, read, tail, views
from hyloop.structure.fibres import section_forces
from hyloop.structure.fibres.rows import deform, load, rows_at
from hyloop.structure.fibres.section_forces import Point, section_at

__all__ = ["Constants", "Header", "Member", "Memory", "Place", "resist"]


class Header(NamedTuple):
    """The first integers of a group; the tables they point to follow."""

    members: int
    iterations: int  # in a step; more where a section is far from balance
    size: int  # largest number of fibres in a row
    memory: int  # in i: the places of `Memory` in x
    member: int  # in i: table of `Member`
    point: int  # in i: table of `Point`
    connectivity: int  # in i: B (`rows_at`)
    coefficients: int  # in p: B


class Memory(NamedTuple):
    """What a group keeps in x; the states of its sections lie behind q."""

    e: Any  # basic deformations of all members
    q: Any  # basic forces
    F: Any  # room: flexibility of a member
    goal: Any  # room: deformations it shall reach
    fibres: Any  # room: a row of fibres (`stress.Work`)
    last: Any  # deformations at the end of the last step
    kept: Any  # room: sections of a member as they were, without histories
    imbalance: Any  # largest strain left by any member


class Member(NamedTuple):
    """Where a member's parts lie."""

    begin: int  # first of its points with fibres
    end: int  # the point after the last
    constants: int  # in p: `Constants`
    flexibility: int  # in p: that of the elastic sections, by rows


class Constants(NamedTuple):
    """Numbers of a member."""

    length: float
    torsion: float  # GJ/L


class Place(NamedTuple):
    """An integration point along its member."""

    position: float  # over the length
    weight: float


FAR = 0.5  # of the last correction: a further one beyond this shows that the tangent led astray
NEAR = 1e-4  # strain, a twentieth of the yield strain of steel: corrections below this lead nowhere
FINEST = 1.0 / 64.0  # smallest part of a step
CLOSE = 2e-5  # strain: a correction below this is the last one
MOST = 10  # iterations for one part of a step, where more than those asked for are needed


@verb
def resist(n, u, x, p, i, r):
    """Add the forces of all members to r; `n` is 2 in the plane and 3 in space."""
    header, memory = read(Header, i, 0), _memory(x, i)
    rows = 4 if n == 2 else 8
    total = header.members * rows
    B = rows_at(total, p, header.coefficients, i, header.connectivity)
    deform(total, B, u, memory.e)
    memory.imbalance[0] = 0.0
    for k in range(header.members):
        member = entry(Member, i, header.member, k)
        e, q, last = tail(memory.e, rows * k), tail(memory.q, rows * k), tail(memory.last, rows * k)
        _increment(n, x, p, i, member, last, e, q)
        _rest(n, e, q, read(Constants, p, member.constants))
    load(total, B, memory.q, r)


@verb
def _memory(x, i):
    return views(x, read(Memory, i, read(Header, i, 0).memory))


@verb
def _point(i, s):
    return entry(Point, i, read(Header, i, 0).point, s)


@verb
def _increment(n, x, p, i, member, last, e, q):
    """Take a member from its last deformations to e: at once, or in smaller parts where its sections cannot follow."""
    count, goal = 2 * n - 1, _memory(x, i).goal
    done, part = 0.0, 1.0
    while done < 1.0:
        at = done + part
        for a in range(count):
            goal[a] = last[a] + at * (e[a] - last[a]) if at < 1.0 else e[a]
        if _equilibrate(n, x, p, i, member, goal, q, part > FINEST):
            done = at
        else:
            part *= 0.5
    for a in range(count):
        last[a] = e[a]


@verb
def _equilibrate(n, x, p, i, member, e, q, divisible):
    """Iterate to the deformations e and commit; False, with nothing committed, where a smaller part should be tried."""
    header, memory = read(Header, i, 0), _memory(x, i)
    _copy_sections(n, x, i, member, memory.kept, True)
    before, iteration, balanced = np.inf, 0, False
    while not balanced:
        iteration += 1
        _basic_forces(n, x, p, i, member, e, q)
        correction = _correction(n, x, p, i, member, q)
        if divisible and iteration > 1 and not (correction <= NEAR or correction <= FAR * before):
            _copy_sections(n, x, i, member, memory.kept, False)
            return False
        before = correction
        balanced = iteration >= header.iterations and (correction <= CLOSE or iteration >= MOST)
        for s in range(member.begin, member.end):
            point = _point(i, s)
            _follow(n, section_at(n, x, point), q, read(Place, p, point.place).position)
            section_forces.resist(n, x, p, i, point, memory.fibres, header.size, balanced)
    _basic_forces(n, x, p, i, member, e, q)
    left, largest = _correction(n, x, p, i, member, q), memory.imbalance[0]
    memory.imbalance[0] = largest if left <= largest else left
    return True


@verb
def _copy_sections(n, x, i, member, kept, keep):
    """Keep deformations, forces and flexibility of the sections of a member, or bring them back."""
    size = 2 * n + n * n
    for s in range(member.begin, member.end):
        here, there = tail(x, _point(i, s).state), tail(kept, size * (s - member.begin))
        for a in range(size):
            if keep:
                there[a] = here[a]
            else:
                here[a] = there[a]


@verb
def _correction(n, x, p, i, member, q):
    """Largest strain, at the radius of gyration, by which the basic forces ask a section for other deformations."""
    largest = 0.0
    for s in range(member.begin, member.end):
        point = _point(i, s)
        position = read(Place, p, point.place).position
        strain = _asked(n, section_at(n, x, point), q, tail(p, point.constants), position)
        largest = largest if strain <= largest else strain  # nan counts as larger
    return largest


@verb
def _asked(n, section, q, floor, position):
    """Strain of f (b q - D)."""
    strain = 0.0
    for a in range(n):
        change = 0.0
        for b in range(n):
            change += section.f[n * a + b] * _excess(section, q, b, position)
        strain += abs(change) * _lever(n, floor, a)
    return strain


@verb
def _excess(section, q, a, position):
    """Entry a of b q - D."""
    first, b_i, b_j = _factors(a, position)
    excess = b_i * q[first] - section.D[a]
    if a > 0:
        excess += b_j * q[first + 1]
    return excess


@verb
def _lever(n, floor, a):
    """One for the mean strain, the radius of gyration for a curvature (from a multiple of the section's stiffness)."""
    return np.sqrt(floor[n * a + a] / floor[0])


@verb
def _basic_forces(n, x, p, i, member, e, q):
    """Basic forces q that make the member compatible with e, for the sections as they are."""
    count, F, elastic = 2 * n - 1, _memory(x, i).F, tail(p, member.flexibility)
    for a in range(count * count):
        F[a] = elastic[a]
    for a in range(count):
        q[a] = e[a]
    for s in range(member.begin, member.end):
        point = _point(i, s)
        _add_section(n, count, section_at(n, x, point), F, q, read(Place, p, point.place))
    _solve(count, F, q)


@verb
def _add_section(n, count, section, F, c, place):
    """Add w b' f b to F and subtract w b' (d - f D) from c."""
    for a in range(n):
        gap = section.d[a]
        for b in range(n):
            gap -= section.f[n * a + b] * section.D[b]
        first, a_i, a_j = _factors(a, place.position)
        c[first] -= place.weight * a_i * gap
        if a > 0:
            c[first + 1] -= place.weight * a_j * gap
        for b in range(n):
            column, b_i, b_j = _factors(b, place.position)
            flex, at = place.weight * section.f[n * a + b], count * first + column
            F[at] += a_i * flex * b_i
            if b > 0:
                F[at + 1] += a_i * flex * b_j
            if a > 0:
                F[at + count] += a_j * flex * b_i
            if a > 0 and b > 0:
                F[at + count + 1] += a_j * flex * b_j


@verb
def _factors(a, position):
    """Section force a from the basic forces: index of the first one, and the factors of it and of the next."""
    if a == 0:
        return 0, 1.0, 0.0
    return 2 * a - 1, position - 1.0, position


@verb
def _follow(n, section, q, position):
    """d += f (b q - D)."""
    for b in range(n):
        excess = _excess(section, q, b, position)
        for a in range(n):
            section.d[a] += section.f[n * a + b] * excess


@verb
def _solve(count, F, c):
    """Solve F q = c in place for a symmetric F, by elimination on its upper half."""
    for k in range(count):
        for a in range(k + 1, count):
            factor = F[count * k + a] / F[count * k + k]
            for b in range(a, count):
                F[count * a + b] -= factor * F[count * k + b]
            c[a] -= factor * c[k]
    for k in range(count - 1, -1, -1):
        for b in range(k + 1, count):
            c[k] -= F[count * k + b] * c[b]
        c[k] /= F[count * k + k]


@verb
def _rest(n, e, q, member):
    """Torsion, elastic, and the moment of the axial force along the turned chord (P-Delta)."""
    N, first = q[0], 3
    if n == 3:
        q[5] = member.torsion * e[5]
        first = 6
    for k in range(first, first + n - 1):
        q[k] = N * member.length * e[k]
