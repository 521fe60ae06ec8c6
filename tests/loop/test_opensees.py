"""The same shear frame in OpenSees and in hyloop: same method, same law, same numbers."""

import numpy as np
import pytest
from oracles.opensees import opensees

from hyloop.devices.bilinear import bilinear
from hyloop.devices.bouc_wen import bouc_wen
from hyloop.devices.steel import giuffre_menegotto_pinto
from hyloop.integrators import newmark, newmark_explicit
from hyloop.loop import Loop, Site
from hyloop.structure import shear_frame, springs

STORIES, MASS, STIFFNESS, DT = 8, 1e4, 2e7, 0.005
YIELD, HARDENING = 6e4, 0.05
ALPHA_M, BETA_K = 0.6, 1e-3
SAME = 1e-8  # relative to the largest value: both accumulate round-off over 4000 steps
NEWTON = 1e-6  # OpenSees iterates to a displacement increment of 1e-12 m


def _ground(rng):
    ground = np.convolve(rng.normal(size=4000), np.hanning(24) / 12, "same") * 4.0
    ground[0] = 0.0  # OpenSees starts with zero acceleration
    return ground


def _opensees(material, integrator, ground, newton=False):
    ops = opensees()
    ops.wipe()
    ops.model("basic", "-ndm", 1, "-ndf", 1)
    ops.node(0, 0.0)
    ops.fix(0, 1)
    ops.uniaxialMaterial("Elastic", 1, STIFFNESS)
    ops.uniaxialMaterial(*material)
    for i in range(1, STORIES + 1):
        ops.node(i, 0.0)
        ops.mass(i, MASS)
        ops.element("zeroLength", i, i - 1, i, "-mat", 1, "-dir", 1, "-doRayleigh", 1)
    ops.element("zeroLength", 100, 0, 1, "-mat", 2, "-dir", 1, "-doRayleigh", 0)
    ops.rayleigh(ALPHA_M, 0.0, BETA_K, 0.0)
    ops.timeSeries("Path", 1, "-dt", DT, "-values", *ground.tolist())
    ops.pattern("UniformExcitation", 1, 1, "-accel", 1)
    ops.constraints("Plain")
    ops.numberer("Plain")
    ops.system("BandGeneral")
    if newton:
        ops.test("NormDispIncr", 1e-12, 50)
    ops.algorithm("Newton" if newton else "Linear")
    ops.integrator(*integrator)
    ops.analysis("Transient")
    history = np.zeros((len(ground), STORIES))
    for i in range(1, len(ground)):
        assert ops.analyze(1, DT) == 0
        history[i] = [ops.nodeDisp(k, 1) for k in range(1, STORIES + 1)]
    ops.wipe()
    return history


def _frame():
    frame = shear_frame([MASS] * STORIES, [STIFFNESS] * STORIES)
    return frame.with_damping(ALPHA_M * frame.M + BETA_K * frame.K)


def _history(loop, ground):
    result = loop.run(ground)
    return np.column_stack([result[f"u.{i}"] for i in range(1, STORIES + 1)])


LAWS = {
    "bilinear": (bilinear(k=STIFFNESS, f_y=YIELD, alpha=HARDENING), ("Steel01", 2, YIELD, STIFFNESS, HARDENING)),
    "giuffre_menegotto_pinto": (
        giuffre_menegotto_pinto(k=STIFFNESS, f_y=YIELD, b=HARDENING, R0=18.0, cR1=0.925, cR2=0.15),
        ("Steel02", 2, YIELD, STIFFNESS, HARDENING, 18.0, 0.925, 0.15),
    ),
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("place", ["site", "element"])
def test_explicit_newmark_gives_the_same_history(law, place, rng):
    device, material = LAWS[law]
    ground, frame = _ground(rng), _frame()
    if place == "site":
        loop = Loop(frame, [Site("brace", frame.story(1), device)], method=newmark_explicit(), dt=DT)
    else:
        loop = Loop(frame.with_elements(springs(device, frame.story(1))), method=newmark_explicit(), dt=DT)
    ours = _history(loop, ground)
    theirs = _opensees(material, ("NewmarkExplicit", 0.5), ground)
    # the device must have yielded well, or the test shows nothing
    assert np.abs(ours[:, 0]).max() > 3 * YIELD / STIFFNESS
    assert np.abs(ours - theirs).max() / np.abs(theirs).max() < SAME


def test_implicit_newmark_with_newton_gives_the_same_history(rng):
    device, material = LAWS["giuffre_menegotto_pinto"]
    ground, frame = _ground(rng)[:1500], _frame()
    ours = _history(Loop(frame, [Site("brace", frame.story(1), device)], method=newmark(), dt=DT), ground)
    theirs = _opensees(material, ("Newmark", 0.5, 0.25), ground, newton=True)
    assert np.abs(ours - theirs).max() / np.abs(theirs).max() < NEWTON


def test_bouc_wen_agrees_as_far_as_the_discretisations_do(rng):
    """OpenSees integrates Bouc-Wen by backward Euler, hyloop by Runge-Kutta: they differ by OpenSees' first order."""
    k, d_y, alpha = STIFFNESS, 3e-3, 0.05
    device = bouc_wen(k=k, alpha=alpha, d_y=d_y, A=1.0, beta=0.5, gamma=0.5, n=1.0)
    # OpenSees: dz/dd = A - |z|^n (gamma + beta sgn), with z in metres
    material = ("BoucWen", 2, alpha, k, 1.0, 0.5 / d_y, 0.5 / d_y, 1.0, 0.0, 0.0, 0.0)
    ground, frame = _ground(rng), _frame()
    ours = _history(Loop(frame, [Site("brace", frame.story(1), device)], method=newmark_explicit(), dt=DT), ground)
    theirs = _opensees(material, ("NewmarkExplicit", 0.5), ground)
    difference = np.sqrt(np.mean((ours - theirs) ** 2)) / np.ptp(theirs)
    assert difference < 0.02
