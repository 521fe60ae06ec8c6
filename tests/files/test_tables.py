"""Files as laboratories have them: the numbers are those pandas, SciPy, h5py and npTDMS read or wrote."""

import io
import re
import time

import h5py
import numpy as np
import pandas as pd
import pytest
from nptdms import ChannelObject, RootObject, TdmsWriter
from scipy.io import savemat

from hyloop.errors import BadInput, UnknownName
from hyloop.files.column_map import read_column_map
from hyloop.files.measurements import Channels, read_columns, read_measured
from hyloop.files.tables import read_table, suggested
from hyloop.record import Recording

N, DT = 400, 0.01
T = DT * np.arange(N)
D, F = 5.0 * np.sin(3 * T), 20.0 * np.cos(3 * T) + 0.1  # mm, kN


def rows(separator, decimal, *columns, digits=6, end=""):
    lines = [separator.join(f"{x:.{digits}f}".replace(".", decimal) for x in row) for row in zip(*columns, strict=True)]
    return "".join(f"{line}{end}\n" for line in lines)


GERMAN = (
    "Prüfstand 3, Halle B\r\nDatum;12.03.2024\r\n\r\nProbe: Reibungsdämpfer 23 kN, 21,5 °C\r\n"
    "Zeit;Weg;Kraft\r\ns;mm;kN\r\n"
)
LAYOUTS = {
    "german": (GERMAN + rows(";", ",", T, D, F).replace("\n", "\r\n"), "cp1252", (";", ",", 6)),
    "utf8": (GERMAN + rows(";", ",", T, D, F), "utf-8", (";", ",", 6)),
    "bom": ("Zeit [s],Weg [mm],Kraft [kN]\n" + rows(",", ".", T, D, F), "utf-8-sig", (",", ".", 1)),
    "utf16": ("Zeit [s]\tWeg [mm]\tKraft [kN]\n" + rows("\t", ",", T, D, F), "utf-16", ("\t", ",", 1)),
    "blanks": (
        "# made by a rig\n# Zeit[s] Weg [mm] Kraft (kN)\n" + rows("   ", ".", T, D, F),
        "utf-8",
        (r"\s+", ".", 2),
    ),
    "comma in blanks": ("Zeit(s) Weg(mm) Kraft(kN)\n" + rows(" ", ",", T, D, F), "utf-8", (r"\s+", ",", 1)),
    "trailing": ("Zeit [s];Weg [mm];Kraft [kN];\n" + rows(";", ",", T, D, F, end=";"), "utf-8", (";", ",", 1)),
    "trailing rows": ("Zeit [s];Weg [mm];Kraft [kN]\n" + rows(";", ".", T, D, F, end=";"), "utf-8", (";", ".", 1)),
    "quoted": (
        '"Zeit [s]","Weg [mm]","Kraft [kN]"\n'
        + "".join(f'"{a}"\n'.replace(";", '","') for a in rows(";", ",", T, D, F).splitlines()),
        "utf-8",
        (",", ",", 1),
    ),
    "units in words": ("Zeit in s;Weg / mm;Kraft_kN\n" + rows(";", ".", T, D, F), "utf-8", (";", ".", 1)),
    "rule": ("Zeit\tWeg\tKraft\n[s]\t[mm]\t[kN]\n-----\n" + rows("\t", ".", T, D, F), "latin-1", ("\t", ".", 3)),
    "empty lines": ("\n\nZeit [s],Weg [mm],Kraft [kN]\n\n" + rows(",", ".", T, D, F) + "\n\n", "utf-8", (",", ".", 4)),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_pandas_reads_the_same_numbers(name, tmp_path):
    """pandas has to be told what the layout is; here it is found."""
    text, encoding, (separator, decimal, skip) = LAYOUTS[name]
    path = tmp_path / "test.csv"
    path.write_bytes(text.encode(encoding))
    table = read_table(path)
    told = {"sep": separator, "decimal": decimal, "engine": "python"}
    expected = pd.read_csv(path, encoding=encoding, header=None, skiprows=skip, **told).dropna(axis=1, how="all")
    assert table.names == ["Zeit", "Weg", "Kraft"]
    assert [column.unit for column in table.columns] == ["s", "mm", "kN"]
    assert np.array_equal(np.column_stack([column.values for column in table.columns]), expected.to_numpy(float))
    (test,) = read_measured(str(path), Channels(t="zeit", d="Weg", f="KRAFT", factors={"d": -1.0}))
    np.testing.assert_allclose(test.signals["d"], -1e-3 * np.round(D, 6), rtol=1e-14)
    np.testing.assert_allclose(test.signals["f"], 1e3 * np.round(F, 6), rtol=1e-14)
    assert test.units == {"d": "mm", "f": "kN"} and "100 Hz" in test.sampling.text


def read(tmp_path, text, decimal=None, encoding="utf-8"):
    path = tmp_path / "a.txt"
    path.write_bytes(text.encode(encoding))
    return read_table(path, decimal)


def test_what_was_decided_is_said(tmp_path):
    table = read(tmp_path, "Zeit in s;F_kN;status\n0,0;1,5;ok\n0,1;2,5;ok\n0,2;3,5;ok\n0,3;4", encoding="cp1252")
    assert "'Zeit in s' is taken for Zeit in s" in table.notes and "'F_kN' is taken for F in kN" in table.notes
    assert "without numbers, left out: status" in table.notes
    assert any("line 5, the last, is no whole row and was left out: '0,3;4'" in note for note in table.notes)
    assert table.columns[1].values.tolist() == [1.5, 2.5, 3.5]
    assert "cp1252" in " ".join(read(tmp_path, "Weg [µm];x\n1;2\n2;3\n", encoding="cp1252").notes)
    with pytest.raises(BadInput, match="'status' holds other things than numbers"):
        table.find("status")


@pytest.mark.parametrize(
    ("heading", "name", "unit"),
    [
        ("d_m", "d_m", ""),
        ("Weg (Zylinder 2)", "Weg (Zylinder 2)", ""),
        ("T [°C]", "T", "°C"),
        ("I (A)", "I", "A"),
        ("v [mm/s]", "v", "mm/s"),
        ("x (1/(N m))", "x", "1/(N m)"),
        ("F_in", "F_in", ""),
        ("Load [kips]", "Load", "kip"),
    ],
)
def test_units_of_headings(tmp_path, heading, name, unit):
    column = read(tmp_path, f"t;{heading}\n0;1\n1;2\n").columns[1]
    assert (column.name, column.unit) == (name, unit)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a;b\n1,234;1\n2,345;2\n", "--decimal comma"),
        ("1,234\n2,345\n", "--decimal comma"),
        ("a;b\n0,5;1\n1;2.5\n", "decimal commas.*'0,5'.*decimal points.*'2.5'"),
        ("a;b;c\n1;2;3\n1;2\n1;2;3\n1;2;3\n", "line 3: 2 cells where the others have 3"),
        ("a;b;c\n1;2;3\n1;;3\n1;2;3\n1;2;3\n", "line 3: column 'b' is empty"),
        ("a;b;c\n1;2;3\n1;x;3\n1;2;3\n1;2;3\n", "line 3: 'x' in column 'b' is no number"),
        ("a;b\n1;2;3\n1;2;3\n", "line 1: 2 headings where the rows below have 3 cells"),
        ("only words\nand more\n", "no header with rows of numbers"),
        ("a;b\n1;2\n", "one row"),
        ("\0\1\2binary" * 20, "not a file of text"),
    ],
)
def test_what_is_not_clear_is_refused(tmp_path, text, message):
    with pytest.raises(BadInput, match=message):
        read(tmp_path, text)


def test_the_decimal_sign_can_be_told(tmp_path):
    text = "a;b\n1,234;1\n2,345;2\n"
    assert read(tmp_path, text, "comma").columns[0].values.tolist() == [1.234, 2.345]
    assert read(tmp_path, text, "point").columns[0].values.tolist() == [1234.0, 2345.0]
    assert read(tmp_path, "1,234\n2,345\n", "comma").columns[0].values.tolist() == [1.234, 2.345]
    # every one of these tells by itself
    assert read(tmp_path, "a;b\n1.234,5;1\n2.345,5;2\n").columns[0].values.tolist() == [1234.5, 2345.5]
    assert read(tmp_path, 'a,b\n"1,234.5",1\n"2,345.5",2\n').columns[0].values.tolist() == [1234.5, 2345.5]
    assert read(tmp_path, "a;b\n0,123;1\n2,345;2\n").columns[0].values.tolist() == [0.123, 2.345]
    with pytest.raises(BadInput, match="--decimal comma or --decimal point"):
        read(tmp_path, text, "dot")


@pytest.mark.parametrize(
    ("text", "said", "number"),
    [
        ("a;b\n0.500;1\n1.500;2\n", "comma", "0.500"),
        ("a;b\n1.500;1\n2.25;2\n", "comma", "2.25"),
        ("a;b\n1,5;1\n2,5;2.5\n", "comma", "2.5"),
        ("a;b\n0,500;1\n1,500;2\n", "point", "0,500"),
        ("a;b\n1.234,5;1\n2.345,5;2\n", "point", "1.234,5"),
    ],
)
def test_a_told_sign_that_a_number_contradicts_is_refused(tmp_path, text, said, number):
    with pytest.raises(BadInput, match=rf"--decimal {said} .* cannot be in '{re.escape(number)}'"):
        read(tmp_path, text, said)


def test_a_told_sign_leaves_thousands_and_marks_of_nothing_alone(tmp_path):
    text = "a;b;note\n1.234;0,5;.\n2.345;1,5;.\n"
    table = read(tmp_path, text, "comma")
    assert [column.values.tolist() for column in table.columns] == [[1234.0, 2345.0], [0.5, 1.5]]


def test_columns_by_name_and_number(tmp_path):
    table = read(tmp_path, "t;Weg;Weg;kraft\n0;1;2;3\n1;2;3;4\n")
    assert table.find("KRAFT").values[0] == 3 and table.find("2").values[0] == 1
    with pytest.raises(BadInput, match="columns 2 and 3 are called 'Weg'"):
        table.find("Weg")
    with pytest.raises(UnknownName, match="Did you mean 'kraft'"):
        table.find("kraftt", "--f")
    with pytest.raises(BadInput, match="no column 5"):
        table.find("5")
    bare = read(tmp_path, "0 1 2\n1 2 3\n")
    assert bare.names == ["1", "2", "3"] and "no headings" in bare.notes[0]


def test_columns_are_suggested_and_never_taken(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("Zeit [s];Weg [mm];Temp [°C];Kraft [kN]\n" + rows(";", ",", T, D, T, F))
    with pytest.raises(BadInput, match="Did you mean --t Zeit"):
        read_measured(str(path))
    with pytest.raises(BadInput, match="Did you mean --d Weg --f Kraft"):
        read_measured(str(path), Channels(t="Zeit"))
    assert suggested(read_table(path).columns, "v") == []


def test_a_million_rows_take_seconds(tmp_path):
    n = 200_000  # a fifth of it, in a fifth of the time
    path = tmp_path / "big.csv"
    values = np.random.default_rng(0).normal(size=(n, 4))
    buffer = io.StringIO()
    np.savetxt(buffer, values, fmt="%.6f", delimiter=";", header="a;b;c;d", comments="")
    path.write_text(buffer.getvalue().replace(".", ","))
    begin = time.perf_counter()
    table = read_table(path)
    assert time.perf_counter() - begin < 3.0
    assert np.array_equal(table.columns[3].values, np.round(values[:, 3], 6))


def times(tmp_path, t, **options):
    path = tmp_path / "t.csv"
    table = np.column_stack([t, D[: len(t)], F[: len(t)]])
    np.savetxt(path, table, delimiter=",", header="t [s],d [mm],f [kN]", comments="", fmt=options.pop("fmt", "%.9f"))
    return read_measured(str(path), Channels(**options))[0]


def test_sampling_is_checked_and_never_mended(tmp_path):
    rate = np.arange(N) / 1024
    test = times(tmp_path, rate, fmt="%.4f")  # printed digits move times by up to a twentieth of a step
    assert test.sampling.dt == pytest.approx(1 / 1024, rel=2e-4)
    for bad, message in (
        (np.delete(T, [100, 101]), r"line 102.*2 samples are missing in 1 gap"),
        (np.insert(T, 50, T[50])[:N], r"line 53.*is there twice \(1 such"),
        (np.where(np.arange(N) == 30, T[28], T), "followed by an earlier one"),
        (T**1.01, "must rise evenly"),
    ):
        with pytest.raises(BadInput, match=message) as error:
            times(tmp_path, bad)
        assert "--rate" in str(error.value)
    with pytest.raises(BadInput, match="must rise evenly"):
        times(tmp_path, rate, fmt="%.3f")  # coarser than the step: a lost sample could not be seen
    assert times(tmp_path, rate, fmt="%.3f", rate=1024.0).sampling.dt == 1 / 1024
    with pytest.raises(BadInput, match="--rate says 1000 Hz"):
        times(tmp_path, rate, rate=1000.0)


def test_a_rate_takes_the_place_of_times(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("d [mm],f [kN]\n" + rows(",", ".", D, F))
    with pytest.raises(BadInput, match="--rate"):
        read_measured(str(path))
    (test,) = read_measured(str(path), Channels(rate=1024.0))
    assert test.sampling.dt == 1 / 1024 and test.sampling.samples == N


@pytest.mark.parametrize(
    ("d", "message"),
    [(np.full(N, 2.0), "'d' is 0.002 throughout.*--d"), (np.where(np.arange(N) == 7, np.nan, D), "line 9: 'd' is not")],
)
def test_a_signal_that_says_nothing_is_refused(tmp_path, d, message):
    path = tmp_path / "a.csv"
    np.savetxt(path, np.column_stack([T, d, F]), delimiter=",", header="t,d [mm],f [kN]", comments="", fmt="%.9f")
    with pytest.raises(BadInput, match=message):
        read_measured(str(path))


def test_matlab_files_of_version_5(tmp_path):
    path = tmp_path / "a.mat"
    savemat(path, {"data": {"time": T, "Weg": D[:, None]}, "X": np.column_stack([T, F]), "fs": 100.0, "who": "rig 3"})
    table = read_table(path)
    assert table.names == ["data.time", "data.Weg", "X(:,1)", "X(:,2)"] and "fs = 100" in table.notes[0]
    for force in ("X(:,2)", "X.2", "X(2)", "4"):
        channels = Channels(t="data.time", d="data.weg", f=force)
        (test,) = read_measured(str(path), channels, {"d": "mm", "f": "kN"})
        assert np.array_equal(test.signals["f"], 1e3 * F) and np.array_equal(test.signals["d"], 1e-3 * D)
    with pytest.raises(BadInput, match=r"'data\.Weg' has no unit.*--units"):
        read_measured(str(path), channels)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(BadInput, match="cannot be read as a MATLAB file"):
        read_table(path)


def test_matlab_files_of_version_73(tmp_path):
    """As MATLAB lays them out: HDF5 behind a block of 512 bytes, matrices the other way round, structs as groups."""
    path = tmp_path / "a.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        group = file.create_group("data")
        group.attrs["MATLAB_class"] = np.bytes_("struct")
        for name, values in (("time", T[None, :]), ("F", F[None, :])):
            group.create_dataset(name, data=values).attrs["MATLAB_class"] = np.bytes_("double")
        file.create_dataset("X", data=np.vstack([D, F])).attrs["MATLAB_class"] = np.bytes_("double")
        text = file.create_dataset("note", data=np.array([[ord(c)] for c in "rig"], np.uint16))
        text.attrs["MATLAB_class"] = np.bytes_("char")
    with open(path, "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(512))
    (test,) = read_measured(str(path), Channels(t="data.time", d="X.1", f="data.F"), {"d": "mm", "f": "kN"})
    assert np.array_equal(test.signals["f"], 1e3 * F) and np.array_equal(test.signals["d"], 1e-3 * D)


def test_tdms_files(tmp_path):
    path = tmp_path / "a.tdms"
    step = {"wf_increment": DT, "wf_start_offset": 0.0}
    with TdmsWriter(path) as writer:
        channels = [
            ChannelObject("Messung", "Weg", D, {"unit_string": "mm", **step}),
            ChannelObject("Messung", "Kraft", F, {"unit_string": "kN", **step}),
        ]
        writer.write_segment([RootObject({"rig": "3"}), *channels])
    (test,) = read_measured(str(path), Channels(d="Weg", f="Kraft"))
    assert np.array_equal(test.signals["f"], 1e3 * F) and test.sampling.dt == DT
    with TdmsWriter(path) as writer:
        writer.write_segment(
            [
                ChannelObject("a", "Time", T, {"unit_string": "sec"}),
                ChannelObject("a", "x", D),
                ChannelObject("b", "x", F),
            ]
        )
    (test,) = read_measured(str(path), Channels(d="a/x", f="b/x"), {"d": "mm", "f": "kN"})
    assert np.array_equal(test.signals["d"], 1e-3 * D)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(BadInput, match="no channel of numbers"):
        read_table(path)


@pytest.mark.parametrize("suffix", [".csv", ".mat", ".parquet", ".h5"])
def test_own_exports_read_back_the_same(tmp_path, suffix):
    names, units = ("damper1.d", "damper1.f", "end", "u.1"), ("m", "N", "1/(N m)", "m")
    data = np.random.default_rng(1).normal(size=(N, 4))
    recording = Recording(T, data, names, units)
    path = tmp_path / f"run{suffix}"
    recording.save(path) if suffix == ".h5" else recording.export(path)
    table = read_table(path)
    assert table.names == ["time", *names] and [c.unit for c in table.columns] == ["s", *units]
    assert np.array_equal(np.column_stack([c.values for c in table.columns]), np.column_stack([T, data]))
    columns = read_columns(str(path))["run"]
    assert columns.dt == pytest.approx(DT) and np.array_equal(columns.signals["damper1.f"][0], data[:, 1])


def test_other_kinds_are_refused_with_advice(tmp_path):
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"PK\x03\x04rest")
    with pytest.raises(BadInput, match="Save the sheet as CSV"):
        read_table(path)
    with pytest.raises(BadInput, match="no such file"):
        read_table(tmp_path / "none.csv")


def test_a_mapping_table_says_it_once(tmp_path):
    data, table = tmp_path / "a.csv", tmp_path / "map.toml"
    data.write_text("Zeit;Weg;Kraft [kN]\n" + rows(";", ",", 1e3 * T, D, F))
    table.write_text('t = { column = "Zeit", unit = "ms" }\nd = { column = "Weg", unit = "mm", factor = -1 }\nf = 3\n')
    mapped = read_column_map(table)
    (test,) = read_measured(str(data), mapped.channels, mapped.units)
    assert test.sampling.dt == pytest.approx(DT) and test.columns == {"d": "Weg", "f": "Kraft"}
    np.testing.assert_allclose(test.signals["d"], -1e-3 * np.round(D, 6), rtol=1e-14)
    table.write_text('rate = "1024 Hz"\nd = "Weg"\n')
    assert read_column_map(table).channels.rate == 1024.0
    for text, message in (
        ("w = 1", "did you mean|unknown key 'w'"),
        ("d = Weg", "need quotes"),
        ('d = { unit = "mm" }', "column"),
        ('decimal = "dot"', "'comma', 'point'"),
    ):
        table.write_text(text)
        with pytest.raises(BadInput, match=message):
            read_column_map(table)
    with pytest.raises(BadInput, match="cannot be read"):
        read_column_map(tmp_path / "none.toml")


def test_an_unknown_unit_is_not_replaced_by_another_size(tmp_path):
    path = tmp_path / "a.csv"
    np.savetxt(path, np.column_stack([T, D, F]), delimiter=",", header="t [s],d [mm],f [kn]", comments="", fmt="%.9f")
    with pytest.raises(
        BadInput, match=r"did you mean 'kN'\? Correct it, or state it with --units; .* factor in a --co"
    ):
        read_measured(str(path))
