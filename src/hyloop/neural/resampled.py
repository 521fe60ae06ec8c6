r"""A trained block in a controller that ticks at another rate, a whole number of times faster or slower.

In a faster controller it runs in every m-th tick, on the inputs of that tick; between them its outputs are held, or go
on along the line through the last two:

.. math:: y_{k+j} = y_k + \frac{j}{m}\,(y_k - y_{k-m}), \qquad 0 \le j < m

Held, they are late by (m - 1)/2 ticks in the mean; along the line by none, but for an overshoot where they turn. In a
slower controller it runs m times in a tick, on inputs that go on a straight line from the last sample to this one; it
then sees a motion without anything above half of the controller's rate. Both are causal.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from hyloop.core.block import Block, Instance, inplace_block, rebind
from hyloop.core.tick import same_tick, typed_tick
from hyloop.errors import BadInput

__all__ = ["BETWEEN", "own_tick", "resampled"]

BETWEEN = ("hold", "line")
_MOST = 32  # signals on either side
_MANY = 16  # ticks in a sample, or samples in a tick
# the memory: ticks so far, the interval of the block, how many outputs go on along a line; then four rows of signals
_COUNT, _TICK, _LINE, _ROWS = 0, 1, 2, 3
_LAST_U, _U, _LAST_Y, _Y = (_ROWS + k * _MOST for k in range(4))
_INSIDE = _ROWS + 4 * _MOST  # where the state of the block itself begins
inner: Any = None  # the block, which `resampled` puts here


def advance(x, u, dt, p, y):
    """A trained block at a rate that is not its own."""
    count, tick = x[_COUNT], x[_TICK]
    if tick > dt:
        m = round(tick / dt)
        phase = int(count) % m
        if phase == 0:
            for k in range(len(y)):
                x[_LAST_Y + k] = x[_Y + k]
            inner(x[_INSIDE:], u, tick, p, x[_Y : _Y + _MOST])
            if count == 0.0:
                for k in range(len(y)):
                    x[_LAST_Y + k] = x[_Y + k]
        for k in range(len(y)):
            part = phase / m if k < x[_LINE] else 0.0
            y[k] = x[_Y + k] + part * (x[_Y + k] - x[_LAST_Y + k])
    else:
        m = round(dt / tick)
        if count == 0.0:
            for k in range(len(u)):
                x[_LAST_U + k] = u[k]
        for i in range(1, m + 1):
            part = i / m
            for k in range(len(u)):
                x[_U + k] = part * u[k] + (1.0 - part) * x[_LAST_U + k]
            inner(x[_INSIDE:], x[_U : _U + _MOST], tick, p, y)
        for k in range(len(u)):
            x[_LAST_U + k] = u[k]
    x[_COUNT] += 1.0


def resampled(device: Instance, between: str = "hold") -> Instance:
    """The same block for controllers that tick a whole number of times faster or slower than it was trained.

    Parameters
    ----------
    device : Instance
        A trained block with one sampling interval of its own; one without runs at any rate and is returned as it is.
    between : {"hold", "line"}
        What its outputs do between its samples, in a faster controller.
    """
    law = device.block
    if between not in BETWEEN:
        raise BadInput(f'resample = {between!r} is none of "hold" and "line".')
    if law.tick is None:
        return device
    if max(len(law.inputs), len(law.outputs)) > _MOST:
        raise BadInput(f"resample: {law.name} has more than {_MOST} inputs or outputs; train it at the wanted rate.")
    own = device.x0
    made = inplace_block(
        inputs=law.inputs,
        outputs=law.outputs,
        params=law.params,
        memory=_INSIDE + len(own),
        reference=law.reference,
        linear=law.linear,
        fits=lambda dt, **_: _check(law, dt),
    )(rebind(advance, inner=law.compiled))
    contents = np.concatenate([np.zeros(_INSIDE), own])
    lines = [key for key in law.outputs if key != "outside"]  # that one is a count, and the last
    contents[_TICK], contents[_LINE] = law.tick, float(len(lines)) if between == "line" else 0.0
    return replace(made, name=law.name)(memory=contents, **device.params)


def own_tick(device: Instance) -> float | None:
    """Interval in s of the samples that a trained block takes, resampled or not; None where it has learned none."""
    inside = device.block.function.__module__ == __name__
    return float(device.memory[_TICK]) if inside else device.block.tick


def _check(law: Block, dt: float) -> None:
    """Refuse rates between which there is no whole number."""
    assert law.tick is not None
    ratio = max(law.tick / dt, dt / law.tick)
    if not (same_tick(ratio, round(ratio)) and ratio < _MANY + 0.5):
        raise BadInput(
            f"{law.name} was trained at {1.0 / law.tick:g} Hz and can be resampled to whole multiples or fractions of "
            f"that, up to {_MANY}, but not to {1.0 / dt:g} Hz. Choose a controller tick such as "
            f"{typed_tick(law.tick)} s, half or twice of it."
        )
