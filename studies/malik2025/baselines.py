"""What the networks are compared with: LuGre friction fitted to a harmonic test, fixed, and followed by a CUKF."""

from functools import cache

import numpy as np
from numba import njit

from hyloop.core.block import Instance
from hyloop.devices import lugre
from hyloop.devices.brfd import draw_brfd
from hyloop.identification import MeasuredTest, fit
from hyloop.updating import unscented

from .frame import DT
from .specimens import SPECIMENS, Run, moved

AMPLITUDE, FREQUENCY, CYCLES = 16.5e-3, 0.5, 4  # m and Hz of the harmonic of the paper
NOISE, BOUNDS = 1e3, (0.01, 2.0)  # N; of the nominal sigma0 and sigma1
PAPER_PROCESS, PROCESS = 3e-4, 1e-2  # of the nominal value in a tick: printed; chosen on the training events
FREE = ("sigma0", "sigma1")


@cache
def fitted_lugre(kind: str, level: float) -> Instance:
    """LuGre with stiffness, damping and friction fitted to a harmonic test of the device as it is meant to be."""
    law, _ = SPECIMENS[kind]
    nothing = {"friction": 0.0, "gap": 0.0, "stiffness": 0.0, "drift": 0.0}
    device = draw_brfd(np.random.default_rng(0), law, level, centred=0.0, **nothing)
    t = np.arange(round(CYCLES / FREQUENCY / DT)) * DT
    read = moved(device, AMPLITUDE * np.sin(2 * np.pi * FREQUENCY * t))
    v = np.diff(read["d_m"], prepend=read["d_m"][:1]) / DT
    start = lugre(
        **{key: 2e6 * level / 23e3 if key == "sigma0" else 1e4 * level / 23e3 for key in FREE},
        **{f"F{c}_{side}": 0.9 * level for c in "cs" for side in ("pos", "neg")},
    )
    test = MeasuredTest(DT, {"v": v}, read["f_m"], name="harmonic")
    bounds = {"sigma0": (1e5, 2e7), "sigma1": (1e2, 2e5)} | {
        f"F{c}_{side}": (0.3 * level, 1.5 * level) for c in "cs" for side in ("pos", "neg")
    }
    return fit(start, [test], bounds, starts=4, seed=0, noisy_inputs=False).law


def fixed(kind: str, run: Run) -> np.ndarray:
    """Force of the fitted law under the deformation of the other place."""
    return fitted_lugre(kind, run.level).drive(DT, v=run.own[:, 1])["f"]


def followed(kind: str, run: Run, process: float = PROCESS, newest: np.ndarray | None = None) -> np.ndarray:
    """Force of the law whose sigma0 and sigma1 a filter finds from what is measured, in each tick."""
    law, varying = fitted_lugre(kind, run.level), estimated(kind, run, process, newest)
    return _varying(law.block.compiled, run.own[:, 1].astype(float), varying, np.array(list(law.params.values())), DT)


def estimated(kind: str, run: Run, process: float = PROCESS, newest: np.ndarray | None = None) -> np.ndarray:
    """What the filter finds: sigma0 and sigma1 (samples, 2)."""
    law = fitted_lugre(kind, run.level)
    free = {key: (BOUNDS[0] * law.params[key], BOUNDS[1] * law.params[key]) for key in FREE}
    updater = unscented(law, free, noise=NOISE, process=process, initial_std=process)
    rows = run.heard if newest is None else run.heard[np.maximum(newest, 0)]
    found = updater.drive(DT, v=rows[:, 2], f_m=rows[:, 0])
    return np.column_stack([found[key] for key in FREE]).astype(float)


@njit
def _varying(law, v, varying, p, dt):
    """The law driven with parameters that change in every tick; sigma0 and sigma1 are its first two."""
    f, z = np.empty(len(v)), 0.0
    for k in range(len(v)):
        p[0], p[1] = varying[k, 0], varying[k, 1]
        (f[k],), (z,) = law((z,), (v[k],), dt, (p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]))
    return f
