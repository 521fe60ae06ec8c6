"""One tick of an interlock, compiled: what it watches, and how it goes to its safe state."""

from typing import NamedTuple

import numpy as np

from hyloop.core.jit import verb
from hyloop.core.memory import read
from hyloop.core.plan import CALLED, LOST, TRIPPED
from hyloop.transfer.saturation import UNLIMITED

__all__ = ["CALM", "Kept", "Told", "advance"]

FINITE = np.finfo(float).max
LEAST = 1e-12  # J, so that nothing is divided by nothing
CALM = 0.1  # s that a safe state must have lasted

# why it has tripped; CALLED, 1, is that it was told to
(
    NO_COMMAND,
    NO_D,
    NO_F,
    LATE,
    JUMP_D,
    JUMP_F,
    FROZEN_D,
    FROZEN_F,
    COMMAND,
    VELOCITY,
    ACCELERATION,
    RATE,
    DISPLACEMENT,
    FORCE,
    ERROR,
    ADDED,
) = range(CALLED + 1, CALLED + 17)
HOLD, ZERO_DISPLACEMENT, ZERO_FORCE = 1.0, 2.0, 3.0


class Told(NamedTuple):
    """Its parameters."""

    max_rate: float
    safe_state: float
    ramp: float
    tolerance: float
    max_d: float
    max_v: float
    max_a: float
    smoothing: float
    max_f: float
    max_error: float
    error_for: float
    jump_d: float
    jump_f: float
    frozen_d: float
    frozen_f: float
    frozen_path: float
    max_age: float
    max_added: float
    window: float
    least_work: float


class Kept(NamedTuple):
    """What it keeps from tick to tick."""

    ticks: float
    command: float  # of the tick before
    slow: float  # velocity of the command, smoothed
    wanted: float  # of the tick before, and the one before that
    wanted_before: float
    d_heard: float  # measured in the tick before that
    f_heard: float
    path: float  # of the command, all in all
    still_d: float  # s since the measured deformation has changed, and the path until then
    path_d: float
    still_f: float
    path_f: float
    lagging: float  # s since the error is too large
    added: float  # work, see `hyloop.transfer.interlock`
    turned: float
    peak_d: float  # largest command and largest measured force until now
    peak_f: float
    # since it has tripped
    trip: float  # why; 0: all is well
    tick: float  # in which
    value: float  # what was too much
    limit: float
    state: float  # where it goes; not what was told where the force is not known
    arrived: float  # tick in which it was there
    calm: float  # s since then
    settled: float


(
    TICKS,
    COMMANDED,
    SLOW,
    WANTED,
    WANTED_BEFORE,
    D,
    F,
    PATH,
    STILL_D,
    PATH_D,
    STILL_F,
    PATH_F,
    LAGGING,
    ADDED_WORK,
    TURNED,
    PEAK_D,
    PEAK_F,
    TRIP,
    TICK,
    VALUE,
    LIMIT,
    STATE,
    ARRIVED,
    STAYED,
    SETTLED,
) = range(len(Kept._fields))


def advance(x, u, dt, p, y):
    """One tick: the command passes, or goes to the safe state; see `hyloop.transfer.interlock`."""
    told = read(Told, p, 0)
    age = u[5] if len(u) > 5 else 0.0
    x[TICKS] += 1.0
    indicator = 0.0
    if x[TRIP] == 0.0:
        indicator = watch(x, told, u[0], u[1], u[2], u[3], u[4], age, dt)
    if x[TRIP] == 0.0:
        x[COMMANDED] = u[0]
        x[PEAK_D] = max(x[PEAK_D], abs(u[0]))
    else:
        retreat(x, told, u[3], age, dt)
    y[0] = x[COMMANDED]
    y[1] = x[TRIP]
    y[2] = x[SETTLED]
    y[3] = indicator
    y[4] = u[4] if u[4] != 0.0 else TRIPPED if x[TRIP] > 0.0 else 0.0


@verb
def watch(x, told, command, wanted, d, f, stop, age, dt):
    """Look at command and measurements, and trip where something is wrong; the energy indicator.

    What comes first is said: what cannot be read before what is too large, and what somebody else wants last; but where
    the loop was lost in the middle of a motion, the jump of the command is no news.
    """
    if stop == LOST:
        trip(x, CALLED, stop, 0.0)
    if not abs(command) <= FINITE:
        trip(x, NO_COMMAND, command, FINITE)
    indicator = 0.0
    if x[TICKS] > 1.0:  # nothing is measured before the first tick
        indicator = listen(x, told, d, f, age, dt)
    step = command - x[COMMANDED]
    velocity = step / dt
    weight = 1.0 / (told.smoothing + dt)
    acceleration = (velocity - x[SLOW]) * weight
    over(x, COMMAND, abs(command), told.max_d)
    over(x, VELOCITY, abs(velocity), told.max_v)
    over(x, ACCELERATION, abs(acceleration), told.max_a)
    if not abs(step) <= told.max_rate * dt:
        trip(x, RATE, abs(velocity), told.max_rate)
    if stop != 0.0:
        trip(x, CALLED, stop, 0.0)
    x[SLOW] += weight * dt * (velocity - x[SLOW])
    x[PATH] += abs(step)
    x[WANTED_BEFORE], x[WANTED] = x[WANTED], wanted
    return indicator


@verb
def listen(x, told, d, f, age, dt):
    """Look at what was measured in the tick before."""
    over(x, LATE, age, told.max_age)
    if not abs(d) <= FINITE:
        trip(x, NO_D, d, FINITE)
    if not abs(f) <= FINITE:
        trip(x, NO_F, f, FINITE)
    indicator = 0.0
    if x[TICKS] > 2.0:
        rate = 1.0 / dt
        over(x, JUMP_D, abs(d - x[D]) * rate, told.jump_d)
        over(x, JUMP_F, abs(f - x[F]) * rate, told.jump_f)
        indicator = weigh(x, told, d, f, dt)
    if d != x[D]:
        x[STILL_D], x[PATH_D] = 0.0, x[PATH]
    if f != x[F]:
        x[STILL_F], x[PATH_F] = 0.0, x[PATH]
    x[STILL_D] += dt
    x[STILL_F] += dt
    if x[PATH] - x[PATH_D] > told.frozen_path:
        over(x, FROZEN_D, x[STILL_D], told.frozen_d)
    if x[PATH] - x[PATH_F] > told.frozen_path:
        over(x, FROZEN_F, x[STILL_F], told.frozen_f)
    over(x, DISPLACEMENT, abs(d), told.max_d)
    over(x, FORCE, abs(f), told.max_f)
    error = abs(x[COMMANDED] - d)
    x[LAGGING] = x[LAGGING] + dt if not error <= told.max_error else 0.0
    if x[LAGGING] > told.error_for:
        over(x, ERROR, error, told.max_error)
    over(x, ADDED, indicator, told.max_added)
    x[D], x[F] = d, f
    x[PEAK_F] = max(x[PEAK_F], abs(f))
    return indicator


@verb
def weigh(x, told, d, f, dt):
    """Work that the actuator has added of late, over the work that has gone in and out of the specimen."""
    mean, moved = 0.5 * (f + x[F]), x[WANTED] - x[WANTED_BEFORE]
    fade = told.window / (told.window + dt)
    x[ADDED_WORK] = fade * x[ADDED_WORK] + mean * (d - x[D] - moved)
    x[TURNED] = fade * x[TURNED] + abs(mean * moved)
    return x[ADDED_WORK] / (x[TURNED] + told.least_work + LEAST)


@verb
def over(x, reason, value, limit):
    """Trip if a value is above its limit, or is no number, where there is a limit."""
    if limit < UNLIMITED and not value <= limit:
        trip(x, reason, value, limit)


@verb
def trip(x, reason, value, limit):
    """Note the first reason."""
    if x[TRIP] == 0.0:
        x[TRIP], x[TICK], x[VALUE], x[LIMIT] = reason, x[TICKS], value, limit


@verb
def retreat(x, told, f, age, dt):
    """Move the command towards the safe state, no faster than the ramp; note when it is there, and stays."""
    blind = not abs(f) <= FINITE or not age <= told.max_age or x[TRIP] == JUMP_F or x[TRIP] == FROZEN_F
    if x[STATE] == 0.0:
        x[STATE] = told.safe_state
    if x[STATE] == ZERO_FORCE and blind and x[SETTLED] == 0.0:
        x[STATE] = HOLD
    reach = min(told.ramp, told.max_rate) * dt
    there, command = True, x[COMMANDED]
    if x[STATE] == ZERO_DISPLACEMENT:
        command -= min(max(command, -reach), reach)
        there = command == 0.0
    elif x[STATE] == ZERO_FORCE and x[SETTLED] == 0.0:
        there = abs(f) <= told.tolerance
        if not there:  # the smaller the force, the slower, so that a rig that comes late does not go beyond
            share = min(max(f / max(x[PEAK_F], told.tolerance), -1.0), 1.0)
            command = min(max(command - share * reach, -x[PEAK_D]), x[PEAK_D])
    x[COMMANDED] = command
    if not there:
        x[STAYED] = 0.0
        return
    if x[STAYED] == 0.0:
        x[ARRIVED] = x[TICKS]
    x[STAYED] += dt
    if x[STAYED] > CALM:
        x[SETTLED] = 1.0
