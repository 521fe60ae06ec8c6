"""How punctually this machine wakes a loop up, and what keeps it from being so."""

import os
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hyloop.integrators import central_difference
from hyloop.loop import Loop, PacedRun, Pacing
from hyloop.structure import shear_frame

__all__ = ["Finding", "spoilers", "wake_ups"]

RATE, SECONDS = 1024, 1.0  # Hz, and how long is measured
GOOD = 100e-6  # s: lateness in 99.9 % of the ticks that a test at some kHz can live with
EDGES = {"1 µs": 1e-6, "10 µs": 1e-5, "100 µs": 1e-4, "1 ms": 1e-3}  # of the histogram
_CPU = Path("/sys/devices/system/cpu")
_KERNEL = Path("/proc/sys/kernel")
_GROUPS = Path("/sys/fs/cgroup")


class Finding(NamedTuple):
    """One line of the examination."""

    what: str
    found: str
    advice: str


def wake_ups() -> list[Finding]:
    """Lateness of an empty loop at 1024 Hz: as `hyloop run --paced` runs, and without real-time priority."""
    return [*_measured(f"wake-ups at {RATE} Hz", Pacing()), *_measured("the same without priority", Pacing(priority=0))]


def _measured(what: str, pacing: Pacing) -> list[Finding]:
    loop = Loop(shear_frame([1.0], [1.0]), method=central_difference(), dt=1 / RATE)
    run = PacedRun(loop, np.zeros(round(RATE * SECONDS) + 1), record=["u.1"], pacing=pacing)
    run.start()
    run.wait()
    late = run.timing.lateness
    parts = [f"{label} {1e6 * float(np.quantile(late, q)):.3g}" for label, q in (("50 %", 0.5), ("99 %", 0.99))]
    worst = float(np.quantile(late, 0.999))
    said = f"late by {', '.join(parts)}, 99.9 % {1e6 * worst:.3g}, at most {1e6 * float(late.max()):.3g} µs"
    advice = "; ".join(run.timing.refused)
    if worst > GOOD and pacing.priority and not advice:
        advice = "see the next lines for what may spoil it; close what else runs"
    return [Finding(what, said, advice), Finding("histogram", histogram(late), "")]


def histogram(late: np.ndarray) -> str:
    """How many are late by up to some times, in words."""
    limits = [-np.inf, *EDGES.values(), np.inf]
    counts = [int(np.count_nonzero((late > low) & (late <= high))) for low, high in pairwise(limits)]
    names = [*(f"to {name}" for name in EDGES), f"above {list(EDGES)[-1]}"]
    return ", ".join(f"{name}: {count}" for name, count in zip(names, counts, strict=True) if count)


def spoilers() -> list[Finding]:
    """What is known to make wake-ups late; where the system does not say, nothing is said."""
    if sys.platform != "linux":
        return []
    found = [_governor(), _idle_states(), _throttling(), _quota(), _heat(), _preemption(), _load(), _virtual()]
    return [one for one in found if one is not None]


def _governor() -> Finding | None:
    names = sorted({_text(path) for path in _CPU.glob("cpu[0-9]*/cpufreq/scaling_governor")})
    fast = names == ["performance"]
    advice = "" if fast else "`cpupower frequency-set -g performance` keeps the clock of the cores up"
    return Finding("frequency governor", ", ".join(names), advice) if names else None


def _idle_states() -> Finding | None:
    states = [
        (_text(folder / "name"), int(_text(folder / "latency") or 0))
        for folder in sorted(_CPU.glob("cpu[0-9]*/cpuidle/state*"))
        if _text(folder / "disable") == "0"
    ]
    if not states:
        return None
    name, latency = max(states, key=lambda state: state[1])
    advice = "deep sleep of the cores costs that much at a wake-up: `cpupower idle-set -D 10`" if latency > 10 else ""
    return Finding("deepest idle state", f"{name}, {latency} µs to leave it", advice)


def _throttling() -> Finding | None:
    share, period = _text(_KERNEL / "sched_rt_runtime_us"), _text(_KERNEL / "sched_rt_period_us")
    if not share or not period:
        return None
    if share == "-1":
        return Finding("real-time throttling", "off", "")
    part = int(share) / int(period)
    advice = "a loop that spins longer is stopped by the system" if part < 1.0 else ""
    return Finding("real-time throttling", f"real-time threads get {100 * part:.0f} % of each second", advice)


def _quota() -> Finding | None:
    """What a container may take of the processor: when it is used up, everything in it stands still."""
    given = _text(_GROUPS / "cpu.max").split() or [
        _text(_GROUPS / "cpu" / f"cpu.cfs_{name}_us") for name in ("quota", "period")
    ]
    if len(given) != 2 or not all(given) or given[0] in ("max", "-1"):
        return None
    part = int(given[0]) / int(given[1])
    advice = "the container stands still when its share is used up: run it without a limit"
    return Finding("share of the container", f"{part:g} cores in each {1e-3 * int(given[1]):g} ms", advice)


def _heat() -> Finding | None:
    counts = [_text(path) for path in _CPU.glob("cpu[0-9]*/thermal_throttle/core_throttle_count")]
    if not counts:
        return None
    most = max(int(count or 0) for count in counts)
    advice = "the cores slow down when they are hot: see to their cooling" if most else ""
    return Finding("slowed down by heat", f"{most} times since the start", advice)


def _preemption() -> Finding | None:
    version = os.uname().version
    if "PREEMPT_RT" in version:
        return Finding("kernel", "PREEMPT_RT", "")
    kind = next((word for word in version.split() if word.startswith("PREEMPT")), "no preemption")
    return Finding("kernel", kind, "a PREEMPT_RT kernel bounds the lateness")


def _load() -> Finding | None:
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    return Finding("load", f"{load:.1f} on {cores} cores", "close what else runs" if load > 0.5 * cores else "")


def _virtual() -> Finding | None:
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return None
    if " hypervisor" not in flags:
        return None
    return Finding("virtual machine", "yes", "its host may take the cores away at any time; run tests on bare metal")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        return ""
