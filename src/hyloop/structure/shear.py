"""Shear frames: one horizontal degree of freedom for each floor."""

import numpy as np
from scipy import sparse

from hyloop.errors import BadShape, OutOfBounds
from hyloop.structure.structure import Structure

__all__ = ["shear_frame"]

FULL = 1000  # stories up to which matrices are full, so that every kind of damping and every method takes them


def shear_frame(masses, stiffnesses, *, gravity=None, heights=None) -> Structure:
    r"""A frame with rigid floors, from the floor masses and story stiffnesses, bottom to top.

    Parameters
    ----------
    masses, stiffnesses : array_like, (n,)
        Floor masses in kg and lateral story stiffnesses in N/m. A stiffness of zero leaves the story to devices
        or nonlinear elements.
    gravity, heights : array_like, (n,), optional
        Gravity load of each floor in N and story heights in m. Together they give the linear P-Delta effect of
        leaning columns: story s loses the stiffness (load of floors s and above)/height. Heights alone serve drift
        ratios and pictures.

    Returns
    -------
    Structure
        With sparse matrices beyond 1000 stories.

    Examples
    --------
    >>> frame = shear_frame([2e4, 2e4], [3e7, 2e7])
    >>> frame.modes().periods.round(3)
    array([0.281, 0.115])
    """
    m, k = np.atleast_1d(np.asarray(masses, float)), np.atleast_1d(np.asarray(stiffnesses, float))
    if m.ndim != 1 or m.shape != k.shape:
        raise BadShape(f"shear_frame: masses {m.shape} and stiffnesses {k.shape} must be vectors of one length.")
    if not (np.isfinite(k).all() and k.min() >= 0.0):
        raise OutOfBounds(f"shear_frame: story stiffnesses {k.tolist()} must be finite and not negative.")
    if gravity is not None and heights is None:
        raise BadShape("shear_frame: gravity acts by P-Delta, which needs heights too; give both, or leave it out.")
    h = () if heights is None else np.broadcast_to(np.asarray(heights, float), m.shape)
    if len(h) and np.min(h) <= 0.0:
        raise OutOfBounds(f"shear_frame: heights {np.asarray(h).tolist()} must be positive.")
    if gravity is not None:
        g = np.broadcast_to(np.asarray(gravity, float), m.shape)
        k = k - np.cumsum(g[::-1])[::-1] / h
    own, above, floors = k + np.append(k[1:], 0.0), -k[1:], range(len(m))
    if len(m) > FULL:
        bands = (sparse.diags_array(values, offsets=k) for values, k in ((own, 0), (above, 1), (above, -1)))
        return Structure(M=m, K=sum(bands, sparse.csr_array((len(m), len(m)))), floors=floors, heights=h)
    return Structure(M=m, K=np.diag(own) + np.diag(above, 1) + np.diag(above, -1), floors=floors, heights=h)
