"""How well rigs are identified: how often intervals of 95 % hold the truth, and how far gain and phase are off.

`python -m benchmarks.rigs` simulates records of four rigs (`RIGS`; one is the servo-hydraulic plant of the benchmark
problem of Silva et al. 2020) under band-limited noise, a linear and a logarithmic sweep, adds noise to the measured
displacement, identifies each and counts how many intervals hold the truth: gain at rest, delay of slow motions, size
of the noise, and gain and phase at every tenth of the trusted band. Behind them stand the largest errors of gain and
phase in the trusted band over all seeds, and how many records chose a structure with poles, zeros and dead time as
the truth has them.

The truth is simulated by exact discretisation at 8192 Hz (SciPy), with a dead time of whole ticks, and recorded at
1024 Hz, so that nothing of the identification is used to make what it is tested with.
"""

import argparse
from time import perf_counter
from typing import Any

import numpy as np
from numba import njit
from rich.progress import Progress
from scipy.signal import butter, chirp, cont2discrete, sosfilt, tf2ss

from hyloop.identification.rig import Rig, Structure, identify_rig

RATE, EVERY = 8192.0, 8  # Hz of the simulation, and samples of it in one of the record
SIGNALS = ("noise", "linear sweep", "logarithmic sweep")
PEAK = 5e-3  # m


def servo_hydraulic() -> tuple[list[float], list[float], int]:
    """Servo-valve, actuator and specimen of Silva et al. (2020), doi:10.1016/j.ymssp.2019.106381, with command gain."""
    a1b0, a2, a3, b1, b2, ke, me = 2.1283e13, 4.2297e6, 3.3, 425.0, 9.9976e4, 1.19e6, 29.13
    ce = 2 * 0.0097 * np.sqrt(ke * me)
    stiff, heavy = ke + ce * a3 + a2, ce + me * a3
    a = [
        me,
        heavy + me * b1,
        stiff + heavy * b1 + me * b2,
        ke * a3 + stiff * b1 + heavy * b2,
        ke * a3 * b1 + stiff * b2,
        ke * a3 * b2 + a1b0,
    ]
    return [1.0261 * a1b0], a, 0


def _second(f: float, damping: float) -> list[float]:
    w = 2 * np.pi * f
    return [1 / w**2, 2 * damping / w, 1.0]


# numerator and denominator in falling powers of s, and dead time in ticks of the simulation; structure of the truth
RIGS: dict[str, tuple[tuple[list[float], list[float], int], Structure]] = {
    "first order, 8 ms dead time": (([0.98], [0.010, 1.0], 66), Structure(1, 0, True)),
    "second order, 12 ms dead time": (([1.01], _second(15.0, 0.6), 98), Structure(2, 0, True)),
    "second order, 25 % damping": (([1.0], _second(9.0, 0.25), 40), Structure(2, 0, True)),
    "servo-hydraulic benchmark": (servo_hydraulic(), Structure(5, 0, False)),
}


def true_response(name: str, f: np.ndarray) -> np.ndarray:
    b, a, ticks = RIGS[name][0]
    s = 2j * np.pi * np.asarray(f)
    return np.polyval(b, s) / np.polyval(a, s) * np.exp(-s * ticks / RATE)


def true_delay(name: str) -> float:
    b, a, ticks = RIGS[name][0]
    return ticks / RATE + a[-2] / a[-1] - (b[-2] / b[-1] if len(b) > 1 else 0.0)


def command(signal: str, seconds: float, highest: float, rng: np.random.Generator) -> np.ndarray:
    """Command at the rate of the simulation, in m."""
    n = int(seconds * RATE)
    t = np.arange(n) / RATE
    if signal == "noise":
        x = np.asarray(sosfilt(butter(4, highest, fs=RATE, output="sos"), rng.normal(size=n)))
        return PEAK / 3.0 * np.asarray(x) / np.std(x)
    method = "linear" if signal == "linear sweep" else "logarithmic"
    return PEAK * chirp(t, 0.1, seconds, highest, method=method, phi=-90)


def simulated(b: list[float], a: list[float], u: np.ndarray) -> np.ndarray:
    """Exact motion under a command that is a straight line between the samples of the fine simulation."""
    w = 2 * np.pi * 20.0  # rad/s: with time counted in 1/w all coefficients are of the order of one
    scaled = [np.array(c) * w ** np.arange(len(c) - 1, -1, -1.0) for c in (b, a)]
    system: Any = cont2discrete(tf2ss(*scaled), w / RATE, method="foh")
    A, B, C, D, _ = system
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B[:, 0])
    return _march(A, B, C[0], float(D[0, 0]), u)


@njit
def _march(A: np.ndarray, B: np.ndarray, C: np.ndarray, D: float, u: np.ndarray) -> np.ndarray:
    x, y = np.zeros(len(B)), np.empty(len(u))
    for k in range(len(u)):
        y[k] = C @ x + D * u[k]
        x = A @ x + B * u[k]
    return y


def record(
    name: str, signal: str, seed: int, seconds: float, highest: float, noise: float, coloured: bool
) -> tuple[np.ndarray, np.ndarray, float]:
    """Command and noisy measurement, and their sampling interval."""
    rng = np.random.default_rng([seed, list(RIGS).index(name), SIGNALS.index(signal)])  # no two rows share their chance
    b, a, ticks = RIGS[name][0]
    u = command(signal, seconds, highest, rng)
    y = simulated(b, a, u)
    y = np.concatenate([np.zeros(ticks), y[: len(y) - ticks]])
    extra = rng.normal(size=len(y[::EVERY]))
    if coloured:  # first-order low-pass at 5 Hz and a white part: a sensor with drift
        slow = sosfilt(butter(1, 5.0, fs=RATE / EVERY, output="sos"), rng.normal(size=len(extra)))
        extra = 3.0 * np.asarray(slow) + extra
    return u[::EVERY], y[::EVERY] + noise * extra, EVERY / RATE


def held(found: Rig, name: str, noise: float | None) -> dict[str, list[bool]]:
    """What the intervals hold."""
    gain = abs(true_response(name, np.zeros(1))[0])
    f = np.linspace(0.1, 1.0, 10) * found.trusted[1]
    G, wide, wide_phase = found.response(f)
    off = G / true_response(name, f)
    answer = {
        "gain": [found.gain.low <= gain <= found.gain.high],
        "delay": [found.delay.low <= true_delay(name) <= found.delay.high],
        "|G(f)|": list(np.abs(np.log(np.abs(off))) <= wide),
        "phase(f)": list(np.abs(np.angle(off)) <= wide_phase),
    }
    if noise is not None:
        answer["noise"] = [found.noise.low <= noise <= found.noise.high]
    return answer


def errors(found: Rig, name: str) -> tuple[float, float]:
    """Largest errors of gain in % and of phase in degrees in the trusted band."""
    f = np.linspace(found.trusted[0], found.trusted[1], 400)
    off = found.response(f)[0] / true_response(name, f)
    return 100 * float(np.max(np.abs(np.abs(off) - 1))), float(np.degrees(np.max(np.abs(np.angle(off)))))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--highest", type=float, default=25.0, help="highest frequency of the command in Hz")
    parser.add_argument("--noise", type=float, default=16e-6, help="root mean square of white noise in m")
    parser.add_argument("--coloured", action="store_true", help="noise with a slow part as well")
    parser.add_argument("--only", default="", help="rigs whose name contains this")
    given = parser.parse_args()
    names = [name for name in RIGS if given.only in name]
    head = f"{'':30s}{'':19s}" + "".join(f"{k:>10s}" for k in ("gain", "delay", "noise", "|G(f)|", "phase(f)"))
    print(f"{given.seconds:g} s, {given.noise * 1e6:g} µm; intervals of 95 % that hold the truth, in %")
    print(head + f"{'gain off':>10s}{'phase off':>10s}{'structure':>10s}{'trusted to':>12s}")
    begin = perf_counter()
    with Progress(transient=True) as bars:
        bar = bars.add_task("records", total=len(names) * len(SIGNALS) * given.seeds)
        for name in names:
            for signal in SIGNALS:
                told: dict[str, list[bool]] = {}
                off, same, ends = [], 0, []
                for seed in range(given.first, given.first + given.seeds):
                    how = (given.seconds, given.highest, given.noise, given.coloured)
                    found = identify_rig(*record(name, signal, seed, *how))
                    for key, good in held(found, name, None if given.coloured else given.noise).items():
                        told.setdefault(key, []).extend(good)
                    off.append(errors(found, name))
                    same += found.kind == RIGS[name][1]
                    ends.append(found.trusted[1])
                    bars.advance(bar)
                keys = ("gain", "delay", "noise", "|G(f)|", "phase(f)")
                shares = "".join(f"{100 * np.mean(told[k]):10.1f}" if k in told else f"{'-':>10s}" for k in keys)
                gain, phase = np.max(off, axis=0)
                bars.console.print(
                    f"{name:30s}{signal:19s}{shares}{gain:8.3f} %{phase:9.3f}°{100 * same / given.seeds:8.0f} %"
                    f"{np.median(ends):9.1f} Hz",
                    highlight=False,
                    soft_wrap=True,
                )
    print(f"{perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
