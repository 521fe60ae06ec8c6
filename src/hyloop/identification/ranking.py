r"""Which law fits best: several laws fitted to the same tests and ranked by what they predict unseen.

The error of a fit always falls with more parameters, so it cannot choose. Every law is therefore fitted again without
a part of the data (a whole test where there are three or more, else a stretch of time), and judged by its error there.
The parts give the spread: two laws whose errors differ by less than twice the standard error of the difference are a
tie, and of those that tie the one with the fewest free parameters comes first.

References
----------
Breiman, Friedman, Olshen, Stone (1984), Classification and Regression Trees, Wadsworth, section 3.4.3: the rule of one
standard error; here two.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from hyloop.core.block import Block, Instance
from hyloop.errors import BadInput
from hyloop.identification.defaults import beginning
from hyloop.identification.fitting import Fit, fit
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.parts import every_nth, force_range, parts, thinned, unseen_error, without
from hyloop.identification.search import Progress

__all__ = ["Candidate", "Ranking", "rank"]

_SEARCHED = 2000  # samples of all tests that a search looks at
_PARTED = 5000  # those that are predicted part by part
_KEPT = 20_000  # those that the fits themselves use
_TIE = 2.0  # standard errors of the difference
_ALIKE = 0.02  # of the error: a difference that nobody cares for
_FAR = 1.2  # times the error: a difference that somebody does, whatever the spread
_MANY = 8  # parameters, beyond which fewer starts are made
_SEARCH, _FINAL, _AGAIN = 1e-4, 1e-5, 1e-4  # relative change of the sum of squares at which a descent ends
_STEPS = 40  # of a descent in the search and of a fit to all but a part
POOR = 0.2  # of the range: with a larger error no law fits well
_EXACT = 1e-9  # of the range: an error below it is none


@dataclass(frozen=True, eq=False)
class Candidate:
    """A law that was fitted.

    Attributes
    ----------
    name : str
    fit : Fit
        To all of the data.
    unseen : tuple of float
        Error in each part that was left out, over the range of the measured force.
    error : float
        Root mean square of these.
    tie : bool
        Whether it cannot be told from the law with the least error.
    """

    name: str
    fit: Fit
    unseen: tuple[float, ...]
    error: float
    tie: bool = False

    @property
    def parameters(self) -> int:
        return len(self.fit.estimates)

    @property
    def seen(self) -> float:
        """Error of the fit over the range of the measured force, all tests together."""
        pairs = zip(self.fit.tests, self.fit.forces, strict=True)
        squares = [float(np.sum((f - test.f)[test.counted] ** 2)) for test, f in pairs]
        count = sum(int(test.counted.sum()) for test in self.fit.tests)
        return float(np.sqrt(sum(squares) / count)) / force_range(self.fit.tests)


@dataclass(frozen=True, eq=False, repr=False)
class Ranking:
    """Laws, the best first; those that were not fitted, and why; how it was done."""

    candidates: tuple[Candidate, ...]
    left_out: dict[str, str]
    notes: tuple[str, ...]

    @property
    def best(self) -> Candidate:
        return self.candidates[0]

    @property
    def poor(self) -> bool:
        """Whether even the best law predicts badly what it was not fitted to."""
        return not self.best.error <= POOR

    def __repr__(self) -> str:
        others = f", {len(self.left_out)} left out" if self.left_out else ""
        count = len(self.candidates)
        return (
            f"Ranking: {count} law{'' if count == 1 else 's'}{others}; best {self.best.name}, unseen error "
            f"{100 * self.best.error:.2g} % of the range of the force"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: all laws, and the parameters of the best."""
        laws = "".join(
            f"<tr><td>{c.name}</td><td>{c.parameters}</td><td>{100 * c.error:.2g} %</td><td>{100 * c.seen:.2g} %</td>"
            f"<td>{'first' if k == 0 else 'tie' if c.tie else ''}</td></tr>"
            for k, c in enumerate(self.candidates)
        )
        parameters = "".join(
            f"<tr><td>{e.name}</td><td>{e.value:.5g}</td><td>{e.low:.5g} to {e.high:.5g}</td><td>{e.unit}</td></tr>"
            for e in self.best.fit.estimates.values()
        )
        return (
            f"<p><b>{'No law fits well: ' if self.poor else ''}{self.best.name} predicts what it was not fitted to "
            f"with an error of {100 * self.best.error:.2g} % of the range of the force.</b></p>"
            "<table><tr><th>law</th><th>free parameters</th><th>error unseen</th><th>error fitted</th><th></th></tr>"
            f"{laws}</table><table><tr><th>parameter of {self.best.name}</th><th>value</th>"
            f"<th>{100 * self.best.fit.level:g} % interval</th><th>unit</th></tr>{parameters}</table>"
        )


def rank(
    tests: Mapping[str, tuple[Block, Sequence[MeasuredTest]]],
    *,
    seed: int = 0,
    starts: int = 4,
    left_out: Mapping[str, str] | None = None,
    progress: Progress = lambda name, part: None,
) -> Ranking:
    """Fit laws with their default free parameters and rank them.

    Parameters
    ----------
    tests : mapping of name of a law to (block, tests)
        The same tests for every law, with the inputs that it reads.
    seed, starts : int
        As of `fit`; a law with many parameters has half as many starts.
    left_out : mapping of name to reason
        Laws that are not fitted, to be listed.
    progress : callable
        Called with what is done and the fraction of it.
    """
    found, reasons, notes = [], dict(left_out or {}), []
    for k, (name, (block, given)) in enumerate(tests.items()):
        progress("laws", k / len(tests))
        every = every_nth(given, _KEPT)
        if every > 1 and not notes:
            notes.append(f"Of the samples every {_nth(every)} is used.")
        try:
            found.append(_fitted(name, block, thinned(given, every), starts, seed))
        except BadInput as error:
            reasons[name] = str(error)
    progress("laws", 1.0)
    if not found:
        said = "; ".join(f"{name}: {why}" for name, why in reasons.items())
        raise BadInput(f"no law can be fitted to these tests. {said}")
    best, *others = _ordered(found)
    bounds = {key: estimate.bounds for key, estimate in best.fit.estimates.items()}
    best = replace(
        best, fit=fit(best.fit.law, best.fit.tests, bounds, starts=1)
    )  # to the bottom, noise in the motion allowed for
    return Ranking((best, *others), reasons, (*notes, _how(best.fit.tests)))


def _fitted(name: str, block: Block, tests: Sequence[MeasuredTest], starts: int, seed: int) -> Candidate:
    """A test that begins loaded is begun from a state that gives its first force, if the law has one, else at rest."""
    law, bounds, state = beginning(name, block, tests)
    if state is not None and all(test.start is None for test in tests):
        with suppress(BadInput):
            return _candidate(name, law, bounds, [replace(test, start=state) for test in tests], starts, seed)
    return _candidate(name, law, bounds, tests, starts, seed)


def _candidate(
    name: str,
    law: Instance,
    bounds: Mapping[str, tuple[float, float]],
    tests: Sequence[MeasuredTest],
    starts: int,
    seed: int,
) -> Candidate:
    """Search on few samples, fit all of them, then fit all but a part in turn."""
    count = starts if len(bounds) <= _MANY else max(starts // 2, 1)
    few = thinned(tests, every_nth(tests, _SEARCHED))
    searched = fit(law, few, bounds, starts=count, seed=seed, tolerance=_SEARCH, most=_STEPS, noisy_inputs=False)
    whole = fit(searched.law, tests, bounds, starts=1, tolerance=_FINAL, most=_STEPS, noisy_inputs=False)
    errors, parted = [], thinned(tests, every_nth(tests, _PARTED))
    for part in parts(parted):
        seen = without(parted, part)
        again = fit(whole.law, seen, bounds, starts=1, tolerance=_AGAIN, most=_STEPS, noisy_inputs=False)
        errors.append(unseen_error(again.law, parted, part))
    return Candidate(name, whole, tuple(errors), float(np.sqrt(np.mean(np.square(errors)))))


def _ordered(found: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Those that tie with the least error first, the simplest of them first; then by error."""
    least = min(found, key=lambda one: one.error)
    marked = [replace(one, tie=_ties(one, least)) for one in found]
    return tuple(sorted(marked, key=lambda one: (not one.tie, one.parameters if one.tie else 0, one.error)))


def _ties(one: Candidate, least: Candidate) -> bool:
    """Ratios are compared, so that one part that a law fails in does not make it a tie by its spread."""
    more = np.log(np.maximum(one.unseen, _EXACT) / np.maximum(least.unseen, _EXACT))
    spread = float(np.std(more, ddof=1)) / np.sqrt(len(more))
    near = one.error <= _FAR * max(least.error, _EXACT)
    return one is least or bool(near and float(np.mean(more)) <= max(_TIE * spread, _ALIKE))


def _nth(n: int) -> str:
    return f"{n}{'nd' if n == 2 else 'rd' if n == 3 else 'th'}"


def _how(tests: Sequence[MeasuredTest]) -> str:
    what = ("test", "fifth of the test", "fifth of both tests")[len(tests) if len(tests) < 3 else 0]
    return (
        f"Laws are ranked by their error in data they were not fitted to: each {what} in turn is left out, the law is "
        "fitted to the rest and predicts it. Laws within twice the standard error of the difference from the best, and "
        "within a fifth of its error, are a tie; of these the one with the fewest free parameters is first."
    )
