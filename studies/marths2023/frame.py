"""The frame of the benchmark, its partition into numerical and physical part, and the specimen in the laboratory.

Degrees of freedom are numbered from 1, as in the files of the benchmark; SI units. What is odd in the public package
(README, "as distributed") is kept here, and named.
"""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigh

from hyloop.data.folders import set_folder
from hyloop.errors import BadInput

__all__ = [
    "DT",
    "NODE",
    "RECORDS",
    "STOREYS",
    "Frame",
    "data",
    "ground",
    "numerical",
    "one_piece",
    "read",
    "specimen",
    "whole_frame",
]

DT = 1.0 / 1024.0
RECORDS = ("elcentro", "kobe", "morgan")
SWAYS = (27, 26, 13)  # one for each floor, from below
NODE = (27, 21, 29)  # sway, rotation of the controlled node, rotation of the other corner
STOREYS = (26, 22, 13, 3)  # sway and a rotation of storeys 2 and 3
E = 200e9  # N/m²
INCH = 0.0254  # m
DAMPING, ANCHORS = 0.05, (13.493, 165.125)  # rad/s; neither is a lateral mode of the files, but so the package has it
# of the "ideal" portal that is subtracted: steel has 7850 kg/m³
IDEAL_DENSITY = 785e3
SPECIMEN_MASS = 1.1  # factor on the masses of the laboratory's frame


class Frame(NamedTuple):
    """Matrices of a structure M a + C v + K u = -load a_g - forces."""

    M: np.ndarray
    C: np.ndarray
    K: np.ndarray
    load: np.ndarray  # of a unit ground acceleration


class Specimen(NamedTuple):
    """The laboratory's portal: five degrees of freedom (x, θ1, θ2 and two bases), of which x and θ1 are imposed."""

    M: np.ndarray
    C: np.ndarray
    K: np.ndarray
    T: np.ndarray  # all five from the two imposed, by statics

    def scaled(self, factor: float) -> "Specimen":
        """The same portal, so many times as heavy, damped and stiff."""
        return Specimen(factor * self.M, factor * self.C, factor * self.K, self.T)


def data(name: str) -> Path:
    """A file of the benchmark's data."""
    folder = set_folder("marths")
    if folder is None:
        raise BadInput("marths2023 needs the folder `marths` with the benchmark's data; set HYLOOP_DATA to its parent.")
    return folder / name


def read(name: str, **options: Any) -> np.ndarray:
    """A table of the benchmark's data."""
    return np.loadtxt(data(name), delimiter=",", **options)


@cache
def ground(record: str) -> np.ndarray:
    """Unscaled ground acceleration in m/s² at every step, straight lines between the samples of the record."""
    t, a = read(f"{record}.csv", skiprows=1, unpack=True)
    return np.interp(np.arange(int(round(t[-1] / DT, 6)) + 1) * DT, t, a)


def rayleigh(M, K, ratio, low, high):
    """Damping a0 M + a1 K with one ratio at two circular frequencies."""
    a1 = 2.0 * ratio / (low + high)
    return a1 * low * high * M + a1 * K


@cache
def whole_frame() -> Frame:
    """The whole frame from the export of SAP2000; what the package calls the reference."""
    M, K = np.diag(read("frame_M_diag.csv")), read("frame_K.csv")
    influence = np.zeros(len(M))
    influence[np.array(SWAYS) - 1] = 1.0
    return Frame(M, rayleigh(M, K, DAMPING, *ANCHORS), K, M @ influence)


def ideal_portal(density: float = IDEAL_DENSITY) -> Frame:
    """The portal that is subtracted from the frame, at (27, 29, 21); the sign of its far-end term is as distributed."""
    Lb, Lc, Ic, Ib = 0.762, 0.635, 2.520 * INCH**4, 0.6132 * INCH**4
    beam, column = density * 0.947 * INCH**2 * Lb, density * 1.670 * INCH**2 * Lc
    rotary = (beam * Lb**2 + column * Lc**2) / 24.0
    s, near, far = 3.0 * E * Ic / Lc**2, 3.0 * E * Ic / Lc + 4.0 * E * Ib / Lb, -2.0 * E * Ib / Lb
    K = np.array([[2.0 * s / Lc, -s, -s], [-s, near, far], [-s, far, near]])
    M = np.diag([beam + column, rotary, rotary])
    modes = np.sqrt(eigh(K, M, eigvals_only=True))
    return Frame(M, rayleigh(M, K, DAMPING, modes[0], modes[2]), K, np.zeros(3))


def numerical(density: float = IDEAL_DENSITY) -> Frame:
    """The frame less the ideal portal; rotary masses are not subtracted."""
    M, C, K, load = (part.copy() for part in whole_frame())
    at, portal = np.array([27, 29, 21]) - 1, ideal_portal(density)
    M[26, 26] -= portal.M[0, 0]
    load[26] -= portal.M[0, 0]
    C[np.ix_(at, at)] -= portal.C
    K[np.ix_(at, at)] -= portal.K
    return Frame(M, C, K, load)


def specimen() -> Specimen:
    """The portal in the laboratory."""
    Lb, Lc, Ic, Ib, Ac, Ab, density = 0.762, 0.64135, 0.7 * 2.520 * INCH**4, 4.21372e-7, 1.670 * INCH**2, 7.56e-4, 7850
    a, b, c, d = 12 * E * Ic / Lc**3, 6 * E * Ic / Lc**2, 4 * E * Ic / Lc, 2 * E * Ic / Lc
    p, q = 4 * E * Ib / Lb, 2 * E * Ib / Lb
    K = np.array(
        [[2 * a, b, b, b, b], [b, c + p, q, 0, d], [b, q, c + p, d, 0], [b, 0, d, c, 0], [b, d, 0, 0, c]], dtype=float
    )
    beam, column = density * Ab * Lb, density * Ac * Lc
    corner, base = (beam * Lb**2 + column * Lc**2) / 6.0, column * Lc**2 / 6.0
    M = SPECIMEN_MASS * np.diag([(beam + 2 * column) / 2.0, corner, corner, base, base])
    squared, shapes = eigh(K, M)
    modal = np.diag(2.0 * DAMPING * np.round(np.sqrt(squared), 2))  # the package types the frequencies in
    C = M @ shapes @ modal @ shapes.T @ M
    T = np.vstack([np.eye(2), -np.linalg.solve(K[2:, 2:], K[2:, :2])])
    return Specimen(M, C, K, T)


def one_piece(part: Frame, portal: Specimen) -> Frame:
    """Numerical part and laboratory's specimen solved together: what perfect control would give."""
    where = np.zeros((len(part.M), 3))  # of the forces f1, -f2, -f3
    for column, (dof, sign) in enumerate(zip(NODE, (1.0, -1.0, -1.0), strict=True)):
        where[dof - 1, column] = sign
    imposed = where[:, :2].T  # (U27, -U21)
    add = [where @ (matrix @ portal.T)[:3] @ imposed for matrix in (portal.M, portal.C, portal.K)]
    return Frame(part.M + add[0], part.C + add[1], part.K + add[2], part.load)
