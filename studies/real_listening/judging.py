"""Errors of every model in every ordered pair of a session: NRMSE of the whole judged test from its first sample on."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hyloop.identification import predict
from hyloop.metrics import nrmse
from hyloop.neural import load_network
from hyloop.neural.resampled import resampled

from . import filters, pairs
from .networks import LISTENING, OFFLINE, inputs, signals
from .runs import DT, Run
from .shared import sessions

HEARS, DEAF, MEAN, ADAPTED, ADAPTED_DEAF = (
    "listening",
    "listening, deaf",
    "listening, mean of seeds",
    "listening, adapted",
    "adapted, deaf",
)
BLIND, COPY = "offline network", "heard force itself"
FOLLOWING, FIXED = (filters.CUKF, filters.FACTORS), {filters.FIXED_LUGRE: "LuGre", filters.FIXED_GAP: "gap-slip"}
Errors = dict[str, dict[tuple[str, str], np.ndarray]]  # by model and pair, one for each seed


@dataclass
class Networks:
    """Networks of all kinds that are kept, one for each seed, as devices that answer in every tick."""

    folder: Path
    seeds: int | None = None  # as many as there are if None

    def __post_init__(self) -> None:
        names = {LISTENING: f"{LISTENING}-[0-9]*", ADAPTED: f"{LISTENING}-adapted-*", OFFLINE: f"{OFFLINE}-[0-9]*"}
        found = {key: sorted(self.folder.glob(f"{name}.safetensors")) for key, name in names.items()}
        paths = {key: [p for p in some if ".checkpoint" not in p.name][: self.seeds] for key, some in found.items()}
        self.devices = {
            key: [resampled(load_network(path).block(), "phases") for path in some] for key, some in paths.items()
        }

    def answer(self, which: str, run: Run) -> list[np.ndarray]:
        """Force of every seed in a run."""
        kind = OFFLINE if which == OFFLINE else LISTENING
        given = inputs(kind, run.heard, run.own, float(run.f[0])).astype(float)
        columns: dict[str, Any] = {key: given[:, k] for k, key in enumerate(signals(kind))}
        return [np.asarray(device.drive(DT, **columns)["f"]) for device in self.devices[which]]


def session_errors(
    session: str,
    every: dict,
    laws: dict,
    networks: Networks,
    *,
    judge: list[str] | None = None,
    adapted: bool = True,
    progress: Callable[[float], None] = lambda _: None,
) -> Errors:
    """All models in all ordered pairs of a session.

    Parameters
    ----------
    every : dict
        Tests of all sessions; a deaf network hears one of another session.
    laws : dict
        Fitted to tests of another session, or to none of those in `judge`.
    judge : list of str, optional
        Tests that may be heard and judged, all by default.
    adapted : bool
        Whether networks adapted to the base session may be judged here.
    """
    tests = {name: every[session][name] for name in judge or every[session]}
    seen = {name: pairs.signals(test) for name, test in tests.items()}
    wrong = {name: pairs.signals(pairs.deaf_to(session, name, every)) for name in tests}
    found: Errors = {}

    def enter(model, pair, forces):
        f = seen[pair[1]][:, 0]
        found.setdefault(model, {})[pair] = np.array([nrmse(f, force) for force in forces])

    alone = {name: networks.answer(OFFLINE, pairs.run(s, s)) for name, s in seen.items() if networks.devices[OFFLINE]}
    fixed = {
        model: {name: predict(laws[kind], sessions.measured(kind, test)) for name, test in tests.items()}
        for model, kind in FIXED.items()
        if kind in laws
    }
    following = [model for model in FOLLOWING if "LuGre" in laws or model != filters.CUKF]
    heard_by = {(m, name): filters.followed(m, laws, test) for m in following for name, test in tests.items()}
    judged_by = {(m, name): filters.Judged(m, laws, test) for m in following for name, test in tests.items()}
    for k, pair in enumerate(each := pairs.ordered(tests)):
        heard, judged = pair
        run, instead = (pairs.run(other[heard], seen[judged]) for other in (seen, wrong))
        answers = networks.answer(LISTENING, run)
        enter(HEARS, pair, answers)
        if len(answers) > 1:
            enter(MEAN, pair, [np.mean(answers, axis=0)])
        enter(DEAF, pair, networks.answer(LISTENING, instead))
        if adapted and networks.devices[ADAPTED]:
            enter(ADAPTED, pair, networks.answer(ADAPTED, run))
            enter(ADAPTED_DEAF, pair, networks.answer(ADAPTED, instead))
        for model in following:
            enter(model, pair, [judged_by[model, judged].force(heard_by[model, heard])])
        for model, forces in fixed.items():
            enter(model, pair, [forces[judged]])
        if judged in alone:
            enter(BLIND, pair, alone[judged])
        enter(COPY, pair, [run.heard[:, 0]])
        progress((k + 1) / len(each))
    return found
