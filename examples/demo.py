"""A six-story frame with friction dampers: one virtual specimen in the first story, models of it above.

Runs the frame with and without dampers under the same ground motion, prints a table and draws a figure.
"""

from pathlib import Path
from time import perf_counter

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.signal import butter, sosfilt

from hyloop import Loop, Site, shear_frame
from hyloop.devices import draw_brfd, lugre
from hyloop.integrators import mkr_alpha
from hyloop.structure import rayleigh

STORIES, SUBSTEPS, TICK = 6, 4, 1 / 1024
DT, DURATION = SUBSTEPS * TICK, 30.0


def ground_motion() -> np.ndarray:
    """Band-limited noise under an earthquake-like envelope, with a peak of 4 m/s2."""
    t = np.arange(round(DURATION / DT)) * DT
    noise = np.random.default_rng(7).normal(size=len(t))
    motion = sosfilt(butter(2, [0.4, 6.0], "bandpass", fs=1 / DT, output="sos"), noise)
    motion *= (t / 3.0) ** 2 * np.exp(2.0 * (1.0 - t / 3.0))
    return 4.0 * motion / np.abs(motion).max()


def main() -> None:
    console = Console()
    with console.status("building and compiling (the first time takes about half a minute)"):
        frame = shear_frame([40e3] * STORIES, [45e6] * STORIES, gravity=[392e3] * STORIES, heights=[3.2] * STORIES)
        frame = frame.with_damping(rayleigh(frame, 0.02))
        specimen = draw_brfd(np.random.default_rng(1))
        sites = [Site("damper1", frame.story(1), specimen, count=8, physical=True)]
        sites += [Site(f"damper{s}", frame.story(s), lugre(), count=8) for s in range(2, STORIES + 1)]
        method = mkr_alpha(rho_inf=0.75)
        bare = Loop(frame, method=method, dt=DT, substeps=SUBSTEPS)
        damped = Loop(frame, sites, method=method, dt=DT, substeps=SUBSTEPS)
        motion = ground_motion()
        bare.run(motion[:2])
        damped.run(motion[:2])
    without = bare.run(motion)
    begin = perf_counter()
    with_dampers = damped.run(motion, every="tick")
    elapsed = perf_counter() - begin

    table = Table(title="Peak story drift in mm, and energy dissipated by eight dampers in kJ")
    for column in ("story", "without", "with dampers", "ratio", "device", "energy"):
        table.add_column(column, justify="right")
    for s in range(1, STORIES + 1):
        u = without.data[:, [without.names.index(f"u.{k}") for k in range(1, STORIES + 1)]]
        drift = 1e3 * np.abs(u[:, s - 1] - (u[:, s - 2] if s > 1 else 0.0)).max()
        d, f = with_dampers[f"damper{s}.d"], with_dampers[f"damper{s}.f"]
        ours, energy = 1e3 * np.abs(d).max(), 8e-3 * np.sum(f[1:] * np.diff(d))
        kind = "virtual specimen" if s == 1 else "LuGre model"
        table.add_row(f"{s}", f"{drift:.1f}", f"{ours:.1f}", f"{ours / drift:.2f}", kind, f"{energy:.1f}")
    console.print(table)
    ticks = len(with_dampers) - 1
    console.print(f"{ticks} controller ticks in {elapsed * 1e3:.0f} ms: {elapsed / ticks * 1e6:.2f} µs per tick, "
                  f"{DURATION / elapsed:.0f} times faster than real time")  # fmt: skip

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=[2, 1], layout="constrained")
    left.plot(without.time, 1e3 * without[f"u.{STORIES}"], color="0.7", label="without dampers")
    left.plot(with_dampers.time, 1e3 * with_dampers[f"u.{STORIES}"], color="C0", label="with dampers")
    left.set(xlabel="time [s]", ylabel="roof displacement [mm]", xlim=(0, DURATION))
    left.legend(frameon=False)
    for s, color in ((1, "C3"), (2, "C0")):
        label = f"story {s}, " + ("virtual specimen" if s == 1 else "LuGre model")
        d, f = with_dampers[f"damper{s}.d"], with_dampers[f"damper{s}.f"]
        right.plot(1e3 * d, 1e-3 * f, color=color, lw=0.7, label=label)
    right.set(xlabel="damper deformation [mm]", ylabel="damper force [kN]")
    right.legend(frameon=False, fontsize="small")
    path = Path("out/demo.png")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=150)
    console.print(f"figure: {path}")


if __name__ == "__main__":
    main()
