"""Moment and curvature of named sections: channels of the run, and on its page."""

from pathlib import Path

import numpy as np
import pytest

from hyloop.errors import BadInput, RunFailed
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.report.run_page import write_report
from hyloop.structure.frames.section_history import section_history
from hyloop.study.build import build
from hyloop.study.run import run_experiment, run_in_memory

FILE = Path(__file__).parents[2] / "experiments" / "rc_frame.toml"
FOOT = 'recording.sections={ foot = { member = "%s" } }'
SHORT = ("excitation={ kind = 'harmonic', amplitude = '4 m/s2', frequency = '2 Hz', duration = '1 s' }",)


@pytest.fixture(scope="module")
def member():
    groups = build(load_experiment(FILE, SHORT)).loop.structure.elements
    return next(beam.name for group in groups for beam in getattr(group, "members", ()) if hasattr(beam, "name"))


def test_they_are_those_of_the_displacements_and_the_same_in_memory_and_on_disk(member, tmp_path):
    words = [*SHORT, FOOT % member]
    everything = run_in_memory(load_experiment(FILE, [*words, 'recording.channels=["u.*"]']))
    frame = build(load_experiment(FILE, words)).loop.structure
    u = np.column_stack([everything[f"u.{name}"] for name in frame.names])
    wanted = section_history(frame, u, member, 0)
    np.testing.assert_array_equal(everything["foot.curvature"], wanted.deformation[:, 1])
    np.testing.assert_array_equal(everything["foot.moment"], wanted.force[:, 1])
    assert np.ptp(everything["foot.moment"]) > 1e3  # it was shaken
    few = run_experiment(load_experiment(FILE, [*words, 'recording.channels=["ground"]']), tmp_path / "few.h5")
    np.testing.assert_array_equal(few["foot.moment"], everything["foot.moment"])
    assert not any(name.startswith("u.") for name in few.names)  # needed, and not recorded
    page = write_report(tmp_path / "few.html", {"few": few}, title="few").read_text("utf-8")
    assert "Moment and curvature" in page and member in page


def test_a_member_that_is_not_there_is_refused(member):
    with pytest.raises(BadInput, match=r"recording\.sections\.foot: .*unknown member 'nothing'"):
        run_in_memory(load_experiment(FILE, [*SHORT, FOOT % "nothing"]))


def test_a_run_that_fails_keeps_what_sections_felt_until_then(member, tmp_path):
    words = [*SHORT, FOOT % member, 'limits.max_d="1 mm"', 'recording.channels=["ground"]']
    with pytest.raises(RunFailed):
        run_experiment(load_experiment(FILE, words), tmp_path / "failed.h5")
    failed = Recording.load(tmp_path / "failed.h5")
    assert failed.fault and 1 < len(failed) < 1024 and np.isfinite(failed["foot.moment"]).all()
