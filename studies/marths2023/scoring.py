"""Criteria of the benchmark by meaning; their numbers in brackets."""

import numpy as np
from scipy.signal import correlate

from .frame import DT, NODE, STOREYS
from .loop import Run, to_volts

__all__ = ["VOLTS", "score", "unstable"]

VOLTS = 3.8  # V: limit of the command
UNSTABLE = 100.0  # %: of the node's tracking error (J5), where a run that has not diverged counts as unstable


def nrms(a, b):
    """Deviation of a - b over that of b, in %."""
    return 100.0 * np.std(a - b, ddof=1) / np.std(b, ddof=1)


def peak(a, b):
    """Largest |a - b| over largest |b|, in %."""
    return 100.0 * np.abs(a - b).max() / np.abs(b).max()


def lag(a, b):
    """By how many ms a comes behind b, by the largest cross-correlation."""
    found = correlate(a, b, mode="full", method="fft")
    return 1e3 * DT * (int(np.argmax(found)) - (len(b) - 1))


def volts(run: Run) -> float:
    """Largest command in V."""
    return float(max(np.abs(each).max() for each in to_volts(run["command1"], run["command2"])))


def score(run: Run, reference: np.ndarray) -> dict[str, np.ndarray]:
    """All criteria of a run that went to its end; `reference` are displacements of all degrees of freedom."""
    x, r = reference[:, NODE[0] - 1], -reference[:, NODE[1] - 1]
    floors = [sign * reference[:, dof - 1] for dof, sign in zip(STOREYS, (1, -1, 1, -1), strict=True)]
    actuator = [(run[f"measured{i}"], run[f"target{i}"]) for i in (1, 2)]
    node = [(run["seen_x"], run["node_x"]), (run["seen_r"], run["node_r"])]
    seen = [(run["seen_x"], x), (run["seen_r"], r)]
    storeys = list(zip((run["x2"], run["r2"], run["x3"], run["r3"]), floors, strict=True))
    pairs = {
        "actuator_delay": (lag, actuator),  # J1
        "actuator_nrms": (nrms, actuator),  # J2
        "actuator_peak": (peak, actuator),  # J3
        "node_delay": (lag, node),  # J4, of the node: the package repeats J1
        "node_nrms": (nrms, node),  # J5
        "node_peak": (peak, node),  # J6
        "node_vs_reference_nrms": (nrms, seen),  # J7
        "storey_vs_reference_nrms": (nrms, storeys),  # J8
        "node_vs_reference_peak": (peak, seen),  # J9
        "storey_vs_reference_peak": (peak, storeys),  # J10
        "true_nrms": (nrms, [(run[f"true{i}"], run[f"target{i}"]) for i in (1, 2)]),  # J2 without the sensors' noise
    }
    values = {name: np.array([measure(a, b) for a, b in rows]) for name, (measure, rows) in pairs.items()}
    return values | {"volts": np.array([volts(run)]), "force": np.array([np.abs(run["force"]).max()])}


def unstable(run: Run, values: dict[str, np.ndarray]) -> bool:
    """Whether a run diverged, or tracks no better than a node that stands still."""
    return run.diverged or not values["node_nrms"].max() <= UNSTABLE
