"""Ground motions as people have them: tables with German headings, units in a row, decimal commas; or right advice."""

import re

import numpy as np
import pytest

from hyloop.errors import BadInput
from hyloop.files.excitations import Record, ground_motion
from hyloop.hazards import G, read_record

DT, N = 0.01, 200
A = np.round(3.0 * np.sin(0.3 * np.arange(N)) * np.exp(-0.01 * np.arange(N)), 6)  # m/s2
ROWS = [(DT * k, float(A[k])) for k in range(N)]


def comma(number, digits=6):
    return f"{number:.{digits}f}".replace(".", ",")


TEXTS = {
    "semicolons and decimal commas": "Zeit [s];Beschleunigung [m/s²]\n"
    + "".join(f"{comma(t)};{comma(a)}\n" for t, a in ROWS),
    "a row of units": "Zeit;Beschleunigung\ns;m/s2\n" + "".join(f"{comma(t)};{comma(a)}\n" for t, a in ROWS),
    "milliseconds": "Zeit [ms];Beschl. [m/s2]\n" + "".join(f"{1e3 * t:.0f};{comma(a)}\n" for t, a in ROWS),
    "tabs and words above": "Messung vom 3. Mai\nKanal 4\n\nTime [s]\tAcc [m/s2]\n"
    + "".join(f"{comma(t)}\t{comma(a)}\n" for t, a in ROWS),
    "in g": "Zeit [s];ag [g]\n" + "".join(f"{comma(t)};{comma(a / G, 9)}\n" for t, a in ROWS),
    "as before": "t_s,ag_m_s2\n" + "".join(f"{t:.2f},{a}\n" for t, a in ROWS),
    "cp1252": "Zeit in s;Beschl [m/s²]\n" + "".join(f"{comma(t)};{comma(a)}\n" for t, a in ROWS),
}


def motion(path, **keys):
    return Record.model_validate({"kind": "record", "file": str(path), **keys}).motion(path)


@pytest.mark.parametrize("kind", TEXTS)
def test_tables_are_read_as_those_of_laboratories(tmp_path, kind):
    path = tmp_path / "erdbeben.txt"
    path.write_bytes(TEXTS[kind].encode("cp1252" if kind == "cp1252" else "utf-8"))
    found = motion(path)
    np.testing.assert_allclose(found.a, A, atol=1e-8)
    assert found.dt == pytest.approx(DT, rel=1e-9) and found.name == "erdbeben"


def test_one_column_wants_its_step_and_unit(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Beschl\n" + "".join(f"{comma(a)}\n" for _, a in ROWS))
    with pytest.raises(BadInput, match=re.escape('excitation.decimal = "comma"')):
        motion(path)
    path.write_text("Beschl\n" + "".join(f"{a:.6f}\n" for _, a in ROWS))
    np.testing.assert_allclose(motion(path, unit="m/s2", dt="0.01 s").a, A, atol=1e-8)
    with pytest.raises(BadInput, match=re.escape('excitation.dt = "0.005 s"')):
        motion(path, unit="m/s2")
    with pytest.raises(BadInput, match=re.escape('excitation.unit = "m/s2"')):
        motion(path, dt="0.01 s")


def test_of_several_columns_two_are_named(tmp_path):
    path = tmp_path / "a.csv"
    rows = "".join(f"{k};{comma(t)};{comma(a)};{comma(2 * a)}\n" for k, (t, a) in enumerate(ROWS))
    path.write_text("Nr;Zeit;Beschl x;Beschl y\n-;s;m/s2;m/s2\n" + rows)
    for name, factor in {"Beschl x": 1, "beschl y": 2, "4": 2}.items():
        np.testing.assert_allclose(motion(path, t="Zeit", component=name).a, factor * A, atol=1e-8)
    with pytest.raises(BadInput, match=re.escape('Did you mean excitation.t = "Zeit"')):
        motion(path)
    with pytest.raises(BadInput, match=re.escape('excitation.component = "Beschl x"')):
        motion(path, t="Zeit")


@pytest.mark.parametrize(
    ("text", "keys", "says"),
    [
        ("0,5\n0,7\n0,1\n", {"dt": 0.01, "unit": "g"}, 'excitation.decimal = "comma"'),
        ("t;a [mm]\n0,0;0,1\n0,5;0,2\n1,0;0,3\n", {}, "'mm' is not a unit of acceleration"),
        ("t;a [g]\n0,0;0,1\n0,5;0,2\n1,0;0,3\n", {"dt": 0.1}, "excitation.dt says 10 Hz"),
        ("t;a [g]\n0,0;0,1\n0,5;0,2\n2,0;0,3\n", {}, "times must rise evenly"),
        ("t;a [g]\n0,0;0,1\n0,5;nan\n1,0;0,3\n", {}, "line 3: 'a' is not finite"),
        ("t;a [g]\n0,0;0,1\n0,5;0,2\n1,0;0,3\n", {"component": "b"}, "excitation.component"),
    ],
)
def test_what_is_missing_is_said_in_keys_of_the_excitation(tmp_path, text, keys, says):
    (tmp_path / "a.txt").write_text(text)
    with pytest.raises(BadInput, match=re.escape(says)) as refused:
        motion(tmp_path / "a.txt", **keys)
    assert "--" not in str(refused.value)


def test_formats_with_a_header_are_read_as_ever(tmp_path):
    head = "PEER NGA STRONG MOTION DATABASE RECORD\nX\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS= 3, DT= .01 SEC\n"
    path = tmp_path / "elc.AT2"
    path.write_text(head + " 0.1 -0.2 0.3\n")
    assert np.array_equal(motion(path).a, read_record(path).a)
    with pytest.raises(BadInput, match=r"excitation\.t: .* is a PEER record"):
        motion(path, t="Zeit")


def test_what_the_reader_decided_is_noted(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(TEXTS["cp1252"].encode("cp1252"))
    _, note = ground_motion(Record.model_validate({"kind": "record", "file": str(path)}), DT, 0)
    assert "read as cp1252" in note and "record a (" in note


@pytest.mark.parametrize(("step", "noted"), [(0.01, False), (0.005, False), (0.008, True), (0.04, True)])
def test_a_peak_that_the_step_leaves_out_is_told(tmp_path, step, noted):
    """One sharp peak between samples of 0.008 s and of 0.04 s, on a sample of 0.01 s and 0.005 s."""
    a = np.zeros(400)
    a[101] = 5.0  # at 1.01 s
    path = tmp_path / "pulse.txt"
    path.write_text("time [s],a [m/s2]\n" + "".join(f"{DT * k:.2f},{v}\n" for k, v in enumerate(a)))
    found, note = ground_motion(Record.model_validate({"kind": "record", "file": str(path)}), step, 0)
    lost = 100 * (1 - np.abs(found.a).max() / 5.0)
    assert bool(lost > 1.0) is noted and ("lower than the 5 m/s2" in note) is noted
    if noted:
        assert f"the peak is {lost:.2g} % lower" in note and "0.01 s or a whole part of it" in note
