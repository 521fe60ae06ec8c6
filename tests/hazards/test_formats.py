"""Formats of the networks: files with headers as real ones have them, written from a known signal, and read back."""

import numpy as np
import pytest
from oracles.records import cosmos, csmip, esm, knet

from hyloop.errors import BadInput, UnknownName
from hyloop.hazards import read_record, record_components

DT = 0.005
T = DT * np.arange(400)
A = 20.0 * np.exp(-T) * np.sin(2 * np.pi * 3.0 * T) + 0.3  # cm/s2
V, D = 0.1 * A, 0.01 * A
PRINTED = 1e-6  # cm/s2, of files with six decimals
COUNT = 7845 / 8223790  # gal


@pytest.fixture
def file(tmp_path):
    def write(text, name="record.txt"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def refused(path, words, **more):
    with pytest.raises(BadInput, match=words) as caught:
        read_record(path, **more)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["r.ASC", "r.txt", "r.V2"])  # recognised by what they say, not by their names
def test_esm(file, name):
    motion = read_record(file(esm(A, DT), name))
    assert motion.a == pytest.approx(A / 100, abs=PRINTED / 100) and motion.dt == DT
    assert {"format": "ESM", "station": "ARS1", "component": "HNE", "unit": "cm/s2"}.items() <= motion.meta.items()


def test_esm_refusals(file):
    refused(file(esm(A, DT).replace("NDATA: 400", "NDATA: 401")), "line 30: the header promises 401 points.*holds 400")
    refused(file(esm(A, DT, kind="VELOCITY", unit="cm/s")), "holds velocity, not acceleration.*ACC")
    refused(file(esm(A, DT).replace("SAMPLING_INTERVAL_S: 0.005000", "SAMPLING_INTERVAL_S: 0")), "line 29: .*positive")
    refused(file(esm(A, DT).replace("UNITS: cm/s^2", "UNITS:")), "no UNITS")
    refused(file(esm(A, DT).replace("NDATA: 400", "NDATA: many")), "line 30: NDATA = many")
    refused(file(esm(np.where(T[7] == T, np.nan, A), DT)), "line 72: 'nan' is not a finite number")
    refused(file(esm(A, DT)), "holds one component", component="HNE")


@pytest.mark.parametrize("offset", [0, 13324, -2471])
def test_knet(file, offset):
    gal = np.tile(A, 3)[: 2 * 200]
    path = file(knet(gal, 200, offset), "AOM0021801241951.EW")
    motion = read_record(path)
    assert motion.a == pytest.approx((gal - gal.mean()) / 100, abs=COUNT / 100) and motion.dt == DT
    assert abs(motion.a.mean()) < 1e-12 and motion.name == "AOM0021801241951.EW"
    assert motion.meta["station"] == "AOM002" and motion.meta["component"] == "E-W"
    assert motion.meta["offset"].startswith("mean of the record removed")
    assert motion.pga == pytest.approx(float(motion.meta["peak stated"].split()[0]) / 100, abs=1e-5)  # three decimals


def test_knet_with_the_header_of_nieds_page(file):
    """The older spelling (Lon., Max Acc.) and scale factor; eight counts by hand: +-1 and an offset of 8005."""
    text = knet(A, 200).replace("Long.", "Lon. ").replace("Max. Acc. (gal) ", "Max Acc. (gal)  ")
    header = text.replace("7845(gal)/8223790", "3920(gal)/6182761").replace("200Hz", "100Hz").splitlines()[:17]
    header[11] = "Duration Time(s)  0.08"
    path = file("\n".join([*header, " 8006 8004 8006 8004 8006 8004 8006 8004"]) + "\n")
    motion = read_record(path)
    assert motion.a == pytest.approx(np.tile([1.0, -1.0], 4) * 3920 / 6182761 / 100, rel=1e-12)
    assert motion.dt == 0.01 and "peak stated" in motion.meta


def test_knet_refusals(file):
    good = knet(A, 200)
    refused(file(good.replace("Duration Time(s)  2", "Duration Time(s)  3")), "line 12: .*promises 600 .* holds 400")
    refused(file(good.replace("7845(gal)/8223790", "7845/8223790")), r"line 14: .*3920\(gal\)/6182761")
    refused(file(good.replace("200Hz", "fastHz")), "line 11: .*not a number")
    refused(file(good.replace("13", "x3")), "not a finite number")
    refused(file(good.replace("Duration Time(s)", "Duration Something")), "no Duration Time")


def channels():
    """Three channels of one station in one file; the acceleration of each is another multiple of A."""
    return {"1": ("360 Deg", A), "2": ("Up", 2 * A), "3": ("90 Deg", -3 * A)}


def test_csmip(file):
    motion = read_record(file(csmip(A, V, D, " .005"), "CE89146.V2"))
    assert motion.a == pytest.approx(A / 100, abs=PRINTED / 100) and motion.dt == DT
    assert {"format": "CSMIP V2", "unit": "cm/s2", "component": "1 = 360 = 360 deg"}.items() <= motion.meta.items()


def test_csmip_numbers_that_touch_each_other(file):
    large = np.where(np.arange(len(A)) % 2, -12.345678, -98.765432)
    motion = read_record(file(csmip(large, V, D, " .005")))
    assert motion.a == pytest.approx(large / 100, abs=PRINTED / 100)


def test_csmip_of_1983(file):
    """The line as in the Coalinga records: capitals, the unit in brackets, and no format."""
    today = "   400 points of accel data equally spaced at  .005 sec, in cm/sec2. (8f10.6)"
    then = "  400 POINTS OF ACCEL DATA EQUALLY SPACED AT  .005 SEC.  (UNITS: CM/SEC/SEC)"
    text = csmip(A, V, D, " .005")
    assert today in text
    motion = read_record(file(text.replace(today, then).upper()))
    assert motion.a == pytest.approx(A / 100, abs=PRINTED / 100) and motion.meta["unit"] == "cm/s2"


def test_csmip_channels(file):
    path = file("".join(csmip(a, V, D, " .005", k, name) for k, (name, a) in channels().items()))
    assert record_components(path) == ["1", "2", "3"]
    for component, factor in (("1", 1), ("360", 1), ("2", 2), ("up", 2), ("3", -3), ("90 deg", -3)):
        motion = read_record(path, component=component)
        assert motion.a == pytest.approx(factor * A / 100, abs=2 * PRINTED / 100)
    refused(path, r"holds 3 records \(1 = 360 = 360 Deg, 2 = Up, .*component=".replace("Deg", "deg"))
    with pytest.raises(UnknownName, match="unknown component 'North'"):
        read_record(path, component="North")


def test_csmip_refusals(file):
    good = csmip(A, V, D, " .005")
    shorter = good.replace("   400 points of accel data", "   401 points of accel data")
    refused(file(shorter), "line 20: the header promises 401 points and the file holds 400")
    refused(
        file(good.replace("points of accel data", "points of some data")), "holds velocity, displacement, not accel"
    )
    refused(file(good.replace("equally spaced", "spaced")), "uncorrected record")
    refused(file(good.replace("at  .005 sec", "at  .000 sec")), "step = 0 must be positive")
    refused(file(good.replace(", in cm/sec2.", ".")), "unit of acceleration is not in the file")
    cells = good.splitlines()
    row = next(i for i, line in enumerate(cells) if "points of accel data" in line) + 2
    cells[row] = "**********" + cells[row][10:]
    refused(file("\n".join(cells)), rf"line {row + 1}: '\*+' is not a finite number")


def test_cosmos(file):
    motion = read_record(file(cosmos([("acceleration", "cm/sec2(04)", A)], DT), "bmr.V2c"))
    assert motion.a == pytest.approx(A / 100, rel=1e-6, abs=PRINTED / 100) and motion.dt == DT
    assert {"format": "COSMOS V1.20", "unit": "cm/s2"}.items() <= motion.meta.items()
    assert "BNZ" in motion.meta["component"]


def test_cosmos_sections_and_channels(file):
    def channel(k, direction, factor):
        sections = [("acceleration", "cm/sec2(04)", factor * A), ("velocity", "cm/sec(05)", V)]
        return cosmos([*sections, ("displacement", "cm(06)", D)], DT, k, direction)

    path = file(channel("1", "270", 1.0) + channel("2", "360", 2.0))
    assert record_components(path) == ["1", "2"]
    assert read_record(path, component="270").a == pytest.approx(A / 100, rel=1e-6, abs=PRINTED / 100)
    assert read_record(path, component="2").a == pytest.approx(2 * A / 100, rel=1e-6, abs=PRINTED / 100)
    refused(path, "holds 2 records")
    refused(path, "'BNZ' is the name of 2 records", component="BNZ")


def test_cosmos_step(file):
    """The step of the processed record is taken, that of the raw one where the other is unknown, and none that lies."""
    section = [("acceleration", "cm/sec2(04)", A)]
    raw = file(cosmos(section, 0.02, step62=False))
    assert read_record(raw).dt == 0.02
    refused(file(cosmos(section, DT, step62=False).replace("approx    2 secs", "approx   99 secs")), "62 nor 34")


def test_cosmos_refusals(file):
    good = cosmos([("acceleration", "cm/sec2(04)", A)], DT)
    refused(file(good.replace("     400 acceleration pts", "     399 acceleration pts")), "promises 399 .* holds 400")
    velocity = cosmos([("velocity", "cm/sec(05)", V)], DT, title="Corrected velocity")
    refused(file(velocity), "holds velocity, not acceleration")
    counts = cosmos([("raw accel.", "counts (50)", np.round(A))], DT, title="Raw acceleration counts")
    refused(file(counts), "raw counts.*V2")
    refused(file(good.replace(f"{A[5]:15.6e}", "            NaN")), "'NaN' is not a finite number")
