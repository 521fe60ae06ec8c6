"""Our controller for coupled plants: LQG that knows the dead time, and where the targets come from.

Known to it before the test: the nominal plant and its dead time (a rig is identified), the noise of the sensors, and
the numerical part with the nominal specimen. During the test it sees targets and measured displacements, nothing else.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag, expm, solve_discrete_are

from .blocks import linear
from .frame import DT, NODE, Frame, numerical, one_piece, specimen
from .loop import ALPHA, ARM, NOISE
from .plant import Plant, discrete
from .references import Controller, kalman

__all__ = ["CHOSEN", "Settings", "delayed", "predictive", "target_model"]

LATERAL = 1e-4  # of the mass: a mode with less is vertical
TINY = 1e-18  # added to covariances, which must be definite


class Settings(NamedTuple):
    """What was chosen on other records, plants and noise than those of the judgement (`choosing.py`)."""

    change: float  # cost of a change of the command, against that of an error
    drift: float  # mm: change in a step of what is missing at an input of the plant
    swing: float  # mm: what drives an oscillation of that
    width: float  # damping ratio of the oscillation
    freedom: float  # of the target's rotation from what the modes of the structure say, relative
    jitter_x: float  # mm: white noise on the sway of the target
    jitter_r: float  # mm: on its rotation, at the actuators
    modes: int = 3  # of the structure, behind the target
    fade: float = 0.9999  # of the drift, in a step
    input_noise: float = 4e-3  # mm: at each input of the plant


CHOSEN = Settings(change=1e-8, drift=1e-4, swing=0.08, width=0.08, freedom=0.1, jitter_x=1e-6, jitter_r=4e-3)


def predictive(dead_time: int, settings: Settings = CHOSEN) -> Controller:
    """LQG for the nominal plant behind its dead time, tracking targets that go on as the structure's modes do.

    The whole is one linear system: plant, commands on their way, what is missing at the inputs, and the target; its
    last two parts cannot be controlled but die out, so that the gains on them are the best feedforward there is.
    """
    modes = _lateral(one_piece(numerical(), specimen()), settings.modes)
    A, B, C, W = delayed(discrete(), dead_time, settings, modes[0][0])
    As, Cs, Ws, jitter = target_model(modes, settings)
    n, target = len(A), len(As)
    L, Ls = kalman(A, C, W, NOISE**2 * np.eye(2)), kalman(As, Cs, Ws, jitter)
    whole, drive = block_diag(A, As), np.vstack([B, np.zeros((target, 2))])
    error, last = np.hstack([C, -Cs]), np.eye(2, n + target, 8)  # the command before stands behind the plant's 8 states
    R, N = settings.change * np.eye(2), -settings.change * last.T
    X = solve_discrete_are(whole, drive, error.T @ error + settings.change * last.T @ last, R, s=N)
    F = np.linalg.solve(R + drive.T @ X @ drive, drive.T @ X @ whole + N.T)
    # both filters take what they are told (seen x + taken (t, m)), then everything moves on
    seen = block_diag(np.eye(n) - L @ C, np.eye(target) - Ls @ Cs)
    taken = np.block([[np.zeros((n, 2)), L], [Ls, np.zeros((target, 2))]])
    state, told = (whole - drive @ F) @ seen, (whole - drive @ F) @ taken
    expect = np.hstack([C, np.zeros((2, target))])
    block = linear(state, told, np.vstack([-F @ seen, expect @ state]), np.vstack([-F @ taken, expect @ told]))
    return Controller(block, C @ L)


def delayed(plant: Plant, steps: int, settings: Settings, w: float) -> tuple[np.ndarray, ...]:
    """The plant behind a dead time: step, drive, output, and the covariance added in a step.

    States are those of the plant, the commands of the last steps (one at least), and for each input what is missing
    there: a drift, and an oscillation near the first mode, since an error of the plant oscillates as its motion does.
    """
    A, B, C = plant
    n, waiting = len(A), 2 * max(steps, 1)
    first = n + waiting
    swing, noise = _oscillator(w, settings.width)
    whole: Any = block_diag(A, np.eye(waiting, k=-2), *[settings.fade, swing] * 2)
    drive, out = np.zeros((len(whole), 2)), np.eye(2, len(whole))
    drive[n : n + 2], out[:, :n] = np.eye(2), C
    if steps:
        whole[:n, first - 2 : first] = B  # the oldest command
    else:
        drive[:n] = B
    for i in range(2):
        whole[:n, first + 3 * i] = whole[:n, first + 3 * i + 1] = B[:, i]
    missing: Any = block_diag(settings.drift**2, (settings.swing * w**2) ** 2 * noise)
    W: Any = block_diag(settings.input_noise**2 * B @ B.T, np.zeros((waiting, waiting)), missing, missing)
    return whole, drive, out, W + TINY * np.eye(len(W))


def target_model(modes: list[tuple[float, ...]], settings: Settings) -> tuple[np.ndarray, ...]:
    """Targets in mm as modes of a structure in white ground motion: step, outputs, covariances added and of the jitter.

    How much of the rotation goes with the sway hangs on the specimen, which is not known before the test; so rotations
    have some oscillation of their own. They must be filtered: rotations have no mass, and the specimen's moment at
    once changes the target, so a prediction of it that follows every jitter would close an unstable loop.
    """
    size, arm = 4 * len(modes), ARM * np.sin(ALPHA)
    A, W, C = np.zeros((size, size)), np.zeros((size, size)), np.zeros((2, size))
    for i, (w, ratio, x, r, drive) in enumerate(modes):
        both, own = slice(4 * i, 4 * i + 2), slice(4 * i + 2, 4 * i + 4)
        A[both, both], noise = _oscillator(w, ratio)
        A[own, own] = A[both, both]
        W[both, both], W[own, own] = (1e3 * drive) ** 2 * noise, (1e3 * drive * settings.freedom * arm) ** 2 * noise
        C[:, 4 * i], C[:, 4 * i + 2] = (x + arm * r, x - arm * r), (1.0, -1.0)
    jitter = np.array([[1.0, 1.0], [1.0, -1.0]]) * [settings.jitter_x, settings.jitter_r]
    return A, C, W + TINY * np.eye(size), jitter @ jitter.T


def _lateral(whole: Frame, count: int) -> list[tuple[float, ...]]:
    """Frequency, damping ratio, sway and rotation of the node, and drive by the ground of the lowest lateral modes."""
    values, shapes = (np.real(part) for part in np.linalg.eig(np.linalg.solve(whole.K, whole.M)))
    found = []
    for k in np.argsort(-values):
        shape = shapes[:, k]
        mass, drive = shape @ whole.M @ shape, shape @ whole.load
        if len(found) < count and drive**2 > LATERAL * mass * whole.load.sum():
            w = 1.0 / np.sqrt(values[k])
            ratio = shape @ whole.C @ shape / (2.0 * mass * w)
            found.append((w, ratio, shape[NODE[0] - 1], -shape[NODE[1] - 1], drive / mass))
    return found


def _oscillator(w: float, ratio: float) -> tuple[np.ndarray, np.ndarray]:
    """An oscillator under a white acceleration of deviation 1, held over a step: step, and the covariance added."""
    both = expm(DT * np.array([[0.0, 1.0, 0.0], [-(w**2), -2.0 * ratio * w, 1.0], [0.0, 0.0, 0.0]]))
    return both[:2, :2], both[:2, 2:] @ both[:2, 2:].T
