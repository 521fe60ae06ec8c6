"""All fits of the study: Levenberg-Marquardt through whole records, free-running, one task for each.

A fit goes over the first record alone until it is near, then over all. What is called validation is never fitted: of
the estimation record the last eighth of its period, of own records one more of them.
"""

from functools import cache
from time import process_time
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from hyloop.learn.networks.state_space import StateSpaceNetwork
from hyloop.learn.physics.recurrent_fit import History, follow, local_equations

from . import models
from .records import NOISE, OWN_SEED, PERIOD, Seen, own, published, ticks

FILES = ("fits.py", "models.py", "oscillators.py", "records.py")
OWN_RECORDS = 4  # of 8192 samples: as many in all as the estimation record has
HELD = PERIOD // 8  # samples at the end of the estimation period that are for validation
PRIOR = 0.1  # precision of the weights of a network, where residuals are in units of the noise
# trials on the first record, and on all
TRIALS = {"black box": (60, 30), "law and network": (70, 8), "law alone": (25, 0), "white box": (60, 6)}


@cache
def training(source) -> list[Seen]:
    """Records that are fitted: "estimation" or "own"."""
    return [published("estimation")] if source == "estimation" else own(OWN_RECORDS)


@cache
def validation(source) -> Seen:
    """A record that is not; of the estimation record it is the part that is not."""
    return published("estimation") if source == "estimation" else own(1, OWN_SEED + OWN_RECORDS)[0]


@cache
def start(source) -> models.Linear:
    return models.linear(training(source)[0])


def history(seen, factor, scale, used=slice(None)) -> History:
    """A record as a model sees it: the force over `scale` at every tick, displacement in units of the noise."""
    u, before = ticks(seen, factor)
    at = factor * (before + np.arange(len(seen.u)))[used]
    y, weight = np.zeros(len(u)), np.zeros(len(u))
    y[at], weight[at] = seen.y[used] / NOISE, 1.0
    return History(u[:, None] / scale, y, weight, np.zeros(1))


def _rest(model, _):
    return jnp.asarray(model.rest)


class _Problem(NamedTuple):
    """How records of a source enter the fit of a model, and what is compiled for it."""

    step: Any
    equations: Any
    histories: list


_KNOWN: dict = {}  # compiled once for all seeds of a model


def _problem(model, source) -> _Problem:
    linear, black = start(source), isinstance(model, StateSpaceNetwork)
    factor = models.BLACK_TICKS if black else models.LAW_TICKS
    unit, scale = (linear.y / NOISE, linear.u) if black else (1.0 / NOISE, 1.0)
    key = (source, model.rate) if black else (source, model.law.name, model.base, len(model.by_sample))
    if key not in _KNOWN:

        def step(model, x, u):
            x, y = model.step(x, u)
            return x, unit * y[0]

        used = slice(0, PERIOD - HELD) if source == "estimation" else slice(None)
        histories = [history(seen, factor, scale, used) for seen in training(source)]
        _KNOWN[key] = _Problem(step, local_equations(model, step, _rest, factor), histories)
    return _KNOWN[key]


def fitted(model, source, kind, trials=None):
    """The model with every number in it fitted to the records of a source."""
    step, equations, histories = _problem(model, source)
    prior = jax.tree.map(lambda a: jnp.zeros(a.shape), eqx.filter(model, eqx.is_inexact_array))
    if kind in ("black box", "law and network"):
        weights = jax.tree.map(lambda a: jnp.full(a.shape, PRIOR), prior.network)
        prior = eqx.tree_at(lambda it: it.network, prior, weights)
    first, then = trials or TRIALS[kind]
    model = follow(model, step, _rest, histories[:1], iterations=first, prior=prior, equations=equations).model
    if then and len(histories) > 1:
        model = follow(model, step, _rest, histories, iterations=then, prior=prior, equations=equations).model
    return model


def black_box(source, seed, trials=None):
    """Arrays of a black box."""
    return models.arrays(fitted(models.black_box(start(source), seed), source, "black box", trials))


def law_alone(source, trials=None) -> dict[str, float]:
    """Numbers of Dahl's friction without a network."""
    return models.parameters(fitted(models.dahl(start(source)), source, "law alone", trials))


def law_and_network(source, seed, params, trials=None):
    """Arrays of the law with a network, from where the law stood alone."""
    return models.arrays(fitted(models.corrected(params, seed), source, "law and network", trials))


def white_box(source, trials=None) -> dict:
    """Parameters of the white box, their standard errors, and how long one core took, compilation included."""
    began = process_time()
    layer = fitted(models.white_box(start(source)), source, "white box", trials)
    took = process_time() - began
    found = models.parameters(layer)
    return {"parameters": found, "errors": _standard_errors(layer, source, found), "seconds": took}


def _standard_errors(layer, source, found) -> dict[str, float]:
    """From the curvature at the minimum and the residuals themselves."""
    _, equations, histories = _problem(models.white_box(start(source)), source)
    theta = jnp.concatenate([layer.log_factors, layer.shifts])
    parts = [equations.normal(theta, seen) for seen in histories]
    cost, H = sum(float(part[0]) for part in parts), sum(np.asarray(part[2]) for part in parts)
    count = sum(int(seen.weight.sum()) for seen in histories)
    covariance = 2.0 * cost / (count - len(theta)) * np.linalg.inv(H)
    names = [list(layer.law.params)[i] for i in (*layer.constant, *(i for i, _ in layer.shifted))]
    per_unit = [found[name] for name in names[: len(layer.constant)]] + [scale for _, scale in layer.shifted]
    return {name: abs(f) * float(s) for name, f, s in zip(names, per_unit, np.sqrt(np.diag(covariance)), strict=True)}
