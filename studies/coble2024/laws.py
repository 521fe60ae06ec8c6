"""Refitted LuGre and gap-slip, the baselines of whatever is learned: as in the study brfd, on causal inputs."""

from importlib import import_module
from pathlib import Path

from hyloop.study.code import loaded_code

from .tests36 import left_out

_brfd = loaded_code(Path(__file__).parents[1] / "brfd")
_laws = import_module(f"{_brfd.__name__}.laws")
NAMES = {"refitted LuGre": "LuGre", "gap-slip": "gap-slip"}


def fitted(fold) -> dict:
    """Both laws by name, fitted to everything but what a fold leaves out."""
    _, lugre, gap_slip = _laws.left_out(left_out(fold), "causal")
    return dict(zip(NAMES, (lugre, gap_slip), strict=True))


def untrained() -> dict:
    """Both as they are before any fit, for a quick run."""
    return {name: _laws.Fitted(law, _laws.START[law].params, (), (), []) for name, law in NAMES.items()}


def error(found, name, test, velocity) -> float:
    """RMSE in N over the paper's segment, free-running from the first sample."""
    return _laws.error(found, name, test.signals(velocity))
