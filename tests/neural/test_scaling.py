"""Scalings of a signal from its data, by their definitions; small and large units alike."""

import numpy as np
import pytest

from hyloop.errors import BadInput, BadShape
from hyloop.neural import Signal

VALUES = np.array([-3.0, 1.0, 2.0, 4.0, 9.0])


@pytest.mark.parametrize("unit", [1e-3, 1e6])
@pytest.mark.parametrize(
    ("scaling", "centre", "spread"),
    [("min-max", 3.0, 6.0), ("robust", 2.0, 3.0), ("standard", 2.6, np.sqrt(15.44)), ("none", None, None)],
)
def test_scalings_are_those_of_their_names(scaling, centre, spread, unit):
    signal = Signal.of("d", "m", [unit * VALUES[:2], unit * VALUES[2:]], scaling)
    expected = unit * VALUES if centre is None else (VALUES - centre) / spread
    assert signal.scale(unit * VALUES) == pytest.approx(expected, rel=1e-12)
    assert signal.unscale(signal.scale(unit * VALUES)) == pytest.approx(unit * VALUES, rel=1e-12)
    assert (signal.low, signal.high) == (pytest.approx(-3 * unit), pytest.approx(9 * unit))


def test_data_that_say_nothing_are_refused():
    assert Signal.of("d", "m", [2.0], "none").low == 2.0
    with pytest.raises(BadInput, match="does not vary"):
        Signal.of("d", "m", [2.0, 2.0])
    with pytest.raises(BadShape, match="empty or not finite"):
        Signal.of("d", "m", np.empty(0))
    with pytest.raises(BadShape, match="empty or not finite"):
        Signal.of("d", "m", [1.0, np.nan])
