"""Velocity as a backward difference, nothing else: what networks that listen are trained with."""

from hyloop.core.block import Param, inplace_block
from hyloop.errors import BadInput

__all__ = ["MOST", "difference"]

MOST = 32  # ticks between the two samples


def span_fits(dt: float, span: float) -> None:
    """Refuse parts of a tick."""
    if span != round(span):
        raise BadInput(f"span = {span:g} must be a whole number of ticks from 1 to {MOST}.")


@inplace_block(
    inputs={"d": "m"},
    outputs={"v": "m/s"},
    state={"ticks": "-"},
    params={"span": Param("-", 1.0, 1.0, float(MOST), about="ticks between the two samples")},
    memory=MOST,
    fits=span_fits,
    reference="Malik et al. (2025) give networks deformations; causal velocities beside these are such differences.",
)
def difference(x, u, dt, p, y):
    r"""Velocity of a measured deformation, causal: :math:`v_k = (d_k - d_{k-s})/(s\,\Delta t)`.

    It is the mean over the last *s* ticks, and so late by half of them. What was before the first sample is taken for
    the first value. Noise of the deformation is not damped; `kinematics` does that.
    """
    if x[0] == 0.0:
        for k in range(MOST):
            x[1 + k] = u[0]
    now, span = int(x[0]), int(p[0])
    y[0] = (u[0] - x[1 + (now - span) % MOST]) / (span * dt)
    x[1 + now % MOST] = u[0]
    x[0] += 1.0
