"""The page of a tall building under a long record can still be sent by mail."""

import numpy as np
import pytest

from hyloop.record import Recording
from hyloop.report.run_page import write_report

STORIES, HEIGHT = 100, 3.5  # m
STEP, DURATION = 0.005, 60.0  # s
LARGEST = 6_000_000  # bytes


def tower(seed):
    """What a run of a tower leaves: waves of its own in every story, which no packing makes small."""
    t = STEP * np.arange(int(DURATION / STEP))
    random = np.random.default_rng(seed)
    floors = [str(k) for k in range(1, STORIES + 1)]
    phases, periods = random.uniform(0.0, 2 * np.pi, STORIES), random.uniform(0.5, 6.0, STORIES)
    drifts = 0.01 * np.sin(2 * np.pi * t[:, None] / periods + phases) + random.normal(0.0, 1e-4, (len(t), STORIES))
    motion = np.cumsum(drifts, axis=1)
    absolute = random.normal(0.0, 1.0, (len(t), STORIES))
    growing = np.outer(t, np.linspace(1e5, 4e5, 4))
    ground = random.normal(0.0, 1.0, (len(t), 1))
    data = np.hstack([ground, motion, drifts, drifts / HEIGHT, absolute, growing])
    energies = ("input", "kinetic", "damping", "devices")
    names = ("ground", *(f"{kind}.{k}" for kind in ("u", "drift", "drift_ratio", "a_abs") for k in floors))
    units = ("m/s2", *(unit for unit in ("m", "m", "", "m/s2") for _ in floors))
    return Recording(
        t,
        data,
        (*names, *(f"energy.{key}" for key in energies)),
        (*units, *("J" for _ in energies)),
        {"building": {"floors": floors, "heights": [HEIGHT] * STORIES}},
    )


@pytest.mark.parametrize("count", [1, 2])
def test_the_page_of_a_tower_stays_small(tmp_path, count):
    recordings = {f"run {k}": tower(k) for k in range(count)}
    page = write_report(tmp_path / "page.html", recordings, title="A tower")
    assert page.stat().st_size < LARGEST
