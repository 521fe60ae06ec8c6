"""An experiment with one of everything that remembers or is random: for runs that are killed and go on."""

from pathlib import Path

import numpy as np
from oracles.networks import random_tensors
from problems.networks import motion

from hyloop.devices import bouc_wen
from hyloop.neural import Card, FrozenStack, Signal, recurrent
from hyloop.updating import pretrain

EXPERIMENT = """
title = "One of everything"
seed = 7

[structure]
kind = "shear_frame"
stories = 7
masses = "40 t"
stiffnesses = "60 kN/mm"
damping = { kind = "rayleigh", ratio = "3 %", modes = [1, 3] }

[integrator]
method = "mkr_alpha"
rho_inf = 0.75
dt = "1/256 s"
substeps = 4

[excitation]
kind = "noise"
rms = "0.08 g"
low = "0.3 Hz"
high = "5 Hz"
duration = "20 s"

[sites.damper1] # on a rig with noise, drawn at random; compensated by ATS
story = 1
physical = true
device = { law = "brfd_stick_slip", draw = true, level = "23 kN" }

[sites.damper1.transfer.compensator]
law = "ats"
a = [1.0, 0.015, 1.0e-4]
limits = [[0.9, 1.1], [0.005, 0.03], [0.0, 4e-4]]
threshold = "0.2 mm"

[sites.damper1.transfer.actuator]
law = "transfer_function"
numerator = [1.0]
denominator = [4.05e-5, 0.0102, 1.0]
delay = "5 ms"
stroke = "100 mm"

[sites.damper1.transfer.sensor]
law = "sensor"
noise_d = "1.4 um"
noise_f = "3.6 N"
dropout = 0.02
drift_f = "0.1 N/s"

[sites.damper1.model]
updater = "unscented"
device = { law = "gap_slip" }
free = { Fc_pos = ["4 kN", "40 kN"], Fc_neg = ["4 kN", "40 kN"] }
noise = "1 kN"
process = 1e-3

[sites.damper2]
story = 2
follows = "damper1"
trust = { capacity = "40 kN", band = { coverage = 0.9, floor = "300 N" } }

[sites.brace1] # followed by a network that is retrained in every tick
story = 3
physical = true
device = { law = "bouc_wen", k = "36 kN/mm", d_y = "4 mm" }
transfer = { sensor = { law = "sensor", noise_f = "20 N" } }
model = { network = "brace.safetensors", updater = "filtered_network" }

[sites.brace2]
story = 4
follows = "brace1"

[sites.spring1] # followed by an ensemble of random walks
story = 5
physical = true
device = { law = "bouc_wen", k = "20 kN/mm", d_y = "6 mm" }

[sites.spring1.model]
updater = "ensemble"
device = { law = "bouc_wen", k = "15 kN/mm", d_y = "5 mm" }
free = { k = ["5 kN/mm", "40 kN/mm"] }
noise = "1 kN"

[sites.listening] # a network with memory that hears the first damper, in phases, over a link that loses packets
story = 6
hears = "damper1"
resample = "phases"
device = { network = "listening.safetensors", stiffness = "1 kN/mm", damping = "1 kN s/m" }
link = { delay = "10 ms", jitter = "4 ms", loss = 0.05 }

[sites.listening.trust]
capacity = "25 kN"
band = { coverage = 0.9, q = 2.0, floor = "1 kN" }
fallback = { law = "bouc_wen", k = "5 kN/mm" }

[sites.commanded]
story = 7
device = { law = "mr_damper" }

[controllers.skyhook]
kind = "skyhook"
site = "commanded"
noise = "0.02 m/s2"

[sites.optimal]
story = 7
device = { law = "mr_damper" }

[controllers.lqg]
kind = "clipped_optimal"
sites = ["optimal"]
drift = "2 mm"
acceleration = "4 m/s2"
force = "2 kN"
noise = "0.02 m/s2"
"""
TICK, PHASES = 1 / 1024, 16  # controller ticks in a sample of the network
INPUTS = {"f1": ("N", 1e-4), "d1": ("m", 100.0), "v1": ("m/s", 10.0), "d": ("m", 100.0), "v": ("m/s", 10.0)}


def write(folder: Path, text: str = EXPERIMENT) -> Path:
    """The experiment and its networks in a folder."""
    d = motion(400)
    f = bouc_wen(k=2e7, d_y=5e-3).drive(TICK, d=d)["f"]
    brace = pretrain(d, f, dt=TICK, iterations=20, width=4, depth=1, stiffness=2e7)
    brace.save(folder / "brace.safetensors")
    signals = tuple(
        Signal(key, unit, 0.0, factor, -3.0 / factor, 3.0 / factor) for key, (unit, factor) in INPUTS.items()
    )
    architecture = recurrent(len(signals), width=8, depth=1)
    tensors = random_tensors(architecture, np.random.default_rng(2))
    card = Card(signals, (Signal("f", "N", 0.0, 1e-4),), dt=PHASES * TICK)
    FrozenStack(architecture, tensors, card).save(folder / "listening.safetensors")
    path = folder / "everything.toml"
    path.write_text(text)
    return path
