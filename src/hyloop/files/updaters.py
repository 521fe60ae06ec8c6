"""Models of measured devices in experiment files, and the updaters that keep them true.

A further updater is one more class that inherits `Updater` and names itself, ``updater: Literal["name"]``; files, their
messages and their schema then know it. Its `law` is what the model starts from, and `make` gives a block whose outputs
bear names of parameters of that law. The inputs of the block are measured signals of the site, the force as ``f_m``.
"""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import ConfigDict, Field, GetPydanticSchema, model_validator

from hyloop.core import Instance
from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, refuse
from hyloop.files.free import Shares, read_pairs
from hyloop.files.laws import DeviceSpec
from hyloop.files.networks import NetworkFile
from hyloop.files.updater import UPDATERS, Hearing, Updater
from hyloop.neural import HysteresisNetwork
from hyloop.updating import ensemble, filtered_network, forgetting_network, recursive_least_squares, sensed, unscented
from hyloop.updating.filters.sensed import LATEST, SENSOR_SHARES, sensor_shares

__all__ = [
    "UPDATERS",
    "Constant",
    "Ensemble",
    "FilteredNetwork",
    "FixedNetwork",
    "ForgettingNetwork",
    "LeastSquares",
    "ModelSpec",
    "Unscented",
    "Updater",
]


class _Model(Updater):
    """A device law that stands at the sites that follow."""

    device: DeviceSpec
    """What the other sites believe the device to be when the run begins."""

    @property
    def law(self) -> Instance:
        """The model as it starts."""
        return self.device.make()

    @model_validator(mode="after")
    def _not_drawn(self) -> Self:
        if self.device.draw:
            refuse("device.draw", BadInput("a model is what is believed of the device; give its parameters instead."))
        return self


class Constant(_Model):
    """The model as it starts, never updated: what updating has to beat."""

    updater: Literal["constant"]


class _Updated(_Model, Hearing):
    """A model with free parameters. Options not given are those of the function that makes the updater."""

    free: dict[str, Annotated[tuple[float, float], Field(strict=False)]]
    """Parameters to follow, each with its lower and upper bound."""
    initial_std: Shares = None
    """Uncertainty of the start, as a fraction of it."""
    offset: Annotated[tuple[float, ...], Quantity("N", depth=1)] | None = None
    """Bounds of an offset of the measured force, to be found too; it may drift."""
    late: Annotated[int, Field(ge=1, le=LATEST)] | None = None
    """Longest delay of the measured force in ticks, to be found too."""
    _function: ClassVar[Callable[..., Instance]]
    # no options of the function
    _others: ClassVar[tuple[str, ...]] = ("updater", "device", "free", "offset", "late", *Hearing.model_fields)

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """Bounds of the estimates in SI units."""
        return self.free | self._sensor

    @property
    def _sensor(self) -> dict[str, Any]:
        """Bounds of what is unknown of the sensor."""
        given = {"sensor_offset": self.offset, "sensor_delay": self.late and (0.0, float(self.late))}
        return {key: pair for key, pair in given.items() if pair}

    @property
    def options(self) -> dict[str, Any]:
        """Options given, for the function that makes the updater."""
        given = {key: getattr(self, key) for key in type(self).model_fields if key not in self._others}
        given = {key: value for key, value in given.items() if value is not None} | {"noise": self.noise or 1.0}
        shares = [key for key in SENSOR_SHARES if self._sensor and key in type(self).model_fields]
        return given | {key: sensor_shares(key, given.get(key), self.free, self._sensor) for key in shares}

    @property
    def believed(self) -> Instance:
        """What the updater takes the measured force for: that of the law, or of the law behind its load cell."""
        return sensed(self.law, self.late or 1) if self._sensor else self.law

    def make(self) -> Instance:
        """The updater as a block."""
        return type(self)._function(self.believed, self.limits, **self.options)

    @model_validator(mode="before")
    @classmethod
    def _in_units(cls, given: Any) -> Any:
        """Read bounds and states in the units of the law."""
        return read_pairs(given, cls.model_fields)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        rules = {key: value for key, value in self.options.items() if key in ("noise", "bounds")}
        for key, pair in self.limits.items():
            try:
                type(self)._function(self.believed, {key: pair}, **rules)
            except BadInput as error:
                refuse("offset" if key == "sensor_offset" else f"free.{key}", error)
        try:
            self.make()
        except BadInput as error:
            refuse("updater", error)
        return self


class Unscented(_Updated):
    """Unscented Kalman filter; see `hyloop.updating.unscented`."""

    updater: Literal["unscented"]
    process: Shares = None
    """Random walk of the parameters in a tick, as a fraction of their start."""
    alpha: Annotated[float, Quantity("-", above=0.0)] | None = None
    """Distance of the sigma points from the mean in standard deviations, over the root of their number."""
    beta: Annotated[float, Quantity("-")] | None = None
    """Knowledge of the distribution; 2 is best for a Gaussian one."""
    kappa: Annotated[float, Quantity("-")] | None = None
    """Second scale of the sigma points."""
    bounds: Literal["clip", "transform", "shrink"] | None = None
    """How the bounds are kept."""
    repair: Literal["square-root", "nearest", "none"] | None = None
    """How the covariance is kept positive definite."""
    states: dict[str, Annotated[tuple[float, float], Field(strict=False)]] | None = None
    """States of the law to filter too, each with its uncertainty at the start and in a tick."""
    delay: Annotated[float, Quantity("-", low=0.0)] | None = None
    """Ticks by which the measured force comes late."""
    _function: ClassVar[Callable[..., Instance]] = unscented


class Ensemble(_Updated):
    """Ensemble Kalman filter; see `hyloop.updating.ensemble`."""

    updater: Literal["ensemble"]
    process: Shares = None
    """Random walk of the parameters in a tick, as a fraction of their start."""
    members: Annotated[int, Field(ge=2, le=1000)] | None = None
    """Number of models."""
    bounds: Literal["clip", "transform"] | None = None
    """How the bounds are kept."""
    seed: Annotated[int, Field(ge=0, lt=2**52)] | None = None
    """Names the random walk."""
    _function: ClassVar[Callable[..., Instance]] = ensemble


class LeastSquares(_Updated):
    """Recursive least squares that forget; see `hyloop.updating.recursive_least_squares`."""

    updater: Literal["recursive_least_squares"]
    forgetting: Annotated[float, Quantity("-", above=0.0, high=1.0)] | None = None
    """Weight of a sample relative to the next."""
    windup: Annotated[float, Quantity("-", above=0.0)] | None = None
    """Growth of the uncertainty above which nothing is forgotten."""
    _function: ClassVar[Callable[..., Instance]] = recursive_least_squares


class FixedNetwork(Updater):
    """A trained network of any kind, never updated."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    updater: Literal["frozen_network"]
    network: NetworkFile
    """File of a trained network, relative to the experiment file."""

    @property
    def law(self) -> Instance:
        return self.network.device()


class _Networked(Updater):
    """A hysteresis network. Options not given are those of the function that makes the updater."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    network: NetworkFile
    """File of a network that `hyloop.updating.pretrain` made, relative to the experiment file."""
    _function: ClassVar[Callable[..., Instance]]

    @property
    def law(self) -> Instance:
        """The network as it was trained."""
        return self.network.device()

    def make(self) -> Instance:
        """The updater as a block."""
        given = {key: getattr(self, key) for key in type(self).model_fields if key not in ("updater", "network")}
        options = {key: value for key, value in given.items() if value is not None}
        return type(self)._function(self.network, **options)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not isinstance(self.network, HysteresisNetwork):
            refuse(
                "network",
                BadInput(
                    f"holds a {self.network.model} model; this updater needs a hysteresis network, made by "
                    "hyloop.updating.pretrain."
                ),
            )
        try:
            self.make()
        except BadInput as error:
            refuse("updater", error)
        return self


class FilteredNetwork(_Networked):
    """Kalman filter on scales and weights of a network; see `hyloop.updating.filtered_network`."""

    updater: Literal["filtered_network"]
    noise: Annotated[float, Quantity("N", low=0.0)] | None = None
    """Standard deviation of the measured force."""
    noise_d: Annotated[float, Quantity("m", low=0.0)] | None = None
    """Standard deviation of the measured deformation."""
    model_error: Annotated[float, Quantity("-", above=0.0)] | None = None
    """What the network cannot represent, as a fraction of half the force range of its training."""
    scale_std: Annotated[float, Quantity("-", above=0.0)] | None = None
    """Uncertainty of the logarithms of the two scales."""
    weight_std: Annotated[float, Quantity("-", above=0.0)] | None = None
    """Uncertainty of the weights."""
    process: Annotated[float, Quantity("-", low=0.0)] | None = None
    """Random walk of both in a tick, as a fraction of these."""
    adapt: Literal["all", "output", "scales"] | None = None
    """Weights that may change."""
    _function: ClassVar[Callable[..., Instance]] = filtered_network


class ForgettingNetwork(_Networked):
    """Network retrained in every tick on a window that forgets; see `hyloop.updating.forgetting_network`."""

    updater: Literal["forgetting_network"]
    window: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Samples in the window."""
    forgetting: Annotated[float, Quantity("-", above=0.0, high=1.0)] | None = None
    """Weight of a sample over that of the next one."""
    damping: Annotated[float, Quantity("-", above=0.0)] | None = None
    """Levenberg-Marquardt damping at the start of a tick."""
    iterations: Annotated[int, Field(ge=1, le=1000)] | None = None
    """Steps in a tick."""
    anchor: Annotated[float, Quantity("-", low=0.0)] | None = None
    """Weight of the distance from the pre-trained weights."""
    fallback: bool | None = None
    """Use the pre-trained weights wherever they explain the window better."""
    budget: Annotated[float, Quantity("s", above=0.0)] | None = None
    """Time for a tick."""
    _function: ClassVar[Callable[..., Instance]] = forgetting_network


def _any_updater(source: Any, handler: Any) -> Any:
    """Schema of a table that is one of all updaters."""
    return handler.generate_schema(Annotated[reduce(or_, UPDATERS.values()), Field(discriminator="updater")])


ModelSpec = Annotated[Updater, GetPydanticSchema(_any_updater)]
