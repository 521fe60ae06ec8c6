"""What a monitor is told: how its band is made, what it watches, and when it hands over."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from hyloop.errors import BadInput, OutOfBounds, UnknownName

__all__ = ["GAIN", "MOST_MARGIN", "START", "Band", "Watch"]

GAIN = 2.0  # 1/s: over a run of T s the coverage is then off by at most about (largest error over score) / (2 T)
START = 1.6449  # half width of 90 % of a normal distribution, in standard deviations
MOST_MARGIN = 0.1  # of the capacity: no force beyond it leaves the guard


@dataclass(frozen=True)
class Band:
    r"""A band round the force, q(t) · score(t) wide to either side.

    .. math:: score = floor + force \cdot |f(t)| + spread \cdot s(t) + range \cdot D(t) + twin \cdot R(t)

    with the force *f* of the model in N (no larger than `Watch` allows), the standard deviation *s* of the networks at
    the site in N, the distance *D* of the inputs beyond the training range (root of the sum of squares over the inputs,
    each as a part of the width of its range), and the running root mean square *R* of the residual of the twin at the
    measured site in N.

    With ``gain = 0`` q is a constant, calibrated before (`hyloop.metrics.calibrate`). Else it follows the misses of the
    twin at the measured site, where the truth is known, and `q` is what it begins with:

    .. math:: q_{k+1} = q_k + gain\,\Delta t\,(miss_k - (1 - coverage))

    (the quantile tracker of Angelopoulos, Candès, Tibshirani 2023, arXiv:2307.16895; the additive form of Gibbs, Candès
    2021, arXiv:2106.00170). Whatever the errors are, over T seconds the share of misses is then 1 - coverage within
    max(q_0 + gain Δt, largest error over score + gain Δt - q_0) / (gain T). Ticks at rest, with the measured force and
    that of the twin below `floor`, count for nothing.

    Parameters
    ----------
    coverage : float
        Share of the ticks in which the true force shall lie in the band.
    floor : float
        Score in N where nothing else speaks; must be positive.
    q : float
        Half width over score.
    force, spread, twin : float
        Weights of the size of the force, of the spread of the networks and of the residual of the twin, without unit.
    range : float
        Weight of the distance beyond the training range, in N.
    gain : float
        How fast q follows, in 1/s; zero: not at all.
    """

    coverage: float
    floor: float
    q: float = START
    force: float = 0.0
    spread: float = 0.0
    range: float = 0.0
    twin: float = 0.0
    gain: float = 0.0

    def __post_init__(self) -> None:
        _numbers(self, "band")
        if not 0.0 < self.coverage < 1.0:
            raise OutOfBounds(f"band: coverage = {self.coverage:g} must lie between 0 and 1, such as 0.9.")
        for key in ("floor", "q"):
            if not getattr(self, key) > 0.0:
                raise OutOfBounds(f"band: {key} = {getattr(self, key):g} must be positive.")
        for key in ("force", "spread", "range", "twin", "gain"):
            if getattr(self, key) < 0.0:
                raise OutOfBounds(f"band: {key} = {getattr(self, key):g} must not be negative.")
        if self.gain > 0.0 and self.twin == 0.0:
            raise BadInput(
                "band: gain is for a band that follows the residual of a twin; give twin a weight, such as 1."
            )

    def as_json(self) -> dict[str, float]:
        """Plain numbers, for ``about["band"]`` of the card of a network or a JSON file."""
        return asdict(self)

    @classmethod
    def from_json(cls, given: Mapping[str, Any]) -> "Band":
        known = [entry.name for entry in fields(cls)]
        for key in given:
            if key not in known:
                raise UnknownName("key", key, known, where="band")
        return cls(**given)


@dataclass(frozen=True)
class Watch:
    r"""When a model is trusted, and how the force passes to its fallback and back.

    Trust is the smallest of these numbers, each held within [0, 1], and 0 where an output of a network or of the twin
    is not a finite number:

    - ``1 - half width of the band / widest``
    - ``1 - D / far``, with the distance D of the inputs beyond the training range
    - ``1 - (\|f\| - capacity) / (margin capacity)``
    - ``1 - A / apart``, with the running root mean square A of the difference between model and fallback

    Below `limit` the fallback takes over; the model comes back when trust has been `back` or more for `calm` seconds.

    Parameters
    ----------
    capacity : float
        Largest force of the device in N. With a fallback no force beyond (1 + margin) capacity leaves the guard.
    margin : float
        See there; at most 0.1.
    widest : float, optional
        Half width of the band in N at which trust is zero; half the capacity if not said.
    far : float
        Distance beyond the training range at which trust is zero; 1 is the width of the range of one input.
    apart : float, optional
        Difference from the fallback in N at which trust is zero; half the capacity if not said.
    limit, back : float
        Trust below which the fallback takes over, and from which on the model may come back.
    calm : float
        How long trust must have been there, in s.
    blend : float
        Time in s from one force to the other, at least.
    slew : float, optional
        Largest rate in N/s at which the handover itself may change the force; 2 capacity / blend if not said.
    window : float
        Time constant in s of running root mean squares.
    fallback_half : float, optional
        Half width in N of the band while the fallback has the force, for which nothing was calibrated; the capacity if
        not said.
    """

    capacity: float
    margin: float = 0.05
    widest: float | None = None
    far: float = 0.5
    apart: float | None = None
    limit: float = 0.25
    back: float = 0.5
    calm: float = 1.0
    blend: float = 0.1
    slew: float | None = None
    window: float = 1.0
    fallback_half: float | None = None

    def __post_init__(self) -> None:
        _numbers(self, "trust")
        for key in (
            "capacity",
            "margin",
            "far",
            "limit",
            "blend",
            "window",
            "widest",
            "apart",
            "slew",
            "fallback_half",
        ):
            value = getattr(self, key)
            if value is not None and not value > 0.0:
                raise OutOfBounds(f"trust: {key} = {value:g} must be positive.")
        if self.margin > MOST_MARGIN:
            raise OutOfBounds(
                f"trust: margin = {self.margin:g} must be at most {MOST_MARGIN:g}, a share of the capacity."
            )
        if not self.limit <= self.back <= 1.0:
            raise OutOfBounds(
                f"trust: limit = {self.limit:g} and back = {self.back:g} must be in this order and at most 1."
            )
        if self.calm < 0.0:
            raise OutOfBounds(f"trust: calm = {self.calm:g} s must not be negative.")

    @property
    def complete(self) -> dict[str, float]:
        """All numbers, with what was not said."""
        own = {
            "widest": 0.5 * self.capacity,
            "apart": 0.5 * self.capacity,
            "slew": 2.0 * self.capacity / self.blend,
            "fallback_half": self.capacity,
        }
        return own | {key: value for key, value in asdict(self).items() if value is not None}


def _numbers(settings: Any, where: str) -> None:
    for entry in fields(settings):
        value = getattr(settings, entry.name)
        if value is None and entry.default is None:
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
            raise BadInput(f"{where}: {entry.name} = {value!r} must be a finite number.")
