"""One run of the virtual test: the steps of the benchmark in their order, compiled.

The controller is a block of hyloop, called through its address: targets t1, t2 and measured displacements m1, m2 in mm
make the commands u1, u2 and, of controllers with an estimator, p1, p2: what it expects to be measured next. Force and
node motion are made of the estimate e = p + blend (m - p); without an estimator the blend is 1 and e = m.
"""

from dataclasses import dataclass

import numpy as np

from hyloop.core.block import Instance
from hyloop.core.jit import call_block, jit, pointer
from hyloop.core.noise import normal_pair

from .frame import DT, NODE, STOREYS, Frame, Specimen
from .plant import Plant

__all__ = ["CHANNELS", "NOISE", "Run", "respond", "simulate", "step_matrices", "to_volts"]

NOISE = np.sqrt(1.5e-7 * 1024.0)  # mm: power 1.5e-7 mm²/Hz of white noise held for 1/1024 s
ARM, ALPHA = np.hypot(0.2667, 0.127), np.arctan2(0.127, 0.2667)  # m, rad: of the rigid coupler
DIVERGED = 1e3  # mm: a thousand times the motion of any run that goes well
CHANNELS = (
    *("target1", "target2", "measured1", "measured2", "true1", "true2", "command1", "command2"),
    *("node_x", "node_r", "seen_x", "seen_r", "x2", "r2", "x3", "r3", "force"),
)
_AT, _FLOORS = np.array(NODE) - 1, np.array(STOREYS) - 1


@dataclass(frozen=True)
class Run:
    """Histories of a run by name, and whether it ended before its time because it had diverged."""

    channels: dict[str, np.ndarray]
    diverged: bool

    def __getitem__(self, name: str) -> np.ndarray:
        return self.channels[name]


def step_matrices(part: Frame) -> tuple[np.ndarray, ...]:
    r"""Newmark's average acceleration as products with what is known at the start of a step.

    .. math:: \bar K = K + \tfrac{4}{\Delta t^2} M + \tfrac{2}{\Delta t} C; \qquad
        \bar K^{-1} M, \quad \bar K^{-1} C, \quad \bar K^{-1}, \quad \bar K^{-1} M \iota
    """
    inverse = np.linalg.inv(part.K + 4.0 / DT**2 * part.M + 2.0 / DT * part.C)
    # by columns: a step adds column after column, which the processor does four rows at a time
    return (
        *(np.ascontiguousarray((inverse @ matrix).T) for matrix in (part.M, part.C, np.eye(len(inverse)))),
        inverse @ part.load,
    )


def respond(part: Frame, ag: np.ndarray) -> np.ndarray:
    """Displacements of a structure on its own under a ground acceleration, one row for each step."""
    return _respond(ag, *step_matrices(part))


def simulate(
    part: Frame,
    portal: Specimen,
    plant: Plant,
    controller: Instance,
    ag: np.ndarray,
    *,
    blend: np.ndarray | None = None,
    dead_time: int = 0,
    noise: float = NOISE,
    seed: int = 0,
    independent: bool = False,
    felt: bool = False,
    limit: float = np.inf,
    fall: float = 0.0,
) -> Run:
    """Run the virtual test.

    Parameters
    ----------
    part, portal, plant
        Numerical part, specimen, and plant in steps.
    controller
        Block with the inputs and outputs named at the top of this file.
    ag
        Ground acceleration in m/s² at every step.
    blend
        2x2 weights of a new measurement in the estimate.
    dead_time
        Steps by which commands reach the plant late.
    noise, seed, independent
        Standard deviation in mm of both sensors, of what random numbers, and whether each has its own.
    felt
        Whether the force is made of the true motion, as a specimen would make it, not of the estimated one.
    limit
        Largest command in V that reaches the plant; the package has 3.8 V, but only in its verdict.
    fall
        Part of the plant's gains that is lost by the end of the run, evenly over time.
    """
    forces = np.ascontiguousarray([(matrix @ portal.T)[:3] for matrix in (portal.K, portal.C, portal.M)])
    out = np.zeros((len(ag), len(CHANNELS)))
    done = _simulate(
        ag,
        *step_matrices(part),
        forces,
        *(np.ascontiguousarray(matrix) for matrix in plant),
        (dead_time, fall, *(to_command(sign * limit) for sign in (-1.0, 1.0))),
        np.eye(2) if blend is None else np.ascontiguousarray(blend, dtype=float),
        (noise, seed, independent, felt),
        controller.block.address,
        controller.x0,
        np.array(list(controller.params.values()), dtype=float),
        out,
    )
    return Run(dict(zip(CHANNELS, out[:done].T, strict=True)), done < len(ag))


def to_command(volts: float) -> tuple[float, float]:
    """Commands of both actuators in mm at a voltage."""
    return 1.053 * (7.4921 * volts + 0.0092), 1.055 * (7.3907 * volts - 0.0059)


def to_volts(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Voltages of both commands in mm."""
    return (first / 1.053 - 0.0092) / 7.4921, (second / 1.055 + 0.0059) / 7.3907


@jit
def newmark_step(by_M, by_C, by_load, ag, U, V, A, new):
    """Move U, V, A on by one step; `new` comes in with what the forces add to the displacement."""
    n = len(U)
    for i in range(n):
        new[i] -= by_load[i] * ag
    for j in range(n):
        a = 4.0 / DT**2 * U[j] + 4.0 / DT * V[j] + A[j]
        b = 2.0 / DT * U[j] + V[j]
        for i in range(n):
            new[i] += by_M[j, i] * a + by_C[j, i] * b
    for i in range(n):
        later = 4.0 / DT**2 * (new[i] - U[i]) - 4.0 / DT * V[i] - A[i]
        V[i] += 0.5 * DT * (A[i] + later)
        U[i], A[i] = new[i], later


@jit
def _respond(ag, by_M, by_C, by_force, by_load):
    n = len(by_load)
    U, V, A, new = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    out = np.empty((len(ag), n))
    for k in range(len(ag)):
        new[:] = 0.0
        newmark_step(by_M, by_C, by_load, ag[k], U, V, A, new)
        out[k] = U
    return out


@jit
def to_actuators(x, r):
    """Displacements of both actuators in mm from sway (m) and rotation (rad) of the node."""
    first = x + ARM * (np.cos(r - ALPHA) - np.cos(ALPHA))
    second = x + ARM * (np.cos(r + ALPHA) - np.cos(ALPHA))
    return 1e3 * first, 1e3 * second


@jit
def to_node(a1, a2):
    """Sway and rotation of the node from both actuators; the cosine of s, not of asin s, is as distributed."""
    s = 1e-3 * (a1 - a2) / (2.0 * ARM * np.sin(ALPHA))
    return 1e-3 * a1 - ARM * (np.cos(s - ALPHA) - np.cos(ALPHA)), np.arcsin(min(max(s, -1.0), 1.0))


@jit
def _simulate(ag, by_M, by_C, by_force, by_load, forces, Ad, Bd, Cd, line, blend, sensing, address, state, params, out):
    noise, seed, independent, felt = sensing
    dead_time, fall, lowest, highest = line
    n, size = len(by_load), len(Ad)
    U, V, A, new = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    xp, moved, queue = np.zeros(size), np.zeros(size), np.zeros((dead_time + 1, 2))
    given, made = np.zeros(4), np.zeros(8)  # of the controller: targets and measured; commands, expected
    y, m, e = np.zeros(2), np.zeros(2), np.zeros(2)
    q, rate, q_last, rate_last, f = np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(3)
    for k in range(len(ag)):
        # what the sensors show, and the node motion made of it
        first, second = normal_pair(seed, k)
        for i in range(2):
            y[i] = 0.0
            for j in range(size):
                y[i] += (1.0 - fall * k / len(ag)) * Cd[i, j] * xp[j]
            m[i] = y[i] + noise * (second if independent and i == 1 else first)
        for i in range(2):
            e[i] = made[2 + i] + blend[i, 0] * (m[0] - made[2]) + blend[i, 1] * (m[1] - made[3])
        if not (abs(e[0]) < DIVERGED and abs(e[1]) < DIVERGED):
            return k
        seen = to_node(e[0], e[1])
        q[0], q[1] = to_node(y[0], y[1]) if felt else seen
        # the specimen's force from it, by backward differences, and the step of the numerical part
        for j in range(2):
            rate[j] = (q[j] - q_last[j]) / DT
        for i in range(3):
            f[i] = 0.0
            for j in range(2):
                f[i] += forces[0, i, j] * q[j] + forces[1, i, j] * rate[j]
                f[i] += forces[2, i, j] * (rate[j] - rate_last[j]) / DT
        q_last[:], rate_last[:] = q, rate
        for i in range(n):
            new[i] = -by_force[_AT[0], i] * f[0] + by_force[_AT[1], i] * f[1] + by_force[_AT[2], i] * f[2]
        newmark_step(by_M, by_C, by_load, ag[k], U, V, A, new)
        # targets and commands; the plant moves on
        given[0], given[1] = to_actuators(U[_AT[0]], -U[_AT[1]])
        given[2], given[3] = m[0], m[1]
        call_block(address, pointer(state), 0, pointer(given), 0, DT, pointer(params), 0, pointer(made), 0)
        row = out[k]
        row[0:2], row[2:4], row[4:6], row[6:8] = given[:2], m, y, made[:2]
        row[8], row[9], row[10], row[11] = U[_AT[0]], -U[_AT[1]], seen[0], seen[1]
        row[12], row[13], row[14], row[15] = U[_FLOORS[0]], -U[_FLOORS[1]], U[_FLOORS[2]], -U[_FLOORS[3]]
        row[16] = f[0]
        now = k % (dead_time + 1)
        for i in range(2):
            queue[now, i] = min(max(made[i], lowest[i]), highest[i])
        due = (k + 1) % (dead_time + 1)  # what was commanded `dead_time` steps ago
        for i in range(size):
            moved[i] = Bd[i, 0] * queue[due, 0] + Bd[i, 1] * queue[due, 1]
            for j in range(size):
                moved[i] += Ad[i, j] * xp[j]
        xp[:] = moved
    return len(ag)
