r"""A law together with the load cell that shows its force: offset and delay become parameters like any other.

.. math:: f_m(t) = f(t - \tau) + o

With ``sensed(law)`` in place of the law, a filter finds both with the parameters of the law; an offset that walks at
random is a drift. The law's stored state is that of `late` ticks ago. From there it advances through the inputs since,
with the parameters that are asked for, and the force of :math:`\tau` ticks ago lies on a straight line between two of
its samples, as in `hyloop.transfer.sensor`. So a delay shows in the force at once, in laws of velocity as well, where
one tick with late inputs would show nothing of it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from inspect import signature
from typing import Any, NamedTuple

from numba import carray

from hyloop.core.block import Block, Instance, Param, inplace_block, rebind
from hyloop.core.jit import pointer, verb
from hyloop.core.memory import laid_out, tail, views
from hyloop.errors import BadInput, OutOfBounds
from hyloop.updating.filters.measurement import measurement
from hyloop.updating.filters.unscented import unscented

__all__ = ["LATEST", "SENSOR_SHARES", "sensed", "sensor_shares"]

LATEST = 64  # ticks; each of them is a step of the law in every question that a filter asks
SENSOR = ("sensor_offset", "sensor_delay")
# deviations of offset and delay as fractions of the width of their bounds, because both begin at zero: a walk over a
# thirtieth of it in 100 s at 1024 Hz, so that a drift is followed and what the law explains is not taken for one
SENSOR_SHARES = {"process": 1e-4, "initial_std": 0.1}

measure: Any = None  # bound by `_step`


class SensedMemory(NamedTuple):
    """What lies in the state."""

    law: int  # state of the law before the oldest inputs
    ring: int  # (late + 1, inputs): inputs of the past, the oldest first
    begun: int  # 1 after the first tick
    trial: int  # state of the law on its way to the present
    outputs: int  # of the law
    forces: int  # of the oldest inputs and all after them


def sensed(law: Instance, late: int = 4) -> Instance:
    """The law with a load cell behind it: further parameters are `sensor_offset` in N and `sensor_delay` in ticks.

    Parameters
    ----------
    law : Instance
        Any law with named states and an output ``f``, which becomes the only one: the force as it is shown.
    late : int
        Longest delay in ticks. The state kept is that of so many ticks ago, and every evaluation takes the law through
        up to ``late + 1`` ticks.

    Notes
    -----
    Motion cannot tell an offset from a force of the law that is of the same kind: free friction levels of both
    directions, or a constant force. It is then the uncertainties at the start that share it out. A delay and a free
    spring in series with a viscous law are nearly the same, too. And what a law does wrongly goes where it fits best:
    a LuGre model of a bilinear device takes its missing compliance for a delay, whatever the sensor does, and its
    friction is found no better than without. Take `sensed` where the law is right but for its free parameters.

    Any of `unscented`, `ensemble` and `recursive_least_squares` takes it; the last has no random walk, and follows a
    drift only as it forgets. Where stiffness and strength of a law of plasticity are both free, its state was reached
    with wrong parameters, and `unscented` may settle far off, with a sensor or without: on a bilinear device that began
    30 % off, in 3 of 24 runs, stiffness by 70 % and the delay lost. Let it filter the state, too,
    ``states={"d_p": (1e-4, 1e-6)}``: in none of 24, delays to 0.4 ticks.

    Before the first tick the inputs are taken to have been those of the first one. Where the sensor has a delay only,
    and that is known, ``unscented(delay=...)`` costs less.

    References
    ----------
    Gelb (1974), Applied Optimal Estimation, section 7.1 (a bias as a state); Li, Mourikis (2014), Online temporal
    calibration for camera-IMU systems, Int. J. Robotics Research 33(7), 947-964 (a delay as a state).
    """
    where = f"sensed({law.block.name})"
    if "f" not in law.block.outputs:
        raise BadInput(f"{where}: the law has no output 'f' that a load cell could show.")
    if law.block.memory:
        raise BadInput(f"{where}: the law keeps an unnamed memory, which a filter on parameters does not carry.")
    if int(late) != late or not 1 <= late <= LATEST:
        raise OutOfBounds(f"{where}: late = {late!r} must be a whole number of ticks from 1 to {LATEST}.")
    taken = [key for key in SENSOR if key in law.block.params]
    if taken:
        raise BadInput(f"{where}: the law already has a parameter {taken[0]}; it needs no second sensor.")
    return _block(law.block, int(late))(initial=law.initial, **law.params)


def sensor_shares(
    what: str, given: float | Mapping[str, float] | None, own: Iterable[str], sensor: Iterable[str]
) -> dict[str, float]:
    """Walk or deviation at the start for every unknown of a law and its sensor, from what is said of those of the law.

    `what` is "process" or "initial_std"; `given` is one number for all parameters of the law, or a mapping, in which
    those of the sensor may stand, too. None leaves it at what `unscented` takes for a law.
    """
    usual = signature(unscented).parameters[what].default
    values = dict(given) if isinstance(given, Mapping) else dict.fromkeys(own, usual if given is None else float(given))
    return dict.fromkeys(sensor, SENSOR_SHARES[what]) | values


@cache
def _block(law: Block, late: int) -> Block:
    step, memory, size = _step(law, late)
    state = {**law.state, **{f"{key}_{k}_ago": unit for k in range(late, -1, -1) for key, unit in law.inputs.items()}}
    assert len(state) == memory.begun  # names stand where the step looks for them
    state |= {"begun": "-"} | {f"work_{k}": "-" for k in range(size - memory.begun - 1)}
    make = inplace_block(
        inputs=law.inputs,
        outputs={"f": "N"},
        params={
            **law.params,
            "sensor_offset": Param("N", 0.0, about="added to the force by its sensor"),
            "sensor_delay": Param("-", 0.0, 0.0, float(late), about="ticks by which the sensor shows the force late"),
        },
        state=state,
        reference=law.reference,
        flags="sensed",
    )
    return replace(make(step), name=f"sensed({law.name})", tick=law.tick)


def _step(law: Block, late: int) -> tuple[Callable, SensedMemory, int]:
    """Make ``advance(x, u, dt, p, y)``, and lay out what it keeps; with the size of that."""
    nx, inputs, n_p, slots = len(law.state), len(law.inputs), len(law.params), late + 1
    sizes = {"law": nx, "ring": slots * inputs, "begun": 1, "trial": nx, "outputs": len(law.outputs), "forces": slots}
    memory, size = laid_out(SensedMemory, sizes)

    def advance(x, u, dt, p, y):
        m, own = views(x, memory), pointer(p)
        # a sigma point may lie beyond the bounds of the filter; what is later than kept is the latest kept
        delay = min(max(p[n_p + 1], 0.0), float(late))
        push(slots, inputs, m, pointer(u))
        m.forces[0] = measure(m.law, m.ring, dt, own, m.law, m.outputs)
        for i in range(nx):
            m.trial[i] = m.law[i]
        whole = int(delay)
        for k in range(1, slots - whole):
            m.forces[k] = measure(m.trial, tail(m.ring, k * inputs), dt, own, m.trial, m.outputs)
        newer, part = late - whole, delay - whole
        older = newer - 1 if newer > 0 else newer
        y[0] = (1.0 - part) * m.forces[newer] + part * m.forces[older] + p[n_p]

    return rebind(advance, measure=measurement(law)), memory, size


@verb
def push(slots, inputs, m, u):
    """Put the inputs behind those of the past; the first ones fill the ring."""
    ring = carray(m.ring, (slots, inputs))
    for k in range(slots - 1):
        for i in range(inputs):
            ring[k, i] = ring[k + 1, i] if m.begun[0] > 0.0 else u[i]
    for i in range(inputs):
        ring[slots - 1, i] = u[i]
    m.begun[0] = 1.0
