"""Actuators that are linear plants of any order, with one axis or several that disturb each other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from hyloop.core.block import Block, Instance, inplace_block
from hyloop.core.exponential import held_input
from hyloop.core.jit import jit
from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.transfer.dead_time import BEFORE, behind
from hyloop.transfer.plant import Plant
from hyloop.transfer.saturation import LIMITS, MOTION, UNLIMITED, followed, moved

__all__ = ["linear_plant", "plant_arrays", "state_space", "transfer_function", "transfer_matrix", "zeros_poles"]

Hold = Literal["line", "step"]

# memory of the block: these numbers, then the arrays of `_sizes` one after another, by rows
_STATES, _LINE, _DT, _HEAD = 0, 1, 2, 3
_VELOCITY = 1e-12  # of what it is made of: a product C B that small is zero but for round-off


def _sizes(n: int, m: int, q: int) -> dict[str, int]:
    """Arrays in the memory of a plant with n states, m commands and q motions, and their lengths."""
    return {
        "A": n * n,
        "B": n * m,
        "C": q * n,
        "D": q * m,
        "CA": q * n,
        "CB": q * m,
        "CAA": q * n,
        "CAB": q * m,
        "known": q,
        "Phi": n * n,
        "G0": n * m,
        "G1": n * m,
        "x": n,
        "new": n,
        "u": m,
        "u_now": m,
        "d": q,
        "v": q,
        "y": q,
        "y_rate": q,
    }


def advance(x, u, dt, p, y):
    r"""A linear plant of any order, discretised exactly.

    .. math:: \dot x = A x + B c, \qquad d = C x + D c

    With ``hold = "line"`` it is exact for a command that moves on a straight line between ticks; with ``"step"`` for
    one that a converter holds over the tick that follows, so that the motion comes later. *v* and *a* are
    :math:`C A x + C B c` and :math:`C A^2 x + C A B c` where the plant has them (*v*: :math:`D = 0`; *a*: :math:`C B =
    0` too), else backward differences. The plant begins at rest.
    """
    n, m, q, line = int(x[_STATES]), len(u), (len(y) - 1) // 3, x[_LINE] > 0.0
    A = _HEAD
    B = A + n * n
    C = B + n * m
    D = C + q * n
    CA = D + q * m
    CB = CA + q * n
    CAA = CB + q * m
    CAB = CAA + q * n
    known = CAB + q * m
    Phi = known + q
    G0 = Phi + n * n
    G1 = G0 + n * m
    state = G1 + n * m
    new = state + n
    last = new + n
    now = last + m
    d_last = now + m
    v_last = d_last + q
    y_last = v_last + q
    rate_last = y_last + q
    if x[_DT] != dt:  # the first tick
        x[_DT] = dt
        _discretise(x, n, m, A, B, Phi, G0, G1, line)
    active = 0.0
    for j in range(m):
        x[now + j], limit = followed(u[j], x[last + j], p[2], dt)
        active = max(active, limit)
    for i in range(n):
        total = 0.0
        for k in range(n):
            total += x[Phi + i * n + k] * x[state + k]
        for j in range(m):
            total += x[G0 + i * m + j] * x[last + j] + x[G1 + i * m + j] * x[now + j]
        x[new + i] = total
    for i in range(n):
        x[state + i] = x[new + i]
    felt = now if line else last  # the command that acts at the end of the tick
    strokes, velocities = 0.0, 0.0
    for i in range(q):
        d, v, a = 0.0, 0.0, 0.0
        for k in range(n):
            d += x[C + i * n + k] * x[state + k]
            v += x[CA + i * n + k] * x[state + k]
            a += x[CAA + i * n + k] * x[state + k]
        for j in range(m):
            d += x[D + i * m + j] * x[now + j]
            v += x[CB + i * m + j] * x[felt + j]
            a += x[CAB + i * m + j] * x[felt + j]
        v = v if x[known + i] >= 1.0 else (d - x[y_last + i]) / dt
        a = a if x[known + i] >= 2.0 else (v - x[rate_last + i]) / dt
        x[y_last + i], x[rate_last + i] = d, v
        d, v, a, more = moved(d, v, a, x[d_last + i], x[v_last + i], dt, p[0], p[1])
        strokes, velocities = max(strokes, more % 2.0), max(velocities, more - more % 2.0)
        y[3 * i], y[3 * i + 1], y[3 * i + 2] = d, v, a
        x[d_last + i], x[v_last + i] = d, v
    for j in range(m):
        x[last + j] = x[now + j]
    y[3 * q] = active + strokes + velocities


@jit
def _discretise(x, n, m, A, B, Phi, G0, G1, line):
    """Recurrence over the tick in its place in the memory."""
    plant, command = np.empty((n, n)), np.empty((n, m))
    for i in range(n):
        for j in range(n):
            plant[i, j] = x[A + i * n + j]
        for j in range(m):
            command[i, j] = x[B + i * m + j]
    free, before, now = held_input(plant, command, x[_DT], line)
    for i in range(n):
        for j in range(n):
            x[Phi + i * n + j] = free[i, j]
        for j in range(m):
            x[G0 + i * m + j], x[G1 + i * m + j] = before[i, j], now[i, j]


def linear_plant(
    plant: Plant,
    *,
    hold: Hold = "line",
    stroke: float = UNLIMITED,
    velocity: float = UNLIMITED,
    rate: float = UNLIMITED,
    delay: float = 0.0,
    name: str = "linear_plant",
) -> Instance:
    """An actuator that is a linear plant; one with several axes goes into a `hyloop.loop.Coupled`.

    Parameters
    ----------
    plant : Plant
        Proper and stable. With one input and one output the block reads ``d`` and gives ``d``, ``v``, ``a`` and
        ``saturated``; otherwise ``d1``, ``d2``, ... and ``d1``, ``v1``, ``a1``, ``d2``, ...
    hold : {"line", "step"}
        How the command moves between ticks: on a straight line, or held by a converter, which costs a tick.
    stroke, velocity, rate : float
        Limits of every axis: largest deformation in m, velocity in m/s, and rate of the command in m/s.
    delay : float
        Dead time in s by which the plant hears its command late; of a plant with one axis.
    """
    if hold not in ("line", "step"):
        raise UnknownName("hold", str(hold), ["line", "step"], where=name)
    law, contents = _law(plant, name), _contents(plant, hold)
    made = law(memory=contents, stroke=stroke, velocity=velocity, rate=rate)
    return behind(made, delay) if delay else made


def transfer_function(numerator: Any, denominator: Any, **options: Any) -> Instance:
    """An actuator with a transfer function from its coefficients in s, highest power first; see `linear_plant`."""
    return linear_plant(Plant.from_coefficients(numerator, denominator), name="transfer_function", **options)


def zeros_poles(zeros: Any, poles: Any, gain: float | None = None, *, slow: float = 1.0, **options: Any) -> Instance:
    """An actuator with a transfer function from zeros and poles in rad/s; see `linear_plant`.

    Parameters
    ----------
    gain : float, optional
        Factor in front: k Π(s - z)/Π(s - p). If not given it is such that slow motions have the gain `slow`.
    slow : float
        Motion over command when all is slow, where no `gain` is given.
    """
    if gain is None:
        z, p = np.atleast_1d(np.asarray(zeros, complex)), np.atleast_1d(np.asarray(poles, complex))
        if (z == 0.0).any():
            raise BadInput("zeros_poles: with a zero at 0 slow motions vanish; give the gain in front of the zeros.")
        gain = float(np.real(slow * np.prod(-p) / np.prod(-z)))
    return linear_plant(Plant.from_zeros(zeros, poles, gain), name="zeros_poles", **options)


def state_space(A: Any, B: Any, C: Any, D: Any = None, **options: Any) -> Instance:
    """An actuator from the matrices of its state space, by rows; D is zero if not given. See `linear_plant`."""
    if D is None:
        D = np.zeros((len(np.atleast_2d(C)), np.atleast_2d(B).shape[1]))
    return linear_plant(Plant(A, B, C, D), name="state_space", **options)


def transfer_matrix(entries: Sequence[Sequence[Plant]], **options: Any) -> Instance:
    """Several axes in one plant: entry [i][j] is the motion of axis i + 1 for the command of axis j + 1."""
    return linear_plant(Plant.matrix(entries), name="transfer_matrix", **options)


def _law(plant: Plant, name: str) -> Block:
    """The block for plants of this size."""
    q, m = plant.D.shape
    if q != m:
        raise BadShape(f"{name}: {m} commands and {q} motions; each axis needs one of both.")
    sizes = _sizes(len(plant.A), m, q)
    numbers = [""] if q == 1 else [str(k + 1) for k in range(q)]
    motions = {f"{key}{k}": MOTION[key] for k in numbers for key in ("d", "v", "a")}
    made = inplace_block(
        inputs={f"d{k}": "m" for k in numbers},
        outputs={**motions, "saturated": "-"},
        params=LIMITS,
        memory=_HEAD + sum(sizes.values()),
        reference="Franklin, Powell, Workman (1998), Digital Control of Dynamic Systems, 3rd ed., sections 4.3 and "
        "6.3.2; Van Loan (1978), Computing integrals involving the matrix exponential, doi:10.1109/TAC.1978.1101743.",
    )(advance)
    return replace(made, name=name)


def _contents(plant: Plant, hold: Hold) -> np.ndarray:
    """What the memory begins with; what depends on the tick is filled in the first one."""
    A, B, C, D = plant.A, plant.B, plant.C, plant.D
    n, m, q = len(A), B.shape[1], len(C)
    CA, CB = C @ A, C @ B
    has_velocity = ~D.any(axis=1)
    # the sum of the moduli is what the products are made of; what is less than round-off of it is no feed-through
    straight = np.all(np.abs(CB) <= _VELOCITY * (np.abs(C) @ np.abs(B)), axis=1)
    CB = np.where(straight[:, None], 0.0, CB)
    arrays = {
        "A": A,
        "B": B,
        "C": C,
        "D": D,
        "CA": CA,
        "CB": CB,
        "CAA": CA @ A,
        "CAB": CA @ B,
        "known": has_velocity * (1.0 + straight),
    }
    sizes = _sizes(n, m, q)
    flat = [np.ravel(arrays[key]) if key in arrays else np.zeros(size) for key, size in sizes.items()]
    return np.concatenate([[float(n), float(hold == "line"), -1.0], *flat])


def plant_arrays(instance: Instance) -> dict[str, slice] | None:
    """Where the constant arrays of a plant lie in the memory of its block; None of a block that is none.

    Behind a dead time the memory of the plant comes last.
    """
    outputs, m = list(instance.block.outputs), len(instance.block.inputs)
    if "saturated" not in outputs or outputs[-1] != "saturated" or instance.initial:
        return None
    q = (len(outputs) - 1) // 3
    first = BEFORE if "delay" in instance.params else 0
    if len(instance.memory) <= first + _HEAD:
        return None
    n = int(instance.memory[first + _STATES])
    sizes = _sizes(n, m, q)
    if len(instance.memory) != first + _HEAD + sum(sizes.values()):
        return None
    ends = first + _HEAD + np.cumsum(list(sizes.values()))
    constant = ("A", "B", "C", "D", "CA", "CB", "CAA", "CAB")
    return {
        key: slice(int(end) - size, int(end))
        for (key, size), end in zip(sizes.items(), ends, strict=True)
        if key in constant
    }
