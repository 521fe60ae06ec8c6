"""Compensators of experiment files; they run at the tick of the controller, which a file says elsewhere."""

from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from hyloop.core import Instance
from hyloop.files.fields import Quantity
from hyloop.files.transfer import Made
from hyloop.transfer.compensators import (
    amb,
    ats,
    conditional_ats,
    extrapolation,
    inverse,
    phase_lead,
    pi_lead,
    unscented_inverse,
)

__all__: list[str] = []

# The tick of the controller is known when an experiment is built. Until then a table is tried at this one, which is so
# short that it refuses nothing but what no tick allows.
_TRIAL = 1 / 16384  # s

Numbers = Annotated[tuple[float, ...], Quantity("-", depth=1)]
Pairs = Annotated[tuple[tuple[float, ...], ...], Quantity("-", depth=2)]
Bounds = Annotated[tuple[float, ...], Quantity("-", depth=1)]
Seconds = Annotated[float, Quantity("s", above=0.0)]
Metres = Annotated[float, Quantity("m", low=0.0)]
Hertz = Annotated[float, Quantity("Hz", above=0.0)]
Ratio = Annotated[float, Quantity("-", low=0.0)]


class _Compensator(Made):
    """A compensator: it is made for a tick."""

    role: ClassVar[str] = "compensator"
    ramped: ClassVar[bool] = True  # whether it takes derivatives, over the ticks of a step

    def make(self) -> Instance:
        """The block for a trial."""
        return self.at(_TRIAL, 1)

    def at(self, dt: float, substeps: int) -> Instance:
        """The block for a controller tick in s, with so many of them in a step of the structure."""
        more = {"substeps": substeps} if self.ramped else {}
        return type(self)._function(dt=dt, **more, **self.options)


class _Seeded(_Compensator):
    """Coefficients of an inverse plant, of the deformation, its velocity, acceleration and jerk, in s^k."""

    a: Numbers
    """Two to four coefficients to start with. Without better knowledge 1, the delay, half its square."""


class Inverse(_Seeded):
    """The inverse of a known plant; see `hyloop.transfer.compensators.inverse`."""

    law: Literal["inverse"]
    _function: ClassVar[Callable[..., Instance]] = inverse


class _Limited(_Seeded):
    """Coefficients that adapt."""

    limits: Pairs | None = None
    """[low, high] of every coefficient; where both are equal it is held there."""
    rates: Numbers | None = None
    """Largest change of every coefficient in a second."""
    threshold: Metres | None = None
    """Measured deformation below which nothing changes."""
    cutoff: Hertz | None = None
    """Frequency of the low-passes of what was sent and seen."""


class AdaptiveTimeSeries(_Limited):
    """Adaptive time series (ATS) from a moving window; see `hyloop.transfer.compensators.ats`."""

    law: Literal["ats"]
    window: Seconds | None = None
    """Length of the window; one second if not given."""
    every: int | None = None
    """Ticks from one row of the window to the next."""
    _function: ClassVar[Callable[..., Instance]] = ats


class ConditionalAdaptiveTimeSeries(_Limited):
    """Adaptive time series, recursive and on conditions; see `hyloop.transfer.compensators.conditional_ats`."""

    law: Literal["conditional_ats"]
    memory: Seconds | None = None
    """Time after which a sample counts 1/e."""
    noise: Annotated[float, Quantity("m", above=0.0)] | None = None
    """What the filtered command differs from the model by."""
    tolerance: Ratio | None = None
    """Error over the motion below which nothing changes."""
    scales: Numbers | None = None
    """Spread of every seed; half of it if not given."""
    _function: ClassVar[Callable[..., Instance]] = conditional_ats


class AdaptiveModelBased(_Limited):
    """Adaptive model-based compensator (AMB); see `hyloop.transfer.compensators.amb`."""

    law: Literal["amb"]
    speed: Annotated[float, Quantity("1/s", above=0.0)] | None = None
    """How fast the error falls, at a motion of the size `level`."""
    level: Annotated[float, Quantity("m", above=0.0)] | None = None
    """That size."""
    scales: Numbers | None = None
    """How the descent is shared out; the seeds if not given."""
    _function: ClassVar[Callable[..., Instance]] = amb


class UnscentedInverse(_Compensator):
    """Bounded unscented filter on the inverse plant; see `hyloop.transfer.compensators.unscented_inverse`."""

    law: Literal["unscented_inverse"]
    delay: Annotated[tuple[float, ...], Quantity("s", depth=1)] | None = None
    """[low, start, high] of the delay."""
    amplitude: Bounds | None = None
    """[low, start, high] of command over deformation at rest."""
    shape: Pairs | None = None
    """[low, start, high] of the second coefficient over the delay squared, and of the third over its cube."""
    noise: Metres | None = None
    """Standard deviation of the measured deformation."""
    error: Ratio | None = None
    """What the inverse cannot say of the plant, over the largest command of the last second."""
    drift: Annotated[float, Quantity("-", above=0.0)] | None = None
    """Random walk of every number, as a fraction of its start in the root of a second."""
    threshold: Metres | None = None
    """Filtered command below which nothing changes."""
    cutoff: Hertz | None = None
    """Frequency of the low-passes of what was sent and seen."""
    _function: ClassVar[Callable[..., Instance]] = unscented_inverse


class _Filter(_Compensator):
    """A linear filter."""

    ramped: ClassVar[bool] = False
    num: Numbers
    """Coefficients in s (rad/s), highest power first."""
    den: Numbers
    """Coefficients in s (rad/s), highest power first."""


class PhaseLead(_Filter):
    """A phase lead, or any filter of the command; see `hyloop.transfer.compensators.phase_lead`."""

    law: Literal["phase_lead"]
    _function: ClassVar[Callable[..., Instance]] = phase_lead


class PiLead(_Filter):
    """A PI controller behind a phase lead; see `hyloop.transfer.compensators.pi_lead`."""

    law: Literal["pi_lead"]
    kp: Ratio
    """Gain of the error."""
    ki: Annotated[float, Quantity("1/s", low=0.0)]
    """Gain of its integral."""
    _function: ClassVar[Callable[..., Instance]] = pi_lead


class Extrapolation(_Compensator):
    """Polynomial extrapolation; see `hyloop.transfer.compensators.extrapolation`."""

    ramped: ClassVar[bool] = False
    law: Literal["extrapolation"]
    delay: Seconds
    """Delay of the actuator."""
    order: int | None = None
    """Order of the polynomial, 1 to 6; 3 if not given."""
    spacing: Seconds | None = None
    """Time between the samples; the delay if not given."""
    _function: ClassVar[Callable[..., Instance]] = extrapolation
