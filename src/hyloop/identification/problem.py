"""The law, the tests and the free parameters as one problem: residuals and their Jacobian in compiled code."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from hyloop.core.block import Instance
from hyloop.core.jit import call_block, jit, pointer, verb
from hyloop.core.tick import check_tick
from hyloop.errors import BadInput, UnknownName
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.ranges import Range

__all__ = ["Problem", "Sensitivity", "predict"]

_STEP = 1e-5  # of the range: central differences then err by 1e-10 of a smooth law, far above its round-off
_ABSURD = 1e3  # times the largest measured force: the residual where a law has no finite answer
_WIDENINGS, _BISECTIONS = 70, 90  # from 1e-9 to 1e12, and from there to the last bit


class Problem:
    r"""Weighted residuals :math:`r = w\,(f(z) - f_m)` of a law, all tests in one vector, over places z in [0, 1].

    Parameters
    ----------
    law : Instance
        Fixes every parameter that is not free.
    tests : sequence of MeasuredTest
        At least one.
    free : mapping of str to Range
        The parameters to find.
    sensitivity : callable, optional
        Makes, from this problem, a function ``(p, x0) -> (samples, free)``: the exact derivative of the force with
        respect to the free parameters, for all parameters p and the initial states x0 (tests, states). Default: central
        differences in z.
    tied : mapping of str to names
        Free parameters and others that keep their ratio to them: friction levels of one side, for instance.
    """

    def __init__(
        self,
        law: Instance,
        tests: Sequence[MeasuredTest],
        free: Mapping[str, Range],
        sensitivity: "Sensitivity | None" = None,
        tied: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.law, self.tests, self.free = law, tuple(tests), dict(free)
        self.tied = {leader: tuple(others) for leader, others in (tied or {}).items()}
        self.names = tuple(self.free)
        block = law.block
        for test in self.tests:
            check_tick(block.name, block.tick, test.dt, test.name)
        order = list(block.params)
        self.places = np.array([order.index(key) for key in self.names], dtype=int)
        self._p = np.array(list(law.params.values()), dtype=float)
        self._ratios = [
            (order.index(key), order.index(leader), law.params[key] / law.params[leader])
            for leader, others in self.tied.items()
            for key in others
        ]
        starts = [_initial_state(law, test) for test in self.tests]
        self._x0 = np.array([x for x, _ in starts])
        self.solved = np.array([j for _, j in starts])
        self._first = np.cumsum([0, *(test.f.size for test in self.tests)])
        self._dt = np.array([float(test.dt) for test in self.tests])
        columns = [np.column_stack([test.inputs[key] for key in block.inputs]) for test in self.tests]
        self._u = np.ascontiguousarray(np.concatenate(columns))
        self.measured = np.concatenate([test.f for test in self.tests])
        self.weight = np.concatenate([test.weight for test in self.tests])
        self._out = list(block.outputs).index("f")
        self._absurd = _ABSURD * max(float(np.abs(self.measured).max()), 1.0)
        self.evaluations = 0
        self._sensitivity = sensitivity(self) if sensitivity else None

    def parameters(self, z: np.ndarray) -> np.ndarray:
        """All parameters of the law at the places z."""
        p = self._p.copy()
        p[self.places] = [span.value(float(at)) for span, at in zip(self.free.values(), z, strict=True)]
        for key, leader, ratio in self._ratios:
            p[key] = ratio * p[leader]
        return p

    def fitted(self, z: np.ndarray) -> Instance:
        """The law with the parameters at the places z."""
        values = dict(zip(self.law.block.params, map(float, self.parameters(z)), strict=True))
        return replace(self.law, params=values)

    def start(self) -> np.ndarray:
        """Places of the law's own parameters."""
        return np.array([span.place(self.law.params[key]) for key, span in self.free.items()])

    def force(self, z: np.ndarray) -> np.ndarray:
        """Force of the law over all tests; nan where it has no answer."""
        f = np.empty(len(self.measured))
        width = len(self.law.block.outputs)
        self.evaluations += 1
        _drive(
            self.law.block.address,
            self.parameters(z),
            self._x0,
            self.solved,
            self._first,
            self._dt,
            self._u,
            self.measured,
            width,
            self._out,
            f,
        )
        return f

    def residuals(self, z: np.ndarray) -> np.ndarray:
        error = self.force(z) - self.measured
        bad = ~(np.abs(error) < self._absurd)
        if bad.any():
            error[bad] = self._absurd
        return self.weight * error

    def cost(self, z: np.ndarray) -> float:
        """Half the sum of squares."""
        r = self.residuals(z)
        return 0.5 * float(r @ r)

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """dr/dz, (samples, free)."""
        if self._sensitivity is not None:
            slopes = [span.slope(float(at)) for span, at in zip(self.free.values(), z, strict=True)]
            p = self.parameters(z)
            return self.weight[:, None] * self._sensitivity(p, self.solved_states(p)) * slopes
        J = np.empty((len(self.measured), len(z)))
        for j in range(len(z)):
            ahead, back = z.copy(), z.copy()
            ahead[j], back[j] = min(z[j] + _STEP, 1.0), max(z[j] - _STEP, 0.0)
            J[:, j] = (self.residuals(ahead) - self.residuals(back)) / (ahead[j] - back[j])
        return J

    def split(self, samples: np.ndarray) -> list[np.ndarray]:
        """A vector over all tests, test by test."""
        return np.split(samples, self._first[1:-1])

    def solved_states(self, p: np.ndarray) -> np.ndarray:
        """Initial states of the tests, (tests, states), for given parameters; nan where none gives the first force."""
        x0 = self._x0.copy()
        width = len(self.law.block.outputs)
        for k, j in enumerate(self.solved):
            if j >= 0:
                i = self._first[k]
                _begin(
                    self.law.block.address,
                    x0[k],
                    j,
                    self._u[i].copy(),
                    self._dt[k],
                    p,
                    self.measured[i],
                    width,
                    self._out,
                )
        return x0

    def check(self) -> None:
        """Refuse tests whose first force the law cannot have."""
        for test, x in zip(self.tests, self.solved_states(self._p), strict=True):
            if np.isnan(x).any():
                raise BadInput(
                    f"{test.name}: no value of the state '{test.start}' gives the first measured force, "
                    f"{test.f[0]:g} N. Name another state of {', '.join(self.law.block.state)}, give "
                    "initial values, or begin the record elsewhere."
                )


def predict(law: Instance, test: MeasuredTest) -> np.ndarray:
    """Force of a law in a test in N, free-running from the start that the test states."""
    problem = Problem(law, [test], {})
    problem.check()
    return problem.force(np.zeros(0))


Sensitivity = Callable[[Problem], Callable[[np.ndarray, np.ndarray], np.ndarray]]


def _initial_state(law: Instance, test: MeasuredTest) -> tuple[np.ndarray, int]:
    """Initial state of a test, and the index of the state to solve for from the first force (-1: none)."""
    if test.start is None:
        return law.x0, -1
    solved = test.start if isinstance(test.start, str) else None
    given = {} if isinstance(test.start, str) else dict(test.start)
    for key in given if solved is None else [solved]:
        if key not in law.initial:
            raise UnknownName("state", key, law.initial, where=f"{test.name}: start of {law.block.name}")
    if solved is None:
        return replace(law, initial=law.initial | given).x0, -1
    # at rest: what the law remembers of the last sample is the first one
    memory = {f"{key}_last": float(signal[0]) for key, signal in test.inputs.items() if f"{key}_last" in law.initial}
    return replace(law, initial=law.initial | memory).x0, list(law.initial).index(solved)


@verb
def _force_at(address, x, j, at, u, dt, p, y, work, out):
    """Force after the first tick from a state whose element j has a given value."""
    for i in range(len(x)):
        work[i] = x[i]
    work[j] = at
    call_block(address, pointer(work), 0, pointer(u), 0, dt, pointer(p), 0, pointer(y), 0)
    return y[out]


@jit
def _begin(address, x, j, u, dt, p, target, width, out):
    """Set state j so that the first force is `target`: widen round its value until that is bracketed, then bisect."""
    y, work = np.empty(width), np.empty(len(x))
    low = high = centre = x[j]
    error_low = error_high = _force_at(address, x, j, centre, u, dt, p, y, work, out) - target
    reach = 1e-9
    for _ in range(_WIDENINGS):
        if error_low * error_high <= 0.0:
            break
        low, high = centre - reach, centre + reach
        error_low = _force_at(address, x, j, low, u, dt, p, y, work, out) - target
        error_high = _force_at(address, x, j, high, u, dt, p, y, work, out) - target
        reach *= 2.0
    if not error_low * error_high <= 0.0:
        x[j] = np.nan
        return
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        error = _force_at(address, x, j, middle, u, dt, p, y, work, out) - target
        if error * error_low > 0.0:
            low, error_low = middle, error
        else:
            high = middle
    x[j] = 0.5 * (low + high)


@jit
def _drive(address, p, x0, solved, first, dt, inputs, measured, width, out, f):
    u, y, x = np.empty(inputs.shape[1]), np.empty(width), np.empty(x0.shape[1])
    for k in range(len(dt)):
        x[:] = x0[k]
        if solved[k] >= 0:
            u[:] = inputs[first[k]]
            _begin(address, x, solved[k], u, dt[k], p, measured[first[k]], width, out)
        for i in range(first[k], first[k + 1]):
            u[:] = inputs[i]
            call_block(address, pointer(x), 0, pointer(u), 0, dt[k], pointer(p), 0, pointer(y), 0)
            f[i] = y[out]
