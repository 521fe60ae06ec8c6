"""Names for places in flat memory: what compiled code reads and writes by name is what lies there."""

from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from hyloop.core.jit import pointer
from hyloop.core.memory import laid_out, place, read, views


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


@numba.njit
def _settings(p, at):
    here, there = read(Window, p, at), read(Window, pointer(p), at + 1)
    return here.b, there.c


def test_records_of_floats_too():
    assert _settings(np.array([0.5, 1.5, 2.5, 3.5, 4.5]), 1) == (2.5, 4.5)


@numba.njit
def _matrix(x, at):
    A, B = numba.carray(place(x, at), (2, 2)), numba.carray(place(pointer(x), at), (2, 2))
    A[1, 0] = B[0, 1]


def test_a_matrix_at_a_place_is_a_view_of_it():
    x = np.arange(6.0)
    _matrix(x, 1)
    assert np.array_equal(x, [0.0, 1.0, 2.0, 2.0, 4.0, 5.0])
