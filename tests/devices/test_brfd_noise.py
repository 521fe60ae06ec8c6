"""The readings of a virtual specimen: four noises, and no number used twice."""

import numpy as np
import pytest

from hyloop.devices import brfd_gap_slip, brfd_stick_slip

TICKS = 400
NOISE = {"noise_f": 3.6, "noise_d": 1.4e-6, "noise_t": 1.9}


@pytest.mark.parametrize("specimen", [brfd_gap_slip, brfd_stick_slip], ids=lambda block: block.name)
def test_no_random_number_is_used_twice(specimen):
    still = {key: np.zeros(TICKS) for key in specimen.inputs}
    loud = specimen(**NOISE, seed=3).drive(1 / 1024, **still)
    quiet = specimen(**dict.fromkeys(NOISE, 0.0), seed=3).drive(1 / 1024, **still)
    drawn = np.concatenate([(loud[key] - quiet[key]) / NOISE[f"noise_{key[0]}"] for key in ("f_m", "d_m", "t1", "t2")])
    assert np.abs(drawn).max() < 5.0 and drawn.std() == pytest.approx(1.0, abs=0.1)
    gaps = np.diff(np.sort(drawn))
    assert gaps.min() > 1e-9  # two of 1600 normal numbers are 1e-6 apart or so; the same one twice, by rounding
