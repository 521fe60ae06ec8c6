"""Parameters that the data cannot show are named."""

import numpy as np
import pytest
from problems.filters import ANY, DT, kelvin

from hyloop.devices.linear import spring
from hyloop.errors import BadInput
from hyloop.updating import ensemble, observability, recursive_least_squares, unscented

FREE = dict.fromkeys("kcm", ANY)
N = 2000


def _harmonic(rate=20 * np.pi):
    t = np.arange(N) * DT
    return {"d": 0.01 * np.sin(rate * t), "v": 0.01 * rate * np.cos(rate * t), "a": -0.01 * rate**2 * np.sin(rate * t)}


MAKERS = {
    "unscented": lambda: unscented(kelvin(), FREE, noise=50.0, process=1e-5),
    "least squares": lambda: recursive_least_squares(kelvin(), FREE, noise=50.0),
    "ensemble": lambda: ensemble(kelvin(), FREE, noise=50.0, process=1e-5, members=32),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_device_that_never_moved_shows_nothing(kind):
    still = np.zeros(N)
    ours = MAKERS[kind]()
    seen = observability(ours, ours.drive(DT, d=still, v=still, a=still, f_m=still))
    assert seen.unobservable == ("k", "c", "m") and min(seen.fall.values()) > 0.9
    assert "k: standard deviation" in str(seen) and str(seen).count("not observable") == 3


@pytest.mark.parametrize("kind", MAKERS)
def test_a_static_test_shows_the_stiffness_alone(rng, kind):
    d, still = 0.01 * np.sign(rng.normal(size=N)), np.zeros(N)
    ours = MAKERS[kind]()
    seen = observability(ours, ours.drive(DT, d=d, v=still, a=still, f_m=1.2e6 * d + rng.normal(0, 50.0, N)))
    assert seen.unobservable == ("c", "m") and not seen.entangled
    assert seen.fall["k"] < 0.01 and 1.0 <= seen.std["k"] / (seen.fall["k"] * 0.1) < 2.0


def test_at_one_frequency_stiffness_and_mass_cannot_be_told_apart(rng):
    ours, signals = unscented(kelvin(), FREE, noise=50.0, process=0.0), _harmonic()
    f = kelvin(k=1.2e6).drive(DT, **signals)["f"] + rng.normal(0, 50.0, N)
    seen = observability(ours, ours.drive(DT, **signals, f_m=f))
    assert list(seen.entangled) == [("k", "m")] and seen.entangled["k", "m"] > 0.99
    assert "m" in seen.unobservable and "c" not in seen.unobservable
    assert "only a combination" in str(seen)
    # two frequencies tell them apart
    signals = {key: one + _harmonic(2 * np.pi)[key] for key, one in signals.items()}
    f = kelvin(k=1.2e6).drive(DT, **signals)["f"] + rng.normal(0, 50.0, N)
    seen = observability(ours, ours.drive(DT, **signals, f_m=f))
    assert not seen.unobservable and not seen.entangled


def test_a_filter_that_has_failed_has_seen_nothing():
    ours, signals = unscented(kelvin(), FREE, noise=1e-6, process=0.0, initial_std=0.3, repair="none"), _harmonic()
    history = ours.drive(DT, **signals, f_m=kelvin(k=1.2e6).drive(DT, **signals)["f"])
    assert np.isnan(history["k"][-1])
    assert observability(ours, history).unobservable == ("k", "c", "m")
    # one number that is lost is enough
    sound = MAKERS["unscented"]()
    history = sound.drive(DT, **signals, f_m=kelvin(k=1.2e6).drive(DT, **signals)["f"])
    assert "c" not in observability(sound, history).unobservable
    history["k"][-1] = np.nan
    assert observability(sound, history).unobservable == ("k", "c", "m")


def test_what_is_not_a_filter_is_refused():
    with pytest.raises(BadInput, match="carries no covariance"):
        observability(spring(), spring().drive(DT, d=np.zeros(3)))
    ours, none = MAKERS["unscented"](), np.zeros(0)
    with pytest.raises(BadInput, match="no samples"):
        observability(ours, ours.drive(DT, d=none, v=none, a=none, f_m=none))
