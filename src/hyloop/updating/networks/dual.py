"""Few equations in many unknowns: long scalar products, and the small symmetric system of their dual form."""

import math

from numba import carray

from hyloop.core.jit import verb

__all__ = ["dot", "solve"]


@verb
def dot(a, b, n):
    """Scalar product with eight sums, which the processor adds side by side."""
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = n - n % 8
    for k in range(0, whole, 8):
        s0 += a[k] * b[k]
        s1 += a[k + 1] * b[k + 1]
        s2 += a[k + 2] * b[k + 2]
        s3 += a[k + 3] * b[k + 3]
        s4 += a[k + 4] * b[k + 4]
        s5 += a[k + 5] * b[k + 5]
        s6 += a[k + 6] * b[k + 6]
        s7 += a[k + 7] * b[k + 7]
    for k in range(whole, n):
        s0 += a[k] * b[k]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@verb
def solve(rows, dual, t, L, right, first):
    """Overwrite `right` by the solution of (dual + t I) y = right, from row `first` on; False where Cholesky fails."""
    dual, L, right = carray(dual, (rows, rows)), carray(L, (rows, rows)), carray(right, (rows,))
    for i in range(first, rows):
        for j in range(first, i + 1):
            s = dual[i, j] - dot(L[i, first:], L[j, first:], j - first)
            if i == j:
                s += t
                if not s > 0.0:
                    return False
                L[i, i] = math.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    for i in range(first, rows):
        right[i] = (right[i] - dot(L[i, first:], right[first:], i - first)) / L[i, i]
    for i in range(rows - 1, first - 1, -1):
        right[i] /= L[i, i]
        for k in range(first, i):
            right[k] -= L[i, k] * right[i]
    return True
