"""A law with its load cell: the force that the sensor block shows, and parameters found in spite of its faults."""

import numpy as np
import pytest

from hyloop.devices import LAWS, bilinear, gap_slip, lugre
from hyloop.errors import BadInput
from hyloop.integrators import newmark_explicit
from hyloop.loop import FreeBlock, Loop, Site
from hyloop.structure import shear_frame
from hyloop.transfer import sensor
from hyloop.updating import ensemble, recursive_least_squares, sensed, unscented
from hyloop.updating.filters.sensed import sensor_shares

DT, N, LATE = 1 / 1024, 15 * 1024, 4
ROUND_OFF = 1e-12  # of the largest force
SYMMETRIC = lugre(Fc_neg=22910.0, Fs_neg=24430.0)  # what is asymmetric cannot be told from an offset
TRUE = {"lugre": SYMMETRIC, "gap_slip": gap_slip()}
WRONG = {"lugre": {"sigma0": 0.7, "Fc_pos": 1.3}, "gap_slip": {"Fc_pos": 0.7, "Fc_neg": 1.3}}
# root mean square error of a parameter in the second half; settings (random walks, noise) were chosen on seeds 1 and 2,
# where the worst was 0.66 %. These are seeds 11 and 12.
FOUND = 0.015
MISSED = 0.03  # without `sensed` at least one parameter is off by more: twice what is allowed with it
PLACE = 0.3  # ticks, error of the delay
LATE_BILINEAR = 0.5  # ticks, the same beside a free stiffness: on seeds 1 to 6 at most 0.42
# of a friction level, by faults where the law is wrong: on seeds 1 and 2 at most 1.2 % with `sensed`, 5.2 % without
WRONG_SHIFT = 0.03
SHARE = 0.004  # of the peak force, error of the offset


def motion(seed, n=N):
    rng, t = np.random.default_rng(seed), DT * np.arange(n)
    phases, slow = rng.uniform(0.0, 2.0 * np.pi, 3), rng.uniform(0.8, 1.2, 2)
    d = sum(
        a * np.sin(2.0 * np.pi * f * t + phase)
        for a, f, phase in zip((0.020, 0.010, 0.006), (0.7 * slow[0], 1.3 * slow[1], 2.1), phases, strict=True)
    )
    d = (d - d[0]) * np.clip(t - 0.01, 0.0, 1.0)  # at rest before: a sensor shows the first force for what was earlier
    v = np.gradient(d, DT)
    return {"d": d, "v": v, "a": np.gradient(v, DT)}


def heard(law, signals):
    return {key: signals[key] for key in law.inputs}


@pytest.mark.parametrize("delay", [0.0, 1.0, 2.3, 4.0])
@pytest.mark.parametrize("name", ["lugre", "gap_slip", "bilinear", "nonlinear_maxwell", "spring"])
def test_the_force_is_that_of_the_sensor_behind_the_device(name, delay):
    law, signals = LAWS[name], motion(3, 2000)
    f = law().drive(DT, **heard(law, signals))["f"]
    expected = sensor(offset_f=800.0, delay_f=delay).drive(DT, d=signals["d"], f=f)["f"]
    cell = sensed(law(), LATE)
    shown = cell.block(sensor_offset=800.0, sensor_delay=delay, initial=cell.initial)
    found = shown.drive(DT, **heard(law, signals))["f"]
    np.testing.assert_allclose(found, expected, rtol=0, atol=ROUND_OFF * np.abs(f).max())


def estimated(guess, free, signals, f, noise, faulty):
    settings = {"process": dict.fromkeys(free, 1e-4), "initial_std": dict.fromkeys(free, 0.2)}
    if faulty:
        peak = np.abs(f).max()
        free = free | {"sensor_offset": (-0.1 * peak, 0.1 * peak), "sensor_delay": (0.0, float(LATE))}
        settings["process"] |= {"sensor_offset": 1e-4, "sensor_delay": 1e-4}
        settings["initial_std"] |= {"sensor_offset": 0.1, "sensor_delay": 0.1}
        guess = sensed(guess, LATE)
    return unscented(guess, free, noise=noise, **settings).drive(DT, **heard(guess.block, signals), f_m=f)


def faulty_force(true, signals, seed, **fault):
    """Measured and true force at 60 dB, with offset 1.5 % of the peak, drift to 3 % more, and a delay in ticks."""
    f = true.drive(DT, **heard(true.block, signals))["f"]
    peak = float(np.abs(f).max())
    faults = {"offset_f": 0.015 * peak, "drift_f": 0.03 * peak / (N * DT)} | fault
    return sensor(noise_f=1e-3 * peak, seed=float(seed), **faults).drive(DT, d=f, f=f)["f"], peak, faults


def errors(found, true, keys):
    return {key: float(np.sqrt(np.mean((found[key][N // 2 :] / true.params[key] - 1.0) ** 2))) for key in keys}


@pytest.mark.parametrize(("seed", "delay"), [(11, 1.0), (12, 2.6)])
@pytest.mark.parametrize("name", TRUE)
def test_parameters_offset_drift_and_delay_are_found_together(name, seed, delay):
    true, signals = TRUE[name], motion(seed)
    f, peak, faults = faulty_force(true, signals, seed, delay_f=delay)
    guess = true.block(**true.params | {key: true.params[key] * part for key, part in WRONG[name].items()})
    free = {key: (0.2 * true.params[key], 4.0 * true.params[key]) for key in WRONG[name]}
    with_sensor = estimated(guess, free, signals, f, 3e-3 * peak, faulty=True)
    without = estimated(guess, free, signals, f, 3e-3 * peak, faulty=False)
    assert max(errors(with_sensor, true, free).values()) < FOUND
    assert max(errors(without, true, free).values()) > MISSED  # seen red: 7 to 35 %
    offset = faults["offset_f"] + faults["drift_f"] * DT * np.arange(N)
    assert np.sqrt(np.mean((with_sensor["sensor_offset"] - offset)[N // 2 :] ** 2)) < SHARE * peak
    assert with_sensor["sensor_delay"][N // 2 :].mean() == pytest.approx(delay, abs=PLACE)


@pytest.mark.parametrize("make", [ensemble, recursive_least_squares])
def test_other_filters_find_offset_and_delay_too(make):
    """Least squares follow no drift but by forgetting, so there is none here."""
    signals = motion(14)
    f, peak, _ = faulty_force(SYMMETRIC, signals, 14, delay_f=1.7, drift_f=0.0)
    guess = sensed(lugre(**SYMMETRIC.params | {"Fc_pos": 28e3}), LATE)
    free = {"Fc_pos": (5e3, 90e3), "sensor_offset": (-0.1 * peak, 0.1 * peak), "sensor_delay": (0.0, float(LATE))}
    settings = {"process": 1e-4} if make is ensemble else {"forgetting": 0.9999}
    found = make(guess, free, noise=3e-3 * peak, **settings).drive(DT, v=signals["v"], f_m=f)
    assert errors(found, SYMMETRIC, ["Fc_pos"])["Fc_pos"] < FOUND
    assert np.abs(found["sensor_offset"][N // 2 :].mean() - 0.015 * peak) < SHARE * peak
    assert found["sensor_delay"][N // 2 :].mean() == pytest.approx(1.7, abs=PLACE)


@pytest.mark.parametrize(("seed", "delay"), [(11, 1.0), (12, 2.6)])
def test_stiffness_and_strength_of_a_bilinear_device_with_its_state(seed, delay):
    """Its plastic deformation was reached with wrong parameters, and is filtered, too."""
    true, signals = bilinear(k=2e7, alpha=0.05, f_y=6e4), motion(seed)
    f, peak, _ = faulty_force(true, signals, seed, delay_f=delay)
    guess = sensed(bilinear(k=1.4e7, alpha=0.05, f_y=7.8e4), LATE)
    free = {"k": (4e6, 8e7), "f_y": (12e3, 24e4)}
    sizes = {"process": dict.fromkeys(free, 1e-4), "initial_std": dict.fromkeys(free, 0.2)}
    sizes = {key: sensor_shares(key, own, free, ("sensor_offset", "sensor_delay")) for key, own in sizes.items()}
    free |= {"sensor_offset": (-0.1 * peak, 0.1 * peak), "sensor_delay": (0.0, float(LATE))}
    ukf = unscented(guess, free, noise=3e-3 * peak, states={"d_p": (1e-4, 1e-6)}, **sizes)
    found = ukf.drive(DT, d=signals["d"], f_m=f)
    assert max(errors(found, true, ("k", "f_y")).values()) < FOUND
    assert found["sensor_delay"][N // 2 :].mean() == pytest.approx(delay, abs=LATE_BILINEAR)


def test_a_good_sensor_is_left_alone():
    signals = motion(13)
    f, peak, _ = faulty_force(SYMMETRIC, signals, 13, offset_f=0.0, drift_f=0.0)
    guess = lugre(**SYMMETRIC.params | {"Fc_pos": 28e3})
    found = estimated(guess, {"Fc_pos": (5e3, 90e3)}, signals, f, 3e-3 * peak, faulty=True)
    assert errors(found, SYMMETRIC, ["Fc_pos"])["Fc_pos"] < FOUND
    assert np.abs(found["sensor_offset"][N // 2 :]).max() < SHARE * peak
    assert found["sensor_delay"][N // 2 :].mean() < PLACE


@pytest.mark.parametrize("seed", [17, 18])
def test_with_a_wrong_law_faults_change_less_of_what_is_found(seed):
    """Stiffnesses and a gap are wrong: part of that goes into offset and delay, with faults and without."""
    own = TRUE["gap_slip"].params
    device = gap_slip(**own | {"kp": 1.2 * own["kp"], "kn": 0.85 * own["kn"], "gn": 1.2 * own["gn"]})
    free, guess = {"Fc_pos": (2e3, 6e4), "Fc_neg": (2e3, 6e4)}, gap_slip(**own | {"Fc_pos": 8e3, "Fc_neg": 18e3})
    signals = motion(seed)
    clean, peak, _ = faulty_force(device, signals, seed, offset_f=0.0, drift_f=0.0)
    faulty, *_ = faulty_force(device, signals, seed, delay_f=3.0)
    changes = {}
    for cell in (True, False):
        noise = 0.05 * peak  # what the law cannot follow
        before, after = (estimated(guess, free, signals, f, noise, faulty=cell) for f in (clean, faulty))
        changes[cell] = max(np.sqrt(np.mean((after[k] / before[k] - 1.0)[N // 2 :] ** 2)) for k in free)
    assert changes[True] < WRONG_SHIFT < changes[False], changes


def test_it_resumes_bit_for_bit():
    def loop():
        frame = shear_frame([4e4] * 2, [4e7] * 2)
        site = Site("a", frame.story(1), SYMMETRIC, physical=True, transfer={"sensor": sensor(offset_f=300.0)})
        ukf = unscented(sensed(lugre(), 2), {"Fc_pos": (5e3, 9e4), "sensor_delay": (0.0, 2.0)}, noise=100.0)
        wired = FreeBlock("ukf", ukf, {"v": "a.v", "f_m": "a.sensor.f"})
        return Loop(frame, [site], method=newmark_explicit(), dt=DT, blocks=[wired])

    ground = 5.0 * np.random.default_rng(5).normal(size=600)
    whole, first, second = loop().run(ground), loop(), loop()
    first.start(ground[0])
    first.advance(ground[1:301])
    second.restore(first.snapshot())
    assert np.array_equal(second.advance(ground[301:]).data, whole.data[301:])
    assert np.ptp(whole["ukf.sensor_delay"]) > 0.0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sensed(lugre(), 0), "late = 0 must be a whole number of ticks from 1 to 64"),
        (lambda: sensed(lugre(), 1.5), "late = 1.5 must"),
        (lambda: sensed(sensed(lugre())), "needs no second sensor"),
        (lambda: sensed(sensor()), "already|no output|unnamed"),
    ],
)
def test_refused(make, words):
    with pytest.raises(BadInput, match=words):
        make()
