r"""A trained block in a controller that ticks at another rate, a whole number of times faster or slower.

In a faster controller it runs in every m-th tick, on the inputs of that tick; between them its outputs are held, or go
on along the line through the last two:

.. math:: y_{k+j} = y_k + \frac{j}{m}\,(y_k - y_{k-m}), \qquad 0 \le j < m

Held, they are late by (m - 1)/2 ticks in the mean; along the line by none, but for an overshoot where they turn.

Or it runs in *phases*: m of it in turn, one in every tick, each with a state of its own and the samples of every m-th
tick. Then every output is of this very tick, as it was trained, for the work of one network. A network with memory
learns faster with longer samples, as a history has fewer of them; phases give it back the rate of the controller.

Phases that know nothing of each other drift apart in a loop: each takes the part of the motion at multiples of its rate
for a constant, answers with one of its own, and so drives that very motion. Hence the memory of a phase goes a tenth of
the way to that of the phase before it, which is one tick old.

In a slower controller it runs m times in a tick, on inputs that go on a straight line from the last sample to this one;
it then sees a motion without anything above half of the controller's rate. All of it is causal.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from hyloop.core.block import Block, Instance, inplace_block, rebind
from hyloop.core.jit import jit
from hyloop.core.tick import same_tick, typed_tick
from hyloop.errors import BadInput
from hyloop.neural.lanes import as_float32
from hyloop.neural.ranges import MONITOR

__all__ = ["BETWEEN", "own_tick", "resampled"]

BETWEEN = ("hold", "line", "phases")
_MOST = 32  # signals on either side
_MANY = 32  # ticks in a sample, or samples in a tick
# the memory: ticks so far, the interval of the block, how many outputs go on along a line (-1: phases), the size of its
# state and the part of it that never changes, ticks outside of all phases, named states before those that count; then
# four rows of signals
_COUNT, _TICK, _LINE, _SIZE, _FIXED, _CHANGING, _OUTSIDE, _NAMED, _ROWS = 0, 1, 2, 3, 4, 5, 6, 7, 8
_LAST_U, _U, _LAST_Y, _Y = (_ROWS + k * _MOST for k in range(4))
_INSIDE = _ROWS + 4 * _MOST  # where the state of the block itself begins; behind it, what changes, for each phase
_PHASES = -1.0
_SHARED = np.float32(0.1)  # of the way to the phase before: on imposed motions errors stay the same to 0.01 points
inner: Any = None  # the block, which `resampled` puts here


def advance(x, u, dt, p, y):
    """A trained block at a rate that is not its own."""
    count, tick = x[_COUNT], x[_TICK]
    if tick > dt and x[_LINE] == _PHASES:
        _turn(x, u, tick, int(count), round(tick / dt), p, y)
    elif tick > dt:
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


def _turn(x, u, tick, count, m, p, y):
    """One phase advances: its state is brought in, and put back afterwards."""
    size, fixed, changing = int(x[_SIZE]), int(x[_FIXED]), int(x[_CHANGING])
    kept = size - (changing - fixed)
    place = _INSIDE + size + (count % m) * (kept + 1)
    for k in range(fixed):
        x[_INSIDE + k] = x[place + k]
    for k in range(changing, size):
        x[_INSIDE + k] = x[place + fixed + k - changing]
    inner(x[_INSIDE : _INSIDE + size], u, tick, p, y)
    for k in range(fixed):
        x[place + k] = x[_INSIDE + k]
    for k in range(changing, size):
        x[place + fixed + k - changing] = x[_INSIDE + k]
    if count > 0 and changing > fixed:  # behind weights all is in single precision (`hyloop.neural.image`)
        single, before = as_float32(x), _INSIDE + size + ((count - 1) % m) * (kept + 1)
        shift = 2 * (before - place)
        for k in range(2 * (place + fixed), 2 * (place + kept)):
            single[k] += _SHARED * (single[k + shift] - single[k])
        for k in range(int(x[_NAMED])):  # of a law that the network guides
            x[place + k] += _SHARED * (x[before + k] - x[place + k])
    if x[_OUTSIDE] >= 0.0:  # the last output counts ticks; what is given out is the sum of all phases
        x[_OUTSIDE] += y[len(y) - 1] - x[place + kept]
        x[place + kept], y[len(y) - 1] = y[len(y) - 1], x[_OUTSIDE]


def resampled(device: Instance, between: str = "hold") -> Instance:
    """The same block for controllers that tick a whole number of times faster or slower than it was trained.

    Parameters
    ----------
    device : Instance
        A trained block with one sampling interval of its own; one without runs at any rate and is returned as it is.
    between : {"hold", "line", "phases"}
        What its outputs do between its samples, in a faster controller.
    """
    law = device.block
    if between not in BETWEEN:
        raise BadInput(f'resample = {between!r} is none of "hold", "line" and "phases".')
    if law.tick is None:
        return device
    if max(len(law.inputs), len(law.outputs)) > _MOST:
        raise BadInput(f"resample: {law.name} has more than {_MOST} inputs or outputs; train it at the wanted rate.")
    if between == "phases" and law.constant == (0, 0):  # what cannot be shared would drift apart in a loop
        raise BadInput(f'resample: {law.name} cannot run in phases; stacks and guided laws can. Say "hold" or "line".')
    own, (fixed, changing) = device.x0, law.constant
    each = np.concatenate([own[:fixed], own[changing:], [0.0]]) if between == "phases" else np.zeros(0)
    contents = np.concatenate([np.zeros(_INSIDE), own, np.tile(each, _MANY)])
    lines = [key for key in law.outputs if key != "outside"]  # that one is a count, and the last
    contents[_TICK], contents[_SIZE] = law.tick, len(own)
    contents[_LINE] = {"hold": 0.0, "line": float(len(lines)), "phases": _PHASES}[between]
    contents[_FIXED], contents[_CHANGING] = fixed, changing
    contents[_NAMED] = min((k for k, key in enumerate(law.state) if key in MONITOR), default=0)
    contents[_OUTSIDE] = 0.0 if "outside" in law.outputs else -1.0
    made = inplace_block(
        inputs=law.inputs,
        outputs=law.outputs,
        params=law.params,
        memory=len(contents),
        reference=law.reference,
        linear=law.linear,
        fits=lambda dt, **_: _check(law, dt),
    )(rebind(advance, inner=law.compiled, _turn=jit(rebind(_turn, inner=law.compiled))))
    return replace(made, name=law.name)(memory=contents, **device.params)


def own_tick(device: Instance) -> float | None:
    """Interval in s between samples that a trained block takes, resampled or not; None where it is that of the tick."""
    if device.block.function.__module__ != __name__:
        return device.block.tick
    return None if device.memory[_LINE] == _PHASES else float(device.memory[_TICK])


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
