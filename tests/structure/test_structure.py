"""Modes, damping, P-Delta, condensation and similitude against closed forms."""

import numpy as np
import pytest

from hyloop.devices import bilinear
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.structure import Similitude, Structure, caughey, condense, modal, rayleigh, shear_frame, springs

EXACT = 1e-12


def test_modes_of_a_uniform_shear_beam():
    """ω_j = 2 sqrt(k/m) sin((2j - 1) π / (2 (2n + 1))) for n equal masses and stories."""
    n, m, k = 12, 3.0, 700.0
    omega = shear_frame([m] * n, [k] * n).modes().omega
    theory = 2 * np.sqrt(k / m) * np.sin((2 * np.arange(1, n + 1) - 1) * np.pi / (2 * (2 * n + 1)))
    assert np.allclose(omega, theory, rtol=EXACT * 100)


def test_mode_shapes_are_mass_normalised_and_diagonalise_the_stiffness():
    frame = shear_frame([2.0, 3.0, 1.0], [50.0, 40.0, 30.0])
    modes = frame.modes()
    assert np.allclose(modes.shapes.T @ frame.M @ modes.shapes, np.eye(3), atol=EXACT)
    assert np.allclose(modes.shapes.T @ frame.K @ modes.shapes, np.diag(modes.omega**2), atol=1e-9)


@pytest.mark.parametrize("n_modes", [2, 3, 4])
def test_damping_ratios_are_those_asked_for(n_modes):
    frame = shear_frame([2.0] * 5, [50.0] * 5)
    modes = frame.modes()
    chosen, ratios = np.arange(1, n_modes + 1), np.linspace(0.02, 0.05, n_modes)
    C = caughey(frame, ratios, chosen)
    modal_damping = modes.shapes.T @ C @ modes.shapes
    assert np.allclose(np.diag(modal_damping)[:n_modes] / (2 * modes.omega[:n_modes]), ratios, rtol=1e-9)
    assert np.abs(modal_damping - np.diag(np.diag(modal_damping))).max() < 1e-9


def test_rayleigh_is_the_closed_form():
    frame = shear_frame([2.0] * 3, [50.0] * 3)
    w1, w3 = frame.modes().omega[[0, 2]]
    a0, a1 = 2 * 0.05 * w1 * w3 / (w1 + w3), 2 * 0.05 / (w1 + w3)
    assert np.allclose(rayleigh(frame, 0.05, modes=(1, 3)), a0 * frame.M + a1 * frame.K, rtol=1e-12)


def test_rayleigh_counts_the_devices_where_asked():
    frame = shear_frame([2.0] * 2, [50.0] * 2)
    extra = 30.0 * np.outer(frame.story(1), frame.story(1))
    stiffer = Structure(frame.M, frame.K + extra)
    assert np.allclose(rayleigh(frame, 0.05, extra=extra), rayleigh(stiffer, 0.05))


def test_modal_damping_leaves_the_other_modes_alone():
    frame = shear_frame([2.0] * 4, [50.0] * 4)
    modes = frame.modes()
    ratios = np.diag(modes.shapes.T @ modal(frame, [0.01, 0.04]) @ modes.shapes) / (2 * modes.omega)
    assert np.allclose(ratios, [0.01, 0.04, 0.0, 0.0], atol=EXACT)
    every = np.diag(modes.shapes.T @ modal(frame, 0.03) @ modes.shapes) / (2 * modes.omega)
    assert np.allclose(every, 0.03)


def test_p_delta_softens_by_the_leaning_load():
    k, P, h = 1e6, 2e5, 4.0
    frame = shear_frame([1e4], [k], gravity=[P], heights=[h])
    assert frame.K[0, 0] == pytest.approx(k - P / h)
    tall = shear_frame([1e4] * 2, [k] * 2, gravity=[P, P], heights=[h, h])
    # story drifts under a roof force, from statics: (k - ΣP/h) drift = V
    drift = np.diff(np.linalg.solve(tall.K, [0.0, 1e3]), prepend=0.0)
    assert np.allclose(drift, [1e3 / (k - 2 * P / h), 1e3 / (k - P / h)])


def test_every_story_carries_the_loads_above_it():
    """Loads and heights that differ from floor to floor: story s loses (sum of the loads from s up)/h_s."""
    k, P, h = np.array([3e6, 2e6, 1e6]), np.array([1e5, 2e5, 4e5]), np.array([4.0, 3.0, 2.5])
    frame = shear_frame([1e4] * 3, k, gravity=P, heights=h)
    drift = np.diff(np.linalg.solve(frame.K, [0.0, 0.0, 1e3]), prepend=0.0)
    assert np.allclose(drift, 1e3 / (k - np.array([7e5, 6e5, 4e5]) / h))


@pytest.mark.parametrize(
    "wrong, error, words",
    [
        ({"gravity": 1e5}, BadShape, "needs heights too"),
        ({"heights": -3.0}, OutOfBounds, "heights .* must be positive"),
        ({"gravity": 1e5, "heights": 0.0}, OutOfBounds, "heights"),
        ({"stiffnesses": [1e6, -1.0]}, OutOfBounds, "stiffnesses"),
        ({"stiffnesses": [1e6]}, BadShape, "one length"),
    ],
)
def test_shear_frames_that_cannot_be_are_refused(wrong, error, words):
    with pytest.raises(error, match=words):
        shear_frame(**{"masses": [1e4] * 2, "stiffnesses": [1e6] * 2} | wrong)


def test_condensation_of_masses_keeps_the_load_of_the_ground():
    """Guyan: what is condensed moves with T, so the ground's load on what is kept is T' times all of it."""
    full = shear_frame([2.0, 3.0, 1.0], [30.0, 20.0, 15.0])
    small, T = condense(full, ["1", "3"])
    assert np.allclose(small.M, T.T @ full.M @ T, rtol=1e-12)
    assert np.allclose(small.excitation[:, 0], T.T @ full.excitation[:, 0], rtol=1e-12)
    assert np.allclose(T, [[1.0, 0.0], [20 / 35, 15 / 35], [0.0, 1.0]])


def test_condensations_that_cannot_be_are_refused():
    frame = shear_frame([1.0] * 3, [10.0] * 3)
    for keep in ([], ["1", "1"], ["1", 0]):
        with pytest.raises(BadInput, match="each degree of freedom to keep once"):
            condense(frame, keep)
    with pytest.raises(UnknownName, match="'4'"):
        condense(frame, ["4"])
    with pytest.raises(BadInput, match="has nonlinear elements; condense first"):
        condense(frame.with_elements(springs(bilinear(), frame.story(1))), ["1"])


def test_condensation_keeps_the_frequencies_when_the_rest_is_massless():
    """A column of three springs with masses at the ends of the outer ones only."""
    K = np.array([[30.0, -20.0, 0.0], [-20.0, 35.0, -15.0], [0.0, -15.0, 15.0]])
    full = Structure(np.diag([2.0, 0.0, 1.0]), K, names=["a", "joint", "b"])
    small, T = condense(full, ["a", "b"])
    series = 20.0 * 15.0 / 35.0  # the two springs at the massless joint act in series
    expected = np.array([[10.0 + series, -series], [-series, series]])
    assert np.allclose(small.K, expected, rtol=1e-12)
    assert np.allclose(small.modes().omega, full.modes().omega, rtol=1e-10)
    u = T @ np.linalg.solve(small.K, [1.0, 2.0])
    assert np.allclose(full.K @ u, [1.0, 0.0, 2.0], atol=EXACT * 100)
    assert np.allclose(small.excitation[:, 0], [-2.0, -1.0])


def test_half_scale_keeps_stress_and_acceleration():
    half = Similitude(0.5)
    frame = shear_frame([2e4] * 2, [4e6] * 2)
    frame = frame.with_damping(rayleigh(frame, 0.05))
    model = half.scale(frame)
    assert half.mass == 0.25 and half.force == 0.25 and half.acceleration == 1.0
    assert half.time == pytest.approx(np.sqrt(0.5))
    assert np.allclose(model.modes().periods, frame.modes().periods * half.time)
    # force = mass x acceleration and force = stiffness x length hold between the factors
    assert half.force == pytest.approx(half.mass * half.acceleration)
    assert half.force == pytest.approx(half.stiffness * half.length)
    assert half.force == pytest.approx(half.damping * half.velocity)
    assert half.energy == pytest.approx(half.force * half.length)
    ratios = np.diag(model.modes().shapes.T @ model.C @ model.modes().shapes) / (2 * model.modes().omega)
    assert np.allclose(ratios, 0.05)


def test_direction_vectors():
    frame = shear_frame([1.0] * 3, [1.0] * 3)
    assert frame.story(1).tolist() == [1.0, 0.0, 0.0]
    assert frame.story(3, factor=0.5).tolist() == [0.0, -0.5, 0.5]
    assert frame.between("3", "1").tolist() == [-1.0, 0.0, 1.0]
