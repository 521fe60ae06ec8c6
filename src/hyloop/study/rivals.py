"""What a trained network has to beat: the mean, a linear function of its inputs, and laws fitted to the same tests."""

from collections.abc import Callable, Sequence

import numpy as np

from hyloop.core import Instance
from hyloop.devices import bouc_wen, lugre_exact, nonlinear_maxwell, nonlinear_viscous
from hyloop.errors import BadInput
from hyloop.identification import MeasuredTest, fit
from hyloop.neural.histories import History
from hyloop.report.training_result import SIDES, Prepared, Rival, judge

__all__ = ["fit_rivals"]

_SAMPLES = 20_000  # of all tests that a law is fitted to: a few seconds
_STARTS, _TOLERANCE = 4, 1e-4
Free = dict[str, tuple[float, float]]


def fit_rivals(now: Prepared, progress: Callable[[str, float], None] = lambda what, part: None) -> list[Rival]:
    """Baselines for the first output, all made from the training tests alone; laws where they hear what they need."""
    train = now.parts.train
    mean = float(np.mean(np.concatenate([h.target[:, 0] for h in train])))
    weights = _linear(train)
    everything = [h for side in SIDES for h in getattr(now.parts, side)]
    found = [
        _judged(now, "mean", "the mean of the training output", {h.name: np.full(len(h), mean) for h in everything}),
        _judged(
            now,
            "linear",
            "a linear function of the same inputs, by least squares",
            {h.name: _columns(h) @ weights for h in everything},
        ),
    ]
    candidates = _candidates(now)
    for k, (law, free) in enumerate(candidates):
        progress("laws to compare with", k / len(candidates))
        try:
            fitted = fit(law, _tests(now, train), free, starts=_STARTS, tolerance=_TOLERANCE, noisy_inputs=False).law
            forces = {h.name: fitted.drive(h.dt, **_signals(now, h, law))["f"] for h in everything}
        except BadInput:  # a law that cannot be fitted to such tests is no rival
            continue
        if all(np.isfinite(force).all() for force in forces.values()):
            free_text = ", ".join(f"{key} = {fitted.params[key]:.4g}" for key in free)
            found.append(_judged(now, law.block.name, f"the law, fitted: {free_text} (SI units)", forces))
    progress("laws to compare with", 1.0)
    return found


def _judged(now: Prepared, name: str, about: str, values: dict[str, np.ndarray]) -> Rival:
    outputs = len(now.outputs)  # only the first is judged
    predictions = {key: np.repeat(series[:, None], outputs, axis=1) for key, series in values.items()}
    return Rival(name, about, values, judge(now.parts, predictions))


def _columns(history: History) -> np.ndarray:
    return np.column_stack([history.inputs, np.ones(len(history))])


def _linear(train: Sequence[History]) -> np.ndarray:
    columns, target = (np.concatenate([f(h) for h in train]) for f in (_columns, lambda h: h.target[:, 0]))
    size = np.maximum(np.abs(columns).max(axis=0), np.finfo(float).tiny)
    return np.linalg.lstsq(columns / size, target, rcond=None)[0] / size


def _signals(now: Prepared, history: History, law: Instance) -> dict[str, np.ndarray]:
    names = [signal.name for signal in now.inputs]
    return {key: history.inputs[:, names.index(key)] for key in law.block.inputs}


def _tests(now: Prepared, train: Sequence[History]) -> list[MeasuredTest]:
    """The training tests, each cut to its share of what is fitted."""
    share = max(_SAMPLES // len(train), 100)
    names = [signal.name for signal in now.inputs]
    return [
        MeasuredTest(h.dt, {key: h.inputs[:share, k] for k, key in enumerate(names)}, h.target[:share, 0], name=h.name)
        for h in train
    ]


def _candidates(now: Prepared) -> list[tuple[Instance, Free]]:
    """Laws that hear d or v of the network's inputs and give a force, with wide ranges about what the tests show."""
    units = {signal.name: signal.unit for signal in now.inputs}
    if now.outputs[0].unit != "N":
        return []
    f = max(float(np.abs(h.target[:, 0]).max()) for h in now.parts.train)
    most = {key: max(float(np.abs(h.inputs[:, k]).max()) for h in now.parts.train) for k, key in enumerate(units)}
    found = []
    if units.get("d") == "m" and f > 0.0 and most["d"] > 0.0:
        k, d = f / most["d"], most["d"]
        hysteretic = {"k": (0.05 * k, 500 * k), "alpha": (0.0, 1.0), "d_y": (1e-3 * d, 2 * d), "n": (1.0, 8.0)}
        found.append((bouc_wen(k=3 * k, alpha=0.05, d_y=0.3 * d), hysteretic))
        rate = f / (d / 0.1) ** 0.5  # a cycle takes seconds or tenths of them
        viscous = {"K": (0.1 * k, 1e4 * k), "C": (1e-3 * rate, 1e3 * rate), "alpha": (0.05, 1.0)}
        found.append((nonlinear_maxwell(K=30 * k, C=rate, alpha=0.5), viscous))
    if units.get("v") == "m/s" and f > 0.0 and most["v"] > 0.0:
        c = f / most["v"] ** 0.5
        found.append((nonlinear_viscous(C=c, alpha=0.5), {"C": (1e-3 * c, 1e3 * c), "alpha": (0.05, 2.0)}))
        levels = {key: (0.02 * f, 2.0 * f) for key in ("Fc_pos", "Fs_pos", "Fc_neg", "Fs_neg")}
        start = {"sigma0": 1e3 * f, "sigma1": 0.0, "sigma2": 0.0, **dict.fromkeys(levels, 0.8 * f)}
        found.append((lugre_exact(**start), {"sigma0": (1.0 * f, 1e5 * f), **levels}))
    return found
