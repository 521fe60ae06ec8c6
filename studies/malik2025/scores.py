"""How well a model predicts the force of the other device: the four measures of the paper, run by run."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hyloop.metrics import mae, nrmse, r2, trac
from hyloop.neural.frozen import FrozenNetwork
from hyloop.neural.resampled import resampled

from .frame import DT
from .networks import FORCE, NOMINAL, PHYSICS, arrivals, going_on, inputs, signals, what_is_heard
from .specimens import Run

MEASURES = ("NRMSE", "MAE", "R2", "TRAC")
TICKS = {0: 0, 5: 5, 10: 10, 15: 15, 20: 20}  # ms to ticks; 1024 Hz, so that a tick is 0.98 ms


def scores(f: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """NRMSE in %, MAE in kN, R2 and TRAC."""
    return np.array([100 * nrmse(f, predicted), 1e-3 * mae(f, predicted), r2(f, predicted), trac(f, predicted)])


def table(model: Callable[[Run], np.ndarray], runs: Sequence[Run]) -> np.ndarray:
    """Scores (runs, 4)."""
    return np.array([scores(run.f.astype(float), model(run)) for run in runs])


def listening(network: FrozenNetwork, kind: str = "listening", **link: Any) -> Callable[[Run], np.ndarray]:
    """The force a network predicts in a run; options are those of `answers`."""
    model = answers(network, kind, **link)
    return lambda run: model(run)[FORCE[0]]


def answers(
    network: FrozenNetwork,
    kind: str = "listening",
    delay: int = 0,
    jitter: int = 0,
    hears: str = "own run",
    dt: float = DT,
) -> Callable[[Run], dict[str, np.ndarray]]:
    """All outputs of a network in a run, at a delay in ticks of `dt`; it hears its own run or an unrelated one."""
    rng = np.random.default_rng(7)

    def model(run: Run) -> dict[str, np.ndarray]:
        heard, size = what_is_heard(kind, run, hears != "own run"), len(run.f)
        heard = heard if kind == "two" else going_on(heard, size)
        given = inputs(kind, run, arrivals(rng, size, delay, jitter), heard, dt=dt)
        columns: dict[str, Any] = {
            key: given[:, k] * scale for k, (key, (_, scale)) in enumerate(signals(kind).items())
        }
        found = device(network, kind, run.level).drive(dt, **columns)
        return {key: np.asarray(values) for key, values in found.items()}

    return model


def device(network: FrozenNetwork, kind: str, level: float) -> Any:
    """The network as a device that answers in every tick; a physics-based one has the law of the capacity."""
    given = network.block()
    names = [key for key in given.params if key.startswith(("F", "sigma"))] if kind in PHYSICS else []
    return resampled(network.block(**{key: given.params[key] * level / NOMINAL for key in names}), "phases")
