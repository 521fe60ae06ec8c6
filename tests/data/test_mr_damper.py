"""The tests of the MR damper in both layouts."""

import json

import numpy as np
import pytest
from oracles.data import data_path
from scipy.io import savemat

from hyloop.data import mr_damper
from hyloop.errors import BadInput, BadShape, UnknownName

# first lines of 2mm5Hz0A.txt as published (MIT licence): time s, displacement mm, velocity mm/s, force N
REAL = """\
   0.0000000e+00  -2.6156111e-02  -1.2000000e+00  -9.0296201e+01
   5.0000000e-03  -3.5156111e-02  -1.8000000e+00  -1.1498444e+02
   1.0000000e-02  -4.6406111e-02  -2.2500000e+00  -1.2398204e+02
   1.5000000e-02  -5.7156111e-02  -2.1500000e+00  -1.1424894e+02
   2.0000000e-02  -6.5656111e-02  -1.7000000e+00  -1.0152482e+02
"""
SINGLE = 1e-6  # relative: the repackaged columns are single precision


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the published repository, as far as it has tests."""
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    chapter = tmp_path / "mr_damper" / "vRTHS_AMBC_MRdamper-main" / "Cap7_ModeloMR" / "BoucWen Ajuste 2"
    sines = chapter / "Preprocesamiento-sinusoidales" / "Preprocesados"
    sines.mkdir(parents=True)
    (sines / "2mm5Hz0A.txt").write_text(REAL)
    (sines / "25mm0x25Hz0x75A.txt").write_text(REAL)
    (chapter / "Validacion" / "MRDAMPER").mkdir(parents=True)
    (chapter / "Validacion" / "MRDAMPER" / "15Hz0x5A.txt").write_text("raw readings")
    quake = np.arange(60.0).reshape(10, 6)
    savemat(chapter / "Validacion" / "validacion.mat", {"data": quake})
    return tmp_path / "mr_damper"


def test_the_published_layout(folder):
    found = mr_damper.tests()
    quakes = [f"earthquake_{current}A" for current in ("0.2", "0.4", "0.6", "0.8", "1")]
    assert set(found) == {"sine_2mm_5Hz_0A", "sine_25mm_0.25Hz_0.75A", *quakes}
    sine = found["sine_25mm_0.25Hz_0.75A"]
    assert (sine.amplitude, sine.frequency, sine.current, sine.motion) == (0.025, 0.25, 0.75, "sine_25mm_0.25Hz")
    assert sine.dt == pytest.approx(0.005) and sine.d[0] == pytest.approx(-2.6156111e-5)
    assert sine.v == pytest.approx(np.array([-1.2, -1.8, -2.25, -2.15, -1.7]) * 1e-3)
    quake = found["earthquake_0.4A"]
    assert quake.d == pytest.approx(np.arange(0.0, 60.0, 6) * 1e-3) and quake.dt == 1e-3
    assert quake.f == pytest.approx(np.arange(2.0, 60.0, 6)) and quake.current == 0.4 and quake.v is None
    assert list(mr_damper.tests("sine_2mm*")) == ["sine_2mm_5Hz_0A"]
    with pytest.raises(UnknownName, match="earthquake_1A"):
        mr_damper.tests("earthquake_1.5A")


def test_the_packaged_layout_holds_the_same_numbers():
    data_path("mr_damper", "index.json")
    test = mr_damper.tests("sine_2mm_5Hz_0A")["sine_2mm_5Hz_0A"]
    table = np.array([line.split() for line in REAL.splitlines()], float)
    for signal, column, unit in ((test.d, 1, 1e-3), (test.v, 2, 1e-3), (test.f, 3, 1.0)):
        expected = table[:, column] * unit
        assert signal[:5] == pytest.approx(expected, abs=SINGLE * np.abs(expected).max())
    assert test.dt == pytest.approx(0.005) and test.motion == "sine_2mm_5Hz"
    names = mr_damper.tests()
    assert len([name for name in names if name.startswith("sine")]) == 30
    assert {"earthquake_0.2A", "earthquake_0.6A", "earthquake_1A"} <= set(names)


def test_the_supplied_velocity_is_a_backward_difference():
    """So it uses the past alone; what the providers' script does, seen in all 30 tests."""
    data_path("mr_damper", "index.json")
    for name, test in mr_damper.tests("sine_*").items():
        difference = np.diff(test.d) / test.dt
        rounding = 4 * np.finfo(np.float32).eps * np.abs(test.d).max() / test.dt
        assert np.abs(test.v[1:] - difference).max() < rounding + 1e-6 * np.abs(test.v).max(), name


def test_bad_files_are_refused(folder, tmp_path, monkeypatch):
    (file,) = folder.rglob("2mm5Hz0A.txt")
    for text, error, words in (
        ("1 2 3\n4 5 6\n", BadShape, "time, displacement, velocity and force"),
        (REAL.replace("1.0000000e-02", "1.3000000e-02"), BadInput, "rise evenly"),
        (REAL.replace("-1.2398204e+02", "nan"), BadInput, "must be numbers"),
        (REAL.replace("-1.2398204e+02", "?"), BadInput, "four columns"),
    ):
        file.write_text(text)
        with pytest.raises(error, match=words):
            mr_damper.tests("sine_2mm*")
    (mat,) = folder.rglob("validacion.mat")
    savemat(mat, {"data": np.zeros((9, 3))})
    with pytest.raises(BadShape, match="6 columns"):
        mr_damper.tests("earthquake*")
    savemat(mat, {"other": np.zeros((9, 6))})
    with pytest.raises(BadInput, match="no matrix 'data'"):
        mr_damper.tests("earthquake*")
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path / "mr_damper"))
    with pytest.raises(BadInput, match="hyloop data get mr_damper"):
        mr_damper.tests()


def test_a_packaged_folder_of_ones_own(tmp_path):
    """The layout in small: ids, units and motions come from the index."""
    about = {"amplitude_m": 0.01, "frequency_hz": 1.0, "current_a": 0.5, "fs": 200.0}
    (tmp_path / "index.json").write_text(json.dumps([{"id": "sine_10mm_1Hz_0.5A", **about}]))
    np.savez(tmp_path / "sines.npz", **{f"sine_10mm_1Hz_0.5A/{key}": np.arange(4.0) for key in "dvf"})
    (test,) = mr_damper.packaged_tests(tmp_path).values()
    assert (test.dt, test.current, test.motion, test.frequency) == (0.005, 0.5, "sine_10mm_1Hz", 1.0)
