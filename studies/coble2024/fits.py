"""All fits of the study, as tasks for processes of their own; models go to and fro as bare arrays."""

from functools import cache

import equinox as eqx
import jax
import numpy as np

from hyloop.study.tasks import Task

from . import augmented, laws, learned, numerical
from .tests36 import FOLDS, QUAKES, load, training

SEEDS = (3, 4, 5, 6, 7, 8)  # 0 to 2 were in view when settings were chosen
# What defines a fit; `hyloop` itself is part of what a result hangs on anyway
BAND = ("fits.py", "learned.py", "band.py", "tests36.py")
NUMERICAL = ("fits.py", "numerical.py")
AUGMENTED = ("fits.py", "augmented.py", "printed.py", "learned.py", "tests36.py")
LAWS = ("laws.py", "../brfd/laws.py", "tests36.py")
QUICK_TEST = "d2_h36lb_2Hz_0.5in"


def all_models(job) -> dict:
    """Every model by what it is: its kind, the fold it was fitted for, its seed."""
    if job.quick:
        return _short()
    tasks: dict[tuple, Task] = {
        ("LuGre", "numerical"): Task("numerical LuGre", "fits:numerical_fit", (None,), NUMERICAL)
    }
    for fold in FOLDS:
        tasks["band", fold, None] = Task(f"band without {fold}", "fits:band_alone", (fold,), BAND)
        tasks["laws", fold] = Task(f"laws without {fold}", "laws:fitted", (fold,), LAWS)
    for seed in SEEDS:
        tasks["numerical", seed] = Task(f"numerical, seed {seed}", "fits:numerical_fit", (seed,), NUMERICAL)
        for fold in FOLDS:
            for case in augmented.CASES:
                name = f"physics-ML ({case}) without {fold}, seed {seed}"
                tasks[case, fold, seed] = Task(name, "fits:physics_ml", (case, fold, seed), AUGMENTED)
    found = job.work("fits", list(tasks.values()))
    more = {
        ("band", fold, seed): Task(
            f"band with network without {fold}, seed {seed}",
            "fits:band_with_network",
            (fold, seed, found[f"band without {fold}"]),
            BAND,
        )
        for seed in SEEDS
        for fold in FOLDS
    }
    found |= job.work("fits of bands with a network", list(more.values()))
    return {key: _model(key, found[task.name]) for key, task in (tasks | more).items()}


def _short() -> dict:
    """What a quick run has: three short fits, for every compilation costs seconds; all else is untrained."""
    seed, (harmonics, _) = SEEDS[0], load()
    models = {}
    for fold in FOLDS:
        models |= {("laws", fold): laws.untrained(), ("band", fold, None): learned.band_layer()}
        models["band", fold, seed] = learned.band_layer(seed)
        models |= {(case, fold, seed): augmented.layer(case, seed) for case in augmented.CASES}
    first, one = QUAKES[0], [harmonics[QUICK_TEST]]
    models["band", first, seed] = _fitter().network(learned.band_layer(), seed, one, iterations=1)
    told = next(iter(augmented.CASES))
    models[told, first, seed] = augmented.fitted(told, seed, one, iterations=1)
    motions = numerical.harmonics(quick=True)
    models["LuGre", "numerical"] = numerical.fitted(numerical.plain(), motions, iterations=2)
    models["numerical", seed] = numerical.fitted(numerical.learned(seed), motions, iterations=2)
    return models


def seeds_of(job) -> tuple[int, ...]:
    """Seeds of a run."""
    return SEEDS[:1] if job.quick else SEEDS


# --- tasks ---


def numerical_fit(seed):
    """The numerical case: LuGre with a constant stiffness, or with a network from a seed."""
    layer = numerical.plain() if seed is None else numerical.learned(seed)
    return _arrays(numerical.fitted(layer, numerical.harmonics()))


def band_alone(fold):
    """The band without a network."""
    return _arrays(_fitter().physics(training(fold)))


def band_with_network(fold, seed, alone):
    """The band with a network, from where it stood without."""
    return _arrays(_fitter().network(_restored(learned.band_layer(), alone), seed, training(fold)))


def physics_ml(case, fold, seed):
    """The paper's model."""
    return _arrays(augmented.fitted(case, seed, training(fold)))


@cache
def _fitter():
    return learned.Fitter("causal")


# --- models as arrays ---


def _arrays(model) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(eqx.filter(model, eqx.is_array))]


def _restored(like, arrays):
    """The model of the same structure that has these arrays."""
    mine, rest = eqx.partition(like, eqx.is_array)
    leaves = [jax.numpy.asarray(leaf) for leaf in arrays]
    return eqx.combine(jax.tree.unflatten(jax.tree.structure(mine), leaves), rest)


def _model(key, result):
    """A model from what its task returned."""
    kind, *_, last = key
    if kind == "laws":
        return result
    if kind == "LuGre":
        return _restored(numerical.plain(), result)
    if kind == "numerical":
        return _restored(numerical.learned(last), result)
    return _restored(learned.band_layer(last) if kind == "band" else augmented.layer(kind, last), result)
