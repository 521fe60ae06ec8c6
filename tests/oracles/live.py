"""A run that is watched: a loop on the clock with many channels, its board, and the server of its page."""

from contextlib import contextmanager
import os

import numpy as np

from hyloop.devices import bouc_wen
from hyloop.integrators import mkr_alpha
from hyloop.live import PageServer
from hyloop.loop import Loop, PacedRun, Site
from hyloop.structure import rayleigh, shear_frame

RATE = 1024  # Hz
CHANNELS = 64


def frame_loop(stories=20):
    """A frame with a damper; with 20 stories it has more than 64 channels."""
    frame = shear_frame([4e4] * stories, [4e7] * stories, heights=[3.0] * stories)
    frame = frame.with_damping(rayleigh(frame, 0.02))
    sites = [Site("damper", frame.story(1), bouc_wen(k=2e7, d_y=2e-3), physical=True)]
    return Loop(frame, sites, method=mkr_alpha(0.75), dt=1.0 / RATE)


def shaking(seconds, rng, stories=20):
    """Ground acceleration in m/s2: noise below a few Hz."""
    t = np.arange(int(seconds * RATE) + 1) / RATE
    waves = rng.uniform(0.3, 4.0, 30), rng.uniform(0.0, 2.0 * np.pi, 30)
    return 0.15 * sum(np.sin(2.0 * np.pi * f * t + phase) for f, phase in zip(*waves, strict=True))


@contextmanager
def on_the_board(seconds, rng, **settings):
    """A paced run of so many seconds whose rows lie on a board; it is stopped and taken away in the end."""
    loop, ground = frame_loop(), shaking(seconds, rng)
    names = [name for name in loop.channels if name != "t"][:CHANNELS]
    about = {"title": "Twenty stories", "building": {"floors": loop_floors(loop), "heights": [3.0] * 20}}
    shared = {"attributes": about | {"counts": {"damper": 1.0}}, "planned": len(ground) - 1, "process": os.getpid()}
    run = PacedRun(loop, ground, record=names, shared=shared, **settings)
    try:
        yield run
    finally:
        run.stop()
        if run.running:
            run._thread.join()
        run.board.remove()


def loop_floors(loop):
    return [loop.structure.names[loop.structure.dof(floor)] for floor in loop.structure.floors]


@contextmanager
def serving(kind, path, **settings):
    """The server of a page about something."""
    with PageServer(**settings) as server:
        server.start(kind, path)
        yield server
