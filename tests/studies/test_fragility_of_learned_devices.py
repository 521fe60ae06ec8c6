"""The study of fragilities with learned devices: whose records are judged, and what stands in the second story."""

import sys
from pathlib import Path

import numpy as np
import pytest

from hyloop.data import data_folder
from hyloop.files.load import load_experiment
from hyloop.metrics.fragility import EXACT, STANDS
from hyloop.report.ida_result import IdaRecord, IdaResult, compare
from hyloop.study.build import build
from hyloop.study.claims import load_claims
from hyloop.study.code import load_code

FOLDER = Path(__file__).parents[2] / "studies" / "fragility_of_learned_devices"


@pytest.fixture(scope="module")
def study():
    return load_code(FOLDER / "study.py")


@pytest.fixture(scope="module")
def parts(study):
    return sys.modules[f"{study.__name__}.models"], sys.modules[f"{study.__name__}.motions"]


def test_no_record_that_is_judged_was_trained_on(parts):
    _, motions = parts
    trained = motions.trained_on()
    assert len(trained) == 14 and not trained & {*motions.STATIONS, *motions.ALONE}
    assert 2 * len(motions.STATIONS) + len(motions.ALONE) + len(motions.DRAWN) >= 20


@pytest.mark.skipif(data_folder() is None, reason="needs the ground motions")
def test_every_record_has_a_damper_of_its_own_the_same_for_all(parts, tmp_path):
    _, motions = parts
    records = motions.judged(tmp_path)
    assert len({one.name for one in records}) == len(records) == 22
    assert len({one.overrides for one in records}) == 22
    drawn = np.loadtxt(tmp_path / "drawn-9001.csv", delimiter=",", skiprows=1)
    assert drawn.shape == (3001, 2) and np.abs(drawn[:, 1]).max() > 2.0  # m/s2, of a design spectrum of 1 g
    assert motions.judged(tmp_path) == records


@pytest.mark.slow
def test_what_stands_in_the_second_story(study, parts):
    models, _ = parts
    seen = {}
    for model in study.MODELS:
        built = build(load_experiment(models.FILE, [*models.changes(model), "seed=501"]))
        first, second = built.loop.sites
        seen[model] = (second.device.block.name, first.device.params["A"], second.stiffness)
        assert second.count == 4
    assert [name for name, _, _ in seen.values()] == ["brfd_stick_slip", "network", "lugre", "lugre", "spring"]
    assert len({a for _, a, _ in seen.values()}) == 1 and seen[models.NOTHING][2] == 0.0
    other = build(load_experiment(models.FILE, [*models.changes(models.TRUTH), "seed=502"])).loop.sites[0]
    assert other.device.params["A"] != seen[models.TRUTH][1]


def test_claims_are_what_is_computed(study):
    """Two records whose truth reaches a drift at 1 and 2 m/s2, a model that is 10 % off, and one that is not."""

    def analysed(factor):
        drifts = 0.004, 0.03
        records = tuple(
            IdaRecord(name, 1.0, (0.5 * x, 4.0 * x, 6.0 * x), (drifts[0], drifts[1], None), ("", "", "drift: far"))
            for name, x in (("a", factor), ("b", 2.0 * factor))
        )
        states = {name: (float(level.rstrip(" %")) / 100, "-") for name, level in study.STATES.items()}
        return IdaResult("", "", (), "pga", 0.0, 0.05, "peak drift_ratio.*", "-", "5 %", 0.0, 0.05, records, states)

    names = study.MODELS
    found = {name: analysed(factor) for name, factor in zip(names, (1.0, 1.1, 1.2, 0.5, 1.0), strict=True)}
    pairs = {name: compare(found[name], found[names[0]]) for name in names[1:]}
    values = study._values(found, pairs)
    assert set(values) == {claim.claim for claim in load_claims(FOLDER / "claims.toml")}
    told = {claim: value for claim, value in values.items() if claim.startswith("listening network, ")}
    off = [value for claim, value in told.items() if "dispersion" not in claim]
    assert off == pytest.approx([10.0] * len(off)) and len(off) == 5
    assert values["listening network, worst of three drifts: dispersion over the truth's, off by"] < 1e-6
    assert values["worst of three drifts: listening network over fixed law"] == pytest.approx(0.2)
    assert all(kind in (EXACT, STANDS) for kind in found[names[0]].at_collapse.kinds)
