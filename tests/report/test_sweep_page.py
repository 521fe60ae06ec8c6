"""What a sweep says of itself: quantiles, ranks, failures, and colours on which numbers can be read."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from hyloop.report.sweep_picture import COLD_TO_HOT, HIGHEST, pictures
from hyloop.report.sweep_result import Swept

EXACT = 1e-12  # of a correlation, computed in another order
READABLE = 4.5  # contrast of WCAG AA


def swept(keys, values, failed=()):
    outcomes = ["stopped" if k in failed else "complete" for k in range(len(values))]
    return Swept(
        title="",
        source="x.toml",
        folder="out",
        kind="grid",
        keys=keys,
        measures={"drift": "peak drift.*"},
        units={"drift": "m", "sites.damper1.device.k": "N/m"},
        outcomes=tuple(outcomes),
        reasons=tuple(f"limit: step {k}" if k in failed else "" for k in range(len(values))),
        values={"drift": [None if k in failed else value for k, value in enumerate(values)]},
    )


def test_ranks_are_those_of_scipy_also_with_ties_and_failures(rng):
    k = rng.integers(0, 5, 60).astype(float)
    y = rng.normal(size=60) - 0.3 * k
    y[:10] = y[10:20]
    found = swept({"a.k": k.tolist(), "seed": list(range(60))}, y.tolist(), failed={3, 7})
    good = np.isfinite(found.measure("drift"))
    assert found.rank("drift", "a.k") == pytest.approx(spearmanr(k[good], y[good]).statistic, abs=EXACT)
    assert found.numeric == ["a.k"] and found.complete == 58
    assert found.failures() == [("stopped", "limit: step 3", 2)]
    assert "2 of 60 runs did not complete" in found.sentence()
    assert found.quantiles("drift")[2] == np.median(y[good])


def test_what_does_not_change_has_no_rank():
    found = swept({"k": [1.0, 2.0, 3.0], "same": [1, 1, 1]}, [0.5, 0.5, 0.5])
    assert np.isnan(found.rank("drift", "k")) and found.rank_text("drift", "k") == "–" and found.swept == ["k"]
    assert found.strongest("drift") is None


def test_none_complete_is_said():
    found = swept({"k": [1.0, 2.0]}, [0.1, 0.2], failed={0, 1})
    assert found.sentence() == "None of 2 runs completed: limit: step 0"


def test_keys_are_called_by_their_last_words_as_far_as_they_differ():
    keys = {"sites.damper1.device.k": [1.0], "sites.damper2.device.k": [1.0], "integrator.dt": [1.0], "a.drift": [1.0]}
    names = swept(keys, [0.1]).names
    assert names["integrator.dt"] == "dt" and names["sites.damper1.device.k"] == "damper1.device.k"
    assert names["a.drift"] == "a.drift"  # a measure has this name


@pytest.mark.parametrize(
    ("keys", "kinds"),
    [
        ({"k": [1.0, 2.0, 3.0, 4.0] * 4}, ["scatter"]),
        (
            {"k": [1.0, 2.0, 3.0, 4.0] * 4, "m": np.repeat([1.0, 2.0, 3.0, 4.0], 4).tolist()},
            ["heatmap", "scatter", "scatter"],
        ),
        ({"k": [1.0, 2.0, 3.0, 4.0] * 4, "record": list("aabbccdd") * 2}, ["scatter", "box"]),
        ({"record": list("aabbccdd") * 2}, ["box"]),
        ({name: np.linspace(0.0, 1.0, 16).tolist() for name in "klm"}, ["scatter"] * 4),
        ({"k": [1.0] * 16}, []),
    ],
)
def test_the_picture_goes_with_the_keys_and_fits_the_screen(keys, kinds):
    drawn = pictures(swept(keys, np.linspace(0.01, 0.02, 16).tolist(), failed={5}), "drift")
    assert [one.data[0]["type"] for one in drawn] == kinds
    assert all(one.layout["height"] <= HIGHEST for one in drawn)


def test_a_map_has_medians_and_a_band_its_quantiles():
    k, m = np.meshgrid([1.0, 2.0], [10.0, 20.0])
    keys = {"k": np.tile(k.ravel(), 3).tolist(), "m": np.tile(m.ravel(), 3).tolist()}
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 9.0, 1.0, 9.0, 9.0, 4.0, 2.0]) * 1e-3
    heat, *_ = pictures(swept(keys, values.tolist()), "drift")
    by_rank = heat.data[0]
    cells = {
        (x, y): z
        for y, row in zip(by_rank["y"], by_rank["z"], strict=True)
        for x, z in zip(by_rank["x"], row, strict=True)
    }
    flat = {
        (a, b): np.median(1e3 * values[(np.array(keys["k"]) == a) & (np.array(keys["m"]) == b)])
        for a in (1, 2)
        for b in (10, 20)
    }
    turned = heat.layout["xaxis"]["title"]["text"] == "m"
    for (a, b), wanted in flat.items():
        assert cells[(f"{b}", f"{a}") if turned else (f"{a}", f"{b}")] == pytest.approx(wanted)


@pytest.mark.parametrize("color", COLD_TO_HOT)
def test_black_numbers_are_read_on_every_color(color):
    linear = [
        c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4
        for c in (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    ]
    light = np.dot(linear, [0.2126, 0.7152, 0.0722])
    assert (light + 0.05) / 0.05 > READABLE
