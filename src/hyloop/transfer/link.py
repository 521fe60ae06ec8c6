"""The way from the laboratory to a model elsewhere: packets that come late, unevenly, or not at all."""

import math
from collections.abc import Mapping

from hyloop.core.block import Block, Param, inplace_block
from hyloop.core.jit import jit
from hyloop.core.noise import uniform
from hyloop.errors import BadInput

__all__ = ["LONGEST", "link"]

LONGEST = 256  # ticks from sending to arrival
_RING = LONGEST + 1  # packets kept: the newest and all that may still be on their way
_WHOLE = 1e-9  # of a tick: a quotient of two decimal numbers is a whole number but for round-off
_NEWEST, _SHOWN = 1, 2  # memory behind the count: number of the packet in use, then its values, then the ring


def delay_fits(dt: float, delay: float, jitter: float, loss: float, seed: float) -> None:
    """Refuse a jitter above the delay, and delays that are longer than the memory."""
    if jitter > delay:
        raise BadInput(
            f"jitter = {jitter:g} s is more than the delay of {delay:g} s: packets would arrive before they are sent. "
            "Give at most the delay."
        )
    ticks = (delay + jitter) / dt
    if ticks > LONGEST:
        raise BadInput(
            f"delay = {delay:g} s with jitter = {jitter:g} s is up to {ticks:.0f} ticks of {dt:g} s; at most {LONGEST} "
            "can be kept."
        )


def link(signals: Mapping[str, str]) -> Block:
    """A link that carries these signals (names and units) in one packet for each tick, and tells their ``age``."""
    if not signals or "age" in signals:
        raise BadInput(f"link: got the signals {', '.join(signals) or 'none'}; give at least one, and none called age.")
    return inplace_block(
        inputs=signals,
        outputs={**signals, "age": "s"},
        state={"ticks": "-"},
        params={
            "delay": Param("s", 0.0, 0.0, about="mean time from sending to arrival"),
            "jitter": Param("s", 0.0, 0.0, about="half width of its uniform spread, at most the delay"),
            "loss": Param("-", 0.0, 0.0, 0.9, about="share of the packets that never arrive"),
            "seed": Param("-", 0.0, 0.0, 2.0**52, about="of jitter and loss, a whole number"),
        },
        memory=_SHOWN - 1 + len(signals) + _RING * (1 + len(signals)),
        fits=delay_fits,
        reference="Schulzrinne, Casner, Frederick, Jacobson (2003), RTP: a transport protocol for real-time "
        "applications, RFC 3550, doi:10.17487/RFC3550 (time stamps, jitter and loss of packets).",
    )(advance)


def advance(x, u, dt, p, y):
    r"""A link between a laboratory and a model.

    In tick k a packet with all signals is sent. It arrives after :math:`\tau_k`, uniform in delay ± jitter, or is lost,
    and is there from the first tick on that is not before its arrival:

    .. math:: y_n = u_{K(n)}, \qquad K(n) = \max\{k : k + \lceil\tau_k/\Delta t\rceil \le n,\ k\ \text{not lost}\},
        \qquad age_n = (n - K(n))\,\Delta t

    So a packet that another one has overtaken is never used, and K does not fall. A constant delay of n ticks is a
    shift by n ticks; one of none hands the signals on as they are. What was sent before the first tick has its
    values: the link was up, and the device at rest. Delays and losses are a function of seed and tick.
    """
    n = len(u)
    now = x[0] + _RING  # packets before the first tick have the numbers 0 ... _RING - 1
    row, ring = n + 1, _SHOWN + n
    if x[0] == 0.0:
        x[_NEWEST] = -1.0
        for k in range(_RING):
            _send(x, ring + k * row, u, n, float(k), dt, p)
        for i in range(n):
            x[_SHOWN + i] = u[i]
    _send(x, ring + int(now % _RING) * row, u, n, now, dt, p)
    x[0] += 1.0
    last = max(x[_NEWEST], now - LONGEST - 1.0)
    k = now
    while k > last:
        at = ring + int(k % _RING) * row
        if x[at] <= now:
            x[_NEWEST] = k
            for i in range(n):
                x[_SHOWN + i] = x[at + 1 + i]
            break
        k -= 1.0
    for i in range(n):
        y[i] = x[_SHOWN + i]
    y[n] = (now - x[_NEWEST]) * dt


@jit
def _send(x, at, u, n, k, dt, p):
    """Write packet k, with the tick of its arrival before its values; a lost one never arrives."""
    delay = p[0]
    if p[1] > 0.0:
        delay += p[1] * (2.0 * uniform(p[3], 2.0 * k) - 1.0)
    x[at] = k + math.ceil(delay / dt - _WHOLE)
    if p[2] > 0.0 and uniform(p[3], 2.0 * k + 1.0) < p[2]:
        x[at] = math.inf
    for i in range(n):
        x[at + 1 + i] = u[i]
