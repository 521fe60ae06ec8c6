"""Two kinds of networks for dampers that follow, and how they are trained; JAX is imported here.

====================  =============================================================================================
kind                  what it does
====================  =============================================================================================
``"parameters"``      hears the measured damper and gives the parameters of the law of all followers (`ears`)
``"force"``           hears it, knows the motion of one place and gives the force there; the network of Malik et al.
====================  =============================================================================================

Both are trained on the same runs, with as many updates, on the mean square error of the force at the other place;
nothing is chosen by validation and the last weights count.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.learn import freeze
from hyloop.learn.networks.stack import Stack
from hyloop.learn.training.lanes import Stage, lanes, train_lanes
from hyloop.learn.training.schedules import cosine
from hyloop.learn.training.soap import soap
from hyloop.learn.training.train import Progress
from hyloop.neural.architecture import Architecture
from hyloop.neural.card import Card, Signal

from .ears import EVERY, TOLD
from .lessons import EAR, FORCE, OWN, SENSITIVITY, SHOWN, THETA, load_runs
from .specimens import DT

KINDS = ("parameters", "force")
HEARD = {"e": ("N", 50e3), "m": ("N", 300e3), "w": ("m/s", 0.2), "q": ("-", 0.2), "l": ("-", 2.0)}
WHOLE = {"f1": ("N", 300e3), "d1": ("m", 0.05), "v1": ("m/s", 0.2), "d": ("m", 0.05), "v": ("m/s", 0.2)}
NEWTON = 1e5  # N, unit of the loss: it is in (100 kN)^2
ANSWER = 0.2  # of ln K/K0 and the like, and of 20 kN, in a unit of the network


@dataclass(frozen=True)
class Recipe:
    """How long and in which windows a network is trained."""

    lanes: int = 16
    updates: int = 200  # in an epoch
    stages: tuple[Stage, ...] = (Stage(20, 256), Stage(12, 512), Stage(6, 1024))
    rate: float = 6e-3
    warmup: int = 100
    final: float = 1e-5
    clip: float = 1.0

    @property
    def epochs(self) -> int:
        return sum(stage.epochs for stage in self.stages)


class Weighed(eqx.Module):
    """A stack whose answer is weighed by sensitivities, the last columns of its inputs: an error of the force."""

    stack: Stack

    def rest(self, batch: int) -> Any:
        return self.stack.rest(batch)

    def __call__(self, x: Any, state: Any = None, *, key: Any = None) -> tuple[jax.Array, Any]:
        size = self.stack.architecture.inputs
        o, state = self.stack(x[..., :size], state, key=key)
        return jnp.sum(o * x[..., size:], axis=-1, keepdims=True), state


def architecture(kind: str) -> Architecture:
    """Two layers of 32 that hear five signals; or 16 beside 16, 48 and 48, as in Malik et al. (2025)."""
    if kind == "parameters":
        return Architecture(len(HEARD), [[("lstm", 32)], [("lstm", 32)], [("linear", len(TOLD))]])
    pair = [("lstm", 16, (0, 3)), ("lstm", 16, (3, 5))]
    return Architecture(len(WHOLE), [pair, [("lstm", 48)], [("lstm", 48)], [("linear", 1)]])


def columns(kind: str, run: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scaled inputs and target of one run."""
    if kind == "force":
        given = np.hstack([run[:, SHOWN], run[:, OWN]]) / [scale for _, scale in WHOLE.values()]
        return given.astype(np.float32), run[:, FORCE] / np.float32(NEWTON)
    given = run[:, EAR] / np.array([scale for _, scale in HEARD.values()])
    weights = run[:, SENSITIVITY] * (ANSWER / NEWTON)
    target = (weights * run[:, THETA] / ANSWER).sum(axis=1, keepdims=True)
    return np.hstack([given, weights]).astype(np.float32), target.astype(np.float32)


def card(kind: str, runs: Sequence[np.ndarray], **about: Any) -> Card:
    """Signals with their scales and their ranges in the runs."""
    signals = HEARD if kind == "parameters" else WHOLE
    given = [columns(kind, run)[0][:, : len(signals)] for run in runs]
    low, high = (
        np.array([rows.min(axis=0) for rows in given]).min(axis=0),
        np.array([rows.max(axis=0) for rows in given]).max(axis=0),
    )
    inputs = tuple(
        Signal(name, unit, 0.0, 1.0 / scale, float(low[k] * scale), float(high[k] * scale))
        for k, (name, (unit, scale)) in enumerate(signals.items())
    )
    if kind == "parameters":
        outputs = tuple(Signal(name, "-", 0.0, 1.0 / ANSWER) for name in TOLD)
    else:
        outputs = (Signal("f", "N", 0.0, 1.0 / NEWTON),)
    return Card(inputs, outputs, dt=EVERY * DT, **about)


def train(
    source: Path,
    out: Path,
    kind: str,
    seed: int,
    *,
    recipe: Recipe | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> float:
    """Train a network, write it, and return the root mean square error of the force in the last epoch, N."""
    recipe, runs = recipe or Recipe(), load_runs(source)
    stack = Stack(architecture(kind), key=jax.random.key(seed))
    rows = [columns(kind, run) for run in runs]

    def draw(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        return rows[int(rng.integers(len(rows)))]

    schedule = cosine(recipe.rate, recipe.epochs * recipe.updates, warmup=recipe.warmup, final=recipe.final)
    trained = train_lanes(
        Weighed(stack) if kind == "parameters" else stack,
        lanes(draw, recipe.lanes, recipe.stages, updates=recipe.updates, seed=seed),
        epochs=recipe.epochs,
        optimiser=soap(schedule, clip=recipe.clip),
        seed=seed,
        progress=progress,
    )
    model = trained.model.stack if kind == "parameters" else trained.model
    error = NEWTON * float(np.sqrt(trained.history.train[-1]))
    about = {"recipe": asdict(recipe), "kind": kind, "every": EVERY}
    data = f"{len(runs)} runs of drawn viscous dampers moved as in the tower under the choosing records"
    metrics = {"root mean square error of the force in training, N": error}
    freeze(model, card(kind, runs, data=data, seed=seed, about=about, metrics=metrics)).save(out)
    return error
