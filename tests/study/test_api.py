"""`hyloop.run` and `hyloop.identify` from Python: what a file would hold, and changes as Python has them."""

from pathlib import Path

import numpy as np
import pytest

import hyloop
from hyloop.devices import bilinear
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.study.build import build

FILE = Path(__file__).parents[2] / "experiments" / "friction_frame.toml"
SHORT = {"excitation.duration": "2 s"}


def test_memory_and_file_hold_the_same(tmp_path):
    here = hyloop.run(FILE, SHORT)
    written = hyloop.run(FILE, SHORT, out=tmp_path / "run.h5")
    assert here.names == written.names and here.data.tobytes() == written.data.tobytes()
    assert Recording.load(tmp_path / "run.h5").data.tobytes() == here.data.tobytes()
    for key in ("title", "periods", "building", "experiment_text", "overrides", "notes", "counts"):
        assert here.attributes[key] == written.attributes[key]
    with pytest.raises(BadInput, match=r"exists.*force=True"):
        hyloop.run(FILE, SHORT, out=tmp_path / "run.h5")


def test_changes_are_numbers_texts_lists_and_tables():
    motion = {"kind": "noise", "rms": "0.1 g", "low": 0.5, "high": "6 Hz", "duration": 2}
    changes = {"excitation": motion, "sites.damper1.count": np.int64(3), "recording.channels": ("damper1.*", "u.6")}
    result = hyloop.run(FILE, changes)
    assert result.attributes["counts"]["damper1"] == 3.0 and result.time[-1] == pytest.approx(2.0, abs=0.01)
    assert "u.6" in result.names and "u.5" not in result.names
    for wrong in (object(), float("nan")):
        with pytest.raises(BadInput, match="cannot stand in a file"):
            hyloop.run(FILE, {"sites.damper1.count": wrong})


def test_bare_is_the_structure_without_devices():
    with_devices, bare = (hyloop.run(FILE, SHORT, bare=flag) for flag in (False, True))
    np.testing.assert_array_equal(bare["ground"], with_devices["ground"])
    assert not bare.attributes["counts"] and "damper1.f" not in bare.names
    assert np.abs(bare["drift.1"]).max() > np.abs(with_devices["drift.1"]).max()


@pytest.mark.slow
def test_a_law_is_found_saved_and_not_written_over(tmp_path, rng):
    t = np.arange(2000) / 200
    d = 8e-3 * np.sin(2 * np.pi * t) * np.minimum(t / 5, 1)
    f = bilinear(k=2e7, f_y=4e4, alpha=0.02).drive(1 / 200, d=d)["f"] + rng.normal(0, 100, len(t))
    text = "\n".join(
        ["t (s),d (mm),f (kN)", *(f"{a:.4f},{1e3 * b:.5f},{1e-3 * c:.5f}" for a, b, c in zip(t, d, f, strict=True))]
    )
    (tmp_path / "test.csv").write_text(text, encoding="utf-8")
    found = hyloop.identify(tmp_path / "test.csv", ["bilinear", "spring"], save=tmp_path / "law.toml")
    assert [c.name for c in found.candidates] == ["bilinear", "spring"]
    assert found.best.fit.estimates["k"].value == pytest.approx(2e7, rel=0.01)
    assert 'law = "bilinear"' in (tmp_path / "law.toml").read_text(encoding="utf-8")
    with pytest.raises(BadInput, match="there already"):
        hyloop.identify(tmp_path / "test.csv", ["bilinear"], save=tmp_path / "law.toml")


def test_bare_keeps_the_inherent_damping():
    """Damping ratios that count on the stiffness of the devices belong to the structure, with them or without."""
    changes = ["structure.damping.devices=true"]
    experiment = load_experiment(FILE, changes)
    built, bare = build(experiment), build(experiment.without_devices())
    np.testing.assert_array_equal(bare.loop.structure.C, built.loop.structure.C)
    assert not bare.loop.sites and built.loop.sites
