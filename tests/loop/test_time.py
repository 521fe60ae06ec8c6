"""Time goes on by one step in every step, whichever of the three compiled steps makes it."""

import numpy as np
import pytest
from scipy import sparse

from hyloop.integrators import mkr_alpha, newmark
from hyloop.loop import Loop
from hyloop.structure import Structure, shear_frame

FULL = shear_frame([2.0, 1.0], [300.0, 200.0])
THIN = Structure(sparse.csr_array(FULL.M), sparse.csr_array(FULL.K))
STEPS = [(FULL, mkr_alpha(0.75)), (THIN, mkr_alpha(0.75)), (FULL, newmark())]


@pytest.mark.parametrize(("structure", "method"), STEPS, ids=["full", "sparse", "implicit"])
def test_time_goes_on_by_one_step(structure, method, rng):
    dt, ground = 0.01, rng.normal(size=30)
    loop = Loop(structure, method=method, dt=dt, substeps=2)
    whole = loop.run(ground)
    assert loop.structure.is_sparse == (structure is THIN)
    assert whole["t"] == pytest.approx(np.arange(30) * dt, abs=1e-15)
    loop.start(ground[0])
    pieces = [loop.advance(ground[1:11]), loop.advance(ground[11:])]
    assert np.array_equal(np.concatenate([piece.time for piece in pieces]), whole.time[1:])
    assert np.array_equal(np.concatenate([piece["u.2"] for piece in pieces]), whole["u.2"][1:])
    assert whole.time == pytest.approx(whole["t"], abs=1e-15)


def test_a_start_without_excitation_is_at_rest():
    loop = Loop(FULL, method=mkr_alpha(0.75), dt=0.01)
    loop.start()
    assert loop["ground"] == 0.0 and loop["a.1"] == 0.0
    loop.step(np.zeros(1))
    assert loop["u.2"] == 0.0
