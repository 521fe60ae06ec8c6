"""First losses and time per update of one training, on the processor JAX finds, as JSON.

Run it on two processors and compare::

    JAX_PLATFORMS=cpu python benchmarks/training_losses.py > cpu.json
    JAX_PLATFORMS=cuda python benchmarks/training_losses.py --against cpu.json

The training is that of the OCP-NN (16 || 16 -> 48 -> 48 -> 1) by the recipe of Malik et al. (2025) on made-up histories
of a friction element; the data are the same on every machine. Matrix products are in full float32, which GPUs otherwise
round to fewer digits.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import jax
import numpy as np

from hyloop.learn.training.networks import Recipe, train_network
from hyloop.learn.training.train import Progress
from hyloop.neural.architecture import ocp_nn
from hyloop.neural.histories import History, Split

DT = 1 / 1024
NEAR = 1e-3  # relative: round-off of float32, grown through the updates


def friction(k: int, samples: int) -> History:
    """Two friction elements (play operators) under related motions; the network hears one and answers for the other."""
    rng = np.random.default_rng([20261116, k])
    t = DT * np.arange(samples)
    frequencies, phases = rng.uniform(0.3, 3.0, 6), rng.uniform(0.0, 2 * np.pi, (2, 6))
    d1, d2 = (np.sin(2 * np.pi * np.outer(t, frequencies) + phase).mean(axis=1) for phase in phases)
    f1, f2 = _play(d1), _play(d2)
    inputs = np.column_stack([f1, d1, np.abs(f1), 0.5 * f1, d2])
    return History(f"made {k}", f"made {k}", DT, inputs, f2[:, None])


def _play(d: np.ndarray, reach: float = 0.1) -> np.ndarray:
    f = np.empty_like(d)
    force = 0.0
    for i, step in enumerate(np.diff(d, prepend=d[0])):
        force = min(max(force + step, -reach), reach)
        f[i] = force / reach
    return f


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--updates", type=int, default=20, help="losses to print")
    words.add_argument("--samples", type=int, default=6000, help="in a window")
    words.add_argument("--batch", type=int, default=10, help="histories")
    words.add_argument("--against", type=Path, help="JSON of another run to compare with")
    given = words.parse_args()
    windows = 2  # the state is carried over from the first to the second
    histories = tuple(friction(k, windows * given.samples) for k in range(given.batch))
    recipe = Recipe(
        epochs=-(-given.updates // windows), batch=given.batch, window=given.samples, dropout=0.1, schedule="staircase"
    )
    ends: dict[int, float] = {}  # when each epoch was over; the first one compiles

    def clock(now: Progress) -> None:
        ends.setdefault(now.epoch, time.perf_counter())

    trained = train_network(ocp_nn(), Split(histories, ()), recipe, progress=clock)
    losses = trained.history.updates[: given.updates].tolist()
    seconds = (ends[recipe.epochs] - ends[1]) / max(len(trained.history.updates) - windows, 1)
    answer = {
        "device": str(jax.devices()[0]),
        "batch": given.batch,
        "samples": given.samples,
        "losses": losses,
        "seconds_per_update": seconds,
        "jax": jax.__version__,
    }
    agree = True
    if given.against is not None:
        other = json.loads(given.against.read_text(encoding="utf-8"))
        apart = np.abs(np.array(losses) / np.array(other["losses"]) - 1.0)
        agree = bool(apart.max() < NEAR)
        answer |= {"against": other["device"], "largest_relative_difference": float(apart.max()), "agree": agree}
    sys.stdout.write(json.dumps(answer, indent=2) + "\n")
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
