"""How the settings of our controller were chosen: on Kobe and Morgan Hill, with plants and noise of other seeds.

`choose()` searches from a start and takes some minutes; `predictive.CHOSEN` are its numbers, rounded, with a command
that changes a little less and a drift that is not quite zero. Nothing of the judgement (El Centro, seed 2023) is used.
"""

import numpy as np
from scipy.optimize import minimize

from .cases import SCALE
from .frame import DT, ground, numerical, one_piece, specimen
from .loop import respond, simulate
from .plant import discrete, draw
from .predictive import Settings, predictive
from .references import Controller
from .scoring import nrms

__all__ = ["SCENARIOS", "choose", "errors"]

RECORDS, SECONDS, SEED = ("kobe", "morgan"), 28.0, 101
TOLD = 5  # steps of dead time that the controller is told
# specimen, dead time and spread of the plant: the hard set three times, then what it may get wrong
SCENARIOS = ((3, 5, 1), (3, 5, 1), (3, 5, 1), (3, 5, 2), (1, 5, 1), (5, 5, 1), (3, 3, 1), (3, 7, 1))
START = Settings(change=1e-6, drift=5e-4, swing=0.1, width=0.1, freedom=0.1, jitter_x=1e-5, jitter_r=3e-3)
FREE = ("change", "drift", "swing", "jitter_x", "jitter_r", "freedom", "width")
LOST = 100.0  # %: error of a run that diverged


def errors(controller: Controller, scenarios=SCENARIOS) -> np.ndarray:
    """True tracking of both actuators and storey 2 against the own reference, in %, of every scenario and record."""
    rng, part, rows = np.random.default_rng(SEED), numerical(), []
    for i, (factor, dead_time, spread) in enumerate(scenarios):
        for record in RECORDS:
            ag, portal = SCALE * ground(record)[: int(SECONDS / DT)], specimen().scaled(float(factor))
            settings = {"blend": controller.blend, "dead_time": dead_time, "seed": 500 + i, "independent": True}
            run = simulate(part, portal, discrete(draw(rng, spread)), controller.block, ag, **settings)
            storey = respond(one_piece(part, portal), ag)[: len(run["x2"]), 25]
            found = [nrms(run[f"true{k}"], run[f"target{k}"]) for k in (1, 2)] + [nrms(run["x2"], storey)]
            rows.append([LOST] * 3 if run.diverged else np.minimum(found, LOST))
    return np.array(rows)


def choose(trials: int = 160) -> tuple[Settings, float]:
    """Settings with the least mean square of all errors, and its root in %."""

    def settings(x):
        return START._replace(**{name: float(10.0**value) for name, value in zip(FREE, x, strict=True)})

    def cost(x):
        try:
            return float(np.sqrt((errors(predictive(TOLD, settings(x))) ** 2).mean()))
        except np.linalg.LinAlgError:  # no controller at these weights
            return LOST

    start = np.log10([getattr(START, name) for name in FREE])
    simplex = np.vstack([start, start + np.diag([-0.5, -0.3, 0.3, 0.5, 0.3, 0.3, 0.2])])
    options = {"maxfev": trials, "xatol": 0.05, "fatol": 0.003, "initial_simplex": simplex}
    found = minimize(cost, start, method="Nelder-Mead", options=options)
    return settings(found.x), float(found.fun)
