"""Run a training file: read, check, train once for every seed, freeze, judge, write networks and a page."""

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hyloop.core.writing import check_target, replacing
from hyloop.errors import BadInput
from hyloop.files.training import load_training
from hyloop.files.training_data import read_histories
from hyloop.neural.card import Card
from hyloop.neural.histories import History, Split, split
from hyloop.neural.scaling import fit_signals, scaled
from hyloop.neural.stack import FrozenStack
from hyloop.report.provenance import versions
from hyloop.report.training_head import counted
from hyloop.report.training_result import MEASURES, SIDES, Member, Prepared, TrainingOutcome, judge

if TYPE_CHECKING:
    from hyloop.learn.training.train import Progress

__all__ = ["prepare", "train_file"]


def prepare(path: Path, overrides: Sequence[str] = (), out: Path | None = None) -> Prepared:
    """Read a training file and its data, and refuse whatever cannot be trained on; nothing is written."""
    file = load_training(path, overrides)
    target = out or Path(file.output or Path("out") / f"{path.stem}.safetensors")
    if target.suffix != ".safetensors":
        raise BadInput(f"{target}: a network is written as .safetensors; give a name that ends so.")
    check_target(target)
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
        Training file; see `hyloop.files.training`.
    overrides : sequence of str
        Changes such as ``"training.epochs=10"``.
    out : Path, optional
        Network to write instead of the one the file names. With several seeds, each has a file beside it and the one
        with the least validation loss (without validation, the first) is copied there.
    resume : bool
        Go on from the checkpoints beside the network; seeds that have none begin.
    progress : function
        Hears the seed and a `hyloop.learn.training.train.Progress`.
    """
    now = prepare(path, overrides, out)
    try:
        from hyloop.learn import Recipe, freeze, train_network
    except ImportError as error:
        raise BadInput("training needs JAX, which is not installed: pip install 'hyloop[learn]'.") from error
    schedule = now.file.training.model_dump(exclude={"seeds"})
    recipe = Recipe(dropout=now.file.network.dropout, **schedule)
    seen = Split(*(tuple(scaled(getattr(now.parts, side), now.inputs, now.outputs)) for side in SIDES))
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
        agreement = judge(now.parts, predictions)
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
        with replacing(now.out) as part:
            shutil.copyfile(chosen.path, part)
    return TrainingOutcome(now, tuple(members), chosen)


def _beside(now: Prepared, seed: int, mark: str = "") -> Path:
    number = f"-seed{seed}" if len(now.file.training.seeds) > 1 else ""
    return now.out.with_name(f"{now.out.stem}{number}{mark}.safetensors")


def _card(now: Prepared, seed: int, agreement: dict[str, dict[str, float]]) -> Card:
    metrics = {
        f"{side} {measure}": agreement[f"all of {side}"][measure]
        for side in SIDES
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
        **{side: [h.name for h in getattr(now.parts, side)] for side in SIDES},
    }
    events = dict.fromkeys(h.event for h in now.parts.train)
    tests, of = counted(len(now.parts.train), "test"), counted(len(events), "event")
    text = f"{tests} of {of}: {', '.join(events)}"
    dt = now.parts.train[0].dt if now.architecture.recurrent else 0.0
    return Card(now.inputs, now.outputs, dt, text, seed, metrics, about)


def _drive(network: FrozenStack, history: History) -> np.ndarray:
    signals: dict[str, Any] = {signal.name: history.inputs[:, k] for k, signal in enumerate(network.card.inputs)}
    found = network.drive(history.dt, **signals)
    return np.column_stack([found[signal.name] for signal in network.card.outputs])
