"""The moving picture of a frame in space: what the page holds against direct computation, played in a browser."""

import base64
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from oracles.browser import FIRST, browser, shown
from oracles.pages import Page

from hyloop.cli.main import main
from hyloop.errors import BadInput, RunFailed
from hyloop.files.load import load_experiment
from hyloop.record import Recording, picture_of, picture_path
from hyloop.report.catalogue import find_recordings
from hyloop.report.run_page import write_report
from hyloop.report.space import displaced, peak_ductility, space_movie
from hyloop.report.space_answer import whole_response
from hyloop.report.space_movie import FINENESS, LEVELS, Run, SpaceMovie, shapes_of, space_html
from hyloop.structure.frames.assembly import numbering
from hyloop.study.build import build
from hyloop.study.run import run_file

pytestmark = pytest.mark.slow

FILE = """
title = "A small tower"
[structure]
kind = "tower"
heights = [4.0, 4.0, 4.0, 4.0]
basements = 0
wall = 0.0
outriggers = [4]
core_boxes = [{upto = 4, size = "0.8 m", plate = "50 mm"}]
corner_boxes = [{upto = 4, size = "0.6 m", plate = "38 mm"}]
brace_strength = [{upto = 4, force = "1000 kN"}]
damping = {kind = "modal_and_stiffness", ratio = "2 %", count = 8}
[integrator]
method = "mkr_alpha"
dt = "1/256 s"
substeps = 4
[excitation]
kind = "harmonic"
amplitude = "3 m/s2"
frequency = "1.2 Hz"
duration = "2.5 s"
[sites.NE]
between = ["NEtip-4.uy", "NE-4.uy"]
device = {law = "nonlinear_maxwell"}
count = 4
[sites.SW]
like = "NE"
between = ["SWtip-4.uy", "SW-4.uy"]
[recording]
picture = true
"""
LARGEST = 6_000_000  # bytes of a page, so that it can be sent by mail
WHOLE = 2e-4  # of the largest displacement: whole numbers for shapes and histories, some dozens of both
SAME = 1e-9  # relative: the same sums in another order
SINGLE = 1e-6  # relative, of single precision
NEARLY = 1.05  # random mixtures are not quite as good as the best shapes of noise, which has no good ones
HEAVIEST = 1_200_000  # bytes of noise that fills every limit; the 40-story tower takes less than half


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("space")


@pytest.fixture(scope="module")
def file(folder):
    path = folder / "tower.toml"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def runs(folder, file):
    """With devices and without, all displacements recorded, too."""
    options = {"overrides": (), "out": folder / "tower.h5"}
    return {"with devices": run_file(file, **options), "without devices": run_file(file, **options, bare=True)}


@pytest.fixture(scope="module")
def model(file):
    return build(load_experiment(file)).model


@pytest.fixture(scope="module")
def page(folder, runs):
    return write_report(folder / "tower.html", runs, title="A small tower")


def everywhere(model, recording):
    """Displacements of all nodes in every step, straight from all unknowns."""
    numbered = numbering(model)
    u = np.column_stack([recording[f"u.{name}"] for name in numbered.names])
    return u, (numbered.T @ u.T).T.reshape(len(u), len(model.nodes), 6)[:, :, :3]


def whole(text, kind):
    return np.frombuffer(base64.b64decode(text), kind)


def played(data, run):
    """Displacements of all nodes in every frame, from what the page holds, as assets/space.js finds them."""
    motion, places = data["motion"], whole(data["places"], "<f4").reshape(-1, 3)
    shapes = whole(motion["shapes"], "<i2").reshape(motion["count"], -1) * np.array(motion["units"])[:, None]
    columns = whole(motion["histories"][run], "<i2").reshape(-1, motion["count"]) @ shapes
    moved = np.zeros((len(columns), len(places) * 3))
    for column, place in enumerate(data["moves"]):
        if place >= 0:
            moved[:, place] = columns[:, column]
    moved = moved.reshape(len(columns), -1, 3)
    for master, column, rim, nodes in data["floors"]:
        turn = columns[:, column, None] / rim
        arm = places[nodes] - places[master]
        moved[:, nodes, 0] = moved[:, [master], 0] + turn * arm[:, 2]
        moved[:, nodes, 2] = moved[:, [master], 2] - turn * arm[:, 0]
    return moved


def test_frames_are_steps_of_the_run(runs, model):
    for run in runs.values():
        picture = picture_of(run)
        step = picture.time[1] - picture.time[0]
        assert 1 / 25 <= step < 1 / 20
        _, moved = everywhere(model, run)
        rows = np.minimum(np.rint(picture.time / (run.time[1] - run.time[0])).astype(int), len(run) - 1)
        assert rows[-1] == len(run) - 1  # to the end
        kept = [k for k, name in enumerate(model.nodes) if name not in model.floors]
        np.testing.assert_allclose(displaced(picture)[:, kept], moved[rows][:, kept], atol=SAME)


def test_the_page_puts_every_node_in_its_place(runs, model, page):
    data = Page(page).picture
    for k, run in enumerate(runs.values()):
        wanted = displaced(picture_of(run))
        found = played(data, k)
        largest = max(np.abs(displaced(picture_of(r))).max() for r in runs.values())
        assert largest > 0.02
        # a shift and a turn may each be off by the fineness
        np.testing.assert_allclose(found, wanted, atol=(2 / FINENESS + WHOLE) * largest)
    lengths = [len(whole(data["lines"][kind], "<u4")) // 2 for kind in ("column", "beam", "floor", "brace")]
    assert sum(lengths[:2]) + lengths[3] == sum(not name.startswith(("weight", "wall")) for name in model.members)
    assert data["motion"]["count"] < 40 and page.stat().st_size < LARGEST


def test_ductility_is_the_largest_of_all_steps(runs, model, page):
    data = Page(page).picture["ductility"]
    ductility = import_module("benchmarks.tower").ductility
    for k, run in enumerate(runs.values()):
        reached = ductility(model, everywhere(model, run)[0])
        most, yielded, count = peak_ductility(run)
        assert most == pytest.approx(reached.max(), rel=SAME) and reached.max() > 1.5
        assert (yielded, count) == (np.sum(reached > 1.0), len(reached))
        frame, brace, level = (whole(data["events"][k][n], kind) for n, kind in enumerate(("<u4", "<u4", "u1")))
        shown_levels = np.zeros(count)
        for b, value in zip(brace, level, strict=True):
            assert value > shown_levels[b]  # it only grows
            shown_levels[b] = value
        expected = np.ceil(np.clip((reached - 1.0) / (data["top"] - 1.0), 0.0, 1.0) * LEVELS - 1e-9)
        np.testing.assert_array_equal(shown_levels, expected)
        assert (np.diff(frame.astype(int)) >= 0).all()
        assert whole(data["largest"][k], "<f4")[-1] == pytest.approx(most, rel=SINGLE)
        assert whole(data["yielded"][k], "<u4")[-1] == yielded


def test_devices_are_where_they_stand_and_have_taken_their_energy(runs, model, page):
    data, run = Page(page).picture, runs["with devices"]
    nodes = list(model.nodes)
    assert [[name, nodes[i], nodes[j]] for name, i, j in data["devices"]] == [
        ["NE", "NEtip-4", "NE-4"],
        ["SW", "SWtip-4", "SW-4"],
    ]
    taken = whole(data["energy"][0], "<f4").reshape(-1, 2)
    assert taken[-1].sum() == pytest.approx(run["energy.devices"][-1], rel=1e-3)  # by the force fed back, a tick older
    assert taken[-1].min() > 0.0 and data["energy"][1] == ""


def test_the_page_says_what_the_devices_do(runs, page):
    read, found = Page(page), {name: whole_response(run) for name, run in runs.items()}
    one, other = found.values()
    change = 100 * (one.drift[0] / other.drift[0] - 1)  # under this motion the outriggers stiffen it towards resonance
    assert abs(change) > 5
    said = read.answer.replace("\u00a0", " ")
    assert f"{abs(change):.0f} % {'less' if change < 0 else 'more'} than" in said
    assert (
        f"{other.ductility[1]} without devices." in said
        and f"{one.ductility[1]} of {one.ductility[2]} braces yield" in said
    )
    values = read.numbers[1::2]
    assert float(values[0].removesuffix(" mm")) == pytest.approx(1e3 * one.roof, rel=5e-3)
    assert float(values[1]) == pytest.approx(one.ductility[0], rel=5e-2)
    run = runs["with devices"]
    sway = np.hypot(run["u.floor4.ux"], run["u.floor4.uz"])
    assert one.roof == pytest.approx(sway.max(), rel=SAME) and one.height == 16.0


def test_floors_across_have_drifts_and_accelerations_too(runs):
    run = runs["with devices"]
    below = 0.0
    for k in range(1, 5):
        u = run[f"u.floor{k}.uz"]
        np.testing.assert_allclose(run[f"drift_z.{k}"], u - below, atol=SAME)
        np.testing.assert_allclose(run[f"drift_ratio_z.{k}"], (u - below) / 4.0, atol=SAME)
        np.testing.assert_array_equal(run[f"a_abs.floor{k}.uz"], run[f"a.floor{k}.uz"])  # the ground moves along x
        below = u
    assert np.ptp(run["drift_z.4"]) > 1e-5  # it is eccentric


def test_a_run_that_fails_keeps_its_picture_until_then(tmp_path, file, model):
    words = ('sites.NE.max_d="1 mm"', 'recording.channels=["u.*"]')
    with pytest.raises(RunFailed):
        run_file(file, words, tmp_path / "a.h5")
    failed = Recording.load(tmp_path / "a.h5")
    picture = picture_of(failed)
    assert not picture.complete and 0.0 <= picture.time[-1] - failed.time[-1] < picture.time[1]
    reached = import_module("benchmarks.tower").ductility(model, everywhere(model, failed)[0])
    assert peak_ductility(failed)[0] == pytest.approx(reached.max(), rel=SAME)
    assert "stopped early" in Page(write_report(tmp_path / "a.html", {"a": failed}, title="x")).answer


def test_what_excites_it_stands_below(runs):
    run = runs["with devices"]
    ((label, t, values),) = space_movie(run).traces
    assert label == "ground [m/s²]" and t[-1] == run.time[-1]
    assert np.abs(values).max() == np.abs(run["ground"]).max()
    names = tuple({"ground": "load.a"}.get(name, name) for name in run.names)
    data = np.where(np.array(names) == "u.floor1.ry", 0.0, run.data)
    names = tuple({"u.floor1.ry": "ground"}.get(name, name) for name in names)
    units = tuple("N" if name == "load.a" else unit for name, unit in zip(names, run.units, strict=True))
    ((label, _, values),) = space_movie(replace(run, names=names, units=units, data=data)).traces  # the ground rests
    assert label == "load.a [kN]" and np.abs(values).max() == pytest.approx(1e-3 * np.abs(run["ground"]).max())


def test_a_notebook_shows_it(tmp_path, runs):
    moving = runs["with devices"].animate(runs["without devices"])
    assert Page(moving.save(tmp_path / "moving.html")).picture["names"][1] == "without devices"


def test_the_picture_of_another_run_is_not_shown(tmp_path, file):
    words = ("excitation.duration=0.2 s", 'recording.channels=["ground"]')
    first = run_file(file, words, tmp_path / "a.h5")
    assert picture_of(first) is not None and space_movie(first) is not None
    assert not any(name.startswith("u.") for name in first.names)  # needed, and not recorded
    assert find_recordings(tmp_path) == [tmp_path / "a.h5"]
    again = run_file(file, (*words, "recording.picture=false"), tmp_path / "a.h5")
    assert picture_path(tmp_path / "a.h5").is_file() and picture_of(again) is None
    kept = []
    run_file(file, words, tmp_path / "a.h5", keep=kept.append)
    assert kept == [tmp_path / "a-1.h5"] and picture_path(kept[0]).is_file()  # renamed with its recording
    assert picture_of(Recording.load(tmp_path / "a.h5")) is not None and picture_of(Recording.load(kept[0])) is None
    moved = picture_path(tmp_path / "a.h5")
    moved.write_text("broken")
    assert picture_of(Recording.load(tmp_path / "a.h5")) is None


@pytest.mark.parametrize("kind", ["shear_frame", "plane_frame"])
def test_other_structures_are_refused_before_they_run(kind, tmp_path):
    root = Path(__file__).parents[2] / "experiments"
    name = {"shear_frame": "friction_frame", "plane_frame": "rc_frame"}[kind]
    with pytest.raises(BadInput, match=r"recording\.picture: .*frames in space"):
        run_file(root / f"{name}.toml", ("recording.picture=true",), tmp_path / "a.h5")
    assert list(tmp_path.iterdir()) == []


def test_shapes_are_few_and_fine():
    """Three waves in a thousand columns, and a little of something else."""
    random = np.random.default_rng(3)
    t, x = np.linspace(0.0, 30.0, 400)[:, None], np.linspace(0.0, 1.0, 1000)[None]
    moved = sum(np.sin((k + 1) * t) * np.cos(2 * k * x) / (k + 1) for k in range(3))
    moved = moved + 1e-5 * random.normal(size=moved.shape)
    a, s = shapes_of(moved, 1e-3)
    assert a.shape[1] == 3 and np.abs(a @ s - moved).max() <= 1e-3
    a, s = shapes_of(moved[:20, :30], 1e-12)  # all that there is, if nothing less will do
    assert np.abs(a @ s - moved[:20, :30]).max() <= 1e-12
    noise = random.normal(size=(300, 200))
    a, s = shapes_of(noise, 1e-6, most=10)  # more than is allowed: the ten that matter most
    left = np.linalg.norm(noise - a @ s) / np.linalg.norm(noise)
    sizes = np.linalg.svd(noise, compute_uv=False)
    best = np.sqrt((sizes[10:] ** 2).sum() / (sizes**2).sum())
    assert a.shape[1] == 10 and best <= left < NEARLY * best
    a, s = shapes_of(np.zeros((5, 7)), 0.0)
    assert a.shape == (5, 0) and s.shape == (0, 7)


def test_the_picture_of_a_tall_building_stays_small():
    """As many nodes, braces and devices as the 40-story tower has, in two long runs that nothing makes simple."""
    random, frames, nodes, columns, braces = np.random.default_rng(4), 1500, 1361, 1440, 1080
    pairs = [(int(i), int(j)) for i, j in random.integers(0, nodes, (2000, 2))]
    growing = np.cumsum(random.exponential(4e-3, (frames, braces)), axis=0)
    noisy = [
        Run(
            name,
            random.normal(size=(frames, columns)),
            growing,
            np.cumsum(random.exponential(1e3, (frames, 12)), axis=0),
        )
        for name in "ab"
    ]
    t = np.linspace(0.0, 60.0, 1500)
    movie = SpaceMovie(
        dt=0.04,
        places=random.normal(size=(nodes, 3)),
        moves=list(range(columns)),
        floors=[(0, -1, 1.0, list(range(nodes)))],
        lines={"column": pairs[:800], "beam": pairs[:1100], "floor": pairs[:180]},
        braces=pairs[:braces],
        devices=pairs[:12],
        device_names=[f"d{k}" for k in range(12)],
        roof=(0, [1, 2, 3, 4]),
        traces=[("ground", t, np.sin(t))] * 2,
        runs=noisy,
        alt="",
    )
    assert len(space_html(movie, "plot1")) < HEAVIEST


def test_a_command_writes_all_of_it(tmp_path, file, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["hyloop", "run", str(file), "--against", "bare", "--out", str(tmp_path / "a.h5")])
    for _ in range(2):  # the second replaces the first, picture and all
        try:
            main()
        except SystemExit as stop:
            assert not stop.code
        monkeypatch.setattr(sys, "argv", [*sys.argv, "--force"])
    names = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    assert names == {"a.h5", "a.html", "a.picture.h5", "a-bare.h5", "a-bare.picture.h5"}
    assert Page(tmp_path / "a.html").picture["names"] == ["with devices", "without devices"]


# how many pixels of a part of the canvas are not the background
INK = """() => { const c = document.querySelector('.space canvas'), { data } = c.getContext('2d').getImageData(0, 0,
  c.width, c.height); let n = 0; for (let k = 3; k < data.length; k += 4) n += data[k] > 0; return n; }"""
PLAYER = "document.querySelector('.space').player"


def test_a_browser_draws_turns_and_plays_it(page):
    with browser() as started:
        for screen, scheme in (((1400, 900), "light"), ((390, 844), "dark")):
            with shown(started, page, screen, scheme) as seen:
                assert seen.complaints == []
                assert not seen.evaluate(f"{PLAYER}.playing")  # reduced motion is asked for
                assert seen.evaluate(INK) > 5000
                boxes = seen.evaluate(FIRST)
                assert screen[0] < 1000 or all(box["bottom"] <= screen[1] for box in boxes)
                image = "document.querySelector('.space canvas').toDataURL()"
                before = seen.evaluate(image)
                seen.focus(".space canvas")
                seen.keyboard.press("ArrowRight")
                turned = seen.evaluate(image)
                seen.click('[data-do="more"]')
                larger = seen.evaluate(image)
                assert len({before, turned, larger}) == 3
                seen.fill(".space input", "0")
                assert seen.evaluate(f"{PLAYER}.time") == 0.0 and seen.evaluate(f"{PLAYER}.yielded[0][0]") == 0
                seen.click('[data-do="play"]')
                seen.wait_for_function(f"() => {PLAYER}.time > 0.3")
                seen.click('[data-do="play"]')
                stopped = seen.evaluate(f"{PLAYER}.time")
                seen.wait_for_timeout(200)
                assert seen.evaluate(f"{PLAYER}.time") == stopped
                seen.fill(".space input", "1000")
                yielded = seen.evaluate(f"{PLAYER}.levels[1].filter(level => level > 0).length")
                assert yielded == seen.evaluate(f"{PLAYER}.yielded[1].at(-1)") > 0
                seen.evaluate("() => document.querySelector('.space canvas').scrollIntoView({ block: 'center' })")
                box = seen.locator(".space canvas").bounding_box()
                middle = box["y"] + box["height"] / 2
                yaw = seen.evaluate(f"{PLAYER}.yaw")
                seen.mouse.move(box["x"] + 100, middle)
                seen.mouse.down()
                seen.mouse.move(box["x"] + 150, middle, steps=5)
                seen.mouse.up()
                assert seen.evaluate(f"{PLAYER}.yaw") == pytest.approx(yaw + 0.5)
