"""A hundred bad commands: each is refused with exit code 2 and a sentence, and leaves nothing behind."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hyloop.cli.main import main
from hyloop.record import Recording

ROOT = Path(__file__).parents[2]
RUN = ("run", str(ROOT / "experiments" / "friction_frame.toml"))
MODEL = ("model", str(ROOT / "experiments" / "models" / "rc_frame.toml"))
TRAIN = ("train", str(ROOT / "experiments" / "training" / "fluid_damper_gru.toml"))
FIT = ("identify", "bilinear", "test.csv", "--free", "k")
DIGITS = "9" * 5000
DEEP = "[" * 2000 + "]" * 2000

# what lies in the folder in which the commands are given
FILES = {
    "binary.toml": bytes(range(256)),
    "utf16.toml": "title = 'a'".encode("utf-16"),
    "latin.toml": b"title = '\xe4'",
    "empty.toml": b"",
    "broken.toml": b"title = \n[structure",
    "list.toml": b"include = 3",
    "missing_include.toml": b"include = ['nowhere.toml']",
    "circle.toml": b"include = ['circle.toml']",
    "digits.toml": f"seed = {DIGITS}".encode(),
    "deep.toml": f"title = {DEEP}".encode(),
    "deep_keys.toml": f"structure.{'a.' * 3000}b = 1".encode(),
    "other.toml": b"[tool]\nname = 'nothing of ours'\n",
    "binary.h5": bytes(range(256)),
    "empty.h5": b"",
    "binary.csv": bytes(range(256)),
    "constant.csv": b"t (s),d (mm),f (kN)\n" + b"".join(b"%g,1,2\n" % (0.01 * k) for k in range(50)),
    "test.csv": b"t (s),d (mm),f (kN)\n" + b"".join(b"%g,%d,%d\n" % (0.01 * k, k % 7, k % 5) for k in range(50)),
    "words.csv": b"t (s),d (mm),f (kN)\n0,a,b\n",
    "nounits.csv": b"t,d,f\n0,1,2\n0.1,2,3\n0.2,3,4\n",
    "page.html": b"mine",
}

# the words of a command, and words of the answer
BAD = [
    # commands that are none
    (("runn",), "runn"),
    (("--nonsense",), "nonsense"),
    (("study", "walk"), "walk"),
    (("data", "fetch"), "fetch"),
    (("run",), "file"),
    (("export", "run.h5"), "target"),
    (("report",), "files"),
    (("identify", "bilinear"), "at least one file"),
    (("identify", "--laws", "none", "test.csv"), "none"),
    (("train",), "file"),
    (("model",), "file"),
    (("study", "run"), "name"),
    (("data", "get"), "name"),
    (("show", "run.h5", "more.h5"), "more.h5"),
    ((*RUN, "--no-such-option"), "--no-such-option"),
    ((*RUN, "--out"), "--out"),
    ((*RUN, "--set"), "--set"),
    # files that are none
    (("run", "nowhere.toml"), "nowhere.toml"),
    (("run", ""), "cannot be read"),
    (("run", "folder"), "folder"),
    (("run", "folder/nowhere/x.toml"), "nowhere"),
    (("run", "page.html/x.toml"), "page.html"),
    (("run", "x" * 300 + ".toml"), "too long"),
    (("run", "binary.toml"), "UTF-8"),
    (("run", "latin.toml"), "UTF-8"),
    (("run", "utf16.toml"), "UTF-16"),
    (("run", "empty.toml"), "structure: is missing"),
    (("run", "broken.toml"), "not valid TOML"),
    (("run", "list.toml"), "include: got 3"),
    (("run", "missing_include.toml"), "nowhere.toml"),
    (("run", "circle.toml"), "circle"),
    (("run", "digits.toml"), "too many digits"),
    (("run", "deep.toml"), "too deep"),
    (("run", "deep_keys.toml"), "too deep"),
    (("run", "other.toml"), "tool"),
    (("run", "run.h5"), "UTF-8"),
    (("model", "nowhere.toml"), "nowhere.toml"),
    (("model", "binary.toml"), "UTF-8"),
    (("model", "empty.toml"), "empty.toml"),
    (("model", RUN[1]), "kind"),
    (("train", "nowhere.toml"), "nowhere.toml"),
    (("train", "utf16.toml"), "UTF-16"),
    (("train", RUN[1]), "unknown key"),
    (("run", TRAIN[1]), "network"),
    # recordings that are none
    (("show", "nowhere.h5"), "nowhere.h5"),
    (("show", "folder"), "folder"),
    (("show", "binary.h5"), "binary.h5"),
    (("show", "empty.h5"), "empty.h5"),
    (("show", RUN[1]), "is not a recording"),
    (("export", "binary.h5", "x.csv"), "binary.h5"),
    (("report", "binary.h5", "--out", "x.html"), "binary.h5"),
    (("report", "run.h5", "nowhere.h5", "--out", "x.html"), "nowhere.h5"),
    ((*RUN, "--against", "nowhere.h5"), "nowhere.h5"),
    ((*RUN, "--against", "binary.h5"), "binary.h5"),
    # values that cannot be
    ((*RUN, "--set", "nonsense"), "key.path=value"),
    ((*RUN, "--set", "=3"), "key.path=value"),
    ((*RUN, "--set", "nonsense.key=3"), "unknown key 'nonsense'"),
    ((*RUN, "--set", "sites.damper9.count=2"), "damper9"),
    ((*RUN, "--set", "sites.damper1.device.Fc_pos=5kg"), "Fc_pos"),
    ((*RUN, "--set", "sites.damper1.count=-2"), "count"),
    ((*RUN, "--set", "sites.damper1.count=many"), "count"),
    ((*RUN, "--set", "integrator.dt=0"), "dt"),
    ((*RUN, "--set", "integrator.dt=nan"), "dt"),
    ((*RUN, "--set", "integrator.substeps=1.5"), "substeps"),
    ((*RUN, "--set", f"integrator.substeps={DIGITS}"), "substeps"),
    ((*RUN, "--set", f"integrator.dt={DIGITS}"), "dt"),
    ((*RUN, "--set", f"integrator.dt={DIGITS[:400]}"), "dt"),
    ((*RUN, "--set", f"structure={DEEP}"), "structure"),
    ((*RUN, "--set", f"structure.{'a.' * 3000}b=1"), "too many"),
    ((*RUN, "--set", "integrator.method=magic"), "method"),
    ((*RUN, "--set", "excitation.kind=magic"), "kind"),
    ((*RUN, "--set", "excitation.duration=-3s"), "duration"),
    ((*RUN, "--set", "excitation.duration=1e15s"), "excitation"),
    ((*RUN, "--set", "recording.channels=[]"), "channels"),
    ((*RUN, "--set", "recording.channels=['nothing.*']"), "nothing"),
    ((*RUN, "--set", "recording.file=out/x.mat"), "recording.file"),
    ((*RUN, "--set", "title.key=3"), "title"),
    ((*MODEL, "--modes", "-1"), "modes"),
    ((*MODEL, "--modes", "few"), "--modes"),
    ((*MODEL, "--set", "sections.column.depth=-1m"), "depth"),
    ((*TRAIN, "--set", "training.epochs=0"), "epochs"),
    # places that cannot be written
    ((*RUN, "--out", "x.csv"), "ends in .h5"),
    ((*RUN, "--out", "run.h5"), "--force"),
    ((*RUN, "--out", "folder.h5"), "folder"),
    ((*RUN, "--out", "page.html/x.h5"), "Not a directory"),
    ((*RUN, "--out", "/proc/x.h5"), "/proc/x.h5"),
    ((*RUN, "--out", "x" * 300 + ".h5"), "too long"),
    ((*MODEL, "--out", "x.pdf"), ".html"),
    ((*MODEL, "--out", "page.html/x.html"), "Not a directory"),
    (("export", "run.h5", "x.xlsx"), "xlsx"),
    (("export", "run.h5", "page.html/x.csv"), "Not a directory"),
    (("report", "run.h5", "--out", "x.pdf"), ".html"),
    (("report", "run.h5", "--out", "/dev/null/x.html"), "Not a directory"),
    (("report", "run.h5", "--out", "x.html", "--figures", "page.html"), "page.html"),
    ((*TRAIN, "--out", "x.h5"), ".safetensors"),
    ((*TRAIN, "--out", "page.html/x.safetensors"), "Not a directory"),
    (("study", "run", "wang2020", "--out", "page.html"), "page.html"),
    (("study", "run", "wang2020", "--out", "full"), "--force"),
    (("study", "run", "wang2020", "--out", "full", "--force"), "other files"),
    (("study", "run", "wang2002"), "Did you mean 'wang2020'"),
    # identification
    (("identify", "bilinearr", "test.csv", "--free", "k"), "Did you mean 'bilinear'"),
    (("identify", "bilinear", "nowhere.csv", "--free", "k"), "nowhere.csv"),
    (("identify", "bilinear", "binary.csv", "--free", "k"), "not a file of text"),
    (("identify", "bilinear", "words.csv", "--free", "k"), "words.csv"),
    (("identify", "bilinear", "nounits.csv", "--free", "k"), "unit"),
    (("identify", "bilinear", "constant.csv", "--free", "k"), "throughout"),
    (("identify", "bilinear", "brfd:nothing", "--free", "k"), "nothing"),
    (("identify", "bilinear", "test.csv", "--free", "kk"), "kk"),
    (("identify", "bilinear", "test.csv", "--free", ""), "free"),
    ((*FIT, "--fix", "k=3"), "--fix k"),
    ((*FIT, "--fix", "alpha"), "--fix alpha"),
    ((*FIT, "--guess", "k=3kg"), "k"),
    ((*FIT, "--bounds", "k=3"), "--bounds"),
    ((*FIT, "--bounds", "k=3..1"), "k"),
    ((*FIT, "--method", "magic"), "magic"),
    ((*FIT, "--starts", "0"), "starts"),
    ((*FIT, "--seed", "-1"), "seed"),
    ((*FIT, "--every", "0"), "every"),
    ((*FIT, "--start", "nothing"), "nothing"),
    ((*FIT, "--out", "x.csv"), ".html"),
    ((*FIT, "--out", "/dev/null/x.html"), "Not a directory"),
    ((*FIT, "--save", "page.html"), "page.html"),
    ((*FIT, "--save", "page.html/law.toml"), "page.html"),
    ((*FIT, "--columns", "binary.toml"), "binary.toml"),
    ((*FIT, "--columns", "deep.toml"), "too deep"),
    ((*FIT, "--columns", "nowhere.toml"), "nowhere.toml"),
    ((*FIT, "--decimal", "dot"), "dot"),
    ((*FIT, "--rate", "fast"), "fast"),
    ((*FIT, "--units", "d"), "--units"),
    (("identify", "--laws", "magic", "test.csv"), "magic"),
    # the rest
    (("peek", "nowhere.csv"), "nowhere.csv"),
    (("peek", "binary.csv"), "binary.csv"),
    (("peek", "folder"), "folder"),
    (("peek", "test.csv", "--out", "x.pdf"), ".html"),
    (("peek", "test.csv", "--out", "page.html/x.html"), "Not a directory"),
    (("examples", "nothing"), "nothing"),
    (("new", "broken.toml"), "--force"),
    *((("new", name), "is a folder. Give the name of a new file") for name in (".", "", "/", "..", "folder/..")),
    (("new", "page.html/x.toml"), "page.html"),
    (("new", "x.toml", "--like", "nothing"), "nothing"),
    (("laws", "bouc_wenn"), "Did you mean 'bouc_wen'"),
    (("records", "nowhere"), "nowhere"),
    (("records", "page.html"), "page.html"),
    (("bench", "nothing"), "nothing"),
    (("data", "get", "nothing"), "nothing"),
]
IN_PROCESSES = range(0, len(BAD), 25)  # a few as they are typed, to see that both ways are one


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (path / name).write_bytes(content)
    for name in ("folder", "folder.h5", "full"):
        (path / name).mkdir()
    (path / "full" / "mine.txt").write_text("mine")
    Recording(np.arange(9.0), np.ones((9, 1)), ["u"], ["m"]).save(path / "run.h5")
    return path


def listing(folder):
    return {p: (p.stat().st_size, p.stat().st_mtime_ns) for p in folder.rglob("*") if p.is_file()} | {
        p: None for p in folder.rglob("*") if p.is_dir()
    }


def assert_refused(code, said, words, before, folder):
    text = " ".join(said.split())
    assert code == 2, text
    assert "Traceback" not in said and "defect" not in said
    assert words in text
    assert len(text) < 2500, "nobody reads that"
    assert listing(folder) == before, "something was left behind, or is gone"


def test_there_are_a_hundred():
    assert len({words for words, _ in BAD}) == len(BAD) >= 100


@pytest.mark.parametrize(("words", "answer"), BAD, ids=[" ".join(w)[-60:] for w, _ in BAD])
def test_refused(folder, words, answer, monkeypatch, capsys):
    before = listing(folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["hyloop", *words])
    with pytest.raises(SystemExit) as end:
        main()
    assert_refused(end.value.code, capsys.readouterr().err, answer, before, folder)


@pytest.mark.slow
@pytest.mark.parametrize("number", IN_PROCESSES)
def test_refused_in_a_process_of_its_own(folder, number):
    words, answer = BAD[number]
    before = listing(folder)
    command = [sys.executable, "-c", "from hyloop.cli import main; main()", *words]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, env=os.environ | {"COLUMNS": "200"}
    )
    assert_refused(done.returncode, done.stderr, answer, before, folder)
