"""What every updater of experiment files is, and the table of those there are."""

from abc import abstractmethod
from typing import Annotated, Any, Self, get_args

from pydantic import PlainValidator, WithJsonSchema, model_validator

from hyloop.core import Instance
from hyloop.errors import BadInput
from hyloop.files.fields import Quantity, Table, refuse

__all__ = ["UPDATERS", "Hearing", "Updater", "Velocity"]

UPDATERS: dict[str, type["Updater"]] = {}


class Velocity(Table):
    """How velocity and acceleration are made of the measured deformation; see `hyloop.transfer.kinematics`."""

    cutoff: Annotated[float, Quantity("Hz", low=1e-3)]
    """Cut-off of the low-pass, at most a quarter of the controller rate."""


class Updater(Table):
    """A model that stands at the sites that follow, and what keeps it true."""

    @classmethod
    def __pydantic_init_subclass__(cls, **rest: Any) -> None:
        """Enter the class under the name that its `updater` says; classes without a name are for others to inherit."""
        super().__pydantic_init_subclass__(**rest)
        if "updater" in cls.model_fields:
            (name,) = get_args(cls.model_fields["updater"].annotation)
            UPDATERS[name] = cls

    @property
    @abstractmethod
    def law(self) -> Instance:
        """The model as it starts."""
        raise NotImplementedError

    @property
    def limits(self) -> dict[str, tuple[float, float]]:
        """Bounds in SI units of the estimates that are worth a figure."""
        return {}

    @property
    def cutoff(self) -> float | None:
        """Cut-off in Hz of the velocity that it hears, where no instrument gives one; None for the usual one."""
        return None

    @property
    def unknown_noise(self) -> dict[str, float] | None:
        """Settings of `hyloop.updating.noise_level`, where the noise is to be found while it runs."""
        return None

    def make(self) -> Instance | None:
        """The updater as a block; None where nothing is updated."""
        return None


def _noise(given: Any) -> float | None:
    """A standard deviation in N; None where it is to be found."""
    return None if given in (None, "estimated") else Quantity("N", above=0.0).read(given)


class Hearing(Updater):
    """An updater that says how well it hears."""

    noise: Annotated[
        Any, PlainValidator(_noise), WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "string"}]})
    ] = None
    """Standard deviation of the measured force in N. Left out, or "estimated": found while it runs, from third
    differences of the force, with model_error."""
    model_error: Annotated[float, Quantity("-", low=0.0)] | None = None
    """What the law cannot follow, as a fraction of the largest force so far, where the noise is estimated (else it is
    part of the noise given); 4 % if not said."""
    velocity: Velocity | None = None
    """For laws of velocity or acceleration: how these are made of the deformation where no instrument gives them
    (by default with a cut-off of 50 Hz, or of a quarter of the controller rate where that is less)."""

    @property
    def cutoff(self) -> float | None:
        return None if self.velocity is None else self.velocity.cutoff

    @property
    def unknown_noise(self) -> dict[str, float] | None:
        if self.noise is not None:
            return None
        return {} if self.model_error is None else {"model_error": self.model_error}

    @model_validator(mode="after")
    def _one_noise(self) -> Self:
        if self.noise is not None and self.model_error is not None:
            refuse("model_error", BadInput("is for a noise that is estimated; a noise that is given contains it."))
        return self
