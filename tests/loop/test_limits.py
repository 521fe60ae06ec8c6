"""Bounds of every run: divergence, collapse, drifts and section imbalance are faults, never results."""

import numpy as np
import pytest

from hyloop import Limits, Loop, Site, shear_frame
from hyloop.core import Param, block
from hyloop.devices import bouc_wen
from hyloop.errors import BadShape, OutOfBounds, RunFailed
from hyloop.integrators import cr, mkr_alpha, newmark, newmark_explicit
from hyloop.loop import Drift
from hyloop.structure import Structure, rayleigh, springs

DT = 1 / 128


@block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    params={"k": Param("N/m", 1e9, low=0.0), "gap": Param("m", 5e-3, low=0.0)},
    reference="a stop on both sides; what it says of its stiffness is that of the open gap",
    linear=lambda k, gap: (0.0, 0.0),
)
def stop(x, u, dt, p):
    """f = k (|d| - gap) beyond the gap."""
    over = np.maximum(np.abs(u[0]) - p[1], 0.0)
    return (p[0] * over * np.sign(u[0]),), ()


def frame(stories=3):
    made = shear_frame([4e4] * stories, [4e7] * stories)
    return made.with_damping(rayleigh(made, 0.02))


def ground(n=3000, peak=3.0, dt=DT):
    t = np.arange(n) * dt
    return peak * np.sin(2 * np.pi * 1.5 * t) * np.minimum(t, 1.0)


def test_a_contact_that_the_method_does_not_know_of_is_a_fault_with_its_cause():
    loop = Loop(frame(), [Site("pounding", frame().story(3), stop(k=1e9))], method=mkr_alpha(0.75), dt=DT)
    cause = r"site 'pounding' now resists with 1e\+09 N/m, while mkr_alpha.*counts with 0 N/m"
    with pytest.raises(RunFailed, match=cause) as caught:
        loop.run(ground(1500))  # without bounds: 1e182 m, and no word
    assert caught.value.reason in ("energy", "displacement")
    shown = caught.value.result["u.3"]
    # until it stops, the response is of the size that a displacement has
    assert np.isfinite(shown).all() and np.abs(shown[:-1]).max() < 10.0


@block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    params={"k": Param("N/m", 1e9, low=0.0), "side": Param("-", 1.0)},
    reference="a stop on one side, 5 mm away",
    linear=lambda k, side: (0.0, 0.0),
)
def one_sided(x, u, dt, p):
    """f = k (d - gap) beyond the gap on one side, nothing on the other."""
    return (p[1] * p[0] * np.maximum(p[1] * u[0] - 5e-3, 0.0),), ()


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("k", [1e10, 1e11])
def test_a_contact_is_named_wherever_the_run_stops(side, k):
    """In some of these the gap is open when the bound is passed."""
    loop = Loop(frame(), [Site("wall", frame().story(3), one_sided(k=k, side=side))], method=mkr_alpha(0.75), dt=DT)
    with pytest.raises(RunFailed, match=r"site 'wall' now resists with 1e\+\d\d N/m"):
        loop.run(ground())


@block(inputs={"d": "m"}, outputs={"f": "N"}, params={"F": Param("N", 1e6)}, reference="a switch")
def switch(x, u, dt, p):
    """f = F or -F, with no place at which it is zero."""
    return (np.where(u[0] > 1e-5, p[0], -p[0]),), ()


def test_newton_without_a_solution_is_a_fault():
    made = shear_frame([4e4], [4e7])
    with pytest.raises(RunFailed, match=r"Newton's method did not converge\. Take a smaller step") as caught:
        Loop(made, [Site("s", made.story(1), switch())], method=newmark(), dt=DT).run(ground())
    assert caught.value.reason == "not converged"


def test_a_stiff_group_of_members_is_named_too():
    made = frame().with_elements(springs(stop(k=1e11), frame().story(3)[None]))
    with pytest.raises(RunFailed, match=r"group 'springs\(stop\)' now resists"):
        Loop(made, method=mkr_alpha(0.75), dt=DT).run(ground())


def test_the_same_contact_runs_where_the_method_knows_it():
    """The fault is one of the step, not of the model: an implicit method has no such limit."""
    made = shear_frame([4e4], [4e7])
    loop = Loop(made, [Site("pounding", made.story(1), stop(k=1e9, gap=2e-3))], method=newmark(), dt=DT / 16)
    result = loop.run(ground(4000, dt=DT / 16))
    assert 2e-3 < np.abs(result["u.1"]).max() < 6e-3


@pytest.mark.parametrize("method", [mkr_alpha(0.5), cr(), newmark(), newmark_explicit()])
def test_no_passive_structure_passes_the_bound_of_its_energy(method, rng):
    """The inequality in `Limits`, with the velocities of a run instead of the guard: √(2T) <= √(ιᵀMι) ∫|a| dt."""
    made = frame()
    loop = Loop(made, [Site("brace", made.story(1), bouc_wen(k=4e7, d_y=2e-3))], method=method, dt=1 / 512)
    motion = rng.normal(size=4000) * np.sin(np.linspace(0, np.pi, 4000))
    motion[:4] = 0.0, 30.0, 30.0, 0.0  # a blow: nothing gives more speed for its impulse
    result = loop.run(motion)
    v = np.column_stack([result[f"v.{k}"] for k in (1, 2, 3)])
    root = np.sqrt(np.sum(4e4 * v**2, axis=1))
    bound = np.sqrt(3 * 4e4) * np.cumsum(np.abs(motion)) / 512
    assert (root[3:] <= bound[3:]).all()
    assert root[4] > 0.95 * bound[4]


def test_a_collapse_under_p_delta_is_a_fault():
    weak = shear_frame([4e4], [1e6], gravity=[4.5e6], heights=[3.0])  # k - P/h is negative
    with pytest.raises(RunFailed) as caught:
        Loop(weak, method=mkr_alpha(1.0), dt=DT).run(ground(3000, 0.1))
    assert caught.value.reason in ("energy", "displacement")


def test_free_vibration_is_no_fault():
    made = frame()
    loop = Loop(made, method=newmark_explicit(), dt=1 / 512)
    assert not loop.run(np.zeros(5000), u0=[0.1, 0.2, 0.25], v0=[1.0, -2.0, 3.0]).fault


def test_a_load_on_a_degree_of_freedom_without_mass_is_not_judged_by_energy():
    made = Structure(M=[1e3, 0.0], K=[[2e5, -1e5], [-1e5, 1e5]], loads=[[0.0], [1.0]])
    loop = Loop(made, method=mkr_alpha(0.75), dt=0.01)
    push = np.column_stack([np.zeros(500), np.full(500, 1e4)])
    assert loop.run(push)["u.2"][-1] == pytest.approx(0.2, rel=0.5)


def test_displacement_bound_can_be_moved():
    made = Structure(M=[1.0], K=[[1.0]])
    motion = -100.0 * np.ones(2000)
    with pytest.raises(RunFailed, match="degree of freedom '1' moved by more than 10") as caught:
        Loop(made, method=newmark_explicit(), dt=0.01).run(motion)
    assert caught.value.reason == "displacement" and caught.value.where == "1"
    loose = Loop(made, method=newmark_explicit(), dt=0.01, limits=Limits(max_u=1e3))
    assert loose.run(motion)["u.1"].max() == pytest.approx(200.0, rel=1e-3)  # twice the static displacement


def test_drift_limit_names_the_story_and_stops_at_the_first_step_beyond_it():
    made = frame()
    limit = 0.02
    drifts = {f"story {k}": Drift(made.story(k), limit) for k in (1, 2, 3)}
    free = Loop(made, method=mkr_alpha(), dt=DT).run(ground(peak=6.0))
    drift = np.column_stack([free["u.1"], free["u.2"] - free["u.1"], free["u.3"] - free["u.2"]])
    first = int(np.argmax((np.abs(drift) > limit).any(axis=1)))
    story = int(np.argmax(np.abs(drift[first]) > limit)) + 1
    with pytest.raises(RunFailed, match=f"the drift of story {story} passed its limit of 0.02 m") as caught:
        Loop(made, method=mkr_alpha(), dt=DT, limits=Limits(drifts=drifts)).run(ground(peak=6.0))
    assert first > 0 and caught.value.step == first and caught.value.where == f"story {story}"
    assert len(caught.value.result) == first + 1


@pytest.mark.parametrize(
    "bad",
    [{"max_u": 0.0}, {"max_energy": -1.0}, {"max_imbalance": np.nan}, {"drifts": {"story 1": Drift(np.ones(3), 0.0)}}],
)
def test_limits_must_be_positive(bad):
    with pytest.raises(OutOfBounds, match="must be positive"):
        Limits(**bad)


def test_a_drift_of_another_structure_is_refused():
    with pytest.raises(BadShape, match=r"drift 'roof'.*3 finite numbers"):
        Loop(frame(), method=mkr_alpha(), dt=DT, limits=Limits(drifts={"roof": Drift(np.ones(2), 0.1)}))


@block(
    inputs={"d": "m"},
    outputs={"f": "N"},
    state={"t": "s"},
    params={"F": Param("N", 1e4), "omega": Param("rad/s", 10.0)},
    reference="a shaker",
)
def shaker(x, u, dt, p):
    """f = -F sin ωt."""
    t = x[0] + dt
    return (-p[0] * np.sin(p[1] * t),), (t,)


def test_a_device_that_drives_the_structure_needs_the_energy_bound_off():
    made = Structure(M=[1e3], K=[[1e5]])
    sites = [Site("shaker", [1.0], shaker(F=200.0, omega=10.0))]
    with pytest.raises(RunFailed, match="if a device drives the structure, raise max_energy") as caught:
        Loop(made, sites, method=newmark_explicit(), dt=1e-3).run(np.zeros(20_001))
    assert caught.value.reason == "energy"
    free = Loop(made, sites, method=newmark_explicit(), dt=1e-3, limits=Limits(max_energy=np.inf))
    u = free.run(np.zeros(20_001))["u.1"]
    t = np.arange(20_001) * 1e-3
    resonance = 200.0 / (2 * 1e5) * (np.sin(10 * t) - 10 * t * np.cos(10 * t))  # undamped, from rest
    assert np.abs(u - resonance).max() < 2e-3 * np.abs(resonance).max()
