r"""The gap-slip law with a factor on the friction of each side, and with friction and backlash that follow two signals.

.. math::

    F_c, \Delta F \to \mu_\pm\, e^{a_{1\pm} c_1 + a_{2\pm} c_2}\, (F_c, \Delta F), \qquad
    g_p \to g_p + b_1 c_1 + b_2 c_2

The signals c are those of the electric actuators that tighten the band: their positions, or the forces at their ends.
With c = 0 it is `gap_slip` with two factors, which is what a filter follows.
"""

import math

from hyloop.core.block import Param, inplace_block
from hyloop.devices import gap_slip

_law = gap_slip.compiled
_N = len(gap_slip.params)
FACTORS = ("mu_pos", "mu_neg")
FRICTION = ("a1_pos", "a2_pos", "a1_neg", "a2_neg")
BACKLASH = ("b1", "b2")


@inplace_block(
    inputs={**gap_slip.inputs, "c1": "-", "c2": "-"},
    outputs=gap_slip.outputs,
    state=gap_slip.state,
    params={
        **gap_slip.params,
        "mu_pos": Param("-", 1.0, low=1e-3, about="factor on friction, + side"),
        "mu_neg": Param("-", 1.0, low=1e-3, about="factor on friction, - side"),
        "a1_pos": Param("-", 0.0, about="change of the logarithm of friction with c1, + side"),
        "a2_pos": Param("-", 0.0, about="the same with c2"),
        "a1_neg": Param("-", 0.0, about="change of the logarithm of friction with c1, - side"),
        "a2_neg": Param("-", 0.0, about="the same with c2"),
        "b1": Param("m", 0.0, about="change of the backlash with c1"),
        "b2": Param("m", 0.0, about="change of the backlash with c2"),
    },
    reference=gap_slip.reference,
    linear=gap_slip.linear,
)
def band(x, u, dt, p, y):
    r"""`gap_slip` with friction by factors and two signals; SI units, signals without."""
    c1, c2 = u[3], u[4]
    up = p[_N] * math.exp(min(max(p[_N + 2] * c1 + p[_N + 3] * c2, -5.0), 5.0))
    down = p[_N + 1] * math.exp(min(max(p[_N + 4] * c1 + p[_N + 5] * c2, -5.0), 5.0))
    gap = max(p[3] + p[_N + 6] * c1 + p[_N + 7] * c2, -p[4])  # the slack cannot be less than none
    (y[0], y[1]), (x[0], x[1]) = _law(
        (x[0], x[1]),
        (u[0], u[1], u[2]),
        dt,
        (
            p[0],
            p[1],
            p[2],
            gap,
            p[4],
            p[5],
            p[6],
            p[7],
            up * p[8],
            up * p[9],
            down * p[10],
            down * p[11],
            p[12],
            p[13],
            p[14],
            p[15],
            p[16],
            p[17],
        ),
    )


def banded(law):
    """A gap-slip law as `band`, with factors of 1."""
    return band(**law.params)


def plain(device):
    """A band with factors as the plain gap-slip law."""
    p = device.params
    values = {key: p[key] for key in gap_slip.params}
    for side in ("pos", "neg"):
        values |= {f"{key}_{side}": p[f"mu_{side}"] * p[f"{key}_{side}"] for key in ("Fc", "dF")}
    return gap_slip(**values)
