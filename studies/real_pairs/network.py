"""The LSTM that the training file of this damper describes, trained on the base session, blind and with three numbers.

A network has no friction to scale, so its force is: by a factor on each side and an offset, found from the heard test.
"""

import hashlib
from pathlib import Path

import numpy as np

from hyloop.files.examples import find_example
from hyloop.neural import load_network
from hyloop.study.train import train_file

from .sessions import RATE, SECONDS

EVERY = 8  # samples: 128 Hz, as in the training file
NAMES = ("LSTM, none", "LSTM, calibrated")


def trained(folder: Path):
    """The network, trained or kept by an earlier run."""
    recipe = find_example("training/banded_damper_lstm")
    path = folder / f"lstm-{hashlib.sha256(recipe.text.encode()).hexdigest()[:12]}.safetensors"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        train_file(recipe.root / recipe.file, ["training.seeds=[0]"], path)
    return load_network(path)


class Listener:
    """Errors of the network in a pair of tests."""

    def __init__(self, network):
        self.network, self.known = network, {}

    def __call__(self, heard, judged):
        """NRMSE in the judged test, as the network is and scaled as the heard test says."""
        (f, y), (g, z) = self.force(heard), self.force(judged)
        scale = np.linalg.lstsq(_sides(y), f, rcond=None)[0]
        span = np.ptp(g)
        return {
            name: float(np.sqrt(np.mean((force - g) ** 2)) / span)
            for name, force in zip(NAMES, (z, _sides(z) @ scale), strict=True)
        }

    def force(self, test):
        """Measured force and that of the network, at the rate of the training."""
        if test.name not in self.known:
            head, signals = slice(0, round(SECONDS * RATE), EVERY), test.signals("causal")
            out = self.network.drive(EVERY * test.dt, d=signals["d"][head], v=signals["v"][head])
            self.known[test.name] = signals["f"][head], np.asarray(out["f"])
        return self.known[test.name]


def _sides(f):
    return np.column_stack([np.maximum(f, 0.0), np.minimum(f, 0.0), np.ones(len(f))])
