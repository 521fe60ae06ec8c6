"""A few numbers of a frozen model found anew from the beginning of one test, at one current."""

from dataclasses import replace

import numpy as np
from scipy.optimize import least_squares

# what one number multiplies
GROUPS = {
    "flow": ("F_0", "F_1"),
    "friction": ("Y_0", "Y_1"),
    "forces": ("F_0", "F_1", "Y_0", "Y_1"),
    "speed": ("v_e",),
    "gap": ("gap",),
    "spring": ("k_0",),
}
NUMBERS = ("flow", "friction")
SECONDS = 10.0
SPREAD = 0.05  # of the logarithm of a factor: that of factors found on single sine tests
NOISE = 0.02  # of the range: what the law leaves of a sine; coloured, so that the record counts as one observation


def scaled(frozen, factors):
    """The model with groups of its parameters multiplied."""
    values, names = frozen.values.copy(), list(frozen.law.params)
    for group, factor in factors.items():
        for key in GROUPS[group]:
            values[names.index(key)] *= factor
    return replace(frozen, values=values)


def force(frozen, seen, stop=None) -> np.ndarray:
    """Force of the block of the loop over a test, free-running from rest; to the sample `stop` of the model."""
    # the network sees the state of the moment and no earlier sample, so that it may run at another rate
    rated = replace(frozen, card=replace(frozen.card, dt=seen.dt)) if frozen.card.dt else frozen
    return rated.device(i=seen.current).drive(seen.dt, d=seen.d[:stop])["f"]


def errors(frozen, tests) -> np.ndarray:
    """NRMSE in % of the averaged force of tests."""
    return np.array([seen.nrmse(force(frozen, seen)) for seen in tests])


def calibrated(frozen, seen, numbers=NUMBERS, seconds=SECONDS) -> dict[str, float]:
    """Factors by least squares over the first seconds of a test."""
    means = min(len(seen.f), round(seconds / (seen.dt * seen.stride)))
    stop = seen.stride * (means + seen.window - 2) + 1
    heard = seen.f[seen.skip : means]
    noise = NOISE * np.ptp(heard) * np.sqrt(len(heard))

    def residuals(logs):
        model = scaled(frozen, dict(zip(numbers, np.exp(logs), strict=True)))
        deviation = seen.shown(force(model, seen, stop))[seen.skip : means] - heard
        return np.concatenate([deviation / noise, logs / SPREAD])

    found = least_squares(residuals, np.zeros(len(numbers)), x_scale=SPREAD, diff_step=1e-4)
    return dict(zip(numbers, np.exp(found.x).tolist(), strict=True))
