"""What is run: schemes, variants of the test, plants and noise."""

from functools import cache
from typing import NamedTuple

import numpy as np

from .frame import STOREYS, ground, numerical, one_piece, specimen, whole_frame
from .loop import NOISE, Run, respond, simulate, to_actuators
from .plant import NOMINAL, Plant, Poles, discrete, draw
from .predictive import CHOSEN, predictive
from .references import LATE, Controller, inverse, lqg, none, rls
from .scoring import VOLTS, nrms, peak, score, unstable

__all__ = ["HARD", "SCHEMES", "VARIANTS", "Variant", "nominal_score", "perfect", "run_one", "run_variant"]

SCALE = 0.4  # of the records
JUDGED, NOISE_SEED = 2023, 123  # seeds of the plants of the judgement, and of the noise with the nominal plant
SCHEMES = ("none", "inverse", "LQG, our weights", "published RLS", "coupled RLS", "ours")
PARTS = ("ours, no oscillating error", "ours, rotation tied to the sway", "ours, one mode", "ours, dead time not told")


class Variant(NamedTuple):
    """How a test differs from the one distributed."""

    name: str
    factor: float = 1.0  # on the specimen
    dead_time: int = 0  # steps
    independent: bool = False  # noise of both sensors
    spread: float = 1.0  # factor on that of the plants
    felt: bool = False  # force from the true motion
    plants: int = 20
    told: int | None = None  # dead time that controllers believe, if another
    scale: float = SCALE  # of the record
    limit: float = np.inf  # V: of what reaches the plant
    fall: float = 0.0  # of the plant's gains during the run
    beyond: bool = False  # more than ours bears


HARD = Variant("hard set", factor=3.0, dead_time=5, independent=True, plants=150)
VARIANTS = (
    Variant("own reference alone"),
    Variant("independent noise", independent=True),
    Variant("specimen x3", factor=3.0),
    Variant("specimen x5, independent noise", factor=5.0, independent=True),
    Variant("specimen x10", factor=10.0),
    Variant("dead time 5", dead_time=5),
    Variant("dead time 8", dead_time=8),
    Variant("dead time 8, told 5", dead_time=8, told=5),
    Variant("plants spread x3", spread=3.0),
    HARD._replace(name="hard set, plants spread x3", spread=3.0, plants=20),
    HARD._replace(name="hard set, dead time 8, told 5", dead_time=8, told=5, plants=20),
    HARD._replace(name="hard set, specimen x5", factor=5.0, plants=20),
    HARD._replace(name="hard set, true motion felt", felt=True, plants=20),
    HARD._replace(name="hard set, five times the motion, limited commands", scale=2.0, limit=VOLTS, plants=20),
    HARD._replace(name="hard set, gains fall by 20 %", fall=0.2, plants=20),
    HARD._replace(name="hard set, specimen x8", factor=8.0, plants=20, beyond=True),
    HARD,
)


@cache
def controller(scheme: str, dead_time: int) -> Controller:
    """A scheme by its name, told the dead time of the rig; only ours makes use of it."""
    without = {
        "ours, no oscillating error": {"swing": 1e-9},
        "ours, rotation tied to the sway": {"freedom": 1e-9, "jitter_r": 1e-2},
        "ours, one mode": {"modes": 1},
    }
    if scheme in without:
        return predictive(dead_time, CHOSEN._replace(**without[scheme]))
    made = {
        "none": none,
        "inverse": inverse,
        "LQG, our weights": lqg,
        "published RLS": rls,
        "coupled RLS": lambda: rls(coupled=True),
        "ours": lambda: predictive(dead_time),
        "ours, dead time not told": lambda: predictive(0),
        "a step late": none,
    }
    return made[scheme]()


@cache
def own_reference(record: str, factor: float, scale: float = SCALE) -> np.ndarray:
    """What perfect control would give: numerical part and laboratory's specimen in one piece."""
    return respond(one_piece(numerical(), specimen().scaled(factor)), scale * ground(record))


@cache
def distributed_reference(record: str) -> np.ndarray:
    """The frame of the package, whose first storey is another one than that of the laboratory."""
    return respond(whole_frame(), SCALE * ground(record))


def run_one(scheme: str, variant: Variant, plant: Plant, seed: int, record: str = "elcentro") -> Run:
    """One run of a scheme in a variant of the test."""
    chosen = controller(scheme, variant.dead_time if variant.told is None else variant.told)
    return simulate(
        numerical(),
        specimen().scaled(variant.factor),
        plant,
        chosen.block,
        variant.scale * ground(record),
        blend=chosen.blend,
        dead_time=variant.dead_time,
        seed=seed,
        independent=variant.independent,
        felt=variant.felt,
        limit=variant.limit,
        fall=variant.fall,
    )


def nominal_score(scheme: str, record: str) -> dict[str, np.ndarray]:
    """Criteria as distributed, of the nominal plant."""
    plant = LATE if scheme == "a step late" else discrete(NOMINAL)
    return score(run_one(scheme, Variant("as distributed"), plant, NOISE_SEED, record), distributed_reference(record))


def perfect(record: str, factor: float = 1.0, scale: float = SCALE, *, distributed: bool) -> dict[str, np.ndarray]:
    """Criteria of perfect control: motions are wanted motions, and what is left in J2 is the noise of the sensors."""
    own = own_reference(record, factor, scale)
    reference = distributed_reference(record) if distributed else own
    target = np.array([to_actuators(x, -r) for x, r in own[:, (26, 20)]])
    storeys, node = [dof - 1 for dof in STOREYS], [26, 20]
    return {
        "actuator_nrms": 100.0 * NOISE / target.std(0, ddof=1),
        "node_nrms": np.zeros(2),
        "true_nrms": np.zeros(2),
        "node_vs_reference_nrms": np.array([nrms(own[:, k], reference[:, k]) for k in node]),
        "storey_vs_reference_nrms": np.array([nrms(own[:, k], reference[:, k]) for k in storeys]),
        "node_vs_reference_peak": np.array([peak(own[:, k], reference[:, k]) for k in node]),
        "storey_vs_reference_peak": np.array([peak(own[:, k], reference[:, k]) for k in storeys]),
    }


def plants(variant: Variant) -> list[tuple[Poles, int]]:
    """Random plants of the judgement and seeds of their noise; a shorter list is the beginning of a longer one."""
    rng = np.random.default_rng(JUDGED)
    return [(draw(rng, variant.spread), int(rng.integers(2**31))) for _ in range(variant.plants)]


def run_variant(scheme: str, variant: Variant, record: str = "elcentro") -> dict[str, np.ndarray]:
    """Criteria against the own reference, a row for each plant; nan where a run was unstable."""
    reference, rows = own_reference(record, variant.factor, variant.scale), []
    for poles, seed in plants(variant):
        run = run_one(scheme, variant, discrete(poles), seed, record)
        values = {} if run.diverged else score(run, reference)
        rows.append(None if not values or unstable(run, values) else values)
    shape = next((row for row in rows if row), {"actuator_nrms": np.empty(2)})
    return {
        key: np.array([np.full(len(like), np.nan) if r is None else r[key] for r in rows])
        for key, like in shape.items()
    }
