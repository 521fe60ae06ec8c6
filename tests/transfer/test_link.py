"""The link from a laboratory to a model: an exact shift, never back in time, and the same again from its seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyloop.errors import BadInput, OutOfBounds
from hyloop.transfer import difference, link
from hyloop.transfer.link import LONGEST

DT = 1 / 1024
PACKET = link({"f1": "N", "d1": "m"})
N = 20_000
LATENESS = 4.0 / np.sqrt(N)  # four standard errors of a share of N packets


def sent(n, seed=0):
    """The number of each packet as its force, so that what arrives tells when it was sent; and any deformation."""
    return {"f1": np.arange(1.0, n + 1.0), "d1": np.random.default_rng(seed).normal(size=n)}


@pytest.mark.parametrize("ticks", [0, 1, 10, LONGEST])
@pytest.mark.parametrize("dt", [DT, 0.001])  # 0.01/0.001 is not 10 in binary
def test_a_constant_delay_is_a_shift_by_whole_ticks(ticks, dt):
    signals = sent(3 * LONGEST)
    got = PACKET(delay=ticks * dt).drive(dt, **signals)
    for key, values in signals.items():
        assert np.array_equal(got[key][ticks:], values[: len(values) - ticks])  # to the bit
        assert (got[key][:ticks] == values[0]).all()  # the device stood still before
    assert np.array_equal(got["age"], np.full(3 * LONGEST, ticks * dt))


def test_a_packet_that_arrives_between_ticks_is_used_in_the_next():
    signals = sent(200)
    for delay in (10.001 * DT, 10.5 * DT, 10.999 * DT):
        got = PACKET(delay=delay).drive(DT, **signals)
        assert np.array_equal(got["f1"][11:], signals["f1"][:-11]) and (got["age"] == 11 * DT).all()


@settings(max_examples=60, deadline=None)
@given(delay=st.floats(0.0, 100.0), spread=st.floats(0.0, 1.0), loss=st.floats(0.0, 0.9), seed=st.integers(0, 2**52))
def test_packets_are_never_used_out_of_order_nor_before_they_can_be_there(delay, spread, loss, seed):
    signals, jitter = sent(600), spread * delay
    device = PACKET(delay=delay * DT, jitter=jitter * DT, loss=loss, seed=float(seed))
    got = device.drive(DT, **signals)
    number, now = got["f1"], signals["f1"]
    assert (np.diff(number) >= 0.0).all()
    age = np.round(got["age"] / DT)
    arrived = age < now  # sent after the start
    assert np.array_equal(number[arrived], (now - age)[arrived]) and (number[~arrived] == 1.0).all()
    assert np.array_equal(got["d1"], signals["d1"][number.astype(int) - 1])  # one packet, all its signals
    assert age.min() >= np.floor(delay - jitter - 1e-6)
    if loss == 0.0:
        assert age.max() <= np.ceil(delay + jitter + 1e-6)
    again = device.drive(DT, **signals)
    assert all(np.array_equal(again[key], got[key]) for key in got)


def test_delays_are_uniform_and_losses_as_frequent_as_said():
    """Packets so far apart in time that none overtakes another show their own delays."""
    signals = sent(N)
    got = PACKET(delay=4 * DT, jitter=4 * DT, seed=5.0).drive(DT, **signals)
    # of 8 delays that are equally likely, the newest packet in tick n is k ticks old if it was in time and no younger
    # one was: P(age = k) = k/8 * prod_{j < k} (1 - j/8), for ages of 1 ... 8 ticks
    arrived = np.arange(1, 9) / 8.0
    expected = arrived * np.concatenate([[1.0], np.cumprod(1.0 - arrived)[:-1]])
    found = np.bincount(np.round(got["age"] / DT).astype(int), minlength=9)[1:] / N
    assert np.abs(found - expected).max() < 2.0 * LATENESS  # neighbours share packets
    lossy = PACKET(delay=DT, loss=0.3, seed=6.0).drive(DT, **signals)
    fresh = np.mean(lossy["age"] == DT)
    assert fresh == pytest.approx(0.7, abs=LATENESS) and lossy["age"].max() > 3 * DT
    other = PACKET(delay=4 * DT, jitter=4 * DT, seed=7.0).drive(DT, **signals)
    assert not np.array_equal(other["f1"], got["f1"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"delay": 0.01, "jitter": 0.02}, "packets would arrive before they are sent"),
        ({"delay": 0.3}, "at most 256 can be kept"),
        ({"delay": 0.2, "jitter": 0.1}, "up to 307 ticks"),
    ],
)
def test_delays_that_cannot_be_are_refused(settings, words):
    with pytest.raises(BadInput, match=words):
        PACKET(**settings).drive(DT, **sent(4))
    with pytest.raises(OutOfBounds, match="delay"):
        PACKET(delay=-0.01)
    with pytest.raises(OutOfBounds, match="loss"):
        PACKET(loss=1.0)
    with pytest.raises(BadInput, match="none called age"):
        link({"age": "s"})


@pytest.mark.parametrize("span", [1, 2, 5])
def test_a_difference_over_some_ticks(span, rng):
    d = rng.normal(size=100)
    v = difference(span=float(span)).drive(DT, d=d)["v"]
    before = np.concatenate([np.full(span, d[0]), d])[:100]
    assert np.array_equal(v, (d - before) / (span * DT)) and v[0] == 0.0
    with pytest.raises(BadInput, match="whole number of ticks"):
        difference(span=1.5).drive(DT, d=d)
