"""Bilinear force with kinematic hardening."""

import numpy as np

from hyloop.core.block import Param, block

__all__ = ["bilinear"]


@block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    state={"d_p": "m"},
    params={
        "k": Param("N/m", 1e7, 1e-9, about="elastic stiffness"),
        "alpha": Param("-", 0.02, 0.0, 1.0, about="hardening ratio: stiffness after yield over k"),
        "f_y": Param("N", 1e5, 0.0, about="yield force"),
    },
    reference="Simo and Hughes (1998), Computational Inelasticity, Springer, section 1.4, doi:10.1007/b98904.",
    linear=lambda k, alpha, f_y: (k, 0.0),
    flags="passive rate-independent",
)
def bilinear(x, u, dt, p):
    r"""Bilinear force-deformation law with kinematic hardening, by return mapping.

    An elastic spring :math:`\alpha k` acts beside an elastic-perfectly plastic one:

    .. math::
        f = \alpha k\,d + (1-\alpha) k\,e, \qquad
        e = \operatorname{clip}(d - d_p,\, -d_y,\, d_y), \qquad d_p \leftarrow d - e, \qquad d_y = f_y / k

    Units: d, e and the plastic deformation :math:`d_p` in m, forces in N. The mapping is exact for a straight
    increment of any length, so the step size does not matter. For α = 1 it is a spring, for α = 0 perfectly plastic.
    """
    d = u[0]
    k, alpha = p[0], p[1]
    d_y = p[2] / k
    e = np.clip(d - x[0], -d_y, d_y)
    return (alpha * k * d + (1.0 - alpha) * k * e,), (d - e,)
