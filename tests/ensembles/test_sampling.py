"""Runs of a sweep: how many, which, and what stands for them in the table."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hyloop.ensembles.sampling import extremes, sample
from hyloop.errors import BadInput
from hyloop.files.sweep import Range, Sweep
from hyloop.files.units import in_si

TABLES = {"excitation": {"kind": "synthetic", "peak": "4 m/s2", "sds": "1 g"}}
EXACT = 1e-15  # relative: a factor of ten, rounded once


def sweep(**given):
    return Sweep.model_validate(given)


def test_a_grid_has_every_value_with_every_other_and_si_columns():
    found = sample(sweep(keys={"a.k": ["1 kN", "2 kN"], "b": ["x", "y"], "c": [1, 2, 3]}), TABLES)
    wanted = list(itertools.product(["1 kN", "2 kN"], "xy", [1, 2, 3]))
    assert found.runs == tuple((f"a.k={k}", f"b={b}", f"c={c}") for k, b, c in wanted)
    assert [list(keys.values()) for keys in found.keys] == [[1e3 * int(k[0]), b, c] for k, b, c in wanted]
    assert found.units == {"a.k": "N"} and all(isinstance(keys["c"], int) for keys in found.keys)


def test_keys_with_dots_are_tables_to_toml_and_ranges_are_not():
    given = {"excitation": {"low": ["1 Hz"], "high": ["2 Hz"]}, "a": {"k": {"low": "1 kN", "high": "2 kN"}}}
    assert sweep(kind="sobol", keys=given).keys == {
        "excitation.low": ("1 Hz",),
        "excitation.high": ("2 Hz",),
        "a.k": Range(1e3, 2e3, "N"),
    }


def test_lists_go_side_by_side():
    found = sample(sweep(kind="list", keys={"a": [1, 2], "b": ["u", "v"]}), TABLES)
    assert found.runs == (("a=1", "b=u"), ("a=2", "b=v"))


def test_words_that_toml_would_read_otherwise_keep_being_words():
    found = sample(sweep(keys={"a": ["true", "180", "x y"], "b": [[1, 2]]}), TABLES)
    assert [run[0] for run in found.runs] == ['a="true"', 'a="180"', "a=x y"] and found.runs[0][1] == "b=[1, 2]"


@pytest.mark.parametrize("kind", ["latin_hypercube", "sobol"])
@pytest.mark.parametrize("runs", [1, 5, 64])
def test_drawn_points_fill_their_ranges_and_are_the_same_again(kind, runs):
    keys = {
        "a": {"low": "1 kN", "high": "100 kN", "log": True},
        "b": {"low": 1, "high": 4, "whole": True},
        "c": ["x", "y"],
    }
    spec = sweep(kind=kind, keys=keys, runs=runs, seed=3)
    found = sample(spec, TABLES)
    assert found == sample(spec, TABLES) and len(found.runs) == runs
    a = np.array([k["a"] for k in found.keys])
    assert np.all((a >= 1e3) & (a <= 1e5)) and found.units == {"a": "N"}
    assert {k["b"] for k in found.keys} <= {1, 2, 3, 4} and {k["c"] for k in found.keys} <= {"x", "y"}
    assert [float(run[0].partition("=")[2]) for run in found.runs] == a.tolist()
    if runs == 64:  # each of 64 equal pieces of the logarithm has one point
        pieces = np.floor(64 * np.log(a / 1e3) / np.log(100.0)).astype(int)
        assert sorted(pieces.tolist()) == list(range(64))
        assert all(sum(k["b"] == n for k in found.keys) == 16 for n in (1, 2, 3, 4))


def test_extremes_have_the_ends_and_the_words():
    found = sample(sweep(keys={"a": [3, 1, 2, 9, 4], "b": ["x", "y", "z"]}), TABLES)
    tried = extremes(found)
    assert {run[0] for run in tried} >= {"a=3", "a=1", "a=9", "a=4"} and {run[1] for run in tried} == {
        "b=x",
        "b=y",
        "b=z",
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"keys": {"a": []}}, "the list is empty"),
        ({"keys": {"a": 3}}, "wanted a list"),
        ({"keys": {"a": [1, 1]}}, "stands there twice"),
        ({"kind": "list", "keys": {"a": [1], "b": [1, 2]}}, "equally long"),
        ({"keys": {"a": {"low": 1, "high": 2}}}, "has no ranges"),
        ({"kind": "sobol", "keys": {"a": {"low": "2 kN", "high": "1 kN"}}}, "is above high"),
        ({"kind": "sobol", "keys": {"a": {"low": -1, "high": 2, "log": True}}}, "has no logarithm"),
        ({"kind": "sobol", "keys": {"a": {"low": "1 kN", "high": "2 m"}}}, "not of one kind"),
        ({"kind": "sobol", "keys": {"a": {"low": "1 kN"}}}, "has no high"),
        ({"kind": "sobol", "keys": {"a": {"low": "x", "high": "y"}}}, "wanted a number"),
        ({"kind": "sobol", "keys": {"a": {"low": 1, "high": 2.5, "whole": True}}}, "whole numbers"),
        ({"kind": "sobol", "keys": {"a": {"low": 1, "high": 2, "lag": True}}}, "no 'lag'"),
        ({"keys": {"a": list(range(1001)), "b": list(range(1001))}}, "1002001 runs"),
        ({"runs": 1_000_001}, "1000000"),
        ({"records": [], "keys": {"a": [1]}}, "is empty"),
        ({"measures": {}, "keys": {"a": [1]}}, "is empty"),
    ],
)
def test_what_cannot_be_swept_is_refused(given, said):
    with pytest.raises(ValidationError, match=said):
        sweep(**given)


def test_nothing_to_sweep_is_refused():
    with pytest.raises(BadInput, match="nothing is swept"):
        sample(sweep(), TABLES)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of three records."""
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    for k, name in enumerate(("north_1", "north_2", "south_1"), 1):
        rows = "\n".join(f"{0.01 * i:.2f} {k * np.sin(0.3 * i):.6f}" for i in range(200))
        (tmp_path / f"{name}.txt").write_text(f"t (s) a (m/s2)\n{rows}\n")
    return tmp_path


@pytest.mark.parametrize(
    ("records", "names"), [("north*", ["north_1", "north_2"]), (2, ["north_1", "north_2"]), (["south_1"], ["south_1"])]
)
def test_records_take_the_place_of_the_excitation_and_keep_its_peak(folder, records, names):
    found = sample(sweep(records=records, keys={"seed": [1, 2]}), TABLES)
    assert [keys["record"] for keys in found.keys] == [name for name in names for _ in (1, 2)]
    assert found.runs[0] == (f'excitation={{ "kind" = "record", "name" = "{names[0]}", "peak" = "4 m/s2" }}', "seed=1")


@pytest.mark.parametrize(
    ("records", "said"),
    [("west*", "fits 'west"), (9, "has 3"), (["west"], "unknown record"), (["north_1"] * 2, "twice")],
)
def test_records_that_are_not_there_are_refused(folder, records, said):
    with pytest.raises(BadInput, match=said):
        sample(sweep(records=records), TABLES)


@given(st.floats(1e-6, 1e6), st.sampled_from(["N", "kN", "MPa", "Hz", "mm/s", "%", "kN s/m", "kg", "1/(N mm)"]))
def test_a_quantity_of_unknown_kind_is_read_in_si(number, unit):
    from hyloop.files.units import parse_unit, quantity

    value, name = in_si(f"{number!r} {unit}")
    assert value == pytest.approx(number * parse_unit(unit).size, rel=EXACT)
    assert quantity(1.0, name) == 1.0 and parse_unit(name).dimension == parse_unit(unit).dimension
    assert parse_unit(name).size == 1.0


@pytest.mark.parametrize("given", ["lugre", "1 foo", "1/0 s", True, None, float("nan"), "", [1]])
def test_what_is_no_quantity_is_none(given):
    assert in_si(given) is None
