"""The benchmark of Silva et al. (2020): structure, partition, plant, noise and records, as printed and as coded."""

from functools import cache
from typing import NamedTuple

import numpy as np

from hyloop.data import data_folder
from hyloop.errors import BadInput
from hyloop.structure import Structure, modal

RATE = 4096  # Hz
SCALE = 0.4  # of the ground accelerations
RECORDS = ("elcentro", "kobe", "morgan")

# 3 lateral degrees of freedom, N/m
K = np.array(
    [
        [26_054_884.0, -23_133_939.0, 5_937_035.0],
        [-23_133_939.0, 32_560_774.0, -14_419_971.0],
        [5_937_035.0, -14_419_971.0, 9_267_276.0],
    ]
)
CASES = {1: (1000.0, 0.05), 2: (1100.0, 0.04), 3: (1300.0, 0.03), 4: (1000.0, 0.03)}  # floor mass in kg, damping ratio

NOISE_D, NOISE_F = 1.6e-5, 2.18  # m and N, of every sample
LSB = 2 * 3.8 / 2**18  # V: 18 bits
LSB_D, LSB_F = LSB * 7.89e-3, LSB * 1096.0  # m and N
MOST_FORCE, MOST_STROKE, MOST_VELOCITY = 8900.0, 7e-3, 0.3  # N, m, m/s


class Plant(NamedTuple):
    """Servo-valve, actuator and specimen, named as in `hyloop.transfer.servo_hydraulic`; values of the code."""

    a1_beta0: float = 2.1283e13
    a2: float = 4.2297e6
    a3: float = 3.3
    beta1: float = 425.0
    beta2: float = 9.9976e4
    m: float = 29.13
    c: float = 2 * 0.0097 * (29.13 * 1.19e6) ** 0.5
    k: float = 1.19e6
    gain: float = 1.0261  # of the command

    @property
    def denominator(self) -> np.ndarray:
        """A0 ... A5 of the transfer function from command to displacement, over B0 and the command gain."""
        valve = np.array([self.beta2, self.beta1, 1.0])
        body = np.convolve([self.a3, 1.0], [self.k, self.c, self.m]) + np.array([0.0, self.a2, 0.0, 0.0])
        whole = np.convolve(valve, body)
        whole[0] += self.a1_beta0
        return whole / (self.a1_beta0 * self.gain)


NOMINAL = Plant()
DEVIATIONS = {"a3": 1.3, "beta1": 3.3, "beta2": 3.31e3, "k": 5e4}


def drawn(rng: np.random.Generator) -> Plant:
    """A plant of the benchmark's distribution; one that would leak backwards (a3 < 0, one in 180) is drawn again."""
    while True:
        found = NOMINAL._replace(**{key: rng.normal(getattr(NOMINAL, key), std) for key, std in DEVIATIONS.items()})
        if found.a3 >= 0.0:
            return found


def plants(count: int, seed: int) -> list[Plant]:
    """So many plants, the same ones for the same seed."""
    rng = np.random.default_rng(seed)
    return [drawn(rng) for _ in range(count)]


@cache
def reference(case: int) -> Structure:
    """The whole structure."""
    mass, ratio = CASES[case]
    bare = Structure(M=np.full(3, mass), K=K)
    return Structure(M=np.full(3, mass), K=K, C=modal(bare, [ratio] * 3))


def numerical(case: int, specimen: Plant = NOMINAL) -> Structure:
    """The whole structure less the specimen; the ground moves all of it.

    A random plant has another specimen, and the numerical part is what is left without that one: so does the benchmark,
    and perfect control gives the reference whatever the plant.
    """
    mass, whole = CASES[case][0], reference(case)
    M, C, Kn = np.full(3, mass), np.array(whole.C), K.copy()
    M[0] -= specimen.m
    C[0, 0] -= specimen.c
    Kn[0, 0] -= specimen.k
    return Structure(M=M, K=Kn, C=C, influence=mass / M)


@cache
def without_specimen(case: int) -> Structure:
    """The whole structure less stiffness and damping of the specimen, for another one in its place."""
    bare = numerical(case)
    return Structure(M=np.full(3, CASES[case][0]), K=bare.K, C=bare.C)


@cache
def ground(record: str, rate: int = RATE) -> np.ndarray:
    """Ground acceleration of a record in m/s2, scaled, at so many samples in a second."""
    folder = data_folder()
    path = None if folder is None else folder / "rths_benchmark" / f"{record}.csv"
    if path is None or not path.is_file():
        raise BadInput(
            f"rths_benchmark/{record}.csv is not in the data folder; set HYLOOP_DATA to the folder that has it."
        )
    t, a = np.loadtxt(path, delimiter=",", skiprows=1).T
    return SCALE * np.interp(np.arange(0.0, t[-1], 1.0 / rate), t, a)
