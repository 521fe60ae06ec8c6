"""The error of a channel against another, by hand."""

import numpy as np
from problems.repeated import FRAME

from hyloop.ensembles.measures import measured_channels, parse_measure, units_of
from hyloop.ensembles.work import measured
from hyloop.files.load import load_experiment
from hyloop.study.build import build

ROUND_OFF = 1e-12  # relative: two orders of summation


def test_error_is_the_root_mean_square_over_the_range_of_the_second(tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(FRAME, "utf-8")
    built = build(load_experiment(path))
    measures = (
        parse_measure("late", "error damper1.actuator.d damper1.d"),
        parse_measure("turned", "error damper1.d damper1.actuator.d"),
        parse_measure("drift", "error drift.1 u.1"),
    )
    assert measured_channels(built, measures) == (["damper1.actuator.d", "damper1.d", "u.1"], True)
    assert units_of(built, measures) == {"late": "-", "turned": "-", "drift": "-"}
    found = measured(built, measures)
    run = built.loop.run(built.excitation, record=["damper1.actuator.d", "damper1.d"])
    x, y = run["damper1.actuator.d"], run["damper1.d"]
    size = np.sqrt(np.mean((x - y) ** 2))
    assert abs(found["late"] / (size / np.ptp(y)) - 1.0) < ROUND_OFF
    assert abs(found["turned"] / (size / np.ptp(x)) - 1.0) < ROUND_OFF
    assert found["drift"] < ROUND_OFF  # the first story's drift is its displacement
