"""Designs: a budget of damper strength spread over a building by gradients through the whole loop.

Beside it stand the uniform distribution and a search by Optuna, all of the same cost. What is reported of any of them
are peaks of compiled runs; test motions are run once, at the end.
"""

from collections.abc import Callable

import numpy as np

from hyloop.errors import BadInput
from hyloop.files.recording import Recording
from hyloop.files.schema import Experiment
from hyloop.report.design_result import Designed, Distribution
from hyloop.study.build import build
from hyloop.study.design_problem import motions, problem
from hyloop.study.design_search import by_gradients, by_optuna, gradient

__all__ = ["design"]


def design(
    experiment: Experiment,
    *,
    trials: int | None = None,
    seeds: int | None = None,
    allow_scripts: bool = False,
    progress: Callable[[str, float], None] | None = None,
) -> Designed:
    """Design as the table `[design]` of an experiment says.

    Parameters
    ----------
    trials, seeds : int, optional
        In place of `design.trials` and `design.seeds`; no trials: no Optuna.
    progress : callable, optional
        Called with what is being done and the fraction of it.

    Raises
    ------
    BadInput
        If there is no such table, it does not fit the experiment, or the loop is none that can be differentiated
        (`hyloop.learn.differentiable`).
    """
    plan = experiment.design
    if plan is None:
        raise BadInput(f"{experiment.source or 'the experiment'} has no table [design]; see docs/design.md.")
    trials, seeds = plan.trials if trials is None else trials, plan.seeds if seeds is None else seeds
    if trials < 0 or seeds < 1:
        raise BadInput(f"trials = {trials} must be at least 0, seeds = {seeds} at least 1.")
    say = progress or (lambda what, part: None)
    say("building and compiling", 0.0)
    loop = build(experiment.model_copy(update={"recording": Recording()}), allow_scripts=allow_scripts).loop
    task = problem(loop, plan)
    training, notes = motions(experiment, "training", plan.training, loop)
    test, more = motions(experiment, "test", plan.test, loop)
    function, equivalence = gradient(task, training, plan.exponent)
    say("building and compiling", 1.0)
    x, ours = by_gradients(
        task, training, function, equivalence, plan.exponent, plan.iterations, lambda part: say("gradients", part)
    )
    say("gradients", 1.0)
    found = {"uniform": task.spent(np.ones(len(task.cost))), "gradients": x}
    others = []
    for k in range(seeds if trials else 0):
        label = f"Optuna, seed {experiment.seed + k}"
        others.append(by_optuna(task, training, trials, experiment.seed + k, lambda part, of=label: say(of, part)))
        say(label, 1.0)
    if others:
        found["optuna"] = min(others, key=lambda one: one[1].best[-1])[0]
    names = {"uniform": "uniform", "gradients": "by gradients", "optuna": "by Optuna"}
    relative = task.drifts[0].startswith("drift_ratio")
    return Designed(
        title=experiment.title,
        source=experiment.source,
        groups=task.groups,
        unit=task.unit,
        cost=task.cost,
        budget=task.budget,
        measure="story drift",
        shown=(100.0, "%") if relative else (1e3, "mm"),
        distributions={
            key: Distribution(names[key], x, task.peaks(x, training), task.peaks(x, test)) for key, x in found.items()
        },
        gradient=ours,
        optuna=tuple(search for _, search in others),
        motions={"training": list(plan.training), "test": list(plan.test)},
        equivalence=equivalence,
        notes=(*notes, *more),
    )
