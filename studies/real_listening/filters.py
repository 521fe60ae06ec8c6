"""Laws that hear: a filter follows parameters in the heard test, and the law of the other test takes them in each tick.

=====================  ============================================================================================
filter                 what it follows
=====================  ============================================================================================
CUKF                   stiffness and damping of LuGre friction (Malik et al. 2025), settings of malik2025
filter, gap-slip       a factor on the friction of each side of gap-slip, settings of real_pairs
=====================  ============================================================================================
"""

from dataclasses import replace

import numpy as np

from hyloop.core.block import Instance
from hyloop.core.jit import call_block, jit, pointer
from hyloop.updating import unscented

from .shared import band, baselines, hearing, sessions

CUKF, FACTORS = "CUKF (LuGre)", "filter (gap-slip)"
FIXED_LUGRE, FIXED_GAP = "LuGre, fixed", "gap-slip, fixed"
KINDS = {CUKF: "LuGre", FACTORS: "band"}  # as real_pairs has a test measured


def law_of(model: str, laws: dict[str, Instance]) -> Instance:
    """The law that a filter begins with, of those fitted to another session."""
    return laws["LuGre"] if model == CUKF else band.banded(laws["gap-slip"])


def followed(model: str, laws: dict[str, Instance], test) -> np.ndarray:
    """Parameters (samples, 2) that a filter has found in each tick of a heard test."""
    law, heard = law_of(model, laws), sessions.measured(KINDS[model], test)
    begun = replace(law, initial=law.initial | hearing._at_rest(law, heard))
    names = free(model)
    if model == CUKF:
        low, high = baselines.BOUNDS
        settings = {"noise": baselines.NOISE, "process": baselines.PROCESS, "initial_std": baselines.PROCESS}
    else:
        low, high = hearing.LEAST, hearing.MOST
        settings = {"noise": hearing.NOISE, "process": hearing.PROCESS, "initial_std": hearing.INITIAL}
    bounds = {key: (low * law.params[key], high * law.params[key]) for key in names}
    found = unscented(begun, bounds, **settings).drive(heard.dt, **heard.inputs, f_m=heard.f)
    return np.column_stack([found[key] for key in names])


def free(model: str) -> tuple[str, ...]:
    """What a filter follows."""
    return baselines.FREE if model == CUKF else band.FACTORS


class Judged:
    """The law of a filter in a test to be predicted, begun from its first force."""

    def __init__(self, model: str, laws: dict[str, Instance], test) -> None:
        law, judged = law_of(model, laws), sessions.measured(KINDS[model], test)
        self.address, self.dt, self.outputs = law.block.address, judged.dt, len(law.block.outputs)
        self.x0 = replace(law, initial=law.initial | hearing._at_rest(law, judged)).x0
        self.inputs = np.column_stack([judged.inputs[key] for key in law.block.inputs])
        self.places = np.array([list(law.params).index(key) for key in free(model)])
        self.p = np.array(list(law.params.values()), dtype=float)

    def force(self, found: np.ndarray) -> np.ndarray:
        """Force with the parameters that were found in a test begun together with this one; they stay when it ends."""
        values = found[np.minimum(np.arange(len(self.inputs)), len(found) - 1)]
        y, f = np.empty(self.outputs), np.empty(len(self.inputs))
        _varying(self.address, self.x0.copy(), self.inputs, self.dt, self.p.copy(), self.places, values, y, f)
        return f


@jit
def _varying(address, x, inputs, dt, p, places, values, y, f):
    u = np.empty(inputs.shape[1])
    for i in range(inputs.shape[0]):
        u[:] = inputs[i]
        for k in range(len(places)):
            p[places[k]] = values[i, k]
        call_block(address, pointer(x), 0, pointer(u), 0, dt, pointer(p), 0, pointer(y), 0)
        f[i] = y[0]
