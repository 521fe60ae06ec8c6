"""A specimen with several axes that is linear."""

from dataclasses import replace
from typing import Any

import numpy as np

from hyloop.core.block import Instance, inplace_block
from hyloop.errors import BadInput, BadShape

__all__ = ["linear_specimen"]


def advance(x, u, dt, p, y):
    r"""A linear specimen with several axes.

    .. math:: f = K d + C \dot d + M \ddot d
    """
    n = len(y)
    for i in range(n):
        total = 0.0
        for j in range(n):
            for k in range(3):
                total += x[(k * n + i) * n + j] * u[3 * j + k]
        y[i] = total


def linear_specimen(K: Any, C: Any = None, M: Any = None) -> Instance:
    """A specimen that resists with f = K d + C v + M a at several axes; it goes into a `hyloop.loop.Coupled`.

    Parameters
    ----------
    K, C, M : array_like, (n, n)
        Stiffness in N/m, damping in N s/m and mass in kg of n axes, symmetric; those not given are zero. The motion
        comes from the actuators, which give v and a of what they really do.
    """
    shape = np.shape(K)
    matrices = [np.zeros(shape) if matrix is None else np.array(matrix, dtype=float) for matrix in (K, C, M)]
    for name, matrix in zip("KCM", matrices, strict=True):
        if matrix.ndim != 2 or len(set(matrix.shape)) != 1 or matrix.shape != shape or not np.isfinite(matrix).all():
            raise BadShape(f"linear_specimen: {name} must be a finite square matrix like K, by rows, got {matrix!r}.")
        if not np.allclose(matrix, matrix.T):
            raise BadInput(f"linear_specimen: {name} is not symmetric; a passive specimen has symmetric matrices.")
    axes = range(1, shape[0] + 1)
    law = inplace_block(
        inputs={f"{key}{i}": unit for i in axes for key, unit in (("d", "m"), ("v", "m/s"), ("a", "m/s2"))},
        outputs={f"f{i}": "N" for i in axes},
        params={},
        memory=3 * shape[0] ** 2,
        reference="Hooke's and Newton's laws.",
    )(advance)
    return replace(law, name="linear_specimen")(memory=np.concatenate([matrix.ravel() for matrix in matrices]))
