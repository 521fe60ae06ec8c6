"""What stops a run, beside the limits of its sites."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hyloop.core.factor import Factor
from hyloop.errors import OutOfBounds
from hyloop.structure import Structure

__all__ = ["UNBOUNDED", "Drift", "Limits", "impulses", "initial_impulse"]

MOVING = 0.1  # m/s, common speed of all masses whose energy counts as given: noise of devices is no fault
UNBOUNDED = 1e100  # in place of infinity, which times zero is not zero


@dataclass(frozen=True, eq=False)
class Drift:
    """A limited drift: |along · u| must not exceed `limit`, in m; `Structure.story` makes such vectors."""

    along: np.ndarray
    limit: float


@dataclass(frozen=True, eq=False)
class Limits:
    r"""Bounds that every run is held to, so that no response is returned that cannot be right.

    They catch a run that has diverged, not one that is merely strong. Infinity switches a bound off.

    Parameters
    ----------
    max_u : float
        Largest displacement in m (of a rotation: in rad). Default 10.
    max_energy : float
        Largest kinetic energy, in terms of the most that a passive structure can have (see below). Default 4, which is
        twice the velocity. Devices that drive a structure are not passive: switch it off for them.
    max_imbalance : float
        Largest strain by which fibre sections may be out of balance with their member after a step (channel
        ``imbalance``). Default 0.001, half the yield strain of steel; good runs stay below a thirtieth of it.
    drifts : mapping of name to Drift
        Story drifts, or any other relative displacements, with a limit each; none by default.
    wind_down : float
        How long the interlocks of a loop may take to bring their rigs to the safe state, in s. Default 10.

    Notes
    -----
    Structure and devices only store and dissipate, so the energy E changes by no more than the power of the excitation,
    and with the load :math:`-M \iota a_g` the inequality of Cauchy and Schwarz gives

    .. math::
        \dot E \le |a_g|\, |\iota^T M v| \le |a_g| \sqrt{\iota^T M \iota}\, \sqrt{2 E}, \qquad
        \sqrt{2 E(t)} \le \sqrt{2 E(0)} + \sqrt{\iota^T M \iota} \int_0^t |a_g|\, dt

    whatever the structure does. A load history F(t) enters in the same way, with :math:`\sqrt{F_0^T M^{-1} F_0}` for a
    unit of it. An unstable step and a collapse under P-Delta break this bound sooner or later.
    """

    max_u: float = 10.0
    max_energy: float = 4.0
    max_imbalance: float = 1e-3
    drifts: Mapping[str, Drift] = field(default_factory=dict)
    wind_down: float = 10.0

    def __post_init__(self) -> None:
        bounds = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "drifts"}
        bounds |= {f"drift '{name}'": drift.limit for name, drift in self.drifts.items()}
        for name, bound in bounds.items():
            if not bound > 0.0:
                raise OutOfBounds(f"limits: {name} = {bound!r} must be positive; inf switches it off.")
        if not self.wind_down < np.inf:
            raise OutOfBounds(
                "limits: wind_down = inf: a rig that does not settle would never be given up; give seconds."
            )


def impulses(structure: Structure) -> np.ndarray:
    """What a unit impulse of each excitation adds at most to the root of twice the energy: (FᵀM⁻¹F)^½.

    A load on a degree of freedom without mass has no such bound, and the kinetic energy is then not watched while it
    acts.
    """
    ground = np.sqrt(np.sum(structure.influence * (structure.M @ structure.influence), axis=0))
    return np.concatenate([ground, _of_loads(structure.M, structure.loads)])


def _of_loads(M: Any, loads: np.ndarray) -> np.ndarray:
    """(FᵀM⁻¹F)^½ of each column, with the inverse of M where there is mass."""
    heavy = M.diagonal() > 0.0
    unbounded = loads[~heavy].any(axis=0)
    own, acting = M[heavy][:, heavy], loads[heavy]
    if not loads.shape[1] or unbounded.all():
        return np.full(loads.shape[1], UNBOUNDED)
    if abs(own).sum() == own.diagonal().sum():  # floor masses: no need to solve anything
        moved = acting / own.diagonal()[:, None]
    else:  # an eccentric mass couples degrees of freedom, and moves more easily than its diagonal tells
        try:
            moved = Factor(csr_array(own)).solve(acting)
        except np.linalg.LinAlgError:
            return np.full(loads.shape[1], UNBOUNDED)
    squares = np.sum(acting * moved, axis=0)
    return np.where(unbounded | ~(squares < UNBOUNDED**2) | (squares < 0.0), UNBOUNDED, np.sqrt(abs(squares)))


def initial_impulse(structure: Structure, K: Any, u: np.ndarray, v: np.ndarray) -> float:
    """The root of twice the energy of an initial state, with that of all masses at a small speed added."""
    M = structure.M
    return float(np.sqrt(abs(v @ (M @ v)) + abs(u @ (K @ u))) + MOVING * np.sqrt(abs(M).sum()))
