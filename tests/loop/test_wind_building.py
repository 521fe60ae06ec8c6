"""From wind to comfort: a building in space in the loop, against the exact answer of its modes."""

import numpy as np
from scipy.linalg import eigh
from scipy.signal import StateSpace, lsim

from hyloop.hazards import FloorWind, LoadHistory, WindBuilding, WindCoefficients, WindSite
from hyloop.integrators import newmark_explicit
from hyloop.loop import Loop
from hyloop.metrics import comfort
from hyloop.structure import Structure, rayleigh

METHOD = 1e-3  # relative, of peaks: explicit Newmark with 150 steps in the period of the highest mode that counts
N, DT = 5, 1 / 256
BODY = WindBuilding(np.arange(1, N + 1) * 20.0, 32.6, 51.7, master=(1.6, 2.6))


def building():
    """Five floors that sway both ways and turn; the masters stand away from the axes of the springs."""
    chain = 2.0 * np.eye(N) - np.eye(N, k=1) - np.eye(N, k=-1)
    chain[-1, -1] = 1.0
    mass, (x, z) = 6e6, BODY.master
    r2 = (32.6**2 + 51.7**2) / 12.0
    # springs of a story in the middle of the plan: u_x + ry r_z and u_z - ry r_x, with r from the master
    there = np.array([[1.0, 0.0, -z], [0.0, 1.0, x], [0.0, 0.0, 1.0]])
    story = there.T @ np.diag([1.5e8, 4e8, 1.2e11]) @ there
    structure = Structure(
        np.tile([mass, mass, mass * r2], N), np.kron(chain, story), influence=np.tile([1.0, 0.0, 0.0], N), names=BODY.at
    )
    return structure.with_damping(rayleigh(structure, 0.02))


def exact(structure, loads):
    """Accelerations by modes, exact for loads that are linear between samples."""
    w2, shapes = eigh(structure.K, structure.M)
    t = np.arange(round(loads.duration / DT) + 1) * DT
    F = np.column_stack([np.interp(t, loads.time, column) for column in loads.values.T]) @ shapes
    damping = np.einsum("ij,ik,kj->j", shapes, structure.C, shapes)
    q = []
    for k, (a, c) in enumerate(zip(w2, damping, strict=True)):
        system = StateSpace([[0.0, 1.0], [-a, -c]], [[0.0], [1.0]], [[-a, -c]], [[1.0]])
        q.append(lsim(system, F[:, k], t)[1])
    return np.array(q).T @ shapes.T


def test_wind_in_the_loop():
    structure = building()
    wind = FloorWind(BODY, WindSite(50.0), np.pi / 4, WindCoefficients(eccentricity=0.05))
    loads = wind.sample(120.0, 1 / 16, 2, up=20.0, down=20.0)
    result = Loop(structure.with_loads(loads), [], method=newmark_explicit(), dt=DT).run(loads)
    a = exact(structure, loads)
    truth = {f"a.{name}": a[:, k] for k, name in enumerate(BODY.at)}
    how = {"length_x": 32.6, "length_z": 51.7, "master": BODY.master, "frequency": 0.2}
    rows = zip(*(comfort(one, BODY.floors, **how) for one in (result, truth)), strict=True)
    for found, expected in rows:
        assert found.corner == expected.corner
        for key in ("centre_peak", "centre_rms", "corner_peak", "corner_rms"):
            assert abs(getattr(found, key) / getattr(expected, key) - 1.0) < METHOD, (found.floor, key)
        assert expected.corner_peak > expected.centre_peak


def test_the_mean_wind_moves_it_as_statics_say():
    """The mean alone, after a ramp over forty periods."""
    structure = building()
    wind = FloorWind(BODY, WindSite(50.0), np.pi / 4, WindCoefficients(eccentricity=0.1))
    steady = LoadHistory(np.tile(wind.mean.ravel(), (401, 1)), 1.0, BODY.at).ramped(up=200.0)
    loop = Loop(structure.with_loads(steady), [], method=newmark_explicit(), dt=DT)
    result = loop.run(steady, record=["u.*"])
    last = np.array([result[f"u.{name}"][-1] for name in BODY.at])
    static = np.linalg.solve(structure.K, wind.mean.ravel())
    assert np.abs(last - static).max() < 1e-3 * np.abs(static).max()
    assert static[-3] < 0.0 and static[-2] < 0.0  # to the south-west
