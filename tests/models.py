"""Structures that several tests share."""

import numpy as np

from hyloop.devices.bwbn import bouc_wen_baber_noori
from hyloop.integrators import newmark_explicit
from hyloop.loop import Loop, Site
from hyloop.structure import rayleigh, shear_frame

__all__ = ["BRACE", "braced_frame", "braced_loop", "pulse"]

STORIES, MASS, COLUMNS, COSINE = 6, 36.19e3, 37.0e6, 0.894
# braces whose pinching appears over millimetres, so that the convergence of a method can be seen
BRACE = {
    "k0": 74.227e6,
    "beta": 180.0,
    "gamma": 80.0,
    "p": 1e-3,
    "psi": 2e-3,
    "delta_psi": 1e-7,
    "delta_nu": 5e-6,
    "delta_eta": 5e-6,
}


def braced_frame():
    """The six-story frame of Wang et al. (2020) with its braces' stiffness in the damping."""
    frame = shear_frame([MASS] * STORIES, [COLUMNS] * STORIES, gravity=[360e3] * STORIES, heights=[3.0] * STORIES)
    brace = bouc_wen_baber_noori(**BRACE)
    extra = sum(2 * brace.stiffness * np.outer(v, v) for v in _directions(frame))
    return frame.with_damping(rayleigh(frame, 0.05, extra=extra))


def _directions(frame):
    return [frame.story(s + 1, factor=COSINE) for s in range(STORIES)]


def braced_loop(method=None, dt=0.01, substeps=1):
    """Twelve braces, two in each story, every one a site of its own."""
    frame = braced_frame()
    sites = [
        Site(f"brace{2 * s + side}", direction, bouc_wen_baber_noori(**BRACE))
        for s, direction in enumerate(_directions(frame))
        for side in (1, 2)
    ]
    return Loop(frame, sites, method=method or newmark_explicit(), dt=dt, substeps=substeps)


def pulse(dt, duration=3.0, amplitude=6.0):
    """A smooth ground motion: two frequencies under a half-sine envelope."""
    t = np.arange(round(duration / dt) + 1) * dt
    return amplitude * np.sin(np.pi * t / duration) * (np.sin(2 * np.pi * 2.1 * t) + 0.4 * np.sin(2 * np.pi * 5.3 * t))
