"""Units: sizes from the definitions, refusals that name everything needed to correct the file."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hyloop.devices
from hyloop.core import Block
from hyloop.errors import BadInput
from hyloop.files.units import UNITS, parse_unit, quantity

ROUND_OFF = 1e-14  # a few products of numbers that have no exact binary form


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("23 kN", "N", 23e3),
        ("20kN", "N", 20e3),
        ("0.39 s", "s", 0.39),
        ("1/1024 s", "s", 1 / 1024),
        ("-2.5e-3 m", "m", -2.5e-3),
        (".5 mm", "m", 5e-4),
        ("74227 N/mm", "N/m", 74227e3),
        ("5e-9 1/(N mm)", "1/J", 5e-6),
        ("0.5 1/N", "m/J", 0.5),
        ("3/J", "1/J", 3.0),
        ("1000 gal", "m/s2", 10.0),
        ("0.35 g", "m/s2", 0.35 * 9.80665),
        ("36.19 t", "kg", 36190.0),
        ("5 %", "-", 0.05),
        ("2.54 in", "m", 2.54 * 0.0254),
        ("36 lbf", "N", 36 * 4.4482216152605),
        ("20 kip", "N", 20 * 4448.2216152605),
        ("50 ksi", "Pa", 50 * 6894757.293168361),
        ("30 kN s/m", "N s/m", 30e3),
        ("30 kN*s/m", "N s/m", 30e3),
        ("30 kN·s/m", "N s/m", 30e3),
        ("2 m/s/s", "m/s2", 2.0),
        ("2 m/s^2", "m/s2", 2.0),
        ("2 m s**-2", "m/s2", 2.0),
        ("2 m/s²", "m/s2", 2.0),
        ("3 (m/s)^2", "m2/s2", 3.0),
        ("120 1/min", "Hz", 2.0),
        ("180 deg", "-", math.pi),
        ("7", "1/m^n", 7.0),
        ("3 daN", "N", 30.0),
        (12, "N", 12.0),
        (0.1, "N (s/m)^alpha", 0.1),
    ],
)
def test_value(text, unit, value):
    assert quantity(text, unit) == pytest.approx(value, rel=ROUND_OFF)


@pytest.mark.parametrize(
    ("given", "unit", "words"),
    [
        ("23 kg", "N", ["23 kg", "in N", "'kg'", "'23 kN'"]),
        ("23 kn", "N", ["did you mean 'kN'? Write"]),
        ("23 mpa", "Pa", ["did you mean 'MPa' or 'mPa'?"]),
        ("23 kips", "N", ["did you mean 'kip'?"]),
        ("23 dN", "N", ["'dN' is not a known unit. Write"]),
        ("3 g", "kg", ["acceleration of gravity"]),
        ("3 lb", "N", ["lbf"]),
        ("5 1/mm", "1/m^n", ["plain number"]),
        ("3 N/m s", "N s/m", ["brackets"]),
        ("3 N/", "N", ["too early"]),
        ("3 (N", "N", ["bracket"]),
        ("3 N)", "N", ["bracket"]),
        ("3 ()", "N", ["lacks a unit"]),
        ("3 N^", "N", ["power"]),
        ("3 N^999999999", "N", ["power"]),
        ("3 5 N", "N", ["'5'"]),
        ("3 $", "N", ["'$'"]),
        ("1_000 N", "N", ["1_000"]),
        ("1/0 s", "s", ["zero"]),
        ("", "N", ["number"]),
        ("fast", "m/s", ["number", "'25 mm/s'"]),
        ("1e999 N", "N", ["finite"]),
        (math.nan, "N", ["finite"]),
        (math.inf, "N", ["finite"]),
        (10**400, "N", ["finite"]),
        (1e300, "N", ["1e+30"]),
        ("1e-300 kN", "N", ["1e-30"]),
        (True, "N", ["truth value"]),
        ([1.0], "N", ["list"]),
        ({"a": 1}, "N", ["table"]),
        (None, "N", ["NoneType"]),
    ],
)
def test_refused(given, unit, words):
    with pytest.raises(BadInput) as caught:
        quantity(given, unit, "sites.damper1.device.Fc")
    for word in ["sites.damper1.device.Fc: ", "Write for example", *words]:
        assert word in str(caught.value)


@given(st.floats(-1e18, 1e18).filter(lambda x: x == 0.0 or abs(x) > 1e-18), st.sampled_from(sorted(UNITS)))
def test_a_number_with_its_own_unit_is_the_number_times_its_size(number, name):
    expected = number * UNITS[name].size
    assert quantity(f"{number!r} {name}", name) == pytest.approx(expected, rel=ROUND_OFF)


@given(st.text(max_size=20), st.sampled_from(["N", "-", "1/m^n", "m/s2"]))
def test_any_text_is_read_or_refused(text, unit):
    try:
        assert math.isfinite(quantity(text, unit))
    except BadInput as error:
        assert "wanted a quantity" in str(error)


def test_units_of_all_laws_are_understood():
    laws = [law for name in hyloop.devices.__all__ if isinstance(law := getattr(hyloop.devices, name), Block)]
    symbolic = set()
    for law in laws:
        for unit in [spec.unit for spec in law.params.values()] + list(law.state.values()):
            try:
                parse_unit(unit)
            except BadInput:
                symbolic.add(unit)
    assert symbolic == {"1/m^n", "N (s/m)^alpha"}
