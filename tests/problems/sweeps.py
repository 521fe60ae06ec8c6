"""A small experiment to be swept, and a worker that some runs kill."""

import os
import signal

from hyloop.ensembles.work import Batch, Done
from hyloop.ensembles.work import work as usual

TINY = """
title = "Two stories"
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "45 kN/mm"
heights = "3 m"
damping = { kind = "rayleigh", ratio = "2 %", modes = [1, 2] }
[integrator]
method = "mkr_alpha"
rho_inf = 0.75
dt = "1/256 s"
[excitation]
kind = "synthetic"
sds = "1.0 g"
sd1 = "0.6 g"
duration = "4 s"
peak = "4 m/s2"
[sites.damper1]
story = 1
device = { law = "bilinear", k = "20 kN/mm", f_y = "20 kN" }
[sites.damper2]
like = "damper1"
story = 2
"""
DEADLY = "title=deadly"


def deadly(batch: Batch) -> Done:
    """As `work`, but a run of this title takes its process with it."""
    if any(DEADLY in overrides for _, overrides in batch.runs):
        os.kill(os.getpid(), signal.SIGKILL)
    return usual(batch)
