"""The tests by session: what was run with the device mounted and tightened once."""

import numpy as np

from hyloop.data.banded_damper import DamperTest, tests
from hyloop.identification import MeasuredTest

RATE = 1024  # Hz
SECONDS = 20.0  # of a record that are heard and judged; harmonic tests repeat themselves after that
EVERY = 4  # samples that fits look at: 256 Hz
BASE = "d2 36 lb"  # whose harmonic tests the laws are fitted to
SWAPPED = "d2 30 lb"  # the same where the base session itself is judged
SEMI_ACTIVE = "d4 semi-active"
# the first data set has two tests of a tension or one; one alone makes no pair
PATTERNS = {
    BASE: "d2_*36lb_*",
    SWAPPED: "d2_h30lb_*",
    "d2 0 lb": "d2_h0lb_*",
    "d3 30 lb": "d3_h30lb_*",
    "d1 20 lb": "d1_h20lb_*",
    "d1 22 lb": "d1_h22lb_*",
    "d1 25 lb": "d1_h25lb_*",
    "d1 80 lb": "d1_h80lb_*",
    SEMI_ACTIVE: "d4_*",
}
# the provider's own note: the forces of the electric actuators are wrong there
WRONG_TENSIONS = ("0.25Hz_0.5in", "0.5Hz_0.5in", "1Hz_0.5in", "2Hz_0.5in", "0.25Hz_1in")
STATES = {"gap-slip": "s", "LuGre": "y", "band": "s"}  # found from the first measured force
INPUTS = {"gap-slip": "dva", "LuGre": "v", "band": "dva"}


def load(names) -> dict[str, dict[str, DamperTest]]:
    """Tests by session and id."""
    return {name: tests(PATTERNS[name]) for name in names}


def measured(kind: str, test: DamperTest, every: int = 1, controls=None) -> MeasuredTest:
    """A test as a law sees it: causal velocity and its backward difference, begun from the first force.

    `controls` are the two signals a semi-active law hears besides, zeros if None.
    """
    signals, head = test.signals("causal"), slice(0, round(SECONDS * RATE), every)
    inputs = {key: signals[key][head] for key in INPUTS[kind]}
    if kind == "band":
        c1, c2 = (np.zeros(len(test.d)),) * 2 if controls is None else controls
        inputs |= {"c1": c1[head], "c2": c2[head]}
    return MeasuredTest(every * test.dt, inputs, test.f[head], STATES[kind], name=test.name)


def short(name: str) -> str:
    """Motion of a test, without session: ``1Hz_1in``."""
    return name.split("lb_")[-1]


def spread() -> dict[str, float]:
    """Run-to-run spread: the same command at 30 lb in sessions d2 and d3, NRMSE over the range of the force in d3."""
    of = [{short(name): test for name, test in tests(PATTERNS[s]).items()} for s in (SWAPPED, "d3 30 lb")]
    found = {}
    for name in of[0].keys() & of[1].keys():
        one, other = (tests_[name].f for tests_ in of)
        n = min(len(one), len(other))
        found[name] = float(np.sqrt(np.mean((one[:n] - other[:n]) ** 2)) / np.ptp(other[:n]))
    return dict(sorted(found.items()))
