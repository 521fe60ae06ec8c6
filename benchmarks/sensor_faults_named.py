"""Are faults of a load cell named rightly? Drawn devices, motions and faults; a table of what was named for what was.

``python -m benchmarks.sensor_faults_named [--seed 4] [--cases 200]`` takes under three minutes. Regressors and limits
of `hyloop.identification.sensors` were chosen on seeds 1 and 2; seed 4 was then run once (86 %), and once again when
delays that sines do not tell were no longer alarmed (85.5 %). The truth is simulated at eight times the sampling rate,
where delays are shifts, and sampled after. Records begin with half a second to two seconds at rest.
"""

import argparse
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from hyloop.core import Instance
from hyloop.devices import LAWS
from hyloop.identification.sensors import SensorCheck, check_sensors

__all__ = ["FAULTS", "Case", "draw", "named"]

FAULTS = ("none", "offset", "drift", "delay")
DEVICES = ("bilinear", "bouc_wen", "bouc_wen_baber_noori", "lugre", "gap_slip")
FINE = 8  # ticks of the simulation in a sample
NOISE = 1e-3  # of the peaks of deformation and force: 60 dB
# deformation of yield or slip by the parameters of each device, to which motions are scaled
YIELD: dict[str, Any] = {
    "bilinear": lambda p: p["f_y"] / p["k"],
    "bouc_wen": lambda p: p["d_y"],
    "bouc_wen_baber_noori": lambda p: 0.01,
    "lugre": lambda p: p["Fc_pos"] / p["sigma0"],
    "gap_slip": lambda p: p["gn"],
}


class Case(NamedTuple):
    """A drawn record and what is wrong with it."""

    device: str
    fault: str
    size: float  # over the peak force, or in samples; with its sign
    peak: float  # of the true force
    dt: float
    d: np.ndarray
    f: np.ndarray


def draw(rng: np.random.Generator) -> Case:
    """A device with parameters up to a quarter off their defaults, a motion, and one fault or none."""
    name, fault = str(rng.choice(DEVICES)), str(rng.choice(FAULTS))
    law, rate = LAWS[name], float(rng.choice([100.0, 256.0, 512.0]))
    device = _device(name, rng)
    d = _motion(rng, rate * FINE, float(rng.uniform(3.0, 8.0)) * YIELD[name](device.params))
    v = np.gradient(d, 1.0 / (rate * FINE))
    signals = {"d": d, "v": v, "a": np.gradient(v, 1.0 / (rate * FINE))}
    f = device.drive(1.0 / (rate * FINE), **{key: signals[key] for key in law.inputs})["f"]
    peak, sign = float(np.abs(f).max()), float(rng.choice([-1.0, 1.0]))
    sizes = {"none": 0.0, "offset": rng.uniform(0.0075, 0.03), "drift": rng.uniform(0.015, 0.06)}
    size = sizes.get(fault, rng.uniform(0.5, 3.0)) * (1.0 if fault == "delay" else sign)
    if fault == "offset":
        f = f + size * peak
    elif fault == "drift":
        f = f + size * peak * np.linspace(0.0, 1.0, len(f))
    elif fault == "delay":
        f = np.interp(np.arange(len(f)) - size * FINE, np.arange(len(f)), f)
    d, f = d[::FINE], f[::FINE]
    d = d + NOISE * np.abs(d).max() * rng.normal(size=len(d))
    return Case(name, fault, float(size), peak, 1.0 / rate, d, f + NOISE * peak * rng.normal(size=len(f)))


def _device(name: str, rng: np.random.Generator) -> Instance:
    law, params = LAWS[name], {}
    for key, spec in law.params.items():
        value = spec.default * rng.uniform(0.75, 1.25)
        params[key] = float(np.clip(value, spec.low, spec.high))
    # what no record can tell from a fault: a constant force from an offset, forces of velocity and mass from a delay
    params |= dict.fromkeys({"off", "c", "m", "lag", "sigma1", "sigma2"} & set(params), 0.0)
    if name == "lugre":  # static friction is above the kinetic one
        params |= {f"Fs_{side}": 1.05 * params[f"Fc_{side}"] for side in ("pos", "neg")}
    return law(**params)


def _motion(rng: np.random.Generator, rate: float, reach: float) -> np.ndarray:
    """Rest, then sines of 0.2 to 2.5 Hz that swell and fade."""
    still, moving = float(rng.uniform(0.5, 2.0)), float(rng.uniform(15.0, 30.0))
    t = np.arange(int(moving * rate)) / rate
    parts = [
        rng.uniform(0.3, 1.0) / f**0.5 * np.sin(2 * np.pi * (f * t + rng.random())) for f in rng.uniform(0.2, 2.5, 6)
    ]
    swell = np.sin(np.pi * np.clip(t / moving, 0.0, 1.0)) ** rng.uniform(0.3, 1.5)
    d = np.sum(parts, axis=0) * swell
    return np.concatenate([np.zeros(int(still * rate)), reach * d / np.abs(d).max()])


def named(check: SensorCheck) -> str:
    """The fault that is named; several with commas between."""
    return ",".join(check.faults) or "none"


def main() -> None:
    """Draw, check, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--verbose", action="store_true", help="every case with its numbers")
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    table, right, cases, inside = Counter(), Counter(), Counter(), Counter()
    for k in range(given.cases):
        case = draw(rng)
        check = check_sensors(case.dt, case.d, case.f)
        said = named(check)
        table[case.fault, said] += 1
        right[case.device] += said == case.fault
        cases[case.device] += 1
        for key in FAULTS[1:]:
            told, unit = getattr(check, key), case.dt if key == "delay" else case.peak
            truth = case.size if key == case.fault else 0.0
            if (key, case.fault) == ("offset", "drift"):  # the offset is that in the middle of the rest
                truth = case.size * 0.5 * check.rest / len(case.f)
            inside[key] += told.low <= truth * unit <= told.high
        if given.verbose:
            peak = np.abs(case.f).max()
            print(
                f"{k:3d} {case.device:21s} {case.fault:6s} {case.size:.4f} -> {said:12s} rate {1 / case.dt:.0f} "
                f"offset {100 * check.offset.value / peak:6.2f}±{100 * check.offset.spread / peak:.2f} % "
                f"drift {100 * check.drift.value / peak:6.2f}±{100 * check.drift.spread / peak:.2f} % "
                f"delay {check.delay.value / case.dt:6.2f}±{check.delay.spread / case.dt:.2f}"
                f" error {100 * check.error:.2f} %{'' if said == case.fault else '   WRONG'}",
                flush=True,
            )
    columns = [*FAULTS, *sorted({said for _, said in table} - set(FAULTS))]
    print(f"seed {given.seed}, {given.cases} cases: what was (rows), what was named (columns)")
    print("".join(f"{word:>14s}" for word in ("", *columns)))
    for fault in FAULTS:
        print(f"{fault:>14s}" + "".join(f"{table[fault, said]:14d}" for said in columns))
    print("right by device: " + ", ".join(f"{name} {right[name]}/{cases[name]}" for name in DEVICES))
    print(
        "interval holds the truth: " + ", ".join(f"{key} {100 * inside[key] / given.cases:.0f} %" for key in FAULTS[1:])
    )
    print(f"right: {sum(right.values())} of {given.cases}, {100 * sum(right.values()) / given.cases:.1f} %")


if __name__ == "__main__":
    main()
