"""The eight-story shear frame with one Bouc-Wen brace, in hyloop and in OpenSees."""

import ctypes
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

import numpy as np

from hyloop import Loop, Site, shear_frame
from hyloop.devices import bouc_wen
from hyloop.integrators import newmark_explicit

STORIES, MASS, STIFFNESS, DT, STEPS = 8, 1e4, 2e7, 0.005, 4000
ALPHA_M, BETA_K = 0.6, 1e-3
YIELD, HARDENING, N = 3e-3, 0.05, 1.0


def ground() -> np.ndarray:
    motion = np.convolve(np.random.default_rng(1).normal(size=STEPS + 1), np.hanning(24) / 12, "same") * 4.0
    motion[0] = 0.0
    return motion


def loop() -> Loop:
    frame = shear_frame([MASS] * STORIES, [STIFFNESS] * STORIES)
    frame = frame.with_damping(ALPHA_M * frame.M + BETA_K * frame.K)
    brace = bouc_wen(k=STIFFNESS, alpha=HARDENING, d_y=YIELD, A=1.0, beta=0.5, gamma=0.5, n=N)
    return Loop(frame, [Site("brace", frame.story(1), brace)], method=newmark_explicit(), dt=DT)


def opensees() -> Any:
    """The module `openseespy.opensees`, or None where it is not installed."""
    found = importlib.util.find_spec("openseespylinux") if sys.platform.startswith("linux") else None
    if found and found.origin:
        # the wheel brings its own BLAS but does not say where it is
        ctypes.CDLL(str(Path(found.origin).parent / "lib" / "libblas.so.3"), mode=ctypes.RTLD_GLOBAL)
    if importlib.util.find_spec("openseespy") is None:
        return None
    import openseespy.opensees as ops

    return ops


def opensees_job(ops: Any, system: str) -> Callable[[], np.ndarray]:
    """The whole history as one `analyze` call; building the model is not timed."""
    motion = ground().tolist()

    def job() -> np.ndarray:
        ops.wipe()
        ops.model("basic", "-ndm", 1, "-ndf", 1)
        ops.node(0, 0.0)
        ops.fix(0, 1)
        ops.uniaxialMaterial("Elastic", 1, STIFFNESS)
        ops.uniaxialMaterial("BoucWen", 2, HARDENING, STIFFNESS, N, 0.5 / YIELD, 0.5 / YIELD, 1.0, 0.0, 0.0, 0.0)
        for i in range(1, STORIES + 1):
            ops.node(i, 0.0)
            ops.mass(i, MASS)
            ops.element("zeroLength", i, i - 1, i, "-mat", 1, "-dir", 1, "-doRayleigh", 1)
        ops.element("zeroLength", 100, 0, 1, "-mat", 2, "-dir", 1, "-doRayleigh", 0)
        ops.rayleigh(ALPHA_M, 0.0, BETA_K, 0.0)
        ops.timeSeries("Path", 1, "-dt", DT, "-values", *motion)
        ops.pattern("UniformExcitation", 1, 1, "-accel", 1)
        ops.constraints("Plain")
        ops.numberer("Plain")
        ops.system(system)
        ops.algorithm("Linear")
        ops.integrator("NewmarkExplicit", 0.5)
        ops.analysis("Transient")
        begin = perf_counter_ns()
        failed = ops.analyze(STEPS, DT)
        elapsed = (perf_counter_ns() - begin) * 1e-9
        assert failed == 0
        ops.wipe()
        return np.array([elapsed / STEPS])

    return job
