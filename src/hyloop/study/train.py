"""Run a training file: read, check, train once for every seed, freeze, judge, write networks and a page."""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hyloop.errors import BadInput
from hyloop.learn.histories import History, Split, split
from hyloop.learn.scaling import fit_signals, scaled
from hyloop.metrics import nrmse, r2, rmse, trac
from hyloop.neural.architecture import Architecture
from hyloop.neural.card import Card, Signal
from hyloop.neural.frozen import FrozenNetwork
from hyloop.study.provenance import versions
from hyloop.study.training_data import TrainingData, read_histories
from hyloop.study.training_files import TrainingFile, load_training

if TYPE_CHECKING:
    from hyloop.learn.training import Losses, Progress

__all__ = ["MEASURES", "Member", "Prepared", "TrainingOutcome", "prepare", "train_file"]

MEASURES = ("RMSE", "NRMSE", "R2", "TRAC")
_SIDES = ("train", "validation", "test")


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
    network: FrozenNetwork
    history: "Losses"
    best_epoch: int
    seconds: float
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
        return _judge(
            self.prepared.parts, {n: np.mean([m.predictions[n] for m in self.members], axis=0) for n in names}
        )

    @cached_property
    def outside(self) -> dict[str, float]:
        """Part of the samples at which an input is outside the range it had in training, by name."""
        low, high = (np.array([getattr(signal, end) for signal in self.prepared.inputs]) for end in ("low", "high"))
        found = {}
        for side in _SIDES:
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
        whole = [(side, "", f"all of {side}") for side in _SIDES if getattr(parts, side)]
        return whole + [(side, h.event, h.name) for side in _SIDES for h in getattr(parts, side)]


def prepare(path: Path, overrides: Sequence[str] = (), out: Path | None = None) -> Prepared:
    """Read a training file and its data, and refuse whatever cannot be trained on; nothing is written."""
    file = load_training(path, overrides)
    target = out or Path(file.output or Path("out") / f"{path.stem}.safetensors")
    if target.suffix != ".safetensors":
        raise BadInput(f"{target}: a network is written as .safetensors; give a name that ends so.")
    try:
        data = read_histories(file.data)
        parts = split(data.histories, file.split.validation, file.split.test, least=file.training.window or 2)
        inputs = fit_signals(parts.train, "inputs", data.inputs, file.scaling.inputs)
        outputs = fit_signals(parts.train, "target", data.outputs, file.scaling.outputs)
        architecture = file.network.architecture(len(inputs), len(outputs))
    except BadInput as error:
        error.args = (f"{path}: {error}",)
        raise
    return Prepared(file, path, target, data, parts, inputs, outputs, architecture)


def train_file(
    path: Path,
    overrides: Sequence[str] = (),
    out: Path | None = None,
    *,
    resume: bool = False,
    progress: Callable[[int, "Progress"], None] = lambda seed, now: None,
) -> TrainingOutcome:
    """Train what a file describes.

    Parameters
    ----------
    path : Path
        Training file; see `hyloop.study.training_files`.
    overrides : sequence of str
        Changes such as ``"training.epochs=10"``.
    out : Path, optional
        Network to write instead of the one the file names. With several seeds, each has a file beside it and the one
        with the least validation loss (without validation, the first) is copied there.
    resume : bool
        Go on from the checkpoints beside the network; seeds that have none begin.
    progress : function
        Hears the seed and a `hyloop.learn.training.Progress`.
    """
    now = prepare(path, overrides, out)
    try:
        from hyloop.learn.network_training import Recipe, train_network
        from hyloop.learn.networks import freeze
    except ImportError as error:
        raise BadInput("training needs JAX, which is not installed: pip install 'hyloop[learn]'.") from error
    schedule = now.file.training.model_dump(exclude={"seeds"})
    recipe = Recipe(dropout=now.file.network.dropout, **schedule)
    seen = Split(*(tuple(scaled(getattr(now.parts, side), now.inputs, now.outputs)) for side in _SIDES))
    kept = {seed: _beside(now, seed, ".checkpoint") for seed in now.file.training.seeds}
    if resume and not any(checkpoint.exists() for checkpoint in kept.values()):
        raise BadInput(
            f"there is no checkpoint such as {next(iter(kept.values()))} to resume from. Train from the start."
        )
    members = []
    for seed, checkpoint in kept.items():
        # a seed that had not begun begins now
        trained = train_network(
            now.architecture,
            seen,
            recipe,
            seed=seed,
            resume=resume and checkpoint.exists(),
            checkpoint=checkpoint,
            progress=lambda report, seed=seed: progress(seed, report),
        )
        bare = freeze(trained.model, _card(now, seed, {}))
        predictions = {h.name: _drive(bare, h) for h in now.data.histories}
        agreement = _judge(now.parts, predictions)
        network = freeze(trained.model, _card(now, seed, agreement))
        members.append(
            Member(
                seed,
                _beside(now, seed),
                network,
                trained.history,
                trained.best_epoch,
                trained.seconds,
                predictions,
                agreement,
            )
        )
        network.save(members[-1].path)
    chosen = min(members, key=lambda m: m.history.validation.min()) if now.parts.validation else members[0]
    if chosen.path != now.out:
        shutil.copyfile(chosen.path, now.out)
    return TrainingOutcome(now, tuple(members), chosen)


def _beside(now: Prepared, seed: int, mark: str = "") -> Path:
    number = f"-seed{seed}" if len(now.file.training.seeds) > 1 else ""
    return now.out.with_name(f"{now.out.stem}{number}{mark}.safetensors")


def _card(now: Prepared, seed: int, agreement: dict[str, dict[str, float]]) -> Card:
    metrics = {
        f"{side} {measure}": agreement[f"all of {side}"][measure]
        for side in _SIDES
        if f"all of {side}" in agreement
        for measure in MEASURES
        if np.isfinite(agreement[f"all of {side}"][measure])
    }
    about: dict[str, Any] = {
        "title": now.file.title,
        "file": now.path.name,
        "sha256": hashlib.sha256(now.path.read_bytes()).hexdigest(),
        "training": now.file.training.model_dump(mode="json"),
        "dropout": now.file.network.dropout,
        "scaling": now.file.scaling.model_dump(),
        "versions": versions(),
        **{side: [h.name for h in getattr(now.parts, side)] for side in _SIDES},
    }
    events = dict.fromkeys(h.event for h in now.parts.train)
    text = f"{len(now.parts.train)} tests of {len(events)} events: {', '.join(events)}"
    dt = now.parts.train[0].dt if now.architecture.recurrent else 0.0
    return Card(now.inputs, now.outputs, dt, text, seed, metrics, about)


def _drive(network: FrozenNetwork, history: History) -> np.ndarray:
    signals: dict[str, Any] = {signal.name: history.inputs[:, k] for k, signal in enumerate(network.card.inputs)}
    found = network.drive(history.dt, **signals)
    return np.column_stack([found[signal.name] for signal in network.card.outputs])


def _judge(parts: Split, predictions: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Agreement of the first output, history by history and over each side."""
    found = {}
    for side in _SIDES:
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
