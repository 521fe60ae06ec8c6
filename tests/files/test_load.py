"""Experiment files: what is read, what is merged, and what every refusal says."""

import json
from pathlib import Path

import numpy as np
import pytest

from hyloop.errors import BadInput, UnknownName
from hyloop.files.controllers import CONTROLLERS
from hyloop.files.frames.members import MEMBERS
from hyloop.files.frames.sections import MATERIALS, SECTIONS
from hyloop.files.laws import LAWS
from hyloop.files.load import json_schema, load_experiment
from hyloop.files.loads import LOADS
from hyloop.files.schema import METHODS
from hyloop.study.build import build

EXPERIMENTS = Path(__file__).parents[2] / "experiments"

FRAME = """
title = "test"
seed = 3

[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = ["40 kN/mm", 3e7]
damping = { ratio = "5 %" }

[integrator]
method = "mkr_alpha"
dt = "1/256 s"

[excitation]
kind = "harmonic"
amplitude = "0.2 g"
frequency = "2 Hz"
duration = "1 s"

[sites.damper1]
story = 1
device = { law = "lugre", Fc_pos = "23 kN", initial = { z = "1 mm" } }
"""


@pytest.fixture
def write(tmp_path):
    def write(text, name="test.toml"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_values_are_in_si_units(write):
    experiment = load_experiment(write(FRAME))
    assert experiment.structure.masses == 40e3
    assert experiment.structure.stiffnesses == (40e6, 30e6)
    assert experiment.integrator.dt == 1 / 256
    assert experiment.sites["damper1"].device.params == {"Fc_pos": 23e3}
    assert experiment.sites["damper1"].device.initial == {"z": 1e-3}
    assert experiment.recording.file == "out/test.h5"
    with pytest.raises(ValueError, match="frozen"):
        experiment.seed = 4


def test_includes_are_relative_and_later_values_win(tmp_path, write):
    (tmp_path / "parts").mkdir()
    write(FRAME, "parts/base.toml")
    write('include = ["base.toml"]\n[integrator]\ndt = "1/128 s"\nsubsteps = 2', "parts/middle.toml")
    path = write('include = ["parts/middle.toml"]\n[integrator]\nsubsteps = 4\n[sites.damper1]\nstory = 2')
    experiment = load_experiment(path)
    assert (experiment.integrator.dt, experiment.integrator.substeps) == (1 / 128, 4)
    assert experiment.integrator.method == "mkr_alpha"
    assert (experiment.sites["damper1"].story, experiment.sites["damper1"].device.law) == (2, "lugre")


def test_record_file_is_relative_to_the_file_that_names_it(tmp_path, write):
    (tmp_path / "parts").mkdir()
    write('[excitation]\nkind = "record"\nfile = "motion.AT2"', "parts/base.toml")
    rest = FRAME[: FRAME.index("[excitation]")] + FRAME[FRAME.index("[sites") :]
    experiment = load_experiment(write('include = ["parts/base.toml"]\n' + rest))
    assert Path(experiment.excitation.file) == tmp_path / "parts" / "motion.AT2"


def test_another_law_replaces_the_whole_device(write):
    """Nothing of the old law may stay: its parameters are unknown to the new one."""
    write(FRAME, "base.toml")
    other = write('include = ["base.toml"]\n[sites.damper1.device]\nlaw = "spring"\nk = "3 kN/mm"\n', "other.toml")
    device = load_experiment(other).sites["damper1"].device
    assert device.law == "spring" and device.params == {"k": 3e6}


def test_circular_include_is_refused(write):
    write('include = ["b.toml"]', "a.toml")
    write('include = ["a.toml"]', "b.toml")
    with pytest.raises(BadInput, match=r"circle, a\.toml > b\.toml > a\.toml"):
        load_experiment(write('include = ["a.toml"]', "c.toml").parent / "a.toml")


def test_like_takes_over_a_site(write):
    more = '[sites.damper2]\nlike = "damper1"\nbetween = ["2", "1"]\ndevice = { Fc_neg = "19 kN" }'
    experiment = load_experiment(write(FRAME + more), ["sites.damper1.device.Fc_pos=20kN"])
    second = experiment.sites["damper2"]
    assert (second.story, second.between) == (None, ("2", "1"))
    assert second.device.params == {"Fc_pos": 20e3, "Fc_neg": 19e3}
    assert experiment.sites["damper1"].device.params == {"Fc_pos": 20e3}


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("integrator.dt=1/512 s", lambda e: e.integrator.dt == 1 / 512),
        ("integrator.dt = 0.002", lambda e: e.integrator.dt == 0.002),
        ("integrator.method=cr", lambda e: e.integrator.method == "cr"),
        ('title="quoted = text"', lambda e: e.title == "quoted = text"),
        ("recording.every=tick", lambda e: e.recording.every == "tick"),
        ('recording.channels=["u.*"]', lambda e: e.recording.channels == ("u.*",)),
        ("sites.damper1.physical=true", lambda e: e.sites["damper1"].physical),
        ("structure.damping.ratio=2 %", lambda e: e.structure.damping.ratio == 0.02),
    ],
)
def test_override(write, override, value):
    path = write(FRAME)
    assert not value(load_experiment(path))
    assert value(load_experiment(path, [override]))


@pytest.mark.parametrize("word", ["1", "180", "1e3", "true", "1979-10-15"])
def test_a_word_is_a_text_where_a_text_is_wanted(word, write):
    path = write(FRAME)
    assert load_experiment(path, [f"title={word}"]).title == word
    record = 'excitation={ kind = "record", name = "ELC" }'
    assert load_experiment(path, [record, f"excitation.component={word}"]).excitation.component == word
    assert load_experiment(path, [f"title={word}", "title=7"]).title == "7"  # the last one wins


def test_a_component_may_be_a_number(write):
    start = FRAME.index("[excitation]")
    end = FRAME.index("[", start + 1)
    path = write(FRAME[:start] + '[excitation]\nkind = "record"\nname = "ELC"\ncomponent = 180\n' + FRAME[end:])
    assert load_experiment(path).excitation.component == "180"


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("sites.dampr1.device.Fc_pos=20kN", ["'dampr1'", "Did you mean 'damper1'?"]),
        ("integratr.dt=1", ["'integratr'", "Did you mean 'integrator'?"]),
        ("sites.damper1.device.Fc_po=20kN", ["sites.damper1.device.Fc_po", "Did you mean 'Fc_pos'?"]),
        ("integrator.dt.x=1", ["integrator.dt is not a table"]),
        ("integrator.dt", ["key.path=value"]),
        ("=3", ["key.path=value"]),
    ],
)
def test_bad_override(write, override, words):
    with pytest.raises(BadInput) as caught:
        load_experiment(write(FRAME), [override])
    for word in words:
        assert word in str(caught.value)


def _changed(old, new):
    assert old in FRAME
    return FRAME.replace(old, new)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (_changed('"lugre"', '"lugree"'), ["sites.damper1.device.law: ", "'lugree'", "Did you mean 'lugre'?"]),
        (_changed("Fc_pos", "Fc_p"), ["sites.damper1.device.Fc_p: ", "Did you mean 'Fc_pos'?", "sigma0"]),
        (_changed('"23 kN"', '"23 kg"'), ["sites.damper1.device.Fc_pos: ", "'23 kg'", "in N"]),
        (_changed('"23 kN"', "-5"), ["sites.damper1.device.Fc_pos: ", "bounds"]),
        (_changed("{ z =", "{ zz ="), ["sites.damper1.device.initial.zz: ", "Did you mean 'z'?"]),
        (_changed('law = "lugre", ', ""), ["sites.damper1.device.law: is missing"]),
        (_changed("story = 1", ""), ["sites.damper1.story: ", "exactly one"]),
        (_changed("story = 1", "story = 1\nalong = [1, 0]"), ["sites.damper1.along: got story and along"]),
        (_changed("story = 1", 'story = "first"'), ["sites.damper1.story: got 'first', wanted a whole number"]),
        (_changed("story = 1", "story = true"), ["sites.damper1.story: got True, wanted a whole number"]),
        (_changed("story = 1", "storey = 1"), ["sites.damper1.storey: ", "Did you mean 'story'?"]),
        (_changed("story = 1", "story = 1\ncount = 0"), ["sites.damper1.count: ", "above 0"]),
        (_changed("sites.damper1", "sites.'damper 1'"), ["sites: name 'damper 1'"]),
        (_changed("mkr_alpha", "mkr"), ["integrator.method: ", "Did you mean 'mkr_alpha'?"]),
        (_changed('"mkr_alpha"', '"cr"\nrho_inf = 0.5'), ["integrator.rho_inf: ", "option of cr"]),
        (_changed('"mkr_alpha"', '"mkr_alpha"\nrho_inf = 2'), ["integrator.rho_inf: ", "at most 1"]),
        (_changed('"mkr_alpha"', '"mkr_alpha"\nform = "recats"'), ["integrator.form: ", "'recast'"]),
        (_changed('"mkr_alpha"', '"newmark"\nbeta = 0.1'), ["integrator.beta: ", "2 beta"]),
        (_changed('"1/256 s"', '"256 Hz"'), ["integrator.dt: ", "'256 Hz'", "in s"]),
        (_changed("stories = 2", "stories = 3"), ["structure.stiffnesses: got 2 values for 3 stories"]),
        (_changed("stories = 2", "stories = 2.5"), ["structure.stories: got 2.5, wanted a whole number"]),
        (_changed("stories = 2", "stories = 1000000000"), ["structure.stories: got 1000000000"]),
        (_changed('"40 t"', '["40 t", "4 m"]'), ["structure.masses: entry [1]: got '4 m'"]),
        (_changed('"40 t"', "-1.0"), ["structure.masses: got -1.0, allowed are values of at least 0 kg"]),
        (_changed('"40 t"', "nan"), ["structure.masses: got nan", "finite"]),
        (_changed('"40 t"', '"40 t"\ngravity = "4 kN"'), ["structure.heights: is missing"]),
        (_changed("shear_frame", "shear_fram"), ["structure.kind: got 'shear_fram'", "did you mean 'shear_frame'?"]),
        (_changed('kind = "harmonic"', ""), ["excitation.kind: is missing", "'record'", "'sweep'"]),
        (_changed('"2 Hz"', '["2 Hz"]'), ["excitation.frequency: ", "a list"]),
        (_changed("seed = 3", "seed = -3"), ["seed: got -3"]),
        (_changed("seed = 3", "sed = 3"), ["sed: unknown key 'sed'. Did you mean 'seed'?"]),
        (_changed("{ ratio", '{ kind = "raleigh", ratio'), ["structure.damping.kind: ", "did you mean 'rayleigh'?"]),
        (_changed("{ ratio", "{ modes = [1, 1], ratio"), ["structure.damping.modes: got [1, 1]"]),
        (_changed("[excitation]", "[excitatio]"), ["excitatio: unknown key 'excitatio'. Did you mean 'excitation'?"]),
        (_changed("seed = 3", "seed = 3\nsites = 4"), ["not valid TOML"]),
        (_changed('"test"', "test"), ["not valid TOML", "line 2", "quotes"]),
        (FRAME + '\n[sites.b]\nlike = "damper2"', ["sites.b.like: ", "'damper2'", "Did you mean 'damper1'?"]),
        (FRAME + '\n[sites.b]\nlike = "b"', ["sites.b.like: ", "circle"]),
        (FRAME + "\n[sites.b]\nlike = 1", ["sites.b.like: got 1"]),
        (FRAME + "\n[recording]\nevery = 'steps'", ["recording.every: got 'steps', did you mean 'step'?"]),
        (FRAME + '\n[sites.damper1.transfer]\nactuatr = { law = "spring" }', ["actuatr", "did you mean 'actuator'?"]),
        (FRAME + '\n[blocks.b]\nblock = { law = "spring", k = "1 m" }', ["blocks.b.block.k: got '1 m'"]),
        ('include = "base.toml"\n' + FRAME, ["include: got 'base.toml', wanted a list"]),
        ('include = ["a\\u0000b"]\n' + FRAME, ["included by test.toml", "cannot be read"]),
        ('include = ["base.toml"]\n' + FRAME, ["base.toml: the file, included by test.toml, cannot be read"]),
        (_changed('law = "lugre"', 'law = "lugre", draw = true'), ["sites.damper1.device.draw: ", "brfd_gap_slip"]),
    ],
)
def test_refused(write, text, words):
    path = write(text)
    with pytest.raises(BadInput) as caught:
        load_experiment(path)
    for word in words:
        assert word in str(caught.value)
    assert str(path.parent) in str(caught.value)


def test_several_problems_are_told_at_once(write):
    text = _changed('"40 t"', '"40 s"').replace('"2 Hz"', '"2 s"').replace('"23 kN"', '"23 s"')
    with pytest.raises(BadInput) as caught:
        load_experiment(write(text))
    lines = str(caught.value).splitlines()
    assert len(lines) == 3
    assert all(key in line for key, line in zip(["masses", "frequency", "Fc_pos"], lines, strict=True))


def test_missing_file_and_binary_file(tmp_path):
    with pytest.raises(BadInput, match=r"nothing\.toml: the file cannot be read"):
        load_experiment(tmp_path / "nothing.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match="UTF-8"):
        load_experiment(tmp_path / "binary.toml")


def test_unknown_name_keeps_its_class(write):
    with pytest.raises(UnknownName, match=r"sites\.damper2\.like"):
        load_experiment(write(FRAME + '\n[sites.damper2]\nlike = "nothing"'))


def test_matrices_are_checked(write):
    def matrices(more):
        text = f'[structure]\nkind = "matrices"\nM = [1.0, 2.0]\nK = [[2.0, -1.0], [-1.0, 1.0]]\n{more}\n'
        return write(text + FRAME[FRAME.index("[integrator]") :])

    assert load_experiment(matrices("")).structure.M == (1.0, 2.0)
    assert load_experiment(matrices('floors = ["2"]')).structure.floors == ("2",)
    for more, words in [
        ("C = [[1.0]]", "structure.C: must be 2 rows of 2"),
        ("influence = [1.0]", "structure.influence: must be a list of 2"),
        ('names = ["roof"]', "structure.names: must be a list of 2"),
        ('floors = ["roof"]', "structure.floors: unknown degree of freedom 'roof'"),
        ('floors = ["1", "1"]', "structure.floors: name each floor once"),
        ("C = [[1.0, 0.0], [0.0, 1.0]]\ndamping = { ratio = 0.05 }", "structure.damping: "),
    ]:
        with pytest.raises(BadInput) as caught:
            load_experiment(matrices(more))
        assert words in str(caught.value)


def test_json_schema_names_every_table():
    schema = json.loads(json_schema())
    assert {"include", "structure", "sites", "integrator", "excitation", "recording"} <= set(schema["properties"])
    assert set(schema["required"]) == {"structure", "integrator"}
    assert {"required": ["excitation"]} in schema["anyOf"], "or others, or loads"
    assert "like" in schema["$defs"]["SiteSpec"]["properties"]
    assert "bouc_wen" in schema["$defs"]["DeviceSpec"]["properties"]["law"]["enum"]
    kinds = {
        name: table["properties"]["kind"]["const"]
        for name, table in schema["$defs"].items()
        if "const" in table["properties"].get("kind", {})
    }
    tables = {"harmonic", "matrices", "noise", "record", "shear_frame", "slurm", "sweep", "synthetic"}
    frames = {"frame", "plane_frame", "tower", "opensees", *MATERIALS, *SECTIONS, *MEMBERS}
    assert set(kinds.values()) == tables | frames | set(CONTROLLERS) | set(LOADS)


def test_laws_and_methods_are_found_by_name():
    assert {"spring", "lugre", "brfd_gap_slip"} <= set(LAWS)
    assert "draw_brfd" not in LAWS
    assert {"cr", "newmark", "mkr_alpha"} <= set(METHODS)
    assert "Method" not in METHODS


COPIED = [
    "bidirectional",
    "design_eight_story",
    "fluid_damper",
    "following_dampers",
    "friction_frame",
    "guarded_frame",
    "live_six_story",
    "rc_frame",
    "servo_hydraulic",
    "six_story_brb",
    "sweep_dampers",
    "tune_compensator",
]


@pytest.mark.slow
@pytest.mark.parametrize("name", COPIED)
def test_experiments_to_copy_run(name):
    # the learned one needs a network first (tests/study/test_learned_device.py), the portal OpenSees (test_opensees.py)
    elsewhere = {"learned_damper", "ocp_nn_two_story", "opensees_portal", "planned_test", "semi_active"}  # see also
    # test_listening_frame, test_rehearse, test_controllers
    assert {path.stem for path in EXPERIMENTS.glob("*.toml")} == {*COPIED, *elsewhere}
    experiment = load_experiment(EXPERIMENTS / f"{name}.toml")
    assert experiment.title
    result = build(experiment).run(steps=200)
    moved = [np.ptp(result[channel]) for channel in result.names if channel.endswith(".d")]
    assert len(moved) >= 2 and min(moved) > 0.0  # every device has felt the ground
