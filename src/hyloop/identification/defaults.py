"""What to free of each law, and where to begin: starts and bounds from the size of the signals of the tests.

A law fitted without being told what is free needs a list of parameters that tests of a device can tell apart, and
bounds wide enough for any device. Both stand here, law by law. Sizes come from the tests: the largest force F, the
amplitudes D and V of deformation and velocity, the secant stiffness F/D, the steepest slope K, and the energy E that
was dissipated.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hyloop.core.block import Block, Instance
from hyloop.errors import BadInput
from hyloop.identification.measured import MeasuredTest

__all__ = ["DEFAULTS", "LEFT_OUT", "Sizes", "beginning", "loaded_state", "sizes"]

_AT_REST = 0.05  # of the largest force: a test that begins with more begins with a loaded device
_STEEP = 95.0  # percentile of the slopes that counts as the elastic one
_SHORT = 0.02  # of the amplitude: slopes over shorter ways are those of noise


class Sizes(NamedTuple):
    """Sizes of the signals of some tests, in SI units; nan where a signal is not there."""

    F: float
    D: float
    V: float
    K: float
    E: float

    @property
    def secant(self) -> float:
        return self.F / self.D

    @property
    def viscous(self) -> float:
        return self.F / self.V


Span = Callable[[Sizes], tuple[float, float, float]]  # start, lower and upper bound


@dataclass(frozen=True)
class Default:
    """What is free by default, values that others are held at, and the state a loaded device begins with."""

    free: Mapping[str, Span]
    fixed: Mapping[str, Callable[[Sizes], float]] = field(default_factory=dict)
    state: str | None = None


def _about(size: Callable[[Sizes], float], below: float, above: float) -> Span:
    """From `below` to `above` times a size, beginning with the size itself."""
    return lambda s: (size(s), below * size(s), above * size(s))


def _between(start: float, low: float, high: float) -> Span:
    """The same for every device: exponents, ratios."""
    return lambda s: (start, low, high)


def _stiffness(s: Sizes) -> tuple[float, float, float]:
    """Elastic stiffness: at least a part of the secant, begun at the steepest slope."""
    return min(max(s.K, s.secant), 500.0 * s.secant), 0.05 * s.secant, 1000.0 * s.secant


def _power(s: Sizes) -> tuple[float, float, float]:
    """Coefficient C of C |v|^alpha for exponents from 0.05 to 1, begun at one half."""
    ends = sorted([s.F * s.V**-0.05, s.F * s.V**-1.0])
    return s.F * s.V**-0.5, 0.02 * ends[0], 20.0 * ends[1]


def _force(part: float, low: float, high: float) -> Span:
    return lambda s: (part * s.F, low * s.F, high * s.F)


def _length(part: float, low: float, high: float) -> Span:
    return lambda s: (part * s.D, low * s.D, high * s.D)


def _viscous(part: float, high: float) -> Span:
    return lambda s: (part * s.viscous, 0.0, high * s.viscous)


def _yield(s: Sizes) -> tuple[float, float, float]:
    return min(max(0.7 * s.F / max(s.K, s.secant), 2e-4 * s.D), s.D), 1e-4 * s.D, 2.0 * s.D


_STOPS = 8  # of the default member of the Prandtl-Ishlinskii family

# the banded damper of the published tests, by which the others are scaled
_BANDED: dict[str, Span] = {
    "kd": lambda s: (0.2 * s.secant, 1e-3 * s.secant, 10.0 * s.secant),
    "kp": lambda s: (10.0 * s.secant, 0.1 * s.secant, 1e3 * s.secant),
    "kn": lambda s: (10.0 * s.secant, 0.1 * s.secant, 1e3 * s.secant),
    "gp": _length(0.1, 0.0, 1.0),
    "gn": _length(0.1, 0.0, 1.0),
    "w": _length(0.02, 1e-4, 1.0),
    "n_pos": _between(2.0, 0.1, 50.0),
    "n_neg": _between(2.0, 0.1, 50.0),
    "Fc_pos": _force(0.6, 0.01, 2.0),
    "dF_pos": _force(0.1, 0.0, 2.0),
    "Fc_neg": _force(0.6, 0.01, 2.0),
    "dF_neg": _force(0.1, 0.0, 2.0),
    "vs": lambda s: (0.1 * s.V, 1e-3 * s.V, 10.0 * s.V),
    "c": _viscous(0.1, 2.0),
    "fg": _force(0.02, 0.0, 0.5),
    "off": lambda s: (0.0, -0.3 * s.F, 0.3 * s.F),
}
_LUGRE: dict[str, Span] = {
    "sigma0": _stiffness,
    "sigma1": _viscous(0.05, 5.0),
    "sigma2": _viscous(0.05, 2.0),
    "Fc_pos": _force(0.7, 0.02, 2.0),
    "Fs_pos": _force(0.8, 0.02, 3.0),
    "Fc_neg": _force(0.7, 0.02, 2.0),
    "Fs_neg": _force(0.8, 0.02, 3.0),
    "vs": lambda s: (0.1 * s.V, 1e-3 * s.V, 2.0 * s.V),
}

DEFAULTS: dict[str, Default] = {
    "spring": Default({"k": _about(lambda s: s.secant, 1e-3, 100.0)}),
    "dashpot": Default({"c": _about(lambda s: s.viscous, 1e-3, 100.0)}),
    "play": Default({"k": _stiffness, "r": _length(0.3, 0.0, 1.0)}),
    "bilinear": Default(
        {"k": _stiffness, "alpha": _between(0.05, 0.0, 1.0), "f_y": _force(0.7, 0.01, 1.5)}, state="d_p"
    ),
    "bouc_wen": Default(
        {"k": _stiffness, "alpha": _between(0.05, 0.0, 1.0), "d_y": _yield, "n": _between(2.0, 1.0, 12.0)}, state="z"
    ),
    "giuffre_menegotto_pinto": Default(
        {
            "k": _stiffness,
            "f_y": _force(0.7, 0.01, 1.5),
            "b": _between(0.05, 0.0, 0.99),
            "R0": _between(10.0, 1.0, 60.0),
            "cR1": _between(0.9, 0.0, 0.99),
        }
    ),
    "bouc_wen_baber_noori": Default(
        {
            "k0": _stiffness,
            "alpha": _between(0.05, 0.0, 1.0),
            "beta": lambda s: (1.0 / s.D, 0.05 / s.D, 1e4 / s.D),
            "gamma": lambda s: (0.5 / s.D, -50.0 / s.D, 1e3 / s.D),
            "delta_nu": lambda s: (0.1 / s.E, 0.0, 10.0 / s.E),
            "delta_eta": lambda s: (0.1 / s.E, 0.0, 10.0 / s.E),
            "zeta_s": _between(0.3, 0.0, 0.99),
            "p": lambda s: (10.0 / s.E, 0.1 / s.E, 1e4 / s.E),
            "q": _between(0.1, 0.0, 0.8),
            "psi": _length(0.1, 1e-3, 2.0),
        },
        {"delta_psi": lambda s: 0.0},
        state="z",
    ),
    "nonlinear_viscous": Default(
        {"C": _power, "alpha": _between(0.5, 0.05, 1.0)}, {"v_lin": lambda s: min(1e-3, 0.02 * s.V)}
    ),
    "nonlinear_maxwell": Default({"K": _stiffness, "C": _power, "alpha": _between(0.5, 0.05, 1.0)}, state="f_last"),
    "lugre": Default(_LUGRE, state="z"),
    "lugre_exact": Default(_LUGRE, state="y"),
    "lugre_elastoplastic": Default(_LUGRE, state="z"),
    "prandtl_ishlinskii": Default(
        {"k_e": lambda s: (0.2 * s.secant, 0.0, 5.0 * s.secant)}
        | {f"w{i}": lambda s: (s.secant, 0.0, 100.0 * s.secant) for i in range(_STOPS)},
        # thresholds close together where the knee is
        {f"r{i}": lambda s, i=i: 0.8 * s.D * ((i + 1) / _STOPS) ** 2 for i in range(_STOPS)},
    ),
    "gap_slip": Default(_BANDED, {"m": lambda s: 0.0, "lag": lambda s: 0.0}, state="s"),
    "friction_backlash": Default(
        {
            "x0": _length(0.1, 0.0, 1.0),
            "k0": lambda s: (0.5 * s.secant, 1e-2 * s.secant, 100.0 * s.secant),
            "k1": lambda s: (10.0 * s.secant, 0.1 * s.secant, 1e3 * s.secant),
            "sigma0": _stiffness,
            "Fc": _force(0.7, 0.02, 2.0),
            "Fs": _force(0.8, 0.02, 3.0),
            "vs": lambda s: (0.1 * s.V, 1e-3 * s.V, 2.0 * s.V),
        }
    ),
}

# not among "all": why
LEFT_OUT: dict[str, str] = {
    "lugre_exact": "is lugre in another discrete form; name it to have it",
    "lugre_elastoplastic": "is lugre with bristles that hold; name it to have it",
    "friction_backlash": "takes many internal steps for each sample, so that a search is slow; name it to have it",
    "stick_slip": "has 20 parameters and no usual choice among them; name it, and what is free with --free",
    "brfd_gap_slip": "is a virtual specimen with sensor noise; gap_slip is its law",
    "brfd_stick_slip": "is a virtual specimen with sensor noise; stick_slip is its law",
    "viscous_specimen": "is a virtual specimen that drifts; nonlinear_maxwell is its law",
    "mr_damper": "obeys a current, which the tests must say; name it, its current, and what is free with --free",
    "mr_eyring": "obeys a current, which the tests must say; name it, its current, and what is free with --free",
    "variable_friction": "obeys a clamping force, which the tests must say; name it, and what is free with --free",
}


def sizes(tests: Sequence[MeasuredTest]) -> Sizes:
    """Sizes of the signals, the largest over all tests."""
    F = max(float(np.abs(test.f).max()) for test in tests)
    D = max((0.5 * float(np.ptp(test.inputs["d"])) for test in tests if "d" in test.inputs), default=np.nan)
    V = max((float(np.abs(test.inputs["v"]).max()) for test in tests if "v" in test.inputs), default=np.nan)
    if np.isnan(V) and np.isfinite(D):
        V = max(float(np.abs(np.gradient(test.inputs["d"], test.dt)).max()) for test in tests)
    if np.isnan(D) and np.isfinite(V):
        D = max(0.5 * float(np.ptp(np.cumsum(test.inputs["v"]) * test.dt)) for test in tests)
    ways = [test.inputs["d"] if "d" in test.inputs else np.cumsum(test.inputs["v"]) * test.dt for test in tests]
    slopes = np.concatenate([_slopes(way, test.f, _SHORT * D) for way, test in zip(ways, tests, strict=True)])
    K = float(np.percentile(slopes, _STEEP)) if slopes.size else F / D
    E = sum(abs(float(np.sum(0.5 * (t.f[1:] + t.f[:-1]) * np.diff(way)))) for way, t in zip(ways, tests, strict=True))
    return Sizes(F, D, V, K, max(E, 1e-3 * F * D))


def _slopes(d: np.ndarray, f: np.ndarray, way: float) -> np.ndarray:
    """Slopes of the force over ways of about a given length, rising ones alone."""
    lag = 1
    while lag < len(d) // 8 and np.median(np.abs(d[lag:] - d[:-lag])) < way:
        lag *= 2
    dd, df = d[lag:] - d[:-lag], f[lag:] - f[:-lag]
    long = np.abs(dd) > 0.5 * way
    slopes = df[long] / dd[long]
    return slopes[slopes > 0.0]


def beginning(
    name: str, block: Block, tests: Sequence[MeasuredTest]
) -> tuple[Instance, dict[str, tuple[float, float]], str | None]:
    """The law where a search begins, bounds of what is free, and the state to solve for if the tests begin loaded.

    `name` is that of the law in the catalogue; the block of a family has another.
    """
    if name not in DEFAULTS:
        raise BadInput(
            f"{name}: it is not known what to free by default. Name the parameters with --free, out of "
            f"{', '.join(block.params)}."
        )
    chosen, s = DEFAULTS[name], sizes(tests)
    values, bounds = {key: held(s) for key, held in chosen.fixed.items()}, {}
    for key, span in chosen.free.items():
        spec = block.params[key]
        start, low, high = span(s)
        low, high = max(low, spec.low), min(high, spec.high)
        values[key], bounds[key] = min(max(start, low), high), (low, high)
    return block(**values), bounds, loaded_state(name, tests)


def loaded_state(name: str, tests: Sequence[MeasuredTest]) -> str | None:
    """The state to solve for from the first force, where some test begins with a loaded device and the law has one."""
    F = max(float(np.abs(test.f).max()) for test in tests)
    loaded = any(abs(float(test.f[0])) > _AT_REST * F for test in tests)
    return DEFAULTS[name].state if loaded and name in DEFAULTS else None
