"""What a training gave: a network for every seed, and how well each agrees with every test."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hyloop.files.training import TrainingFile
from hyloop.files.training_data import TrainingData
from hyloop.metrics import nrmse, r2, rmse, trac
from hyloop.neural.architecture import Architecture
from hyloop.neural.card import Signal
from hyloop.neural.histories import Split
from hyloop.neural.stack import FrozenStack

if TYPE_CHECKING:
    from hyloop.learn.training.train import Losses

__all__ = ["MEASURES", "SIDES", "Member", "Prepared", "Rival", "TrainingOutcome", "judge"]

MEASURES = ("RMSE", "NRMSE", "R2", "TRAC")
SIDES = ("train", "validation", "test")


class Prepared(NamedTuple):
    """All a training needs, checked."""

    file: TrainingFile
    path: Path
    out: Path
    data: TrainingData
    parts: Split
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    architecture: Architecture


@dataclass(frozen=True, eq=False)
class Member:
    """The network one seed has led to.

    Attributes
    ----------
    path : Path
        Where it was written.
    history : Losses
        Of the scaled outputs.
    predictions : dict
        Outputs (samples, outputs) for every history by name, of the frozen network running freely from rest.
    agreement : dict
        `MEASURES` of the first output for every history by name, and for every side as ``"all of train"``.
    """

    seed: int
    path: Path
    network: FrozenStack
    history: "Losses"
    best_epoch: int
    seconds: float
    predictions: dict[str, np.ndarray]
    agreement: dict[str, dict[str, float]]


class Rival(NamedTuple):
    """What a network is compared with; `predictions` of the first output and `agreement` by name, as of a `Member`."""

    name: str
    about: str
    predictions: dict[str, np.ndarray]
    agreement: dict[str, dict[str, float]]


@dataclass(frozen=True, eq=False)
class TrainingOutcome:
    """A finished training: a member for every seed, and the one that is kept under the name of the file."""

    prepared: Prepared
    members: tuple[Member, ...]
    chosen: Member

    def spread(self, name: str, measure: str) -> tuple[float, float]:
        """Mean and standard deviation (n - 1; NaN for one seed) over the seeds."""
        values = [member.agreement[name][measure] for member in self.members]
        return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else float("nan")

    @cached_property
    def together(self) -> dict[str, dict[str, float]]:
        """`MEASURES` of the mean of all members' predictions, by name as in `Member.agreement`."""
        names = self.chosen.predictions
        return judge(self.prepared.parts, {n: np.mean([m.predictions[n] for m in self.members], axis=0) for n in names})

    @cached_property
    def outside(self) -> dict[str, float]:
        """Part of the samples at which an input is outside the range it had in training, by name."""
        low, high = (np.array([getattr(signal, end) for signal in self.prepared.inputs]) for end in ("low", "high"))
        found = {}
        for side in SIDES:
            beyond = {
                h.name: ((h.inputs < low) | (h.inputs > high)).any(axis=1) for h in getattr(self.prepared.parts, side)
            }
            found |= {name: float(rows.mean()) for name, rows in beyond.items()}
            if beyond:
                found[f"all of {side}"] = float(np.concatenate(list(beyond.values())).mean())
        return found

    @property
    def judged(self) -> list[tuple[str, str, str]]:
        """Side, event and name of all that is judged; sides as a whole come first."""
        parts = self.prepared.parts
        whole = [(side, "", f"all of {side}") for side in SIDES if getattr(parts, side)]
        return whole + [(side, h.event, h.name) for side in SIDES for h in getattr(parts, side)]


def judge(parts: Split, predictions: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Agreement of the first output, history by history and over each side."""
    found = {}
    for side in SIDES:
        histories = getattr(parts, side)
        for history in histories:
            found[history.name] = _measures(history.target[:, 0], predictions[history.name][:, 0])
        if histories:
            found[f"all of {side}"] = _measures(
                np.concatenate([h.target[:, 0] for h in histories]),
                np.concatenate([predictions[h.name][:, 0] for h in histories]),
            )
    return found


def _measures(measured: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """NaN where a measure is not defined: for a history without a range, and for predictions that are all zero."""
    varies, moves = np.ptp(measured) > 0.0, measured.any() and predicted.any()
    return {
        "RMSE": rmse(measured, predicted),
        "NRMSE": nrmse(measured, predicted) if varies else float("nan"),
        "R2": r2(measured, predicted) if varies else float("nan"),
        "TRAC": trac(measured, predicted) if moves else float("nan"),
    }
