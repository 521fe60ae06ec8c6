"""Inherent damping matrices."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from hyloop.core.low_rank import LowRank
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.structure.structure import Structure

__all__ = ["caughey", "modal", "modal_and_stiffness", "rayleigh"]


def rayleigh(
    structure: Structure, ratio: float | Sequence[float], modes: tuple[int, int] = (1, 2), extra: Any = 0.0
) -> Any:
    r"""Rayleigh damping :math:`C = a_0 M + a_1 K` with given ratios in two modes.

    Parameters
    ----------
    ratio : float or two floats
        Damping ratio in both modes, or one for each.
    modes : (int, int)
        The two modes, counted from 1.
    extra : array_like, optional
        Stiffness added to the initial stiffness, in the modes and in C (for instance that of the devices).

    Returns
    -------
    ndarray or sparse array
        As the matrices of the structure are.
    """
    return caughey(structure, np.broadcast_to(np.asarray(ratio, dtype=float), 2), modes, extra)


def caughey(structure: Structure, ratios: Sequence[float] | np.ndarray, modes: Sequence[int], extra: Any = 0.0) -> Any:
    r"""Caughey damping :math:`C = M \sum_{b} a_b (M^{-1} K)^b`, b = 0, 1, ... : given ratios in as many modes.

    With two modes it is Rayleigh damping. Ratios of modes in between may be far off, even negative, for more than
    about four modes: look at them, or use `modal`. Sparse matrices stay sparse with two modes only; more are refused.

    References
    ----------
    Caughey and O'Kelly (1965), doi:10.1115/1.3627262; Chopra, Dynamics of Structures, section 11.4.
    """
    ratios, chosen = np.asarray(ratios, dtype=float), _chosen(structure, modes)
    if len(ratios) != len(chosen):
        raise BadShape(f"damping: {len(ratios)} ratios for {len(chosen)} modes.")
    _ratios(ratios)
    massless = not structure.M.diagonal().all()
    if (structure.is_sparse or massless) and len(chosen) > 2:
        why = "fill a sparse matrix" if structure.is_sparse else "need a mass at every degree of freedom"
        raise BadInput(f"damping: {len(chosen)} modes {why}. Choose two modes, or modal_and_stiffness.")
    K = _stiffness(structure, extra)
    omega = _omega(structure, extra, chosen)
    if np.min(omega) <= 0.0:
        raise OutOfBounds("damping: a chosen mode has zero frequency; choose modes that vibrate.")
    # 2 ζ_n ω_n = Σ a_b ω_n^(2b), solved in units of the highest chosen frequency to keep the system well conditioned
    scale = omega.max()
    powers = np.arange(len(chosen))
    a = np.linalg.solve((omega[:, None] / scale) ** (2 * powers), 2 * ratios * omega)
    if structure.is_sparse or massless:
        return sum((b * term for b, term in zip(a, (structure.M, K / scale**2), strict=False)), 0.0 * K)
    scaled = np.linalg.solve(structure.M, K) / scale**2
    C, term = np.zeros_like(K), np.eye(structure.n)
    for coefficient in a:
        C += coefficient * structure.M @ term
        term = term @ scaled
    return (C + C.T) / 2


def modal(structure: Structure, ratios: float | Sequence[float], extra: Any = 0.0) -> Any:
    r"""Modal damping :math:`C = M \Phi\, \mathrm{diag}(2 \zeta_n \omega_n)\, \Phi^T M`: each mode its own ratio.

    Modes beyond the ratios given (one number: all modes) are left undamped. For a sparse structure it is a `LowRank`
    matrix, and a ratio must be given for each damped mode.
    """
    given = np.asarray(ratios, dtype=float)
    if structure.is_sparse and given.ndim == 0:
        raise BadInput(
            "damping: all modes of a sparse structure are too many; give a list with a ratio for each "
            "damped mode, or use modal_and_stiffness."
        )
    given = np.broadcast_to(given, structure.n) if given.ndim == 0 else given
    if len(given) > structure.n:
        raise BadShape(f"damping: {len(given)} ratios for {structure.n} modes.")
    _ratios(given)
    if structure.is_sparse:
        omega, MPhi = _shapes(structure, extra, len(given))
        return LowRank(sparse.csr_array(structure.M.shape), MPhi, 2 * given * omega)
    modes = structure.modes(extra)
    count = len(modes.omega)  # fewer than degrees of freedom where some have no mass
    if np.ndim(ratios) > 0 and len(given) > count:
        raise BadShape(f"damping: {len(given)} ratios for {count} modes.")
    given = given[:count]
    MPhi = structure.M @ modes.shapes[:, : len(given)]
    return MPhi * (2 * given * modes.omega[: len(given)]) @ MPhi.T


def modal_and_stiffness(structure: Structure, ratio: float, modes: int = 30, extra: Any = 0.0) -> Any:
    r"""One ratio in the lowest modes and stiffness-proportional damping, through the last of them, above.

    .. math:: C = a_1 K + M \Phi\, \mathrm{diag}(2 \zeta \omega_n - a_1 \omega_n^2)\, \Phi^T M, \qquad
              a_1 = 2 \zeta / \omega_{last}

    Higher modes have the ratio :math:`\zeta\, \omega / \omega_{last}`. The modal part damps as it does whatever
    the stiffness becomes, unlike a mass-proportional one with rigid-body motion.

    Parameters
    ----------
    ratio : float
        Damping ratio of the lowest modes.
    modes : int
        Number of them.
    extra : array_like, optional
        Stiffness added to the initial stiffness, in the modes and in C (for instance that of the devices).

    Returns
    -------
    LowRank or ndarray
        Sparse plus low rank for a sparse structure, so that nothing is filled.
    """
    _ratios(np.array([ratio]))
    omega, MPhi = _shapes(structure, extra, modes)
    a1 = 2 * ratio / omega[-1]
    K, weights = _stiffness(structure, extra), (2 * ratio * omega - a1 * omega**2)[:-1]  # the last one vanishes
    if structure.is_sparse:
        return LowRank(a1 * K, MPhi[:, :-1], weights)
    return a1 * K + MPhi[:, :-1] * weights @ MPhi[:, :-1].T


def _stiffness(structure: Structure, extra: Any) -> Any:
    K = structure.initial_stiffness
    if structure.is_sparse:
        return K + sparse.csr_array(extra) if sparse.issparse(extra) or np.ndim(extra) == 2 else K
    return K + extra


def _omega(structure: Structure, extra: Any, chosen: np.ndarray) -> np.ndarray:
    """Frequencies of chosen modes; those of a sparse structure are sought only as far as needed."""
    omega = structure.modes(extra, int(chosen.max()) + 1 if structure.is_sparse else None).omega
    if chosen.max() >= len(omega):
        raise OutOfBounds(f"damping: mode {chosen.max() + 1} does not exist; the structure has {len(omega)} modes.")
    return omega[chosen]


def _shapes(structure: Structure, extra: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Frequencies of the lowest modes, and M Φ."""
    if not 1 <= count <= structure.n:
        raise OutOfBounds(f"damping: {count!r} modes; the number must lie in 1 to {structure.n}.")
    modes = structure.modes(extra, count)
    if len(modes.omega) < count:
        raise OutOfBounds(f"damping: {count} modes asked for; the structure has {len(modes.omega)}. Take fewer.")
    return modes.omega, structure.M @ modes.shapes


def _chosen(structure: Structure, modes: Sequence[int]) -> np.ndarray:
    chosen = np.asarray(modes) - 1
    if chosen.min() < 0 or chosen.max() >= structure.n or len(set(chosen)) != len(chosen):
        raise OutOfBounds(f"damping: modes {list(modes)} must be different and lie in 1 to {structure.n}.")
    return chosen


def _ratios(ratios: np.ndarray) -> None:
    if not np.all((ratios >= 0.0) & (ratios < 1.0)):
        raise OutOfBounds(f"damping: ratios {ratios.tolist()} must lie in [0, 1), such as 0.05 for 5 %.")
