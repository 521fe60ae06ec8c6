"""Every example runs, in an empty folder, as a newcomer would run it, and the numbers it prints are right."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from oracles.pages import Page, ink
from scipy.integrate import solve_ivp
from scipy.linalg import eigh
from scipy.signal import butter, lsim, sosfilt

from hyloop.files.examples import copy_examples, find_example
from hyloop.record import Recording

FOLDER = Path(__file__).parents[1] / "examples"
LONGEST = 80  # lines: an example is read before it is run


def demo(said, folder):
    """Without dampers the frame is linear, and SciPy knows its answer; friction lowers every drift."""
    dt, n, mass, k, weight, height = 4 / 1024, 6, 40e3, 45e6, 392e3, 3.2
    t = np.arange(round(30.0 / dt)) * dt
    noise = np.random.default_rng(7).normal(size=len(t))
    motion = sosfilt(butter(2, [0.4, 6.0], "bandpass", fs=1 / dt, output="sos"), noise)
    motion *= (t / 3.0) ** 2 * np.exp(2.0 * (1.0 - t / 3.0))
    motion *= 4.0 / np.abs(motion).max()
    story = k - weight * np.arange(n, 0, -1) / height  # columns less the weight above
    drift = np.eye(n) - np.eye(n, k=-1)  # of the stories by displacements of the floors
    K, M = drift.T @ np.diag(story) @ drift, mass * np.eye(n)
    first, second = np.sqrt(eigh(K, M, eigvals_only=True)[:2])
    C = 2 * 0.02 / (first + second) * (first * second * M + K)
    A = np.block([[np.zeros((n, n)), np.eye(n)], [-K / mass, -C / mass]])
    _, _, x = lsim((A, np.r_[np.zeros(n), -np.ones(n)][:, None], np.eye(2 * n), np.zeros((2 * n, 1))), motion, t)
    exact = 1e3 * np.abs(x[:, :n] @ drift.T).max(axis=0)
    rows = np.array(re.findall(r"│ +(\d) │ +([\d.]+) │ +([\d.]+) │ +([\d.]+) │ .*? │ +([\d.]+) │", said), dtype=float)
    _, without, damped, ratio, energy = rows.T
    assert without == pytest.approx(exact, abs=0.1)  # mm: printed to 0.1, and the method errs by 0.01 of it
    assert (damped < 0.6 * without).all() and ratio == pytest.approx(damped / without, abs=0.01)
    # in a cycle to peak and back friction of about 20 kN takes 4 F D; a motion has many cycles, few of them to the peak
    assert (energy > 8 * 4 * 15.0 * 1e-3 * damped / 4).all() and "30716 controller ticks" in said
    assert all(ink(folder / "out" / "demo.png", color) > 1000 for color in ("C0", "C3", "0.7"))


def own_device(said, folder):
    """The printed law, and the frame with it by SciPy's integrator."""
    t = np.linspace(0.0, 1.0, 100_001)
    d, v = 5e-3 * np.sin(2 * np.pi * t), 5e-3 * 2 * np.pi * np.cos(2 * np.pi * t)
    force = (2e6 * d + 2e11 * d**3 + 5e4 * v).max() / 1e3
    assert number(r"peak force ([\d.]+) kN", said) == pytest.approx(force, abs=0.1)  # kN, as printed
    K, mass = np.array([[4e7, -2e7], [-2e7, 2e7]]), 2e4

    def rates(t, x):
        u, v = x[:2], x[2:]
        damper = 2e6 * u[0] + 1e11 * u[0] ** 3 + 5e4 * v[0]
        return np.r_[v, -(K @ u + [damper, 0.0]) / mass - 2.0 * np.sin(2 * np.pi * 1.5 * t)]

    exact = solve_ivp(rates, (0.0, 9.995), np.zeros(4), rtol=1e-9, atol=1e-12, max_step=1e-3)
    # explicit Newmark at 0.005 s: 0.4 % measured
    assert number(r"peak drift ([\d.]+) mm", said) == pytest.approx(1e3 * np.abs(exact.y[0]).max(), rel=0.01)
    assert "over 1999 steps" in said and "agree: True" in said


def moment_frame(said, folder):
    """Without dampers as OpenSees has it (1/2048 s, Newton's method): 3.135 and 3.422 %, bars at 17.73 times yield."""
    assert "periods [0.39 0.12] s" in said
    rows = re.findall(
        r"drift ([\d.]+) % and ([\d.]+) %, bar strain ([\d.]+) times that at yield, dampers ([\d.]+)", said
    )
    (one, two, bar, none), (first, second, less, energy) = np.array(rows, dtype=float)
    assert (one, two) == pytest.approx((3.135, 3.422), rel=0.01) and bar == pytest.approx(17.73, rel=0.02)
    assert none == 0.0 and first < 0.6 * one and second < 0.6 * two and 1.0 < less < 0.6 * bar
    # work of eight dampers of about 20 kN over at least one cycle to the peak drift
    assert energy > 4 * 4 * 15.0 * (first + second) / 100 * 1.83


def tower(said, folder):
    """Counts of the paper; the bare roof as OpenSees has it (Newton's method, same step, run to 22 s): 56.6 cm."""
    assert "1324 nodes, 2924 members, 1436 degrees" in said
    periods = [float(T) for T in re.search(r"periods ([\d., ]+) s", said)[1].split(", ")]
    assert periods[0] == pytest.approx(1 / 0.1489, rel=0.015)  # published with dampers, which stiffen by less than 1 %
    assert periods == sorted(periods, reverse=True) and len(periods) == 5
    (bare, bare_end), (damped, damped_end) = (
        (float(peak), float(end)) for peak, end in re.findall(r"roof (\d+) cm, at the end (\d+) cm", said)
    )
    assert bare == pytest.approx(56.6, abs=1.0) and damped < bare and damped_end < bare_end
    stroke, force = (number(pattern, said) for pattern in (r"up to (\d+) mm", r"and (\d+) kN each"))
    speed = (force / 708.0) ** (1 / 0.457)  # m/s, by the law of the dampers
    # a sine of that stroke and speed has a period between the first and the fifth, or a little below
    assert 1.0 < 2 * np.pi * 1e-3 * stroke / speed < periods[0]


def many_records(said, folder):
    """Dampers help in the mean, and the page has the numbers that were printed."""
    rows = re.findall(r"^(\S+) +([\d.]+) mm without, +([\d.]+) mm with", said, re.MULTILINE)
    page = Page(folder / "out" / "ten" / "catalogue.html")
    shown = page.rows("Peaks of the pairs")
    assert len(rows) == 10 and len(shown) == 12  # and mean and spread
    for name, *drifts in rows:
        assert [float(cell) for cell in shown[name][:2]] == pytest.approx([float(d) for d in drifts], abs=0.051)
    ratios = np.array([float(damped) / float(bare) for _, bare, damped in rows])
    assert float(shown["mean"][2]) == pytest.approx(ratios.mean(), abs=0.01) and ratios.mean() < 0.8


def number(pattern, said):
    return float(re.search(pattern, said)[1])


CHECKS = {
    "demo": demo,
    "own_device": own_device,
    "moment_frame": moment_frame,
    "tower": tower,
    "many_records": many_records,
}


SMALL = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "45 kN/mm"
damping = { kind = "rayleigh", ratio = "2 %", modes = [1, 2] }
[integrator]
method = "newmark_explicit"
dt = "1/256 s"
[excitation]
kind = "synthetic"
sds = "1.0 g"
sd1 = "0.6 g"
duration = "3 s"
[sites.brace]
story = 1
device = { law = "bilinear", k = "200 kN/mm", f_y = "30 kN" }
"""


def test_many_records_takes_a_frame_of_any_height(tmp_path):
    """Its own copy of the experiment is the one to change; the largest drift is that of whichever story there is."""
    copy_examples([find_example("many_records")], tmp_path)
    (tmp_path / "experiments" / "friction_frame.toml").write_text(SMALL)
    script = tmp_path / "examples" / "many_records.py"
    text = script.read_text(encoding="utf-8")
    assert "range(1, 11)" in text
    script.write_text(text.replace("range(1, 11)", "range(1, 3)"), encoding="utf-8")
    settings = {**os.environ, "HYLOOP_DATA": str(tmp_path)}  # no records there
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, env=settings)
    assert done.returncode == 0, done.stderr
    rows = re.findall(r"^(\S+) +([\d.]+) mm without, +([\d.]+) mm with", done.stdout, re.MULTILINE)
    assert len(rows) == 2
    for name, *drifts in rows:
        for end, printed in zip(("-bare", ""), drifts, strict=True):
            run = Recording.load(tmp_path / "out" / "ten" / f"{name}{end}.h5")
            u = np.column_stack([run["u.1"], run["u.2"] - run["u.1"]])
            assert float(printed) == pytest.approx(1e3 * np.abs(u).max(), abs=0.051)  # mm: printed to 0.1


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_example(name, tmp_path):
    assert {path.stem for path in FOLDER.glob("*.py")} == set(CHECKS)
    example = FOLDER / f"{name}.py"
    assert len(example.read_text(encoding="utf-8").splitlines()) <= LONGEST
    done = subprocess.run([sys.executable, "-W", "error", example], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    CHECKS[name](done.stdout, tmp_path)
