"""Linear plants: zeros and poles, coefficients or matrices, all as one state space that is proper and stable."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import block_diag, matrix_balance

from hyloop.errors import BadInput, BadShape

__all__ = ["Plant"]

_PAIRED = 1e-9  # relative: a conjugate typed with fewer digits is still one


@dataclass(frozen=True, eq=False)
class Plant:
    r"""A linear plant :math:`\dot x = A x + B u,\; y = C x + D u`, with commands u and motions y in m, time in s.

    `from_coefficients`, `from_zeros` and `matrix` make one of transfer functions in s (rad/s).
    """

    A: Any
    B: Any
    C: Any
    D: Any

    def __post_init__(self) -> None:
        A, B, C, D = (_matrix(name, getattr(self, name)) for name in "ABCD")
        n, m, q = len(A), B.shape[1] if len(A) else D.shape[1], len(C) if len(A) else len(D)
        wanted = {"A": (n, n), "B": (n, m), "C": (q, n), "D": (q, m)}
        for name, matrix in zip("ABCD", (A, B, C, D), strict=True):
            if n and matrix.shape != wanted[name]:
                raise BadShape(
                    f"{name} is {matrix.shape[0]} x {matrix.shape[1]}, wanted {wanted[name][0]} x {wanted[name][1]}: A "
                    "is n x n for n states, B n x inputs, C outputs x n, D outputs x inputs."
                )
        B, C = (B, C) if n else (np.zeros((0, m)), np.zeros((q, 0)))
        if n:
            _check_stable(np.linalg.eigvals(A))
            # states of one size, so that the exponential of A loses no digits
            _, (scale, _) = matrix_balance(A, permute=False, separate=True)
            A, B, C = A * scale[None, :] / scale[:, None], B / scale[:, None], C * scale[None, :]
        for name, matrix in zip("ABCD", (A, B, C, D), strict=True):
            object.__setattr__(self, name, matrix)

    @classmethod
    def from_coefficients(cls, numerator: Any, denominator: Any) -> Self:
        """From polynomials in s, highest power first."""
        above, below = (
            np.trim_zeros(_vector(name, v), "f") for name, v in (("numerator", numerator), ("denominator", denominator))
        )
        if not len(below):
            raise BadInput("denominator is zero; give its coefficients, highest power of s first.")
        if not len(above):
            raise BadInput("numerator is zero, so that nothing would ever move; give its coefficients.")
        if len(above) > len(below):
            raise BadInput(
                f"the plant is not proper: a numerator of degree {len(above) - 1} over a denominator of degree "
                f"{len(below) - 1} would need derivatives of the command. Add poles, or take zeros away."
            )
        n = len(below) - 1
        if n == 0:
            return cls(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[above[-1] / below[-1]]])
        _check_stable(np.roots(below))
        # time in units of the mean pole makes all coefficients of one size
        unit = abs(below[-1] / below[0]) ** (1.0 / n)
        powers = unit ** np.arange(n, -1.0, -1.0)
        top = np.concatenate([np.zeros(n + 1 - len(above)), above]) * powers / (below[0] * powers[0])
        bottom = below * powers / (below[0] * powers[0])
        A, B = np.eye(n, k=-1), np.eye(n, 1)  # controller form
        A[0] = -bottom[1:]
        return cls(unit * A, unit * B, [top[1:] - top[0] * bottom[1:]], [[top[0]]])

    @classmethod
    def from_zeros(cls, zeros: Any, poles: Any, gain: float) -> Self:
        """From zeros and poles in rad/s and the gain in front of them: k Π(s - z)/Π(s - p)."""
        z, p = _roots("zeros", zeros), _roots("poles", poles)
        if not np.isfinite(gain) or gain == 0.0:
            raise BadInput(f"gain = {gain!r} must be a finite number that is not zero.")
        if len(z) > len(p):
            raise BadInput(
                f"the plant is not proper: {len(z)} zeros and {len(p)} poles. Add poles, or take zeros away."
            )
        _check_stable(p)
        return cls.from_coefficients(float(gain) * np.real(np.poly(z)), np.real(np.poly(p)))

    @classmethod
    def matrix(cls, entries: Sequence[Sequence["Plant"]]) -> Self:
        """From plants of one input and one output: entry [i][j] is the motion of axis i for the command of axis j."""
        rows, columns = len(entries), len(entries[0]) if len(entries) else 0
        if not columns or any(len(row) != columns for row in entries):
            raise BadShape("a matrix of plants needs rows of equal length.")
        flat = [(i, j, plant) for i, row in enumerate(entries) for j, plant in enumerate(row)]
        if any(plant.D.shape != (1, 1) for _, _, plant in flat):
            raise BadShape("each entry of a matrix of plants must have one input and one output.")
        A = np.asarray(block_diag(*(p.A for *_, p in flat))) if any(len(p.A) for *_, p in flat) else np.zeros((0, 0))
        B, C, D = np.zeros((len(A), columns)), np.zeros((rows, len(A))), np.zeros((rows, columns))
        first = 0
        for i, j, plant in flat:
            last = first + len(plant.A)
            B[first:last, j], C[i, first:last], D[i, j] = plant.B[:, 0], plant.C[0], plant.D[0, 0]
            first = last
        return cls(A, B, C, D)

    def response(self, frequency: Any) -> np.ndarray:
        """Frequency response, (outputs, inputs) for each frequency in Hz."""
        s = 2j * np.pi * np.atleast_1d(np.asarray(frequency, dtype=float))
        eye = np.eye(len(self.A))
        return np.array([self.C @ np.linalg.solve(one * eye - self.A, self.B) + self.D for one in s])


def _check_stable(poles: np.ndarray) -> None:
    worst = max(poles, key=lambda pole: pole.real)
    if not worst.real < 0.0:
        raise BadInput(
            f"the plant is unstable: a pole lies at {worst:.4g} rad/s, with a real part that is not negative. A plant "
            "with its inner loop closed has poles with negative real parts only; check signs and units (rad/s)."
        )


def _roots(name: str, given: Any) -> np.ndarray:
    """Complex numbers in conjugate pairs."""
    try:
        roots = np.atleast_1d(np.asarray(given, dtype=complex))
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name} must be complex numbers in rad/s, got {given!r}.") from error
    if roots.ndim != 1 or not np.isfinite(roots).all():
        raise BadShape(f"{name} must be a list of finite numbers, got {given!r}.")
    rest = [root for root in roots if root.imag != 0.0]
    while rest:
        root = rest.pop()
        partner = next((o for o in rest if abs(o - root.conjugate()) <= _PAIRED * abs(root)), None)
        if partner is None:
            raise BadInput(
                f"{name}: {root:.6g} has no conjugate; complex ones come in pairs, as in -50+63j and -50-63j."
            )
        rest.remove(partner)
    return roots


def _vector(name: str, given: Any) -> np.ndarray:
    try:
        vector = np.atleast_1d(np.asarray(given, dtype=float))
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name} must be numbers, highest power of s first, got {given!r}.") from error
    if vector.ndim != 1 or not np.isfinite(vector).all():
        raise BadShape(f"{name} must be a list of finite numbers, highest power of s first, got {given!r}.")
    return vector


def _matrix(name: str, given: Any) -> np.ndarray:
    try:
        matrix = np.array(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{name} must be a matrix of numbers, got {given!r}.") from error
    matrix = matrix.reshape(1, 1) if matrix.ndim == 0 else matrix
    if matrix.ndim != 2 or not np.isfinite(matrix).all():
        raise BadShape(f"{name} must be a matrix of finite numbers, given by rows, got {given!r}.")
    return matrix
