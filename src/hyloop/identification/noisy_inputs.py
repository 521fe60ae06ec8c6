r"""Noise in the measured motion: what it does to fitted parameters, and tests with most of it taken away.

Least squares supposes that the motion that drives the law is known. Noise in it moves the estimates to one side: a
law with a memory takes every wiggle for a reversal. Three steps answer that. The noise is estimated, test by test
(`hyloop.identification.smoothing`). If it has a part in the variance of any parameter, the law is fitted to the
smoothed motion. Then the noise that the smoother lets through is drawn again and again, added to the motion, and
carried through the law, which gives the part of the spread that comes from it, and the shift that is left,

.. math:: \delta = -(J_*^T J_*)^{-1} J_*^T\,\bigl(f(p, d + e_*) - f(p, d)\bigr)

where :math:`J_*` is the Jacobian with the noise. Draws come in pairs of both signs, so that only the shift remains of
their mean. This is a parametric bootstrap with one Gauss-Newton step for each fit.

References
----------
Fuller (1987), Measurement Error Models, Wiley, doi:10.1002/9780470316665; Efron, Tibshirani (1993), An Introduction to
the Bootstrap, section 6.5, doi:10.1007/978-1-4899-4541-9.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hyloop.core.block import Block
from hyloop.identification.confidence import Confidence, Spread, inside, normal_inverse
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.problem import Problem
from hyloop.identification.smoothing import Smoother, noise_of, smoother

__all__ = ["InputNoise", "Motion", "matters", "motion_of", "spread_of"]

_PARENTS = {"v": "d", "a": "v"}
_ROUND_OFF = 1e-9  # of the range of a signal: less is no noise but the digits of a file
_SAME = 1e-9  # of the largest: a velocity this close to the central difference of d was made from it
_PROBES = 12  # draws that tell whether the noise matters
_SHARE = 0.01  # of the variance of a parameter, below which noise in the motion does not matter
_DRAWS = 200  # standard deviations are then known to 5 %
_PAIRS = 8  # for the shift; the part of it that changes with the draw is of third order in the noise


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion of one test: which signals of it were measured, how much noise they have, what smooths them.

    Attributes
    ----------
    test : MeasuredTest
    noise : dict of str to float
        Standard deviation of the noise of every signal that was measured and is read, in SI units, zero left out.
    derived : tuple of str
        Signals that are central differences of the one before them; they follow it.
    smoothers : dict of str to Smoother
        Of the signals that have been smoothed.
    """

    test: MeasuredTest
    noise: dict[str, float]
    derived: tuple[str, ...]
    smoothers: dict[str, Smoother]

    def smoothed(self) -> "Motion":
        """The same with every signal smoothed that can be."""
        made = {key: smoother(self.test.inputs[key], size) for key, size in self.noise.items()}
        smoothers = {key: one for key, one in made.items() if one is not None}
        signals = {key: one(self.test.inputs[key]) for key, one in smoothers.items()}
        return replace(self, test=self._with(signals), smoothers=smoothers)

    def drawn(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Noise as it is in the signals: white, or what the smoother lets through of it."""
        white = {key: size * rng.normal(size=self.test.f.size) for key, size in self.noise.items()}
        return {key: self.smoothers[key](e) if key in self.smoothers else e for key, e in white.items()}

    def left(self) -> dict[str, float]:
        """The part of the noise that is left in every signal."""
        drawn = self.drawn(np.random.default_rng(0))
        return {key: float(np.std(drawn[key])) / size for key, size in self.noise.items()}

    def moved(self, noise: dict[str, np.ndarray], sign: float) -> MeasuredTest:
        """The test with noise added to its signals."""
        return self._with({key: self.test.inputs[key] + sign * e for key, e in noise.items()})

    def _with(self, signals: dict[str, np.ndarray]) -> MeasuredTest:
        inputs = dict(self.test.inputs) | signals
        for key in self.derived:
            inputs[key] = np.gradient(inputs[_PARENTS[key]], self.test.dt)
        return replace(self.test, inputs=inputs)


@dataclass(frozen=True)
class InputNoise:
    """Noise in the motion, as a fit found it and what it did about it.

    Attributes
    ----------
    sizes : tuple of dict of str to float
        Standard deviation of the noise of every measured signal of every test, in SI units; empty where there is none.
    matters : bool
        Whether it has a part in the spread of the parameters. If not, nothing was done.
    left : tuple of dict of str to float
        The part of the noise that was left in every signal: 1 where it could not be smoothed, for it has corners.
    share : dict of str to float
        Its part of the variance of every parameter; nan where that has no interval.
    """

    sizes: tuple[dict[str, float], ...]
    matters: bool
    left: tuple[dict[str, float], ...]
    share: dict[str, float]

    def largest(self, key: str) -> float:
        """The largest noise of a signal in all tests."""
        return max((sizes[key] for sizes in self.sizes if key in sizes), default=0.0)

    @classmethod
    def of(cls, motions: Sequence[Motion], names: Sequence[str], known: Confidence | None = None) -> "InputNoise":
        """Sum up; with the confidence that allows for it where it matters."""
        share = dict(zip(names, known.motion, strict=True)) if known is not None else dict.fromkeys(names, 0.0)
        return cls(
            tuple(motion.noise for motion in motions),
            known is not None,
            tuple(motion.left() for motion in motions),
            {name: float(part) for name, part in share.items()},
        )


def motion_of(test: MeasuredTest, law: Block) -> Motion:
    """Noise in the motion that a law reads: as the test states it, else estimated. Other inputs are taken as exact."""
    derived = tuple(key for key in _PARENTS if _is_derived(test, key))
    read = {key for key in ("d", "v", "a") if key in law.inputs}
    if "a" in read and "a" in derived:
        read |= {"v"}
    if "v" in read and "v" in derived:
        read |= {"d"}
    noise = {}
    for key in sorted(read - set(derived)):
        signal = test.inputs[key]
        size = test.noise[key] if key in test.noise else noise_of(signal)
        if size > _ROUND_OFF * np.ptp(signal):
            noise[key] = float(size)
    return Motion(test, noise, derived, {})


def _is_derived(test: MeasuredTest, key: str) -> bool:
    parent = _PARENTS[key]
    if key not in test.inputs or parent not in test.inputs:
        return False
    slope = np.gradient(test.inputs[parent], test.dt)
    return bool(np.abs(slope - test.inputs[key]).max() <= _SAME * np.abs(slope).max())


def matters(
    problem: Problem, z: np.ndarray, J: np.ndarray, known: Confidence, motions: Sequence[Motion], seed: int
) -> bool:
    """Whether noise in the motion has a part in the variance of a parameter that has an interval.

    J is the Jacobian at z, of the samples that count.
    """
    if not any(motion.noise for motion in motions):
        return False
    counted, here = problem.weight > 0.0, inside(z)
    r, rng, scores = problem.residuals(z), np.random.default_rng(seed), []
    for _ in range(_PROBES):
        other = _driven(problem, motions, [motion.drawn(rng) for motion in motions], 1.0)
        scores.append(J.T @ (other.residuals(z) - r)[counted])
    bread, _ = normal_inverse(J[:, here])
    moves = np.array(scores)[:, here] @ bread
    return bool(np.any(np.mean(moves**2, axis=0) > _SHARE * known.std[here] ** 2))


def spread_of(problem: Problem, z: np.ndarray, J: np.ndarray, motions: Sequence[Motion], seed: int) -> Spread:
    """What the noise in the motion does to the residuals and to the parameters, by drawing it many times."""
    counted, r = problem.weight > 0.0, problem.residuals(z)
    meat, power, shift = np.zeros((len(z), len(z))), np.zeros(int(counted.sum())), np.zeros(len(z))
    here, rng = inside(z), np.random.default_rng(seed)
    for draw in range(_DRAWS):
        noise = [motion.drawn(rng) for motion in motions]
        other = _driven(problem, motions, noise, 1.0)
        change = (other.residuals(z) - r)[counted]
        score = J.T @ change
        meat += np.outer(score, score) / _DRAWS
        power += change**2 / _DRAWS
        if draw < _PAIRS:
            for one in (other, _driven(problem, motions, noise, -1.0)):
                J_one = one.jacobian(z)[counted][:, here]
                step = normal_inverse(J_one)[0] @ (J_one.T @ (one.residuals(z) - r)[counted])
                shift[here] -= step / (2 * _PAIRS)
    return Spread(meat, power, shift, _DRAWS)


def _driven(
    problem: Problem, motions: Sequence[Motion], noise: Sequence[dict[str, np.ndarray]], sign: float
) -> Problem:
    """The same problem with noise in the motions."""
    tests = [motion.moved(e, sign) for motion, e in zip(motions, noise, strict=True)]
    return Problem(problem.law, tests, problem.free)
