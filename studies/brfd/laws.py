"""Constant LuGre and gap-slip, fitted to tests of the banded damper: what is free, from where, and by which weights."""

from typing import Literal, NamedTuple

import numpy as np

from hyloop.data.banded_damper import tests
from hyloop.devices import gap_slip, lugre_exact
from hyloop.identification import MeasuredTest, fit, predict

RATE = 1024.0  # Hz
QUAKES = ("DuzceDBE", "DuzceMCE", "ImperialValleyDBE", "ImperialValleyMCE", "KocaeliDBE", "KocaeliMCE")
# samples that the paper evaluates
SEGMENTS = {"Duzce": slice(4608, 12288), "Imper": slice(3072, 7680), "Kocae": slice(6144, 14336)}
# what is fitted of a test: its first 20 s, every fourth sample
FITTED, EVERY = 20 * 1024, 4
ARM, RIM = 4 * 0.0254, 1.5  # m; the rim of the drum lies this much further out than the joint of the actuator

# Read off the loops of the harmonic tests: slack and taut stiffness, backlash, plateaus; round numbers for the rest
START = {
    "LuGre": lugre_exact(
        sigma0=5e6, sigma1=1e4, sigma2=1e3, Fc_pos=14e3, Fs_pos=14.5e3, Fc_neg=16e3, Fs_neg=21e3, vs=0.05
    ),
    "gap-slip": gap_slip(
        kd=0.1e6,
        kp=7.5e6,
        kn=7.5e6,
        gp=1.6e-3,
        gn=1.6e-3,
        w=0.5e-3,
        n_pos=5.0,
        n_neg=5.0,
        Fc_pos=13e3,
        dF_pos=1e3,
        Fc_neg=16e3,
        dF_neg=5e3,
        vs=0.05,
        c=5e3,
        m=100.0,
        fg=200.0,
        off=0.0,
    ),
}
FREE = {
    "LuGre": {
        "sigma0": (1e5, 1e8),
        "sigma1": (1e2, 1e6),
        "sigma2": (0.0, 5e4),
        "Fc_pos": (2e3, 4e4),
        "Fs_pos": (2e3, 4e4),
        "Fc_neg": (2e3, 4e4),
        "Fs_neg": (2e3, 4e4),
        "vs": (1e-3, 1.0),
    },
    "gap-slip": {
        "kd": (2e4, 1e6),
        "kp": (1e6, 3e7),
        "kn": (1e6, 3e7),
        "gp": (0.2e-3, 6e-3),
        "gn": (0.2e-3, 6e-3),
        "w": (5e-5, 2e-3),
        "n_pos": (0.5, 40.0),
        "n_neg": (0.5, 40.0),
        "Fc_pos": (2e3, 4e4),
        "dF_pos": (0.0, 2e4),
        "Fc_neg": (2e3, 4e4),
        "dF_neg": (0.0, 2e4),
        "vs": (5e-3, 0.5),
        "c": (0.0, 5e4),
        "m": (0.0, 3e3),
        "fg": (0.0, 3e3),
        "off": (-2e3, 2e3),
    },
}
SOLVED = {"LuGre": "y", "gap-slip": "s"}  # the state found from the first measured force
TOLERANCE = 1e-6  # relative change of the sum of squares; the errors below then move by less than 1 N
WEIGHTINGS = ("plain", "normalised")  # every sample the same; every test the same, over the rms of its force


class Fitted(NamedTuple):
    """A fit as plain numbers, so that another process can make it."""

    law: str
    params: dict[str, float]
    names: tuple[str, ...]  # of the tests, and their errors over the range of the force
    nrmse: tuple[float, ...]
    estimates: list[list]  # name, value, unit, interval, remark of every parameter

    @property
    def device(self):
        """The law with its parameters."""
        return START[self.law].block(**self.params)


def load(velocity: Literal["zero-phase", "causal"] = "zero-phase"):
    """Signals of the harmonic tests and of the earthquakes, by name."""
    found = {name: test.signals(velocity) for name, test in tests("d2_*36lb_*").items()}
    quakes = {name: found[f"d2_eq36lb_{name}"] for name in QUAKES}
    return {name: test for name, test in found.items() if name.startswith("d2_h")}, quakes


def fitted(law, training, weighting) -> Fitted:
    """One descent from the start, to tests by name."""
    measured = [_measured(law, name, test, weighting) for name, test in training.items()]
    # motions as recorded, like the fits that are compared with
    found = fit(START[law], measured, FREE[law], starts=1, tolerance=TOLERANCE, noisy_inputs=False)
    estimates = [[e.name, e.value, e.unit, e.low, e.high, e.remark] for e in found.estimates.values()]
    return Fitted(law, found.law.params, tuple(training), found.nrmse, estimates)


def to_harmonics(law, weighting) -> Fitted:
    """Fitted to the harmonic tests alone."""
    return fitted(law, load()[0], weighting)


def left_out(names, velocity: Literal["zero-phase", "causal"] = "zero-phase") -> tuple[str, Fitted, Fitted]:
    """Weighting, LuGre and gap-slip, fitted to everything but some earthquakes.

    The weighting is chosen by LuGre on the earthquakes that were fitted, and used for both laws: those left out have no
    say.
    """
    harmonics, quakes = load(velocity)
    others = {name: test for name, test in quakes.items() if name not in names}
    tried = {weighting: fitted("LuGre", harmonics | others, weighting) for weighting in WEIGHTINGS}
    score = {w: np.mean([error(f, name, test) for name, test in others.items()]) for w, f in tried.items()}
    chosen = min(WEIGHTINGS, key=lambda weighting: score[weighting])
    return chosen, tried[chosen], fitted("gap-slip", harmonics | others, chosen)


def force(found: Fitted, name, test):
    """Force over a whole record, free-running from the first sample, of which alone the force is known."""
    return predict(found.device, _measured(found.law, name, test))


def error(found: Fitted, name, test) -> float:
    """RMSE in N over the paper's segment."""
    deviation = force(found, name, test) - test["f"]
    return float(np.sqrt(np.mean(deviation[SEGMENTS[name[:5]]] ** 2)))


def _measured(law, name, test, weighting=None):
    """A test as the law sees it, whole; or, to be fitted, its first 20 s at 256 Hz."""
    inputs = {key: test[key] for key in ("d", "v", "a")}
    if law == "LuGre":
        inputs["v"] = RIM * test["v"] / np.sqrt(1.0 - (test["d"] / ARM) ** 2)
    if weighting is None:
        return MeasuredTest(1.0 / RATE, inputs, test["f"], SOLVED[law], name=name)
    f = test["f"][:FITTED:EVERY]
    weight = 1.0 if weighting == "plain" else 1.0 / np.sqrt(np.sum(f**2))
    short = {key: signal[:FITTED:EVERY] for key, signal in inputs.items()}
    return MeasuredTest(EVERY / RATE, short, f, SOLVED[law], weight, name)
