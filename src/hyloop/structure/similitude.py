"""Similitude of scaled models."""

from dataclasses import dataclass

import numpy as np

from hyloop.errors import BadInput, OutOfBounds
from hyloop.structure.structure import Structure

__all__ = ["Similitude"]


@dataclass(frozen=True)
class Similitude:
    """Scale factors model/prototype when stress and acceleration are kept (a true replica with added mass).

    ========================  ==========
    length                    λ
    time                      √λ
    force, mass               λ²
    stiffness                 λ
    damping coefficient       λ^1.5
    velocity                  √λ
    acceleration, stress      1
    energy                    λ³
    ========================  ==========

    Parameters
    ----------
    length : float
        λ, for instance 0.5 for a half-scale model.

    References
    ----------
    Harris and Sabnis (1999), Structural Modeling and Experimental Techniques, chapter 2.
    """

    length: float

    def __post_init__(self) -> None:
        if not 0.0 < self.length < np.inf:
            raise OutOfBounds(f"similitude: length = {self.length!r} must be positive, 0.5 for half scale.")

    @property
    def time(self) -> float:
        return self.length**0.5

    @property
    def velocity(self) -> float:
        return self.length**0.5

    @property
    def acceleration(self) -> float:
        return 1.0

    @property
    def force(self) -> float:
        return self.length**2

    @property
    def mass(self) -> float:
        return self.length**2

    @property
    def stiffness(self) -> float:
        return self.length

    @property
    def damping(self) -> float:
        return self.length**1.5

    @property
    def energy(self) -> float:
        return self.length**3

    def scale(self, structure: Structure) -> Structure:
        """The scaled structure; translational degrees of freedom and no nonlinear elements."""
        if structure.elements:
            raise BadInput("similitude: the structure has nonlinear elements; scale first, then add scaled elements.")
        return Structure(
            M=structure.M * self.mass,
            K=structure.K * self.stiffness,
            C=structure.C * self.damping,
            influence=structure.influence,
            loads=structure.loads,
            names=structure.names,
            dead_load=structure.dead_load * self.force,
            at_rest=structure.at_rest * self.length,
            floors=structure.floors,
            heights=[self.length * height for height in structure.heights],
            directions=structure.directions,
            load_names=structure.load_names,
        )
