"""What an experiment records: channels, sections, and the file."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hyloop.errors import BadInput
from hyloop.files.fields import Table, refuse
from hyloop.record.layout import check_name

__all__ = ["Recording", "SectionSpec"]


class SectionSpec(Table):
    """A section of a fibre beam-column whose moment and curvature the page shows."""

    member: str
    """Name of the member: its group, then its nodes, such as "lower_columns A0-A1"."""
    end: Literal["i", "j"] = "i"
    """At its first node or at its second."""


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
    picture: bool = False
    """Record a moving picture of a frame in space, at most 25 times a second, into NAME.picture.h5 beside the file."""
    sections: dict[str, SectionSpec] = Field(default_factory=dict)
    """Sections of fibre beam-columns, by a name of your own, whose moment and curvature the page shows."""

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.file is not None:
            try:
                check_name(Path(self.file))
            except BadInput as error:
                refuse("file", error)
        return self
