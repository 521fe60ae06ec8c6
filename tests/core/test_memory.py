"""The unnamed part of a block's state: as long as declared, kept from tick to tick, checked when given."""

import numpy as np
import pytest

from hyloop.core import Param, inplace_block
from hyloop.errors import BadShape


@inplace_block(
    inputs={"d": "m"},
    outputs={"oldest": "m", "total": "m", "n": "-"},
    state={"ticks": "-"},
    memory=4,
    params={"gain": Param("-", 1.0)},
    reference="test",
)
def window(x, u, dt, p, y):
    """Sum over the last four samples, which are all of the memory."""
    last = x[1:]
    for k in range(len(last) - 1):
        last[k] = last[k + 1]
    last[len(last) - 1] = u[0]
    x[0] += 1.0
    y[0], y[1], y[2] = last[0], p[0] * last.sum(), len(x)


def test_memory_is_as_long_as_declared_and_lasts():
    d = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    found = window(gain=3.0, memory=[0.5, 0.25, 0.125, 0.0625]).drive(0.01, d=d)
    assert found["n"].tolist() == [5.0] * 6
    assert found["oldest"].tolist() == [0.25, 0.125, 0.0625, 1.0, 2.0, 4.0]
    assert found["total"].tolist() == [3 * (0.4375 + 1), 3 * (0.1875 + 3), 3 * (0.0625 + 7), 45.0, 90.0, 180.0]
    assert found["ticks"].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert window().drive(0.01, d=d)["total"].tolist() == [1.0, 3.0, 7.0, 15.0, 30.0, 60.0]


def test_memory_of_another_length_is_refused():
    with pytest.raises(BadShape, match=r"window: memory must be 4 numbers, got shape \(3,\)"):
        window(memory=np.zeros(3))
