"""Tests read from CSV files, recordings and the published damper tests."""

import numpy as np
import pytest
from oracles.brfd import harmonics
from oracles.data import data_path

from hyloop.devices import bouc_wen, gap_slip, lugre
from hyloop.errors import BadInput, UnknownName
from hyloop.files.measurements import Channels, read_columns, read_tests
from hyloop.record import Recording

N, DT = 50, 0.01
T = DT * np.arange(N)
D, F = 5e-3 * np.sin(T), 2e3 * np.cos(T)
DIGITS = 1e-12  # numbers are written with all digits and multiplied by a unit
SECOND_ORDER = 1e-4  # of the velocity: central differences at 0.01 s, one-sided at the ends left out


def write(path, header, *columns):
    rows = [",".join(repr(float(x)) for x in row) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([header, *rows]) + "\n")
    return str(path)


def test_units_stand_in_the_header(tmp_path):
    source = write(tmp_path / "a.csv", "t [ms], d [mm] ,f (kN)", 1e3 * T, 1e3 * D, 1e-3 * F)
    (test,), notes = read_tests(source, bouc_wen)
    assert test.dt == pytest.approx(DT, rel=DIGITS) and test.name == "a" and not notes
    assert test.inputs["d"] == pytest.approx(D, rel=DIGITS)
    assert test.f == pytest.approx(F, rel=DIGITS)


def test_a_velocity_that_was_not_recorded_is_differentiated_and_said(tmp_path):
    source = write(tmp_path / "a.csv", "time,d [m],f [N]", T, D, F)
    (test,), notes = read_tests(source, lugre)
    assert test.inputs["v"][1:-1] == pytest.approx(5e-3 * np.cos(T)[1:-1], rel=SECOND_ORDER)
    assert "velocity" in notes[0] and len(notes) == 1


def test_a_recording_and_its_export_are_the_same_test(tmp_path):
    names = ("ground", "damper1.d", "damper1.v", "damper1.f", "force", "damper1.p")
    units = ("m/s2", "m", "m/s", "N", "N", "1/(N m)")
    data = np.column_stack([T, D, 5e-3 * np.cos(T), F, 3 * F, T])
    recording = Recording(T, data, names, units)
    recording.save(tmp_path / "run.h5")
    recording.export(tmp_path / "run.csv")
    for name in ("run.h5", "run.csv"):
        (test,), _ = read_tests(str(tmp_path / name), lugre)  # the only site
        assert np.array_equal(test.inputs["v"], data[:, 2]) and np.array_equal(test.f, F)
        (other,), _ = read_tests(str(tmp_path / name), lugre, Channels(site="damper1", f="force"), every=2, start="z")
        assert np.array_equal(other.f, 3 * F[::2]) and other.dt == pytest.approx(2 * DT) and other.start == "z"
        columns = read_columns(str(tmp_path / name))["run"].signals
        assert {name: columns[name][1] for name in names} == dict(zip(names, units, strict=True))


@pytest.mark.parametrize("header", ["t,d,f [N]", "t,d [mm],f", "t,d [],f [N]", "t,d [m],v,f [N]"])
def test_a_column_without_a_unit_is_refused_not_guessed(tmp_path, header):
    """In mm and kN it would give a stiffness a million times off, without a word."""
    columns = {"t": T, "d": D, "v": D, "f": F}
    source = write(tmp_path / "a.csv", header, *(columns[name.split(" ")[0]] for name in header.split(",")))
    bare = next(name.split(" ")[0] for name in header.split(",")[1:] if "[m" not in name and "[N" not in name)
    with pytest.raises(BadInput, match=rf"a\.csv: column '{bare}' has no unit.*'{bare} \[.*--units {bare}="):
        read_tests(source, lugre)


def test_units_can_be_stated_beside_the_file(tmp_path):
    source = write(tmp_path / "a.csv", "t,d,f [kN]", 1e3 * T, 1e3 * D, 1e-3 * F)
    (test,), _ = read_tests(source, bouc_wen, units={"t": "ms", "d": "mm"})
    assert test.dt == pytest.approx(DT, rel=DIGITS)
    assert test.inputs["d"] == pytest.approx(D, rel=DIGITS) and test.f == pytest.approx(F, rel=DIGITS)
    (same,), _ = read_tests(source, bouc_wen, units={"t": "ms", "d": "mm", "f": "kN"})
    assert np.array_equal(same.f, test.f)
    with pytest.raises(BadInput, match=r"'f' is in kN by its header, in N by --units"):
        read_tests(source, bouc_wen, units={"d": "mm", "f": "N"})
    with pytest.raises(UnknownName, match="column 'force'"):
        read_tests(source, bouc_wen, units={"d": "mm", "force": "N"})
    with pytest.raises(BadInput, match="'d' is in kg, wanted a unit of the kind m"):
        read_tests(source, bouc_wen, units={"d": "kg"})
    recording = Recording(T, np.column_stack([D, F]), ("a.d", "a.f"), ("m", "N"))
    recording.save(tmp_path / "run.h5")
    with pytest.raises(BadInput, match=r"'a\.d' is in m by its header, in mm by --units"):
        read_tests(str(tmp_path / "run.h5"), bouc_wen, units={"d": "mm"})


@pytest.mark.parametrize(
    ("header", "columns", "channels", "error", "message"),
    [
        ("d,f", (D, F), Channels(), BadInput, "called t or time"),
        ("t,d [kg],f", (T, D, F), Channels(), BadInput, "'d' is in kg, wanted a unit of the kind m"),
        ("t,d [mn],f", (T, D, F), Channels(), BadInput, "the unit of 'd'"),
        ("t,d,f", (T**2, D, F), Channels(), BadInput, "must rise evenly"),
        ("t,d,f", (T, D, F), Channels(f="force"), UnknownName, "channel 'force'"),
        ("t,d,f", (T, D, F), Channels(site="damper1"), UnknownName, "site 'damper1'"),
        ("t,d,g", (T, D, F), Channels(), BadInput, "which device"),
        ("t,d,g", (T, D, F), Channels(site=None, f=None, d="d"), BadInput, "--site"),
    ],
)
def test_bad_files_are_refused(tmp_path, header, columns, channels, error, message):
    source = write(tmp_path / "a.csv", header, *columns)
    with pytest.raises(error, match=message):
        read_tests(source, bouc_wen, channels)


def test_broken_text_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    for text, message in (
        ("", "no header"),
        ("t,d,f\n0,0,x\n1,1,2\n", "line 2: '0,0,x' is neither"),
        ("t,d\n0,0\n1\n2,1\n3,1", "line 3: 1 cells"),
    ):
        path.write_text(text)
        with pytest.raises(BadInput, match=message):
            read_tests(str(path), bouc_wen)
    with pytest.raises(BadInput, match="no such file"):
        read_tests(str(tmp_path / "b.csv"), bouc_wen)
    with pytest.raises(BadInput, match="no such file"):
        read_tests(str(tmp_path / "b.h5"), bouc_wen)


def test_published_tests_by_name():
    data_path("brfd", "index.json")
    tests, notes = read_tests("brfd:d2_h36lb_*", gap_slip, start="s")
    expected = harmonics()
    assert {test.name for test in tests} == set(expected)
    for test in tests:
        for key in ("d", "v", "a"):
            np.testing.assert_allclose(test.inputs[key], getattr(expected[test.name], key), rtol=0, atol=1e-9)
        assert np.array_equal(test.f, expected[test.name].F)
    assert "acceleration" in notes[0]
    with pytest.raises(UnknownName, match="Did you mean 'd2_h36lb_1Hz_1in'"):
        read_tests("brfd:d2_h36lb_1Hz_1inch", gap_slip)
    with pytest.raises(UnknownName, match="Did you mean 'brfd'"):
        read_tests("brdf:d2_h36lb_*", gap_slip)
    (causal,), _ = read_tests("brfd:d2_h36lb_1Hz_1in", gap_slip, Channels(v="v_causal"), start="s")
    assert not np.allclose(causal.inputs["v"], expected["d2_h36lb_1Hz_1in"].v, atol=1e-3)
