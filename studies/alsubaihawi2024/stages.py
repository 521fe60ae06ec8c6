"""From records to a trained network, each stage a command: ``hyloop study stage alsubaihawi2024 STAGE``."""

from pathlib import Path

from hyloop.errors import BadInput, UnknownName

from . import lessons


def deformations(folder: Path, progress) -> str:
    """Deformations of the twelve places of the tower under the choosing records, synthetic motions and sways."""
    path = folder / "deformations.h5"
    return f"{path}: {lessons.make_deformations(path, progress)} histories"


def measure(folder: Path, progress) -> str:
    """What is measured and true when pairs of them are imposed on drawn dampers."""
    lessons.make_runs(_made(folder / "deformations.h5", "deformations"), folder / "runs.h5", progress=progress)
    return str(folder / "runs.h5")


def train(folder: Path, progress, network: str = "parameters", seed: int = 0) -> str:
    """One network; two to five minutes on one core."""
    from . import teaching  # here: JAX takes seconds to import

    if network not in teaching.KINDS:
        raise UnknownName("name", network, teaching.KINDS, where="study alsubaihawi2024")
    path = folder / f"{network}-{seed}.safetensors"
    source = _made(folder / "runs.h5", "measure")
    error = teaching.train(source, path, network, seed, progress=lambda now: progress(now.epoch / now.epochs))
    return f"{path}: force off by {error / 1e3:.2f} kN (root mean square) in the last epoch of training"


STAGES = {"deformations": deformations, "measure": measure, "train": train}


def _made(path: Path, stage: str) -> Path:
    if not path.is_file():
        raise BadInput(f"{path} is missing; make it by `hyloop study stage alsubaihawi2024 {stage}`.")
    return path
