"""Compute time of a controller tick of a hybrid test with networks that listen.

The reinforced-concrete frame with fibre members at 1024 Hz, a virtual specimen behind ATS, actuator and sensor, and a
network of the paper's size (16‖16-48-48-1) that hears it over a link; then the same frame with twelve such places. The
experiment is `experiments/ocp_nn_two_story.toml` with weights of any kind: how long a tick takes does not hang on them.

Live steps are timed one by one, with the excitation given and nothing recorded, so that the tail is that of single
ticks. Goals: with one network a median below 60 µs and 99.9 % of the ticks below 250 µs; with twelve a median below
150 µs.
"""

import math
import tempfile
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from benchmarks.measure import interleaved, report
from hyloop.files.load import load_experiment
from hyloop.neural import Card, FrozenStack, Signal, ocp_nn
from hyloop.study.build import Built, build

__all__ = ["ocp_nn_tick"]

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "experiments" / "ocp_nn_two_story.toml"
DT, EVERY = 1 / 1024, 16  # s, and ticks in a sample of a network, which runs in as many phases
PLACES = 12
STEPS, REPEATS = 4000, 11
_LAW = (
    'sites.damper2={ story = 2, count = 4, device = { law = "lugre" } }',
    'recording.channels=["u.M?.ux", "damper?.f"]',  # the file records what the link shows
)
# inputs of the card in the order of the training, with the fixed scaling
INPUTS = {
    "f1": ("N", 1e-4),
    "d1": ("m", 100.0),
    "v1": ("m/s", 10.0),
    "t1": ("N", 2e-4),
    "t2": ("N", 2e-4),
    "d": ("m", 100.0),
    "v": ("m/s", 10.0),
}


def network(seed: int = 0) -> FrozenStack:
    """A network of the paper's size with weights of a start, so that no gate is saturated."""
    architecture, rng = ocp_nn(5, 2), np.random.default_rng(seed)
    tensors = {
        key: rng.uniform(-1.0, 1.0, shape).astype(np.float32) * math.sqrt(3.0 / shape[0] if len(shape) > 1 else 0.01)
        for key, shape in architecture.shapes.items()
    }
    signals = tuple(Signal(key, unit, 0.0, factor) for key, (unit, factor) in INPUTS.items())
    return FrozenStack(architecture, tensors, Card(signals, (Signal("f", "N", 0.0, 1e-3),), dt=EVERY * DT))


def rig(places: int) -> Built:
    """The experiment with so many networks, all of which hear the one device, and share the four dampers among them."""
    with tempfile.TemporaryDirectory() as folder:
        network().save(path := Path(folder) / "net.safetensors")
        device = f'sites.damper2.device={{ network = "{path}", stiffness = "5 kN/mm" }}'
        experiment = load_experiment(FILE, [device, f"sites.damper2.count={4.0 / places!r}"])
    like = experiment.sites["damper2"]
    more = {f"place{k}": like for k in range(2, places + 1)}
    return build(experiment.model_copy(update={"sites": {**experiment.sites, **more}}))


def _ticks(built: Built) -> np.ndarray:
    """Seconds of single live steps, from the start on."""
    loop, rows = built.loop, np.ascontiguousarray(built.excitation)
    loop.start(rows[0])
    times = np.empty(min(STEPS, len(rows) - 1))
    for k in range(len(times)):
        begin = perf_counter_ns()
        loop.step(rows[k + 1])
        times[k] = perf_counter_ns() - begin
    return times * 1e-9


def ocp_nn_tick() -> dict[str, Any]:
    """One tick with one network that listens; with twelve, and without any, beside it."""
    one, twelve = rig(1), rig(PLACES)
    bare = build(load_experiment(FILE, _LAW))
    jobs: dict[str, Any] = {
        "one network": lambda: _ticks(one),
        f"{PLACES} networks": lambda: _ticks(twelve),
        "a law in its place": lambda: _ticks(bare),
    }
    return report("ocp-nn", interleaved(jobs, repeats=REPEATS))
