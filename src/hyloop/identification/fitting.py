"""`fit`: the parameters of a law from tests, with what is known about each of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from hyloop.core.block import Instance
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.identification.confidence import Confidence, Spread, confidence
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.noisy_inputs import InputNoise, matters, motion_of, spread_of
from hyloop.identification.problem import Problem, Sensitivity
from hyloop.identification.ranges import Range, ranges
from hyloop.identification.search import Progress, descend, multi_start, particle_swarm
from hyloop.identification.smoothing import noise_of

__all__ = ["Estimate", "Fit", "fit"]

METHODS = ("least-squares", "particle-swarm")


@dataclass(frozen=True)
class Estimate:
    """A fitted parameter: value, standard deviation and interval (nan where it has none), unit, bounds, remark."""

    name: str
    value: float
    std: float
    low: float
    high: float
    unit: str
    bounds: tuple[float, float]
    start: float
    remark: str

    @property
    def observable(self) -> bool:
        return bool(np.isfinite(self.low))


@dataclass(frozen=True, eq=False)
class Fit:
    """Result of `fit`.

    Attributes
    ----------
    law : Instance
        The law with the fitted parameters.
    estimates : dict of str to Estimate
        Every free parameter.
    tests : tuple of MeasuredTest
        As they were fitted: with smoothed motions where noise in them matters.
    forces : tuple of ndarray
        Force of the fitted law in every test, in N.
    rmse, nrmse : tuple of float
        Error of each test in N, and over the range of its measured force.
    level : float
        Probability of the intervals.
    confidence : Confidence
        Correlations, effective number of samples and the like.
    converged : bool
        Whether the last descent ended by itself.
    costs : tuple of float
        Half the weighted sum of squares reached from every start, or after every move of a swarm.
    evaluations : int
        How often all tests were simulated to find the minimum.
    input_noise : InputNoise or None
        Noise in the measured motion; None where it was not asked for.
    """

    law: Instance
    estimates: dict[str, Estimate]
    tests: tuple[MeasuredTest, ...]
    forces: tuple[np.ndarray, ...]
    rmse: tuple[float, ...]
    nrmse: tuple[float, ...]
    level: float
    method: str
    confidence: Confidence
    converged: bool
    costs: tuple[float, ...]
    evaluations: int
    input_noise: InputNoise | None
    problem: Problem = field(repr=False)
    z: np.ndarray = field(repr=False)
    cost: float = field(repr=False)

    @property
    def force_noise(self) -> tuple[float, ...]:
        """Standard deviation of the white part of every test's residuals in N: noise of the load cell, at most."""
        return tuple(noise_of(f - test.f) for test, f in zip(self.tests, self.forces, strict=True))

    @property
    def unobservable(self) -> list[str]:
        """Parameters about which the tests say nothing, or not enough."""
        return [name for name, estimate in self.estimates.items() if not estimate.observable]


def fit(
    law: Instance,
    tests: MeasuredTest | Sequence[MeasuredTest],
    free: Mapping[str, tuple[float, float]] | Iterable[str],
    method: str = "least-squares",
    *,
    starts: int = 8,
    seed: int = 0,
    level: float = 0.95,
    tolerance: float = 1e-10,
    most: int = 300,
    progress: Progress = lambda name, part: None,
    sensitivity: Sensitivity | None = None,
    noisy_inputs: bool = True,
    tied: Mapping[str, Sequence[str]] | None = None,
) -> Fit:
    r"""Fit the free parameters of a law to recorded tests.

    .. math:: \min_p \sum_i w_i^2\,\bigl(f_i(p) - f_{m,i}\bigr)^2, \qquad p_{low} \le p \le p_{high}

    Parameters
    ----------
    law : Instance
        Any law with an output ``f``, pure or in place. Its parameters are the first start and the fixed values.
    tests : MeasuredTest or sequence of them
    free : mapping of str to (low, high), or names
        Parameters to find and their bounds, which contain the start. Names alone take the bounds of the law if both are
        finite, else a tenth to ten times the start. Ranges of a decade and more are searched logarithmically.
    method : {"least-squares", "particle-swarm"}
        Descents from several starts, or a swarm and one descent. `hyloop.learn.gradient_fit` does the first with exact
        derivatives.
    starts : int
        Descents of ``"least-squares"``: the first from the parameters of `law`, the others from the best of a Sobol
        sequence. 1 trusts the given start.
    seed : int
        Of the sequence and of the swarm; the same call gives the same result.
    level : float
        Probability of the intervals.
    tolerance : float
        Relative change of the sum of squares at which the last descent ends.
    most : int
        Steps after which a descent of ``"least-squares"`` is cut off.
    progress : callable
        Called with what is done and the fraction of it.
    sensitivity : callable
        Exact derivatives in place of differences; see `hyloop.identification.problem.Problem`.
    noisy_inputs : bool
        Whether to look for noise in the measured motion, and to allow for it where it matters: the motion is smoothed,
        the law fitted again, and the noise that is left enters the intervals (`hyloop.identification.noisy_inputs`).
        Looking costs 12 simulations, allowing for it some 200 and 32 for each parameter.
    tied : mapping of str to names
        Free parameters and the fixed ones that are scaled with them, ``{"Fc_pos": ["dF_pos"]}``.

    Returns
    -------
    Fit
        Its intervals allow for coloured residuals (see `hyloop.identification.confidence`). A parameter on its bound
        or without influence has no interval, and its remark says why; the intervals of the others suppose that what
        lies on a bound stays there. `profile` supposes nothing.
    """
    block, where = law.block, f"fit({law.block.name})"
    if method not in METHODS:
        if method == "gradient":
            raise BadInput(f"{where}: gradients need JAX; call hyloop.learn.laws.gradients.gradient_fit with the rest.")
        raise UnknownName("method", method, METHODS, where=where)
    if "f" not in block.outputs:
        raise BadInput(f"{where}: {block.name} has no output 'f' to compare with a measured force.")
    if not 0.0 < level < 1.0 or not 0.0 < tolerance < 1.0 or starts < 1 or seed < 0:
        raise OutOfBounds(
            f"{where}: level = {level!r} and tolerance = {tolerance!r} must lie between 0 and 1, and "
            f"starts = {starts!r} be 1 or more, seed = {seed!r} not negative."
        )
    tests = (tests,) if isinstance(tests, MeasuredTest) else tuple(tests)
    spans = ranges(law, free, where)
    _check_tests(law, tests, len(spans), where)
    _check_tied(law, spans, tied or {}, sensitivity, where)
    problem = Problem(law, tests, spans, sensitivity, tied)
    problem.check()
    if method == "least-squares":
        found, costs = multi_start(problem, starts, seed, tolerance, progress, most)
    else:
        found, costs = particle_swarm(problem, seed, tolerance, progress)
    J = problem.jacobian(found.z)[problem.weight > 0.0]
    known, evaluations, noise = _confidence(problem, found.z, J, level), problem.evaluations, None
    if noisy_inputs:
        motions = [motion_of(test, block) for test in tests]
        noise = InputNoise.of(motions, problem.names)
        if matters(problem, found.z, J, known, motions, seed):
            motions = [motion.smoothed() for motion in motions]
            tests = tuple(motion.test for motion in motions)
            problem = Problem(law, tests, spans, sensitivity, tied)
            found = descend(problem, found.z, tolerance, most)
            J = problem.jacobian(found.z)[problem.weight > 0.0]
            known = _confidence(problem, found.z, J, level, spread_of(problem, found.z, J, motions, seed))
            evaluations, noise = evaluations + problem.evaluations, InputNoise.of(motions, problem.names, known)
    forces = tuple(problem.split(problem.force(found.z)))
    return Fit(
        law=problem.fitted(found.z),
        estimates=_estimates(problem, found.z, known),
        tests=tests,
        forces=forces,
        rmse=tuple(test.rmse(f) for test, f in zip(tests, forces, strict=True)),
        nrmse=tuple(test.nrmse(f) for test, f in zip(tests, forces, strict=True)),
        level=level,
        method=method if sensitivity is None else "gradient",
        confidence=known,
        converged=found.converged,
        costs=tuple(costs),
        evaluations=evaluations,
        input_noise=noise,
        problem=problem,
        z=found.z,
        cost=found.cost,
    )


def _confidence(
    problem: Problem, z: np.ndarray, J: np.ndarray, level: float, motion: Spread | None = None
) -> Confidence:
    """Confidence of a minimum, over the samples that count."""
    counted = np.flatnonzero(problem.weight > 0.0)
    ends = np.searchsorted(counted, np.cumsum([0, *(test.f.size for test in problem.tests)]))
    pieces = [slice(int(a), int(b)) for a, b in pairwise(ends)]
    return confidence(J, problem.residuals(z)[counted], z, pieces, problem.names, level, motion)


def _check_tied(
    law: Instance,
    spans: Mapping[str, Range],
    tied: Mapping[str, Sequence[str]],
    sensitivity: Sensitivity | None,
    where: str,
) -> None:
    if tied and sensitivity is not None:
        raise BadInput(f"{where}: exact derivatives know nothing of tied parameters; fit without gradients.")
    seen = list(spans)
    for leader, others in tied.items():
        if leader not in spans or not law.params[leader]:
            raise BadInput(f"{where}: {leader} leads {', '.join(others)}, so it must be free and must not begin at 0.")
        for key in others:
            if key not in law.block.params:
                raise UnknownName("parameter", key, law.block.params, where=where)
            if key in seen:
                raise BadInput(f"{where}: {key} is tied to {leader} and also free or tied elsewhere; name it once.")
            seen.append(key)
            spec, ratio = law.block.params[key], law.params[key] / law.params[leader]
            for end in (spans[leader].low, spans[leader].high):
                spec.check(ratio * end, f"{where}.{key}, tied to {leader} at its bound {end:g},")


def _check_tests(law: Instance, tests: tuple[MeasuredTest, ...], unknowns: int, where: str) -> None:
    if not tests:
        raise BadInput(f"{where}: give at least one test.")
    for test in tests:
        missing = [key for key in law.block.inputs if key not in test.inputs]
        if missing:
            raise BadInput(
                f"{where}: the test '{test.name}' lacks the input {', '.join(missing)}; {law.block.name} "
                f"reads {', '.join(law.block.inputs)}."
            )
    samples = sum(int(test.counted.sum()) for test in tests)
    if samples <= 2 * unknowns:
        raise BadInput(
            f"{where}: {samples} samples count and {unknowns} parameters are free; more than twice as many "
            "samples are needed. Give longer records or free fewer parameters."
        )


def _estimates(problem: Problem, z: np.ndarray, known: Confidence) -> dict[str, Estimate]:
    found = {}
    for j, (name, span) in enumerate(problem.free.items()):
        value, reach = span.value(float(z[j])), known.quantile * float(known.std[j])
        if np.isfinite(reach):
            low, high = (span.value(min(max(float(z[j]) + way * reach, 0.0), 1.0)) for way in (-1.0, 1.0))
            std = float(known.std[j]) * span.slope(float(z[j]))
        else:
            low = high = std = float("nan")
        found[name] = Estimate(
            name=name,
            value=value,
            std=std,
            low=low,
            high=high,
            unit=problem.law.block.params[name].unit,
            bounds=(span.low, span.high),
            start=problem.law.params[name],
            remark=known.remarks[j],
        )
    return found
