"""The 2x2 control plant of the benchmark: commands of two actuators in mm to their displacements in mm."""

from typing import NamedTuple

import numpy as np

from .frame import DT

__all__ = ["NOMINAL", "Plant", "Poles", "Zpk", "continuous", "discrete", "draw", "transfer"]

# Deviations of zeros, poles and pair, relative to their values, in the order of `Poles`
SPREAD = np.array([0.055, 0.055, 0.06, 0.06, 0.05, 0.03, 0.03, 0.03, 0.03])


class Poles(NamedTuple):
    """Zeros and poles in Hz: those of column 1, the pair that all have, zero of H12, poles of column 2, zero of H22."""

    zero_a: float = -120.0
    zero_b: float = -90.0
    pole_a: float = -2.65
    pole_b: float = -40.0
    pair: complex = -50.0 + 63.0j
    zero_12: float = -3.0
    pole_c: float = -3.5
    pole_d: float = -18.5
    zero_22: float = -5.0


NOMINAL = Poles()
GAINS = np.array([[2165.2, 4.5394e6], [349.95, 1.9238e7]])


class Zpk(NamedTuple):
    """One transfer function in rad/s."""

    zeros: np.ndarray
    poles: np.ndarray
    gain: float

    def __call__(self, s):
        return self.gain * np.prod([s - z for z in self.zeros], 0) / np.prod([s - p for p in self.poles], 0)


class Plant(NamedTuple):
    """The plant in steps: x⁺ = A x + B u, y = C x."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray


def draw(rng: np.random.Generator, factor: float = 1.0) -> Poles:
    """A random plant as in the package; `factor` widens the spread."""
    scale = 1.0 + factor * SPREAD * rng.standard_normal(9)
    return Poles(*(value * by for value, by in zip(NOMINAL, scale, strict=True)))


def transfer(p: Poles = NOMINAL) -> list[list[Zpk]]:
    """H11, H12 and H21, H22; gains are such that the response at rest is the nominal one."""
    nominal = _zeros_and_poles(NOMINAL)
    rows = []
    for i, row in enumerate(_zeros_and_poles(p)):
        rows.append([])
        for j, (zeros, poles) in enumerate(row):
            wanted = Zpk(*nominal[i][j], GAINS[i, j])(0.0).real
            rows[-1].append(Zpk(zeros, poles, wanted / Zpk(zeros, poles, 1.0)(0.0).real))
    return rows


def _zeros_and_poles(p: Poles):
    hz = 2.0 * np.pi
    pair = [p.pair, np.conj(p.pair)]
    one = hz * np.array([p.zero_a, p.zero_b]), hz * np.array([p.pole_a, p.pole_b, *pair])
    two = hz * np.array([p.pole_c, p.pole_d, *pair])
    return [[one, (hz * np.array([p.zero_12]), two)], [one, (hz * np.array([p.zero_22]), two)]]


def continuous(p: Poles = NOMINAL) -> Plant:
    """The plant in continuous time: four states for each command, each with a gain of 1 at rest.

    The command passes the pair, then one pole, then the other: z1 (with its rate z0), z2, z3; numerators are sums of
    z3, its rate and its second rate.
    """
    H = transfer(p)
    A, B, C = np.zeros((8, 8)), np.zeros((8, 2)), np.zeros((2, 8))
    for j in range(2):
        slow, fast, pair = H[0][j].poles[:3]
        a, b, w2 = -slow.real, -fast.real, abs(pair) ** 2
        own = slice(4 * j, 4 * j + 4)
        A[own, own] = [[-a, a, 0, 0], [0, -b, b, 0], [0, 0, 0, 1], [0, 0, -w2, 2.0 * pair.real]]  # z3, z2, z1, z0
        B[4 * j + 3, j] = w2
        z3 = np.array([1.0, 0, 0, 0])
        rates = [z3, z3 @ A[own, own], z3 @ A[own, own] @ A[own, own]]
        for i in range(2):
            coefficients = np.poly(H[i][j].zeros)[::-1]  # of 1, s, s²
            scale = H[i][j].gain / (a * b * w2)
            C[i, own] = scale * sum(c * rate for c, rate in zip(coefficients, rates, strict=False))
    return Plant(A, B, C)


def discrete(p: Poles = NOMINAL) -> Plant:
    """One step of the plant under a held command, as the package's solver makes it (Runge-Kutta of order 4)."""
    A, B, C = continuous(p)
    power, step, drive = np.eye(8), np.zeros((8, 8)), np.zeros((8, 8))
    for i in range(5):
        step += power
        drive += DT * power / (i + 1) if i < 4 else 0.0
        power = power @ A * DT / (i + 1)
    return Plant(step, drive @ B, C)
