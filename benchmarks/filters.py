"""Speed of the updaters: one tick of the unscented filter beside filterpy, and of the others beside it."""

from time import perf_counter_ns
from typing import Any

import numpy as np

from benchmarks.measure import interleaved, report
from hyloop.core import Instance
from hyloop.devices.bouc_wen import bouc_wen
from hyloop.devices.lugre import lugre
from hyloop.devices.viscous import nonlinear_maxwell
from hyloop.neural import HysteresisNetwork
from hyloop.neural.hysteresis import INPUTS
from hyloop.neural.perceptron import weight_count
from hyloop.updating import ensemble, filtered_network, forgetting_network, recursive_least_squares, unscented

__all__ = ["cukf", "network_updates", "updaters"]

DT, STEPS, PEER_STEPS = 1 / 1024, 20_000, 200
NOISE, PROCESS, SPREAD = 200.0, 1e-3, 0.1


def _filterpy(law: Instance, free: dict[str, tuple[float, float]], u: np.ndarray, f: np.ndarray) -> Any:
    """The same filter by filterpy, with the compiled law inside, so that the time is that of the filter."""
    try:
        from filterpy.kalman import MerweScaledSigmaPoints, UnscentedKalmanFilter
    except ImportError:
        return None
    names, n = list(law.params), len(free)
    places, start = [names.index(key) for key in free], np.array([law.params[key] for key in free])
    advance, low, high = law.block.compiled, *np.array(list(free.values())).T

    def job() -> np.ndarray:
        p, x = np.array(list(law.params.values())), np.array(list(law.initial.values()))

        def force(m: np.ndarray, u: np.ndarray) -> np.ndarray:
            p[places] = m * start
            return np.array(advance(x, u, DT, p)[0])

        points = MerweScaledSigmaPoints(n, 0.1, 2.0, 0.0)
        peer: Any = UnscentedKalmanFilter(n, 1, DT, force, lambda m, dt: m, points)
        peer.x, peer.P, peer.Q, peer.R = np.ones(n), np.eye(n) * SPREAD**2, np.eye(n) * PROCESS**2, NOISE**2
        begin = perf_counter_ns()
        for k in range(PEER_STEPS):
            peer.predict()
            peer.update(f[k], u=u[k : k + 1])
            p[places] = np.clip(peer.x, low / start, high / start) * start
            x = np.array(advance(x, u[k : k + 1], DT, p)[1])
        return np.array([(perf_counter_ns() - begin) * 1e-9 / PEER_STEPS])

    return job


def _job(ours: Instance, signals: dict[str, np.ndarray]) -> Any:
    """Seconds of one tick, recording included."""

    def job() -> np.ndarray:
        begin = perf_counter_ns()
        ours.drive(DT, **signals)
        return np.array([(perf_counter_ns() - begin) * 1e-9 / len(signals["f_m"])])

    return job


def _case(name: str, law: Instance, truth: Instance, free: dict[str, tuple[float, float]], u: np.ndarray) -> Any:
    (signal,) = law.block.inputs
    f = truth.drive(DT, **{signal: u})["f"] + np.random.default_rng(0).normal(0.0, NOISE, len(u))
    ours = unscented(law, free, noise=NOISE, process=PROCESS, initial_std=SPREAD)

    peer = _filterpy(law, free, u, f)
    times = interleaved(
        {"hyloop": _job(ours, {signal: u, "f_m": f})} | ({"filterpy": peer} if peer else {}), repeats=21
    )
    return report(name, times)


def cukf() -> dict[str, Any]:
    """Two parameters of LuGre, and in ``three`` the three of the nonlinear Maxwell damper; recording included."""
    t = np.arange(STEPS) * DT
    two = _case(
        "cukf",
        lugre(sigma0=5e6, sigma1=2e4),
        lugre(),
        {"sigma0": (1e6, 2e7), "sigma1": (1e3, 1e5)},
        0.05 * np.sin(2 * np.pi * t),
    )
    three = _case(
        "cukf, three parameters",
        nonlinear_maxwell(K=8e7, C=6e5, alpha=0.5),
        nonlinear_maxwell(),
        {"K": (2e7, 2e8), "C": (1.4e5, 1.4e6), "alpha": (0.09, 0.9)},
        0.075 * np.sin(np.pi * t),
    )
    return two | {"three": three}


def updaters() -> dict[str, Any]:
    """Bouc-Wen's k and d_y: filtered with its state, and as peers the other updaters and the plain filter."""
    d = 0.02 * np.sin(2 * np.pi * np.arange(STEPS) * DT)
    law, free = bouc_wen(k=8e6, d_y=6e-3), {"k": (2e6, 3e7), "d_y": (1e-3, 2e-2)}
    signals = {"d": d, "f_m": bouc_wen().drive(DT, d=d)["f"] + np.random.default_rng(0).normal(0.0, NOISE, STEPS)}
    makers = {
        "filtered states": unscented(law, free, noise=NOISE, process=1e-5, states={"z": (0.0, 1e-4)}),
        "unscented": unscented(law, free, noise=NOISE, process=1e-5),
        "least squares": recursive_least_squares(law, free, noise=NOISE),
        "ensemble of 16": ensemble(law, free, noise=NOISE, process=1e-5),
    }
    return report("updaters", interleaved({name: _job(ours, signals) for name, ours in makers.items()}, repeats=11))


def network_updates() -> dict[str, Any]:
    """One update of the six-input network with 301 weights: the default filter, and as peers the retrained ones.

    The weights are random: an update costs the same whatever it learns.
    """
    n, rng = 2_000, np.random.default_rng(0)
    d = 0.02 * np.sin(2 * np.pi * np.arange(n) * 0.01)
    signals = {"d": d, "f_m": bouc_wen().drive(0.01, d=d)["f"]}
    scale = np.array([1 / 0.02, 1 / 0.02, 1e-5, 1e-3, 1e-2, 1e-6, 1e-5])
    network = HysteresisNetwork(
        0.3 * rng.normal(size=weight_count(INPUTS, 10, 3)), np.zeros(7), scale, error=100.0, dt=DT
    )
    makers = {
        "filtered network": filtered_network(network, noise=NOISE),
        "forgetting network, window 200": forgetting_network(network),
        "forgetting network, one sample": forgetting_network(network, window=1),
    }
    return report("network updates", interleaved({k: _job(m, signals) for k, m in makers.items()}, repeats=5))
