"""What every updater of experiment files is, and the table of those there are."""

from abc import abstractmethod
from typing import Any, get_args

from hyloop.core import Instance
from hyloop.files.fields import Table

__all__ = ["UPDATERS", "Updater"]

UPDATERS: dict[str, type["Updater"]] = {}


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

    def make(self) -> Instance | None:
        """The updater as a block; None where nothing is updated."""
        return None
