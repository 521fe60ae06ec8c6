"""The same test in hyloop's own loop: structure, sites and blocks instead of the compiled steps of `loop.py`.

In an explicit loop the displacement of a step is there before the force of that step, so the structure is integrated by
the method of Chen and Ricles. With z the shift by a step, its response is 4z/(z+1)² times that of the method of average
acceleration; forces and ground motion averaged by (z+1)²/4z make it the same. A command takes one step at least to
reach the plant, so this is the benchmark with a dead time; the distributed one, without any, is left to `loop.py`.
"""

import numpy as np
from scipy.linalg import expm

from hyloop import FreeBlock, Loop, Site, Structure
from hyloop.core.block import Param, inplace_block
from hyloop.core.noise import normal_pair
from hyloop.integrators import cr
from hyloop.transfer import delay, handed_on, state_space

from .cases import SCALE, Variant, controller
from .frame import DT, NODE, Frame, Specimen, ground, numerical, specimen
from .loop import NOISE, simulate, to_actuators, to_node
from .plant import Plant, continuous
from .references import Controller

__all__ = ["held", "largest_difference", "loop_of", "motions"]

AHEAD = 2  # ticks: the loop's first tick makes the first force, and its second the first displacement


@inplace_block(
    inputs={"x": "m", "r": "rad"},
    outputs={"t1": "mm", "t2": "mm"},
    params={},
    reference="Rigid coupler of the benchmark.",
)
def targets(x, u, dt, p, y):
    """Displacements of the actuators that would move the node as the structure does."""
    y[0], y[1] = to_actuators(u[0], u[1])


@inplace_block(
    inputs={"y1": "mm", "y2": "mm", "p1": "mm", "p2": "mm"},
    outputs={"m1": "mm", "m2": "mm", "e1": "mm", "e2": "mm"},
    state={"ticks": "-"},
    params={
        "noise": Param("mm", NOISE, 0.0, about="standard deviation of both"),
        "seed": Param("-", 0.0, 0.0, about="of the noise"),
        "independent": Param("-", 0.0, 0.0, 1.0, about="1: each has its own noise"),
        **{f"g{i}{j}": Param("-", float(i == j), about="weight of a measurement") for i in (1, 2) for j in (1, 2)},
    },
    reference="Sensors of the benchmark.",
)
def sensors(x, u, dt, p, y):
    """What is measured of both actuators, and the estimate of the controller with it."""
    first, second = normal_pair(p[1], x[0])
    x[0] += 1.0
    y[0] = u[0] + p[0] * first
    y[1] = u[1] + p[0] * (second if p[2] > 0.0 else first)
    for i in range(2):
        y[2 + i] = u[2 + i] + p[3 + 2 * i] * (y[0] - u[2]) + p[4 + 2 * i] * (y[1] - u[3])


@inplace_block(
    inputs={"e1": "mm", "e2": "mm"},
    outputs={"f1": "N", "f2": "N m", "f3": "N m"},
    state={"x": "m", "r": "rad", "x_rate": "m/s", "r_rate": "rad/s"},
    params={},
    memory=6 + 18,
    reference="Specimen of the benchmark.",
)
def portal(x, u, dt, p, y):
    """Forces of the specimen from the estimated motion, averaged over three ticks; its matrices lie in the memory."""
    q = to_node(u[0], u[1])
    before, last, forces = x[4:7], x[7:10], x[10:].reshape((3, 3, 2))
    for i in range(3):
        y[i] = 0.25 * (2.0 * last[i] + before[i])
        before[i], last[i] = last[i], 0.0
    for j in range(2):
        rate = (q[j] - x[j]) / dt
        for i in range(3):
            last[i] += forces[0, i, j] * q[j] + forces[1, i, j] * rate + forces[2, i, j] * (rate - x[2 + j]) / dt
        x[j], x[2 + j] = q[j], rate
    for i in range(3):
        y[i] += 0.25 * last[i]


def loop_of(
    part: Frame,
    frame: Specimen,
    plant: Plant,
    chosen: Controller,
    *,
    dead_time: int,
    noise: float = NOISE,
    seed: int = 0,
    independent: bool = False,
) -> Loop:
    """The virtual test as a `Loop`; `plant` in continuous time, other arguments as in `loop.simulate`."""
    n = len(part.M)
    influence = np.divide(part.load, part.M.diagonal(), out=np.zeros(n), where=part.M.diagonal() > 0.0)
    sites = [
        Site(name, sign * np.eye(n)[dof - 1], handed_on(), wiring={"f": f"portal.{force}"})
        for name, dof, sign, force in zip("xrc", NODE, (1.0, -1.0, -1.0), ("f1", "f2", "f3"), strict=True)
    ]
    weights = {f"g{i}{j}": chosen.blend[i - 1, j - 1] for i in (1, 2) for j in (1, 2)}
    matrices = [(matrix @ frame.T)[:3].ravel() for matrix in (frame.K, frame.C, frame.M)]
    blocks = [
        FreeBlock("targets", targets(), {"x": "x.d", "r": "r.d"}),
        FreeBlock("controller", chosen.block, _pair("t", "targets.t") | _pair("m", "sensors.m")),
        *(FreeBlock(f"line{i}", delay(tau=(dead_time - 1) * DT), {"d": f"controller.u{i}"}) for i in (1, 2)),
        FreeBlock("plant", state_space(*plant, hold="step"), {"d1": "line1.d", "d2": "line2.d"}),
        FreeBlock(
            "sensors",
            sensors(noise=noise, seed=seed, independent=float(independent), **weights),
            _pair("y", "plant.d") | _pair("p", "controller.p"),
        ),
        FreeBlock("portal", portal(memory=np.concatenate([np.zeros(6), *matrices])), _pair("e", "sensors.e")),
    ]
    return Loop(Structure(part.M, part.K, part.C, influence), sites, method=cr(), dt=DT, blocks=blocks)


def _pair(key: str, channel: str) -> dict[str, str]:
    return {f"{key}{i}": f"{channel}{i}" for i in (1, 2)}


def motions(loop: Loop, ag: np.ndarray) -> dict[str, np.ndarray]:
    """Run it; targets, true motions, commands and the sway of storey 2 by the names of `loop.CHANNELS`."""
    padded = np.concatenate([np.zeros(AHEAD), ag, np.zeros(1)])
    averaged = 0.25 * (padded[2:] + 2.0 * padded[1:-1] + padded[:-2])
    names = {"target": "targets.t", "command": "controller.u", "true": "plant.d"}
    channels = {f"{name}{i}": f"{channel}{i}" for name, channel in names.items() for i in (1, 2)} | {"x2": "u.26"}
    rows = loop.run(np.concatenate([[0.0], averaged]), record=list(channels.values()))
    # the plant moves on within a tick, so what it shows belongs to the next step
    first = {name: AHEAD - name.startswith("true") for name in channels}
    return {name: rows[channel][first[name] :][: len(ag)] for name, channel in channels.items()}


def held(plant: Plant) -> Plant:
    """One step of a plant under a held command, exactly."""
    n = len(plant.A)
    both = expm(DT * np.block([[plant.A, plant.B], [np.zeros((2, n + 2))]]))
    return Plant(both[:n, :n], both[:n, n:], plant.C)


def largest_difference(scheme: str, variant: Variant, seconds: float) -> float:
    """Between both loops with the nominal plant, of any channel, over the largest value of that channel."""
    ag, portal_ = SCALE * ground("elcentro")[: int(seconds / DT)], specimen().scaled(variant.factor)
    chosen = controller(scheme, variant.dead_time)
    settings = {"dead_time": variant.dead_time, "independent": variant.independent, "seed": 7}
    ours = motions(loop_of(numerical(), portal_, continuous(), chosen, **settings), ag)
    steps = simulate(numerical(), portal_, held(continuous()), chosen.block, ag, blend=chosen.blend, **settings)
    return max(float(np.abs(ours[name] - steps[name]).max() / np.abs(steps[name]).max()) for name in ours)
