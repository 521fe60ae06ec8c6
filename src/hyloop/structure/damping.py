"""Inherent damping matrices."""

from collections.abc import Sequence

import numpy as np

from hyloop.errors import BadShape, OutOfBounds
from hyloop.structure.structure import Structure

__all__ = ["caughey", "modal", "rayleigh"]


def rayleigh(structure: Structure, ratio: float | Sequence[float], modes: tuple[int, int] = (1, 2),
             extra: np.ndarray | float = 0.0) -> np.ndarray:  # fmt: skip
    r"""Rayleigh damping :math:`C = a_0 M + a_1 K` with given ratios in two modes.

    Parameters
    ----------
    ratio : float or two floats
        Damping ratio in both modes, or one for each.
    modes : (int, int)
        The two modes, counted from 1.
    extra : array_like, optional
        Stiffness added to the initial stiffness, in the modes and in C (for instance that of the devices).
    """
    return caughey(structure, np.broadcast_to(np.asarray(ratio, dtype=float), 2), modes, extra)


def caughey(structure: Structure, ratios: Sequence[float] | np.ndarray, modes: Sequence[int],
            extra: np.ndarray | float = 0.0) -> np.ndarray:  # fmt: skip
    r"""Caughey damping :math:`C = M \sum_{b} a_b (M^{-1} K)^b`, b = 0, 1, ... : given ratios in as many modes.

    With two modes it is Rayleigh damping. Ratios of modes in between may be far off, even negative, for more than
    about four modes: look at them, or use `modal`.

    References
    ----------
    Caughey and O'Kelly (1965), doi:10.1115/1.3627262; Chopra, Dynamics of Structures, section 11.4.
    """
    ratios, chosen = np.asarray(ratios, dtype=float), _chosen(structure, modes)
    if len(ratios) != len(chosen):
        raise BadShape(f"damping: {len(ratios)} ratios for {len(chosen)} modes.")
    _ratios(ratios)
    K = structure.initial_stiffness + extra
    omega = structure.modes(extra).omega[chosen]
    if np.min(omega) <= 0.0:
        raise OutOfBounds("damping: a chosen mode has zero frequency; choose modes that vibrate.")
    # 2 ζ_n ω_n = Σ a_b ω_n^(2b), solved in units of the highest chosen frequency to keep the system well conditioned
    scale = omega.max()
    powers = np.arange(len(chosen))
    a = np.linalg.solve((omega[:, None] / scale) ** (2 * powers), 2 * ratios * omega)
    scaled = np.linalg.solve(structure.M, K) / scale**2
    C, term = np.zeros_like(K), np.eye(structure.n)
    for coefficient in a:
        C += coefficient * structure.M @ term
        term = term @ scaled
    return (C + C.T) / 2


def modal(structure: Structure, ratios: float | Sequence[float], extra: np.ndarray | float = 0.0) -> np.ndarray:
    r"""Modal damping :math:`C = M \Phi\, \mathrm{diag}(2 \zeta_n \omega_n)\, \Phi^T M`: each mode its own ratio.

    Modes beyond the ratios given (one number: all modes) are left undamped.
    """
    modes = structure.modes(extra)
    given = np.asarray(ratios, dtype=float)
    given = np.broadcast_to(given, structure.n) if given.ndim == 0 else given
    if len(given) > structure.n:
        raise BadShape(f"damping: {len(given)} ratios for {structure.n} modes.")
    _ratios(given)
    MPhi = structure.M @ modes.shapes[:, : len(given)]
    return MPhi * (2 * given * modes.omega[: len(given)]) @ MPhi.T


def _chosen(structure: Structure, modes: Sequence[int]) -> np.ndarray:
    chosen = np.asarray(modes) - 1
    if chosen.min() < 0 or chosen.max() >= structure.n or len(set(chosen)) != len(chosen):
        raise OutOfBounds(f"damping: modes {list(modes)} must be different and lie in 1 to {structure.n}.")
    return chosen


def _ratios(ratios: np.ndarray) -> None:
    if not np.all((ratios >= 0.0) & (ratios < 1.0)):
        raise OutOfBounds(f"damping: ratios {ratios.tolist()} must lie in [0, 1), such as 0.05 for 5 %.")
