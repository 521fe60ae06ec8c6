"""Modes of a large sparse model by Lanczos' method, up to half of all, against the closed form of a shear chain."""

import numpy as np
import pytest
from scipy import sparse

from hyloop.errors import OutOfBounds
from hyloop.structure import Structure
from hyloop.structure.modes import FEW

LANCZOS = 1e-8  # relative, of frequencies; their squares come out to round-off times the condition of K


def test_half_of_the_modes_of_a_long_chain():
    """ω_j = 2 sqrt(k/m) sin((2 j - 1) π / (2 (2 n + 1))) of n equal stories."""
    n, k, m = 2 * (FEW // 2) + 20, 4e7, 1e4
    K = k * sparse.diags_array([[-1.0] * (n - 1), [2.0] * (n - 1) + [1.0], [-1.0] * (n - 1)], offsets=[-1, 0, 1])
    chain = Structure(sparse.diags_array(np.full(n, m)), sparse.csr_array(K))
    j = np.arange(1, n // 2 + 1)
    exact = 2 * np.sqrt(k / m) * np.sin((2 * j - 1) * np.pi / (2 * (2 * n + 1)))
    assert chain.modes(count=n // 2).omega == pytest.approx(exact, rel=LANCZOS)
    assert chain.modes(count=7).omega == pytest.approx(exact[:7], rel=LANCZOS)
    with pytest.raises(OutOfBounds, match=f"at most {n // 2} are found"):  # never fewer than asked for, without a word
        chain.modes(count=n // 2 + 1)
