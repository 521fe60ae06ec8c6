"""Two searches for the best distribution of a budget: along gradients, and by Optuna without them.

Both are judged by the mean peak drift and pay for all they ask, in compiled runs of one motion. A gradient, with which
comes the mean peak itself, is paid by the processor time it takes in such runs, measured on the spot; compiling is not
paid for by either.
"""

import os
from collections.abc import Callable, Sequence
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.optimize import minimize

from hyloop.errors import BadInput
from hyloop.report.design_result import Search
from hyloop.study.design_problem import Problem

__all__ = ["by_gradients", "by_optuna", "gradient"]

Progress = Callable[[float], None] | None
Gradient = Callable[[np.ndarray, float], tuple[float, np.ndarray, float]]
TIMED = 5  # calls whose shortest time counts
ENOUGH = 1e-5  # relative improvement of the smooth peak below which a stage ends
STAGES = ((6.0, 8), (2.0, 8), (1.0, None))  # parts of the exponent, and most steps; a sharp peak is hard to descend


def gradient(problem: Problem, excitations: Sequence[np.ndarray], exponent: float) -> tuple[Gradient, float]:
    """The mean smooth peak with its gradient, and what a call costs in runs of one motion."""
    os.environ.setdefault("JAX_ENABLE_X64", "1")  # it counts if JAX was not imported before
    try:
        from hyloop.learn import mean_peak
    except ImportError as error:
        raise BadInput("a design needs JAX, which is not installed: pip install 'hyloop[learn]'.") from error
    groups = list(problem.groups.values())
    function = mean_peak(problem.loop, groups, problem.drifts, excitations)
    x = problem.spent(np.ones(len(groups)))
    ours = _shortest(lambda: function(x, exponent))
    one = _shortest(lambda: problem.peaks(x, excitations)) / len(excitations)
    return function, ours / one


def _shortest(job: Callable[[], Any]) -> float:
    job()  # compile, fill caches
    times = []
    for _ in range(TIMED):
        begin = process_time()
        job()
        times.append(process_time() - begin)
    return min(times)


class _Judge:
    """Mean peak drifts by compiled runs, what they have cost, and the best of them."""

    def __init__(self, problem: Problem, excitations: Sequence[np.ndarray]) -> None:
        self.problem, self.excitations, self.paid = problem, excitations, 0.0
        self.runs: list[float] = []
        self.best: list[float] = []
        self.x, self._begin = np.empty(0), perf_counter()

    def mean(self, x: np.ndarray) -> float:
        """Mean peak drift by compiled runs."""
        value = float(self.problem.peaks(x, self.excitations).max(axis=1).mean())
        self.note(x, value, len(self.excitations))
        return value

    def note(self, x: np.ndarray, value: float, cost: float) -> None:
        """A point, how good it is, and what it has cost."""
        self.paid += cost
        if not self.best or value < self.best[-1]:
            self.x = x.copy()
        self.runs.append(self.paid)
        self.best.append(min(value, self.best[-1]) if self.best else value)

    def search(self, name: str) -> Search:
        return Search(name, np.array(self.runs), np.array(self.best), perf_counter() - self._begin)


def by_gradients(
    problem: Problem,
    excitations: Sequence[np.ndarray],
    function: Gradient,
    equivalence: float,
    exponent: float,
    iterations: int,
    progress: Progress = None,
) -> tuple[np.ndarray, Search]:
    """Sequential quadratic programming (SLSQP) from the uniform distribution, within the bounds and at the budget.

    The smooth peak becomes sharper in `STAGES`, each of which begins at the best point so far.
    """
    judge, x0 = _Judge(problem, excitations), problem.spent(np.ones(len(problem.cost)))
    scale = problem.budget / problem.cost.sum()
    bounds = list(zip(problem.low / scale, problem.high / scale, strict=True))
    share = problem.cost * scale / problem.budget
    spent = {"type": "eq", "fun": lambda z: share @ z - 1.0, "jac": lambda z: share}
    first, left = function(x0, exponent)[2], iterations

    def stage(exponent: float, steps: int) -> int:
        def asked(z: np.ndarray) -> tuple[float, np.ndarray]:
            x = problem.spent(scale * np.maximum(z, 0.0))  # the bounds and the budget to the last digit
            value, slope, largest = function(x, exponent)
            judge.note(x, largest, equivalence)
            return value / first, scale * slope / first

        options = {"maxiter": steps, "ftol": ENOUGH}
        start = (judge.x if len(judge.x) else x0) / scale
        return minimize(asked, start, jac=True, method="SLSQP", bounds=bounds, constraints=spent, options=options).nit

    for part, steps in STAGES:
        left -= stage(exponent / part, max(left if steps is None else min(steps, left), 1))
        if progress:
            progress(1.0 - max(left, 0) / iterations)
    return judge.x, judge.search("gradients, SLSQP")


def by_optuna(
    problem: Problem, excitations: Sequence[np.ndarray], trials: int, seed: int, progress: Progress = None
) -> tuple[np.ndarray, Search]:
    """Optuna's tree-structured Parzen estimator over the shares of the groups, from the uniform distribution."""
    try:
        import optuna
    except ImportError as error:
        raise BadInput(
            "design.trials: Optuna is not installed: pip install 'hyloop[tune]'; or set design.trials = 0."
        ) from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    judge = _Judge(problem, excitations)
    names = list(problem.groups)

    def trial(one: Any) -> float:
        if progress:
            progress(one.number / trials)
        return judge.mean(problem.spent(np.array([one.suggest_float(name, 0.02, 1.0) for name in names])))

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.enqueue_trial(dict.fromkeys(names, 0.5))
    study.optimize(trial, n_trials=trials)
    return judge.x, judge.search(f"Optuna, TPE, seed {seed}")
