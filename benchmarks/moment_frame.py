"""The two-story RC frame with four dampers in each story, in hyloop and in OpenSees: time of a step, and agreement.

``python -m benchmarks.moment_frame --verify`` pushes the frame to and fro, shakes it until its bars yield, and compares
with OpenSees (Newmark's average acceleration, Newton's method, a refined step) for a series of steps; about a minute.
"""

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from benchmarks import frame8
from benchmarks.measure import interleaved, report
from hyloop import Loop, Site
from hyloop.buildings.moment_frame import ES, FY, damper
from hyloop.buildings.moment_frame import moment_frame as two_stories
from hyloop.data import data_folder
from hyloop.devices import bilinear
from hyloop.hazards import read_record
from hyloop.integrators import mkr_alpha
from hyloop.metrics import nrmse
from hyloop.structure import rayleigh
from hyloop.structure.frames.model import Model
from hyloop.structure.structure import Structure

__all__ = ["moment_frame"]

ROOT = Path(__file__).resolve().parents[1]
RATIO, RHO, DT = 0.02, 0.75, 1 / 1024
STIFFNESS, HARDENING, SLIP, COUNT = 1e7, 0.02, 18e3, 4  # of one damper, and their number in a story
RECORD, FACTOR = "kobe-nishi-akashi_1.AT2", 1.5
COLUMN = "column A1"
STRONG = 6.0  # m/s2, amplitude of the motion used for times: bars yield and dampers slip in every cycle


def coefficients(structure: Structure) -> tuple[float, float]:
    """a0 and a1 of Rayleigh damping a0 M + a1 K in both modes, K uncracked."""
    first, second = structure.modes().omega
    return 2 * RATIO * first * second / (first + second), 2 * RATIO / (first + second)


def loop(dt: float = DT) -> Loop:
    structure = two_stories().structure(lambda s: rayleigh(s, RATIO))
    law = bilinear(k=STIFFNESS, alpha=HARDENING, f_y=SLIP)
    sites = [Site(f"damper{s}", damper(structure, s), law, count=COUNT) for s in (1, 2)]
    return Loop(structure, sites, method=mkr_alpha(RHO), dt=dt)


def damped() -> Model:
    """The model with its dampers as members, as OpenSees has them."""
    model = two_stories()
    law = bilinear(k=COUNT * STIFFNESS, alpha=HARDENING, f_y=COUNT * SLIP)
    for s, below in ((1, "A0"), (2, "M1")):
        model.spring(f"damper{s}", below, f"M{s}", law, dof="ux")
    return model


def peer(model: Model) -> Any:
    """The same model in OpenSees; its builder lies among the oracles of the tests."""
    sys.path.insert(0, str(ROOT / "tests"))
    builder = import_module("oracles.opensees_moment_frame").OpenSeesMomentFrame
    frame8.opensees().logFile(os.devnull, "-noEcho")  # it has a line to say about each member without length
    made = builder(model)
    made.gravity()
    return made


# time of a step


def moment_frame() -> dict[str, Any]:
    """One step of the frame, bars yielding: live, beside OpenSees' implicit and explicit ones."""
    t = np.arange(40_000) * DT
    ground = STRONG * np.sin(2 * np.pi * 1.7 * t) * np.minimum(t, 1.0)
    running, rows = loop(), ground[:, None].copy()
    jobs: dict[str, Callable[[], Any]] = {"hyloop": _steps(running, rows, 1000)}
    if frame8.opensees():
        a = coefficients(running.structure)
        implicit = {"integrator": ("Newmark", 0.5, 0.25), "algorithm": "Newton", "system": "BandGeneral"}
        # it needs a mass in every degree of freedom and a full matrix
        explicit = {
            "integrator": ("KRAlphaExplicit", RHO, "-updateElemDisp"),
            "algorithm": "Linear",
            "system": "FullGeneral",
        }
        jobs["OpenSees Newmark, Newton"] = _peer_steps(damped(), ground, a, implicit, 100)
        jobs["OpenSees KRAlphaExplicit"] = _peer_steps(with_mass_everywhere(damped()), ground, a, explicit, 100)
    return report("moment-frame", interleaved(jobs, repeats=15))


def with_mass_everywhere(model: Model) -> Model:
    """A thousandth of the floor's mass in each degree of freedom without any: the response changes by 0.1 %."""
    for node in ("A1", "M1", "B1", "A2", "M2", "B2"):
        m = 15.0
        model.mass(node, uy=m, rz=0.1 * m, **({} if node.startswith("M") else {"ux": m}))
    return model


def _steps(running: Loop, rows: np.ndarray, count: int) -> Callable[[], np.ndarray]:
    """Live steps, going on through the history from call to call."""
    running.start(rows[0])
    following = iter(rows[1:])
    return lambda: _timed(lambda: running.step(next(following)), count)


def _peer_steps(
    model: Model, ground: np.ndarray, a: tuple[float, float], options: dict[str, Any], count: int
) -> Callable[[], np.ndarray]:
    """OpenSees holds one model at a time: build it anew, run up to where bars yield, then time steps."""

    def job() -> np.ndarray:
        frame = peer(model)
        frame.shake(ground, DT, *a, **options)
        frame.step(1024)
        return _timed(frame.step, count)

    return job


def _timed(step: Callable[[], Any], count: int) -> np.ndarray:
    times = np.empty(count)
    for k in range(count):
        begin = perf_counter_ns()
        step()
        times[k] = perf_counter_ns() - begin
    return times * 1e-9


# agreement


def earthquake(seconds: float, skip: float, dt: float) -> np.ndarray:
    """The record at half scale (time times √0.5) from `skip` on, faded in over a quarter of a second."""
    folder = data_folder()
    if folder is None:
        raise SystemExit("no records: set HYLOOP_DATA to the folder that holds ground_motions.")
    motion = read_record(folder / "ground_motions" / RECORD)
    t = np.arange(round(seconds / dt) + 1) * dt
    return FACTOR * np.interp(skip + t, motion.time * np.sqrt(0.5), motion.a) * np.minimum(t / 0.25, 1.0)


def shaken(ground: np.ndarray, dt: float) -> np.ndarray:
    """Columns M1.ux, M2.ux, forces of the dampers of a story, curvature and moment at the foot of a column."""
    running = loop(dt)
    watch = two_stories().watch(running.structure, sections={"foot": (COLUMN, "i")})
    result = running.replace(watch=watch).run(ground)
    return np.column_stack(
        [
            result["u.M1.ux"],
            result["u.M2.ux"],
            COUNT * result["damper1.f"],
            COUNT * result["damper2.f"],
            result["foot.curvature"],
            result["foot.moment"],
        ]
    )


COMPARED = ("roof", "drift 1", "drift 2", "damper 1", "damper 2", "curvature", "moment")


def compared(h: np.ndarray) -> np.ndarray:
    return np.column_stack([h[:, 1], h[:, 0], h[:, 1] - h[:, 0], h[:, 2:]])


def energies(h: np.ndarray) -> np.ndarray:
    """Work done on the dampers of each story."""
    c = compared(h)
    return np.array([np.sum((f[1:] + f[:-1]) / 2 * np.diff(d)) for d, f in ((c[:, 1], c[:, 3]), (c[:, 2], c[:, 4]))])


def verify(seconds: float, skip: float, step: float) -> None:
    """Print the errors of a series of steps against OpenSees at `step`, and those of OpenSees at twice that."""
    a = coefficients(two_stories().structure())
    theirs = {}
    for dt in (step, 2 * step):
        ground = earthquake(seconds, skip, dt)
        model = peer(damped())
        model.shake(ground, dt, *a)
        theirs[dt] = model.run(len(ground) - 1, ("damper1", "damper2"), COLUMN)
    truth = theirs[step]
    peak, at_yield = np.abs(compared(truth)).max(axis=0), FY / ES
    print(
        f"{RECORD} x {FACTOR}, {seconds:g} s; peaks: "
        + ", ".join(f"{n} {p:.4g}" for n, p in zip(COMPARED, peak, strict=True))
    )
    print(f"curvature over fy/(E d): {peak[5] * 0.17 / at_yield:.1f}")
    print("NRMSE in %".ljust(18) + "".join(name.rjust(11) for name in COMPARED) + "  energy 1   energy 2")
    base = 8 * step
    rows = {f"OpenSees 1/{0.5 / step:g}": (theirs[2 * step], 2 * step)}
    rows |= {
        f"hyloop 1/{1 / dt:g}": (shaken(earthquake(seconds, skip, dt), dt), dt)
        for dt in (8 * step, 4 * step, 2 * step, step, step / 2)
    }
    for name, (history, dt) in rows.items():
        pairs = zip(compared(truth)[:: round(base / step)].T, compared(history)[:: round(base / dt)].T, strict=True)
        errors = [100 * nrmse(x, y) for x, y in pairs]
        work = 100 * (energies(history) / energies(truth) - 1)
        print(name.ljust(18) + "".join(f"{e:11.4f}" for e in errors) + "".join(f"{w:+10.3f}%" for w in work))


def verify_pushover(amplitude: float = 0.06, cycles: int = 4, places: int = 3200) -> None:
    """The roof to and fro with growing amplitude; ours is moved slowly by a stiff spring."""
    t = np.linspace(0.0, 1.0, places + 1)
    path = amplitude * t * np.sin(2 * np.pi * cycles * t)
    truth = peer(two_stories()).push("M2", path)
    for steps in (1, 2, 4, 8):
        force = pushed(np.interp(np.linspace(0, 1, steps * places + 1), t, path))[::steps]
        print(f"pushover to {1e3 * amplitude:g} mm in {steps * places} steps: NRMSE {100 * nrmse(truth, force):.3f} %")


def pushed(path: np.ndarray, spring: float = 1e9, dt: float = 1e-3) -> np.ndarray:
    """Force on the roof along a path, by the engine as it runs in time, nearly without mass."""
    frame = two_stories().structure()
    roof = frame.dof("M2.ux")
    K, along = frame.K.copy(), np.zeros((frame.n, 1))
    K[roof, roof] += spring
    along[roof] = 1.0
    slow = replace(frame, M=1e-3 * frame.M, K=K, loads=along)
    load = np.column_stack([np.zeros(len(path)), spring * path])
    result = Loop(slow.with_damping(rayleigh(slow, RATIO)), method=mkr_alpha(0.5), dt=dt).run(load)
    return load[:, 1] - spring * result["u.M2.ux"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verify", action="store_true", help="compare the response with OpenSees")
    parser.add_argument("--seconds", type=float, default=6.0, help="of shaking")
    parser.add_argument("--skip", type=float, default=2.5, help="seconds left out before them")
    parser.add_argument("--step", type=float, default=1 / 2048, help="of OpenSees")
    given = parser.parse_args()
    if given.verify:
        verify_pushover()
        verify(given.seconds, given.skip, given.step)
    else:
        print(moment_frame())
