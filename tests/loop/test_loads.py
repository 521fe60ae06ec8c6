"""Load histories in a loop: closed forms, names, what they may bring in energy, and what is refused."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from hyloop import Loop, Structure, shear_frame
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.hazards import GroundMotion, LoadHistory, harmonic_load
from hyloop.integrators import mkr_alpha, newmark
from hyloop.loop.limits import UNBOUNDED, impulses

SECOND_ORDER = 1e-3  # of the peak, with 300 steps to a period
ROUND_OFF = 1e-12

MASS, OMEGA, RATIO = 2e3, 9.0, 0.04


def oscillator(**more):
    return Structure([MASS], [[MASS * OMEGA**2]], C=[[2 * RATIO * OMEGA * MASS]], names=["top"], **more)


def closed_form(t, force, w):
    """Damped oscillator from rest under force · sin w t: steady state, and what fades."""
    beta, k = w / OMEGA, MASS * OMEGA**2
    size = force / k / ((1 - beta**2) ** 2 + (2 * RATIO * beta) ** 2)
    a, b = size * (1 - beta**2), -size * 2 * RATIO * beta
    wd = OMEGA * np.sqrt(1 - RATIO**2)
    c1 = -b
    c2 = (RATIO * OMEGA * c1 - a * w) / wd
    fading = np.exp(-RATIO * OMEGA * t) * (c1 * np.cos(wd * t) + c2 * np.sin(wd * t))
    return a * np.sin(w * t) + b * np.cos(w * t) + fading


@pytest.mark.parametrize("method", [mkr_alpha(1.0), newmark()])
def test_a_harmonic_load_on_an_oscillator_is_the_closed_form(method):
    dt = 2 * np.pi / OMEGA / 300
    load = harmonic_load({"top": 700.0}, 1.1, dt, cycles=(0, 8, 0))
    result = Loop(oscillator().with_loads(load), method=method, dt=dt).run(load)
    assert result.units[result.names.index("load.top")] == "N"
    truth = closed_form(result.time, 700.0, 2 * np.pi * 1.1)
    assert np.abs(result["u.top"] - truth).max() < SECOND_ORDER * np.abs(truth).max()


def test_motions_and_loads_of_other_steps_and_lengths_are_put_side_by_side():
    frame = shear_frame([1e4, 1e4], [4e6, 4e6])
    motion = GroundMotion(np.linspace(0.0, 1.0, 11), 0.02)
    load = LoadHistory([[1.0], [3.0]], 0.05, ("story 2",))
    loop = Loop(frame.with_loads(load), method=mkr_alpha(), dt=0.01)
    result = loop.run([motion, load])
    assert len(result.time) == 21
    assert result["ground"][5] == pytest.approx(0.25)
    assert result["load.story 2"][:7] == pytest.approx([1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 0.0])
    twice = loop.run([load, load])
    assert twice["load.story 2"][0] == 2.0 and not twice["ground"].any()


@pytest.mark.parametrize("thin", [False, True])
def test_many_loads_with_few_entries_give_what_one_column_of_all_gives(thin, rng):
    n = 24
    frame = shear_frame(np.full(n, 1e4), np.full(n, 4e6))
    frame = Structure(csr_array(frame.M), csr_array(frame.K)) if thin else frame
    values = rng.normal(size=(300, 1)) * rng.normal(size=n) * 1e3
    load = LoadHistory(values, 0.01, frame.names)
    loop = Loop(frame.with_loads(load), method=mkr_alpha(), dt=0.01)
    assert loop._plan.full_excitations == 1 and len(loop._plan.load_dof) == n, "the ground is full, loads are not"
    one = Structure(frame.M, frame.K, loads=values[:1].T / values[0, 0])
    whole = Loop(one, method=mkr_alpha(), dt=0.01).run(np.hstack([np.zeros((300, 1)), values[:, :1]]))
    parts = loop.run(load)
    assert np.abs(parts["u.24"] - whole["u.24"]).max() < 100 * ROUND_OFF * np.abs(whole["u.24"]).max()


def test_a_load_may_bring_what_the_masses_it_moves_allow():
    """A free body with an eccentric mass: the energy under a constant force is t² FᵀM⁻¹F / 2, for ever."""
    M = np.array([[4e3, 1e3], [1e3, 2e3]])
    free = Structure(M, 1e-6 * np.eye(2), names=["ux", "turn"]).with_loads(["ux", "turn"])
    assert impulses(free)[1:] == pytest.approx(np.sqrt(np.diag(np.linalg.inv(M))))
    thin = Structure(csr_array(M), csr_array(1e-6 * np.eye(2)), names=["ux", "turn"]).with_loads(["ux", "turn"])
    assert impulses(thin) == pytest.approx(impulses(free))
    rows = np.zeros((400, 3))
    rows[:, 1] = 3e4
    result = Loop(free, method=mkr_alpha(), dt=0.001).run(rows)
    v = np.array([result["v.ux"][-1], result["v.turn"][-1]])
    t = result.time[-1]
    assert v @ M @ v == pytest.approx((3e4 * t) ** 2 * np.linalg.inv(M)[0, 0], rel=1e-3)


def test_a_load_where_there_is_no_mass_has_no_bound():
    light = Structure([1e3, 0.0], [[2e5, -1e5], [-1e5, 1e5]]).with_loads(["1", "2"])
    assert impulses(light)[1] == pytest.approx(1e3**-0.5)
    assert impulses(light)[2] == UNBOUNDED


def test_places_of_loads():
    frame = shear_frame([1.0, 1.0], [1.0, 1.0])
    assert [frame.place(name) for name in ("2", "story 1", "story 2")] == [1, 0, 1]
    space = Structure(np.ones(3), np.eye(3), names=["F.ux", "F.uz", "F.ry"], floors=["F.ux"])
    assert [space.place(f"story 1.{dof}") for dof in ("ux", "uz", "ry")] == [0, 1, 2]
    with pytest.raises(OutOfBounds, match="stories run from 1 to 2"):
        frame.place("story 3")
    with pytest.raises(UnknownName, match=r"'story 1.uy'.*story 1.ry, story 1.ux"):
        space.place("story 1.uy")
    with pytest.raises(BadInput, match="does not know its floors"):
        Structure([1.0], [[1.0]]).place("story 1")
    with pytest.raises(UnknownName, match="unknown degree of freedom 'roof'"):
        frame.with_loads(["roof"])


def test_loads_keep_their_names_and_are_there_once():
    frame = shear_frame([1.0, 1.0], [1.0, 1.0]).with_loads(["2"]).with_loads(["2", "1"])
    assert frame.load_names == ("2", "1") and frame.loads.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    assert frame.excitation_names == ("ground", "load.2", "load.1")
    with pytest.raises(BadInput, match="have no names"):
        Structure([1.0], [[1.0]], loads=[[1.0]]).with_loads(["1"])
    with pytest.raises(BadShape, match="load_names: 1 different names"):
        Structure([1.0], [[1.0]], loads=[[1.0]], load_names=["a", "b"])
    with pytest.raises(BadShape, match="directions: 2 different names"):
        Structure([1.0, 1.0], np.eye(2), influence=np.eye(2), directions=["x", "x"])


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ([GroundMotion([1.0], 0.01)] * 2, BadShape, r"2 ground motion\(s\) for 1 direction"),
        ([LoadHistory([1.0], 0.01, "bottom")], UnknownName, "loads 'loads': unknown load 'bottom'"),
        ([LoadHistory([1.0], 0.01, "top"), 3.0], BadInput, "holds GroundMotion and LoadHistory, got 3.0"),
    ],
)
def test_what_does_not_go_together_is_refused(given, error, said):
    loop = Loop(oscillator().with_loads(["top"]), method=mkr_alpha(), dt=0.01)
    with pytest.raises(error, match=said):
        loop.run(given)


def test_a_history_without_a_place_says_what_to_do():
    with pytest.raises(UnknownName, match=r"structure.with_loads\(history\)"):
        Loop(oscillator(), method=mkr_alpha(), dt=0.01).run(LoadHistory([1.0, 2.0], 0.01, "top"))


def test_one_number_starts_all_excitations():
    loop = Loop(oscillator().with_loads(["top"]), method=mkr_alpha(), dt=0.01)
    loop.start()
    assert loop["ground"] == loop["load.top"] == 0.0
