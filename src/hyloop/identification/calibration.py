"""`calibrate`: the few numbers of a known law that today's session has changed, from a short test of today."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hyloop.core.block import Instance
from hyloop.errors import BadInput
from hyloop.identification.defaults import loaded_state
from hyloop.identification.fitting import Estimate, Fit, fit
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.parts import every_nth, force_range, parts, thinned, unseen_error, without
from hyloop.identification.problem import predict
from hyloop.identification.search import Progress
from hyloop.identification.session_numbers import SessionNumber, numbers_of

__all__ = ["Calibration", "SessionValue", "calibrate"]

_REACH = 100.0  # a factor lies between this and its inverse: a band that is not tightened has a tenth of its friction
_SHIFT = 0.3  # of the largest force: reach of an offset
_PARTED = 5000  # samples of all tests where they are predicted part by part
_TOLERANCE = 1e-8  # relative change of the sum of squares at which a descent ends
_AGAIN = 1e-5  # the same where a part is left out, whose error is wanted to three digits
_SURE = 2.0  # standard errors by which the gain in parts not heard must differ from none


@dataclass(frozen=True)
class SessionValue:
    """A number of the session: what it is, its leading parameter, the value of the file, and the estimate."""

    number: SessionNumber
    file: float
    estimate: Estimate

    @property
    def name(self) -> str:
        return self.number.name

    @property
    def factor(self) -> float:
        """Over the value of the file; nan for what is added."""
        return float("nan") if self.number.added else self.estimate.value / self.file

    @property
    def ends(self) -> tuple[float, float]:
        """The interval, as a factor, or in the parameter's unit for what is added; nan where there is none."""
        unit = 1.0 if self.number.added else self.file
        return self.estimate.low / unit, self.estimate.high / unit

    @property
    def moved(self) -> bool:
        """Whether the value of the file lies outside the interval; what has no interval is not known to have moved."""
        return not self.estimate.low <= self.file <= self.estimate.high if self.estimate.observable else False


@dataclass(frozen=True, eq=False)
class Calibration:
    """Result of `calibrate`.

    Attributes
    ----------
    name : str
        The law in the catalogue.
    file : Instance
        The law as it was given.
    fit : Fit
        To all of the tests; its law is that of the session.
    values : tuple of SessionValue
    before : tuple of ndarray
        Force of the given law in every test, in N.
    unseen_before, unseen_after : tuple of float
        Error of the given law, and of the law calibrated on all the rest, in each part that was left out; over the
        range of the measured force.
    parts : str
        What was left out in turn, in words.
    """

    name: str
    file: Instance
    fit: Fit
    values: tuple[SessionValue, ...]
    before: tuple[np.ndarray, ...]
    unseen_before: tuple[float, ...]
    unseen_after: tuple[float, ...]
    parts: str

    @property
    def law(self) -> Instance:
        """The law of the session."""
        return self.fit.law

    @property
    def error_before(self) -> float:
        """Error of the given law over the range of the measured force, all tests together."""
        return _error(self.fit.tests, self.before)

    @property
    def error_after(self) -> float:
        """The same of the calibrated law, in the data it was calibrated on."""
        return _error(self.fit.tests, self.fit.forces)

    @property
    def error_unseen(self) -> float:
        """The same in parts of the tests that it was not calibrated on; nan where none were left out."""
        return float("nan") if not self.unseen_after else float(np.sqrt(np.mean(np.square(self.unseen_after))))

    @property
    def gain(self) -> str:
        """``"better"``, ``"worse"`` or ``"no better"`` than the given law in the parts not heard, by their spread.

        Empty where no parts were left out.
        """
        if not self.unseen_after:
            return ""
        ratio = np.log(np.maximum(self.unseen_after, 1e-12) / np.maximum(self.unseen_before, 1e-12))
        mean, spread = float(np.mean(ratio)), float(np.std(ratio, ddof=1)) / np.sqrt(len(ratio))
        if mean < -_SURE * spread and self.error_unseen < self.error_before:
            return "better"
        return "worse" if mean > _SURE * spread else "no better"


def calibrate(
    name: str,
    law: Instance,
    tests: MeasuredTest | Sequence[MeasuredTest],
    numbers: Sequence[SessionNumber] | None = None,
    *,
    level: float = 0.95,
    validate: bool = True,
    progress: Progress = lambda name, part: None,
) -> Calibration:
    """Find what a session has changed of a law, from short tests of that session; all else is held.

    Parameters
    ----------
    name : str
        The law in the catalogue; it says what a session changes and how a loaded test begins.
    law : Instance
        With the parameters known so far. The search is one descent from them.
    tests : MeasuredTest or sequence of them
        Of this session. Where they begin loaded and say nothing of their start, the law's state is solved for.
    numbers : sequence of SessionNumber
        What to find; default: `hyloop.identification.session_numbers.SESSION`.
    level : float
        Probability of the intervals.
    validate : bool
        Calibrate again without each part of the tests (a whole test where there are three or more, else a fifth of the
        time) and predict it. Without, the errors in parts are empty.
    progress : callable
        Called with what is done and the fraction of it.
    """
    numbers = numbers_of(name, law.block) if numbers is None else tuple(numbers)
    given = _begun(name, law, (tests,) if isinstance(tests, MeasuredTest) else tuple(tests))
    free, tied = _spans(law, given, numbers)
    found = fit(law, given, free, starts=1, level=level, tolerance=_TOLERANCE, tied=tied)
    parted = thinned(given, every_nth(given, _PARTED))
    left = parts(parted) if validate else []
    heard, unheard = [], []
    for k, part in enumerate(left):
        again = fit(law, without(parted, part), free, starts=1, tolerance=_AGAIN, tied=tied)
        unheard.append(unseen_error(law, parted, part))
        heard.append(unseen_error(again.law, parted, part))
        progress("parts", (k + 1) / len(left))
    leaders = {number: _leader(law, number) for number in numbers}
    return Calibration(
        name=name,
        file=law,
        fit=found,
        values=tuple(SessionValue(n, law.params[key], found.estimates[key]) for n, key in leaders.items()),
        before=tuple(predict(law, test) for test in given),
        unseen_before=tuple(unheard),
        unseen_after=tuple(heard),
        parts=("test", "fifth of the test", "fifth of both tests")[len(given) if len(given) < 3 else 0],
    )


def _begun(name: str, law: Instance, tests: Sequence[MeasuredTest]) -> tuple[MeasuredTest, ...]:
    """Tests that begin loaded begin with a state that gives their first force, where the law has one."""
    if not tests:
        raise BadInput("calibrate: give at least one test of this session.")
    state = loaded_state(name, tests) if all(test.start is None for test in tests) else None
    if state is None:
        return tuple(tests)
    begun = tuple(replace(test, start=state) for test in tests)
    try:
        for test in begun:
            predict(law, test)
    except BadInput:
        return tuple(tests)
    return begun


def _leader(law: Instance, number: SessionNumber) -> str:
    """The first parameter of a number that is not zero: the others keep their ratio to it."""
    if number.added:
        return number.params[0]
    leader = next((key for key in number.params if law.params[key]), None)
    if leader is None:
        raise BadInput(
            f"{law.block.name}: {' and '.join(number.params)} is 0 in the file, and a factor on it changes nothing. "
            "Name other parameters with --free."
        )
    return leader


def _spans(
    law: Instance, tests: Sequence[MeasuredTest], numbers: Sequence[SessionNumber]
) -> tuple[Mapping[str, tuple[float, float]], Mapping[str, Sequence[str]]]:
    """Bounds of the leading parameters, inside which all that are tied to them keep their own; and those tied."""
    F = max(float(np.abs(test.f).max()) for test in tests)
    free, tied = {}, {}
    for number in numbers:
        key, specs = _leader(law, number), law.block.params
        value = law.params[key]
        if number.added:
            reach = abs(value) + (_SHIFT * F if specs[key].unit == "N" else _REACH * abs(value) or 1.0)
            free[key] = (max(value - reach, specs[key].low), min(value + reach, specs[key].high))
            continue
        low, high = 1.0 / _REACH, _REACH
        for one in number.params:
            if law.params[one]:
                low, high = max(low, specs[one].low / law.params[one]), min(high, specs[one].high / law.params[one])
        if not low < 1.0 < high:
            raise BadInput(
                f"{law.block.name}: {' and '.join(number.params)} lies on a bound of the law, so that no factor on it "
                "can be found. Name other parameters with --free, or change the file."
            )
        free[key] = (low * value, high * value)
        if others := [one for one in number.params if one != key]:
            tied[key] = others
    return free, tied


def _error(tests: Sequence[MeasuredTest], forces: Sequence[np.ndarray]) -> float:
    squares = sum(float(np.sum((f - test.f)[test.counted] ** 2)) for test, f in zip(tests, forces, strict=True))
    count = sum(int(test.counted.sum()) for test in tests)
    return float(np.sqrt(squares / count)) / force_range(tests)
