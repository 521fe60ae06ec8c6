"""Products with full matrices, stored by columns."""

from hyloop.core.jit import verb

__all__ = ["add_product", "subtract_product"]


@verb
def add_product(n, columns, x, y):
    """y += A x with A stored by columns: vectorises without reordering any sum."""
    for j in range(n):
        for i in range(n):
            y[i] += columns[j * n + i] * x[j]


@verb
def subtract_product(n, columns, x, y):
    """y -= A x with A stored by columns."""
    for j in range(n):
        for i in range(n):
            y[i] -= columns[j * n + i] * x[j]
