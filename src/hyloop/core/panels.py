"""A sparse triangular factor in panels, and solutions with it as fast as memory gives its numbers.

Neighbouring columns of a factor mostly have the same rows below them. Up to eight stand together in a panel, their
numbers by rows, with one list of rows for all: no index for each number, and one access to x for a whole row of them.
A few zeros are stored where that saves more indices. Panels cut from one broad run of columns share its list: it begins
with the columns of the run, and each panel takes what comes after its own.
"""

from typing import Any, NamedTuple

import numpy as np

from hyloop.core.jit import Floats, Ints, jit, verb

__all__ = ["Panels", "backward", "forward", "panels"]

HEAD = 5  # numbers that describe a panel
BROADEST = 64  # columns of a run; 32 or 128 are no different
PANEL = 5  # zeros that one panel less is worth; 0 to 10 are within 10 % of each other


class Panels(NamedTuple):
    """L without its unit diagonal.

    A panel has its triangle by rows, then its other rows, each with a number for every column.
    """

    number: int
    head: Ints  # of each panel: first column, columns (1, 2, 4 or 8), begin and end of its rows in `row`, place in L
    row: Ints
    L: Floats


def panels(lower: Any) -> Panels:
    """Lay a strictly lower triangular matrix by sorted columns (csc) out in panels."""
    start, row = np.asarray(lower.indptr, np.int64), np.asarray(lower.indices, np.int64)
    first, begin, rows = _runs(start, row)
    head = _cut(first, begin)
    return Panels(len(head), head, rows, _filled(head, rows, start, row, np.asarray(lower.data, float)))


@jit
def _runs(start, row):
    """Runs of columns that share their rows: first column of each, begin of its list, and all lists.

    A column joins where the zeros this adds are no more than the indices it saves, with `PANEL` for the panel saved.
    """
    n = len(start) - 1
    first, begin = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    rows = np.empty(len(row) + n, np.int64)
    shared, joined = np.empty(n, np.int64), np.empty(n, np.int64)
    runs = used = j = 0
    while j < n:
        first[runs], begin[runs] = j, used
        size = start[j + 1] - start[j]
        shared[:size] = row[start[j] : start[j + 1]]
        width, entries, zeros = 1, size, 0
        while j + width < n and width < BROADEST:
            c = j + width
            own = start[c + 1] - start[c]
            both = _union(shared[:size], row[start[c] : start[c + 1]], c, joined)
            more = (width + 1) * width // 2 + (width + 1) * both - entries - own
            if more - zeros > PANEL + size + own - both:
                break
            width, entries, zeros, size = width + 1, entries + own, more, both
            shared[:size] = joined[:size]
        for q in range(width):
            rows[used + q] = j + q
        rows[used + width : used + width + size] = shared[:size]
        used, j, runs = used + width + size, j + width, runs + 1
    first[runs], begin[runs] = n, used
    return first[: runs + 1].copy(), begin[: runs + 1].copy(), rows[:used].copy()


@verb
def _union(a, b, without, joined):
    """Write the sorted union of two sorted lists, less one number, to `joined`; returns its length."""
    i = k = count = 0
    while i < len(a) or k < len(b):
        if k == len(b) or (i < len(a) and a[i] <= b[k]):
            value = a[i]
            k += k < len(b) and b[k] == value
            i += 1
        else:
            value = b[k]
            k += 1
        if value != without:
            joined[count] = value
            count += 1
    return count


@jit
def _cut(first, begin):
    """Heads of the panels that runs of columns are cut into."""
    head = np.empty((first[-1], HEAD), np.int64)
    count = at = 0
    for run in range(len(first) - 1):
        j, end = first[run], begin[run + 1]
        rows = begin[run]
        while j < first[run + 1]:
            left, width = first[run + 1] - j, 8
            while width > left:
                width //= 2
            rows += width
            head[count] = np.array([j, width, rows, end, at])
            at += width * (width - 1) // 2 + width * (end - rows)
            j, count = j + width, count + 1
    return head[:count].copy()


@jit
def _filled(head, rows, start, row, value):
    """The numbers of all panels from those by columns."""
    last = head[-1]
    L = np.zeros(last[4] + last[1] * (last[1] - 1) // 2 + last[1] * (last[3] - last[2]))
    place = np.empty(len(start), np.int64)
    for j, width, begin, end, at in head:
        body = at + width * (width - 1) // 2
        for k in range(begin, end):
            place[rows[k]] = body + (k - begin) * width
        for q in range(1, width):
            place[j + q] = at + q * (q - 1) // 2
        for q in range(width):
            for k in range(start[j + q], start[j + q + 1]):
                L[place[row[k]] + q] = value[k]
    return L


@verb
def forward(p, x):
    """Solve L x = b in place."""
    for k in range(p.number):
        j, width, begin, end, at = _head(p, k)
        if width == 1:
            _one_down(p, x, j, begin, end, at)
        else:
            at = _triangle_down(p, x, j, width, at)
            if width == 2:
                _two_down(p, x, j, begin, end, at)
            elif width == 4:
                _four_down(p, x, j, begin, end, at)
            else:
                _eight_down(p, x, j, begin, end, at)


@verb
def backward(p, x):
    """Solve Lᵀ x = b in place."""
    for k in range(p.number - 1, -1, -1):
        j, width, begin, end, at = _head(p, k)
        if width == 1:
            _one_up(p, x, j, begin, end, at)
        else:
            at += width * (width - 1) // 2
            if width == 2:
                _two_up(p, x, j, begin, end, at)
            elif width == 4:
                _four_up(p, x, j, begin, end, at)
            else:
                _eight_up(p, x, j, begin, end, at)
            _triangle_up(p, x, j, width, at)


@verb
def _triangle_down(p, x, j, width, at):
    """Solve with the triangle of a panel; returns where its other rows begin."""
    for q in range(1, width):
        known = x[j + q]
        for s in range(q):
            known -= p.L[at + s] * x[j + s]
        x[j + q] = known
        at += q
    return at


@verb
def _triangle_up(p, x, j, width, at):
    for q in range(width - 1, 0, -1):
        known = x[j + q]
        at -= q
        for s in range(q):
            x[j + s] -= p.L[at + s] * known


@verb
def _head(p, k):
    at = HEAD * k
    return p.head[at], p.head[at + 1], p.head[at + 2], p.head[at + 3], p.head[at + 4]


# a row at a time, with what belongs to the columns in registers


@verb
def _one_down(p, x, j, begin, end, at):
    a = x[j]
    for k in range(begin, end):
        x[p.row[k]] -= p.L[at] * a
        at += 1


@verb
def _two_down(p, x, j, begin, end, at):
    a, b = x[j], x[j + 1]
    for k in range(begin, end):
        x[p.row[k]] -= p.L[at] * a + p.L[at + 1] * b
        at += 2


@verb
def _four_down(p, x, j, begin, end, at):
    a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
    for k in range(begin, end):
        x[p.row[k]] -= (p.L[at] * a + p.L[at + 1] * b) + (p.L[at + 2] * c + p.L[at + 3] * d)
        at += 4


@verb
def _eight_down(p, x, j, begin, end, at):
    a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
    e, f, g, h = x[j + 4], x[j + 5], x[j + 6], x[j + 7]
    for k in range(begin, end):
        one = (p.L[at] * a + p.L[at + 1] * b) + (p.L[at + 2] * c + p.L[at + 3] * d)
        other = (p.L[at + 4] * e + p.L[at + 5] * f) + (p.L[at + 6] * g + p.L[at + 7] * h)
        x[p.row[k]] -= one + other
        at += 8


@verb
def _one_up(p, x, j, begin, end, at):
    a = x[j]
    for k in range(begin, end):
        a -= p.L[at] * x[p.row[k]]
        at += 1
    x[j] = a


@verb
def _two_up(p, x, j, begin, end, at):
    a, b = x[j], x[j + 1]
    for k in range(begin, end):
        known = x[p.row[k]]
        a -= p.L[at] * known
        b -= p.L[at + 1] * known
        at += 2
    x[j], x[j + 1] = a, b


@verb
def _four_up(p, x, j, begin, end, at):
    a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
    for k in range(begin, end):
        known = x[p.row[k]]
        a -= p.L[at] * known
        b -= p.L[at + 1] * known
        c -= p.L[at + 2] * known
        d -= p.L[at + 3] * known
        at += 4
    x[j], x[j + 1], x[j + 2], x[j + 3] = a, b, c, d


@verb
def _eight_up(p, x, j, begin, end, at):
    a, b, c, d = x[j], x[j + 1], x[j + 2], x[j + 3]
    e, f, g, h = x[j + 4], x[j + 5], x[j + 6], x[j + 7]
    for k in range(begin, end):
        known = x[p.row[k]]
        a -= p.L[at] * known
        b -= p.L[at + 1] * known
        c -= p.L[at + 2] * known
        d -= p.L[at + 3] * known
        e -= p.L[at + 4] * known
        f -= p.L[at + 5] * known
        g -= p.L[at + 6] * known
        h -= p.L[at + 7] * known
        at += 8
    x[j], x[j + 1], x[j + 2], x[j + 3] = a, b, c, d
    x[j + 4], x[j + 5], x[j + 6], x[j + 7] = e, f, g, h
