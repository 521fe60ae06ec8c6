"""A servo-hydraulic actuator: valve, oil column and specimen, with its inner displacement loop closed."""

import math

import numpy as np

from hyloop.core.block import Param, inplace_block
from hyloop.core.exponential import held_input
from hyloop.core.jit import jit
from hyloop.errors import BadInput
from hyloop.transfer.saturation import FORCE, LEAST, MOTION, STROKE, UNLIMITED, VALVE, moved

__all__ = ["servo_hydraulic"]

_N, _M = 5, 2  # states x, v, f, z, dz/dt; inputs command and outer force
_STATES = 6  # these and the last command; the memory follows
_KEYS = 8  # parameters that the recurrence depends on; the memory begins with the tick and them
_PHI = _KEYS + 1
_G0 = _PHI + _N * _N
_MEMORY = _G0 + _N * _M


@jit
def plant_matrices(p, A, B):
    """The linear plant with its inner loop closed."""
    a1_beta0, a2, a3, beta1, beta2, m, c, k = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
    for i in range(_N):
        for j in range(_N):
            A[i, j] = 0.0
        for j in range(_M):
            B[i, j] = 0.0
    A[0, 1] = 1.0
    A[1, 0], A[1, 1], A[1, 2] = -k / m, -c / m, 1.0 / m
    A[2, 1], A[2, 2], A[2, 3] = -a2, -a3, 1.0
    A[3, 4] = 1.0
    A[4, 0], A[4, 3], A[4, 4] = -a1_beta0, -beta2, -beta1
    B[4, 0] = a1_beta0
    B[1, 1] = -1.0 / m


def stable(dt: float, **params: float) -> None:
    """Refuse parameters with which the closed loop is unstable."""
    A, B = np.empty((_N, _N)), np.empty((_N, _M))
    plant_matrices.py_func(np.array(list(params.values())), A, B)
    worst = max(np.linalg.eigvals(A), key=lambda pole: pole.real)
    if not worst.real < 0.0:
        raise BadInput(
            f"the plant is unstable: a pole of the closed loop lies at {worst:.4g} rad/s. Lower a1_beta0, or raise c, "
            "k or beta1."
        )


@inplace_block(
    inputs={"d": "m", "f": "N"},
    outputs={**MOTION, "f": "N", "opening": "-"},
    state={"x": "m", "x_rate": "m/s", "force": "N", "valve": "N/s", "valve_rate": "N/s2", "c_last": "m"},
    params={
        "a1_beta0": Param("N/(m s3)", 2.13e13, 1.0, about="servo-valve gain"),
        "a2": Param("N/m", 4.23e6, 0.0, about="natural velocity feedback: stiffness of the oil column"),
        "a3": Param("1/s", 3.3, 0.0, about="leakage"),
        "beta1": Param("1/s", 425.0, 1e-6, about="servo-valve damping"),
        "beta2": Param("1/s2", 1.0e5, 1e-6, about="servo-valve stiffness"),
        "m": Param("kg", 29.1, 1e-6, about="mass that moves with the piston"),
        "c": Param("N s/m", 114.6, 0.0, about="damping of the specimen"),
        "k": Param("N/m", 1.19e6, 0.0, about="stiffness of the specimen"),
        "gain": Param("-", 1.0, 1e-6, about="of the command"),
        "external": Param(
            "-", 0.0, 0.0, 1.0, about="1: the device of the site resists, and k and c only foresee its force"
        ),
        "stroke": Param("m", UNLIMITED, LEAST, about="largest deformation; there the piston stands"),
        "velocity": Param("m/s", UNLIMITED, LEAST, about="largest velocity"),
        "valve_velocity": Param("m/s", UNLIMITED, LEAST, about="velocity without load at full opening of the valve"),
        "force_limit": Param("N", UNLIMITED, LEAST, about="largest force"),
    },
    memory=_MEMORY,
    fits=stable,
    reference="Silva, Gomez, Maghareh, Dyke, Spencer (2020), Benchmark control problem for real-time hybrid "
    "simulation, Mech. Syst. Signal Process. 135, 106381, doi:10.1016/j.ymssp.2019.106381; Merritt (1967), Hydraulic "
    "Control Systems.",
)
def servo_hydraulic(x, u, dt, p, y):
    r"""Servo-valve, actuator with natural velocity feedback, and specimen, in a closed displacement loop.

    .. math::
        \ddot z + \beta_1 \dot z + \beta_2 z = a_1\beta_0\,(g\,c - d), \qquad
        \dot f + a_3 f = z - a_2 \dot d, \qquad m\ddot d + c\,\dot d + k\,d = f - f_o

    Exact for a command that a converter holds over the tick. The output ``f`` is the force of the actuator, which is
    what a load cell shows; ``handed_on`` as device gives it to the structure. With ``external = 1`` the device of the
    site resists instead of k and c, and m is the mass that moves with it: :math:`f_o = f_{device} - k\,d - c\,\dot d`
    of the tick before is held, so that k and c, as of the untouched device, keep the explicit coupling stable.

    Limits are kept after every tick: of the valve (its opening and its rate of force, at which the piston would run
    with `valve_velocity`), of force, velocity and stroke. ``opening`` is the share of the valve that is used.
    """
    Phi, G0 = _STATES + _PHI, _STATES + _G0
    if not _same(x, dt, p):  # the first tick, or a parameter has changed
        _discretise(x, dt, p, Phi, G0)
    d_last, v_last = x[0], x[1]
    active, largest = 0.0, p[1] * p[12]  # of the valve, as a rate of force
    wanted = p[8] * x[5]
    error, reach = wanted - d_last, largest * p[4] / p[0]
    if abs(error) > reach:
        wanted, active = d_last + math.copysign(reach, error), VALVE
    outer = p[9] * (u[1] - p[7] * d_last - p[6] * v_last)
    d, v, f, z, dz = _recurrence(x, Phi, G0, wanted, outer)
    if abs(z) > largest:
        z, active = math.copysign(largest, z), VALVE
        dz = 0.0 if dz * z > 0.0 else dz
    if abs(f) > p[13]:
        f = math.copysign(p[13], f)
        active += FORCE
    a = (f - outer - p[6] * v - p[7] * d) / p[5]
    d, v, a, more = moved(d, v, a, d_last, v_last, dt, p[10], p[11])
    if more % 2.0 == STROKE and v * d > 0.0:  # the piston stands at its end
        v = 0.0
    x[0], x[1], x[2], x[3], x[4], x[5] = d, v, f, z, dz, u[0]
    y[0], y[1], y[2], y[3], y[4] = d, v, a, active + more, f
    y[5] = z / largest if p[12] < UNLIMITED else 0.0


@jit
def _discretise(x, dt, p, Phi, G0):
    """Recurrence over the tick in its place in the memory."""
    A, B = np.empty((_N, _N)), np.empty((_N, _M))
    plant_matrices(p, A, B)
    free, held, _ = held_input(A, B, dt, False)
    for i in range(_N):
        for j in range(_N):
            x[Phi + i * _N + j] = free[i, j]
        for j in range(_M):
            x[G0 + i * _M + j] = held[i, j]


@jit
def _same(x, dt, p):
    """Whether the recurrence is still that of these parameters; notes them."""
    same = x[_STATES] == dt
    x[_STATES] = dt
    for i in range(_KEYS):
        same = same and x[_STATES + 1 + i] == p[i]
        x[_STATES + 1 + i] = p[i]
    return same


@jit
def _recurrence(x, Phi, G0, command, outer):
    """The five states after a tick."""
    return (
        _row(x, Phi, G0, 0, command, outer),
        _row(x, Phi, G0, 1, command, outer),
        _row(x, Phi, G0, 2, command, outer),
        _row(x, Phi, G0, 3, command, outer),
        _row(x, Phi, G0, 4, command, outer),
    )


@jit
def _row(x, Phi, G0, i, command, outer):
    total = x[G0 + _M * i] * command + x[G0 + _M * i + 1] * outer
    for j in range(_N):
        total += x[Phi + _N * i + j] * x[j]
    return total
