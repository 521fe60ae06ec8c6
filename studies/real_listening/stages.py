"""From deformations of a frame to trained networks: ``hyloop study stage real_listening STAGE``."""

from pathlib import Path

from hyloop.errors import BadInput, UnknownName

from . import runs
from .networks import LISTENING, OFFLINE

RUNS = "runs.h5"


def virtual(folder: Path, progress, deformations: str = "out/malik2025-stages/deformations.h5") -> str:
    """Virtual specimens, each in two tests; earthquakes are those that `malik2025 deformations` has made."""
    source = _made(Path(deformations), "malik2025 deformations")
    runs.make(source, folder / RUNS, progress)
    sides = ", ".join(f"{len(runs.load(folder / RUNS, side))} for {side}" for side in runs.COUNTS)
    return f"{folder / RUNS}: {sides}"


def train(folder: Path, progress, network: str = LISTENING, seed: int = 0) -> str:
    """One network on virtual specimens alone; some minutes on one core, goes on if broken off."""
    from . import training  # here: JAX takes seconds to import

    if network not in (LISTENING, OFFLINE):
        raise UnknownName("network", network, (LISTENING, OFFLINE), where="study real_listening")
    given = runs.load(_made(folder / RUNS, "real_listening virtual"), "train")
    path = folder / f"{network}-{seed}.safetensors"
    training.train(path, network, seed, given, progress=_reports(progress))
    return str(path)


def adapt(folder: Path, progress, network: str = LISTENING, seed: int = 0) -> str:
    """The same network after some updates on real harmonic tests of the base session."""
    from . import training
    from .pairs import adapting_runs

    given = runs.load(_made(folder / RUNS, "real_listening virtual"), "train")
    begun = _made(folder / f"{network}-{seed}.safetensors", f"real_listening train network={network} seed={seed}")
    path = folder / f"{network}-adapted-{seed}.safetensors"
    training.adapt(path, begun, seed, given, adapting_runs(), progress=_reports(progress))
    return str(path)


STAGES = {"virtual": virtual, "train": train, "adapt": adapt}


def _reports(progress):
    def report(now) -> None:
        progress((now.elapsed / (now.elapsed + now.remaining)) if now.remaining > 0.0 else now.epoch / now.epochs)

    return report


def _made(path: Path, stage: str) -> Path:
    if not path.is_file():
        raise BadInput(f"{path} is missing; make it by `hyloop study stage {stage}`.")
    return path
