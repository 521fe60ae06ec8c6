"""Names of channels."""

import pytest

from hyloop.core import Layout
from hyloop.errors import BadInput, UnknownName


def _layout():
    layout = Layout()
    for name in ("t", "u.1", "u.2", "damper1.d", "damper1.f"):
        layout.add(name, "-")
    return layout


def test_positions_and_patterns():
    layout = _layout()
    assert layout["damper1.d"] == 3
    assert layout.select(["damper*", "t"]) == [0, 3, 4]
    assert layout.select(["u.?", "u.1"]) == [1, 2]


def test_bad_names():
    with pytest.raises(BadInput, match="exists twice"):
        _layout().add("t", "s")
    with pytest.raises(UnknownName, match=r"Did you mean 'damper1\.f'"):
        _layout()["damper1.F"]
    with pytest.raises(UnknownName, match="unknown channel 'x"):
        _layout().select(["x*"])
