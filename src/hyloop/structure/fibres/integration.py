"""Where along a force-based beam-column its sections are watched, and with which weight."""

from typing import NamedTuple

import numpy as np

from hyloop.errors import OutOfBounds

__all__ = ["Rule", "gauss_lobatto", "hinge_radau"]


class Rule(NamedTuple):
    """Integration points along a member: distances from end i and weights, both in m; the weights sum to the length."""

    x: np.ndarray
    weight: np.ndarray


def hinge_radau(length: float, lp_i: float, lp_j: float) -> Rule:
    r"""Plastic-hinge integration by the modified two-point Gauss-Radau rule of Scott and Fenves.

    Six points: the end and :math:`8 l_p/3` with weights :math:`l_p` and :math:`3 l_p` for the hinge at either side, and
    the two Gauss points of the part between :math:`4 l_{pi}` and :math:`L - 4 l_{pj}`. It is exact for a linear elastic
    member, and plastic curvature stays in the end section over the length :math:`l_p`.

    References
    ----------
    Scott and Fenves (2006), doi:10.1061/(ASCE)0733-9445(2006)132:2(244).
    """
    _length("hinge_radau", length)
    if not (lp_i > 0.0 and lp_j > 0.0 and 4.0 * (lp_i + lp_j) <= length * (1.0 + 1e-12)):
        raise OutOfBounds(
            f"hinge_radau: hinge lengths {lp_i:g} and {lp_j:g} m must be positive and together at most a "
            f"quarter of the member's {length:g} m."
        )
    middle = length - 4.0 * (lp_i + lp_j)
    centre, half = 4.0 * lp_i + middle / 2.0, middle / (2.0 * np.sqrt(3.0))
    x = [0.0, 8.0 * lp_i / 3.0, centre - half, centre + half, length - 8.0 * lp_j / 3.0, length]
    return Rule(np.array(x), np.array([lp_i, 3.0 * lp_i, middle / 2.0, middle / 2.0, 3.0 * lp_j, lp_j]))


def gauss_lobatto(length: float, points: int = 5) -> Rule:
    """Gauss-Lobatto points, both ends among them: exact for polynomials of degree 2 points - 3."""
    _length("gauss_lobatto", length)
    if not 2 <= points <= 20:
        raise OutOfBounds(f"gauss_lobatto: {points} points; choose 2 to 20.")
    # the inner points are the extrema of the Legendre polynomial P of degree n - 1; weights 2/(n (n-1) P²)
    legendre = np.polynomial.legendre.Legendre.basis(points - 1)
    inner = np.sort(legendre.deriv().roots().real) if points > 2 else np.zeros(0)
    s = np.concatenate([[-1.0], inner, [1.0]])
    weight = 2.0 / (points * (points - 1) * legendre(s) ** 2)
    return Rule(length * (1.0 + s) / 2.0, length * weight / 2.0)


def _length(where: str, length: float) -> None:
    if not 0.0 < length < np.inf:
        raise OutOfBounds(f"{where}: length = {length:g} m must be positive and finite.")
