"""How the comfort of a building in the wind is judged, for the page of its run."""

from collections.abc import Sequence
from typing import Any

from hyloop.files.schema import Experiment
from hyloop.files.wind import Pressures, Wind

__all__ = ["described_comfort"]


def described_comfort(experiment: Experiment, periods: Sequence[float]) -> dict[str, Any]:
    """Floors, plan, criterion and frequency of the first wind in an experiment; empty without wind.

    Accelerations are relative to the ground: where it moves, nothing is said.
    """
    winds = [spec for spec in experiment.loads.values() if isinstance(spec, (Wind, Pressures))]
    if not winds or not periods or experiment.motions:
        return {}
    body = winds[0].building()
    return {
        "floors": list(body.floors),
        "plan": [body.length_x, body.length_z],
        "master": list(body.master),
        "criterion": winds[0].comfort,
        "frequency": 1.0 / periods[0],
    }
