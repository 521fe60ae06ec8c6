"""Every kind of page in a real browser: the answer is on the first screen, nothing sticks out, all text can be read."""

import sys
from pathlib import Path

import numpy as np
import pytest
from oracles.browser import CUT, FAINT, FIRST, PAPER, SCREENS, WIDTHS, browser, shown
from problems import answers

from hyloop.cli.main import main
from hyloop.devices import bouc_wen
from hyloop.record import Recording
from hyloop.report.claims_picture import JudgedClaim
from hyloop.report.run_page import write_report
from hyloop.report.study_page import StudySummary, write_study
from hyloop.report.sweep_page import write_sweep
from hyloop.report.sweep_result import Swept

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FRAME, FOLLOWING = (ROOT / "experiments" / f"{name}.toml" for name in ("friction_frame", "following_dampers"))
MODEL = ROOT / "experiments" / "models" / "rc_frame.toml"
MADE = {"ida": answers.ida, "fragility": answers.fragility, "tune": answers.tune, "design": answers.design}
KINDS = (
    "run",
    "comparison",
    "catalogue",
    "model",
    "identification",
    "calibration",
    "rig",
    "peek",
    "training",
    "following",
    "trust",
    "study",
    "sweep",
    "sweep-map",
    *MADE,
)
LARGEST = 6_000_000  # bytes
TRAINING = """
[network]
kind = "gru"
width = 4
depth = 1
[data]
inputs = {d = "d", v = "v"}
outputs = {f = "f"}
tests = [{source = "a.h5"}, {source = "b.h5"}]
[split]
test = ["b"]
[training]
epochs = 2
batch = 1
window = 75
rate = 0.02
"""


def hyloop(*words):
    """Run a command in this process."""
    sys.argv = ["hyloop", *map(str, words)]
    try:
        main()
    except SystemExit as stop:
        assert not stop.code, words


def device(path, size):
    t = 0.02 * np.arange(300)
    d = size * np.sin(2 * np.pi * 0.6 * t) * np.sin(np.pi * t / t[-1])
    f = bouc_wen(k=2e7, d_y=2e-3).drive(0.02, d=d)["f"] + np.random.default_rng(0).normal(0.0, 200.0, len(t))
    Recording(t, np.column_stack([d, np.gradient(d, 0.02), f]), ("d", "v", "f"), ("m", "m/s", "N")).save(path)


def rig(path):
    """A rig that comes a sample late, under noise."""
    rng = np.random.default_rng(0)
    command = 1e-2 * np.convolve(rng.normal(size=4008), np.hanning(9), mode="valid")
    data = np.column_stack([command[1:], command[:-1] + rng.normal(0.0, 1e-5, 3999)])
    Recording(np.arange(3999) / 200, data, ("command", "measured"), ("m", "m")).save(path)


def trust(path):
    """A follower with a band, whose force goes to a fallback and back."""
    t = 0.01 * np.arange(1200)
    share = np.interp(t, [4.0, 4.5, 7.0, 7.5], [0.0, 1.0, 1.0, 0.0])
    f, half = 2e4 * np.sin(3.0 * t), 2e3 + 4e3 * share
    columns = {"f": f, "f_low": f - half, "f_high": f + half, "trust": 0.9 - 0.8 * share, "fallback": share}
    named = {"damper2.d": 1e-2 * np.sin(3.0 * t - 0.5)} | {f"damper2.{key}": signal for key, signal in columns.items()}
    named |= {"truth.f": f + np.random.default_rng(0).normal(0.0, 1e3, len(t))}
    about = {"coverage": 0.9, "capacity": 25e3, "limit": 0.25, "truth": "truth.f", "fallback": "lugre"}
    units = ("m", "N", "N", "N", "-", "-", "N")
    attributes = {"trust": {"damper2": about}}
    recording = Recording(t, np.column_stack(list(named.values())), tuple(named), units, attributes=attributes)
    write_report(path, {"run": recording}, title="Trust")


def sweep(path, drawn):
    """Keys drawn at random with runs that failed, or a grid of two with records."""
    rng = np.random.default_rng(2)
    records = ["a-record-with-a-name-longer-than-any-box_000", "a-record-with-a-name-longer-than-any-box_090"]
    if drawn:
        k, f, g = rng.uniform(1e7, 9e7, 200), rng.uniform(1e4, 9e4, 200), rng.uniform(1.0, 6.0, 200)
        keys = {"sites.damper1.device.k": k, "sites.damper1.device.f_y": f, "excitation.peak": g}
    else:
        k, f, which = (part.ravel() for part in np.meshgrid([1e7, 3e7, 9e7], [1e4, 3e4, 5e4, 9e4], [0, 1]))
        keys = {"sites.damper1.device.k": k, "sites.damper1.device.f_y": f, "record": np.array(records)[which]}
    drift = 0.02 * np.exp(-k / 5e7) * rng.lognormal(0.0, 0.2, len(k))
    good = drift < np.quantile(drift, 0.9)
    found = Swept(
        title="Dampers",
        source="x.toml",
        folder="out/x-sweep",
        kind="sobol" if drawn else "grid",
        keys={name: column.tolist() for name, column in keys.items()},
        measures={"drift": "peak drift.*", "force": "peak damper1.f"},
        units={"drift": "m", "force": "N", "sites.damper1.device.k": "N/m", "sites.damper1.device.f_y": "N"},
        outcomes=tuple("complete" if ok else "stopped" for ok in good),
        reasons=tuple("" if ok else "limit: step 3 (t = 0.1 s): a limit was passed." for ok in good),
        values={
            name: [float(v) if ok else None for v, ok in zip(column, good, strict=True)]
            for name, column in {"drift": drift, "force": f + 1e3}.items()
        },
    )
    write_sweep(path, found, "hyloop sweep x.toml")


def study(path):
    """A long study: far off, zero, without a number, with names longer than a line."""
    verdicts = ("beaten", "met", "missed", "not-comparable")
    claims = [
        JudgedClaim(
            f"claim {k} about something with a name that is longer than its line",
            "Table 1",
            None if k == 7 else 1.0,
            0.0 if k == 3 else 10.0 ** ((k % 9 - 4) / 2),
            "kN",
            "not-comparable" if k == 7 else verdicts[k % 4],
            "lower",
            0.1,
            k < 3,
            "a reason" if k % 4 == 3 else "",
        )
        for k in range(60)
    ]
    summary = StudySummary("A paper", ["What was done."], 45, False, "an hour", "hyloop study run x")
    return write_study(path, summary, claims, [], {})


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """One page of every kind, by name."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("HYLOOP_DATA", str(folder))
        patch.setattr(sys, "argv", [])
        short = ("--set", "excitation.duration=3 s")
        hyloop("run", FRAME, *short, "--against", "bare", "--out", "many/run.h5")
        hyloop("run", FOLLOWING, "--set", "excitation.fallback.duration=3 s", "--out", "follow.h5", "--no-report")
        hyloop("report", "many/run-bare.h5", "many/run.h5", "--out", "comparison.html")
        Path("many/broken.h5").write_text("no recording")
        hyloop("report", "many", "--out", "catalogue.html")
        hyloop("model", MODEL, "--out", "model.html")
        for name, size in (("a", 4e-3), ("b", 6e-3)):
            device(Path(f"{name}.h5"), size)
        fit = ("--free", "k,d_y", "--starts", "1", "--save", "law.toml")
        hyloop("identify", "bouc_wen", "a.h5", *fit, "--out", "identification.html")
        hyloop("calibrate", "law.toml", "b.h5", "--out", "calibration.html")
        rig(Path("rig.h5"))
        hyloop("identify-rig", "rig.h5", "--out", "rig.html")
        hyloop("peek", "a.h5", "--out", "peek.html")
        Path("training.toml").write_text(TRAINING)
        hyloop("train", "training.toml", "--out", "training.safetensors")
        write_report(Path("following.html"), {"run": Recording.load("follow.h5")}, title="Following")
        trust(Path("trust.html"))
        study(Path("study.html"))
        sweep(Path("sweep.html"), drawn=True)
        sweep(Path("sweep-map.html"), drawn=False)
        for name, write in MADE.items():
            write(Path(f"{name}.html"))
    return {"run": folder / "many" / "run.html"} | {name: folder / f"{name}.html" for name in KINDS[1:]}


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


@pytest.mark.parametrize("kind", KINDS)
def test_the_answer_is_on_the_first_screen_and_nothing_sticks_out(kind, pages, chromium):
    assert pages[kind].stat().st_size < LARGEST
    for screen, (width, height) in SCREENS.items():
        for scheme in ("light", "dark"):
            with shown(chromium, pages[kind], (width, height), scheme) as page:
                assert page.complaints == []
                scroll, inner = page.evaluate(WIDTHS)
                assert scroll <= inner, (screen, scheme)
                faint = page.evaluate(FAINT)
                assert faint == [], (screen, scheme)
                boxes = page.evaluate(FIRST)
                assert all(box["top"] is not None for box in boxes)
                if screen == "wide":
                    outside = [b for b in boxes if b["bottom"] > height or b["top"] < 0 or b["right"] > width]
                    assert outside == [], scheme


@pytest.mark.parametrize(
    "kind", ["comparison", "catalogue", "training", "following", "trust", "study", "sweep", "sweep-map", *MADE]
)
def test_charts_fit_on_paper(kind, pages, chromium):
    with shown(chromium, pages[kind], (PAPER, 1009)) as page:
        assert page.pdf(format="A4", prefer_css_page_size=True).startswith(b"%PDF")
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.wait_for_timeout(500)
        assert page.evaluate("document.querySelectorAll('details:not([open])').length") == 0
        assert page.evaluate(CUT) == []
