"""The measured damper, which is not quite what the models believe it to be."""

from dataclasses import dataclass, field

import numpy as np

from hyloop.devices import viscous_specimen

START = {"K": 1.02e8, "C": 708e3, "alpha": 0.457}  # Table 2 of the paper: N/m, N (s/m)^alpha, -
DT = 1 / 1024  # s, controller tick


@dataclass(frozen=True)
class Specimen:
    """How the damper in the laboratory differs from Table 2, and the noise of its load cell in N.

    `factors` on K, C and alpha; `ends` are factors that the parameters reach at the end of the test.
    """

    factors: dict[str, float] = field(default_factory=dict)
    ends: dict[str, float] = field(default_factory=dict)
    friction: float = 0.0
    noise: float = 8e3

    def parameters(self, duration: float) -> dict[str, float]:
        """Of `viscous_specimen`, for a test that lasts so many seconds."""
        own = {key: value * self.factors.get(key, 1.0) for key, value in START.items()}
        ends = {f"{key}_end": self.ends.get(key, 1.0) for key in START}
        return own | ends | {"drift_time": duration, "friction": self.friction}

    def force(self, d: np.ndarray) -> np.ndarray:
        """True force when it is moved by `d` from the beginning of a test on, tick by tick, after the hybrid test."""
        return viscous_specimen(**self.parameters(len(d) * DT)).drive(DT, d=d)["f"]


# the rows of the parameter set, section 6; those with 6 kN were found there to resemble the paper most
SPECIMENS = {
    "nothing changed": Specimen(),
    "Cd x 0.8": Specimen({"C": 0.8}),
    "Cd drifting 1 to 0.7": Specimen(ends={"C": 0.7}),
    "Kd x 0.8, Cd x 0.9, alpha x 1.1": Specimen({"K": 0.8, "C": 0.9, "alpha": 1.1}),
    "alpha x 1.14": Specimen({"alpha": 1.14}, noise=6e3),
    "alpha x 1.1, 20 kN seal friction": Specimen({"alpha": 1.1}, friction=20e3, noise=6e3),
}
COMPARED = "alpha x 1.14"  # resembles the paper most; chosen in the parameter set before this study
RUBBING = "alpha x 1.1, 20 kN seal friction"  # what the law of the models does not have
SAME = "nothing changed"
