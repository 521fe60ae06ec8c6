"""The fibre frame with dampers: deformation histories of both stories, what the specimen will be moved by.

The dampers are LuGre laws, as in the paper. Real ones have backlash, and with it the frame moves further, so that a
network that has known LuGre frames alone meets unknown motions in the hybrid test; hence `with_backlash`, for training.
"""

from collections.abc import Callable, Sequence

import numpy as np

from hyloop import Loop, Site
from hyloop.buildings.moment_frame import damper, moment_frame
from hyloop.core.block import Instance
from hyloop.devices import lugre
from hyloop.devices.lugre import lugre_level
from hyloop.integrators import mkr_alpha
from hyloop.loop import run_ensemble
from hyloop.structure import rayleigh

from .motions import RATE, Motion

DT, COUNT, RHO = 1.0 / RATE, 4, 0.75  # s, dampers in a story, spectral radius at infinite frequency
DAMPING = 0.02
LEVELS = (13e3, 18e3, 23e3)  # N, capacities of the device
STROKE = 0.045  # m, of the device


def frame_with_dampers(level: float) -> Loop:
    """The frame with four LuGre dampers of one capacity in each story."""
    frame = moment_frame().structure(damping=lambda structure: rayleigh(structure, DAMPING))
    sites = [Site(f"damper{s}", damper(frame, s), lugre(**lugre_level(level)), count=COUNT) for s in (1, 2)]
    return Loop(frame, sites, method=mkr_alpha(rho_inf=RHO), dt=DT)


def with_backlash(loop: Loop, device: Instance) -> Loop:
    """The same frame with a drawn banded damper in place of every LuGre law."""
    return loop.replace(sites={s.name: Site(s.name, s.along, device, count=COUNT) for s in loop.sites})


def deformations(
    motions: Sequence[Motion],
    level: float,
    devices: Sequence[Instance | None] | None = None,
    workers: int | None = None,
    progress: Callable[[float], None] = lambda _: None,
) -> list[np.ndarray]:
    """Deformations (samples, 2) in m of the dampers of both stories under each motion.

    Parameters
    ----------
    devices : sequence of Instance or None
        What stands in the frame under each motion; None: LuGre laws.
    """
    loop, found, batch = frame_with_dampers(level), [], 16
    for k in range(0, len(motions), batch):
        some = devices[k : k + batch] if devices is not None else [None] * batch
        jobs = [
            (loop.copy() if device is None else with_backlash(loop, device), motion.a)
            for motion, device in zip(motions[k : k + batch], some, strict=False)
        ]
        runs = run_ensemble(jobs, workers=workers, record=("damper?.d",), on_fault="raise")
        found += [np.column_stack([run["damper1.d"], run["damper2.d"]]) for run in runs]
        progress(len(found) / len(motions))
    return found
