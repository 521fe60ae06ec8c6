"""The authors' own law, modified Bouc-Wen with twelve numbers, driven by the published motion."""

import numpy as np

from hyloop.data.mr_damper import tests
from hyloop.devices import mr_damper
from hyloop.transfer import kinematics


def errors(velocity: str) -> dict[float, float]:
    """NRMSE in % of the earthquake tests by current; the velocity "zero-phase" (central difference) or "causal"."""
    found = {}
    for test in tests("earthquake_*").values():
        f = force(test, velocity)
        found[test.current] = 100.0 * float(np.sqrt(np.mean((f - test.f) ** 2)) / np.ptp(test.f))
    return dict(sorted(found.items()))


def force(test, velocity: str) -> np.ndarray:
    """Force of the law over a test at a constant current."""
    causal = velocity == "causal"
    v = kinematics().drive(test.dt, d=test.d)["v"] if causal else np.gradient(test.d, test.dt)
    return mr_damper(i=test.current).drive(test.dt, d=test.d, v=v)["f"]
