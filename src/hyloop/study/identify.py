"""Identify a law from tests, by the method that is asked for."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hyloop.core import Instance
from hyloop.errors import BadInput
from hyloop.identification import Fit, MeasuredTest, fit

__all__ = ["METHODS", "identify"]

METHODS = ("least-squares", "particle-swarm", "gradient")


def identify(
    law: Instance,
    tests: MeasuredTest | Sequence[MeasuredTest],
    free: Mapping[str, tuple[float, float]] | Iterable[str],
    method: str = "least-squares",
    **settings: Any,
) -> Fit:
    """`hyloop.identification.fit` with one more method, ``"gradient"``: exact derivatives by JAX (pure laws only)."""
    for test in (tests,) if isinstance(tests, MeasuredTest) else tests:
        if not any(np.ptp(signal) > 0.0 for signal in test.inputs.values()):
            raise BadInput(
                f"{test.name}: {' and '.join(test.inputs)} does not change, so that this test tells nothing. Check which "
                "channel or column was taken."
            )
    if method != "gradient":
        return fit(law, tests, free, method, **settings)
    os.environ.setdefault("JAX_ENABLE_X64", "1")  # it counts if JAX was not imported before
    try:
        from hyloop.learn import gradient_fit
    except ImportError as error:
        raise BadInput("method 'gradient' needs JAX, which is not installed: pip install 'hyloop[learn]'.") from error
    return gradient_fit(law, tests, free, **settings)
