"""A small experiment to run many times, and an engine that runs in this process."""

from concurrent.futures import BrokenExecutor, ThreadPoolExecutor

FRAME = """
seed = 4
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "20 kN/mm"
damping = { ratio = "3 %" }
[integrator]
method = "mkr_alpha"
dt = "1/256 s"
substeps = 4
[excitation]
kind = "noise"
rms = "0.05 g"
low = "0.3 Hz"
high = "4 Hz"
duration = "2 s"
[sites.damper1]
story = 1
physical = true
device = { law = "spring", k = "2 kN/mm" }
[sites.damper1.transfer.actuator]
law = "delay"
tau = "8 ms"
"""


class Here:
    """An engine with one thread of this process: what runs is the same, and nothing has to start."""

    workers = 1
    broken = (BrokenExecutor,)

    def executor(self):
        return ThreadPoolExecutor(1)

    def stop(self, pool):
        pool.shutdown(wait=False, cancel_futures=True)
