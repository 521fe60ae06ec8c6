"""What every table of a transfer system is, and the two lists of those there are.

`BLOCKS` has the blocks whose parameters are all there is to say: numbers with units and bounds that the block itself
declares. `MAKERS` has those that a function makes because a size or an order is part of their structure.

To add one of your own, in `hyloop.files.transfers`:

- a plain block, one line: ``BLOCKS["phase_lead"] = Entry(phase_lead, "compensator")``. Its parameters are then keys
  of the table, in their units.
- a function ``name(...) -> Instance``, one class: inherit `Made`, say ``law: Literal["name"]``, the `role`, the
  `_function`, and one field with a sentence for each keyword argument. Fields that are None are left to the function's
  own defaults. Numbers with units are ``Annotated[float, Quantity("s", above=0.0)] | None = None``, lists
  ``Annotated[tuple[float, ...], Quantity("-", depth=1)]``. What the function refuses with `BadInput` is refused in the
  file, at the key with which its message begins.

Then a line in `files.reference_pages`, and an example in ``reference_examples.txt``, for a class of `MAKERS`.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self, get_args

from pydantic import model_validator

from hyloop.core import Block, Instance
from hyloop.errors import BadInput
from hyloop.files.fields import Table, refuse

__all__ = ["BLOCKS", "MAKERS", "Entry", "Made"]


class Entry(NamedTuple):
    """A plain block and the role it is for."""

    block: Block
    role: str


BLOCKS: dict[str, Entry] = {}
MAKERS: dict[str, type["Made"]] = {}


class Made(Table):
    """A block that a function makes of what the table says."""

    role: ClassVar[str] = "actuator"
    file: ClassVar[None] = None  # it has no law from a file
    draw: ClassVar[bool] = False
    law: Any  # a `Literal` of one word in each
    """Its name."""
    _function: ClassVar[Callable[..., Instance]]

    @classmethod
    def __pydantic_init_subclass__(cls, **rest: Any) -> None:
        """Enter the class under the name that its `law` says; classes without a name are for others to inherit."""
        super().__pydantic_init_subclass__(**rest)
        for name in get_args(cls.model_fields["law"].annotation):
            MAKERS[name] = cls

    @property
    def options(self) -> dict[str, Any]:
        """Options given, for the function."""
        given = {key: getattr(self, key) for key in type(self).model_fields if key != "law"}
        return {key: value for key, value in given.items() if value is not None}

    def make(self) -> Instance:
        """The block."""
        return type(self)._function(**self.options)

    @property
    def outputs(self) -> dict[str, str]:
        """Signals that it gives, with their units."""
        return dict(self.make().block.outputs)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        try:
            self.make()
        except BadInput as error:
            said = str(error)
            refuse(next((key for key in type(self).model_fields if said.startswith(key)), "law"), error)
        return self
