"""Identify a law from tests, by the method that is asked for, or several laws to be ranked."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from hyloop.core import Instance
from hyloop.devices import LAWS
from hyloop.errors import BadInput, UnknownName
from hyloop.files.measurements import Measured, as_tests
from hyloop.identification import DEFAULTS, LEFT_OUT, Fit, MeasuredTest, Ranking, fit, rank

__all__ = ["METHODS", "identify", "rank_laws"]

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
                f"{test.name}: {' and '.join(test.inputs)} does not change, so that this test tells nothing. Check "
                "which channel or column was taken."
            )
    if method != "gradient":
        return fit(law, tests, free, method, **settings)
    os.environ.setdefault("JAX_ENABLE_X64", "1")  # it counts if JAX was not imported before
    try:
        from hyloop.learn import gradient_fit
    except ImportError as error:
        raise BadInput("method 'gradient' needs JAX, which is not installed: pip install 'hyloop[learn]'.") from error
    return gradient_fit(law, tests, free, **settings)


def rank_laws(
    measured: Sequence[Measured],
    laws: str | Sequence[str],
    *,
    every: int = 1,
    noise: Mapping[str, float] | None = None,
    **settings: Any,
) -> Ranking:
    """Fit laws by name, or "all", to tests and rank them; see `hyloop.identification.rank`.

    Laws that read what was not measured are left out, and so are those that "all" does not mean
    (`hyloop.identification.LEFT_OUT`).
    """
    names = list(LAWS) if laws == "all" else [laws] if isinstance(laws, str) else list(laws)
    for name in names:
        if name not in LAWS:
            raise UnknownName("law", name, LAWS, where="--laws")
    chosen, left, notes = {}, {}, []
    for name in names:
        block = LAWS[name]
        if laws == "all" and name in LEFT_OUT:
            left[name] = LEFT_OUT[name]
            continue
        if name not in DEFAULTS:
            left[name] = "has no list of parameters that are free by default; name them with --free"
            continue
        tests, said = as_tests(measured, block, every=every, noise=noise)
        missing = sorted({key for key in block.inputs for test in tests if key not in test.inputs})
        if missing:
            left[name] = f"reads {', '.join(missing)}, which was not measured"
            continue
        chosen[name] = (block, tests)
        notes += [note for note in said if note not in (*notes, *(read for one in measured for read in one.notes))]
    if not chosen:
        raise BadInput("no law is left to fit: " + "; ".join(f"{name} {why}" for name, why in left.items()) + ".")
    ranking = rank(chosen, left_out=left, **settings)
    return Ranking(ranking.candidates, ranking.left_out, (*ranking.notes, *notes))
