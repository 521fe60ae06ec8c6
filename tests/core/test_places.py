"""Names for places in flat memory: what compiled code reads and writes by name is what lies there."""

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from hyloop.core.jit import pointer
from hyloop.core.memory import Growing, columns, entry, laid_out, read, tail, views


class Window(NamedTuple):
    a: Any
    b: Any
    c: Any


class Member(NamedTuple):
    first: int
    last: int


WINDOW, SIZE = laid_out(Window, {"a": 2, "c": 3, "b": 1}, first=4)


def test_parts_lie_one_after_another():
    assert Window(4, 9, 6) == WINDOW and SIZE == 10


@numba.njit
def _exchange(x, bare):
    m = views(pointer(x), WINDOW) if bare else views(x, WINDOW)
    m.b[0] = m.a[1] + m.c[2]
    m.a[0] = -m.a[0]


@pytest.mark.parametrize("bare", [False, True])
def test_views_write_through(bare):
    x = np.arange(12.0)
    _exchange(x, bare)
    wanted = np.arange(12.0)
    wanted[9], wanted[4] = 5.0 + 8.0, -4.0
    assert np.array_equal(x, wanted)


@numba.njit
def _members(i, at):
    here, there = read(Member, i, at), read(Member, pointer(i), at + 2)
    return here.last - here.first, there.first


def test_records_are_read_where_they_stand():
    assert _members(np.array([9, 9, 3, 7, 40, 50]), 2) == (4, 40)


def test_a_part_nobody_knows_is_refused():
    with pytest.raises(TypeError, match="d"):
        laid_out(Window, {"a": 1, "b": 1, "c": 1, "d": 1})


class Scale(NamedTuple):
    centre: float
    factor: float


@numba.njit
def _scaled(x, at, u):
    a, b = read(Scale, x, at), read(Scale, pointer(x), at + 2)
    return (u - a.centre) * a.factor, (u - b.centre) * b.factor


def test_a_record_of_floats_is_read_as_floats():
    assert _scaled(np.array([9.0, 1.5, 2.0, 0.5, 4.0]), 1, 3.0) == (3.0, 10.0)


@numba.njit
def _entries(i, first, k):
    a, b = entry(Member, i, first, k), entry(Member, pointer(i), first, k + 1)
    return a.first, a.last, b.first


def test_tables_are_read_by_number():
    assert _entries(np.array([9, 3, 7, 40, 50, 60, 70]), 1, 1) == (40, 50, 60)


def test_python_reads_what_compiled_code_reads():
    i = np.array([9, 3, 7, 40, 50, 60, 70])
    assert read(Member, i, 1) == Member(3, 7) and entry(Member, i, 1, 1) == Member(40, 50)


def test_what_is_written_from_a_record_is_read_as_one():
    i = Growing(np.int64)
    nothing, header, table, last = i.add([]), i.add(Member(1, 2)), i.add([Member(3, 4), Member(5, 6)]), i.add([7])
    assert (nothing, header, table, last) == (0, 0, 2, 6)
    assert i.vector().tolist() == [1, 2, 3, 4, 5, 6, 7] and i.vector().dtype == np.int64
    assert entry(Member, i.vector(), table, 1) == Member(5, 6) and _entries(i.vector(), header, 1)[:2] == (3, 4)


@numba.njit
def _columns(x, n):
    w, v = columns(Window, x, n), columns(Window, pointer(x), n)
    for k in range(n):
        w.c[k] = v.a[k] + 10.0 * v.b[k]


def test_columns_of_one_length():
    x = np.arange(7.0)
    _columns(x, 2)
    assert np.array_equal(x, [0.0, 1.0, 2.0, 3.0, 20.0, 31.0, 6.0])


@numba.njit
def _tails(x, at):
    rest = tail(x, at)
    further = tail(rest, 2)
    further[0] = rest[1]


def test_the_memory_from_a_place_on():
    x = np.arange(5.0)
    _tails(x, 1)
    assert np.array_equal(x, [0.0, 1.0, 2.0, 2.0, 4.0])
