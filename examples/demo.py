"""A six-story frame with friction dampers: one virtual specimen in the first story, models of it above.

Runs the frame with and without dampers under the same ground motion, prints a table and draws a figure.
"""

from pathlib import Path
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.signal import butter, sosfilt

from hyloop import Loop, Site, shear_frame
from hyloop.devices import draw_brfd, lugre
from hyloop.integrators import mkr_alpha
from hyloop.structure import rayleigh

STORIES, COUNT, SUBSTEPS = 6, 8, 4  # stories, dampers in each, controller ticks in a step
DT, DURATION = SUBSTEPS / 1024, 30.0  # s


def ground_motion() -> np.ndarray:
    """Band-limited noise under an earthquake-like envelope, with a peak of 4 m/s2."""
    t = np.arange(round(DURATION / DT)) * DT
    noise = np.random.default_rng(7).normal(size=len(t))
    motion = sosfilt(butter(2, [0.4, 6.0], "bandpass", fs=1 / DT, output="sos"), noise)
    motion *= (t / 3.0) ** 2 * np.exp(2.0 * (1.0 - t / 3.0))
    return 4.0 * motion / np.abs(motion).max()


console, motion = Console(), ground_motion()
with console.status("building and compiling (up to half a minute the first time)"):
    frame = shear_frame([40e3] * STORIES, [45e6] * STORIES, gravity=[392e3] * STORIES, heights=[3.2] * STORIES)
    frame = frame.with_damping(rayleigh(frame, 0.02))
    specimen = draw_brfd(np.random.default_rng(1))
    sites = [Site("damper1", frame.story(1), specimen, count=COUNT, physical=True)]
    sites += [Site(f"damper{s}", frame.story(s), lugre(), count=COUNT) for s in range(2, STORIES + 1)]
    bare, damped = (Loop(frame, d, method=mkr_alpha(rho_inf=0.75), dt=DT, substeps=SUBSTEPS) for d in ([], sites))
    without = bare.run(motion)
    damped.run(motion)
begin = perf_counter()
result = damped.run(motion, every="tick")
elapsed = perf_counter() - begin

table = Table(title=f"Peak story drift in mm, and energy dissipated by the {COUNT} dampers of a story in kJ")
for column in ("story", "without", "with dampers", "ratio", "device", "energy"):
    table.add_column(column, justify="right")
for s in range(1, STORIES + 1):
    drift = 1e3 * np.abs(without[f"u.{s}"] - (without[f"u.{s - 1}"] if s > 1 else 0.0)).max()
    d, f = result[f"damper{s}.d"], result[f"damper{s}.f"]
    peak, energy = 1e3 * np.abs(d).max(), COUNT * 1e-3 * np.sum(f[1:] * np.diff(d))
    kind = "virtual specimen" if s == 1 else "LuGre model"
    table.add_row(f"{s}", f"{drift:.1f}", f"{peak:.1f}", f"{peak / drift:.2f}", kind, f"{energy:.1f}")
console.print(table)
ticks = len(result) - 1
console.print(f"{ticks} controller ticks in {elapsed * 1e3:.0f} ms, {elapsed / ticks * 1e6:.2f} µs each")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=[2, 1], layout="constrained")
left.plot(without.time, 1e3 * without[f"u.{STORIES}"], color="0.7", label="without dampers")
left.plot(result.time, 1e3 * result[f"u.{STORIES}"], color="C0", label="with dampers")
left.set(xlabel="time [s]", ylabel="roof displacement [mm]", xlim=(0, DURATION))
for s, color, label in ((1, "C3", "story 1, virtual specimen"), (2, "C0", "story 2, LuGre model")):
    right.plot(1e3 * result[f"damper{s}.d"], 1e-3 * result[f"damper{s}.f"], color=color, lw=0.7, label=label)
right.set(xlabel="damper deformation [mm]", ylabel="damper force [kN]", ylim=(-26, 40))
for axes in (left, right):
    axes.legend(frameon=False, loc="upper right")
path = Path("out/demo.png")
path.parent.mkdir(exist_ok=True)
figure.savefig(path, dpi=150)
console.print(f"figure: {path}")
