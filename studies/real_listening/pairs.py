"""Pairs of real tests of a session, what is heard in them, and which of them hear more than the device.

Where the two motions of a pair are one earthquake at two levels, or harmonics of one frequency, the heard force tells
what happens at the same time: it is a clock. In all other pairs a motion is heard that has nothing to do with the one
to be predicted; whatever hearing gains there is knowledge of the device.
"""

import zlib
from itertools import permutations

import numpy as np

from hyloop.data.banded_damper import DamperTest

from .runs import KEPT, Run, run_of
from .shared import sessions

CLOCK, UNRELATED = "same earthquake or frequency", "unrelated motions"
SEMI_ACTIVE_FREQUENCY = 0.5  # Hz, of all tests of data set 4, which do not state it


def ordered(tests) -> list[tuple[str, str]]:
    """Every ordered pair (heard, judged)."""
    return list(permutations(tests, 2))


def motion(test: DamperTest) -> str:
    """What makes two motions keep time with each other."""
    if test.event:
        return test.event
    return f"{SEMI_ACTIVE_FREQUENCY if test.name.startswith('d4_') else test.frequency:g} Hz"


def group(heard: DamperTest, judged: DamperTest) -> str:
    """Which group a pair belongs to."""
    return CLOCK if motion(heard) == motion(judged) else UNRELATED


def deaf_to(session: str, name: str, every: dict[str, dict[str, DamperTest]]) -> DamperTest:
    """What a deaf network hears instead of a test: the same motion in another session if there is one, else any there.

    Of several, one is taken at random, the same in every run.
    """
    others = [(s, test) for s in sorted(every) if s != session for test in every[s].values()]
    mine, said = every[session][name], sessions.short(name)
    same = [test for s, test in others if sessions.short(test.name) == said and not mine.event]
    chosen = same or [test for _, test in others]
    return chosen[zlib.crc32(name.encode()) % len(chosen)]


def signals(test: DamperTest) -> np.ndarray:
    """Force, deformation from the first sample on, causal velocity (samples, 3) of what is heard and judged."""
    s, head = test.signals("causal"), slice(0, round(sessions.SECONDS * sessions.RATE))
    return np.column_stack([s["f"], s["d"] - s["d"][0], s["v"]])[head]


def run(heard: np.ndarray, judged: np.ndarray, event: str = "real") -> Run:
    """A pair as a network sees it."""
    return run_of(event, heard, judged[:, 1:], judged[:, 0])


def adapting_tests() -> dict[str, DamperTest]:
    """The only real tests that ever train: harmonics of the base session."""
    return {name: test for name, test in sessions.load([sessions.BASE])[sessions.BASE].items() if not test.event}


def adapting_runs() -> list[Run]:
    """All ordered pairs of them, a sample every KEPT ticks as virtual runs have."""
    seen = {name: signals(test) for name, test in adapting_tests().items()}
    runs = [run(seen[heard], seen[judged], f"{sessions.BASE}, harmonics") for heard, judged in ordered(seen)]
    return [Run(r.event, *(np.asarray(a)[::KEPT] for a in r[1:])) for r in runs]
