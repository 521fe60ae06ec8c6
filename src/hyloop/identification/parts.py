"""Parts of tests that are left out in turn, so that a law is judged by what it was not fitted to."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from hyloop.core.block import Instance
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.problem import predict

__all__ = ["every_nth", "force_range", "parts", "thinned", "unseen_error", "without"]

_FOLDS = 5  # parts that are left out in turn


def every_nth(tests: Sequence[MeasuredTest], most: int) -> int:
    """Every how many samples are `most` of all."""
    return max(1, -(-sum(test.f.size for test in tests) // most))


def parts(tests: Sequence[MeasuredTest]) -> list[list[np.ndarray]]:
    """Masks of the samples that are left out together: tests, or stretches of every test."""
    count = len(tests)
    if count >= 3:
        groups = [[k % min(count, _FOLDS) == g for k in range(count)] for g in range(min(count, _FOLDS))]
        return [[np.full(t.f.size, out) for t, out in zip(tests, group, strict=True)] for group in groups]
    stretches = [np.arange(test.f.size) * _FOLDS // test.f.size for test in tests]
    return [[stretch == g for stretch in stretches] for g in range(_FOLDS)]


def without(tests: Sequence[MeasuredTest], part: Sequence[np.ndarray]) -> list[MeasuredTest]:
    """The tests with the samples of a part at weight zero; tests of which nothing is left are dropped."""
    pairs = zip(tests, part, strict=True)
    return [replace(test, weight=test.weight * ~out) for test, out in pairs if not out.all()]


def unseen_error(law: Instance, tests: Sequence[MeasuredTest], part: Sequence[np.ndarray]) -> float:
    """Error of a law in the samples left out, over the range of all measured forces."""
    squares = count = 0.0
    for test, out in zip(tests, part, strict=True):
        if out.any():
            error = (predict(law, test) - test.f)[out]
            squares, count = squares + float(error @ error), count + error.size
    return float(np.sqrt(squares / count)) / force_range(tests)


def thinned(tests: Sequence[MeasuredTest], every: int) -> list[MeasuredTest]:
    if every == 1:
        return list(tests)
    return [
        replace(
            test,
            dt=test.dt * every,
            inputs={key: signal[::every] for key, signal in test.inputs.items()},
            f=test.f[::every],
            weight=test.weight[::every],
        )
        for test in tests
    ]


def force_range(tests: Sequence[MeasuredTest]) -> float:
    forces = np.concatenate([test.f for test in tests])
    return float(np.ptp(forces))
