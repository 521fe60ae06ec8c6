"""Pieces of work of the study, each kept when it is done: laws of a session, and errors of all models in its pairs."""

import hashlib
from functools import cache
from pathlib import Path

import numpy as np

from hyloop.study.tasks import Task

from .judging import Errors, Networks, session_errors
from .shared import hearing, sessions

NETWORKS = Path(__file__).parent / "networks"
FILES = ("filters.py", "judging.py", "networks.py", "pairs.py", "runs.py", "work.py")
_OTHERS = (*(f"../real_pairs/{name}.py" for name in ("band", "hearing", "sessions")), "../malik2025/baselines.py")
EARTHQUAKES = f"{sessions.BASE}, earthquakes"


def laws_task(session: str, kinds: tuple[str, ...]) -> Task:
    """Laws fitted to the harmonic tests of a session."""
    return Task(f"laws of {session}", "work:laws", (session, kinds), (*FILES, *_OTHERS))


def laws(session: str, kinds: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Parameters by kind of law."""
    harmonics = [test for test in sessions.load([session])[session].values() if not test.event]
    return {kind: dict(hearing.fitted(kind, harmonics).law.params) for kind in kinds}


def errors_task(judged: str, params: dict, seeds: int | None) -> Task:
    """Errors in the pairs of a session, or in those of the earthquakes of the base session."""
    kept = b"".join(path.read_bytes() for path in sorted(NETWORKS.glob("*.safetensors")))
    digest = hashlib.sha256(kept).hexdigest()
    return Task(f"pairs of {judged}", "work:errors", (judged, params, seeds, digest), (*FILES, *_OTHERS))


def errors(judged: str, params: dict, seeds: int | None, digest: str) -> Errors:
    """Errors by model and pair.

    Adapted networks are not judged with the harmonics of the base session: neither as what they predict nor as what
    they hear.
    """
    every = sessions.load(sessions.PATTERNS)
    session = sessions.BASE if judged == EARTHQUAKES else judged
    quakes = [name for name, test in every[session].items() if test.event] if judged == EARTHQUAKES else None
    found = {kind: hearing.BLOCKS[kind][1](**values) for kind, values in params.items()}
    made = session_errors(
        session, every, found, _networks(seeds, digest), judge=quakes, adapted=judged != sessions.BASE
    )
    return {model: {pair: np.asarray(e) for pair, e in each.items()} for model, each in made.items()}


@cache
def _networks(seeds: int | None, digest: str) -> Networks:
    return Networks(NETWORKS, seeds)
