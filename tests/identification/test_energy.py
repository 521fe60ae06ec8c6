"""Which loops give energy: those with the sign reversed, and no spring, noise or preload."""

import numpy as np
import pytest

from hyloop.devices import bilinear
from hyloop.identification import gives_energy

T = np.linspace(0.0, 3.0, 600)
D = 0.01 * np.sin(2 * np.pi * T)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_yielding_device(sign):
    f = bilinear(k=2e7, f_y=5e4).drive(T[1], d=D)["f"]
    assert gives_energy(D, sign * f) == (sign < 0.0)


def test_springs_noise_and_released_preload_do_not(rng):
    assert not gives_energy(D, 1e6 * D + 100.0 * rng.normal(size=len(D)))
    released = np.linspace(0.01, 0.0, 100)
    assert not gives_energy(released, 1e6 * released)
    assert not gives_energy(np.zeros(50), np.ones(50))
