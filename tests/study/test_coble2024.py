"""The study of Coble et al. (2024): the printed protocol, the law it learns with, and a quick run."""

import json
from pathlib import Path

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from oracles.data import data_path

from hyloop.study import studies
from hyloop.study.claims import load_claims, read_verdicts

FOLDER = Path(__file__).parents[2] / "studies" / "coble2024"
DT = 1 / 1024
ROUND_OFF = 1e-9  # relative to the largest force, over a thousand samples of the same formulas
STEP = 1e-3  # relative: one step of first order at 1/1024 s against steps sixteen times finer
PRINTED = 0.01  # the row of Table 9 is to be reproduced within 1 %


@pytest.fixture(scope="module")
def study():
    return studies._load(FOLDER / "study.py")


def test_the_printed_row_is_reproduced(study):
    data_path("brfd", "index.json")
    _, quakes = study.load()
    found = study.printed_row(quakes)
    ours = [found["RMSE", name] for name in study.QUAKES]
    assert ours == pytest.approx(list(study.PRINTED_LUGRE), rel=PRINTED)
    assert study.improvement(study.PRINTED_PHYSICS_ML) == pytest.approx(32.8, abs=0.05)


def motion(n, dt):
    t = dt * np.arange(n)
    d = 8e-3 * np.sin(2 * np.pi * 1.5 * t) + 3e-3 * np.sin(2 * np.pi * 4 * t)
    v = np.gradient(d, dt)
    return {"d": d, "v": v, "a": np.gradient(v, dt)}


def test_the_band_as_a_layer_is_the_compiled_law_and_begins_at_the_measured_force(study):
    band = study.learned
    layer, signals, first = band.band_layer(), motion(512, DT), 4e3
    x = band.start(layer, jnp.array([0.001, first]))
    law = band.remembering_band(initial=dict(zip(("u", "d_last", "s_1", "s_2"), np.asarray(x), strict=True)))
    rest = {key: np.full(3, 0.001 if key == "d" else 0.0) for key in signals}
    assert law.drive(DT, **rest)["f"] == pytest.approx(np.full(3, first), rel=1e-6)  # bisected to 1e-18 m
    expected = law.drive(DT, **signals)["f"]
    u = np.column_stack([*signals.values()])
    f = np.asarray(eqx.filter_jit(lambda layer, u: layer(u, x)[1][:, 0])(layer, u))
    assert f == pytest.approx(expected, abs=ROUND_OFF * np.abs(expected).max())


def test_the_band_does_not_depend_on_the_step(study):
    law, fine = study.learned.remembering_band(), 16
    coarse, dense = motion(1024, DT), motion(1024 * fine, DT / fine)
    f = law.drive(DT, **coarse)["f"]
    expected = law.drive(DT / fine, **dense)["f"][::fine]
    assert np.sqrt(np.mean((f - expected) ** 2)) < 30 * STEP * np.abs(expected).max()
    finer = motion(2048, DT / 2)
    halved = law.drive(DT / 2, **finer)["f"][::2]
    ratio = np.sqrt(np.mean((f - expected) ** 2) / np.mean((halved - expected) ** 2))
    assert ratio > 1.6  # first order: nearly 2


def test_quick_run(tmp_path):
    data_path("brfd", "index.json")
    result = studies.run_study("coble2024", tmp_path, quick=True, progress=lambda what, part: None)
    values = {verdict.claim: verdict for verdict in result.verdicts}
    assert values["LuGre row of Table 9, largest deviation"].verdict == "met"
    assert values["pooled improvement, mean of seeds, causal velocity"].verdict == "not-comparable"
    assert all(np.isfinite(verdict.ours) for verdict in result.verdicts)
    page = result.report.read_text(encoding="utf-8")
    assert "the earthquake of a column was not fitted" in page and "Fig. 11" in page


def test_committed_verdicts_are_those_of_the_claims():
    claims = {claim.claim: claim for claim in load_claims(FOLDER / "claims.toml")}
    verdicts = read_verdicts(FOLDER / "claims.json")
    assert [verdict.claim for verdict in verdicts] == list(claims)
    assert all(verdict.command == "hyloop study run coble2024" for verdict in verdicts)
    for row in json.loads((FOLDER / "claims.json").read_text(encoding="utf-8")):
        assert row["verdict"] == claims[row["claim"]].verdict(row["ours"])
