"""Every ordered pair of tests of a session: hear one, predict the other, by every model."""

import numpy as np

from hyloop.identification import predict
from hyloop.report.page import Table

from .hearing import calibrated, fitted, updated
from .sessions import measured

NONE, CALIBRATED, UPDATED = "gap-slip, none", "gap-slip, calibrated", "gap-slip, updated (factors)"
# names of the models, and the kind of law each is
KINDS = {
    "LuGre, none": "LuGre",
    NONE: "gap-slip",
    "LuGre, calibrated": "LuGre",
    CALIBRATED: "gap-slip",
    UPDATED: "gap-slip",
    "gap-slip, updated (Fc)": "gap-slip",
    "LuGre, refitted": "LuGre",
    "gap-slip, refitted": "gap-slip",
}
QUICK = (NONE, CALIBRATED, UPDATED)


def heard_laws(test, laws, models):
    """Laws by model, from one heard test and the laws of another session."""
    make = {
        "LuGre, none": lambda: laws["LuGre"],
        NONE: lambda: laws["gap-slip"],
        "LuGre, calibrated": lambda: calibrated("LuGre", laws["LuGre"], test),
        CALIBRATED: lambda: calibrated("gap-slip", laws["gap-slip"], test),
        UPDATED: lambda: updated(laws["gap-slip"], test, factors=True),
        "gap-slip, updated (Fc)": lambda: updated(laws["gap-slip"], test, factors=False),
        "LuGre, refitted": lambda: fitted("LuGre", [test], laws["LuGre"]).law,
        "gap-slip, refitted": lambda: fitted("gap-slip", [test], laws["gap-slip"]).law,
    }
    return {model: make[model]() for model in models}


def errors(tests, laws, models, judged=None, network=None, progress=lambda part: None):
    """NRMSE by model and (heard, judged), and the laws by (model, heard).

    `judged` names the tests that are predicted, all by default; `network` gives errors of a pair besides.
    """
    goals = list(tests) if judged is None else judged
    seen = {kind: {name: measured(kind, tests[name]) for name in goals} for kind in set(KINDS.values())}
    found, made = {}, {}
    for k, (name, test) in enumerate(tests.items()):
        for model, law in heard_laws(test, laws, models).items():
            made[model, name] = law
            for goal in goals:
                if goal != name:
                    one = seen[KINDS[model]][goal]
                    found.setdefault(model, {})[name, goal] = one.nrmse(predict(law, one))
        for goal in goals:
            if network is not None and goal != name:
                for model, error in network(test, tests[goal]).items():
                    found.setdefault(model, {})[name, goal] = error
        progress((k + 1) / len(tests))
    return found, made


def quartiles(values):
    """Lower quartile, median and upper quartile in %."""
    return 100.0 * np.quantile([*values], [0.25, 0.5, 0.75])


def table(found):
    """One row for every session and model: median, quartiles, number of pairs, pairs better than none."""
    rows = []
    for session, by_model in found.items():
        for model, each in by_model.items():
            low, middle, high = quartiles(each.values())
            none = by_model[NONE]
            better = sum(error < none[pair] for pair, error in each.items())
            beside = "" if model.endswith("none") else f"{100 * better / len(each):.0f}"
            rows.append([session, model, f"{middle:.2f}", f"{low:.2f}", f"{high:.2f}", len(each), beside])
    head = ["session", "model", "median", "lower quartile", "upper quartile", "pairs", "better than gap-slip, none [%]"]
    return Table("Error in the test not heard, NRMSE in % of the range of its force", head, rows)


def factors_table(made, laws):
    """Friction over that of the law of the other session, as every heard test gives it."""
    rows = []
    for session, laws_made in made.items():
        base = laws[session]["gap-slip"].params
        of = [law.params for (model, _), law in laws_made.items() if model == CALIBRATED]
        for side, sign in (("pos", "+"), ("neg", "-")):
            ratio = np.array([p[f"Fc_{side}"] for p in of]) / base[f"Fc_{side}"]
            rows.append([session, sign, len(of), *(f"{x:.2f}" for x in (np.median(ratio), ratio.min(), ratio.max()))])
    head = ["session", "side", "tests", "median", "least", "largest"]
    return Table("Friction by single tests, over that of the law of the other session", head, rows)
