"""Limits in files: story drifts as lengths or parts of the height, displacement and energy."""

from pathlib import Path

import numpy as np
import pytest

from hyloop.errors import BadInput, RunFailed
from hyloop.files.load import load_experiment
from hyloop.study.build import build

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
FRAME = EXPERIMENTS / "friction_frame.toml"  # six stories of 3.2 m
RC = EXPERIMENTS / "rc_frame.toml"
QUICK = "excitation.duration=6 s"


def drifts_of(built):
    return {name: drift.limit for name, drift in built.loop.limits.drifts.items()}


def test_a_part_of_the_height_and_a_length_are_the_same_limit():
    relative = build(load_experiment(FRAME, [QUICK, "limits.max_drift=0.5 %"]))
    absolute = build(load_experiment(FRAME, [QUICK, "limits.max_drift=16 mm"]))
    assert drifts_of(relative) == pytest.approx({f"story {k}": 0.016 for k in range(1, 7)})
    assert drifts_of(absolute) == pytest.approx(drifts_of(relative))


def test_a_frame_has_its_story_heights_from_its_nodes():
    built = build(load_experiment(RC, ["limits.max_drift=2 %"]))
    model = built.experiment.structure.model()
    levels = sorted({round(float(place[1]), 9) for place in model.nodes.values()})
    assert list(drifts_of(built).values()) == pytest.approx(0.02 * np.diff(levels))


def test_the_run_stops_at_the_first_step_beyond_it():
    limit = 4e-3
    free = build(load_experiment(FRAME, [QUICK, "recording.every=step"])).run()
    u = np.column_stack([np.zeros(len(free))] + [free[f"u.{k}"] for k in range(1, 7)])
    beyond = np.abs(np.diff(u, axis=1)) > limit
    first = int(np.argmax(beyond.any(axis=1)))
    with pytest.raises(RunFailed, match=r"the drift of story \d passed its limit of 0.004 m") as caught:
        build(load_experiment(FRAME, [QUICK, "recording.every=step", "limits.max_drift=4 mm"])).run()
    assert 0 < first == caught.value.step


@pytest.mark.parametrize("given", ["0.02", "2", "-1 %", "0 mm", "3 kN", "tall"])
def test_a_drift_needs_a_unit_and_a_sign(given):
    with pytest.raises(BadInput, match="max_drift"):
        load_experiment(FRAME, [f"limits.max_drift={given}"])


def test_a_part_of_no_height_is_refused(tmp_path):
    text = FRAME.read_text(encoding="utf-8").replace('gravity = "392 kN"', "#").replace('heights = "3.2 m"', "#")
    path = tmp_path / "flat.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=r"limits.max_drift: .*needs heights.*give a length"):
        build(load_experiment(path, ["limits.max_drift=2 %"]))
    assert len(drifts_of(build(load_experiment(path, ["limits.max_drift=60 mm"])))) == 6


def test_bounds_of_displacement_and_energy_reach_the_loop():
    limits = build(load_experiment(FRAME, [QUICK, "limits.max_u=50 cm", "limits.max_energy=9"])).loop.limits
    assert (limits.max_u, limits.max_energy) == (0.5, 9.0)
    plain = build(load_experiment(FRAME, [QUICK])).loop.limits
    assert (plain.max_u, plain.max_energy, dict(plain.drifts)) == (10.0, 4.0, {})
