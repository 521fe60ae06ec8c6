"""Members, supports and sections that a file names: channels of the run, and on its page."""

from pathlib import Path

import numpy as np
import pytest

from hyloop.errors import BadInput, RunFailed
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.report.run_page import write_report
from hyloop.structure import section_response
from hyloop.study.build import build
from hyloop.study.run import run_experiment, run_in_memory

FILE = Path(__file__).parents[2] / "experiments" / "rc_frame.toml"
FOOT = 'recording.sections={ foot = { member = "%s" } }'
SHORT = ("excitation={ kind = 'harmonic', amplitude = '4 m/s2', frequency = '2 Hz', duration = '1 s' }",)


@pytest.fixture(scope="module")
def member():
    groups = build(load_experiment(FILE, SHORT)).loop.structure.elements
    return next(beam.name for group in groups for beam in getattr(group, "members", ()) if hasattr(beam, "name"))


def _replayed(frame, u, member):
    """The section at end i of a member, taken through displacements again, from the state in which a run begins."""
    group = next(group for group in frame.elements if hasattr(group, "dimensions"))
    number = [beam.name for beam in group.members].index(member)
    x, rows = group.initial.copy(), []
    for row in u:
        group.forces(row, np.zeros_like(row), 1.0, x)
        felt = section_response(group, x, number, 0)
        rows.append([*felt.deformation, *felt.force])
    return np.array(rows).T


def test_sections_are_those_of_the_displacements_and_the_same_in_memory_and_on_disk(member, tmp_path):
    words = [*SHORT, FOOT % member]
    everything = run_in_memory(load_experiment(FILE, [*words, 'recording.channels=["u.*"]']))
    frame = build(load_experiment(FILE, words)).loop.structure
    u = np.column_stack([everything[f"u.{name}"] for name in frame.names])
    for key, wanted in zip(("strain", "curvature", "N", "moment"), _replayed(frame, u, member), strict=True):
        np.testing.assert_array_equal(everything[f"foot.{key}"], wanted)
    assert np.ptp(everything["foot.moment"]) > 1e3  # it was shaken
    few = run_experiment(load_experiment(FILE, [*words, 'recording.channels=["ground"]']), tmp_path / "few.h5")
    np.testing.assert_array_equal(few["foot.moment"], everything["foot.moment"])
    assert not any(name.startswith("u.") for name in few.names)
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


SPACE = """
include = []
[structure]
kind = "frame"
file = "MODEL"
ground = "ux"
damping = { kind = "modal_and_stiffness", ratio = "3 %", count = 6 }
[integrator]
method = "mkr_alpha"
dt = "1/256 s"
[excitation]
kind = "harmonic"
amplitude = "8 m/s2"
frequency = "1.5 Hz"
duration = "1.5 s"
[recording]
channels = ["ground", "u.floor3.ux"]
members = ["braces_x A*", "columns AS0-AS1.M*"]
reactions = ["AS0", "BS0.ux"]
"""


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    path = tmp_path_factory.mktemp("space") / "space.toml"
    model = Path(__file__).parents[2] / "experiments" / "models" / "braced_building.toml"
    path.write_text(SPACE.replace("include = []\n", "").replace("MODEL", model.as_posix()), "utf-8")
    return path


def test_braces_and_supports_of_a_frame_in_space_are_recorded_and_drawn(space, tmp_path):
    result = run_experiment(load_experiment(space), tmp_path / "space.h5")
    braces = [name for name in result.names if name.endswith(".force")]
    assert len(braces) == 6 and all(name.startswith("braces_x A") for name in braces)
    columns = {name for name in result.names if name.startswith("columns")}
    assert columns == {f"columns AS0-AS1.{key}" for key in ("Mz_i", "Mz_j", "My_i", "My_j")}
    assert {name for name in result.names if name.startswith("reaction.")} == {
        "reaction.AS0.ux",
        "reaction.AS0.uy",
        "reaction.AS0.uz",
        "reaction.BS0.ux",
    }
    assert {"base_shear", "support_shear.x", "support_shear.z"} <= set(result.names)  # of inertia, of members
    assert max(np.abs(result[f"{name[:-6]}.ductility"]).max() for name in braces) > 1.0
    page = write_report(tmp_path / "space.html", {"space": result}, title="space").read_text("utf-8")
    assert "Force over deformation of braces" in page and "braces_x AS0-BS1" in page and "reaction.AS0.ux" in page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('recording.members=["brace AS0-BS1"]', r"recording\.members: unknown member 'brace AS0-BS1'\. Did"),
        ('recording.members=["braces_x AS0-BS1.forc"]', r"recording\.members: .*Did you mean 'braces_x AS0-BS1\.forc"),
        ('recording.reactions=["AS1"]', r"recording\.reactions: unknown support 'AS1'"),
        ('recording.reactions="AS0"', r"recording\.reactions: "),
        ("recording.reactions=3", r"recording\.reactions: "),
        ("recording.members=true", r"recording\.members: "),
        ('recording.sections={ s = { member = "columns AS0-AS1" } }', r"recording\.sections\.s: .* no fibre sections"),
        ('recording.member=["x"]', r"recording\.member: unknown key 'member'\. Did you mean 'members'"),
    ],
)
def test_bad_input_names_the_key(space, change, message):
    with pytest.raises(BadInput, match=message):
        build(load_experiment(space, [change]))


def test_a_structure_without_members_has_none_to_watch():
    path = Path(__file__).parents[2] / "experiments" / "friction_frame.toml"
    with pytest.raises(BadInput, match=r"recording\.reactions: this structure has no members"):
        build(load_experiment(path, ["recording.reactions=true"]))


def test_all_reactions_with_devices_on_the_ground():
    words = [*SHORT, "recording.reactions=true", 'recording.channels=["ground", "*.f"]']
    result = run_in_memory(load_experiment(FILE, words))
    own = [name for name in result.names if name.startswith("reaction.") and name.endswith(".ux")]
    assert any(".damper" in name for name in own)
    total = np.sum([result[name] for name in own], axis=0)
    np.testing.assert_allclose(
        total, -result["support_shear.x"], rtol=0, atol=1e-9 * np.abs(result["support_shear.x"]).max()
    )
