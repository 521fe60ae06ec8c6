"""What `hyloop doctor` says of wake-ups, and how it names what spoils them; the system is a folder of files."""

import sys

import numpy as np
import pytest

from hyloop.cli import wake_ups

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="what spoils wake-ups is read from files of Linux")


@pytest.fixture
def system(tmp_path, monkeypatch):
    """Write a file as the system would show it."""
    for name in ("_CPU", "_KERNEL", "_GROUPS"):
        monkeypatch.setattr(wake_ups, name, tmp_path / name)

    def write(place, path, text):
        file = tmp_path / place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    return write


def found():
    return {one.what: one for one in wake_ups.spoilers()}


@LINUX
def test_it_names_what_spoils_wake_ups(system):
    for core, governor in enumerate(["performance", "powersave"]):
        system("_CPU", f"cpu{core}/cpufreq/scaling_governor", governor)
        system("_CPU", f"cpu{core}/thermal_throttle/core_throttle_count", 7 * core)
    for key, text in {"name": "C6", "latency": 133, "disable": 0}.items():
        system("_CPU", f"cpu1/cpuidle/state3/{key}", text)
    system("_KERNEL", "sched_rt_runtime_us", 950000)
    system("_KERNEL", "sched_rt_period_us", 1000000)
    system("_GROUPS", "cpu.max", "150000 100000")
    said = found()
    assert "powersave" in said["frequency governor"].found and "performance" in said["frequency governor"].advice
    assert "C6, 133 µs" in said["deepest idle state"].found and said["deepest idle state"].advice
    assert "95 %" in said["real-time throttling"].found and said["real-time throttling"].advice
    assert "1.5 cores" in said["share of the container"].found and said["share of the container"].advice
    assert "7 times" in said["slowed down by heat"].found and said["slowed down by heat"].advice


@LINUX
def test_what_spoils_nothing_gets_no_advice(system):
    system("_CPU", "cpu0/cpufreq/scaling_governor", "performance")
    system("_CPU", "cpu0/thermal_throttle/core_throttle_count", 0)
    for key, text in {"name": "C1", "latency": 2, "disable": 0}.items():
        system("_CPU", f"cpu0/cpuidle/state1/{key}", text)
    for key, text in {"name": "C6", "latency": 133, "disable": 1}.items():
        system("_CPU", f"cpu0/cpuidle/state3/{key}", text)
    system("_KERNEL", "sched_rt_runtime_us", -1)
    system("_KERNEL", "sched_rt_period_us", 1000000)
    system("_GROUPS", "cpu.max", "max 100000")
    said = found()
    names = ["frequency governor", "deepest idle state", "real-time throttling", "slowed down by heat"]
    assert [said[name].advice for name in names] == [""] * 4 and "share of the container" not in said


@LINUX
def test_an_older_kernel_tells_the_share_elsewhere(system):
    system("_GROUPS", "cpu/cpu.cfs_quota_us", 50000)
    system("_GROUPS", "cpu/cpu.cfs_period_us", 100000)
    assert "0.5 cores" in found()["share of the container"].found
    system("_GROUPS", "cpu/cpu.cfs_quota_us", -1)
    assert "share of the container" not in found()


def test_the_histogram_counts_every_tick():
    late = np.array([2e-8, 5e-7, 3e-6, 4e-5, 6e-5, 2e-4, 0.5])
    assert wake_ups.histogram(late) == "to 1 µs: 2, to 10 µs: 1, to 100 µs: 2, to 1 ms: 1, above 1 ms: 1"
