"""Linear devices: a spring and a dashpot."""

from hyloop.core.block import Param, block

__all__ = ["dashpot", "spring"]


@block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    params={"k": Param("N/m", 1e6, 0.0, about="stiffness")},
    reference="Chopra (2017), Dynamics of Structures, 5th ed., Pearson, section 1.3.",
    linear=lambda k: (k, 0.0),
    flags="passive rate-independent",
)
def spring(x, u, dt, p):
    r"""Linear spring.

    .. math:: f = k\,d

    Units: d in m, f in N, k in N/m.
    """
    return (p[0] * u[0],), ()


@block(
    inputs={"v": "m/s"},
    outputs={"f": "N"},
    params={"c": Param("N s/m", 1e5, 0.0, about="damping coefficient")},
    reference="Chopra (2017), Dynamics of Structures, 5th ed., Pearson, section 1.4.",
    linear=lambda c: (0.0, c),
    flags="passive",
)
def dashpot(x, u, dt, p):
    r"""Linear viscous dashpot.

    .. math:: f = c\,v

    Units: v in m/s, f in N, c in N s/m.
    """
    return (p[0] * u[0],), ()
