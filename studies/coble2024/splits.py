"""Models of the real damper on earthquakes they have not seen: one record left out, or both levels of an event."""

import numpy as np

from hyloop.metrics import rmse
from hyloop.report.page import Table
from hyloop.study.seeds import Seeds

from . import augmented, laws, learned
from .printed import lugre_free
from .tests36 import PRINTED_LUGRE, PRINTED_PHYSICS_ML, QUAKES, fold_of, improvement, segment

VELOCITIES = {"record": ("causal", "zero-phase"), "event": ("causal",)}
PREFIX = {"record": "", "event": "by event: "}
LEFT_OUT = {"record": "the record of a column", "event": "both levels of the earthquake of a column"}
FREE = "free, friction learned"  # the case of physics-ML whose force is averaged with that of the band
FITTED_LAWS = ("band without network", "gap-slip", "refitted LuGre")  # baselines of everything that is learned


def judged(job, models, quakes, seeds, split):
    """Values of the claims about one split, and forces of the band by earthquake; a table for the report."""
    bands, forces = _bands(models, quakes, seeds, split)
    physics, others = _physics_ml(models, quakes, seeds, split)
    both = _mean_of_both(forces, others, quakes)
    _show(job, split, bands, physics, both, quakes)
    values = {}
    for velocity in VELOCITIES[split]:
        suffix = f", {velocity} velocity" if split == "record" else ""
        alone = {law: improvement(bands[law, velocity]) for law in FITTED_LAWS}
        values |= {f"{PREFIX[split]}pooled improvement, {law}{suffix}": gain for law, gain in alone.items()}
        of = {seed: bands[seed, velocity] for seed in seeds}
        names = _Names(PREFIX[split], "", "band with network", suffix)
        values |= _of_seeds(names, of, bands["mean force", velocity], max(alone.values()), velocity == "causal")
    best = max(improvement(bands[law, "causal"]) for law in FITTED_LAWS)
    for case in augmented.CASES:
        of = {seed: physics[case, seed] for seed in seeds}
        names = _Names(PREFIX[split], f"physics-ML ({case}), ", f"physics-ML ({case})", "")
        values |= _of_seeds(names, of, physics[case, "mean force"], best, True)
    name = "mean force of band and physics-ML"
    values[f"{PREFIX[split]}pooled improvement, {name}"] = improvement(both)
    values[f"{PREFIX[split]}gain over the best fitted law, {name}"] = improvement(both) - best
    if split == "record":
        each = np.array([bands[seed, "causal"] for seed in seeds])
        values |= {f"RMSE, {name}, mean of seeds": Seeds.of(each[:, k]) for k, name in enumerate(QUAKES)}
    return values, forces


class _Names:
    """How the claims about one kind of model are called."""

    def __init__(self, prefix, what, label, suffix):
        self.improvement = lambda of: f"{prefix}pooled improvement, {what}{of} of seeds{suffix}"
        self.gain = f"{prefix}gain over the best fitted law, {label}{suffix}"
        self.worse = f"{prefix}earthquakes worse than LuGre, {what}most of seeds"


def _of_seeds(names, errors, mean_force, best, counted):
    """Claims about models from several seeds: errors by seed, those of the mean force, the best baseline."""
    gains = [improvement(each) for each in errors.values()]
    values = {
        names.improvement("mean"): Seeds.of(gains),
        names.improvement("least"): min(gains),
        names.improvement("mean force"): improvement(mean_force),
        names.gain: Seeds.of(gain - best for gain in gains),
    }
    if counted:
        values[names.worse] = max(int(np.sum(np.array(each) > PRINTED_LUGRE)) for each in errors.values())
    return values


def _bands(models, quakes, seeds, split):
    """RMSE by (seed or name, velocity it is driven with), fitted with the causal one; causal forces by earthquake."""
    errors, forces = {}, {}
    for velocity in VELOCITIES[split]:
        for name, test in quakes.items():
            fold = fold_of(split, name)
            found = {seed: learned.force(models["band", fold, seed], test, velocity) for seed in seeds}
            found["mean force"] = np.mean([found[seed] for seed in seeds], axis=0)
            found["band without network"] = learned.force(models["band", fold, None], test, velocity)
            forces.setdefault(name, found)
            each = {model: learned.error(name, test, force) for model, force in found.items()}
            each |= {law: laws.error(fit, name, test, velocity) for law, fit in models["laws", fold].items()}
            for model, error in each.items():
                errors.setdefault((model, velocity), []).append(error)
    return errors, forces


def _physics_ml(models, quakes, seeds, split):
    """RMSE by (case, seed or mean force), and forces over the segments by (case, what, earthquake)."""
    errors, forces = {}, {}
    for case in augmented.CASES:
        for name, test in quakes.items():
            fold = fold_of(split, name)
            found = {seed: augmented.force(case, models[case, fold, seed], name, test) for seed in seeds}
            found["mean force"] = np.mean(list(found.values()), axis=0)
            for what, force in found.items():
                forces[case, what, name] = force
                errors.setdefault((case, what), []).append(rmse(test.f[segment(name)], force))
    return errors, forces


def _mean_of_both(bands, others, quakes):
    """RMSE of the mean of two mean forces: band with network, and physics-ML free-running with learned friction."""
    errors = []
    for name, test in quakes.items():
        part = segment(name)
        mean = 0.5 * (bands[name]["mean force"][part] + others[FREE, "mean force", name])
        errors.append(rmse(test.f[part], mean))
    return errors


def _show(job, split, bands, physics, both, quakes):
    lugre = [learned.error(name, test, lugre_free(test)) for name, test in quakes.items()]
    rows = [
        ["paper, LuGre (printed protocol)", "zero-phase", *_row(PRINTED_LUGRE)],
        ["paper, physics-ML (printed protocol, by record)", "zero-phase", *_row(PRINTED_PHYSICS_ML)],
        ["LuGre, Table 4, free-running", "causal", *_row(lugre)],
    ]
    rows += [
        [f"physics-ML, {case}, {_said(what)}", augmented.CASES[case][1], *_row(each)]
        for (case, what), each in physics.items()
    ]
    for (what, velocity), each in bands.items():
        label = what if what in FITTED_LAWS else f"band with network, {_said(what)}"
        rows.append([label, velocity, *_row(each)])
    rows.append(["mean force of band with network and physics-ML (free, friction learned)", "causal", *_row(both)])
    columns = ["model", "velocity", *QUAKES, "mean", "pooled improvement, %"]
    title = f"RMSE in N over the paper's segments, by {split}: {LEFT_OUT[split]} was not fitted"
    job.tables.append(Table(title, columns, rows))


def _said(what):
    return f"seed {what}" if isinstance(what, int) else what


def _row(errors):
    return [*(f"{e:.0f}" for e in errors), f"{np.mean(errors):.0f}", f"{improvement(errors):.1f}"]
