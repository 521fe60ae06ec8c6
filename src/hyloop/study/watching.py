"""What an experiment watches beside the motion: members, supports and sections of its frame."""

from typing import Any

from hyloop.errors import BadInput
from hyloop.files.recording import Recording
from hyloop.structure import Model, Structure, Watched
from hyloop.structure.frames.members import Brace, Spring

__all__ = ["described_members", "watched"]

_TABLES = ("members", "reactions", "sections")


def watched(recording: Recording, model: Any, structure: Structure) -> list[Watched]:
    """Rows for the loop; refused where the structure has no members."""
    asked = [table for table in _TABLES if getattr(recording, table)]
    if not asked:
        return []
    if not isinstance(model, Model):
        raise BadInput(
            f"recording.{asked[0]}: this structure has no members with names; those of kind frame, plane_frame and "
            f"tower have. Take {', '.join(asked)} out."
        )
    sections = {name: (spec.member, spec.end) for name, spec in recording.sections.items()}
    every = recording.reactions == ("*",)
    try:
        return model.watch(structure, recording.members, every or recording.reactions, sections)
    except BadInput as error:
        error.args = (f"recording{'.' if str(error).startswith(_TABLES) else ': '}{error}",)
        raise


def described_members(model: Any, names: tuple[str, ...]) -> dict[str, str]:
    """Kind of every member among the channels, for the page: those that dissipate as "brace"."""
    found: dict[str, str] = {}
    members = model.members if isinstance(model, Model) else {}
    for name in names:
        member = members.get(name.rpartition(".")[0])
        if member is not None:
            found[member.name] = "brace" if isinstance(member, (Brace, Spring)) else "member"
    return found
