"""Products of small matrices by rows in float32, in tiles of four rows by 48 columns, or four or five by sixteen.

A tile is kept in registers while the sum runs, and every load of either factor serves the whole tile. Twelve sums are
under way at once in a wide tile, enough to hide how long one takes, and 48 is the width of the layers that are trained
most. Any number of rows from twelve on splits into fours and fives; what does not split goes row by row.
"""

from hyloop.core.jit import verb
from hyloop.neural.lanes import broadcast, load, multiply_add, store

__all__ = ["add_product", "add_transposed_product"]


@verb
def add_product(a, pa, rows, inner, b, c, pc, n):
    """C += A B for A (rows, inner) at a[pa], B (inner, n) at b[0] and C (rows, n) at c[pc]; n is a multiple of 16."""
    _tiles(a, pa, inner, 1, rows, inner, b, 0, c, pc, n)


@verb
def add_transposed_product(a, pa, rows, inner, b, pb, c, n):
    """C += A' B for A (inner, rows) at a[pa], B (inner, n) at b[pb] and C (rows, n) at c[0]; n is a multiple of 16."""
    _tiles(a, pa, 1, rows, rows, inner, b, pb, c, 0, n)


@verb
def _tiles(a, pa, down, along, rows, inner, b, pb, c, pc, n):
    """C += A B where one row further in A is `down` numbers away and one column further `along` numbers."""
    r = 0
    while r < rows:
        left = rows - r
        if left % 4 != 0 and left % 5 == 0:
            for j in range(0, n, 16):
                _five(a, pa + r * down, down, along, inner, b, pb + j, c, pc + r * n + j, n)
            r += 5
        elif left >= 4:
            narrow = n % 48
            for j in range(0, narrow, 16):
                _four(a, pa + r * down, down, along, inner, b, pb + j, c, pc + r * n + j, n)
            for j in range(narrow, n, 48):
                _four_by_three(a, pa + r * down, down, along, inner, b, pb + j, c, pc + r * n + j, n)
            r += 4
        else:
            for j in range(0, n, 16):
                _one(a, pa + r * down, along, inner, b, pb + j, c, pc + r * n + j, n)
            r += 1


@verb
def _five(a, k, down, along, inner, b, w, c, q, n):
    s0, s1, s2 = load(c, q), load(c, q + n), load(c, q + 2 * n)
    s3, s4 = load(c, q + 3 * n), load(c, q + 4 * n)
    for _ in range(inner):
        v = load(b, w)
        s0 = multiply_add(broadcast(a, k), v, s0)
        s1 = multiply_add(broadcast(a, k + down), v, s1)
        s2 = multiply_add(broadcast(a, k + 2 * down), v, s2)
        s3 = multiply_add(broadcast(a, k + 3 * down), v, s3)
        s4 = multiply_add(broadcast(a, k + 4 * down), v, s4)
        w += n
        k += along
    store(c, q, s0)
    store(c, q + n, s1)
    store(c, q + 2 * n, s2)
    store(c, q + 3 * n, s3)
    store(c, q + 4 * n, s4)


@verb
def _four_by_three(a, k, down, along, inner, b, w, c, q, n):
    s0, s1, s2, s3 = load(c, q), load(c, q + n), load(c, q + 2 * n), load(c, q + 3 * n)
    t0, t1, t2, t3 = load(c, q + 16), load(c, q + n + 16), load(c, q + 2 * n + 16), load(c, q + 3 * n + 16)
    u0, u1, u2, u3 = load(c, q + 32), load(c, q + n + 32), load(c, q + 2 * n + 32), load(c, q + 3 * n + 32)
    for _ in range(inner):
        v0, v1, v2 = load(b, w), load(b, w + 16), load(b, w + 32)
        a0 = broadcast(a, k)
        s0 = multiply_add(a0, v0, s0)
        t0 = multiply_add(a0, v1, t0)
        u0 = multiply_add(a0, v2, u0)
        a0 = broadcast(a, k + down)
        s1 = multiply_add(a0, v0, s1)
        t1 = multiply_add(a0, v1, t1)
        u1 = multiply_add(a0, v2, u1)
        a0 = broadcast(a, k + 2 * down)
        s2 = multiply_add(a0, v0, s2)
        t2 = multiply_add(a0, v1, t2)
        u2 = multiply_add(a0, v2, u2)
        a0 = broadcast(a, k + 3 * down)
        s3 = multiply_add(a0, v0, s3)
        t3 = multiply_add(a0, v1, t3)
        u3 = multiply_add(a0, v2, u3)
        w += n
        k += along
    store(c, q, s0)
    store(c, q + n, s1)
    store(c, q + 2 * n, s2)
    store(c, q + 3 * n, s3)
    store(c, q + 16, t0)
    store(c, q + n + 16, t1)
    store(c, q + 2 * n + 16, t2)
    store(c, q + 3 * n + 16, t3)
    store(c, q + 32, u0)
    store(c, q + n + 32, u1)
    store(c, q + 2 * n + 32, u2)
    store(c, q + 3 * n + 32, u3)


@verb
def _four(a, k, down, along, inner, b, w, c, q, n):
    s0, s1, s2, s3 = load(c, q), load(c, q + n), load(c, q + 2 * n), load(c, q + 3 * n)
    for _ in range(inner):
        v = load(b, w)
        s0 = multiply_add(broadcast(a, k), v, s0)
        s1 = multiply_add(broadcast(a, k + down), v, s1)
        s2 = multiply_add(broadcast(a, k + 2 * down), v, s2)
        s3 = multiply_add(broadcast(a, k + 3 * down), v, s3)
        w += n
        k += along
    store(c, q, s0)
    store(c, q + n, s1)
    store(c, q + 2 * n, s2)
    store(c, q + 3 * n, s3)


@verb
def _one(a, k, along, inner, b, w, c, q, n):
    s = load(c, q)
    for _ in range(inner):
        s = multiply_add(broadcast(a, k), load(b, w), s)
        w += n
        k += along
    store(c, q, s)
