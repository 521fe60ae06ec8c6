"""The critical delay: closed form of an oscillator, and the loop itself run with longer and shorter delays."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hyloop import Loop, Site, shear_frame
from hyloop.devices import bouc_wen, dashpot, spring
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.integrators import cr, kr_alpha, mkr_alpha, newmark, newmark_explicit
from hyloop.loop import critical_delay as module
from hyloop.loop.critical_delay import critical_delay
from hyloop.loop.delay_trial import tried_critical_delay
from hyloop.structure import Structure, rayleigh
from hyloop.study.build import build
from hyloop.transfer import delay, first_order_lag

ROOT = Path(__file__).parents[2]
PROMISED = 0.05  # of the delay found by trial
PERIOD = 5e-4  # relative: methods of second order shift a period by up to (ωΔt)²/12 = 4e-5, and damping by as much
TRUNCATED = 0.01  # the highest modes, left out, add no more to the compliance


def oscillator(method, ks=1e5, zeta=0.03, m=1000.0, k=4e5):
    c = 2.0 * zeta * np.sqrt((k + ks) * m)
    structure = Structure(M=[[m]], K=[[k]], C=[[c]])
    return Loop(structure, [Site("d", [1.0], spring(k=ks), physical=True)], method=method, dt=1 / 1024), (m, c, k, ks)


def closed_form(m, c, k, ks):
    """m u'' + c u' + k u + ks u(t - τ) = 0 with u = exp(jωt): modulus gives ω, angle gives τ."""
    half = k / m - 0.5 * (c / m) ** 2
    omega = np.sqrt(half + np.sqrt(half**2 - (k**2 - ks**2) / m**2))
    # k - m ω² + ks cos ωτ = 0 and c ω - ks sin ωτ = 0
    return np.arctan2(c * omega, m * omega**2 - k) / omega, omega / (2.0 * np.pi)


@pytest.mark.parametrize("method", [cr(), kr_alpha(0.5), mkr_alpha(0.75), newmark_explicit(), newmark()])
def test_an_oscillator_with_a_late_spring(method):
    loop, numbers = oscillator(method)
    found, (tau, frequency) = critical_delay(loop), closed_form(*numbers)
    assert found.delay == pytest.approx(tau, rel=PERIOD) and found.frequency == pytest.approx(frequency, rel=PERIOD)
    assert found.sites == ("d",)


def test_a_small_delay_is_negative_damping():
    """To first order the spring takes k τ of the damping c, so that both are equal where it begins to grow."""
    loop, (_, c, _, ks) = oscillator(cr(), ks=1e5, zeta=0.001)
    assert critical_delay(loop).delay == pytest.approx(c / ks, rel=0.01)


def test_a_weak_device_never_grows():
    loop, _ = oscillator(cr(), ks=1e3, zeta=0.05)
    assert critical_delay(loop).delay == np.inf
    with pytest.raises(BadInput, match="cannot be tried"):
        tried_critical_delay(loop)


def frame(damping=0.05, stories=3):
    made = shear_frame([40e3] * stories, [30e6] * stories)
    return made.with_damping(rayleigh(made, damping))


def three_stories():
    f = frame()
    sites = [
        Site("d1", f.story(1), bouc_wen(k=8e6, d_y=3e-3), physical=True),
        Site("d2", f.story(2), spring(k=5e6)),
        Site("d3", f.story(3), dashpot(c=1e5)),
    ]
    return Loop(f, sites, method=mkr_alpha(0.75), dt=1 / 256, substeps=4)


def two_late_sites():
    f = frame(0.03)
    sites = [Site(f"d{k}", f.story(k), bouc_wen(k=8e6, d_y=3e-3), count=2, physical=True) for k in (1, 2)]
    return Loop(f, sites, method=kr_alpha(0.5), dt=1 / 256, substeps=8)


def servo_hydraulic():
    changes = ["structure.damping.ratio=2%", "sites.damper1.device.k=4kN/mm", "integrator.substeps=4"]
    return build(load_experiment(ROOT / "experiments" / "servo_hydraulic.toml", changes)).loop


def planned():
    return build(load_experiment(ROOT / "experiments" / "planned_test.toml")).loop


@pytest.mark.slow
@pytest.mark.parametrize("made", [lambda: oscillator(cr())[0], three_stories, two_late_sites, servo_hydraulic, planned])
def test_the_loop_itself_begins_to_grow_there(made):
    loop = made()
    assert tried_critical_delay(loop) == pytest.approx(critical_delay(loop).delay, rel=PROMISED)


def test_a_rig_that_is_there_does_not_count():
    loop = three_stories()
    rig = {"actuator": first_order_lag(tau=0.02)}
    other = loop.replace(sites={"d1": replace(loop.sites[0], transfer=rig)})
    assert critical_delay(other) == critical_delay(loop)


def test_together_they_bear_no_more_than_alone():
    loop = two_late_sites()
    together = critical_delay(loop).delay
    assert together < min(critical_delay(loop, name).delay for name in ("d1", "d2"))


@pytest.mark.parametrize("stiff", [2e7, 2e8])
def test_a_large_model_is_represented_by_its_modes(stiff, monkeypatch):
    f = frame(0.03, 30)
    sites = [Site("d", f.story(1), spring(k=stiff), physical=True), Site("e", f.story(2), spring(k=1e7))]
    loop = Loop(f, sites, method=mkr_alpha(0.75), dt=1 / 256)
    few = critical_delay(loop).delay
    monkeypatch.setattr(module, "_MODES", 30)
    assert few == pytest.approx(critical_delay(loop).delay, rel=TRUNCATED)


def test_what_is_refused():
    loop = three_stories()
    with pytest.raises(BadInput, match="Did you mean 'd1'"):
        critical_delay(loop, "d11")
    f = frame()
    with pytest.raises(BadInput, match="no site is physical"):
        critical_delay(Loop(f, [Site("d", f.story(1), spring())], method=cr(), dt=1 / 256))
    handed = delay(tau=0.01)
    assert handed.stiffness == 0.0  # a block that declares nothing
    quiet = Loop(f, [Site("d", f.story(1), spring(k=0.0), physical=True)], method=cr(), dt=1 / 256)
    with pytest.raises(BadInput, match="declares no initial stiffness"):
        critical_delay(quiet)
