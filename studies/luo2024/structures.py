"""Structures, springs, loads and sensors of Luo et al. (2024); what the paper shows only in figures is chosen here."""

import jax.numpy as jnp
import numpy as np

from hyloop.devices import bilinear, bouc_wen
from hyloop.learn.springs.elastic import Curve
from hyloop.learn.springs.hysteresis import KnownLaw
from hyloop.learn.springs.through_structure import UnknownSprings
from hyloop.structure import Structure, rayleigh

STEPS = 512  # of a sample, as in the paper
STIFF = 4e8  # N/m, k1 = k2 = k3 of cases I and II
MASS = 1e6  # kg, m1 = m2 = m3
RATIO = 0.02  # damping ratio of the first two modes
CHAIN_LOAD = 1.5e7  # N, rms of the white noise on m3 in a sample of 0.01 s
BEAM_LOAD = 3e5  # N, rms at both quarter points
STRENGTH = 1.2e7  # N, of the softening spring


def softening(d):
    return STIFF * d / jnp.sqrt(1 + (STIFF * d / STRENGTH) ** 2)


def hardening(d):
    return 2e8 * d + 2e10 * d**3


def anisotropic(d):
    return STIFF * jnp.maximum(d, 0.0)


def rotational(d):
    return 5e6 * d / jnp.sqrt(1 + (5e6 * d / 1e5) ** 2)


def vertical(d):
    return 5e5 * d + 1e8 * d**3


TRUTH = {
    "softening": [Curve(softening)],
    "hardening": [Curve(hardening)],
    "anisotropic": [Curve(anisotropic)],
    "bilinear": [KnownLaw(bilinear(k=STIFF, alpha=0.1, f_y=STIFF * 5e-3))],
    "Bouc-Wen": [KnownLaw(bouc_wen(k=STIFF, alpha=0.1, d_y=5e-3, n=1.2))],
    "beam": [Curve(rotational), Curve(vertical)],
}


def story(number: int) -> np.ndarray:
    """Stiffness of one spring of the chain, of 400 MN/m; the first holds m1."""
    between = np.eye(3)[number - 1] - (np.eye(3)[number - 2] if number > 1 else 0.0)
    return STIFF * np.outer(between, between)


def chain(k=(1.0, 1.0, 1.0), m=(1.0, 1.0, 1.0), ratio: float = RATIO) -> Structure:
    """Three masses of 1000 t on springs of 400 MN/m, times k and m; the unknown spring holds m1 as well. Load on m3."""
    K = sum((factor * story(i) for i, factor in enumerate(k, 1)), np.zeros((3, 3)))
    masses = Structure(MASS * np.asarray(m), K, loads=np.eye(3)[:, 2:])
    return masses.with_damping(rayleigh(masses, ratio))


def beam() -> Structure:
    """Simply supported beam of eight elements of 1 m, consistent mass; loads at nodes 3 and 7, the quarter points."""
    EI, m, L, elements = 1.477e7, 1.178e3, 1.0, 8
    k = (
        EI
        / L**3
        * np.array(
            [
                [12, 6 * L, -12, 6 * L],
                [6 * L, 4 * L**2, -6 * L, 2 * L**2],
                [-12, -6 * L, 12, -6 * L],
                [6 * L, 2 * L**2, -6 * L, 4 * L**2],
            ]
        )
    )
    c = (
        m
        * L
        / 420
        * np.array(
            [
                [156, 22 * L, 54, -13 * L],
                [22 * L, 4 * L**2, 13 * L, -3 * L**2],
                [54, 13 * L, 156, -22 * L],
                [-13 * L, -3 * L**2, -22 * L, 4 * L**2],
            ]
        )
    )
    names = [f"{kind}{node}" for node in range(1, elements + 2) for kind in "wr"]  # deflection, rotation
    K, M = np.zeros((2, len(names), len(names)))
    for e in range(elements):
        part = slice(2 * e, 2 * e + 4)
        K[part, part] += k
        M[part, part] += c
    free = [i for i, name in enumerate(names) if name not in ("w1", f"w{elements + 1}")]
    kept = [names[i] for i in free]
    loads = np.array([[float(name == at) for at in ("w3", "w7")] for name in kept])
    bare = Structure(M[np.ix_(free, free)], K[np.ix_(free, free)], loads=loads, names=kept)
    return bare.with_damping(rayleigh(bare, RATIO))


def problem(case: str, substeps: int, sensors: tuple[str, ...] = ()) -> UnknownSprings:
    """The identification problem of a case; `sensors` are some of A1, A2, A3 (all, if none are named)."""
    if case == "beam":
        structure = beam()
        placed = {f"A{i}": ("a", f"w{i}") for i in range(2, 9)} | {"tilt": ("u", "r1"), "midspan": ("u", "w5")}
        along = [structure.between("r1"), structure.between("w5")]
        return UnknownSprings(structure, along, placed, 1e-3, substeps, (5e6, 5e5))
    structure = chain()
    placed = {f"A{i}": ("a", str(i)) for i in (1, 2, 3)}
    chosen = {name: placed[name] for name in sensors or placed}
    return UnknownSprings(structure, [structure.between("1")], chosen, 0.01, substeps, STIFF)


def white_noise(case: str, samples: int, rng: np.random.Generator, steps: int = STEPS) -> np.ndarray:
    """Load histories, (samples, steps, patterns)."""
    rms, patterns = (BEAM_LOAD, 2) if case == "beam" else (CHAIN_LOAD, 1)
    return rms * rng.normal(size=(samples, steps, patterns))


def noisy(readings: np.ndarray, ratio: float, kinds: list[str], rng: np.random.Generator) -> np.ndarray:
    """Eq. (5): noise with `ratio` times the standard deviation that sensors of the same kind have on average."""
    variance = np.var(readings, axis=(0, 1))
    groups = np.array(kinds)
    level = np.sqrt([np.mean(variance[groups == kind]) for kind in kinds])
    return readings + ratio * level * rng.normal(size=readings.shape)
