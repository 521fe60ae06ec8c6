"""Faults of sensors from recorded tests: operators by closed forms, drawn cases, and the command as users get it."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from hyloop.devices import bilinear, bouc_wen, prandtl_ishlinskii
from hyloop.errors import BadInput
from hyloop.identification import check_sensors
from hyloop.identification.operators import _driven
from hyloop.identification.sensors import noise_level
from hyloop.report.sensors_page import findings

CASES = runpy.run_path(str(Path(__file__).parents[2] / "benchmarks" / "sensor_faults_named.py"))
DT = 1 / 200
T = DT * np.arange(4000)
ROUND_OFF = 1e-9
SOLVED = 1e-5  # of an operator of size 1: tolerance of the solver in some hundred ticks


def motion():
    """A second of rest, then two sines that swell."""
    t = np.maximum(T - 1.0, 0.0)
    return 0.03 * np.sin(2.0 * np.pi * 0.4 * t) * np.minimum(t / 8.0, 1.0) + 0.006 * np.sin(2.0 * np.pi * 1.3 * t)


def test_a_stop_is_that_of_prandtl_ishlinskii():
    d, r = motion(), 0.004
    law = prandtl_ishlinskii(1)(k_e=0.0, w0=1.0 / r, r0=r)
    np.testing.assert_allclose(_driven(d, np.array([r]), 0)[:, 0], law.drive(DT, d=d)["f"], atol=ROUND_OFF)


@pytest.mark.parametrize("kind", [1, 2])
def test_smooth_operators_solve_their_equations(kind):
    d, r = motion()[200:1000:2], 0.004

    def rate(t, z, v):
        return (v - abs(v) * z) / r if kind == 1 else v / r * (1.0 - z**2 * (v * z > 0.0))

    z, exact = np.zeros(1), [0.0]
    for v in np.diff(d) / DT:  # tick by tick: the rate is constant within one
        z = solve_ivp(rate, (0.0, DT), z, args=(v,), rtol=1e-8, atol=1e-10).y[:, -1]
        exact.append(float(z[0]))
    np.testing.assert_allclose(_driven(d, np.array([r]), kind)[:, 0], exact, atol=SOLVED)
    assert np.abs(exact).max() > 0.8


def test_a_noise_level_is_that_of_the_noise():
    rng = np.random.default_rng(3)
    noisy = motion() + 1e-4 * rng.normal(size=len(T))
    assert noise_level(noisy) == pytest.approx(1e-4, rel=0.06)  # 4000 samples: three standard errors of the median


@pytest.mark.parametrize("fault", CASES["FAULTS"])
def test_drawn_faults_are_named(fault):
    """Seed 3, neither that of the limits nor that of the published table; most of few, the benchmark has many."""
    rng, right, tried = np.random.default_rng(3), 0, 0
    while tried < 5:
        case = CASES["draw"](rng)
        if case.fault == fault and case.device != "gap_slip":  # whose gaps the operators explain least well
            tried += 1
            right += CASES["named"](check_sensors(case.dt, case.d, case.f)) == fault
    assert right >= 4


def recorded(late=0, offset=0.0):
    rng, d = np.random.default_rng(5), motion()
    f = bouc_wen(k=1e7, d_y=5e-3).drive(DT, d=d)["f"]
    f = np.concatenate([np.full(late, f[0]), f[: len(f) - late]]) + offset
    return d + 1e-5 * rng.normal(size=len(d)), f + 30.0 * rng.normal(size=len(f))


def test_a_delay_and_an_offset_are_told_together():
    d, f = recorded(late=2, offset=1500.0)
    check = check_sensors(DT, d, f)
    assert check.faults == ["offset", "delay"]
    assert check.offset.low <= 1500.0 <= check.offset.high and check.delay.low <= 2 * DT <= check.delay.high
    # two sines tell a delay only so surely of any device, though this one, a regressor itself, is explained far better
    assert check.delay.value == pytest.approx(2 * DT, abs=0.2 * DT) and check.delay.spread < 1.2 * DT
    assert check.noise_f.value == pytest.approx(30.0, rel=0.2)
    clean = recorded()[1]
    room = slice(100, -100)
    assert np.std((check.corrected - clean)[room]) < 0.1 * np.std((f - clean)[room])


def test_a_deformation_that_is_late_is_said_to_be():
    d, f = recorded()
    late = check_sensors(DT, np.concatenate([np.full(2, d[0]), d[:-2]]), f)
    assert late.faults == ["delay"] and late.delay.value == pytest.approx(-2 * DT, abs=0.3 * DT)


@pytest.mark.parametrize("law", [bilinear(k=1e7, alpha=0.05, f_y=5e4), bouc_wen(k=1e7, d_y=5e-3)])
@pytest.mark.parametrize(("hertz", "late"), [(0.1, 0), (0.5, 0), (0.5, 6)])
def test_a_sine_of_one_frequency_does_not_tell_a_delay(law, hertz, late):
    """Every place of the path is passed at one speed: with or without a delay, another device would show the same."""
    rng, t = np.random.default_rng(7), DT * np.arange(int(3 / hertz / DT))
    d = np.concatenate([np.zeros(200), 0.025 * np.sin(2.0 * np.pi * hertz * t)])
    f = law.drive(DT, d=d)["f"]
    f = np.concatenate([np.full(late, f[0]), f[: len(f) - late]]) + 1e-3 * np.abs(f).max() * rng.normal(size=len(f))
    check = check_sensors(DT, d + 2.5e-5 * rng.normal(size=len(d)), f)
    assert check.faults == [] and check.offset.known and check.delay.low <= late * DT <= check.delay.high
    assert check.delay.spread > 2.0 * DT  # without limit where it is not known
    said = findings(check)
    if not check.delay.known:
        assert said[0] == "Neither an offset nor a drift shows." and "cannot be told from this record" in said[1]


def test_a_deformation_that_is_not_zero_at_rest_is_named():
    d, f = recorded()
    reach = np.abs(d).max()
    shifted, right = (check_sensors(DT, d + part * reach, f) for part in (0.02, 0.005))  # the limit is 1 %
    assert shifted.faults == ["offset_d"] and shifted.offset_d.value == pytest.approx(0.02 * reach, rel=0.02)
    assert right.faults == [] and right.offset_d.value == pytest.approx(0.005 * reach, rel=0.05)
    assert "The deformation shown at rest is" in findings(shifted)[0]
    moving = check_sensors(DT, d[400:] + 0.02 * reach, f[400:])  # nothing says where zero is
    assert not moving.offset_d.known and "offset_d" not in moving.faults


@pytest.mark.parametrize(
    ("d", "f", "words"),
    [
        (np.zeros(50), np.zeros(50), "50 samples are too few"),
        (np.zeros(500), np.ones(500), "does not change"),
        (np.zeros(500), np.ones(400), "one length"),
        (np.full(500, np.nan), np.ones(500), "finite"),
    ],
)
def test_refused(d, f, words):
    with pytest.raises(BadInput, match=words):
        check_sensors(DT, d, f)


def test_the_command_names_the_fault(tmp_path):
    d, f = recorded(late=2)
    table = np.column_stack([T, 1e3 * d, 1e-3 * f])
    np.savetxt(tmp_path / "test.csv", table, delimiter=",", header="t [s],Weg [mm],Kraft [kN]", comments="")
    command = [sys.executable, "-c", "from hyloop.cli import main; main()", "check-sensors", "test.csv"]
    outputs = [
        subprocess.run(
            [*command, "--d", "Weg", "--f", "Kraft", *extra], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for extra in ([], ["--json"])
    ]
    said = re.search(r"The force comes ([\d.]+) ± ([\d.]+) ms late, ([\d.]+) samples", outputs[0])
    assert said and float(said[1]) == pytest.approx(2e3 * DT, abs=float(said[2]))
    assert float(said[3]) == pytest.approx(2.0, abs=0.3) and "stronger device" in outputs[0]
    told = json.loads(outputs[1])
    assert told["faults"] == ["delay"] and told["delay"]["value"] == pytest.approx(2 * DT, rel=0.15)
    page = (tmp_path / "out" / "test-sensors.html").read_text(encoding="utf-8")
    assert "The force comes" in page and "What no record can tell" in page
