"""The command line as a person uses it: real processes, real files, exit codes."""

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from oracles.pages import Page, assert_claims, extremes

from hyloop.record import Recording
from hyloop.study.claims import read_verdicts

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
EXPERIMENT = ROOT / "experiments" / "friction_frame.toml"
FRAME = ROOT / "experiments" / "models" / "rc_frame.toml"
TRAINING = ROOT / "experiments" / "training" / "banded_damper_lstm.toml"
SINGLE = 1e-6  # relative: numbers on a page have single precision
SHOWN = 5e-4  # relative: tables show four digits
SHORT = ("--set", "excitation.duration=3s")


def hyloop(*words, cwd, code=0):
    command = [sys.executable, "-c", "from hyloop.cli import main; main()", *map(str, words)]
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder in which the demonstration has been run."""
    path = tmp_path_factory.mktemp("cli")
    hyloop("run", EXPERIMENT, *SHORT, "--out", "run.h5", cwd=path)
    return path


def loops(recording):
    """Extremes of deformation in mm and force in kN of the dampers, as a page must draw them."""
    return {
        f"damper{k}": (1e3 * extremes(recording[f"damper{k}.d"]), 1e-3 * extremes(recording[f"damper{k}.f"]))
        for k in range(1, 7)
    }


def assert_loops(page, name, recording):
    lines = page.lines(page.chart("Force against"))
    for site, (d, f) in loops(recording).items():
        drawn = [extremes(values) for values in lines[site, name]]
        np.testing.assert_allclose(drawn, [d, f], rtol=SINGLE)


def test_run_writes_a_recording_and_a_page(folder):
    recording, page = Recording.load(folder / "run.h5"), Page(folder / "run.html")
    assert recording.time[-1] == pytest.approx(3.0) and len(recording) == 1 + 3 * 1024
    assert np.abs(recording["damper1.f"]).max() > 10e3
    assert_loops(page, "friction_frame", recording)
    assert len(page.lines(page.chart("Force against"))) == 6
    devices = page.rows("Devices")
    for site, (d, f) in loops(recording).items():
        assert [float(x) for x in devices[site][1:3]] == pytest.approx([abs(d).max(), abs(f).max()], rel=SHOWN)


def test_the_same_file_gives_the_same_bytes(folder):
    hyloop("run", EXPERIMENT, *SHORT, "--out", "again.h5", "--no-report", cwd=folder)
    with h5py.File(folder / "run.h5") as a, h5py.File(folder / "again.h5") as b:
        assert set(a) == set(b) == {"data", "time", "names", "units"}
        for name in a:
            one, two = a[name][()], b[name][()]
            same = one.tolist() == two.tolist() if one.dtype == object else one.tobytes() == two.tobytes()
            assert same, name


def test_an_override_reaches_the_device(folder):
    change = ("--set", "sites.damper2.device.Fc_pos=5kN", "--set", "sites.damper2.device.Fs_pos=5kN")
    out = hyloop("run", EXPERIMENT, *SHORT, *change, "--out", "weak.h5", "--no-report", "--json", cwd=folder)
    assert json.loads(out.stdout)["recording"] == "weak.h5"
    shown = json.loads(hyloop("show", "weak.h5", "--json", cwd=folder).stdout)
    largest = {c["name"]: c["max"] for c in shown["channels"]}
    assert largest["damper2.f"] < 7e3 and shown["complete"]


def test_show_and_export(folder):
    assert "damper1.f" in hyloop("show", "run.h5", cwd=folder).stdout
    hyloop("export", "run.h5", "run.csv", cwd=folder)
    with h5py.File(folder / "run.h5") as file:
        data, time = file["data"][()], file["time"][()]
    table = np.loadtxt(folder / "run.csv", delimiter=",", comments="#", skiprows=1)
    assert np.array_equal(table, np.column_stack([time, data]))  # every number reads back to the last bit


def test_report_of_two_recordings(folder):
    first = Recording.load(folder / "run.h5")
    factors = [1.0 if name == "ground" else 0.5 for name in first.names]
    replace(first, data=first.data * factors).save(folder / "half.h5")
    hyloop("report", "run.h5", "half.h5", "--out", "both.html", "--figures", "figures", cwd=folder)
    page = Page(folder / "both.html")
    assert len(page.lines(page.chart("Force against"))) == 12
    for name in ("run", "half"):
        assert_loops(page, name, Recording.load(folder / f"{name}.h5"))
    assert "50 % less" in page.text and "× 0.5" in page.text
    drawn = {path.name for path in (folder / "figures").iterdir()}
    assert drawn == {f"{what}.{kind}" for what in ("hysteresis", "histories") for kind in ("png", "pdf")}


def test_pages_are_named_after_recordings(folder):
    hyloop("report", "run.h5", cwd=folder)
    assert "Six-story frame" in Page(folder / "run.html").headings[0]
    (folder / "half").mkdir()
    shutil.copyfile(folder / "run.h5", folder / "half" / "run.h5")
    hyloop("report", "run.h5", "half/run.h5", cwd=folder)
    assert "bit for bit" in Page(folder / f"{folder.name}-run-vs-half-run.html").text
    assert "half/catalogue.html" in hyloop("report", "half", cwd=folder).stdout
    assert "one folder" in hyloop("report", "half", "run.h5", cwd=folder, code=2).stderr
    assert "given twice" in hyloop("report", "run.h5", "run.h5", cwd=folder, code=2).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("run", "nothing.toml"), "nothing.toml"),
        (("run", EXPERIMENT, "--set", "sites.damper9.count=2"), "damper9"),
        (("run", EXPERIMENT, "--set", "sites.damper2.device.Fc_pos=5kg"), "Fc_pos"),
        (("show", "nothing.h5"), "nothing.h5"),
        (("laws", "bouc_wenn"), "Did you mean 'bouc_wen'"),
        (("study", "run", "wang2002"), "Did you mean 'wang2020'"),
        (("runn",), "runn"),
        (("run", EXPERIMENT, "--out", "result.csv"), "ends in .h5. For CSV, MATLAB or Parquet: hyloop export"),
        (("run", EXPERIMENT, "--out", "result"), "ends in .h5"),
        (("run", EXPERIMENT, "--set", "recording.file=out/result.mat"), "recording.file: out/result.mat"),
        (("report", "nothing.h5", "--out", "page.pdf"), "page.pdf: a page is written as .html"),
        (("report", "nothing.h5", "--figures", "all.png"), "all.png: figures are written into a folder"),
        (("model", FRAME, "--out", "page.csv"), "page.csv: a page is written as .html"),
        (("identify", "bilinear", "nothing.csv", "--free", "k", "--out", "fit.csv"), "fit.csv: a page is written as"),
        (
            ("study", "run", "wang2020", "--quick", "--out", "study.html"),
            "study.html: a study is written into a folder",
        ),
        (("export", "nothing.h5", "run.xlsx"), "run.xlsx"),
        (("train", TRAINING, "--out", "network.h5"), "network.h5: a network is written as .safetensors"),
    ],
)
def test_bad_input_is_refused_with_exit_code_2(tmp_path, words, message):
    done = hyloop(*words, cwd=tmp_path, code=2)
    assert message in " ".join(done.stderr.split())
    assert not list(tmp_path.iterdir()), "something was left behind"


def test_a_run_that_passes_a_limit_fails_with_exit_code_1_and_keeps_its_recording(tmp_path):
    done = hyloop(
        "run", EXPERIMENT, *SHORT, "--set", "sites.damper1.max_d=1mm", "--out", "run.h5", cwd=tmp_path, code=1
    )
    assert "damper1" in done.stderr
    shown = json.loads(hyloop("show", "run.h5", "--json", cwd=tmp_path).stdout)
    (d,) = (channel for channel in shown["channels"] if channel["name"] == "damper1.d")
    # it ends with the step that passed 1 mm
    assert shown["rows"] > 10 and not shown["complete"] and 1e-3 < max(-d["min"], d["max"]) < 1.05e-3


def test_laws_records_doctor_and_schema(tmp_path):
    laws = json.loads(hyloop("laws", "--json", cwd=tmp_path).stdout)
    assert {"bouc_wen", "lugre", "brfd_gap_slip"} <= {law["law"] for law in laws}
    assert "sigma0" in hyloop("laws", "lugre", cwd=tmp_path).stdout
    assert {law["law"]: law["role"] for law in laws}["delay"] == "actuator"
    assert "Role: actuator" in hyloop("laws", "zeros_poles", cwd=tmp_path).stdout
    what = {row["what"] for row in json.loads(hyloop("doctor", "--json", cwd=tmp_path).stdout)}
    assert {"cores", "clock", "BLAS threads", "real-time priority", "data folder"} <= what
    assert json.loads(hyloop("schema", cwd=tmp_path).stdout)["type"] == "object"
    (tmp_path / "pulse.csv").write_text("t [s],a [m/s2]\n0,0\n0.01,1.5\n0.02,0\n")
    (record,) = json.loads(hyloop("records", tmp_path, "--json", cwd=tmp_path).stdout)
    assert (record["name"], record["npts"], record["dt"], record["pga"]) == ("pulse", 3, 0.01, 1.5)


def test_table_of_chosen_studies(tmp_path):
    lines = hyloop("study", "table", "brfd", cwd=tmp_path).stdout.splitlines()[2:]
    assert lines and all(line.startswith("| brfd |") for line in lines)
    assert len(hyloop("study", "table", "--all", "brfd", cwd=tmp_path).stdout.splitlines()) > len(lines) + 2


def test_quick_study(tmp_path):
    done = hyloop("study", "run", "wang2020", "--quick", "--out", "study", "--json", cwd=tmp_path)
    verdicts = {row["claim"]: row for row in json.loads(done.stdout)}
    assert verdicts["RMSD of element 2, UKF"]["verdict"] == "met"
    assert "first period" not in verdicts  # the masses were tuned for it
    assert all(row["verdict"] != "not-comparable" for row in verdicts.values())  # what it cannot judge is left out
    assert json.loads((tmp_path / "study" / "claims.json").read_text()) == list(verdicts.values())
    page = Page(tmp_path / "study" / "report.html")
    assert_claims(page, read_verdicts(tmp_path / "study" / "claims.json"))
    recorded = Recording.load(tmp_path / "study" / "Reference.h5")
    _, f = page.lines(page.chart("Force against"))["brace1", "Reference"]
    np.testing.assert_allclose(extremes(f), 1e-3 * extremes(recorded["brace1.f"]), rtol=SINGLE)
    assert f"judges {len(verdicts)} of 51 claims" in page.text
    # where the network is that of another device, updating matters in every story
    shown = page.rows("RMSD, El Centro, one network trained on another device")
    before, after = (np.array(shown[case][1:], dtype=float) for case in ("not updated", "updated"))
    assert (after < before).all() and after.mean() < 0.5 * before.mean()
    assert "wang2020" in hyloop("study", "list", cwd=tmp_path).stdout


@pytest.mark.parametrize("paced", [(), ("--paced",)], ids=["as fast as it goes", "on the clock"])
def test_a_run_that_its_interlock_ends_says_so_first_and_has_a_page(paced, tmp_path):
    file, trips = ROOT / "experiments" / "guarded_frame.toml", "sites.damper1.interlock.max_d=2mm"
    done = hyloop("run", file, "--set", trips, "--out", "run.h5", *paced, cwd=tmp_path, code=1)
    said = done.stderr.strip().splitlines()[-1]
    assert said.startswith("the run stopped: the interlock of damper1 tripped at") and "beyond 2 mm" in said
    assert "The rig is in a safe state: damper1 was back at rest after" in said and "page: run.html" in said
    recording = Recording.load(tmp_path / "run.h5")
    assert recording.attributes["interlocks"][0]["reason"] == "displacement" and not recording.complete
    assert Page(tmp_path / "run.html").answer.startswith("The interlock of damper1 tripped at")
