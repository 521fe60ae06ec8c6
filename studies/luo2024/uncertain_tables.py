"""Tables and claims of the scenarios with an uncertain structure or load."""

import numpy as np

from hyloop.report.page import Table
from hyloop.study.seeds import Seeds

from .uncertain import NORMAL_95, UNCERTAIN, Found

MODELS = {
    "exact": "told the true structure",
    "supposed": "supposed to be as believed",
    "learned": "K, floor masses, damping learned",
    "stories": "stories, floor masses, Rayleigh damping learned",
    "stories, free C": "stories, floor masses, damping on its own learned",
    "load too": "load histories learned too",
}
CLAIMED = {  # scenario, model
    "structure off by 5 %": "learned",
    "K off by 1 %": "learned",
    "K off by 2 %": "learned",
    "K off by 5 %": "learned",
    "every story off by 5 %": "stories",
    "structure off by 5 %, fine truth": "learned",
    "structure off by 5 %, load within 10 %": "learned",
    "structure off by 5 %, load read with 20 % noise": "load too",
    "load not measured": "load too",
}
Outcomes = dict[str, list[dict[str, Found]]]  # scenario, seed, model


def values(outcomes: Outcomes) -> dict[str, Seeds]:
    """Values of the claims, of all seeds."""
    found = {
        f"goal, case I, {name}": Seeds.of(run[model].curve for run in outcomes[name]) for name, model in CLAIMED.items()
    }
    free = [run["stories, free C"] for run in outcomes["every story off by 5 %"]]
    found["goal, case I, every story off by 5 %, free damping"] = Seeds.of(one.curve for one in free)
    found["goal, case I, every story off by 5 %, free damping, story and spring together"] = Seeds.of(
        one.story for one in free
    )
    learned = [run["learned"] for run in outcomes["structure off by 5 %"]]
    found["goal, case I, structure off by 5 %, curve outside its 95 % interval"] = Seeds.of(
        100 * (1 - one.inside) for one in learned
    )
    return found


def table(outcomes: Outcomes) -> Table:
    """A row for every scenario and model."""
    rows = []
    for scenario in UNCERTAIN:
        for model in scenario.models:
            runs = [run[model] for run in outcomes[scenario.name]]
            hits, factors = within(runs)
            rows.append(
                [
                    scenario.name,
                    MODELS[model],
                    _spread([one.curve for one in runs]),
                    f"{max(one.curve for one in runs):.3g}",
                    f"{np.mean([one.promised for one in runs]):.2g}",
                    f"{100 * np.mean([one.inside for one in runs]):.0f}",
                    f"{hits} of {factors}" if factors else None,
                    _spread([one.story for one in runs]),
                    f"{max(one.seconds for one in runs):.1f}",
                ]
            )
    columns = [
        "scenario",
        "structure",
        "curve MRE, %, mean ± spread",
        "worst seed",
        "deviation promised, %",
        "curve in its 95 % interval, %",
        "factors in theirs",
        "spring and story beside it, MRE, %",
        "processor s, most",
    ]
    return Table("Case I, 5 % noise, with an uncertain structure or load", columns, rows)


def within(runs: list[Found]) -> tuple[int, int]:
    """How many factors of masses and stiffness lie in their 95 % intervals, and of how many."""
    inside = [abs(run.factors[name]) <= NORMAL_95 * run.deviations[name] for run in runs for name in run.factors]
    return int(sum(inside)), len(inside)


def _spread(errors: list[float]) -> str:
    return f"{np.mean(errors):.3g} ± {np.std(errors, ddof=1):.2g}"
