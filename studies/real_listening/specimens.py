"""Virtual specimens drawn so widely that a session of the real damper may be among them: nothing of a test enters.

Sessions differ by how the band was mounted and tightened. What is drawn log-uniformly or uniformly: friction of each
side from a twentieth to twice the nominal, how it weakens with speed and how sharply slip sets in, backlash, stiffness,
damping, mass, offset, drift, and where in or beyond its backlash the band stands at the start.
"""

import numpy as np

from hyloop.core.block import Instance
from hyloop.devices.brfd import draw_brfd, draw_sibling
from hyloop.devices.brfd_laws import placed

FRICTION, LEVEL, SIDE = 16e3, (0.05, 1.8), 0.45  # N at rest; of it; ± in the logarithm of each side
WEAKENING, VELOCITY = (0.0, 0.5), (0.02, 0.12)  # share of friction lost at speed, and m/s over which
SHARPNESS = (1.0, 20.0)
BACKLASH, WIDTH = (3.0e-3, 6.2e-3), (0.25e-3, 0.7e-3)  # m
TAUT, SLACK = (5e6, 12e6), (0.05e6, 0.25e6)  # N/m
DAMPING, MASS, ROLLING, OFFSET = (2e3, 9e3), (100.0, 900.0), (50.0, 500.0), 500.0
DRIFT = 0.2
MISMATCH = 0.05  # of the friction from one test of a session to another
BEYOND = 0.1e-3  # m beyond the backlash that the band may stand at the start
STICK_SLIP = 0.4  # share of specimens that chatter


def draw(rng: np.random.Generator) -> Instance:
    """One specimen, either law."""

    def between(low, high):
        return float(np.exp(rng.uniform(np.log(low), np.log(high))))

    law = "stick-slip" if rng.random() < STICK_SLIP else "gap-slip"
    level = FRICTION * between(*LEVEL)
    given = {"kd": between(*SLACK), "kp": between(*TAUT), "kn": between(*TAUT), "w": between(*WIDTH)}
    given["gp"] = given["gn"] = 0.5 * rng.uniform(*BACKLASH)
    for side in ("pos", "neg"):
        most, lost = level * np.exp(rng.uniform(-SIDE, SIDE)), rng.uniform(*WEAKENING)
        if law == "gap-slip":
            given |= {f"Fc_{side}": (1 - lost) * most, f"dF_{side}": lost * most, f"n_{side}": between(*SHARPNESS)}
        else:
            given |= {f"Fs_{side}": most, f"Fk_{side}": (1 - lost) * most, f"vs_{side}": between(*VELOCITY)}
    if law == "gap-slip":
        given["vs"] = between(*VELOCITY)
    given |= {"c": rng.uniform(*DAMPING), "m": rng.uniform(*MASS), "fg": rng.uniform(*ROLLING)}
    given["off"] = rng.uniform(-OFFSET, OFFSET)
    return _put(rng, draw_brfd(rng, law, drift=DRIFT, **given))


def again(rng: np.random.Generator, device: Instance) -> Instance:
    """The same specimen in another test: it stands elsewhere, and its friction is not quite the same."""
    return _put(rng, draw_sibling(rng, device, mismatch=MISMATCH))


def _put(rng, device):
    reach = 0.5 * (device.params["gp"] + device.params["gn"]) + BEYOND
    return placed(device, reach * rng.uniform(-1.0, 1.0))
