"""Start values of the published controller, found again: least squares over 99 open-loop runs."""

from typing import NamedTuple

import numpy as np

from .blocks import TAPS
from .frame import RECORDS, ground, numerical, specimen
from .loop import simulate
from .plant import NOMINAL, discrete, draw
from .references import none

__all__ = ["Fitted", "fit_record"]

SCALES = (0.2, 0.4, 0.6)
EXTRA = 10  # random plants beside the nominal one


class Fitted(NamedTuple):
    """Coefficients and inverse normal matrix (1/m²) of every run, for both actuators."""

    theta: np.ndarray  # (runs, 2, 4)
    P: np.ndarray  # (runs, 2, 4, 4)


def fit_record(record: str, seed: int) -> Fitted:
    """All runs of one record: commands are the targets, no force comes back; targets regressed on what was measured."""
    rng = np.random.default_rng([seed, RECORDS.index(record)])
    part, nothing, controller = numerical(), specimen().scaled(0.0), none()
    theta, P = [], []
    for scale in SCALES:
        for poles in [NOMINAL, *(draw(rng) for _ in range(EXTRA))]:
            noise_seed = int(rng.integers(2**31))
            run = simulate(part, nothing, discrete(poles), controller.block, scale * ground(record), seed=noise_seed)
            fits = [_fit(1e-3 * run[f"measured{i}"], 1e-3 * run[f"target{i}"]) for i in (1, 2)]
            theta.append([fit[0] for fit in fits])
            P.append([fit[1] for fit in fits])
    return Fitted(np.array(theta), np.array(P))


def _fit(measured, target):
    padded = np.concatenate([np.zeros(TAPS - 1), measured])
    G = np.column_stack([padded[TAPS - 1 - j : len(padded) - j] for j in range(TAPS)])
    P = np.linalg.inv(G.T @ G)
    return P @ (G.T @ target), P
