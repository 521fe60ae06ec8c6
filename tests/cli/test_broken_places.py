"""Commands where something is broken: disks, folders, streams, limits, signals. Each in a real process.

Each ends in a sentence with exit code 2 (refused) or 1 (failed), in 130 (interrupted), or well where nothing is wrong;
what was there before is there after, and nothing is half written.
"""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from hyloop.record import Recording

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="mounts, limits and signals as on Linux"),
]

TINY = """
title = "Two stories"
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "45 kN/mm"
damping = { kind = "rayleigh", ratio = "2 %", modes = [1, 2] }
[integrator]
method = "mkr_alpha"
rho_inf = 0.75
dt = "1/256 s"
[excitation]
kind = "synthetic"
sds = "1.0 g"
sd1 = "0.6 g"
duration = "4 s"
peak = "4 m/s2"
[sites.damper1]
story = 1
device = { law = "bilinear", k = "20 kN/mm", f_y = "20 kN" }
"""
TRAINING = """
[network]
kind = "gru"
width = 4
depth = 1
[data]
inputs = {d = "damper1.d"}
outputs = {f = "damper1.f"}
tests = [{source = "done.h5"}]
[training]
epochs = 100000
batch = 1
window = 64
checkpoint_every = 1
"""
# a shell in the background ignores the one, nohup the other
HEARD = "import signal; [signal.signal(one, signal.SIG_DFL) for one in (signal.SIGINT, signal.SIGHUP)]"
COMMAND = [sys.executable, "-c", "from hyloop.cli import main; main()"]
# longer than a test waits, and small on disk
LONG = tuple(
    word
    for value in (
        "excitation.duration=600s",
        "integrator.substeps=1000",
        "recording.every=step",
        "recording.channels=['damper1.f']",
    )
    for word in ("--set", value)
)
RUN = ("run", "tiny.toml", "--no-report")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What the commands need, made once: an experiment, its recording, a training, a measured test."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "tiny.toml").write_text(TINY)
    (folder / "training.toml").write_text(TRAINING)
    done = subprocess.run(
        [*COMMAND, "run", "tiny.toml", "--out", "done.h5"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    t = np.arange(20000) * 1e-3
    d = 20.0 * np.sin(3.0 * t) * np.sin(0.1 * t)
    rows = np.column_stack([t, d, 5.0 * d + np.random.default_rng(1).normal(size=t.size)])
    np.savetxt(folder / "test.csv", rows, delimiter=",", header="t (s),d (mm),f (kN)", comments="")
    return folder


@pytest.fixture
def place(made, tmp_path):
    """A folder of its own for every test."""
    folder = tmp_path / "a place [x] für alles"
    shutil.copytree(made, folder)
    return folder


def start(place, *words, limit=None, stdout=subprocess.PIPE, **environment):
    # the child sets its own limits: a function run between fork and exec is no good where JAX has threads
    first = f"import resource; {HEARD}"
    for what, most in (limit or {}).items():
        first += f"; resource.setrlimit({what}, ({most}, {most}))"
    env = {k: v for k, v in (os.environ | environment).items() if v is not None}
    return subprocess.Popen(
        [*COMMAND[:2], f"{first}; {COMMAND[2]}", *map(str, words)],
        cwd=place,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )


def end(process, code):
    """Its output and what it said, with the exit code that is wanted."""
    out, said = process.communicate(timeout=300)
    assert process.returncode == code, said
    assert "Traceback" not in said and "defect" not in said and "Exception ignored" not in said, said
    assert code == 0 or said.strip()
    return out, " ".join(said.split())


def hyloop(place, *words, code=0, **more):
    return end(start(place, *words, **more), code)


def files(place):
    return {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file()}


@pytest.fixture
def disk(tmp_path):
    """A real disk of a given size, or one that cannot be written to."""
    mounted = []

    def mount(options):
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True)
        if done.returncode:
            pytest.skip("this test needs to mount a disk, which only root may")
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "-l", folder], check=True)


# --- disks ------------------------------------------------------------------------------------------------------------


def test_a_disk_too_small_for_the_recording_is_refused_before_the_run(place, disk):
    small = disk("size=300k")
    _, said = hyloop(place, *RUN, "--out", small / "x.h5", code=2)
    assert "needs about" in said and not list(small.iterdir())


def test_a_disk_that_fills_in_a_run_ends_it_and_what_was_recorded_can_be_read(place, disk):
    small = disk("size=40m")
    process = start(place, *RUN, *LONG, "--out", small / "x.h5")
    until(small / "x.h5", process)
    with pytest.raises(OSError, match="No space"), open(small / "other", "wb", buffering=0) as other:
        while True:  # somebody else fills it
            other.write(bytes(4096))
    _, said = end(process, 1)
    recording = Recording.load(small / "x.h5")
    assert f"no room for more of the recording (No space left on device); {len(recording)} rows" in said
    assert not recording.complete and len(recording) > 0 and "no room" in recording.fault
    assert {p.name for p in small.iterdir()} == {"other", "x.h5"}


def test_a_file_that_may_not_grow_ends_the_run_and_can_be_read(place):
    longer, most = ("--set", "excitation.duration=100s"), {resource.RLIMIT_FSIZE: 2_000_000}
    _, said = hyloop(place, *RUN, *longer, "--out", "x.h5", code=1, limit=most)
    recording = Recording.load(place / "x.h5")
    # the system refuses either to reserve the room or, where it cannot reserve any, to write
    assert re.search(rf"\(.*File too large.*\); (at least )?{len(recording)} rows are in the file", said)
    assert len(recording) > 1000 and not recording.complete and np.abs(recording["damper1.f"]).max() > 1e3


def test_a_full_disk_leaves_the_page_of_before(place, disk):
    small = disk("size=200k")
    (small / "page.html").write_text("of before")
    _, said = hyloop(place, "report", "done.h5", "--out", small / "page.html", code=1)
    assert "No space left" in said and files(small) == {"page.html": b"of before"}


def test_a_full_disk_leaves_no_half_export(place, disk):
    small = disk("size=200k")
    _, said = hyloop(place, "export", "done.h5", small / "x.csv", code=2)
    assert "No space left" in said and not list(small.iterdir())


def test_a_cache_that_fills_is_one_note(place, disk):
    _, said = hyloop(place, *RUN, HYLOOP_CACHE=str(disk("size=100k")))
    assert said.count("compiled code is not kept") == 1 and Recording.load(place / "out" / "tiny.h5").complete


def test_a_cache_that_cannot_be_written_is_one_note(place, disk):
    for cache in (disk("ro"), place / "tiny.toml", "/dev/null/x"):
        _, said = hyloop(place, "laws", "bilinear", HYLOOP_CACHE=str(cache))
        assert said.count("compiled code is not kept") == 1


def test_a_home_that_is_none_is_one_note(place):
    _, said = hyloop(place, "laws", "bilinear", HOME="/dev/null/x", HYLOOP_CACHE=None, XDG_CACHE_HOME=None)
    assert said.count("compiled code is not kept") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("run", "tiny.toml", "--out", "{}/x.h5"),
        ("report", "done.h5", "--out", "{}/x.html"),
        ("export", "done.h5", "{}/x.csv"),
        ("model", "tiny.toml", "--out", "{}/x.html"),
        ("identify", "bilinear", "test.csv", "--free", "k", "--out", "{}/x.html"),
        ("train", "training.toml", "--out", "{}/x.safetensors"),
        ("study", "run", "wang2020", "--out", "{}/x"),
    ],
)
def test_a_disk_that_cannot_be_written_is_refused_before_the_work(place, disk, words):
    locked = disk("ro")
    _, said = hyloop(place, *(word.format(locked) for word in words), code=2)
    assert "cannot write" in said and "Read-only file system" in said


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_a_folder_of_somebody_else_is_refused_before_the_work(place):
    theirs = place / "theirs"
    theirs.mkdir(mode=0o555)
    for folder in (place, *place.parents[:3]):
        folder.chmod(0o755)
    # imported while it may be read
    known = "encodings.utf_8_sig, hyloop.cli.info, hyloop.cli.results, hyloop.report.run_page, hyloop.study.run"
    source = f"import os, {known}; from hyloop.cli import main; os.setgid(65534); os.setuid(65534); main()"
    words = ["run", "tiny.toml", "--out", str(theirs / "x.h5")]
    done = subprocess.run([sys.executable, "-c", source, *words], cwd=place, capture_output=True, text=True)
    assert done.returncode == 2 and "Permission denied" in done.stderr and not list(theirs.iterdir()), done.stderr


# --- variables, streams and limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("records",), ("data", "list"), ("identify", "lugre", "brfd:x", "--free", "Fc_pos")])
@pytest.mark.parametrize("data", ["/dev/null/nowhere", "tiny.toml"])
def test_a_data_folder_that_is_none_is_refused(place, data, words):
    _, said = hyloop(place, *words, code=2, HYLOOP_DATA=data)
    assert f"HYLOOP_DATA = {data}" in said


@pytest.mark.parametrize(
    "environment",
    [
        {"TERM": "dumb"},
        {"TERM": None, "COLUMNS": "1"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"PYTHONIOENCODING": "ascii"},
        {"TZ": "Nowhere/At/All"},
        {"COLUMNS": "nonsense"},
    ],
    ids=lambda environment: ",".join(environment),
)
def test_odd_variables_change_nothing(place, environment):
    assert "damper1.f" in hyloop(place, "show", "done.h5", **environment)[0] or environment.get("COLUMNS") == "1"
    out, _ = hyloop(place, "show", "done.h5", "--json", **environment)
    assert json.loads(out)["complete"]


def test_a_reader_that_leaves_is_no_failure(place):
    for words in (("laws",), ("laws", "--json"), ("schema",), ("show", "done.h5")):
        line = f"{' '.join(map(repr, [*COMMAND, *words]))} | head -c 1; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], cwd=place, capture_output=True, text=True)
        assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_change_nothing(place, closed):
    line = f"{' '.join(map(repr, [*COMMAND, 'run', 'tiny.toml']))} {closed}"
    done = subprocess.run(["bash", "-c", line], cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert Recording.load(place / "out" / "tiny.h5").complete and (place / "out" / "tiny.html").stat().st_size > 1e5


def test_output_that_cannot_be_written_is_said(place):
    with open("/dev/full", "w") as full:
        _, said = hyloop(place, "laws", code=1, stdout=full)
    assert "No space left" in said


@pytest.mark.parametrize("most", [12, 40])
def test_few_open_files_are_enough_or_said(place, most):
    process = start(place, *RUN, limit={resource.RLIMIT_NOFILE: most})
    _, said = process.communicate(timeout=300)
    assert process.returncode == 0 or "Too many open files" in said
    assert process.returncode in (0, 1, 2) and not list(place.rglob("*.part"))


def test_a_working_folder_that_is_gone_is_refused(place):
    source = "import os, shutil; shutil.rmtree(os.getcwd()); from hyloop.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", source, "run", "tiny.toml"], cwd=place, capture_output=True, text=True)
    assert done.returncode == 2 and "refused" in done.stderr and "Traceback" not in done.stderr


# --- names and links --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["[red]x[bold]", "x" * 240, "new\nline"])
def test_odd_names_are_names(place, name):
    shutil.copy(place / "tiny.toml", place / f"{name}.toml")
    out, _ = hyloop(place, "run", f"./{name}.toml", "--out", f"./{name}.h5")
    assert Recording.load(place / f"{name}.h5").complete and (place / f"{name}.html").is_file()
    assert f"{name}.h5" in out or "\n" in name
    assert not list(place.glob("*.part"))


def test_a_name_that_is_no_text_is_a_name(place):
    name = os.fsdecode(b"x\xff")
    shutil.copy(place / "tiny.toml", place / f"{name}.toml")
    hyloop(place, "run", f"{name}.toml", "--set", "title=")
    assert Recording.load(place / "out" / f"{name}.h5").complete


def test_a_link_stays_a_link(place):
    (place / "far").mkdir()
    for name in ("x.h5", "x.html"):
        (place / name).symlink_to(place / "far" / name)
    hyloop(place, "run", "tiny.toml", "--out", "x.h5")
    assert (place / "x.h5").is_symlink() and Recording.load(place / "far" / "x.h5").complete
    assert (place / "x.html").is_symlink() and (place / "far" / "x.html").is_file()


def test_a_link_to_nowhere_is_refused(place):
    (place / "x.h5").symlink_to("/proc/nowhere/x.h5")
    _, said = hyloop(place, *RUN, "--out", "x.h5", code=2)
    assert "x.h5" in said


# --- signals, deaths and company --------------------------------------------------------------------------------------


def until(path, process, seconds=120.0):
    begin = time.monotonic()
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - begin < seconds
        time.sleep(0.01)
    return True


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_an_interrupted_run_keeps_its_recording_and_says_so(place, number, code):
    process = start(place, "run", "tiny.toml", *LONG, "--out", "x.h5")
    until(place / "x.h5", process)
    time.sleep(0.5)
    process.send_signal(number)
    _, said = end(process, code)
    assert "interrupted: x.h5 holds what was recorded until then" in said and "0 %" not in said
    recording = Recording.load(place / "x.h5")
    assert not recording.complete and len(recording) > 0 and recording.fault == "interrupted"
    assert not (place / "x.html").exists() and not list(place.glob("*.part")) and not list(place.glob(".*"))


def test_an_interrupted_compilation_leaves_nothing_and_the_next_run_is_whole(place, tmp_path):
    before = files(place)
    process = start(place, *RUN, HYLOOP_CACHE=str(tmp_path / "cache"))
    until(tmp_path / "cache", process)
    time.sleep(3.0)
    process.send_signal(signal.SIGINT)
    _, said = end(process, 130)
    assert "interrupted" in said and files(place) == before
    hyloop(place, *RUN, HYLOOP_CACHE=str(tmp_path / "cache"))


@pytest.mark.parametrize(
    "words",
    [
        ("identify", "bilinear", "test.csv", "--free", "k,f_y,alpha", "--starts", "2000"),
        ("bench",),
        ("study", "run", "wang2020"),
    ],
    ids=lambda words: words[0],
)
def test_an_interrupt_is_a_word_and_130(place, words):
    before = files(place)
    process = start(place, *words)
    time.sleep(4.0)
    process.send_signal(signal.SIGINT)
    _, said = end(process, 130)
    assert "interrupted" in said
    new = {name for name in files(place) if name not in before}
    assert not [name for name in new if not name.startswith("out/wang2020.unfinished/")]


def test_an_interrupted_training_says_how_to_go_on(place):
    process = start(place, "train", "training.toml")
    until(place / "out" / "training.checkpoint.safetensors", process)
    process.send_signal(signal.SIGINT)
    _, said = end(process, 130)
    assert "--resume" in said and set(os.listdir(place / "out")) == {"training.checkpoint.safetensors"}


def test_a_killed_run_is_shown_and_the_next_one_keeps_it(place):
    process = start(place, *RUN, *LONG)
    until(place / "out" / "tiny.h5", process)
    time.sleep(0.8)
    process.kill()
    process.communicate()
    out, _ = hyloop(place, "show", "out/tiny.h5")
    assert "not finished" in " ".join(out.split())
    _, said = hyloop(place, *RUN)
    assert "the earlier recording is now out/tiny-1.h5" in said
    assert not Recording.load(place / "out" / "tiny-1.h5").complete
    assert Recording.load(place / "out" / "tiny.h5").complete
    assert {p.name for p in (place / "out").iterdir()} == {"tiny.h5", "tiny-1.h5"}


@pytest.mark.parametrize("more", [(), ("--force",), ("--out", "out/tiny.h5", "--force")])
def test_a_second_run_into_the_same_file_is_refused_and_the_first_unharmed(place, more):
    first = start(place, *RUN, "--set", "excitation.duration=100s")
    until(place / "out" / "tiny.h5", first)
    first.send_signal(signal.SIGSTOP)  # so that it is still there, however slow the other is
    _, said = hyloop(place, *RUN, *more, code=2)
    first.send_signal(signal.SIGCONT)
    assert "another run is recording into it" in said
    end(first, 0)
    recording = Recording.load(place / "out" / "tiny.h5")
    assert recording.complete and recording.time[-1] == pytest.approx(100.0, abs=0.1)
    assert [p.name for p in (place / "out").iterdir()] == ["tiny.h5"]


def test_earlier_results_are_kept_unless_forced(place):
    for _ in range(2):
        hyloop(place, "run", "tiny.toml")
    names = {f"tiny{n}.{kind}" for n in ("", "-1") for kind in ("h5", "html")}
    assert set(os.listdir(place / "out")) == names
    hyloop(place, "run", "tiny.toml", "--force")
    assert set(os.listdir(place / "out")) == names
    _, said = hyloop(place, "run", "tiny.toml", "--out", "out/tiny.h5", code=2)
    assert "--force" in said and "overwrite" not in said


def test_an_interrupt_where_no_exception_can_pass_is_not_lost(place):
    """A weak reference dies, and its callback is what the signal meets: Python drops the exception there."""
    code = (
        f"{HEARD}; import os, time, weakref; from hyloop.cli import surroundings; surroundings.prepare();"
        "T = type('T', (), {}); t = T(); w = weakref.ref(t, lambda _: os.kill(os.getpid(), signal.SIGINT));"
        "del t; time.sleep(20)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=place, capture_output=True, text=True, timeout=19)
    assert "KeyboardInterrupt" in done.stderr and "Exception ignored" not in done.stderr
