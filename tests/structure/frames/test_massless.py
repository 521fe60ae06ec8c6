"""Degrees of freedom without mass: statics where they are free of loads, a filter of the method where they are not.

docs/frames.md tells a user what is measured here.
"""

import numpy as np
import pytest

from hyloop.devices import bilinear
from hyloop.integrators import mkr_alpha
from hyloop.loop import Limits, Loop, Site
from hyloop.structure import ElasticSection, Model, Structure, eliminate, rayleigh

STATICS = 1e-9  # of the largest displacement: round-off over a thousand steps
STIFFNESS = 1e7


def portal():
    """A portal frame with masses on its columns and a node M in the beam that has none."""
    column, beam = ElasticSection(2e11, 1e-2, 1e-4), ElasticSection(2e11, 8e-3, 8e-5)
    model = Model()
    for name, x, y in (("A0", 0.0, 0.0), ("B0", 6.0, 0.0), ("A1", 0.0, 3.5), ("M", 2.0, 3.5), ("B1", 6.0, 3.5)):
        model.node(name, x, y)
    for line in "AB":
        model.support(f"{line}0")
        model.elastic(f"column {line}", f"{line}0", f"{line}1", column)
        model.mass(f"{line}1", ux=2e4, uy=2e4)
    model.elastic("left", "A1", "M", beam)
    model.elastic("right", "M", "B1", beam)
    return model


def shaking(dt, duration=8.0):
    """Thirty sines of 0.5 to 8 Hz under a bell, about 0.3 g."""
    rng, t = np.random.default_rng(1), np.arange(round(duration / dt) + 1) * dt
    waves = zip(rng.uniform(0.5, 8.0, 30), rng.uniform(0.0, 2 * np.pi, 30), strict=True)
    return 0.8 * np.exp(-(((t - 3.0) / 2.0) ** 2)) * sum(np.sin(2 * np.pi * f * t + phase) for f, phase in waves)


def error(ours, fine, every):
    """Root mean square of the difference over that of the fine response."""
    fine = fine[::every]
    return float(np.sqrt(np.mean((ours - fine) ** 2) / np.mean(fine**2)))


def test_without_loads_on_them_they_follow_statics_at_any_step():
    structure = portal().structure()
    structure = structure.with_damping(0.3 * structure.M)
    u = Loop(structure, method=mkr_alpha(0.75), dt=1 / 64).run(shaking(1 / 64), record=["u.*"]).data
    massive = np.flatnonzero(structure.M.diagonal())
    _, T = eliminate(structure.K, massive)
    assert np.abs(u - u[:, massive] @ T.T).max() < STATICS * np.abs(u).max()


@pytest.mark.parametrize("rho_inf, settled", [(0.0, 3), (0.5, 7), (0.75, 16)])
def test_a_step_of_load_on_one_rings_for_many_steps(rho_inf, settled):
    """Statics: F/k at once. The method: nothing, then two to three times that, settled to 1 % after many steps."""
    steps = 60
    structure = Structure(M=[0.0], K=[[STIFFNESS]], influence=[0.0], loads=[[1.0]])
    load = np.column_stack([np.zeros(steps), np.append(0.0, np.full(steps - 1, STIFFNESS))])
    u = Loop(structure, method=mkr_alpha(rho_inf), dt=1 / 128).run(load, record=["u.*"]).data[:, 0]
    assert u[1] == 0.0 and u[2] > 1.9
    late = np.flatnonzero(np.abs(u - 1.0) > 0.01)[-1] + 1
    assert late == settled
    assert np.abs(u[-1] - 1.0) < 1e-6


def test_without_numerical_damping_such_a_step_never_settles():
    steps = 400
    structure = Structure(M=[0.0], K=[[STIFFNESS]], influence=[0.0], loads=[[1.0]])
    load = np.column_stack([np.zeros(steps), np.append(0.0, np.full(steps - 1, STIFFNESS))])
    unbounded = Limits(max_u=np.inf)
    u = Loop(structure, method=mkr_alpha(1.0), dt=1 / 128, limits=unbounded).run(load, record=["u.*"]).data[:, 0]
    assert np.abs(u[-2:]).min() > 0.9 * 2 * steps  # 4, -4, 8, -8, ... times what statics says


def test_a_device_on_one_costs_accuracy_there_first():
    """A yielding device under the beam: the roof is good to a few per cent at 1/128 s, the node M is not."""
    model = portal()

    def run(dt, rho_inf=0.75):
        structure = model.structure(damping=lambda s: rayleigh(s, 0.02))
        site = Site("device", model.direction(structure, "A0", "M", "uy"), bilinear(k=5e7, f_y=8e4))
        return Loop(structure, [site], method=mkr_alpha(rho_inf), dt=dt).run(shaking(dt), record=["u.*"])

    fine = run(1 / 4096)
    errors = {}
    for inverse in (128, 1024):
        coarse = run(1 / inverse)
        errors[inverse] = [error(coarse[c], fine[c], 4096 // inverse) for c in ("u.A1.ux", "u.M.uy")]
    roof, middle = errors[128]
    assert roof < 0.05 and middle > 3 * roof
    assert max(errors[1024]) < 0.01  # both converge
    undamped = run(1 / 128, rho_inf=1.0)
    assert error(undamped["u.M.uy"], fine["u.M.uy"], 32) > 5 * middle
