"""Story profiles and their envelope: the numbers of the channels, means and bands over recordings."""

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.report.comparison_page import write_comparison
from hyloop.report.profiles import envelope_groups, profile, profile_chart, profiles

STORIES, HEIGHT = 3, 4.0  # m
SINGLE = 1e-6  # relative, of single precision


def made(seed, across=True, stories=STORIES, title="", size=1.0):
    """A recording with drifts and accelerations of its own in every story."""
    random, t = np.random.default_rng(seed), 0.01 * np.arange(200)
    columns = {"ground": ("m/s2", random.normal(size=200))}
    for way, dof in (("", "ux"), ("_z", "uz"))[: 1 + across]:
        for k in range(1, stories + 1):
            drift = size * 0.01 * random.normal(size=200)
            columns[f"drift{way}.{k}"] = "m", drift
            columns[f"drift_ratio{way}.{k}"] = "-", drift / HEIGHT
            columns[f"a_abs.f{k}.{dof}"] = "m/s2", random.normal(size=200)
    floors = [f"f{k}.ux" for k in range(1, stories + 1)]
    building = {"floors": floors, "heights": [HEIGHT] * stories, "across": [f[:-1] + "z" for f in floors] * across}
    data = np.column_stack([values for _, values in columns.values()])
    units = tuple(unit for unit, _ in columns.values())
    return Recording(t, data, tuple(columns), units, {"building": building, "title": title})


def stairs(line):
    """Values of the stories of a drawn line, from the bottom up."""
    assert line.y[0] == 0.5 and line.y[-1] == (len(line.y) - 1) / 2 + 0.5
    return line.x[1::2]


def test_a_profile_is_that_of_the_channels():
    r = made(0)
    for way, suffix in (("x", ""), ("z", "_z")):
        found = profile(r, way)
        for k in range(STORIES):
            drift = r[f"drift{suffix}.{k + 1}"]
            assert found.drift[k] == np.abs(drift).max() and found.residual[k] == abs(drift[-1])
            assert found.ratio[k] == pytest.approx(found.drift[k] / HEIGHT, rel=1e-12)
            assert found.acceleration[k] == np.abs(r[f"a_abs.f{k + 1}.u{way}"]).max()
    assert profile(made(0, across=False), "z") is None
    assert profile(r.select("ground"), "x") is None
    assert profile(r.select("drift.*")).acceleration is None and profile(r.select("drift.*")).ratio is None


def test_directions_stand_below_each_other():
    both, one = profiles({"a": [made(0)]}), profiles({"a": [made(0, across=False)]})
    kinds = ["peak drift ratio", "drift at the end", "peak acceleration"]
    assert [panel.title for panel in both] == [f"{kind}, along {way}" for way in "xz" for kind in kinds]
    assert [panel.title for panel in one] == ["peak drift", *kinds]
    assert profile_chart({"a": [made(0)]}).columns == 3 and profile_chart({}) is None


def test_several_recordings_are_a_mean_in_a_band():
    recordings = [made(seed) for seed in range(4)]
    panel = profiles({"with": recordings, "one": recordings[:1]})[0]
    band, mean, single = panel.lines
    ratios = 100 * np.array([profile(r).ratio for r in recordings])
    np.testing.assert_allclose(stairs(mean), ratios.mean(axis=0))
    np.testing.assert_allclose(stairs(single), ratios[0])
    half = len(band.x) // 2
    assert band.filled and not mean.filled and band.series == mean.series != single.series
    np.testing.assert_allclose(band.x[1:half:2], ratios.min(axis=0))
    np.testing.assert_allclose(band.x[::-1][1:half:2], ratios.max(axis=0))
    np.testing.assert_array_equal(band.y[:half], band.y[::-1][:half])
    with pytest.raises(BadInput, match=r"\[2, 3\] stories"):
        profiles({"mixed": [made(0), made(1, stories=2)]})


def test_many_recordings_are_grouped_by_what_they_have():
    few = {"a": made(0), "b": made(1)}
    assert {name: len(of) for name, of in envelope_groups(few).items()} == {"a": 1, "b": 1}
    many = {f"m{k}": made(k) for k in range(3)} | {f"m{k}-bare": made(9 + k) for k in range(2)}
    many |= {"x": made(4, title="Frame, without devices")}
    assert {name: len(of) for name, of in envelope_groups(many).items()} == {"with devices": 3, "without devices": 3}
    other = envelope_groups(many | {"small": made(5, stories=2)})
    assert {name: len(of) for name, of in other.items()} == {
        "with devices, 3 stories": 3,
        "without devices, 3 stories": 3,
        "with devices, 2 stories": 1,
    }


def test_the_page_of_many_recordings_has_the_envelope(tmp_path):
    recordings = {f"m{k}-bare": made(k) for k in range(3)} | {f"m{k}": made(k, size=0.5) for k in range(3)}
    assert list(envelope_groups(recordings)) == ["with devices", "without devices"]  # whatever came first
    page = Page(write_comparison(tmp_path / "page.html", recordings, "Six"))
    chart = page.chart("peak drift ratio, along x")
    x, _ = page.lines(chart)["peak drift ratio, along z", "without devices"]
    wanted = 100 * np.mean([profile(made(k), "z").ratio for k in range(3)], axis=0)
    np.testing.assert_allclose(x[1::2], wanted, rtol=SINGLE)
    assert "with devices: 3, without devices: 3" in page.text
