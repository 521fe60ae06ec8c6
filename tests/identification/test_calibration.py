"""What a session has changed is found again from simulated tests, law by law, and nothing else is touched."""

from dataclasses import replace

import numpy as np
import pytest

from hyloop.devices import LAWS, gap_slip, lugre
from hyloop.errors import BadInput
from hyloop.identification import SESSION, MeasuredTest, calibrate, fit, numbers_from, profile

DT, N = 1 / 256, 1536
FOUND = 1e-4  # relative: a descent to a test without noise ends at 1e-8 of the sum of squares
NOISE = 100.0  # N
DRAWS = 60  # of noise
# of 60 intervals of 95 % as many hold the truth with a probability of 0.999 (binomial); colour makes them only wider
FEWEST = 51
ROUND_OFF = 1e-12


def motion(seed=0):
    t = DT * np.arange(N)
    d = 0.02 * np.sin(2 * np.pi * 0.7 * t) * np.clip(t / 2, 0.2, 1) + 0.004 * np.sin(2 * np.pi * (2.1 + 0.1 * seed) * t)
    v = np.gradient(d, DT)
    return {"d": d, "v": v, "a": np.gradient(v, DT)}


def recorded(law, signals=None, noise=0.0, seed=0, name="today"):
    signals = signals or motion()
    f = law.drive(DT, **{key: signals[key] for key in law.block.inputs})["f"]
    # begun where the law begins: a state solved from a first force with noise would be another source of error
    return MeasuredTest(DT, signals, f + noise * np.random.default_rng(seed).normal(size=len(f)), {}, name=name)


def changed(law, **values):
    return replace(law, params=law.params | values)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) for n in SESSION])
def test_a_planted_change_is_found_for_every_law(name):
    law = LAWS[name]()
    for k, number in enumerate(SESSION[name]):
        planted = {key: value + 500.0 if number.added else 1.3 * value for key, value in law.params.items()}
        today = changed(law, **{key: planted[key] for key in number.params})
        found = calibrate(name, law, recorded(today), validate=False)
        for j, one in enumerate(found.values):
            wanted = (one.file + 500.0 if number.added else 1.3 * one.file) if j == k else one.file
            scale = 1e3 if one.number.added else abs(one.file)
            assert one.estimate.value == pytest.approx(wanted, abs=10 * FOUND * scale), (number.name, one.name)
        for key in law.params:  # what belongs to no number is that of the file, to the last bit
            if not any(key in other.params for other in SESSION[name]):
                assert found.law.params[key] == law.params[key]


def test_what_moves_together_keeps_its_ratio():
    law = gap_slip()
    today = changed(law, Fc_pos=0.6 * law.params["Fc_pos"], dF_pos=0.6 * law.params["dF_pos"])
    found = calibrate("gap_slip", law, recorded(today, noise=NOISE))
    ratio = found.law.params["dF_pos"] / found.law.params["Fc_pos"]
    assert ratio == pytest.approx(law.params["dF_pos"] / law.params["Fc_pos"], rel=ROUND_OFF)
    first, second, offset = found.values
    assert first.ends[0] < 0.6 < first.ends[1] and first.moved and first.factor == pytest.approx(0.6, rel=0.01)
    assert second.ends[0] < 1.0 < second.ends[1] and np.isnan(offset.factor)
    assert found.gain == "better" and found.error_after <= found.error_unseen < 0.2 * found.error_before


def test_the_error_of_parts_is_that_of_a_fit_without_them():
    """Against a fit of the same numbers as plain parameters, of which both sides have one here."""
    law = lugre(Fs_pos=22.91e3, Fs_neg=19.75e3)  # no Stribeck effect: static is Coulomb friction
    test = recorded(changed(law, Fc_pos=26e3, Fs_pos=26e3), noise=2e3)
    found = calibrate("lugre", law, test, numbers_from(["Fc_pos", "Fc_neg"], lugre))
    k = np.arange(N) * 5 // N
    for part in range(5):
        bounds = {"Fc_pos": (2291.0, 229.1e3), "Fc_neg": (1975.0, 197.5e3)}
        again = fit(law, replace(test, weight=1.0 * (k != part)), bounds, starts=1)
        f = again.law.drive(DT, v=test.inputs["v"])["f"]
        error = np.sqrt(np.mean((f - test.f)[k == part] ** 2)) / np.ptp(test.f)
        assert found.unseen_after[part] == pytest.approx(error, rel=1e-3)
    assert found.error_unseen == pytest.approx(np.sqrt(np.mean(np.square(found.unseen_after))))


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    law = gap_slip()
    today = changed(law, **{key: 0.7 * law.params[key] for key in ("Fc_neg", "dF_neg")})
    hits = np.zeros(3, dtype=int)
    clean = recorded(today)
    for seed in range(DRAWS):
        noisy = replace(clean, f=clean.f + NOISE * np.random.default_rng(seed).normal(size=N))
        values = calibrate("gap_slip", law, noisy, validate=False).values
        truth = (1.0, 0.7, law.params["off"])
        hits += [one.ends[0] <= t <= one.ends[1] for one, t in zip(values, truth, strict=True)]
    assert (hits >= FEWEST).all(), hits


def test_nothing_is_gained_where_nothing_has_changed():
    law = gap_slip()
    found = calibrate("gap_slip", law, recorded(law, noise=NOISE))
    assert found.gain != "better" and all(one.ends[0] < 1.0 < one.ends[1] for one in found.values[:2])


def test_a_side_that_was_not_loaded_is_not_told():
    t = DT * np.arange(N)
    d = 0.004 + 0.012 * (1.0 - np.exp(-t)) + 0.003 * np.sin(3 * t) * np.exp(-t)  # the - side never slips
    signals = {"d": d, "v": np.gradient(d, DT), "a": np.zeros(N)}
    found = calibrate("gap_slip", gap_slip(), recorded(gap_slip(), signals, noise=NOISE))
    plus, minus, _ = found.values
    assert plus.estimate.observable and not minus.estimate.observable and not minus.moved
    assert "not observable" in minus.estimate.remark


def test_a_test_that_begins_loaded_begins_with_its_first_force():
    law, signals = gap_slip(), motion()
    whole = recorded(law, signals)
    late = slice(int(np.argmax(np.abs(whole.f))), None)
    test = MeasuredTest(DT, {key: signal[late] for key, signal in signals.items()}, whole.f[late])
    found = calibrate("gap_slip", law, test, validate=False)
    assert found.gain == "" and np.isnan(found.error_unseen)  # nothing was left out
    assert found.fit.tests[0].start == "s" and found.before[0][0] == pytest.approx(test.f[0], rel=1e-6)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["Fc_pos+Fc"], "unknown parameter 'Fc'"),
        (["Fc_pos+dF_pos", "dF_pos"], "dF_pos is named twice"),
        (["Fc_pos+off"], "off may be negative"),
        ([], "name at least one"),
    ],
)
def test_bad_numbers_are_refused(words, message):
    with pytest.raises(BadInput, match=message):
        numbers_from(words, gap_slip)


def test_every_law_is_known_or_asks_for_words():
    for name in set(LAWS) - set(SESSION):
        with pytest.raises(BadInput, match="Name the parameters with --free"):
            calibrate(name, LAWS[name](), recorded(gap_slip()))
    with pytest.raises(BadInput, match="dF_pos is 0 in the file"):
        calibrate("gap_slip", gap_slip(dF_pos=0.0), recorded(gap_slip()), numbers_from(["dF_pos"], gap_slip))


@pytest.mark.parametrize(
    ("tied", "message"),
    [
        ({"Fc_neg": ["dF_neg"]}, "must be free"),
        ({"Fc_pos": ["dF_po"]}, "dF_po"),
        ({"Fc_pos": ["Fc_pos"]}, "also free or tied"),
        ({"Fc_pos": ["n_pos"]}, "outside its bounds"),
    ],
)
def test_bad_ties_are_refused(tied, message):
    with pytest.raises(BadInput, match=message):
        fit(gap_slip(), recorded(gap_slip()), {"Fc_pos": (1e3, 1e5)}, starts=1, tied=tied)


def test_a_profile_keeps_the_ties():
    """Against a fit with one side held by hand, at the ratio of the file, and the other side free with its own tie."""
    law = gap_slip(dF_pos=6e3)
    today = changed(law, **{key: 0.6 * law.params[key] for key in ("Fc_pos", "dF_pos")})
    found = calibrate("gap_slip", law, recorded(today, noise=20 * NOISE), validate=False).fit
    shape = profile(found, "Fc_neg")
    free = {key: found.estimates[key].bounds for key in ("Fc_pos", "off")}
    for value, rmse in zip(shape.values[[0, -1]], shape.rmse[[0, -1]], strict=True):
        held = changed(law, Fc_neg=value, dF_neg=value * law.params["dF_neg"] / law.params["Fc_neg"])
        again = fit(held, found.tests, free, starts=1, tied={"Fc_pos": ["dF_pos"]})
        assert rmse == pytest.approx(again.rmse[0], rel=1e-6)
        loose = fit(held, found.tests, free, starts=1)  # which it is not
        assert abs(rmse - loose.rmse[0]) > 1e-4 * rmse
