"""What changes from one session of a laboratory to the next, law by law: a few numbers, and all else is held.

A device that is mounted again, has been at rest, or is warm from the last test keeps its gaps and stiffnesses and
changes its friction. So the laws of friction have a factor on the friction levels of each side, which move together,
and an offset of the load cell where the law has one; other laws have a factor on everything that is a force, and one
on everything that is a length.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hyloop.core.block import Block
from hyloop.errors import BadInput, UnknownName

__all__ = ["SESSION", "SessionNumber", "numbers_from", "numbers_of"]


class SessionNumber(NamedTuple):
    """One number: what it is, the parameters that move together, and whether it is added and not multiplied."""

    name: str
    params: tuple[str, ...]
    added: bool = False


def _force(*params: str) -> SessionNumber:
    return SessionNumber("force", params)


def _length(*params: str) -> SessionNumber:
    return SessionNumber("length", params)


def _sides(*levels: str) -> tuple[SessionNumber, ...]:
    """A factor on the friction levels of each side; the signs are those of the force."""
    return tuple(
        SessionNumber(f"friction of the {sign} side", tuple(f"{level}_{side}" for level in levels))
        for sign, side in (("+", "pos"), ("-", "neg"))
    )


_OFFSET = SessionNumber("offset", ("off",), added=True)
_STOPS = range(8)  # of the default member of the Prandtl-Ishlinskii family

SESSION: dict[str, tuple[SessionNumber, ...]] = {
    "spring": (_force("k"),),
    "dashpot": (_force("c"),),
    "play": (_force("k"), _length("r")),
    "bilinear": (_force("f_y", "k"),),
    "giuffre_menegotto_pinto": (_force("f_y", "k"),),
    "bouc_wen": (_force("k"), _length("d_y")),
    "bouc_wen_baber_noori": (_force("k0"),),  # lengths enter by a power that is a parameter itself
    "nonlinear_viscous": (_force("C"),),
    "nonlinear_maxwell": (_force("C", "K"),),
    "prandtl_ishlinskii": (_force(*(f"w{i}" for i in _STOPS), "k_e"), _length(*(f"r{i}" for i in _STOPS))),
    "lugre": _sides("Fc", "Fs"),
    "lugre_exact": _sides("Fc", "Fs"),
    "lugre_elastoplastic": _sides("Fc", "Fs"),
    "gap_slip": (*_sides("Fc", "dF"), _OFFSET),
    "stick_slip": (*_sides("Fk", "Fs"), _OFFSET),
    "friction_backlash": (SessionNumber("friction", ("Fc", "Fs")), _length("x0")),
}


def numbers_of(name: str, block: Block) -> tuple[SessionNumber, ...]:
    """What a session changes of a law, by the law's name in the catalogue."""
    if name not in SESSION:
        raise BadInput(
            f"{name}: it is not known what a session changes of it. Name the parameters with --free, out of "
            f"{', '.join(block.params)}; those that shall keep their ratio with a + between, as in Fc_pos+dF_pos."
        )
    return SESSION[name]


def numbers_from(words: Sequence[str], block: Block) -> tuple[SessionNumber, ...]:
    """Numbers from words such as ``Fc_pos+dF_pos`` and ``off``; a parameter that may have either sign is added to."""
    found: list[SessionNumber] = []
    for word in words:
        params = tuple(part.strip() for part in word.split("+"))
        for key in params:
            if key not in block.params:
                raise UnknownName("parameter", key, block.params, where=f"--free of {block.name}")
            if any(key in other.params for other in found) or params.count(key) > 1:
                raise BadInput(f"--free: {key} is named twice; a parameter belongs to one number.")
        signed = [key for key in params if block.params[key].low < 0.0]
        if signed and len(params) > 1:
            raise BadInput(f"--free {word}: {signed[0]} may be negative and cannot be scaled; name it by itself.")
        found.append(SessionNumber(word.replace(" ", ""), params, bool(signed)))
    if not found:
        raise BadInput(f"--free: name at least one parameter of {', '.join(block.params)}.")
    return tuple(found)
