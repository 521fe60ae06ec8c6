"""Scenarios of Luo et al. (2024), and what is learned in each. Chosen with other seeds than the study's."""

import time
from dataclasses import dataclass
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from hyloop.learn.springs.elastic import BrokenLine, CubicSpline, NetworkSpring
from hyloop.learn.springs.hysteresis import LearnedSlope, StopOperators
from hyloop.learn.springs.response_descent import descend_response
from hyloop.learn.springs.response_fit import choose
from hyloop.learn.springs.through_structure import Response
from hyloop.metrics import mre, pearson_r

from .structures import STEPS, TRUTH, noisy, problem, white_noise

CLEAN, NOISY = 30, 60  # samples without noise and with it, a fifth held out; the paper has 1024
FINE, SUBSTEPS = 16, 4  # steps in a sampling interval of the fine truth, and of the model that learns from it
ENDS = {"beam": (0.05, 0.1)}  # rad, m: where curves are compared; 0.1 m in case I, as in the paper
POINTS = 512


@dataclass(frozen=True)
class Scenario:
    """One row of the paper's tables."""

    name: str
    case: str
    noise: float = 0.0
    sensors: tuple[str, ...] = ()
    fine: bool = False
    laws: tuple[str, ...] = ("spline",)
    descent: bool = False


BOTH, HYSTERETIC = ("spline", "broken line"), ("stops", "slope")
SCENARIOS = (
    Scenario("N0", "softening", laws=BOTH),
    *(Scenario(f"N{i}", "softening", noise) for i, noise in enumerate((0.05, 0.1, 0.2, 0.3), 1)),
    *(
        Scenario(f"P{i}", "softening", 0.05, sensors)
        for i, sensors in enumerate((("A1",), ("A2",), ("A3",), ("A1", "A2"), ("A1", "A3"), ("A2", "A3")), 1)
    ),
    Scenario("T1", "hardening", laws=BOTH),
    Scenario("T2", "anisotropic", laws=BOTH),
    Scenario("II", "bilinear", laws=HYSTERETIC),
    Scenario("II Bouc-Wen", "Bouc-Wen", laws=HYSTERETIC),
    Scenario("III", "beam"),
    Scenario("III, 5 % noise", "beam", 0.05),
    Scenario("N0, fine truth", "softening", fine=True),
    Scenario("II, fine truth", "bilinear", fine=True, laws=("stops",)),
    Scenario("III, fine truth", "beam", fine=True),
    Scenario("N0, network by Adam", "softening", laws=("network",), descent=True),
)


class Outcome(NamedTuple):
    """What came out of one scenario and seed; errors are MRE in %."""

    curve: list[float]  # of each spring; empty for hysteretic ones
    r: list[float]
    response: dict[str, float]  # u, v, a, f on fresh samples
    chosen: str
    held_out: dict[str, float]
    outside: float  # part of fresh deformations outside the coverage
    seconds: float  # of processors
    coverage: np.ndarray  # smallest and largest deformation of each spring in training
    iterations: int
    curves: list[tuple[np.ndarray, np.ndarray, np.ndarray]]  # of each elastic spring: deformation, true force, ours
    loops: tuple[np.ndarray, ...]  # of a fresh sample: true deformation and force, ours


def candidates(case: str, names: tuple[str, ...], seed: int) -> dict[str, list]:
    """Laws to learn with; ranges leave room beyond what loads of this size reach, scales are round numbers."""
    if case == "beam":
        return {"spline": [CubicSpline(-0.08, 0.08, 32, force=1e5), CubicSpline(-0.16, 0.16, 16, force=3e5)]}
    made = {
        "spline": lambda: CubicSpline(-0.16, 0.16, 32, force=1e7),
        "broken line": lambda: BrokenLine(-0.16, 0.16, 8, force=1e7),
        "network": lambda: NetworkSpring(-0.16, 0.16, (16,), force=1e7, seed=seed),
        "stops": lambda: StopOperators(-0.16, 0.16, 24, force=7e6, finest=1e-3, coarsest=0.05),
        "slope": lambda: LearnedSlope(16, force=2.5e6, yielding=5e-3),
    }
    return {name: [made[name]()] for name in names}


def run_named(name: str, seed: int) -> Outcome:
    """Run one of the scenarios."""
    return run_scenario(next(scenario for scenario in SCENARIOS if scenario.name == name), seed)


def run_scenario(scenario: Scenario, seed: int) -> Outcome:
    """Make data, learn, judge on fresh samples without noise."""
    rng = np.random.default_rng([seed, *scenario.name.encode()])
    samples = 128 if scenario.descent else NOISY if scenario.noise else CLEAN
    fresh = min(samples, CLEAN)
    loads = white_noise(scenario.case, samples + fresh, rng, STEPS)
    whole = problem(scenario.case, FINE if scenario.fine else 1, scenario.sensors).simulate(TRUTH[scenario.case], loads)
    asked = problem(scenario.case, SUBSTEPS if scenario.fine else 1, scenario.sensors)
    kinds = [kind for kind, _ in asked.sensors.values()]
    readings = noisy(whole.sensors[:samples], scenario.noise, kinds, rng)
    laws, held_out = candidates(scenario.case, scenario.laws, seed), samples // 5
    began = time.process_time()
    if scenario.descent:
        epochs = 200
        batch = min(16, samples - held_out)
        rate = optax.cosine_decay_schedule(1e-2, epochs * ((samples - held_out) // batch))
        settings = {"held_out": held_out, "epochs": epochs, "batch": batch, "optimiser": optax.adam(rate), "seed": seed}
        found = {"network": descend_response(asked, laws["network"], loads[:samples], readings, **settings)}
        chosen = "network"
    else:
        chosen, found = choose(asked, laws, loads[:samples], readings, held_out=held_out)
    seconds, best = time.process_time() - began, found[chosen]
    truth = Response(*(part[samples:] for part in whole))
    predicted = asked.simulate(best.laws, loads[samples:])
    response = {key: _mean_error(getattr(truth, key), getattr(predicted, key)) for key in "uvaf"}
    pairs = [] if scenario.case in ("bilinear", "Bouc-Wen") else curves(scenario.case, best.laws)
    errors = [100 * mre(true, ours) for _, true, ours in pairs]
    r = [pearson_r(true, ours) for _, true, ours in pairs]
    held_out_errors = {name: one.held_out for name, one in found.items()}
    return Outcome(
        errors,
        r,
        response,
        chosen,
        held_out_errors,
        float(np.max(best.outside(predicted.d))),
        seconds,
        np.asarray(best.coverage),
        int(best.iterations),
        pairs,
        tuple(np.asarray(part[0, :, 0]) for part in (truth.d, truth.f, predicted.d, predicted.f)),
    )


def curves(case: str, laws: list) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Deformation, true force and learned force of every elastic spring."""
    found = []
    for true, law, end in zip(TRUTH[case], laws, ENDS.get(case, (0.1,)), strict=True):
        d = jnp.linspace(-end, end, POINTS)
        forces = [_curve(law, d) for law in (true, law)]
        found.append((np.asarray(d), *(np.asarray(f) for f in forces)))
    return found


@eqx.filter_jit
def _curve(law, d):
    return jax.vmap(lambda d: law(law.rest(), d)[0])(d)


def _mean_error(true, ours):
    """Mean over samples and channels of the MRE in %, as in Table 3."""
    return 100 * float(np.mean([mre(true[s, :, j], ours[s, :, j]) for s, j in np.ndindex(len(true), true.shape[2])]))
