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
from jax.flatten_util import ravel_pytree

from hyloop.core.levenberg_marquardt import Factors, minimise
from hyloop.learn.networks.state_space import StateSpaceNetwork
from hyloop.learn.physics.recurrent_fit import History, local_equations

from . import models
from .records import NOISE, OWN_SEED, PERIOD, Seen, own, published, ticks

FILES = ("fits.py", "models.py", "oscillators.py", "records.py")
OWN_RECORDS = 4  # of 8192 samples: as many in all as the estimation record has
LANES = 8  # of a period
LANE_RUN_IN = 512  # samples: hysteresis damps more than the dashpot, and a lane begins at rest
HELD = PERIOD // LANES  # samples at the end of the estimation period that are for validation
DAMPING, TOLERANCE = 1e-2, 1e-9  # at the start; of the cost that a step must promise
PRIOR = 0.1  # precision of the weights of a network, where residuals are in units of the noise
# trials on the first record, and on all
TRIALS = {"black box": (60, 30), "law and network": (70, 8), "law alone": (25, 5), "white box": (60, 6)}


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


def lanes(seen, factor, scale, unit, count=LANES) -> History:
    """A period cut into lanes that run side by side, each after a run-in: force over `scale`, displacement over `unit`.

    Of the estimation record, whose last lane is for validation, give `count` one less.
    """
    u, before = ticks(seen, factor)
    run_in, length = factor * LANE_RUN_IN, factor * PERIOD // LANES
    begin = factor * before - run_in + length * np.arange(count)
    rows = begin[:, None] + np.arange(run_in + length)
    weight = np.zeros(rows.shape)
    weight[:, run_in::factor] = 1.0
    y = np.zeros(rows.shape)
    y[:, run_in::factor] = seen.y.reshape(LANES, -1)[:count] / unit
    return History(u[rows, None] / scale, y, weight, np.zeros((count, 1)))


def _rest(model, _):
    return jnp.asarray(model.rest)


class _Problem(NamedTuple):
    """What is compiled for a model and the records of a source: half the sum of squares, and normal equations."""

    cost: Any
    normal: Any
    records: list[History]

    def over(self, records):
        """Both as functions of the numbers of the model alone, over the lanes of some records."""
        joined = jax.tree.map(lambda *parts: jnp.concatenate(parts), *records)

        def normal(theta):
            _, g, H = self.normal(theta, joined)
            return np.asarray(g), np.asarray(H)

        return lambda theta: float(self.cost(theta, joined)), normal


_KNOWN: dict = {}  # compiled once for all seeds of a model


def _problem(model, source) -> _Problem:
    linear, black = start(source), isinstance(model, StateSpaceNetwork)
    factor = models.BLACK_TICKS if black else models.LAW_TICKS
    scale, unit = (linear.u, linear.y) if black else (1.0, 1.0)
    key = (source, model.rate) if black else (source, model.law.name, model.base, len(model.by_sample))
    if key not in _KNOWN:

        def step(model, x, u):
            x, y = model.step(x, u)
            return x, (unit / NOISE) * y[0]

        of_lane = local_equations(model, step, _rest, factor)
        cost = jax.jit(lambda theta, seen: jnp.sum(jax.vmap(of_lane.cost, (None, 0))(theta, seen)))
        many = jax.vmap(of_lane.normal, (None, 0))
        normal = jax.jit(lambda theta, seen: tuple(jnp.sum(part, axis=0) for part in many(theta, seen)))
        count = LANES - 1 if source == "estimation" else LANES
        records = [lanes(seen, factor, scale, NOISE, count) for seen in training(source)]
        _KNOWN[key] = _Problem(cost, normal, records)
    return _KNOWN[key]


def fitted(model, source, kind, trials=None):
    """The model with every number in it fitted to the records of a source."""
    problem = _problem(model, source)
    arrays, rest = eqx.partition(model, eqx.is_inexact_array)
    flat, unravel = ravel_pytree(arrays)
    theta, origin, precision = np.asarray(flat), np.asarray(flat), np.zeros(len(flat))
    if kind in ("black box", "law and network"):
        filled = jax.tree.map(lambda a: jnp.zeros(a.shape), arrays)
        weights = jax.tree.map(lambda a: jnp.full(a.shape, PRIOR), arrays.network)
        precision = np.asarray(ravel_pytree(eqx.tree_at(lambda it: it.network, filled, weights))[0])

    def prior(theta):
        away = theta - origin
        return 0.5 * float(precision @ away**2), precision * away, np.diag(precision)

    first, then = trials or TRIALS[kind]
    phases = [(first, problem.records[:1])] + [(then, problem.records)] * (len(problem.records) > 1)
    for count, records in phases:
        theta = minimise(
            *problem.over(records),
            theta,
            Factors(DAMPING, 4.0, 0.3, trust=0.25),
            prior=prior,
            solve=np.linalg.solve,
            trials=count,
            tolerance=TOLERANCE,
        ).theta
    return eqx.combine(unravel(jnp.asarray(theta)), rest)


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
    problem = _problem(models.white_box(start(source)), source)
    theta = np.concatenate([layer.log_factors, layer.shifts])
    cost, normal = problem.over(problem.records)
    cost, H = cost(theta), normal(theta)[1]
    count = sum(int(seen.weight.sum()) for seen in problem.records)
    covariance = 2.0 * cost / (count - len(theta)) * np.linalg.inv(H)
    names = [list(layer.law.params)[i] for i in (*layer.constant, *(i for i, _ in layer.shifted))]
    per_unit = [found[name] for name in names[: len(layer.constant)]] + [scale for _, scale in layer.shifted]
    return {name: abs(f) * float(s) for name, f, s in zip(names, per_unit, np.sqrt(np.diag(covariance)), strict=True)}
