"""Which channels go where."""

import numpy as np
import pytest

from hyloop.live.charts import History, Loop
from hyloop.live.panels import panels_of
from hyloop.live.signals import Signals

UNITS = {
    "d": "m",
    "noise_d": "m",
    "v": "m/s",
    "f": "N",
    "u": "m",
    "ground": "m/s2",
    "Fc": "N",
    "trust": "-",
    "fallback": "-",
}


def signals_of(*names):
    def unit(name):
        last = name.rpartition(".")[2]
        return UNITS.get(
            last, "N" if last.startswith(("f_", "innov")) else "m" if name[:2] == "u." or "d_" in last else "-"
        )

    return Signals(names, [unit(name) for name in names])


def titles(panels):
    return {section.title: [chart.title for chart in section.charts] for section in panels.sections}


def names_of(signals, chart):
    if isinstance(chart, Loop):
        return [(line.name, signals.names[line.x], signals.names[line.y]) for line in chart.lines]
    return [(line.name, signals.names[line.signal]) for line in chart.lines]


def test_a_plain_frame_has_loops_histories_and_a_picture():
    signals = signals_of("ground", "u.1", "u.2", "v.1", "b1.d", "b1.f", "b2.d", "b2.f", "b2.sensor.noise_d")
    about = {
        "building": {"floors": ["1", "2"], "heights": [3.0, 3.5], "sites": {"b1": {"story": 1}, "b2": {"story": 2}}},
        "counts": {"b2": 1.0, "b1": 1.0},
        "parameters": ["b2.sensor.noise_d"],
    }
    panels = panels_of(signals, about)
    assert titles(panels) == {"Hysteresis": ["b1", "b2"]}  # in the order of the channels
    assert [signals.names[k] for k in panels.shown] == ["u.2", "u.1", "ground", "b1.f", "b2.f"]
    groups = {(group.title, group.unit): [signals.names[k] for k in group.signals] for group in panels.groups}
    assert groups["displacement", "mm"] == ["u.1", "u.2"]
    assert groups["force of devices", "kN"] == ["b1.f", "b2.f"]
    assert groups["b2, parameters", "mm"] == ["b2.sensor.noise_d"] and list(groups)[-1][0] == "b2, parameters"
    assert sorted(k for group in panels.groups for k in group.signals) == list(range(len(signals)))
    assert [(story, signals.names[k], height) for story, k, height in panels.drifts] == [
        (1, "u.1", 3.0),
        (2, "drift.2", 3.5),
    ]
    row = np.arange(len(signals.names) - 1.0)[None]
    assert signals.of(row)[0, signals["drift.2"]] == row[0, 2] - row[0, 1]
    assert signals.of(row, [signals["drift.2"], 4]).tolist() == [[1.0, 4.0]]


def test_the_picture_moves_as_its_floors_do():
    signals = signals_of("u.1", "u.2", "b1.d", "b1.f")
    about = {"building": {"floors": ["1", "2"], "heights": [], "sites": {"b1": {"story": 2}}}, "counts": {"b1": 1.0}}
    picture = panels_of(signals, about).picture
    said = picture.as_json(np.array([0.5, 0.1, 0.0, 0.0, 0.0]))
    assert said["rest"] == [0.5, 0.1] and sorted(map(tuple, (m[0] for m in said["motions"]))) == [(0, 1.0), (1, 1.0)]
    assert max(across for _, _, across, _ in said["nodes"]) == 1 and (2, 5, 0) in said["lines"]
    moved = picture.largest(np.zeros(5), np.array([-1.0, -3.0, 0, 0, 0]), np.array([2.0, 1.0, 0, 0, 0]))
    assert moved == 3.0


def test_without_displacements_the_picture_moves_with_the_drifts():
    signals = signals_of("drift.1", "drift.2")
    picture = panels_of(signals, {"building": {"floors": ["1", "2"]}}).picture
    assert [(1, 1.0) in motion for motion in picture.motions] == [False, True] and len(picture.motions[1]) == 2
    assert panels_of(signals_of("drift.2"), {"building": {"floors": ["1", "2"]}}).picture is None


def test_models_lie_on_the_measured_device_and_estimates_have_bounds():
    signals = signals_of(
        "a.d", "a.f", "a.d_m", "a.f_m", "b.d", "b.f", "b.Fc", "a.model.innovation", "a.model.force_scale"
    )
    about = {
        "counts": {"a": 4.0, "b": 4.0},
        "models": {"a": {"inputs": {"d": "a.d_m", "f": "a.f_m"}, "followers": ["b"]}},
        "estimates": {"b.Fc": [4000.0, 40000.0]},
        "parameters": ["b.Fc"],
    }
    panels = panels_of(signals, about)
    (head,) = panels.head
    assert names_of(signals, head) == [("measured", "a.d_m", "a.f_m"), ("model", "a.d_m", "a, model")]
    row = np.arange(9.0)[None]
    assert signals.of(row, [signals["a, model"]])[0, 0] == row[0, 3] - row[0, 7]
    estimate, scale, off = next(s for s in panels.sections if s.title == "Models that are updated").charts
    assert estimate.levels == pytest.approx([4.0, 40.0]) and estimate.unit == "kN"
    assert names_of(signals, scale) == [("force_scale", "a.model.force_scale")]
    assert names_of(signals, off) == [("innovation", "a.model.innovation")]


def test_trust_has_its_band_and_the_truth():
    signals = signals_of("n.d", "n.f", "n.f_low", "n.f_high", "n.trust", "n.fallback", "t.f")
    about = {"counts": {"n": 1.0}, "trust": {"n": {"coverage": 0.9, "limit": 0.25, "truth": "t.f"}}}
    panels = panels_of(signals, about)
    force, shares = next(s for s in panels.sections if s.title == "Trust").charts
    assert isinstance(force, History) and force.band == (2, 3) and "90 %" in force.title
    assert names_of(signals, force) == [("force", "n.f"), ("truth", "t.f")]
    assert names_of(signals, shares) == [("trust", "n.trust"), ("share of the fallback", "n.fallback")]
    assert shares.levels == [0.25] and panels.trust == {"n": 4}
    assert names_of(signals, panels.head[0]) == [("model", "n.d", "n.f"), ("truth", "n.d", "t.f")]


def test_tracking_compares_what_was_wanted_with_what_was_done():
    names = ["a.d", "a.f", "a.actuator.d", "a.sensor.d", "a.compensator.a0", "a.compensator.seed"]
    about = {
        "counts": {"a": 1.0},
        "transfer": {"a": {"achieved": "a.actuator.d", "measured": "a.sensor.d"}},
        "building": {"devices": {"a": {"d": "a.actuator.d", "f": "a.f"}}},
        "parameters": ["a.compensator.seed"],
    }
    signals = signals_of(*names)
    panels = panels_of(signals, about)
    assert names_of(signals, panels.head[0]) == [("a", "a.actuator.d", "a.f")]  # as the device has it
    path, both, error, adapted = next(s for s in panels.sections if s.title.startswith("Tracking")).charts
    assert path.ideal and names_of(signals, path) == [("achieved", "a.actuator.d", "a.d")]
    assert [name for name, _ in names_of(signals, both)] == ["wanted", "achieved", "measured"]
    row = np.arange(6.0)[None]
    assert signals.of(row, [error.lines[0].signal])[0, 0] == row[0, 0] - row[0, 2]
    assert names_of(signals, adapted) == [("a0", "a.compensator.a0")]


def test_interlocks_are_shown_where_there_are_some():
    names = ["a.d", "a.f", "a.interlock.trip", "a.interlock.settled", "a.interlock.indicator"]
    signals = signals_of(*names)
    panels = panels_of(signals, {"counts": {"a": 1.0}})
    assert titles(panels)["Interlock"] == ["a: trip", "a: stability indicator"] and panels.trips == {"a": 2}
    assert "Interlock" not in titles(panels_of(signals_of("a.d", "a.f"), {}))


def test_channels_alone_are_enough():
    panels = panels_of(signals_of("x", "y"), {})
    assert panels.shown == [0, 1] and panels.picture is None and not panels.sections and not panels.head
