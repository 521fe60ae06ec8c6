"""Incremental dynamic analyses of structures whose curves are known: lines, and an independent integration in NumPy."""

from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from hyloop.ensembles.ida import analyse
from hyloop.ensembles.record_sets import ChosenRecord
from hyloop.ensembles.table import TABLE, read_table
from hyloop.errors import BadInput, HyloopError
from hyloop.metrics.fragility import EXACT, FAILED, STANDS
from hyloop.report.ida_result import compare, read_ida

LINE = 1e-9  # a linear structure: rounding over some thousand steps
METHOD = 0.01  # of a drift: both methods are of second order, at 1/512 s and a period of 1 s, before large drifts
G = 9.80665
MASS, K, YIELD, WEIGHT, HEIGHT, COLUMN, DT = 10e3, 400e3, 12e3, 98e3, 3.0, 1e3, 1 / 512

OSCILLATOR = f"""
title = "An elastic-perfectly-plastic oscillator under its weight"
[structure]
kind = "shear_frame"
stories = 1
masses = {MASS}
stiffnesses = {COLUMN}
gravity = {WEIGHT}
heights = {HEIGHT}
[integrator]
method = "newmark_explicit"
dt = {DT}
[excitation]
kind = "record"
file = "one.csv"
[sites.brace]
story = 1
device = {{ law = "bilinear", k = {K}, alpha = 0.0, f_y = {YIELD} }}
[ida]
records = ["one.csv", "two.csv", "three.csv"]
first = "0.05 g"
step = "0.05 g"
growth = "0.02 g"
levels = 9
flattening = 0
"""


class Threads:
    """Workers in this process: no second has to be spent on starting others."""

    workers: int = 1
    broken = (BrokenExecutor,)

    def executor(self):
        return ThreadPoolExecutor(1)

    def stop(self, pool):
        pool.shutdown(cancel_futures=True)


@pytest.fixture
def file(tmp_path):
    """The oscillator and three motions beside it."""
    t = np.arange(512) * 0.02
    for k, name in enumerate(("one", "two", "three")):
        noise = np.random.default_rng(k).normal(size=t.size) * np.sin(np.pi * t / t[-1])
        table = np.column_stack([t, np.convolve(noise, np.ones(8) / 8, "same")])
        np.savetxt(tmp_path / f"{name}.csv", table, "%.9g", ",", header="t [s],a [m/s2]", comments="")
    path = tmp_path / "oscillator.toml"
    path.write_text(OSCILLATOR, "utf-8")
    return path


def drift(folder, name, scale):
    """Largest drift ratio of the oscillator by central differences in NumPy, inf beyond 10 % of the height.

    m u" + (column - weight/height) u + f(u) = -m a, with f elastic-perfectly plastic.
    """
    t, a = np.loadtxt(folder / f"{name}.csv", delimiter=",", skiprows=1).T
    h = DT / 4
    ground = scale * np.interp(np.arange(0.0, t[-1], h), t, a)
    before = now = plastic = largest = 0.0
    for a_g in ground:
        f = np.clip(K * (now - plastic), -YIELD, YIELD)
        plastic = now - f / K
        rate = -a_g - ((COLUMN - WEIGHT / HEIGHT) * now + f) / MASS
        before, now = now, 2.0 * now - before + h * h * rate
        largest = max(largest, abs(now))
        if largest > 0.1 * HEIGHT:
            return np.inf
    return largest / HEIGHT


def run(file, *words, folder="runs", **options):
    return analyse(file, file.parent / folder, words, Threads(), **options)


def test_an_elastic_structure_has_straight_lines(file):
    """No weight and a brace that never yields: the response is proportional to the intensity, and nothing collapses."""
    words = "structure.gravity=0.0", "sites.brace.device.f_y=1e9", "ida.collapse=10 %", "ida.highest=0.4 g"
    found = run(file, *words, "ida.flattening=0.2")
    assert len(found.records) == 3 and found.runs == 27
    for curve in found.curves:
        slope = curve.response / curve.intensity
        assert slope == pytest.approx(slope[0], rel=LINE) and curve.capacity == (
            pytest.approx(0.4 * G, rel=1e-5),
            STANDS,
        )
        # the spectral displacement at 5 %, undamped at resonance: the oscillator has none, so that its own is larger
        assert slope[0] * HEIGHT > (found.period / 2 / np.pi) ** 2
    assert "None of 3 records collapses up to" in found.sentence() and "3 of 3 records never collapse" in found.notes[0]
    assert found.at_collapse.fit is None and found.as_dict()["fragilities"][0]["median"] is None


def test_curves_and_collapse_are_those_of_an_independent_integration(file):
    found = run(file)
    assert found.period == pytest.approx(2 * np.pi * np.sqrt(MASS / (K + COLUMN - WEIGHT / HEIGHT)), rel=1e-6)
    for record, curve in zip(found.records, found.curves, strict=True):
        for level, response in zip(curve.intensity, curve.response, strict=True):
            truth = drift(file.parent, record.name, level / record.unit)
            if response < 0.02:  # before weight makes it unstable, where everything grows: also differences
                assert response == pytest.approx(truth, rel=METHOD)
        low, high = curve.bracket
        assert drift(file.parent, record.name, 0.98 * low / record.unit) < 0.1
        assert drift(file.parent, record.name, 1.02 * high / record.unit) == np.inf
        assert curve.capacity[1] == EXACT and low < curve.capacity[0] < high
    fit = found.at_collapse.fit
    logs = np.log([curve.capacity[0] for curve in found.curves])
    assert (fit.median, fit.beta) == (pytest.approx(np.exp(logs.mean())), pytest.approx(logs.std()))
    assert found.stops == {"drift": sum(len(curve.fell) for curve in found.curves)}


def test_without_a_drift_that_counts_it_collapses_by_instability(file):
    """Under its weight the oscillator falls by itself once it is far out, which the energy of its motion shows."""
    found = run(file, 'ida.collapse="1e9 m"')
    fallen = [
        (record, level) for record, curve in zip(found.records, found.curves, strict=True) for level in curve.fell
    ]
    assert found.stops == {"energy": len(fallen)} and {record.name for record, _ in fallen} == {"one", "two", "three"}
    assert all(drift(file.parent, record.name, level / record.unit) == np.inf for record, level in fallen)
    assert all(curve.capacity[1] == EXACT for curve in found.curves)


def test_it_goes_on_where_it_broke_off_and_gives_the_same(file):
    class Enough(Exception):
        pass

    def stop(done, most, each):
        if done >= 11:
            raise Enough

    with pytest.raises(Enough):
        run(file, progress=stop)
    journal = file.parent / "runs" / "runs.jsonl"
    there = len(journal.read_text().splitlines())
    assert 11 <= there < 27 and len(read_table(file.parent / "runs" / TABLE)["run"]) <= there  # of whole rounds
    found = run(file)
    assert len(journal.read_text().splitlines()) == 27
    undisturbed = run(file, folder="others")
    assert found.records == undisturbed.records
    assert (file.parent / "runs" / TABLE).read_bytes() == (file.parent / "others" / TABLE).read_bytes()
    # more levels and a state: what is there is not run again
    more = run(file, "ida.levels=10", 'ida.states.slight="0.5 %"')
    assert len(journal.read_text().splitlines()) == 30 and more.runs == 30
    assert [one.name for one in more.fragilities] == ["slight", "collapse"]
    table = read_table(file.parent / "runs" / TABLE)
    assert (
        len(table["run"]) == 30
        and table["record"][0] == "one"
        and table["intensity"][0] == pytest.approx(0.05 * G, rel=1e-5)
    )
    assert read_ida(file.parent / "runs").as_dict() == more.as_dict()


def test_a_set_whose_lowest_level_collapses_is_told(file):
    found = run(file, "ida.first=30.0", "ida.levels=3")
    assert [curve.capacity[1] for curve in found.curves] == [FAILED] * 3
    assert "collapse at their lowest level already" in found.notes[0] and "ida.first" in found.notes[0]
    assert found.sentence().startswith("No fragility of collapse can be told")


def test_two_structures_are_compared_in_pairs(file):
    one, other = run(file), run(file, f"sites.brace.device.f_y={1.2 * YIELD}", folder="stronger")
    with pytest.raises(BadInput, match=r"other intensities|ida\.period"):
        compare(one, run(file, "ida.period=0.5", folder="period"))
    found = compare(other, one)
    ratio, low, high = found.ratios["collapse"]
    assert ratio == pytest.approx(other.at_collapse.fit.median / one.at_collapse.fit.median)
    assert low <= ratio <= high and ratio > 1.05 and "1 of 1 states differ" in found.sentence()
    same = compare(one, one)
    assert same.ratios["collapse"] == (1.0, 1.0, 1.0) and "no difference is shown" in same.sentence()


def test_pga_needs_no_period(file):
    found = run(file, 'ida.intensity="pga"', "ida.levels=3", 'ida.records=["two.csv"]')
    a = np.loadtxt(file.parent / "two.csv", delimiter=",", skiprows=1)[:, 1]
    # in steps of 1/512 s, which do not meet every sample
    assert found.records[0].unit == pytest.approx(np.abs(a).max(), rel=2e-3) and found.measure == "PGA"


@pytest.mark.parametrize(
    "words, said",
    [
        (["ida.records=[]"], "the set of records is empty"),
        (["ida.records=0"], "at least one record"),
        (['ida.records=["nothing*"]'], "the set is empty"),
        (["ida.record=3"], "unknown key 'record'. Did you mean 'records'"),
        (["ida.collapse=3"], "give the unit"),
        (['ida.states.slight="20 mm"'], r"ida.states.slight: the response is in -"),
        (['ida.response="peak roof"'], "unknown channel 'roof'"),
        (['excitation={kind="harmonic", amplitude=1.0, frequency=1.0, duration=3.0}'], 'its kind is "harmonic"'),
        (["ida.levels=2"], "3"),
    ],
)
def test_what_cannot_be_analysed_is_refused(file, words, said, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(file.parent))
    with pytest.raises(BadInput, match=said):
        run(file, *words)
    assert not (file.parent / "runs").exists()  # so that the corrected file can go there


def test_a_folder_of_something_else_is_left_alone(file):
    (file.parent / "runs").mkdir()
    (file.parent / "runs" / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match="holds other files"):
        run(file)
    assert [path.name for path in (file.parent / "runs").iterdir()] == ["notes.txt"]
    with pytest.raises(BadInput, match="holds no incremental analysis"):
        read_ida(file.parent / "runs")


def test_a_record_of_nothing_is_refused(file):
    (file.parent / "still.csv").write_text("t [s],a [m/s2]\n" + "".join(f"{0.1 * k:.1f},0\n" for k in range(50)))
    with pytest.raises(HyloopError, match="still"):
        run(file, 'ida.records=["still.csv"]')


def test_records_may_have_changes_of_their_own(file):
    own = [
        ChosenRecord(name, {"file": str(file.parent / "one.csv")}, (f"sites.brace.device.f_y={f_y}",))
        for name, f_y in (("weak", 8e3), ("strong", 16e3))
    ]
    found = run(file, records=own)
    weak, strong = (curve.capacity[0] for curve in found.curves)
    assert weak < 0.8 * strong
    assert isinstance(Path(found.source), Path)
