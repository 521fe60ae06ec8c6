"""Case I with a structure that is not known exactly, or a load that was not measured well."""

import time
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hyloop.learn.springs.learned import Learned
from hyloop.learn.springs.operators import UncertainPart
from hyloop.learn.springs.response_fit import fit_response
from hyloop.learn.springs.unmeasured_load import fit_unmeasured
from hyloop.metrics import mre

from .scenarios import FINE, NOISY, SUBSTEPS, candidates, curves
from .structures import CHAIN_LOAD, MASS, RATIO, STEPS, STIFF, TRUTH, chain, noisy, problem, story, white_noise

NOISE = 0.05
OFF = 0.05  # most that a part is off, drawn evenly
DEVIATION = OFF / np.sqrt(3)  # of such a draw: the prior of every part
SCALE = 0.1  # deviation of the scale of the load, where that is unknown
BADLY = 0.2  # noise of a load that was measured badly, of its rms
SHORT = 24, 256  # samples and steps where load histories are learned too, with as many unknowns
NORMAL_95 = 1.96
EVERY = ("k1", "k2", "k3", "m1", "m2", "m3", "ratio")


@dataclass(frozen=True)
class Uncertain:
    """A way the structure is off, and what is done about it: some of the `MODELS`."""

    name: str
    off: float | None = None  # K as a whole by so much; drawn if None
    stories: bool = False  # whether every story is off by its own
    models: tuple[str, ...] = ("supposed", "learned")
    samples: int = NOISY
    fine: bool = False
    load: str = "measured"  # or "scale", "badly", "unmeasured"


UNCERTAIN = (
    Uncertain("structure off by 5 %", models=("exact", "supposed", "learned")),
    *(Uncertain(f"K off by {100 * off:g} %", off) for off in (0.01, 0.02, 0.05)),
    Uncertain("every story off by 5 %", stories=True, models=("supposed", "stories, free C", "stories"), samples=120),
    Uncertain("structure off by 5 %, fine truth", fine=True, models=("learned",)),
    Uncertain("structure off by 5 %, load within 10 %", models=("learned",), load="scale"),
    Uncertain("structure off by 5 %, load read with 20 % noise", models=("learned", "load too"), load="badly"),
    Uncertain("load not measured", off=0.0, models=("load too",), load="unmeasured"),
)


class Found(NamedTuple):
    """What came out of one scenario, model and seed."""

    curve: float  # MRE in %
    story: float  # MRE in % of the first story and the spring beside it together
    factors: dict[str, float]  # error of each factor of mass and stiffness
    deviations: dict[str, float]  # as promised
    inside: float  # part of the curve within its 95 % interval
    promised: float  # mean deviation of the curve, % of the largest force
    seconds: float


def drawn(scenario: Uncertain, rng: np.random.Generator) -> dict[str, float]:
    """How far parts are off."""
    if scenario.off is not None:
        return {name: scenario.off if name.startswith("k") else 0.0 for name in EVERY}
    found: dict[str, float] = dict(zip(EVERY, rng.uniform(-OFF, OFF, len(EVERY)).tolist(), strict=True))
    return found if scenario.stories else found | {"k2": found["k1"], "k3": found["k1"]}


def parts(model: str, load: str) -> list[UncertainPart]:
    """What may be off in a model. Damping goes with masses and stiffness, as Rayleigh's does, or (free C) does not."""
    if model in ("exact", "supposed"):
        return []
    believed = chain()
    omega = believed.modes().omega[:2]
    a1 = 2 * RATIO / omega.sum()  # equal ratios in two modes, Chopra, section 11.4
    a0 = a1 * omega.prod()
    goes_with = model != "stories, free C"
    masses = [np.diag(MASS * row) for row in np.eye(3)]
    stories = [story(i) for i in (1, 2, 3)] if model.startswith("stories") else []
    found = [UncertainPart(f"k{i}", DEVIATION, K=k, C=a1 * k if goes_with else None) for i, k in enumerate(stories, 1)]
    found += [] if stories else [UncertainPart("K", DEVIATION, K=believed.K, C=a1 * believed.K if goes_with else None)]
    found += [UncertainPart(f"m{i}", DEVIATION, M=m, C=a0 * m if goes_with else None) for i, m in enumerate(masses, 1)]
    found += [UncertainPart("a0", DEVIATION, C=a0 * believed.M), UncertainPart("a1", DEVIATION, C=a1 * believed.K)]
    return [*found, UncertainPart("load", SCALE, loads=believed.loads)] if load == "scale" else found


def run_named(name: str, seed: int) -> dict[str, Found]:
    """Run one of the scenarios."""
    return run_uncertain(next(scenario for scenario in UNCERTAIN if scenario.name == name), seed)


def run_uncertain(scenario: Uncertain, seed: int) -> dict[str, Found]:
    """Make data with a structure that is off, learn with each model, judge the curve."""
    rng = np.random.default_rng([seed, *scenario.name.encode()])
    off = drawn(scenario, rng)
    short = scenario.load in ("badly", "unmeasured")
    samples, steps = SHORT if short else (scenario.samples, STEPS)
    loads = white_noise("softening", samples, rng, steps)
    true = chain(
        [1 + off[name] for name in EVERY[:3]], [1 + off[name] for name in EVERY[3:6]], RATIO * (1 + off["ratio"])
    )
    acted = loads * (1 + SCALE * rng.normal()) if scenario.load == "scale" else loads
    exact = replace(problem("softening", FINE if scenario.fine else 1), structure=true)
    whole = exact.simulate(TRUTH["softening"], acted).sensors
    readings = noisy(whole, NOISE, ["a"] * 3, rng)
    level = NOISE * float(np.sqrt(np.mean(np.var(whole, axis=(0, 1)))))
    heard = loads + BADLY * CHAIN_LOAD * rng.normal(size=loads.shape) if scenario.load == "badly" else loads
    asked = problem("softening", SUBSTEPS if scenario.fine else 1)
    found = {}
    for model in scenario.models:
        began = time.process_time()
        given = replace(asked, structure=true) if model == "exact" else asked
        laws, uncertain = candidates("softening", ("spline",), seed)["spline"], parts(model, scenario.load)
        if model == "load too":
            unmeasured = scenario.load == "unmeasured"
            learned, _ = fit_unmeasured(
                given,
                laws,
                readings,
                noise=level,
                load_deviation=CHAIN_LOAD * (1.0 if unmeasured else BADLY),
                loads=None if unmeasured else heard,
                uncertain=[] if unmeasured else uncertain,
            )
        else:
            learned = fit_response(given, laws, heard, readings, uncertain=uncertain, held_out=samples // 5)
        found[model] = _judged(learned, off, time.process_time() - began)
    return found


def _judged(learned: Learned, off: dict[str, float], seconds: float) -> Found:
    d, force, ours = curves("softening", learned.laws)[0]
    uncertainty = learned.uncertainty
    assert uncertainty is not None  # both fits give it
    promised = uncertainty.curve(d)[1]
    truth = off | {"K": off["k1"]}
    known = {name: one for name, one in uncertainty.factors.items() if name in truth}
    k1 = learned.problem.structure.K[0, 0] + learned.problem.structure.K[0, 1]  # of the first story alone
    moved = promised > 0.0  # not at rest
    return Found(
        100 * mre(force, ours),
        100 * mre(force + (1 + off["k1"]) * STIFF * d, ours + k1 * d),
        {name: one.value - 1 - truth[name] for name, one in known.items()},
        {name: one.deviation for name, one in known.items()},
        float(np.mean((np.abs(ours - force) <= NORMAL_95 * promised)[moved])),
        100 * float(np.mean(promised) / np.abs(force).max()),
        seconds,
    )
