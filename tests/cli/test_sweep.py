"""`hyloop sweep` as a person uses it: table, page, going on, and what is refused before anything is written."""

import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pytest
from problems.sweeps import TINY
from scipy.stats import spearmanr

import hyloop.ensembles.table
from hyloop.cli.main import main
from hyloop.ensembles import Campaign
from hyloop.ensembles.table import read_table
from hyloop.errors import HyloopError

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FORCE = "sites.damper1.device.f_y"
EXACT = 1e-12  # of a rank correlation, computed in another order
SHOWN = [
    line.split(" #")[0].strip()
    for text in re.findall(r"```console\n(.*?)```", (ROOT / "docs" / "sweeps.md").read_text("utf-8"), re.DOTALL)
    for line in text.splitlines()
    if line.startswith("hyloop ")
]


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(TINY)
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path / "data"))
    return tmp_path


@pytest.fixture
def say(place, monkeypatch, capsys):
    """Run a sweep in a folder of its own; returns exit code, output and complaints."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["hyloop", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        out, err = capsys.readouterr()
        return code, out, " ".join(err.split())

    return run


def test_a_sweep_is_a_table_a_page_and_a_sentence_and_goes_on(say, place):
    words = (
        "sweep",
        "tiny.toml",
        "--grid",
        f"{FORCE}=10kN,20kN,80kN",
        "--grid",
        "seed=1,2",
        "--measure",
        "d=peak drift.*",
    )
    code, out, err = say(*words, "--json", "--workers", 1)
    assert code == 0, err
    told, columns = json.loads(out), read_table(place / "out/tiny-sweep/runs.parquet")
    assert list(columns) == ["run", "number", FORCE, "seed", "outcome", "reason", "d"]
    assert columns[FORCE] == [1e4, 1e4, 2e4, 2e4, 8e4, 8e4] and columns["seed"] == [1, 2] * 3
    assert told["runs"] == told["complete"] == 6 and told["measures"]["d"]["unit"] == "m"
    assert told["measures"]["d"]["quantiles"]["0.5"] == np.median(columns["d"])
    wanted = spearmanr(columns[FORCE], columns["d"]).statistic
    assert told["measures"]["d"]["rank_correlations"][FORCE] == pytest.approx(wanted, abs=EXACT)
    page = Path(told["report"]).read_text("utf-8")
    assert told["sentence"] in page and "Runs that failed" not in page and "hyloop sweep tiny.toml" in page
    before = {path.name: path.read_bytes() for path in (place / "out/tiny-sweep").iterdir()}
    code, out, _ = say(*words)  # nothing is run again
    assert code == 0 and " ".join(out.split()).startswith(told["sentence"])
    assert {name: (place / "out/tiny-sweep" / name).read_bytes() for name in before if name != "sweep.html"} == {
        name: text for name, text in before.items() if name != "sweep.html"
    }
    code, _, err = say(*words[:-2])
    assert code == 2 and "holds a campaign with other measures" in err
    assert (place / "out/tiny-sweep/runs.parquet").read_bytes() == before["runs.parquet"]


def test_a_table_in_the_file_and_failed_runs(say, place):
    table = f'[sweep]\nkind = "list"\nkeys."{FORCE}" = ["5 kN", "80 kN"]\nkeys.seed = [1, 2]\n'
    Path("tiny.toml").write_text(f"{TINY}\n{table}")
    code, out, err = say("sweep", "tiny.toml", "--set", "limits.max_d=11.8mm", "--out", "x", "--workers", 1)
    assert code == 0, err
    columns = read_table(Path("x/runs.parquet"))
    assert columns["outcome"] == ["stopped", "complete"] and columns["reason"][0].startswith("limit: step ")
    assert "1 stopped: limit: step" in out and "1 of 2 runs did not complete" in " ".join(out.split())
    page = Path("x/sweep.html").read_text("utf-8")
    assert "Runs that failed" in page and "did not complete" in page


SWEEP = ("sweep", "tiny.toml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "nothing is swept"),
        (("--grid", "sites.damper9.device.k=1,2"), "unknown name in sites 'damper9'"),
        (("--grid", "sites.damper1.device.kk=1,2"), "unknown parameter"),
        (("--grid", "nowhere=1,2"), "unknown key 'nowhere'"),
        (("--grid", f"{FORCE}="), "--grid"),
        (("--grid", f"{FORCE}=1kN,1kN"), "twice"),
        (("--grid", f"{FORCE}=1kN,2kN", "--grid", "seed=1", "--sample", "list"), "equally long"),
        (("--grid", f"{FORCE}=1kN,2kN", "--grid", f"{FORCE}=3kN"), "given twice"),
        (("--grid", f"{FORCE}=20kN,-1kN"), "outside its bounds"),
        (("--grid", f"{FORCE}=20kN,3m"), "wanted a quantity in N"),
        (("--range", f"{FORCE}=2kN:1kN"), "is above high"),
        (("--range", f"{FORCE}=-2kN:1kN:log"), "no logarithm"),
        (("--range", f"{FORCE}=2kN"), "--range"),
        (("--range", f"{FORCE}=1kN:2kN", "--sample", "grid"), "has no ranges"),
        (("--range", f"{FORCE}=1kN:2kN", "--runs", "1000001"), "1000000"),
        (("--range", f"{FORCE}=1kN:2kN", "--sample", "monte-carlo"), "unknown way to sample"),
        (("--grid", "seed=1,2", "--records", "west*"), "no record of the data folder fits"),
        (("--grid", "seed=1,2", "--records", "3"), "the data folder has 0"),
        (("--grid", "seed=1,2", "--records", "0"), "the set of records is empty"),
        (("--set", "sweep.records=true"), "a pattern such as"),
        (("--grid", "seed=1,2", "--measure", "d=peak drift.9"), "unknown channel 'drift.9'"),
        (("--grid", "seed=1,2", "--measure", "d=worst drift.1"), "unknown statistic"),
        (("--grid", "seed=1,2", "--measure", "peak drift.1"), "--measure"),
        (("--grid", "seed=1,2", "--workers", "0"), "at least 1"),
        (("--grid", "seed=1,2", "--out", "x.parquet"), "into a folder"),
    ],
)
def test_what_cannot_be_swept_is_refused_and_nothing_is_written(say, place, words, said):
    before = sorted(place.rglob("*"))
    code, _, err = say(*SWEEP, *words)
    assert code == 2 and said in err, err
    assert sorted(place.rglob("*")) == before


def test_without_pyarrow_it_is_refused_at_the_start(say, place, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    before = sorted(place.rglob("*"))
    code, _, err = say(*SWEEP, "--grid", "seed=1,2")
    assert code == 2 and "hyloop[sweep]" in err and sorted(place.rglob("*")) == before
    assert hyloop.ensembles.table.TABLE == "runs.parquet"


def test_another_sweep_does_not_go_into_the_same_folder_unless_forced(say, place):
    words = (*SWEEP, "--workers", 1, "--no-report", "--measure", "d=peak drift.*", "--grid")
    assert say(*words, "seed=1,2")[0] == 0
    before = Path("out/tiny-sweep/runs.parquet").read_bytes()
    code, _, err = say(*words, "seed=1,2,3")
    assert code == 2 and "holds a campaign with other settings" in err
    assert Path("out/tiny-sweep/runs.parquet").read_bytes() == before
    assert say(*words, "seed=1,nothing", "--force")[0] == 2
    assert Path("out/tiny-sweep/runs.parquet").read_bytes() == before
    assert say(*words, "seed=3,4", "--force")[0] == 0
    assert read_table(Path("out/tiny-sweep/runs.parquet"))["seed"] == [3, 4]


def test_a_cluster_that_goes_away_leaves_a_table_of_what_is_there(say, place, monkeypatch):
    words = (*SWEEP, "--workers", 1, "--no-report", "--grid", "seed=1,2,3")

    def gone(*_):
        raise HyloopError("all workers are gone.")

    with monkeypatch.context() as patch:
        patch.setattr(Campaign, "run", gone)
        code, _, err = say(*words)
    assert code == 1 and "all workers are gone" in err
    assert read_table(Path("out/tiny-sweep/runs.parquet"))["seed"] == [1]
    assert say(*words)[0] == 0 and read_table(Path("out/tiny-sweep/runs.parquet"))["seed"] == [1, 2, 3]


@pytest.mark.parametrize("line", SHOWN)
def test_the_commands_of_the_page_run(say, place, line):
    """Those that take records run with three of our own."""
    for k, name in enumerate(("chi-chi_1", "chi-chi_2", "landers"), 1):
        rows = "\n".join(f"{0.01 * i:.2f} {k * np.sin(0.3 * i):.6f}" for i in range(300))
        (place / "data" / f"{name}.txt").write_text(f"t (s) a (m/s2)\n{rows}\n")
    words = shlex.split(line)[1:]
    if words[0] == "sweep":
        (place / "experiments").symlink_to(ROOT / "experiments")
        words += ["--workers", "1"]
    code, _, err = say(*words)
    assert code == 0, err
