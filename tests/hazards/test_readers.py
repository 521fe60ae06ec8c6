"""Readers: what is accepted, and refusals that name the file, the line and the remedy."""

import numpy as np
import pytest
from oracles.data import data_path

from hyloop.errors import BadInput
from hyloop.hazards import G, read_record

OLD = "PEER STRONG MOTION DATABASE\nSOMEWHERE\nACCELERATION TIME HISTORY IN UNITS OF G\n 5   0.0100  NPTS, DT\n"
NEW = "PEER NGA STRONG MOTION DATABASE RECORD\nX\nACCELERATION TIME SERIES IN UNITS OF G\nNPTS=   5, DT=   .0100 SEC\n"
BODY = "  0.1000000E+00  -.2000000E+00   .3000000E+00\n  -4.0E-1 .5   \n\n   \n"
VALUES = np.array([0.1, -0.2, 0.3, -0.4, 0.5])


@pytest.fixture
def file(tmp_path):
    def write(text, name="r.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("header", [OLD, NEW, NEW.replace(", DT", " DT"), NEW.replace("\n", "\r\n")])
def test_peer_headers(file, header):
    motion = read_record(file(header + BODY, "elc.AT2"))
    assert np.allclose(motion.a, VALUES * G) and motion.dt == 0.01
    assert motion.name == "elc" and motion.meta["unit"] == "g"


def test_peer_units(file):
    assert np.allclose(read_record(file(NEW.replace("OF G", "OF CM/S2") + BODY, "r.at2")).a, VALUES * 0.01)
    assert np.allclose(read_record(file(NEW.replace("IN UNITS OF G", "") + BODY, "r.at2")).a, VALUES * G)
    assert np.allclose(read_record(file(NEW + BODY, "r.at2"), unit="m/s^2").a, VALUES)


@pytest.mark.parametrize(
    "text",
    [
        "t_s,ag_m_s2\n0,1\n0.02,-2\n0.04,3\n",
        "Time [s];Acc [m/s^2]\n0;1\n0.02;-2\n0.04;3\n",
        "Time (s)\tAcc (m/s/s)\n10\t1\n10.02\t-2\n10.04\t3\n",
        "# t a (m/s2)\n0.00  1\n0.02 -2 \n0.04  3\n\n",
        "# made by hand\ntime,a [cm/s2]\n0,100,\n0.02,-200,\n0.04,300,\n",
        "t,acc_gal\n0,100\n0.02,-200\n0.04,300\n",
    ],
)
def test_columns_with_a_unit_in_the_heading(file, text):
    motion = read_record(file(text))
    assert np.allclose(motion.a, [1.0, -2.0, 3.0]) and motion.dt == pytest.approx(0.02)


def test_columns_without_heading_or_time(file):
    assert np.allclose(read_record(file("0 1\n0.5 2\n", "r.txt"), unit="g").a, [G, 2 * G])
    alone = read_record(file("1\n-2\n3\n"), unit="m/s2", dt=0.25)
    assert np.allclose(alone.a, [1.0, -2.0, 3.0]) and alone.dt == 0.25
    rounded = read_record(file("".join(f"{k / 256:.4f},{k}\n" for k in range(600))), unit="g")
    assert rounded.dt == pytest.approx(1 / 256, rel=1e-4)  # four digits, evened out over the record


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("r.at2", "", "empty"),
        ("r.at2", " \n\n", "empty"),
        ("r.at2", NEW + "0.1 0.2 0.3\n", "line 4: the header promises 5 points and the file holds 3"),
        ("r.at2", NEW + BODY + "0.6\n", "promises 5 points and the file holds 6"),
        ("r.at2", NEW + "0.1 0.2\n0.3 NaN 0.5\n", "line 6: 'NaN' is not a finite number"),
        ("r.at2", NEW + "0.1 0.2\n0.3 **** 0.5\n", r"line 6: '\*\*\*\*'"),
        ("r.at2", BODY, "none of the first 12 lines"),
        ("r.at2", NEW.replace(".0100", "0.000") + BODY, "line 4: DT = 0 must be positive"),
        ("r.at2", NEW.replace("ACCELERATION", "VELOCITY") + BODY, "holds velocity"),
        ("r.at2", NEW.replace("OF G", "OF FURLONGS") + BODY, "'FURLONGS' is not a unit.*cm/s2"),
        ("r.csv", "t,a\n0,1\n1,2\n", "unit of acceleration is not in the file.*unit='g'"),
        ("r.csv", "t,a_g\n0,1\n1,2\n", "unit of acceleration is not in the file"),
        ("r.csv", "a (g)\n1\n2\n", "Give dt"),
        ("r.csv", "t,a (g)\n", "no numbers"),
        ("r.csv", "# a (g)\n", "no numbers"),
        ("r.csv", "t,a (g)\n0,1\n1,nan\n", "line 3: 'nan'"),
        ("r.csv", "nan,1\n1,2\n", "line 1: 'nan'"),
        ("r.csv", "t,a (g)\n0,1\n1,x\n", "line 3: 'x'"),
        ("r.csv", "t,a (g)\n0,1\n1,\n", "line 3: 1 value"),
        ("r.csv", "t,x,y\n0,1,1\n1,2,2\n", "line 2: 3 columns"),
        ("r.csv", "t,a (g)\n0,1\n1,2\n2,3\n4,4\n5,5\n", "line 5: time goes from 2 to 4 s where the usual step is 1"),
        ("r.csv", "t,a (g)\n2,1\n1,2\n0,3\n", "Times must increase"),
        ("r.csv", "t,a (g)\n0,1\n0,2\n0,3\n", "Times must increase"),
        ("r.csv", "t,a (g)\n0,1\n", "at least two"),
        ("r.csv", "t_ms,a (g)\n0,1\n1,2\n", "milliseconds"),
    ],
)
def test_refusals_name_the_file_and_the_line(file, name, text, words):
    path = file(text, name)
    with pytest.raises(BadInput, match=words) as caught:
        read_record(path)
    assert str(path) in str(caught.value)


def test_arguments_that_contradict_the_file(file):
    path = file("t,a (g)\n0,1\n0.02,2\n")
    assert read_record(path, dt=0.02).dt == 0.02
    with pytest.raises(BadInput, match=r"dt = 0.01 s was given but the file says 0.02 s.*in_model_time"):
        read_record(path, dt=0.01)
    with pytest.raises(BadInput, match="dt = -1"):
        read_record(path, dt=-1.0)
    with pytest.raises(BadInput, match="'parsec' is not a unit"):
        read_record(path, unit="parsec")
    with pytest.raises(BadInput, match="no such file"):
        read_record(path.with_name("other.csv"))


def test_real_files():
    """Count, step and peak as published for El Centro 1940; the benchmark's own file of it has another length."""
    motion = read_record(data_path("ground_motions", "imperial-valley-1940-el-centro-array-9_180.AT2"))
    assert len(motion) == 4000 and motion.dt == 0.01 and motion.pga == pytest.approx(0.313 * G, rel=0.01)
    assert motion.baseline().drift < 1e-3
    kobe = read_record(data_path("rths_benchmark", "kobe.csv"))
    assert kobe.dt == pytest.approx(0.01) and kobe.meta["unit"] == "m/s2"
