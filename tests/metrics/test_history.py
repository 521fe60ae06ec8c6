"""Peaks, energies and delays against closed forms."""

import numpy as np
import pytest

from hyloop import metrics
from hyloop.errors import BadInput, BadShape, OutOfBounds

ROUND_OFF = 1e-12
EDGES = 2e-3  # samples: a pulse that has died out at both ends leaves nothing to the edges
DT = 1 / 1024


def test_peak_by_hand():
    assert metrics.peak([1.0, -5.0, 4.0, 5.0], [0.0, 0.5, 1.0, 1.5]) == (5.0, 0.5, -5.0)


def test_energy_by_hand():
    """A rectangle of 2 N by 3 m, gone round once: the trapezoidal rule is exact."""
    d, f = [0.0, 3.0, 3.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0, 2.0]
    assert metrics.energy(f, d) == 6.0
    np.testing.assert_array_equal(metrics.energy(f, d, cumulative=True), [0, 6, 6, 6, 6])
    assert metrics.energy(f[::-1], d[::-1]) == -6.0


def test_energy_of_a_dashpot():
    """A closed cycle dissipates pi c w D^2; the trapezoidal rule gives the area of the inscribed polygon."""
    n, c, D, w = 400, 2e4, 0.03, 6.0
    angle = 2 * np.pi * np.arange(n + 1) / n
    exact, polygon = np.pi * c * w * D**2, 0.5 * n * np.sin(2 * np.pi / n) * c * w * D**2
    assert metrics.energy(c * w * D * np.cos(angle), D * np.sin(angle)) == pytest.approx(polygon, rel=ROUND_OFF)
    assert polygon == pytest.approx(exact, rel=1e-4)


def test_energy_of_a_spring_returns():
    d = 0.1 * np.sin(np.linspace(0, 2 * np.pi, 101))
    assert metrics.energy(1e6 * d, d) == pytest.approx(0.0, abs=1e-9 * 1e6 * 0.01)


def pulse(samples: np.ndarray) -> np.ndarray:
    """A wave packet of 40 samples a period that fades out well within 2000 samples."""
    return np.exp(-(((samples - 1000) / 150) ** 2)) * np.sin(2 * np.pi * samples / 40)


@pytest.mark.parametrize("lag", [0.0, 0.25, 0.5, 3.37, 17.0, -0.4, -12.75])
def test_delay_of_a_pulse(lag):
    """Positive when the response comes later; a tenth of a percent of a sample from the parabola is inside EDGES."""
    k = np.arange(2000)
    found = metrics.delay(pulse(k), 0.8 * pulse(k - lag) + 5.0, DT)
    assert found / DT == pytest.approx(lag, abs=EDGES)


def test_delay_of_a_sine():
    """The error of the parabola is the one in the docstring; whole periods, so that edges hardly matter."""
    theta, fraction = 2 * np.pi / 10, 0.3
    k = np.arange(20_000)
    found = metrics.delay(np.sin(theta * k), np.sin(theta * (k - fraction)), 1.0, longest=4.0)
    assert found == pytest.approx(np.tan(theta * fraction) / (2 * np.tan(theta / 2)), abs=1e-3)
    assert found == pytest.approx(fraction, abs=0.01)


def test_delay_of_noise(rng):
    """White noise, moved by whole samples, with independent noise on top."""
    noise = rng.normal(size=3000)
    response = np.roll(noise, 20) + 0.3 * rng.normal(size=3000)
    assert metrics.delay(noise, response, DT) / DT == pytest.approx(20.0, abs=0.05)


REFUSED = {
    "no time step": (lambda: metrics.delay([1, 2, 3, 4], [1, 2, 3, 4], 0.0), OutOfBounds, "dt = 0.0"),
    "too short": (lambda: metrics.delay([1, 2], [1, 2], DT), BadShape, "at least 4"),
    "longer than the history": (
        lambda: metrics.delay([1, 2, 3, 4], [1, 2, 3, 4], 1.0, longest=9.0),
        OutOfBounds,
        "4 s",
    ),
    "constant": (lambda: metrics.delay(np.ones(9), np.arange(9.0), 1.0), BadInput, "undefined"),
    "beyond the search": (
        lambda: metrics.delay(pulse(np.arange(2000)), pulse(np.arange(2000) - 15), 1.0, longest=9.0),
        OutOfBounds,
        "still grows",
    ),
    "energy of unequal histories": (lambda: metrics.energy([1.0], [1.0, 2.0]), BadShape, "force has 1 samples"),
    "peak of nan": (lambda: metrics.peak([np.nan], [0.0]), BadShape, "not finite"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    ask, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        ask()
