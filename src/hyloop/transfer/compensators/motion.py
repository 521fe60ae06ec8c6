r"""The motion a compensator works with: derivatives of what is wanted, and filtered pairs of what was sent and seen.

What is wanted comes from an integration and is smooth: its derivatives are backward differences. With the backward
difference :math:`\nabla` over *m* ticks, :math:`h = m\,\delta t`,

.. math:: \dot d = \frac{\nabla + \nabla^2/2 + \nabla^3/3 + \nabla^4/4}{h}\,d, \qquad
    \ddot d = \frac{\nabla^2 + \nabla^3 + 11\,\nabla^4/12}{h^2}\,d, \qquad
    \dddot d = \frac{\nabla^3 + 3\,\nabla^4/2}{h^3}\,d ,

each exact for a polynomial of fourth order. A derivative that is late by a tick would be worth nothing at the highest
frequencies of a structure, where the higher terms of an inverse are many times the motion itself.

What was measured is noisy. It passes *n* equal low-passes :math:`H = \omega/(s + \omega)` one after another, and so
does the command of the same tick: a linear relation between the two, which is what a compensator looks for, is then
the same as without them. Since :math:`sH = \omega (1 - H)`, the derivatives of the filtered motion are differences of
the outputs of the stages, with no further approximation:

.. math:: s^k H^n x = \omega^k (1 - H)^k H^{n-k} x .

The stages are discretised by Tustin's rule, hence *s* is that of the rule (at 5 Hz and 1024 ticks a second its
frequency is 0.008 % high).
"""

import math
from typing import Any, NamedTuple

from hyloop.core.block import Param
from hyloop.core.jit import verb

__all__ = ["CUTOFF", "CUTOFF_PARAM", "Common", "act", "common_sizes", "observe", "want"]

CUTOFF = 20.0  # Hz; structures move below it, the noise of transducers lies above
CUTOFF_PARAM = Param("Hz", CUTOFF, 1e-3, about="frequency of the equal low-passes of what was sent and seen")


class Common(NamedTuple):
    """What lies in the memory of every compensator that adapts."""

    ticks: int  # so far, up to the length of the ring
    place: int  # in the ring
    ring: int  # the deformation wanted, of the last 4 m + 1 ticks
    wanted: int  # d and its derivatives now
    sent: int  # the command through 0, 1, ... n low-passes
    seen: int  # the measured deformation likewise
    phi: int  # derivatives of the filtered measured deformation, then the filtered command
    a: int  # coefficients
    command: int


def common_sizes(order: int, stride: int) -> dict[str, int]:
    """How many numbers each part needs, for derivatives up to `order` and differences over `stride` ticks."""
    parts = {"ticks": 1, "place": 1, "ring": 4 * stride + 1, "wanted": order + 1}
    return parts | {"sent": order + 2, "seen": order + 2, "phi": order + 2, "a": order + 1, "command": 1}


@verb
def want(m: Any, order: int, stride: int, d: float, dt: float) -> None:
    """Enter what is wanted into the ring and find its derivatives."""
    slots, h = 4 * stride + 1, stride * dt
    place = int(m.place[0])
    for k in range(slots if m.ticks[0] == 0.0 else 1):  # the first sample begins at rest
        m.ring[(place + k) % slots] = d
    d1, d2 = m.ring[(place + slots - stride) % slots], m.ring[(place + slots - 2 * stride) % slots]
    d3, d4 = m.ring[(place + slots - 3 * stride) % slots], m.ring[(place + 1) % slots]
    D1, D2, D3 = d - d1, d - 2.0 * d1 + d2, d - 3.0 * d1 + 3.0 * d2 - d3
    D4 = d - 4.0 * d1 + 6.0 * d2 - 4.0 * d3 + d4
    m.wanted[0] = d
    m.wanted[1] = (D1 + D2 / 2.0 + D3 / 3.0 + D4 / 4.0) / h
    if order > 1:
        m.wanted[2] = (D2 + D3 + 11.0 / 12.0 * D4) / (h * h)
    if order > 2:
        m.wanted[3] = (D3 + 1.5 * D4) / (h * h * h)
    m.place[0] = (place + 1) % slots


@verb
def observe(m: Any, order: int, d_m: float, dt: float, cutoff: float) -> bool:
    """Pass what was sent and seen in the last tick through the filters; false where nothing was seen.

    A sample that is not finite leaves everything as it was, on both sides.
    """
    if m.ticks[0] == 0.0:  # nothing has been sent yet
        m.ticks[0] = 1.0
        for k in range(order + 2):
            m.sent[k] = m.seen[k] = d_m if math.isfinite(d_m) else 0.0
        m.command[0] = m.seen[0]
        return False
    if not math.isfinite(d_m):
        return False
    w = 2.0 * math.pi * cutoff
    low_pass(m.sent, order + 1, m.command[0], w * dt)
    low_pass(m.seen, order + 1, d_m, w * dt)
    z, n = m.seen, order + 1
    m.phi[0] = z[n]
    m.phi[1] = w * (z[n - 1] - z[n])
    if order > 1:
        m.phi[2] = w * w * (z[n - 2] - 2.0 * z[n - 1] + z[n])
    if order > 2:
        m.phi[3] = w * w * w * (z[n - 3] - 3.0 * z[n - 2] + 3.0 * z[n - 1] - z[n])
    m.phi[n] = m.sent[n]
    return True


@verb
def low_pass(z: Any, n: int, new: float, w: float) -> None:
    """One tick of n equal low-passes in a row; `w` is their frequency times the tick, z[0] the last input."""
    gain, keep = w / (2.0 + w), (2.0 - w) / (2.0 + w)
    for k in range(n):
        old, z[k] = z[k], new
        new = gain * (new + old) + keep * z[k + 1]
    z[n] = new


@verb
def act(m: Any, order: int, y: Any) -> None:
    """The command, Σ a_k d^(k), and the coefficients as outputs."""
    command = 0.0
    for k in range(order + 1):
        command += m.a[k] * m.wanted[k]
        y[1 + k] = m.a[k]
    y[0] = m.command[0] = command
