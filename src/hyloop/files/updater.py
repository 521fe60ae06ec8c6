"""What every updater of experiment files is, and the table of those there are."""

from abc import abstractmethod
from typing import Annotated, Any, get_args

from hyloop.core import Instance
from hyloop.files.fields import Quantity, Table

__all__ = ["UPDATERS", "Updater", "Velocity"]

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

    def make(self) -> Instance | None:
        """The updater as a block; None where nothing is updated."""
        return None
