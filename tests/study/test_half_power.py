"""Half-power tests of buildings whose damping is known: in translation, in torsion, and with devices."""

import numpy as np
import pytest

from hyloop.devices import dashpot, nonlinear_viscous
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.files.load import load_experiment
from hyloop.integrators import mkr_alpha
from hyloop.loop import Loop, Site
from hyloop.structure import ElasticSection, Model, Structure, modal, shear_frame
from hyloop.study.half_power import half_power_test, swept

FITTED = 5e-3  # relative: the answer is steady to half a percent, other modes are a constant
BANDWIDTH = 0.05  # relative: the formula is of first order and other modes add to the curve
HARMONIC = 0.03  # relative: the force of such a damper has other harmonics, and the point may be beside the peak
FREQUENCY = 1e-3  # relative: (ωΔt)²/12 of the method, and what is not steady


def single(zeta, f=1.5):
    w, m = 2 * np.pi * f, 1e4
    return Loop(
        Structure(M=[m], K=[[m * w**2]], C=[[2 * zeta * w * m]], names=["roof"]), method=mkr_alpha(1.0), dt=1 / 256
    )


@pytest.mark.parametrize("zeta", [0.02, 0.05, 0.1])
def test_one_mass(zeta):
    found = swept(single(zeta), {"roof": 1.0}, amplitude=1e3)
    assert found.fit.damping == pytest.approx(zeta, rel=FITTED)
    assert found.fit.frequency == pytest.approx(1.5, rel=FREQUENCY)
    assert found.band.damping == pytest.approx(zeta, rel=BANDWIDTH)
    assert found.at_peak == pytest.approx(zeta, rel=2 * FITTED)
    static = 1e3 / (1e4 * (3 * np.pi) ** 2)
    assert np.abs(found.amplitude).max() == pytest.approx(static / (2 * zeta), rel=0.02)  # a point is near the peak


@pytest.mark.parametrize("zeta", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("channel", ["u.3", "v.3", "a.3"])
def test_a_frame_with_modal_damping(zeta, channel):
    frame = shear_frame([4e4] * 3, [4e7] * 3)
    loop = Loop(frame.with_damping(modal(frame, zeta)), method=mkr_alpha(1.0), dt=1 / 512)
    found = swept(loop, {"3": 1.0}, amplitude=1e3, channel=channel)
    assert found.fit.damping == pytest.approx(zeta, rel=FITTED)
    assert found.fit.frequency == pytest.approx(frame.modes().omega[0] / (2 * np.pi), rel=FREQUENCY)
    assert found.band.damping == pytest.approx(zeta, rel=BANDWIDTH)


def test_torsion_of_a_building_in_space():
    model = Model(dimensions=3)
    section = ElasticSection(E=25e9, A=0.16, Iz=2e-3, Iy=2e-3, G=1e10, J=3e-3)
    corners = {"A": (0.0, 0.0), "B": (6.0, 0.0), "C": (6.0, 8.0), "D": (0.0, 8.0)}
    for name, (x, z) in corners.items():
        model.node(f"{name}0", x, 0.0, z)
        model.node(f"{name}1", x, 3.5, z)
        model.support(f"{name}0")
        model.elastic(f"column {name}", f"{name}0", f"{name}1", section)
    model.diaphragm("floor", [f"{name}1" for name in corners], mass=5e4, rotary=5e4 * (6**2 + 8**2) / 12)
    frame = model.structure()
    ratios = 0.03, 0.03, 0.08  # both translations are one frequency, torsion is the third
    omega, shapes = frame.modes().omega, frame.modes().shapes
    turns = int(np.argmax(np.abs(shapes[frame.dof("floor.ry")])))
    damped = [0.08 if k == turns else 0.03 for k in range(len(omega))]
    assert sorted(damped) == sorted(ratios)
    frame = frame.with_damping(modal(frame, damped))
    loop = Loop(frame, method=mkr_alpha(1.0), dt=1 / 512)
    torsion = swept(loop, {"floor.ry": 1.0}, amplitude=1e4)
    assert torsion.fit.damping == pytest.approx(0.08, rel=FITTED) and torsion.channel == "u.floor.ry"
    assert torsion.fit.frequency == pytest.approx(omega[turns] / (2 * np.pi), rel=FREQUENCY)
    sway = swept(loop, {"floor.ux": 1.0}, amplitude=1e4)
    assert sway.fit.damping == pytest.approx(0.03, rel=FITTED)


def test_a_dashpot_adds_what_it_must_and_the_load_is_scaled():
    w, m = 3 * np.pi, 1e4
    frame = single(0.02).structure
    site = Site("damper", frame.between("roof"), dashpot(c=2 * 0.06 * w * m))
    loop = Loop(frame, [site], method=mkr_alpha(1.0), dt=1 / 512)
    found = swept(loop, {"roof": 1.0}, peak=("damper.d", 0.025))
    assert found.fit.damping == pytest.approx(0.08, rel=FITTED)
    assert found.peak is not None and found.peak[2] == pytest.approx(0.025, rel=0.02)
    # at resonance the amplitude is F/(2 ζ k)
    assert found.at["roof"] == pytest.approx(0.025 * 2 * 0.08 * m * w**2, rel=0.03)


def test_damping_of_a_nonlinear_damper_depends_on_amplitude():
    """f = c |v|^a: the equivalent damping is λ c (ωX)^(a-1) / (2 m ω), λ from the work of a cycle (Makris 1991)."""
    w, m, a, c = 3 * np.pi, 1e4, 0.4, 4e3
    frame = single(0.0).structure
    site = Site("damper", frame.between("roof"), nonlinear_viscous(C=c, alpha=a))
    loop = Loop(frame, [site], method=mkr_alpha(1.0), dt=1 / 1024)
    angle = np.linspace(0, np.pi / 2, 20001)
    work = 4 / np.pi * np.trapezoid(np.cos(angle) ** (1 + a), angle)
    for amplitude in (0.025, 0.1):
        found = swept(loop, {"roof": 1.0}, peak=("damper.d", amplitude))
        expected = work * c * (w * amplitude) ** (a - 1) / (2 * m * w)
        assert found.at_peak == pytest.approx(expected, rel=HARMONIC)
        # at 1/√2 of the amplitude the damping is 2^0.3 times that: 1 - r² is 1.39 ζ there instead of 2 ζ
        assert found.band.damping == pytest.approx(0.70 * expected, rel=0.1)


def test_what_is_not_steady_is_said():
    found = swept(single(0.01), {"roof": 1.0}, amplitude=1e3, frequencies=np.linspace(1.4, 1.6, 9), as_given=True)
    assert "not steady" in found.notes[0] and found.fit.damping > 0.011
    longer = swept(single(0.01), {"roof": 1.0}, amplitude=1e3, frequencies=np.linspace(1.4, 1.6, 9))
    assert longer.fit.damping == pytest.approx(0.01, rel=0.03) and longer.cycles.max() > 40 and not longer.notes


TEXT = """
[structure]
kind = "shear_frame"
stories = 2
masses = "20 t"
stiffnesses = "20 kN/mm"
damping = { kind = "modal", ratio = "4 %" }
[integrator]
method = "mkr_alpha"
rho_inf = 1.0
dt = "1/512 s"
[excitation]
kind = "harmonic"
amplitude = "1 m/s2"
frequency = "1 Hz"
duration = "1 s"
"""


def test_an_experiment_file(tmp_path):
    path = tmp_path / "frame.toml"
    path.write_text(TEXT)
    experiment = load_experiment(path)
    one, two = (half_power_test(experiment, "2", amplitude=1e3, workers=n) for n in (1, 2))
    assert one.fit.damping == pytest.approx(0.04, rel=FITTED)
    assert np.array_equal(one.amplitude, two.amplitude)
    assert "4 % by the fit" in one.sentence() and one.as_dict()["fit"]["damping"] == one.fit.damping


def test_refused():
    loop = single(0.05)
    for kind, said, given in (
        (BadInput, "amplitude of the load, or a channel", {}),
        (OutOfBounds, "must be positive", {"amplitude": -1.0}),
        (UnknownName, "channel", {"amplitude": 1.0, "channel": "u.rof"}),
        (OutOfBounds, "five positive", {"amplitude": 1.0, "frequencies": [1.0, 2.0]}),
        (OutOfBounds, "at least 6 of constant", {"amplitude": 1.0, "cycles": (2, 5, 3)}),
        (OutOfBounds, "steps in a cycle", {"amplitude": 1.0, "frequencies": [1.0, 2.0, 4.0, 8.0, 16.0]}),
        (OutOfBounds, "workers", {"amplitude": 1.0, "workers": 0}),
    ):
        with pytest.raises(kind, match=said):
            swept(loop, {"roof": 1.0}, **given)
    with pytest.raises(UnknownName, match="degree of freedom"):
        swept(loop, {"rof": 1.0}, amplitude=1.0)
