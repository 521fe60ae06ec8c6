"""Problems that the tests of several updaters share; a second process imports `followed_loop` from here."""

import numpy as np

from hyloop.core import Param, block
from hyloop.devices.bouc_wen import bouc_wen
from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.integrators import newmark_explicit
from hyloop.loop import FreeBlock, Loop, Site
from hyloop.structure import rayleigh, shear_frame
from hyloop.updating import ensemble, recursive_least_squares, unscented

__all__ = ["ANY", "DT", "MAXWELL", "followed_loop", "ground", "kelvin", "sine", "wandering"]

DT = 1 / 1024
ANY = (-1e12, 1e12)
MAXWELL = {"K": (2e7, 2e8), "C": (1.4e5, 1.4e6), "alpha": (0.09, 0.9)}  # 0.2 to 2 times the start, as in the paper


@block(
    inputs={"d": "m", "v": "m/s", "a": "m/s2"},
    outputs={"f": "N"},
    params={"k": Param("N/m", 1e6), "c": Param("N s/m", 1e3), "m": Param("kg", 200.0)},
    reference="test",
)
def kelvin(x, u, dt, p):
    """f = k d + c v + m a."""
    return (p[0] * u[0] + p[1] * u[1] + p[2] * u[2],), ()


def sine(n, amplitude=0.075, rate=np.pi):
    return amplitude * np.sin(rate * np.arange(n) * DT)


def wandering(n):
    """A deformation of two frequencies and changing size, far past the yield of the devices tested."""
    t = np.arange(n) * DT
    slow = np.sin(2 * np.pi * 0.7 * t) * (0.3 + 0.7 * np.sin(2 * np.pi * 0.11 * t))
    return 0.012 * slow + 0.004 * np.sin(2 * np.pi * 1.9 * t)


def ground(n):
    return 5.0 * np.random.default_rng(20240607).normal(size=n)


def followed_loop():
    """A measured damper in the first story, a model of it in the second that follows, and every kind of updater."""
    frame = shear_frame([4e4] * 2, [4e7] * 2)
    frame = frame.with_damping(rayleigh(frame, 0.03))
    start = nonlinear_maxwell(K=2e7, C=2e5, alpha=0.5)
    specimen = Site("specimen", frame.story(1), nonlinear_maxwell(K=2.6e7, C=1.5e5, alpha=0.4), physical=True)
    model = Site("model", frame.story(2), start)
    free = {"K": (4e6, 4e7), "C": (4e4, 4e5), "alpha": (0.1, 1.0)}
    signals = {"d": "specimen.d", "f_m": "specimen.f"}
    yielding = bouc_wen(k=2e7, d_y=5e-3)
    blocks = [
        FreeBlock(
            "ukf",
            unscented(start, free, noise=100.0, process=1e-4),
            signals,
            outputs={key: f"model.{key}" for key in free},
        ),
        FreeBlock("late", unscented(start, free, noise=100.0, delay=20.0), signals),
        FreeBlock(
            "joint",
            unscented(yielding, {"k": (2e6, 2e8), "d_y": (1e-4, 1e-1)}, noise=1e3, states={"z": (0.0, 1e-3)}),
            signals,
        ),
        FreeBlock("rls", recursive_least_squares(start, free, noise=100.0), signals),
        FreeBlock("enkf", ensemble(start, free, noise=100.0, members=8), signals),
    ]
    return Loop(frame, [specimen, model], method=newmark_explicit(), dt=1 / 256, substeps=4, blocks=blocks)
