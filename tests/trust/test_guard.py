"""The monitor as a block: its band, its trust, adaptive coverage under hostile errors, and a handover without jumps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.runtime import _nrt_python, rtsys

from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.trust import Band, Watch
from hyloop.trust.guard import guard

DT = 1 / 1024
FLOOR, CAPACITY = 200.0, 20e3
ROUND_OFF = 1e-9  # relative
BIG = 1e6  # N, far more than any device has


def following(gain=50.0, coverage=0.9, q=1.5, **watch):
    """A monitor whose q follows a twin; a high gain, so that few ticks are a long run."""
    return guard(Band(coverage, FLOOR, q=q, twin=1.0, gain=gain), Watch(CAPACITY, **watch), twin=True, scaled=False)


def misses(residuals, q, window=1.0):
    """Whether each residual passes the band of the tick before, by the formulas of `Band`; and its size in scores."""
    fade, square, found, ratios = np.exp(-DT / window), 0.0, [], []
    for r, factor in zip(np.abs(residuals), q, strict=True):
        score = FLOOR + np.sqrt(square)
        found.append(r > factor * score)
        ratios.append(r / score)
        square = fade * square + (1.0 - fade) * r**2
    return np.array(found), np.array(ratios)


def bound(q0, step, ratios):
    """|share of misses - (1 - coverage)| of q + step (miss - α) over the ticks, whatever the errors are."""
    return max(q0 + step, ratios.max() + step - q0) / (step * len(ratios))


residual = st.one_of(st.floats(-1e5, 1e5), st.sampled_from([0.0, 1e5, -1e5, FLOOR, 5e3]))


@given(st.lists(residual, min_size=50, max_size=400), st.floats(0.5, 0.99), st.floats(0.1, 8.0), st.floats(5.0, 500.0))
def test_coverage_is_right_in_the_long_run_whatever_the_errors(residuals, coverage, q, gain):
    residuals = np.array(residuals)
    twin = np.full(len(residuals), 2.0 * FLOOR)  # never at rest
    found = following(gain, coverage, q).drive(DT, f=twin, twin=twin, heard=twin + residuals)
    heard = (twin + residuals) - twin  # as the sum of both was rounded
    before = np.concatenate([[q], found["q"][:-1]]) if len(found["q"]) else []
    missed, ratios = misses(heard, before)
    step = gain * DT
    assert abs(missed.mean() - (1.0 - coverage)) <= bound(q, step, ratios) * (1 + ROUND_OFF)
    np.testing.assert_allclose(found["q"], q + step * np.cumsum(missed - (1.0 - coverage)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("strategy", ["just beyond", "hide and strike", "grow", "silence"])
def test_coverage_is_right_against_an_adversary_who_sees_q(strategy):
    """It chooses every error when it knows the band; errors are bounded, and nothing else is."""
    instance, ticks, coverage, q0, most = following(gain=20.0), 20_000, 0.9, 1.5, 30.0
    x, p, score, square, fade = instance.x0, np.empty(0), FLOOR, 0.0, np.exp(-DT)
    seen, ratios = [], []
    for k in range(ticks):
        q = x[3]
        ratio = {
            "just beyond": min(max(q, 0.0) * 1.001, most),
            "hide and strike": 0.0 if (k // 500) % 2 else most,
            "grow": most * k / ticks,
            "silence": 0.0,
        }[strategy]
        error = min(ratio * score, 1e5)  # devices have an end
        instance.block.advance(x, np.array([3e3, 3e3, 3e3 + error]), DT, p)
        error = (3e3 + error) - 3e3
        seen.append(error > q * score)
        ratios.append(error / score)
        square = fade * square + (1.0 - fade) * error**2
        score = FLOOR + np.sqrt(square)
    assert abs(np.mean(seen) - (1.0 - coverage)) <= bound(q0, 20.0 * DT, np.array(ratios)) * (1 + ROUND_OFF)
    # and that is worth something: with any of these the constant q that it began with is far off
    assert bound(q0, 20.0 * DT, np.array(ratios)) < 0.13


def test_at_rest_nothing_is_learned():
    still = np.zeros(1000)
    found = following().drive(DT, f=still, twin=still, heard=still + 0.9 * FLOOR)
    assert (found["q"] == 1.5).all()


def test_the_band_is_q_times_the_score(rng):
    band = Band(0.9, FLOOR, q=2.0, force=0.04, spread=1.5, range=3e3, twin=0.7)
    ranges = {"d": ("m", -0.01, 0.03), "v": ("m/s", -0.5, 0.5)}
    made = guard(band, Watch(CAPACITY), members=["member2", "member3"], ranges=ranges, twin=True)
    n = 300
    f = rng.normal(0.0, 4e3, (3, n)) + rng.choice([0.0, 3e4], n)  # some beyond the capacity
    d, v = rng.uniform(-0.03, 0.05, n), rng.uniform(-1.0, 1.0, n)
    twin, heard = rng.normal(0.0, 3e3, (2, n))
    found = made.drive(DT, f=f[0], member2=f[1], member3=f[2], d=d, v=v, twin=twin, heard=heard)
    over = [
        np.maximum(np.maximum(low - s, s - high), 0.0) / (high - low)
        for s, (_, low, high) in ((d, ranges["d"]), (v, ranges["v"]))
    ]
    distance, fade, square = np.hypot(*over), np.exp(-DT / 1.0), 0.0
    score = np.empty(n)
    for k in range(n):
        square = fade * square + (1.0 - fade) * (heard[k] - twin[k]) ** 2
        size = 0.04 * min(abs(f[:, k].mean()), 1.05 * CAPACITY)
        score[k] = FLOOR + size + 1.5 * f[:, k].std(ddof=1) + 3e3 * distance[k] + 0.7 * np.sqrt(square)
    np.testing.assert_allclose(found["score"], score, rtol=ROUND_OFF)
    np.testing.assert_allclose(found["spread"], f.std(axis=0, ddof=1), rtol=ROUND_OFF)
    np.testing.assert_allclose(
        found["f"], f.mean(axis=0), rtol=ROUND_OFF, atol=1e-9
    )  # no fallback: what the model says
    half = np.minimum(2.0 * score, 2.0 * CAPACITY)
    np.testing.assert_allclose(found["f_high"] - found["f_low"], 2.0 * half, rtol=ROUND_OFF)
    over = 1.0 - (np.abs(f.mean(axis=0)) - CAPACITY) / (0.05 * CAPACITY)
    trust = np.minimum(1.0 - half / (0.5 * CAPACITY), np.minimum(1.0 - distance / 0.5, over)).clip(0.0, 1.0)
    np.testing.assert_allclose(found["trust"], trust, atol=ROUND_OFF)


def test_a_follower_scales_the_residual_by_its_own_force():
    band, n = Band(0.9, FLOOR, twin=1.0, gain=1.0), 4000
    twin = 1e4 * np.sin(np.arange(n) * 0.05)
    for share, ratio in ((0.5, 0.5), (2.0, 2.0), (0.01, 1 / 3), (50.0, 3.0)):
        made = guard(band, Watch(CAPACITY), twin=True, scaled=True)
        found = made.drive(DT, f=share * twin, twin=twin, heard=1.1 * twin)
        there = guard(band, Watch(CAPACITY), twin=True).drive(DT, f=share * twin, twin=twin, heard=1.1 * twin)
        np.testing.assert_allclose(found["score"] - FLOOR, ratio * (there["score"] - FLOOR), rtol=1e-9)


def test_misses_at_the_measured_site_are_judged_with_the_force_there(rng):
    """q follows the misses of floor + force |f| + twin R of the twin, as large as Watch allows and no larger."""
    band, n = Band(0.9, FLOOR, q=1.5, force=0.1, twin=1.0, gain=50.0), 500
    twin = rng.normal(0.0, 5e3, n)
    twin[::7] = 4.0 * CAPACITY
    heard = twin + rng.normal(0.0, 1.5e3, n)
    found = guard(band, Watch(CAPACITY), twin=True).drive(DT, f=0.0 * twin, twin=twin, heard=heard)
    q, square, fade = 1.5, 0.0, np.exp(-DT)
    missed = 0
    for k in range(n):
        residual = abs(heard[k] - twin[k])
        score = FLOOR + 0.1 * min(abs(twin[k]), 1.05 * CAPACITY) + np.sqrt(square)
        if max(abs(heard[k]), abs(twin[k])) > FLOOR:  # not at rest
            miss = residual > q * score
            q += 50.0 * DT * (miss - 0.1)
            missed += miss
        square = fade * square + (1.0 - fade) * residual**2
        assert found["q"][k] == pytest.approx(q, rel=ROUND_OFF)
    assert 0.02 * n < missed < 0.5 * n


def test_every_doubt_lowers_the_trust():
    def trust(f, d=0.0, backup=0.0, ticks=1, **watch):
        made = guard(Band(0.9, FLOOR, q=1.0), Watch(CAPACITY, **watch), ranges={"d": ("m", -0.1, 0.1)}, backup=True)
        return made.drive(DT, f=np.full(ticks, f), d=np.full(ticks, d), backup=np.full(ticks, backup))["trust"][-1]

    assert trust(0.0) == pytest.approx(1.0 - FLOOR / (0.5 * CAPACITY))
    assert trust(0.0, widest=400.0) == pytest.approx(0.5)
    assert trust(0.0, d=0.15) == pytest.approx(1.0 - 0.25 / 0.5)
    assert trust(0.0, d=0.2) == trust(0.0, d=np.nan) == trust(np.nan) == trust(np.inf) == 0.0
    near = trust(1.025 * CAPACITY, backup=1.025 * CAPACITY)
    assert near == pytest.approx(0.5) and trust(1.05 * CAPACITY, backup=CAPACITY) == 0.0
    # half of the capacity apart all the time; the running mean square has seen 1 - 1/e of it after a window
    apart = trust(5e3, backup=-5e3, ticks=1024)
    assert apart == pytest.approx(1.0 - np.sqrt(1.0 - np.exp(-1.0)))


number = st.one_of(st.floats(-BIG, BIG), st.sampled_from([np.nan, np.inf, -np.inf, 0.0, 1e300]))
force = st.floats(-0.9 * CAPACITY, 0.9 * CAPACITY)


@given(
    st.lists(st.tuples(number, force), min_size=2, max_size=200),
    st.floats(0.0, 0.1).filter(lambda m: m > 1e-3),
    st.floats(1e-3, 0.5),
    st.floats(1e4, 1e8),
    st.sampled_from([0.0, 0.02, 1.0]),
    st.sampled_from([0.0, 0.05]),
)
def test_no_force_leaves_the_guard_that_jumps_or_is_too_large(rows, margin, blend, slew, calm, weight):
    model, backup = np.array(rows).T
    watch = Watch(CAPACITY, margin=margin, blend=blend, slew=slew, calm=calm)
    found = guard(Band(0.9, FLOOR, force=weight), watch, backup=True).drive(DT, f=model, backup=backup)
    f, share, most = found["f"], found["fallback"], (1.0 + margin) * CAPACITY
    assert np.isfinite([found[key] for key in ("f", "f_low", "f_high", "score")]).all()
    assert (np.abs(f) <= most * (1 + ROUND_OFF)).all() and (share >= 0.0).all() and (share <= 1.0).all()
    used, last = np.empty(len(f)), 0.0
    for k, value in enumerate(model):  # a tick without a number repeats the last force
        used[k] = last = np.clip(value, -most, most) if np.isfinite(value) else last
    np.testing.assert_allclose(f, (1.0 - share) * used + share * backup, atol=1e-6)
    moved = np.diff(np.concatenate([[0.0], share]))
    assert (np.abs(moved) <= DT / blend * (1 + ROUND_OFF)).all()
    assert (np.abs(moved * (backup - used)) <= slew * DT * (1 + ROUND_OFF) + 1e-9).all()  # what the handover changes
    assert found["fallback_ticks"][-1] == np.count_nonzero(share)


def test_it_goes_and_comes_back_with_hysteresis():
    """Out of range for a while: away at once, back a second after it is in range again, both over the blend time."""
    n = 4096
    d = np.where((np.arange(n) > 500) & (np.arange(n) < 1000), 0.3, 0.0)
    watch = Watch(CAPACITY, blend=0.1, calm=1.0)
    made = guard(Band(0.9, FLOOR), watch, ranges={"d": ("m", -0.1, 0.1)}, backup=True)
    found = made.drive(DT, f=np.full(n, 5e3), d=d, backup=np.full(n, 3e3))
    share, f = found["fallback"], found["f"]
    assert (share[:501] == 0.0).all() and share[501] > 0.0
    whole = 501 + round(0.1 / DT)
    assert (share[whole : 1000 + 1023] == 1.0).all() and (f[whole : 1000 + 1023] == 3e3).all()
    assert (share[-1024:] == 0.0).all() and (f[-1024:] == 5e3).all()
    assert np.abs(np.diff(f)).max() < 2e3 * DT / 0.1 * 1.001


@pytest.mark.parametrize("trust_in_between", [0.3, 0.49])
def test_it_does_not_come_back_for_a_little_trust(trust_in_between):
    n = 4096
    d = np.where(np.arange(n) < 100, 0.3, 0.1 + 0.2 * 0.5 * (1.0 - trust_in_between))
    made = guard(Band(0.9, FLOOR), Watch(CAPACITY), ranges={"d": ("m", -0.1, 0.1)}, backup=True)
    found = made.drive(DT, f=np.full(n, 5e3), d=d, backup=np.full(n, 3e3))
    assert found["trust"][-1] == pytest.approx(trust_in_between) and found["fallback"][-1] == 1.0


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Band(1.0, FLOOR), OutOfBounds, "coverage = 1"),
        (lambda: Band(0.9, 0.0), OutOfBounds, "floor = 0"),
        (lambda: Band(0.9, FLOOR, q=-1.0), OutOfBounds, "q = -1"),
        (lambda: Band(0.9, FLOOR, gain=1.0), BadInput, "give twin a weight"),
        (lambda: Band(0.9, FLOOR, spread=-1.0), OutOfBounds, "spread = -1"),
        (lambda: Band(0.9, FLOOR, force=-0.1), OutOfBounds, "force = -0.1"),
        (lambda: Band(0.9, float("nan")), BadInput, "finite"),
        (lambda: Band.from_json({"coverage": 0.9, "flor": 1.0}), UnknownName, "floor"),
        (lambda: Watch(0.0), OutOfBounds, "capacity = 0"),
        (lambda: Watch(CAPACITY, margin=0.2), OutOfBounds, "at most 0.1"),
        (lambda: Watch(CAPACITY, limit=0.6), OutOfBounds, "in this order"),
        (lambda: Watch(CAPACITY, calm=-1.0), OutOfBounds, "calm"),
        (lambda: Watch(CAPACITY, slew=0.0), OutOfBounds, "slew"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_no_memory_is_allocated(rng):
    """Ten times the ticks, the same number of arrays."""
    band = Band(0.9, FLOOR, spread=1.0, range=1e3, twin=1.0)
    made = guard(band, Watch(CAPACITY), members=["member2"], ranges={"d": ("m", -1.0, 1.0)}, backup=True, twin=True)
    counts = []
    for n in (100, 1000):
        signals = {key: rng.normal(size=n) for key in made.block.inputs}
        made.drive(DT, **signals)
        _nrt_python.memsys_enable_stats()
        before = rtsys.get_allocation_stats().alloc
        made.drive(DT, **signals)
        counts.append(rtsys.get_allocation_stats().alloc - before)
        _nrt_python.memsys_disable_stats()
    assert counts[0] == counts[1]


def test_a_band_goes_through_json():
    band = Band(0.9, FLOOR, q=2.5, spread=1.0, range=1e3, twin=0.5)
    assert Band.from_json(band.as_json()) == band
