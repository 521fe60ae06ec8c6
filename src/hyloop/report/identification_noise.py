"""Noise in the measured motion, in the words of the page and of the command line."""

import numpy as np

from hyloop.identification import Fit

__all__ = ["input_noise"]

_NOISE = {"d": (1e6, "µm"), "v": (1e3, "mm/s"), "a": (1.0, "m/s2")}
_KEPT = 0.999  # part of the noise left from which on a signal was not smoothed


def input_noise(fitted: Fit) -> list[str]:
    """What was found of noise in the measured motion, and done about it; nothing where there is none."""
    noise = fitted.input_noise
    if noise is None or not any(noise.sizes):
        return []
    keys = [key for key in _NOISE if noise.largest(key) > 0.0]
    stated = {key for test in fitted.tests for key in test.noise}
    sizes = ", ".join(_size(key, noise.largest(key), key in stated) for key in keys)
    force = f"that of the force {max(fitted.force_noise):.2g} N"
    if not noise.matters:
        return [f"Noise in the measured motion, {sizes}, is too small to matter; {force}."]
    smoothed = [left for test in noise.left for left in test.values() if left < _KEPT]
    shares = {key: share for key, share in noise.share.items() if np.isfinite(share)}
    said = [f"The measured motion has noise, {sizes}, that would move the parameters; {force}."]
    if smoothed:
        said.append(
            f"The law was fitted to the smoothed motion, in which {100 * max(smoothed):.0f} % of the noise is left."
        )
    if len(smoothed) < sum(map(len, noise.left)):
        said.append("A motion with corners everywhere was not smoothed.")
    if shares:
        most = max(shares, key=lambda key: shares[key])
        said.append(
            f"Intervals allow for what is left, which makes {100 * shares[most]:.0f} % of the variance of {most}."
        )
    return [" ".join(said)]


def _size(key: str, size: float, stated: bool) -> str:
    factor, unit = _NOISE[key]
    return f"{key} {factor * size:.2g} {unit} ({'stated' if stated else 'estimated'})"
