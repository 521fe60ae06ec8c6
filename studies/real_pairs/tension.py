"""Does the tension of the band tell its friction? Levels by session, predicted for a session that was left out.

The friction level of a side is that of the calibrated law, Fc + dF/2 by test. It is explained, each side by itself and
by a straight line, with the nominal tension (also in proportion to it), with the force at rest of the electric
actuator at the slack end, or with that force while the band slips; and, for comparison, by the mean of the other
sessions. At a slipping band the slack end has the pretension and the taut end the force besides (capstan), so that the
slack end alone tells of pretension.
"""

import numpy as np

from hyloop.report.page import Table

from .pairs import CALIBRATED
from .sessions import SEMI_ACTIVE, WRONG_TENSIONS, short

SLIPS, FAST = 0.8, 0.02  # of the 90th percentile of the force of that side; m/s: there the band slips
REST = 100  # samples before the motion
PROPORTIONAL = "proportion to nominal tension"
# columns of a straight line: 0 is the constant, the others are those of `features`
FEATURES = {
    "mean of the other sessions": (0,),
    PROPORTIONAL: (1,),
    "nominal tension": (0, 1),
    "slack end, at rest": (0, 2),
    "slack end, slipping": (0, 3),
}


def features(test, side):
    """What could tell the level of a side, in N; None where a force was not recorded or is known to be wrong."""
    wrong = test.name.startswith("d2_h0lb") and short(test.name) in WRONG_TENSIONS
    if test.t1 is None or test.t2 is None or wrong or test.event:
        return None
    sign, slack = (1.0, test.t1) if side == "pos" else (-1.0, test.t2)
    f, v = sign * test.f, sign * test.signals("causal")["v"]
    slips = (f > SLIPS * np.quantile(f, 0.9)) & (v > FAST)
    return None if not slips.any() else (1.0, test.tension, np.mean(slack[:REST]), np.median(slack[slips]))


def rows(tests, made):
    """(session, side) -> features and level of every test; the tests of moving actuators have no nominal tension."""
    found = {}
    for session, each in tests.items():
        for name, test in each.items() if session != SEMI_ACTIVE else ():
            p = made[session][CALIBRATED, name].params
            for side in ("pos", "neg"):
                if (x := features(test, side)) is not None:
                    level = p[f"Fc_{side}"] + 0.5 * p[f"dF_{side}"]
                    found.setdefault((session, side), []).append((*x, level))
    return {key: np.array(value) for key, value in found.items()}


def left_out(found):
    """Relative errors |predicted/level - 1| of every test of every session, that session left out, by feature."""
    errors = {feature: {} for feature in FEATURES}
    for (session, side), own in found.items():
        others = [value for (other, s), value in found.items() if s == side and other != session]
        # sessions count the same, whatever their number of tests
        weight = np.concatenate([np.full(len(value), 1.0 / np.sqrt(len(value))) for value in others])
        train = np.concatenate(others)
        for feature, columns in FEATURES.items():
            line = np.linalg.lstsq(weight[:, None] * train[:, columns], weight * train[:, -1], rcond=None)[0]
            errors[feature][session, side] = np.abs(own[:, columns] @ line / own[:, -1] - 1.0)
    return errors


def study(job, tests, made):
    """Tables and claims."""
    found = rows(tests, made)
    errors = left_out(found)
    shown = []
    for (session, side), own in found.items():
        means = (f"{x:.4g}" for x in own.mean(axis=0)[1:])
        each = (f"{100 * np.median(errors[feature][session, side]):.0f}" for feature in FEATURES)
        shown.append([session, "+" if side == "pos" else "-", len(own), *means, *each])
    head = ["session", "side", "tests", "nominal [N]", "slack end, at rest [N]", "slack end, slipping [N]", "level [N]"]
    head += [f"error by {feature} [%]" for feature in FEATURES]
    title = "Friction levels (means of a session) and how tension predicts those of a session left out (median error)"
    job.tables.append(Table(title, head, shown))
    # every session counts once: the median over sessions and sides of the median over tests
    middle = {feature: np.median([np.median(e) for e in each.values()]) for feature, each in errors.items()}
    job.tables.append(
        Table(
            "Tension and friction: relative error of the level of a session left out, median over sessions and sides",
            ["explained by", "error [%]"],
            [[feature, f"{100 * value:.1f}"] for feature, value in middle.items()],
        )
    )
    values = {}
    mean, *others = (feature for feature in FEATURES if feature != PROPORTIONAL)
    for feature in others:
        values[f"friction by {feature}, error over that of the mean"] = middle[feature] / middle[mean]
    return values
