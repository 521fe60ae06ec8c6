r"""A bounded unscented filter on the inverse plant.

The inverse of a plant with lag is carried by numbers whose range is known before any test: its amplitude, its delay and
its shape,

.. math:: u = A \left(d + \tau \dot d + r\,\tau^2 \ddot d + q\,\tau^3 \dddot d\right) .

A pure delay has r = 1/2 and q = 1/6, one lag of first order r = q = 0, *n* equal lags r = (n-1)/(2n) and
q = (n-1)(n-2)/(6n²): plants with real poles lie between. So a filter that knows nothing of the rig but "a delay between
5 and 50 ms" begins with a covariance that says just this, and takes from the first motions above the noise what there
is in them.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import carray

from hyloop.core.block import Block, Instance, Param, block, inplace_block, rebind
from hyloop.core.jit import verb
from hyloop.core.memory import laid_out, views
from hyloop.errors import BadInput, OutOfBounds
from hyloop.transfer.compensators.coefficients import check_sampling, made_for, outputs
from hyloop.transfer.compensators.motion import CUTOFF, CUTOFF_PARAM, act, common_sizes, observe, want
from hyloop.updating.filters.unscented import unscented

__all__ = ["inverse_plant", "unscented_inverse"]

DELAY = (0.005, 0.02, 0.05)
AMPLITUDE = (0.9, 1.0, 1.1)
SHAPE = ((0.1, 0.35, 0.55), (0.0, 0.06, 0.2))
NOISE = 1.6e-5  # m
ERROR = 0.01  # of the largest command of late: what an inverse of third order cannot say of a plant
DRIFT = 0.01  # of the start, in the root of a second
_LEVEL_TIME = 1.0  # s, in which the largest command of late falls to 1/e
_BANDWIDTHS = 16  # filter ticks in 1/cutoff: neighbours then share most of their noise, and no motion is missed
_THRESHOLD = 3.0  # of the noise behind the filter
_NAMES = ("amplitude", "delay", "shape2", "shape3")

filter_step: Any = None  # bound by `_step`


@block(
    inputs={"d": "m", "v": "m/s", "a": "m/s2", "j": "m/s3"},
    outputs={"f": "m"},
    params={
        "amplitude": Param("-", 1.0, 1e-3, about="A: command over deformation at rest"),
        "delay": Param("s", 0.02, 1e-6, about="τ"),
        "shape2": Param("-", 0.35, about="r: second coefficient over the delay squared"),
        "shape3": Param("-", 0.06, about="q: third coefficient over the delay cubed"),
    },
    reference="ours; power series of the inverse of a lag",
)
def inverse_plant(x, u, dt, p):
    r"""The command that belongs to a motion: :math:`A (d + \tau \dot d + r \tau^2 \ddot d + q \tau^3 \dddot d)`."""
    t = p[1]
    return (p[0] * (u[0] + t * (u[1] + t * (p[2] * u[2] + p[3] * t * u[3]))),), ()


class UnscentedMemory(NamedTuple):
    """`motion.Common`, and the filter."""

    ticks: int
    place: int
    ring: int
    wanted: int
    sent: int
    seen: int
    phi: int
    a: int
    command: int
    skipped: int  # ticks since the filter last ran
    level: int  # largest filtered command of late
    filter: int  # its state
    settings: int  # its parameters
    signals: int  # d, v, a, j and the command, over the noise
    found: int  # its outputs


def unscented_inverse(
    delay: tuple[float, float, float] = DELAY,
    *,
    dt: float,
    amplitude: tuple[float, float, float] = AMPLITUDE,
    shape: tuple[tuple[float, float, float], ...] = SHAPE,
    noise: float = NOISE,
    error: float = ERROR,
    drift: float = DRIFT,
    threshold: float | None = None,
    cutoff: float = CUTOFF,
    substeps: int = 1,
) -> Instance:
    r"""Compensator by a bounded unscented filter on amplitude, delay and shape of the inverse plant.

    Each number is given as (low, start, high). The filter (`hyloop.updating.unscented`) begins with half the
    distance to the farther bound as standard deviation, holds the numbers inside the bounds, and takes the command of
    a tick, filtered, for its measurement and the filtered measured motion of that tick for its input
    (`hyloop.transfer.compensators.motion`). Inputs are the deformation wanted ``d`` and the one measured in the last
    tick ``d_m``; outputs the command ``d``, the coefficients ``a0, a1, ...``, ``delay`` in s and ``adapting``.

    Parameters
    ----------
    delay, amplitude : (low, start, high)
        Of the plant, in s and -.
    shape : one or two of (low, start, high)
        r, and q: with one the command has second order, with two the third.
    dt : float
        Controller tick in s; the block runs at no other.
    noise : float
        Standard deviation of the measured deformation in m.
    error : float
        What the inverse cannot say of the plant, over the largest command of the last second.
    drift : float
        Random walk of every number, as a fraction of its start in the root of a second.
    threshold : float, optional
        Filtered command in m below which nothing changes; default three times the noise behind the filter.
    cutoff, substeps
        As in `ats`.

    Notes
    -----
    The filter runs 16 times in 1/cutoff. Its noise is that of the measured deformation behind the low-passes and the
    inverse, computed from their frequency response at the start values, and counted as often as neighbouring ticks
    share it.
    """
    where = "unscented_inverse"
    check_sampling(where, dt, cutoff, substeps)
    if len(shape) not in (1, 2):
        raise BadInput(f"{where}: shape has {len(shape)} rows; give r, or r and q, each as (low, start, high).")
    given = dict(zip(_NAMES, (amplitude, delay, *shape), strict=False))
    for key, row in given.items():
        if len(row) != 3 or not row[0] <= row[1] <= row[2] or not row[0] < row[2] < math.inf:
            raise OutOfBounds(
                f"{where}: {key} = {row!r} must be (low, start, high) with the start inside. Start inside the bounds, "
                "or widen them."
            )
    if not delay[0] > 0.0 or not amplitude[0] > 0.0:
        raise OutOfBounds(
            f"{where}: the lowest delay and amplitude, {delay[0]!r} s and {amplitude[0]!r}, must be positive."
        )
    if not (0.0 <= noise < math.inf and 0.0 <= error < 1.0 and noise + error > 0.0 and 0.0 < drift < math.inf):
        raise OutOfBounds(
            f"{where}: noise = {noise!r} m and error = {error!r} must not be negative nor both zero, error below 1, "
            f"and drift = {drift!r} positive."
        )
    order, every = len(shape) + 1, max(1, round(1.0 / (_BANDWIDTHS * cutoff * dt)))
    seeds = _coefficients([row[1] for row in given.values()])
    behind = noise * _noise_gain(seeds, dt, cutoff)
    if threshold is not None and not 0.0 <= threshold < math.inf:
        raise OutOfBounds(f"{where}: threshold = {threshold!r} m must not be negative; 0 always adapts.")
    found = _filter(order, tuple(given.values()), drift * math.sqrt(every * dt))
    at, size = _memory(order, int(substeps), found)
    x = np.zeros(size)
    x[at.a : at.a + order + 1] = seeds
    x[at.filter : at.filter + len(found.x0)] = found.x0
    x[at.settings : at.settings + len(found.params)] = list(found.params.values())
    x[at.found : at.found + order + 1] = [row[1] for row in given.values()]
    shared = max(1.0, 1.0 / (2.0 * cutoff * every * dt))
    return _block(found.block, order, int(substeps), every, float(dt))(
        memory=x,
        noise=behind * math.sqrt(shared),
        error=error * math.sqrt(shared),
        threshold=_THRESHOLD * behind if threshold is None else threshold,
        cutoff=cutoff,
    )


def _coefficients(numbers: list[float]) -> list[float]:
    """a_k of amplitude, delay and shape."""
    A, delay, *shape = numbers
    return [A, A * delay, *(A * part * delay ** (k + 2) for k, part in enumerate(shape))]


def _noise_gain(a: list[float], dt: float, cutoff: float) -> float:
    """Standard deviation of the filtered inverse of white noise of unit deviation."""
    z = np.exp(1j * np.linspace(1e-6, np.pi, 20001))
    s, w = 2.0 / dt * (z - 1.0) / (z + 1.0), 2.0 * np.pi * cutoff
    response = sum(value * s**k for k, value in enumerate(a)) * (w / (s + w)) ** len(a)
    return float(np.sqrt(np.trapezoid(np.abs(response) ** 2, dx=1.0 / 20000)))


def _filter(order: int, rows: tuple, process: float) -> Instance:
    """The filter; its measurement is scaled to unit noise."""
    names = _NAMES[: order + 1]
    law = inverse_plant(**({"shape3": 0.0} | {key: row[1] for key, row in zip(names, rows, strict=True)}))
    low_mid_high = dict(zip(names, rows, strict=True))
    return unscented(
        law,
        {key: (row[0], row[2]) for key, row in low_mid_high.items()},
        noise=1.0,
        process=process,
        initial_std={key: 0.5 * max(row[2] - row[1], row[1] - row[0]) / row[1] for key, row in low_mid_high.items()},
        bounds="clip",
    )


def _memory(order: int, stride: int, filter_: Instance | Block) -> tuple[UnscentedMemory, int]:
    law = filter_.block if isinstance(filter_, Instance) else filter_
    sizes = common_sizes(order, stride) | {"skipped": 1, "level": 1, "filter": len(law.state) + law.memory}
    sizes |= {"settings": len(law.params), "signals": 5, "found": len(law.outputs)}
    return laid_out(UnscentedMemory, sizes)


@cache
def _block(filter_: Block, order: int, stride: int, every: int, dt: float) -> Block:
    make = inplace_block(
        inputs={"d": "m", "d_m": "m"},
        outputs=outputs(order) | {"delay": "s", "adapting": "-"},
        params={
            "noise": Param("m", 1e-5, 0.0, about="standard deviation of the filtered command"),
            "error": Param("-", ERROR, 0.0, about="of the model, over the largest command of late"),
            "threshold": Param("m", 0.0, 0.0, about="least filtered command"),
            "cutoff": CUTOFF_PARAM,
        },
        memory=_memory(order, stride, filter_)[1],
        reference="ours; Wan, van der Merwe (2000), doi:10.1109/ASSPCC.2000.882463",
    )
    return replace(make(_step(filter_, order, stride, every)), name="unscented_inverse", fits=made_for(dt))


def _step(filter_: Block, order: int, stride: int, every: int) -> Callable:
    memory, n = _memory(order, stride, filter_)[0], order + 1
    nx, n_p, ny = len(filter_.state) + filter_.memory, len(filter_.params), len(filter_.outputs)

    def advance(x, u, dt, p, y):
        m = views(x, memory)
        want(m, order, stride, u[0], dt)
        adapting = 0.0
        if observe(m, order, u[1], dt, p[3]):
            m.level[0] = max(m.level[0] * math.exp(-dt / _LEVEL_TIME), abs(m.phi[n]))
            m.skipped[0] += 1.0
            if m.skipped[0] >= every and m.level[0] >= p[2] and m.level[0] > 0.0:
                m.skipped[0] = 0.0
                adapting = 1.0
                scale = 1.0 / math.hypot(p[0], p[1] * m.level[0])
                for k in range(n):
                    m.signals[k] = scale * m.phi[k]
                m.signals[4] = scale * m.phi[n]
                filter_step(
                    carray(m.filter, (nx,)),
                    carray(m.signals, (5,)),
                    dt,
                    carray(m.settings, (n_p,)),
                    carray(m.found, (ny,)),
                )
                unfold(m, order)
        act(m, order, y)
        y[n + 1] = m.found[1]
        y[n + 2] = adapting

    return rebind(advance, filter_step=verb(filter_.function))


@verb
def unfold(m: Any, order: int) -> None:
    """Coefficients from amplitude, delay and shape."""
    A, delay = m.found[0], m.found[1]
    m.a[0], m.a[1] = A, A * delay
    m.a[2] = A * m.found[2] * delay * delay
    if order > 2:
        m.a[3] = A * m.found[3] * delay * delay * delay
