"""From records to a trained network, each stage a command and a file: ``hyloop study stage malik2025 STAGE``."""

from pathlib import Path

from hyloop.errors import BadInput, UnknownName

from . import data
from .specimens import SPECIMENS

KINDS = {
    "listening": "listening",
    "physics": "physics",
    "holding": "holding",
    "two": "two",
    "offline": "offline",
    "level": "offline, told the level",
}


def motions(folder: Path, progress) -> str:
    """Record pairs scaled to the spectrum, varied for training, split by event."""
    data.make_motions(folder / "motions.h5")
    progress(1.0)
    return f"{folder / 'motions.h5'}: " + ", ".join(
        f"{len(data.load_motions(folder / 'motions.h5', side))} for {side}" for side in data.SIDES
    )


def deformations(folder: Path, progress) -> str:
    """Deformations of both stories of the fibre frame with LuGre dampers of three capacities."""
    data.make_deformations(_made(folder / "motions.h5", "motions"), folder / "deformations.h5", progress)
    return str(folder / "deformations.h5")


def measure(folder: Path, progress, specimen: str = "chatter") -> str:
    """What is measured when they are imposed on drawn specimens."""
    path = folder / f"{_known(specimen, SPECIMENS)}.h5"
    data.make_runs(_made(folder / "deformations.h5", "deformations"), path, specimen, progress)
    return str(path)


def train(
    folder: Path, progress, specimen: str = "chatter", network: str = "listening", seed: int = 0, few: int = 0
) -> str:
    """One network, on as many runs as there are or as few as the paper had; some five minutes on one core."""
    from . import training  # here: JAX takes seconds to import

    kind = KINDS[_known(network, KINDS)]
    source = _made(folder / f"{_known(specimen, SPECIMENS)}.h5", f"measure specimen={specimen}")
    path = folder / f"{specimen}-{network}{'-few' if few else ''}-{seed}.safetensors"

    def report(now) -> None:
        progress((now.elapsed / (now.elapsed + now.remaining)) if now.remaining > 0.0 else now.epoch / now.epochs)

    training.train(source, path, kind, seed, few=bool(few), progress=report)
    return str(path)


STAGES = {"motions": motions, "deformations": deformations, "measure": measure, "train": train}


def _made(path: Path, stage: str) -> Path:
    if not path.is_file():
        raise BadInput(f"{path} is missing; make it by `hyloop study stage malik2025 {stage}`.")
    return path


def _known(name: str, names) -> str:
    if name not in names:
        raise UnknownName("name", name, names, where="study malik2025")
    return name
