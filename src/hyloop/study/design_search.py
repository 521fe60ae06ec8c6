"""Two searches for the best distribution of a budget: along gradients, and by Optuna without them.

Both are judged by the mean peak drift of compiled runs and pay for all they ask, in runs of one motion. A gradient is
paid by the time it took in such runs, measured on the spot; compiling is not paid for by either.
"""

import os
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import minimize

from hyloop.errors import BadInput
from hyloop.report.design_result import Search
from hyloop.study.design_problem import Problem

__all__ = ["by_gradients", "by_optuna", "gradient"]

Progress = Callable[[float], None] | None
Gradient = Callable[[np.ndarray], tuple[float, np.ndarray]]
TIMED = 3  # calls whose shortest time counts
ENOUGH = 1e-4  # relative improvement of the smooth peak below which a search by gradients ends


def gradient(problem: Problem, excitations: Sequence[np.ndarray], exponent: float) -> tuple[Gradient, float]:
    """The mean smooth peak with its gradient, and what a call costs in runs of one motion."""
    os.environ.setdefault("JAX_ENABLE_X64", "1")  # it counts if JAX was not imported before
    try:
        from hyloop.learn import mean_peak
    except ImportError as error:
        raise BadInput("a design needs JAX, which is not installed: pip install 'hyloop[learn]'.") from error
    groups = list(problem.groups.values())
    function = mean_peak(problem.loop, groups, problem.drifts, excitations, exponent)
    x = problem.spent(np.ones(len(groups)))
    ours = _shortest(lambda: function(x))
    one = _shortest(lambda: problem.peaks(x, excitations)) / len(excitations)
    return function, ours / one


def _shortest(job: Callable[[], Any]) -> float:
    job()  # compile, fill caches
    times = []
    for _ in range(TIMED):
        begin = perf_counter()
        job()
        times.append(perf_counter() - begin)
    return min(times)


class _Judge:
    """Mean peak drifts by compiled runs, what they have cost, and the best of them."""

    def __init__(self, problem: Problem, excitations: Sequence[np.ndarray]) -> None:
        self.problem, self.excitations, self.paid = problem, excitations, 0.0
        self.runs: list[float] = []
        self.best: list[float] = []
        self.x, self._begin = np.empty(0), perf_counter()

    def mean(self, x: np.ndarray) -> float:
        value = float(self.problem.peaks(x, self.excitations).max(axis=1).mean())
        self.paid += len(self.excitations)
        if not self.best or value < self.best[-1]:
            self.x = x.copy()
        self.runs.append(self.paid)
        self.best.append(min(value, self.best[-1]) if self.best else value)
        return value

    def search(self, name: str) -> Search:
        return Search(name, np.array(self.runs), np.array(self.best), perf_counter() - self._begin)


def by_gradients(
    problem: Problem,
    excitations: Sequence[np.ndarray],
    function: Gradient,
    equivalence: float,
    iterations: int,
    progress: Progress = None,
) -> tuple[np.ndarray, Search]:
    """Sequential quadratic programming (SLSQP) from the uniform distribution, within the bounds and at the budget.

    Every point that is asked for costs its gradient and, because the smooth peak is not the peak, the compiled runs
    that judge it.
    """
    judge, x0 = _Judge(problem, excitations), problem.spent(np.ones(len(problem.cost)))
    scale, first, done = problem.budget / problem.cost.sum(), function(x0)[0], 0

    def asked(z: np.ndarray) -> tuple[float, np.ndarray]:
        nonlocal done
        x = np.clip(scale * z, problem.low, problem.high)
        value, slope = function(x)
        judge.paid += equivalence
        judge.mean(problem.spent(x))  # the budget to the last digit
        done += 1
        if progress:
            progress(min(done / (iterations + 1), 1.0))
        return value / first, scale * slope / first

    minimize(
        asked,
        x0 / scale,
        jac=True,
        method="SLSQP",
        bounds=list(zip(problem.low / scale, problem.high / scale, strict=True)),
        constraints={
            "type": "eq",
            "fun": lambda z: (problem.cost @ z * scale - problem.budget) / problem.budget,
            "jac": lambda z: problem.cost * scale / problem.budget,
        },
        options={"maxiter": iterations, "ftol": ENOUGH},
    )
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
