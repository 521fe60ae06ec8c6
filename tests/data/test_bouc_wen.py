"""The Bouc-Wen benchmark in both layouts."""

import numpy as np
import pytest
from oracles.data import data_path
from scipy.io import savemat

from hyloop.data import bouc_wen
from hyloop.errors import BadInput, BadShape, UnknownName

U, Y = np.arange(16384.0), np.arange(16384.0) * 1e-6


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path))
    (tmp_path / "boucwen").mkdir()
    return tmp_path / "boucwen"


def write_published(folder):
    """The archive of 4TU with its variables named after the files, and the estimation record with u and y."""
    signals = folder / "published" / "Test signals" / "Validation signals"
    signals.mkdir(parents=True)
    for name, shift in (("multisine", 0.0), ("sinesweep", 1.0)):
        savemat(signals / f"uval_{name}.mat", {f"uval_{name}": U[None, :8192] + shift})
        savemat(signals / f"yval_{name}.mat", {f"yval_{name}": Y[None, :8192] + shift})
    savemat(folder / "uest_multisine.mat", {"u": U[:, None]})
    savemat(folder / "yest_multisine.mat", {"y": Y[:, None]})


def test_the_published_layout(folder):
    write_published(folder)
    found = bouc_wen.tests()
    assert list(found) == ["estimation", "test_multisine", "test_sinesweep"] == list(bouc_wen.published_tests(folder))
    assert np.array_equal(found["estimation"].u, U) and np.array_equal(found["estimation"].y, Y)
    assert found["estimation"].periods == 2 and found["test_sinesweep"].u[0] == 1.0
    assert all(record.dt == pytest.approx(1 / 750) for record in found.values())


def test_the_packaged_layout_and_a_sweep_beside_it(folder):
    for name in ("estimation", "test_sinesweep"):
        np.savez(folder / f"{name}.npz", u=U, y=Y, fs=750.0)
    assert list(bouc_wen.tests()) == ["estimation", "test_sinesweep"] == list(bouc_wen.packaged_tests(folder))
    assert list(bouc_wen.tests("test_*")) == ["test_sinesweep"]
    with pytest.raises(UnknownName, match="Allowed: estimation, test_sinesweep"):
        bouc_wen.tests("test_multisine")


def test_bad_files_are_refused(folder):
    with pytest.raises(BadInput, match="hyloop data get boucwen"):
        bouc_wen.tests()
    np.savez(folder / "estimation.npz", u=U, y=Y)
    with pytest.raises(BadInput, match="must hold u, y and fs"):
        bouc_wen.tests()
    np.savez(folder / "estimation.npz", u=U, y=Y[:-1], fs=750.0)
    with pytest.raises(BadShape, match="same length"):
        bouc_wen.tests()
    (folder / "estimation.npz").unlink()
    write_published(folder)
    savemat(folder / "yest_multisine.mat", {"y": Y, "u": U})
    with pytest.raises(BadInput, match="one row of numbers"):
        bouc_wen.tests("estimation")


def test_the_real_records_are_what_the_benchmark_says():
    """Estimation: four equal periods, 50 N rms; test 1: noise-free, 6.669e-4 m."""
    data_path("boucwen", "estimation.npz")
    record = bouc_wen.tests("estimation")["estimation"]
    periods = record.u.reshape(record.periods, -1)
    assert periods.shape == (4, 8192) and np.allclose(periods, periods[0], atol=1e-9)
    assert np.sqrt(np.mean(record.u**2)) == pytest.approx(50.0, rel=0.01)
    test = bouc_wen.tests("test_multisine")["test_multisine"]
    assert test.y.std() == pytest.approx(6.669e-4, rel=1e-3) and test.dt == pytest.approx(1 / 750)
