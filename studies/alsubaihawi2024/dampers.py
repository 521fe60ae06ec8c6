"""The measured damper, which is not quite what the models believe it to be, and dampers with changing parameters."""

from typing import NamedTuple

import numpy as np

from hyloop.core.jit import jit
from hyloop.devices import nonlinear_maxwell

START = {"K": 1.02e8, "C": 708e3, "alpha": 0.457}  # Table 2 of the paper: N/m, N (s/m)^alpha, -
SLIDING = 1e-3  # m/s, speed at which the friction of the seal is fully there

_law = nonlinear_maxwell.compiled


class Specimen(NamedTuple):
    """Factors on the parameters of Table 2 at the beginning and at the end, seal friction and load-cell noise (N)."""

    K: tuple[float, float] = (1.0, 1.0)
    C: tuple[float, float] = (1.0, 1.0)
    alpha: tuple[float, float] = (1.0, 1.0)
    friction: float = 0.0
    noise: float = 8e3

    def force(self, d, dt):
        """True force under the deformation `d`, the parameters drifting linearly from first to last."""
        part = np.linspace(0.0, 1.0, len(d))
        ends = {"K": self.K, "C": self.C, "alpha": self.alpha}
        params = [START[key] * (first + part * (last - first)) for key, (first, last) in ends.items()]
        v = np.diff(d, prepend=d[0]) / dt
        return respond(d, *params, dt) + self.friction * np.tanh(v / SLIDING)


# the rows of the parameter file, section 6; those with 6 kN were found there to resemble the paper most
SPECIMENS = {
    "nothing changed": Specimen(),
    "Cd x 0.8": Specimen(C=(0.8, 0.8)),
    "Cd drifting 1 to 0.7": Specimen(C=(1.0, 0.7)),
    "Kd x 0.8, Cd x 0.9, alpha x 1.1": Specimen(K=(0.8, 0.8), C=(0.9, 0.9), alpha=(1.1, 1.1)),
    "alpha x 1.14": Specimen(alpha=(1.14, 1.14), noise=6e3),
    "alpha x 1.1, 20 kN seal friction": Specimen(alpha=(1.1, 1.1), friction=20e3, noise=6e3),
}


@jit
def respond(d, K, C, alpha, dt):
    """Force of the nonlinear Maxwell damper, its three parameters given at every tick."""
    f, x, u, p = np.empty(d.size), np.zeros(2), np.empty(1), np.empty(3)
    for k in range(d.size):
        u[0], p[0], p[1], p[2] = d[k], K[k], C[k], alpha[k]
        outputs, new = _law(x, u, dt, p)
        f[k], x[0], x[1] = outputs[0], new[0], new[1]
    return f
