"""A loop with every kind of updater stops, and goes on in another process to the last bit."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from problems.filters import followed_loop, ground

N, HALF = 3000, 1200


@pytest.fixture(scope="module")
def finished():
    return followed_loop().run(ground(N))


def test_in_a_loop_a_model_follows_the_measured_device(finished):
    for key, truth in (("K", 2.6e7), ("C", 1.5e5), ("alpha", 0.4)):
        assert finished[f"model.{key}"][-1] == pytest.approx(truth, rel=1e-3)
        assert finished[f"rls.{key}"][-1] == pytest.approx(truth, rel=1e-3)
        assert finished[f"enkf.{key}"][-1] == pytest.approx(truth, rel=0.05)
    error = (finished["specimen.f"] - finished["ukf.f"])[2000:]
    assert error.std() < 1e-4 * finished["specimen.f"].std()


def test_it_resumes_bit_for_bit_in_another_process(finished, tmp_path):
    loop = followed_loop()
    loop.start(ground(N)[0])
    loop.advance(ground(N)[1 : HALF + 1])
    loop.snapshot().save(tmp_path / "half.npz")
    script = (
        "import sys, numpy as np\n"
        "from problems.filters import followed_loop, ground\n"
        "from hyloop.loop import Snapshot\n"
        "loop = followed_loop()\n"
        "loop.restore(Snapshot.load(sys.argv[1]))\n"
        "np.save(sys.argv[2], loop.advance(ground(int(sys.argv[3]))[int(sys.argv[4]):]).data)\n"
    )
    subprocess.run(
        [sys.executable, "-c", script, tmp_path / "half.npz", tmp_path / "rest.npy", str(N), str(HALF + 1)],
        check=True,
        cwd=Path(__file__).parents[1],
    )
    assert np.array_equal(np.load(tmp_path / "rest.npy"), finished.data[HALF + 1 :])
