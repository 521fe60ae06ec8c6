"""What an experiment records: channels, members, supports, sections, and the file."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from hyloop.errors import BadInput
from hyloop.files.fields import Table, refuse
from hyloop.record.layout import check_name

__all__ = ["Recording", "SectionSpec"]


class SectionSpec(Table):
    """A section of a fibre beam-column: its moment and curvature, and on the page one over the other."""

    member: str
    """Name of the member: its group, then its nodes, such as "lower_columns A0-A1"."""
    end: Literal["i", "j"] = "i"
    """At its first node or at its second."""


# as in the files: true, false or names
_SCHEMA = {"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "string"}}]}


def _all(given: Any) -> Any:
    """True stands for all of them, false for none."""
    return (("*",) if given else ()) if isinstance(given, bool) else given


class Recording(Table):
    """What is written, and where."""

    file: str | None = None
    """Recording to write; default out/<name of the experiment file>.h5."""
    channels: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] = ("*",)
    """Channels to record; * and ? match as in a shell."""
    every: Literal["step", "tick"] = "step"
    """Record at every step or at every controller tick."""
    derived: bool = True
    """Record absolute accelerations, story drifts, base shear and energies too."""
    members: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Members of a frame whose forces and deformations are recorded, or single ones: "brace N1*", "column A1.M_i"."""
    reactions: Annotated[tuple[str, ...], Field(strict=False), BeforeValidator(_all), WithJsonSchema(_SCHEMA)] = ()
    """Supports whose forces are recorded, with base shears from them: true for all, or nodes such as "A0"."""
    picture: bool = False
    """Record a moving picture of a frame in space, at most 25 times a second, into NAME.picture.h5 beside the file."""
    sections: dict[str, SectionSpec] = Field(default_factory=dict)
    """Sections of fibre beam-columns, by a name of your own, whose moment and curvature are recorded."""

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.file is not None:
            try:
                check_name(Path(self.file))
            except BadInput as error:
                refuse("file", error)
        return self
