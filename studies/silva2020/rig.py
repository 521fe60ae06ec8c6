"""The rig: servo-valve, actuator and specimen as one block, what its instruments show, and a load cell."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numba import carray

from hyloop.core import Block, Instance, Param, inplace_block
from hyloop.core.block import block, rebind
from hyloop.core.jit import verb
from hyloop.core.memory import tail
from hyloop.core.noise import normal_pair

from .benchmark import NOMINAL, RATE, Plant

STATES = 5  # valve, its rate, actuator force, displacement, velocity
REFERENCE = "Silva, Gomez, Maghareh, Dyke, Spencer (2020), MSSP 135, 106381"
LSB = 2 * 3.8 / 2**18  # V, 18 bits
LSB_D, LSB_F = LSB * 7.89e-3, LSB * 1096.0  # m and N

law: Any = None  # bound by `_step`


def servo(plant: Plant, rate: int = RATE, specimen: Instance | None = None, ahead: int = 0) -> Instance:
    """The plant as an actuator: displacement, velocity and force at a tick; its command is then held until the next.

    With `ahead` it gives what is at the end of the tick. Read as a measurement in the next tick, that is of the very
    time of the next tick, and the benchmark's feedback controller has it so. Its equations are solved by the classical Runge-Kutta method at 4096 Hz or more, as the benchmark's are. A nonlinear
    `specimen` adds its force to that of the linear one; it is asked once in a sub-step.
    """
    ode = max(1, math.ceil(RATE / rate))
    blk = _servo(specimen.block if specimen else None, ode)
    memory = np.zeros(STATES)
    if specimen:
        memory = np.concatenate([memory, [0.0], specimen.x0, list(specimen.params.values()), np.zeros(4), np.zeros(4)])
    return blk(memory=memory, ahead=ahead, **plant._asdict())


@cache
def _servo(inside: Block | None, ode: int) -> Block:
    size = STATES + (1 + len(inside.state) + inside.memory + len(inside.params) + 8 if inside else 0)
    make = inplace_block(
        inputs={"d": "m"},
        outputs={"d": "m", "v": "m/s", "f": "N"},
        params={key: Param("-", value) for key, value in Plant()._asdict().items()}
        | {"ahead": Param("-", 0.0, 0.0, 1.0, about="ticks by which the outputs are ahead of the tick")},
        memory=size,
        reference=REFERENCE,
    )
    return replace(make(_step(inside, ode)), name=f"servo({inside.name})" if inside else "servo")


def _step(inside: Block | None, ode: int) -> Callable:
    if inside is None:

        def linear(x, u, dt, p, y):
            y[0], y[1], y[2] = x[3], x[4], x[2]
            for _ in range(ode):
                runge_kutta(tail(x, 0), u[0], 0.0, dt / ode, p)
            if p[9] > 0.5:
                y[0], y[1], y[2] = x[3], x[4], x[2]

        return linear
    nx, n_p = len(inside.state) + inside.memory, len(inside.params)
    ny, nu = len(inside.outputs), len(inside.inputs)
    order = tuple(("d", "v").index(key) for key in inside.inputs)
    force = list(inside.outputs).index("f")

    def nonlinear(x, u, dt, p, y):
        y[0], y[1], y[2] = x[3], x[4], x[2]
        state, params = tail(x, STATES + 1), tail(x, STATES + 1 + nx)
        signals, found = tail(x, STATES + 1 + nx + n_p), tail(x, STATES + 1 + nx + n_p + 4)
        for _ in range(ode):
            runge_kutta(tail(x, 0), u[0], x[STATES], dt / ode, p)
            for k in range(nu):
                signals[k] = x[3 + order[k]]
            law(carray(state, (nx,)), carray(signals, (nu,)), dt / ode, carray(params, (n_p,)), carray(found, (ny,)))
            x[STATES] = found[force]
        if p[9] > 0.5:
            y[0], y[1], y[2] = x[3], x[4], x[2]

    return rebind(nonlinear, law=verb(_inplace(inside)))


pure: Any = None
SIZES = (0, 0)


def _inplace(inside: Block) -> Callable:
    """A law that writes into its arguments, whichever kind it is."""
    if not inside.pure:
        return inside.function
    nx, ny = len(inside.state), len(inside.outputs)

    def advance(x, u, dt, p, y):
        outputs, new = pure(x, u, dt, p)
        for i in range(ny):
            y[i] = outputs[i]
        for i in range(nx):
            x[i] = new[i]

    return rebind(advance, pure=inside.compiled)


@verb
def rates(q, w, f, d, v, u, extra, p):
    """Derivatives of valve, valve rate, force, displacement and velocity."""
    return (
        w,
        p[0] * (p[8] * u - d) - p[3] * w - p[4] * q,
        q - p[2] * f - p[1] * v,
        v,
        (f - extra - p[6] * v - p[7] * d) / p[5],
    )


@verb
def runge_kutta(x, u, extra, h, p):
    """One step of the classical method, with the command and the force of a nonlinear specimen held."""
    q, w, f, d, v = x[0], x[1], x[2], x[3], x[4]
    k1 = rates(q, w, f, d, v, u, extra, p)
    c = h / 2.0
    k2 = rates(q + c * k1[0], w + c * k1[1], f + c * k1[2], d + c * k1[3], v + c * k1[4], u, extra, p)
    k3 = rates(q + c * k2[0], w + c * k2[1], f + c * k2[2], d + c * k2[3], v + c * k2[4], u, extra, p)
    k4 = rates(q + h * k3[0], w + h * k3[1], f + h * k3[2], d + h * k3[3], v + h * k3[4], u, extra, p)
    for i in range(STATES):
        x[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])


@block(
    inputs={"d": "m"},
    outputs={"d": "m", "v": "m/s", "f": "N"},
    state={"d_1": "m", "d_2": "m"},
    params={key: Param("-", getattr(NOMINAL, key)) for key in ("me", "ce", "ke")},
    reference="ours: what no rig can do",
)
def perfect(x, u, dt, p):
    """A rig that is where it should be at once; velocity and acceleration by backward differences."""
    a = (u[0] - 2.0 * x[0] + x[1]) / (dt * dt)
    v = (u[0] - x[0]) / dt + 0.5 * dt * a
    return (u[0], v, p[0] * a + p[1] * v + p[2] * u[0]), (u[0], x[0])


@block(inputs={"f": "N"}, outputs={"f": "N"}, params={}, reference=REFERENCE)
def load_cell(x, u, dt, p):
    """The force between actuator and specimen is the one that the structure is given."""
    return (u[0],), ()


@inplace_block(
    inputs={"d": "m", "f": "N"},
    outputs={"d": "m", "f": "N"},
    state={"ticks": "-", "lost": "-", "d_shown": "m", "f_1": "N", "f_2": "N", "f_3": "N"},
    params={
        "noise_d": Param("m", 0.0, 0.0, about="standard deviation of the displacement"),
        "noise_f": Param("N", 0.0, 0.0, about="standard deviation of the force"),
        "seed": Param("-", 0.0, 0.0, about="of the noise"),
        "losses": Param("1/s", 0.0, 0.0, about="how often samples are lost"),
        "loss": Param("-", 1.0, 1.0, about="ticks that are lost each time"),
        "ahead": Param("-", 0.0, 0.0, 1.0, about="ticks by which what comes in is ahead of the tick"),
    },
    reference=REFERENCE,
)
def instruments(x, u, dt, p, y):
    """Noise, 18 bits, lost samples (the last one is shown again), and the unit delay of the force with its hold.

    The benchmark delays the force by a tick and holds it over the next: 1.5 ticks. A step of the structure takes the
    force at its own time, so half of the delay is the mean of two samples.
    """
    n_d, n_f = normal_pair(p[2], x[0])
    if x[1] > 0.0:
        x[1] -= 1.0
    elif p[3] > 0.0:
        chance, _ = normal_pair(p[2] + 1e6, x[0])
        if math.erfc(chance / math.sqrt(2.0)) / 2.0 < p[3] * dt:
            x[1] = p[4]
    d, f = x[2], x[3]
    if x[1] == 0.0:
        d = LSB_D * round((u[0] + p[0] * n_d) / LSB_D)
        f = LSB_F * round((u[1] + p[1] * n_f) / LSB_F)
    y[0] = d
    y[1] = 0.5 * (x[4] + x[5]) if p[5] > 0.5 else 0.5 * (x[3] + x[4])
    x[0], x[2], x[3], x[4], x[5] = x[0] + 1.0, d, f, x[3], x[4]
