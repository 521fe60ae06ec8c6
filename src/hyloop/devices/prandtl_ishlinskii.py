"""The Prandtl-Ishlinskii law, a sum of stop operators, and a spring with play."""

import numpy as np

from hyloop.core.block import Block, Param, block
from hyloop.errors import BadInput

__all__ = ["play", "prandtl_ishlinskii"]

_DOC = r"""Prandtl-Ishlinskii hysteresis: n elastic-perfectly plastic springs beside an elastic one.

.. math::
    f = k_e\,d + \sum_{j=0}^{n-1} w_j\,e_j, \qquad
    e_j = \operatorname{clip}(d - d_j,\, -r_j,\, r_j), \qquad d_j \leftarrow d - e_j

Units: d in m, f in N; each stop has a stiffness :math:`w_j` in N/m and a threshold :math:`r_j` in m, and keeps its
plastic deformation :math:`d_j`. The sum is exact for a straight increment of any length, every branch is the virgin
curve doubled (Masing), and a larger cycle wipes out the memory of smaller ones inside it.
"""


def prandtl_ishlinskii(n: int = 8) -> Block:
    """Make the Prandtl-Ishlinskii law with n stop operators; the equation is in the `doc` of the block.

    By default the stops share a stiffness of 10 kN/mm equally and yield one after the other, evenly up to 8 mm.
    """
    if not isinstance(n, int) or n < 1:
        raise BadInput(f"prandtl_ishlinskii: n = {n!r} must be a whole number of stop operators, 1 or more.")
    stops = range(n)
    # Written out and not looped over: a law returns its new state as a tuple, whose length must be in its source
    source = "\n".join(
        [
            "def law(x, u, dt, p):",
            "    d = u[0]",
            *(f"    e{j} = np.clip(d - x[{j}], -p[{1 + n + j}], p[{1 + n + j}])" for j in stops),
            "    f = p[0] * d + " + " + ".join(f"p[{1 + j}] * e{j}" for j in stops),
            "    return (f,), (" + "".join(f"d - e{j}, " for j in stops) + ")",
        ]
    )
    scope = {"np": np, "__name__": __name__}
    exec(source, scope)
    law = scope["law"]
    law.__name__, law.__doc__ = f"prandtl_ishlinskii_{n}", _DOC
    weights = {f"w{j}": Param("N/m", 1e7 / n, 0.0, about=f"stiffness of stop {j}") for j in stops}
    thresholds = {f"r{j}": Param("m", 8e-3 * (j + 1) / n, 0.0, about=f"threshold of stop {j}") for j in stops}
    return block(
        inputs={"d": "m"},
        outputs={"f": "N"},
        state={f"d{j}": "m" for j in stops},
        params={"k_e": Param("N/m", 5e5, 0.0, about="stiffness that never yields"), **weights, **thresholds},
        reference="Iwan (1966), A distributed-element model for hysteresis and its steady-state dynamic response, J. "
        "Appl. Mech. 33(4), 893-900, doi:10.1115/1.3625199; Brokate and Sprekels (1996), Hysteresis and Phase "
        "Transitions, Springer, doi:10.1007/978-1-4612-4048-8.",
        linear=lambda k_e, **rest: (k_e + sum(rest[key] for key in weights), 0.0),
        flags="passive rate-independent",
    )(law)


@block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    params={
        "k": Param("N/m", 1e7, 0.0, about="stiffness in contact"),
        "r": Param("m", 1e-3, 0.0, about="half of the clearance"),
    },
    reference="Nordin and Gutman (2002), Controlling mechanical systems with backlash - a survey, Automatica 38(10), "
    "1633-1649, doi:10.1016/S0005-1098(02)00047-X.",
    linear=lambda k, r: (k, 0.0),
    flags="passive rate-independent",
)
def play(x, u, dt, p):
    r"""Spring behind a clearance of ±r (dead-zone backlash): no force inside the gap.

    .. math:: f = k\,(d - g), \qquad g = \operatorname{clip}(d, -r, r)

    Units: d and the part g taken up by the clearance in m, f in N. A spring without mass or friction leaves the contact
    where its force vanishes, so that the law keeps no memory. The declared stiffness is that in contact, the one a
    method must be stable with.
    """
    d = u[0]
    return (p[0] * (d - np.clip(d, -p[1], p[1])),), ()
