"""A law that was identified, saved, and put into an experiment: the device there is the one that was found."""

import json
import re
import shutil
import tomllib
from dataclasses import replace

import numpy as np
import pytest

from hyloop.devices import bilinear, bouc_wen, dashpot
from hyloop.errors import BadInput
from hyloop.files.law_file import check_law_file, device_line, read_law, save_law
from hyloop.files.load import json_schema, load_experiment
from hyloop.files.measurements import Channels, read_measured
from hyloop.identification import MeasuredTest, fit
from hyloop.study.build import build
from hyloop.study.run import run_file, run_in_memory

DT, N, NOISE = 0.01, 400, 100.0
WRITTEN = 1e-9  # relative: the digits of the file
RANGE = 1e-3  # relative: ranges are written with four digits
EXPERIMENT = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "40 kN/mm"
damping = { kind = "rayleigh", ratio = 0.02 }
[sites.damper1]
story = 1
device = { file = "law.toml" }
[integrator]
method = "cr"
dt = "1/256 s"
[excitation]
kind = "harmonic"
amplitude = "0.1 g"
frequency = "2 Hz"
duration = "2 s"
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A fit to a file whose deformation has the other sign, and the folder of both."""
    folder = tmp_path_factory.mktemp("law")
    t = DT * np.arange(N)
    d = 8e-3 * np.sin(5 * t) * np.linspace(0.2, 1.0, N)
    f = bouc_wen(k=2e7, d_y=2e-3).drive(DT, d=d)["f"] + NOISE * np.random.default_rng(0).normal(size=N)
    table = np.column_stack([t, -1e3 * d, 1e-3 * f])
    np.savetxt(folder / "a.csv", table, delimiter=";", header="t;Weg [mm];Kraft [kN]", comments="", fmt="%.9f")
    measured = read_measured(str(folder / "a.csv"), Channels(d="Weg", f="Kraft", factors={"d": -1.0}))
    test, _ = measured[0].test(bouc_wen)
    fitted = fit(bouc_wen(k=1.5e7, d_y=3e-3), [test], {"k": (1e6, 1e9), "d_y": (1e-4, 1e-2)}, starts=1)
    return folder, fitted, measured


@pytest.fixture
def folder(found, tmp_path):
    """The experiment beside the saved law."""
    save_law(tmp_path / "law.toml", "bouc_wen", found[1], found[2])
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    return tmp_path


def test_what_is_written_is_what_was_found(found, folder):
    _, fitted, _ = found
    law = read_law(str(folder / "law.toml"))
    assert law.name == "bouc_wen" and law.params == pytest.approx(fitted.law.params, rel=WRITTEN)
    data = tomllib.loads((folder / "law.toml").read_text())
    assert data["identified"].keys() == {"k", "d_y"} and data["parameters"]["alpha"] == 0.05
    low, high = (float(text.removesuffix(" kN/mm")) for text in data["identified"]["k"]["interval"])
    assert low < 20.0 < high
    (test,) = data["tests"]
    assert test["factors"] == {"d": -1} and test["columns"] == {"d": "Weg [mm]", "f": "Kraft [kN]"}
    assert len(test["sha256"]) == 64 and "100 Hz" in test["sampling"] and test["error_over_range"] < 0.01


def test_the_device_of_a_site_is_the_one_of_the_file(found, folder, monkeypatch):
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")  # the file is found beside the experiment
    device = build(load_experiment(folder / "experiment.toml")).loop.sites[0].device
    assert device.params == pytest.approx(found[1].law.params, rel=WRITTEN)
    changed = load_experiment(folder / "experiment.toml", ["sites.damper1.device.k=30 kN/mm"])
    device = build(changed).loop.sites[0].device
    assert device.params["k"] == 3e7 and device.params["d_y"] == pytest.approx(found[1].law.params["d_y"], rel=WRITTEN)
    other = load_experiment(folder / "experiment.toml", ['sites.damper1.device={ law = "bilinear" }'])
    assert build(other).loop.sites[0].device.block is bilinear


def test_a_site_that_is_like_another_may_have_another_file(found, folder):
    save_law(folder / "stiff.toml", "bilinear", _stiff(), found[2])
    text = EXPERIMENT.replace('device = { file = "law.toml" }', 'device = { file = "law.toml", alpha = 0.1 }')
    text += '[sites.damper2]\nlike = "damper1"\nstory = 2\ndevice = { file = "stiff.toml" }\n'
    (folder / "experiment.toml").write_text(text)
    first, second = (site.device for site in build(load_experiment(folder / "experiment.toml")).loop.sites)
    assert first.params["alpha"] == 0.1 and second.block is bilinear and second.params["alpha"] == 0.02


def _stiff():
    d = 5e-3 * np.sin(np.arange(N) * 0.05)
    test = MeasuredTest(DT, {"d": d}, bilinear(k=7e7, f_y=3e4).drive(DT, d=d)["f"])
    return fit(bilinear(k=6e7, f_y=3e4), [test], {"k": (1e6, 1e9)}, starts=1)


def test_followers_and_blocks_take_files_too(found, folder):
    model = """
[sites.damper1.model]
updater = "unscented"
device = { file = "law.toml" }
free = { k = ["5 kN/mm", "50 kN/mm"] }
noise = "1 kN"
[sites.damper2]
story = 2
follows = "damper1"
"""
    text = EXPERIMENT.replace("[sites.damper1]\n", "[sites.damper1]\nphysical = true\n").replace(
        "[integrator]", model + "[integrator]"
    )
    (folder / "experiment.toml").write_text(text)
    loop = build(load_experiment(folder / "experiment.toml")).loop
    assert loop.sites[1].device.params == pytest.approx(found[1].law.params, rel=WRITTEN)


def test_a_recording_remembers_where_its_law_came_from(folder, monkeypatch):
    monkeypatch.chdir(folder)
    recording = run_file(folder / "experiment.toml", (), folder / "run.h5")
    origin = recording.attributes["laws"]["sites.damper1"]
    assert origin["law"] == "bouc_wen" and origin["tests"][0]["name"] == "a" and len(origin["sha256"]) == 64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("identified law", "something"), "is no file of an identified law"),
        (lambda text: text.replace('"bouc_wen"', '"bouc_when"'), "law: unknown law 'bouc_when'. Did you mean"),
        (lambda text: text.replace('d_y = "', 'd_z = "', 1), "parameters.d_z: unknown parameter of bouc_wen"),
        (lambda text: text.replace(' kN/mm"\nalpha', ' kN"\nalpha', 1), "parameters.k: got"),
        (lambda text: text.replace("alpha = 0.05", "alpha = 3.05"), "parameters.alpha.*outside its bounds"),
        (lambda text: text.replace("law = ", "law ", 1), "not valid TOML"),
        (lambda text: "colour = 3\n" + text, "colour"),
        (lambda text: text.replace("[parameters]", "[params]"), "params"),
        (lambda text: text.replace("alpha = 0.05", ""), "law.toml: parameters: alpha of bouc_wen is missing"),
        (lambda text: text.replace("[fit]", "[fit]\nday = 2026-05-04"), "law.toml: fit.day: got 2026-05-04.*quotes"),
        (lambda text: text.replace("[fit]", "[fit]\nx = [1, nan]"), "law.toml: fit.x.2: got nan.*finite"),
        (lambda text: text.replace("[[tests]]", "[[tests]]\nx = inf"), "law.toml: tests.1.x: got inf"),
    ],
)
def test_nonsense_is_refused_with_its_key(folder, change, message):
    path = folder / "law.toml"
    path.write_text(change(path.read_text()))
    with pytest.raises(BadInput, match=message):
        read_law(str(path))
    with pytest.raises(BadInput, match=r"experiment\.toml: sites\.damper1\.device\.file: .*law\.toml"):
        load_experiment(folder / "experiment.toml")


def test_other_refusals(folder):
    path = folder / "experiment.toml"
    for device, message in (
        ('{ file = "none.toml" }', r"device\.file: .*none\.toml: .*cannot be read"),
        ('{ file = "law.toml", law = "bilinear" }', "file: a law is given too"),
        ("{ file = 3 }", "file: got 3"),
        ('{ file = "law.toml", kk = 3 }', "unknown parameter of bouc_wen 'kk'"),
        ('{ file = "law.toml", draw = true }', "draw: .*cannot be drawn"),
    ):
        path.write_text(EXPERIMENT.replace('{ file = "law.toml" }', device))
        with pytest.raises(BadInput, match=message):
            load_experiment(path)
    with pytest.raises(BadInput, match=r"--save law\.txt: a law is saved as \.toml"):
        check_law_file(folder.relative_to(folder) / "law.txt", False)
    with pytest.raises(BadInput, match=r"there already.*--force"):
        check_law_file(folder / "law.toml", False)
    check_law_file(folder / "law.toml", True)
    (folder / "taken.toml").mkdir()
    for name, message in (("taken.toml", "is a folder"), ("law.toml/x.toml", "cannot write")):
        with pytest.raises(BadInput, match=message):
            check_law_file(folder / name, True)


def test_names_that_are_no_text_are_saved_as_what_can_be_read(found, tmp_path):
    source = str(tmp_path / "a\udce4\x7f\n.csv")  # a file from another system: a byte that is no UTF-8
    shutil.copy(found[0] / "a.csv", source)
    measured = [replace(found[2][0], source=source, name="\x7f\udce4")]
    save_law(tmp_path / "law.toml", "bouc_wen", found[1], measured)
    (test,) = read_law(str(tmp_path / "law.toml")).tables["tests"]
    assert test["name"] == "\x7f\\udce4" and test["source"] == str(tmp_path / "a\\udce4\x7f\n.csv")
    assert len(test["sha256"]) == 64


def test_the_schema_and_the_line_know_it(found, folder):
    device = json.loads(json_schema())["$defs"]["DeviceSpec"]["properties"]
    assert "identified law" in json.dumps(device["file"])
    line = tomllib.loads(device_line("bouc_wen", found[1], None))["device"]
    assert line["law"] == "bouc_wen" and line["k"].endswith(" kN/mm") and set(line) == {"law", "k", "d_y"}
    assert tomllib.loads(device_line("bouc_wen", found[1], folder / "law.toml"))["device"]["file"].endswith("law.toml")


def test_a_run_beyond_the_tests_says_site_range_and_what_was_reached(found, folder):
    """The extremes of the file itself are the truth; a strong ground motion takes the device out of them."""
    measured = found[2]
    law = read_law(str(folder / "law.toml"))
    assert law.ranges.keys() == {"d", "f"}  # bouc_wen reads no velocity
    for key in ("d", "f"):
        signal = measured[0].signals[key]
        assert law.ranges[key] == pytest.approx((signal.min(), signal.max()), rel=RANGE)
    quiet = run_in_memory(load_experiment(folder / "experiment.toml", ["excitation.amplitude=0.01 g"]))
    assert np.abs(quiet["damper1.d"]).max() < 0.5 * law.ranges["d"][1]
    assert not [note for note in quiet.notes if "tests" in note]
    # the note needs channels that this run does not record
    words = ["excitation.amplitude=1 g", 'recording.channels=["u.1"]', "recording.derived=false"]
    loud = run_in_memory(load_experiment(folder / "experiment.toml", words[:1]))
    (note,) = [note for note in loud.notes if "tests" in note]
    least, most = (f"{1e3 * x:.3g} mm" for x in (loud["damper1.d"].min(), loud["damper1.d"].max()))
    assert note.startswith("damper1: ") and f"d ran from {least} to {most}" in note and "law.toml" in note
    low, high = (f"{1e3 * x:.3g} mm" for x in law.ranges["d"])
    assert f"in the tests from {low} to {high}" in note and "never measured" in note
    few = run_in_memory(load_experiment(folder / "experiment.toml", words))
    written = run_file(folder / "experiment.toml", tuple(words), folder / "run.h5")
    assert few.names == written.names == ("u.1",)
    assert note in few.notes and note in written.notes
    assert np.array_equal(few.data, written.data) and np.array_equal(few["u.1"], loud["u.1"])


def test_a_law_that_reads_the_velocity_keeps_its_range(found, folder):
    test, _ = found[2][0].test(dashpot)
    fitted = fit(dashpot(c=1e6), [test], {"c": (1e3, 1e9)}, starts=1)
    save_law(folder / "v.toml", "dashpot", fitted, found[2])
    v = np.gradient(found[2][0].signals["d"], DT)  # it was not recorded
    assert read_law(str(folder / "v.toml")).ranges["v"] == pytest.approx((v.min(), v.max()), rel=RANGE)


def test_ranges_may_be_missing_and_are_checked_where_they_are_there(folder):
    text = (folder / "law.toml").read_text()
    old = text[: text.index("[ranges]")] + text[text.index("[fit]") :]
    (folder / "law.toml").write_text(old)
    assert read_law(str(folder / "law.toml")).ranges == {}
    loud = run_in_memory(load_experiment(folder / "experiment.toml", ["excitation.amplitude=1 g"]))
    assert not [note for note in loud.notes if "tests" in note]
    for wrong, said in {
        'd = ["1 mm"]': "ranges.d: got 1 value(s)",
        'd = ["2 mm", "1 mm"]': "ranges.d: got 2 mm to 1 mm",
        'd = ["1 kN", "2 kN"]': "ranges.d",
        'x = ["1 mm", "2 mm"]': "ranges.x",
    }.items():
        (folder / "law.toml").write_text(f"{old}\n[ranges]\n{wrong}\n")
        with pytest.raises(BadInput, match=re.escape(said)):
            read_law(str(folder / "law.toml"))
