"""Reports: the page is whole, shows what was recorded, asks nothing of the network; figures can be printed."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from models import braced_loop, pulse
from oracles.pages import Page, extremes, ink
from plotly.offline import get_plotlyjs

from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.record import Recording
from hyloop.report.charts import COLORS
from hyloop.report.display import rows_to_draw
from hyloop.report.figures import save_figures
from hyloop.report.page import Section
from hyloop.report.run_page import Table, write_report

DT = 0.01  # s
PAGE_LIMIT = 6_000_000  # bytes; mail servers and browsers are at ease with it
SINGLE = 1e-6  # numbers on the page have single precision, 6e-8, after a conversion of units
SHOWN = 5e-4  # tables show four digits
RIGID = 0.1  # at 20 Hz an oscillator amplifies the pulse's 5.3 Hz by 1/(1 - (5.3/20)²) = 1.08, and only a part of it


class Recorded(Recording):
    """A recording with fewer channels at hand."""

    def only(self, *patterns):
        keep = [k for k, name in enumerate(self.names) if name.startswith(patterns)]
        names, units = (tuple(x[k] for k in keep) for x in (self.names, self.units))
        return replace(self, data=self.data[:, keep], names=names, units=units)


@pytest.fixture(scope="module")
def recordings():
    """The braced six-story frame under a pulse of three sizes."""
    loop, found = braced_loop(dt=DT), {}
    for name, amplitude in (("weak", 2.0), ("medium", 4.0), ("strong", 6.0)):
        r = loop.run(pulse(DT, amplitude=amplitude))
        attributes = {"seed": 3, "amplitude": amplitude, "versions": {"numpy": "2"}, "timing": {"elapsed [s]": 1.5}}
        found[name] = Recorded(r.time, r.data, r.names, r.units, attributes)
    return found


# --- thinning ------------------------------------------------------------------------------------------------------

histories = arrays(float, st.integers(1, 400), elements=st.floats(-1e6, 1e6, width=32))


@given(histories, st.integers(4, 100))
def test_thinning_keeps_the_extremes_and_the_ends(signal, points):
    rows = rows_to_draw(points, signal)
    assert len(rows) <= max(points, 4)
    assert (np.diff(rows) > 0).all() and rows[0] == 0 and rows[-1] == len(signal) - 1
    assert np.array_equal(extremes(signal[rows]), extremes(signal))


@given(histories, st.integers(6, 100), st.integers(0, 1000))
def test_thinning_keeps_the_extremes_of_a_loop(d, points, seed):
    f = np.random.default_rng(seed).permutation(d)
    rows = rows_to_draw(points, d, f)
    assert len(rows) <= points and (np.diff(rows) > 0).all()
    assert np.array_equal(extremes(d[rows]), extremes(d)) and np.array_equal(extremes(f[rows]), extremes(f))


def test_a_loop_before_a_long_rest_stays_round():
    """One turn of a circle in the first hundredth of the time: no chord of the thinned one is longer than 5 degrees."""
    angle = np.r_[np.linspace(0, 2 * np.pi, 1000), np.full(99_000, 2 * np.pi)]
    d, f = np.cos(angle), np.sin(angle)
    rows = rows_to_draw(400, d, f)
    assert np.diff(angle[rows]).max() < np.radians(5.0)


def test_numbers_that_are_not_finite_are_left_out():
    signal = np.sin(np.arange(1000.0))
    signal[[3, 500, 999]] = np.nan, np.inf, -np.inf
    assert np.isfinite(signal[rows_to_draw(50, signal)]).all()


def test_too_few_points_are_refused():
    with pytest.raises(OutOfBounds, match="give 6 or more"):
        rows_to_draw(5, np.zeros(9), np.zeros(9))


# --- the page ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3])
def test_the_page_shows_what_was_recorded(tmp_path, recordings, count):
    shown = dict(list(recordings.items())[:count])
    page = Page(write_report(tmp_path / "new" / "page.html", shown, title="Six stories", notes=["A frame."]))
    assert page.headings == [
        "Six stories",
        "Results",
        "Hysteresis",
        "Histories",
        "Response spectra",
        "Timing",
        "Provenance",
    ]
    assert "A frame." in page.text and "complete" in page.text
    loops, times = page.lines(0), page.lines(1)
    assert len(loops) == 12 * count and len(times) == (1 + 12 + 1) * count
    for name, r in shown.items():
        for k in range(1, 13):
            d, f = loops[f"brace{k}", name]
            np.testing.assert_allclose(extremes(d), 1e3 * extremes(r[f"brace{k}.d"]), rtol=SINGLE)
            np.testing.assert_allclose(extremes(f), 1e-3 * extremes(r[f"brace{k}.f"]), rtol=SINGLE)
            t, f = times[f"brace{k}.f", name]
            np.testing.assert_allclose(extremes(f), 1e-3 * extremes(r[f"brace{k}.f"]), rtol=SINGLE)
            np.testing.assert_allclose(extremes(t), extremes(r.time), rtol=SINGLE)
        np.testing.assert_allclose(extremes(times["u.6", name][1]), 1e3 * extremes(r["u.6"]), rtol=SINGLE)
        np.testing.assert_allclose(extremes(times["ground", name][1]), extremes(r["ground"]), rtol=SINGLE)
        _, psa = page.lines(2)["ground", name]
        assert psa[0] == pytest.approx(np.abs(r["ground"]).max(), rel=RIGID)  # a stiff oscillator follows the ground


def test_every_chart_has_a_description(tmp_path, recordings):
    page = Page(write_report(tmp_path / "page.html", recordings, title="x"))
    assert len(page.plots) == 4
    assert all(plot["role"] == "img" and "recordings" in plot["aria-label"] for plot in page.plots[:3])


def test_the_page_loads_nothing(tmp_path, recordings):
    page = Page(write_report(tmp_path / "page.html", recordings, title="x"))
    assert all(target.startswith("#") for target in page.loads)
    assert page.policy.startswith("default-src 'none'") and "http" not in page.policy
    library, own = page.scripts
    assert library == get_plotlyjs().replace("\r\n", "\n")
    assert "http" not in own and "showSendToCloud: false" in own
    assert "http" not in json.dumps(page.specs)


def test_text_is_escaped_everywhere(tmp_path, recordings):
    evil = "<script>alert('x')</script>&amp;"
    r = replace(recordings["weak"], attributes={evil: evil, "timing": {evil: 1.0}})
    path = write_report(
        tmp_path / "page.html",
        {evil: r},
        title=evil,
        notes=[evil],
        summary=[Table(evil, [evil], [[evil]])],
        sections=[Section(evil, [evil])],
    )
    page = Page(path)
    assert len(page.scripts) == 2  # plotly.js and our own, no third
    assert page.headings[0] == evil and page.cells[0] == evil and page.headings[2] == evil
    assert page.specs[0]["data"][0]["name"] == "&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;&amp;amp;"


def test_a_long_study_fits_on_a_page(tmp_path, recordings, rng):
    """Twelve braces, three recordings, half a minute at 1024 Hz, and more changing parameters than can be read."""
    rows, r = 30 * 1024, recordings["weak"].only("u.6", "brace", "ground")
    moving = [k for k, name in enumerate(r.names) if name.endswith((".6", ".d", ".f", "ground", ".k0", ".beta", ".p"))]
    big = {}
    for name in recordings:
        data = np.zeros((rows, len(r.names)))
        data[:, moving] = rng.normal(size=(rows, len(moving)))
        big[name] = replace(r, time=np.arange(rows) / 1024, data=data)
    path = write_report(tmp_path / "page.html", big, title="x")
    assert path.stat().st_size < PAGE_LIMIT
    page = Page(path)
    assert "so every peak is there" in page.text and "The first 24 of 36 are shown" in page.text
    d, _ = page.lines(0)["brace7", "medium"]
    np.testing.assert_allclose(extremes(d), 1e3 * extremes(big["medium"]["brace7.d"]), rtol=SINGLE)


@pytest.mark.parametrize(
    ("channels", "sections"),
    [(("u.", "ground"), ["Histories", "Response spectra"]), (("brace1.",), ["Hysteresis", "Histories"]), (("v.",), [])],
)
def test_missing_channels_leave_their_section_out(tmp_path, recordings, channels, sections):
    page = Page(write_report(tmp_path / "page.html", {"a": recordings["weak"].only(*channels)}, title="x"))
    assert [h for h in page.headings[1:] if h not in ("Results", "Timing", "Provenance")] == sections


def test_recordings_with_different_channels(tmp_path, recordings):
    mixed = {"bare": recordings["weak"].only("u.", "ground"), "braced": recordings["weak"]}
    page = Page(write_report(tmp_path / "page.html", mixed, title="x"))
    assert {name for _, name in page.lines(0)} == {"braced"}
    assert ("ground", "bare, braced") in page.lines(1)  # the same motion is drawn once


def test_a_page_of_tables_only(tmp_path):
    path = write_report(tmp_path / "page.html", {}, title="x", summary=[Table("T", ["a", "b"], [[1.23456, None]])])
    page = Page(path)
    assert page.cells == ["1.235", ""] and not any("Plotly.newPlot=" in script for script in page.scripts)
    assert path.stat().st_size < 100_000  # without plotly.js


def test_parameters_that_change_are_drawn(tmp_path, recordings):
    r = recordings["weak"].only("brace1.")
    data = r.data.copy()
    data[:, r.names.index("brace1.k0")] *= np.linspace(1.0, 0.5, len(data))
    changed = replace(r, data=data)
    lines = Page(write_report(tmp_path / "page.html", {"a": changed}, title="x")).lines(2)
    assert list(lines) == [("brace1.k0", "a")]
    np.testing.assert_allclose(lines["brace1.k0", "a"][1], 1e-6 * changed["brace1.k0"], rtol=SINGLE)  # N/m to kN/mm
    # a recording that says which channels are parameters is believed
    declared = replace(changed, attributes={"parameters": ["brace1.v"]})
    assert list(Page(write_report(tmp_path / "page.html", {"a": declared}, title="x")).lines(2)) == [("brace1.v", "a")]


def test_peaks_and_energy_of_a_viscous_loop(tmp_path):
    """A damper f = c v under d = D sin ωt dissipates π c ω D² in a turn."""
    c, D, omega = 2e5, 0.02, 3.0
    t = np.linspace(0.0, 2 * np.pi / omega, 5001)
    data = np.column_stack([D * np.sin(omega * t), c * D * omega * np.cos(omega * t)])
    r = Recorded(t, data, ("x.d", "x.f"), ("m", "N"))
    page = Page(write_report(tmp_path / "page.html", {"turn": r}, title="x"))
    assert page.cells[:2] == ["x", "turn"]
    expected = [1e3 * D, 1e-3 * c * D * omega, 1e-3 * np.pi * c * omega * D**2]
    np.testing.assert_allclose([float(cell) for cell in page.cells[2:5]], expected, rtol=SHOWN)
    # eight equal ones dissipate eight times as much, and the page says which number is which
    eight = Page(write_report(tmp_path / "page.html", {"turn": replace(r, attributes={"counts": {"x": 8}})}, title="x"))
    assert float(eight.cells[5]) == 8.0
    assert float(eight.cells[6]) == pytest.approx(8 * expected[2], rel=SHOWN)


def test_a_run_that_failed_is_drawn_until_then(tmp_path, recordings):
    r = recordings["weak"]
    data = r.data.copy()
    response = [k for k, name in enumerate(r.names) if name not in ("t", "ground")]
    data[-1, response] = np.nan
    data[-2, response] = 1e300
    path = write_report(tmp_path / "page.html", {"a": replace(r, data=data, complete=False)}, title="x")
    page = Page(path)
    assert "stopped early" in page.cells and "nan" not in page.cells
    for spec, count in enumerate((12, 1 + 12 + 1, 1)):
        lines = page.lines(spec)
        assert len(lines) == count and all(np.isfinite(xy).all() for xy in lines.values())
    # up to the last good sample, the one before the two that went astray
    good = extremes(r["brace3.f"][:-2])
    drawn = page.lines(0)["brace3", "a"][1].astype(float)
    np.testing.assert_allclose(extremes(drawn[np.abs(drawn) < 1e200]), 1e-3 * good, rtol=SINGLE)


def test_timing_and_provenance_stand_beside_each_other(tmp_path, recordings):
    cells = Page(write_report(tmp_path / "page.html", recordings, title="x")).cells
    k = cells.index("amplitude")
    assert cells[k : k + 4] == ["amplitude", "2.000", "4.000", "6.000"]
    assert cells[cells.index("versions.numpy") + 1] == "2" and cells[cells.index("elapsed [s]") + 1] == "1.500"


def test_the_same_recordings_give_the_same_page(tmp_path, recordings):
    first, second = (write_report(tmp_path / f"{k}.html", recordings, title="x").read_bytes() for k in range(2))
    assert first == second


def test_bad_input_is_refused_before_anything_is_written(tmp_path):
    empty = Recorded(np.zeros(0), np.zeros((0, 1)), ("u.1",), ("m",))
    with pytest.raises(BadInput, match="'a' has no samples"):
        write_report(tmp_path / "page.html", {"a": empty}, title="x")
    with pytest.raises(BadShape, match="row 2 has 1 cells, the table 2 columns"):
        Table("T", ["a", "b"], [[1, 2], [3]])
    assert not list(tmp_path.iterdir())


# --- printed figures -----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_figures_for_print(tmp_path, recordings):
    few = {name: recordings[name].only("u.", "brace1.", "brace2.", "brace12.") for name in ("weak", "strong")}
    paths = save_figures(tmp_path / "figures", few, formats=("png", "pdf", "svg"))
    assert sorted(p.name for p in paths) == [
        f"{n}.{k}" for n in ("histories", "hysteresis") for k in ("pdf", "png", "svg")
    ]
    lines = {"hysteresis": 3 * 2, "histories": (1 + 3) * 2}  # roof displacement, and the force of every site
    for path in paths:
        content = path.read_bytes()
        if path.suffix == ".png":
            assert int.from_bytes(content[16:20], "big") > 1900  # 300 dots an inch over the width of a page
            assert all(ink(path, color) > 1000 for color in COLORS[:2])  # of both recordings
        elif path.suffix == ".pdf":
            assert content.startswith(b"%PDF") and b"%%EOF" in content[-32:]
        else:
            text = content.decode()
            for label in ("force [kN]", "brace12", "weak", "strong"):
                assert label in text
            curves = [d for d in re.findall(r'<path d="([^"]*)" clip-path', text) if d.count("L") > 50]  # no grid
            assert len(curves) == lines[path.stem]
    assert "deformation [mm]" in (tmp_path / "figures" / "hysteresis.svg").read_text(encoding="utf-8")


def test_figures_of_nothing_and_of_an_unknown_kind(tmp_path, recordings):
    assert save_figures(tmp_path / "none", {"a": recordings["weak"].only("v.")}) == []
    with pytest.raises(UnknownName, match="Did you mean 'png'"):
        save_figures(tmp_path / "none", recordings, formats=["pnq"])
    assert not (tmp_path / "none").exists()
