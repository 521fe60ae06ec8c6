r"""What can be watched in a frame while it runs: members, sections of fibres, supports.

Channels are called ``MEMBER.QUANTITY``; patterns with ``*`` and ``?`` take members or single quantities.

=================== ==================================================================================================
beam-columns, plane ``N``, ``V``, ``M_i``, ``M_j``; ``elongation``, ``theta_i``, ``theta_j``
in space            ``N``, ``Vy``, ``Vz``, ``T``, ``Mz_i``, ``Mz_j``, ``My_i``, ``My_j``; ``elongation``, ``thetaz_i``,
                    ``thetaz_j``, ``thetay_i``, ``thetay_j``, ``twist``
braces              ``force``, ``elongation``; ``ductility``, the elongation over that at first yield (with a sign)
springs (devices)   ``force``, ``deformation``
links, lean_on      ``f_ux``, ``d_ux`` and so on, for each degree of freedom they have to do with
sections            ``NAME.strain``, ``NAME.curvature``, ``NAME.N``, ``NAME.moment``; in space ``curvature_z``,
                    ``curvature_y``, ``moment_z``, ``moment_y``
supports            ``reaction.NODE.ux``, ...; ``support_shear.x`` and ``support_shear.z``
=================== ==================================================================================================

Signs, in the local axes of the member and at the ends of its flexible part: N is positive in tension; moments and
torsion are those that act on the member at its ends, counter-clockwise, as end rotations :math:`\theta` relative to the
chord are; V is the force on end i along the local axis, with P-Delta

.. math:: V_y = (M_{z,i} + M_{z,j})/L - N \psi_z, \qquad V_z = -(M_{y,i} + M_{y,j})/L - N \psi_y

(with the constant force given for it in an elastic member). A moment of a section is positive where it makes tension at
negative y; at end i it is the opposite of M_i. A reaction is the force of the support on the structure: the sum of what
all members ask for there, less dead loads on the support itself. A support shear is minus the sum of all horizontal
reactions, and so has the sign of ``base_shear``, which is derived from inertia; the two differ by the force of the
inherent damping, which belongs to no member. Masses on held degrees of freedom are no part of a structure, and none of
a reaction.
"""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from hyloop.errors import BadInput, UnknownName
from hyloop.structure.fibres.beams import section_rows
from hyloop.structure.frames import support_forces
from hyloop.structure.frames.frame_sums import FrameSums
from hyloop.structure.frames.members import Brace, Elastic, Fibre, LeanOn, Link, Member, Spring
from hyloop.structure.structure import Structure
from hyloop.structure.watched import Watched

if TYPE_CHECKING:
    from hyloop.structure.frames.model import Model

__all__ = ["watched"]

FORCES = {2: ("N", "V", "M_i", "M_j"), 3: ("N", "Vy", "Vz", "T", "Mz_i", "Mz_j", "My_i", "My_j")}
DEFORMATIONS = {
    2: ("elongation", "theta_i", "theta_j"),
    3: ("elongation", "thetaz_i", "thetaz_j", "thetay_i", "thetay_j", "twist"),
}
SECTIONS = {2: ("", ""), 3: ("", "_z", "_y")}  # endings of moment and curvature, after strain and N
ENDS = {"i": 0, "j": -1}


def watched(
    model: "Model",
    made: Structure,
    members: Sequence[str],
    reactions: bool | Sequence[str],
    sections: Mapping[str, tuple[str, str]],
) -> list[Watched]:
    """Rows of everything asked for; see `Model.watch`."""
    if isinstance(members, str) or isinstance(reactions, str):
        raise BadInput("watch: members and reactions are lists of names, such as ['brace *'].")
    chosen, frame = _chosen(model, members), FrameSums(model, made)
    found = [one for name, keys in chosen.items() for one in _member(frame, model.members[name], keys)]
    for name, (member, end) in sections.items():
        found += _section(frame, name, member, end)
    if reactions is not False and (reactions is True or len(reactions)):
        found += support_forces.reactions(frame, None if reactions is True else reactions)
    return found


def _chosen(model: "Model", patterns: Sequence[str]) -> dict[str, list[str]]:
    """Quantities of each member that a pattern takes, in the order of the model."""
    keys = {name: _quantities(member) for name, member in model.members.items()}
    chosen: dict[str, set[str]] = {name: set() for name in keys}
    for pattern in patterns:
        met = False
        for name, quantities in keys.items():
            taken = quantities if fnmatchcase(name, pattern) else ()
            taken = taken or [key for key in quantities if fnmatchcase(f"{name}.{key}", pattern)]
            chosen[name].update(taken)
            met = met or bool(taken)
        if not met:
            owner = pattern.rpartition(".")[0]
            if owner in keys:
                raise UnknownName("quantity", pattern, [f"{owner}.{key}" for key in keys[owner]], "members")
            raise UnknownName("member", pattern, keys, "members")
    return {name: [key for key in keys[name] if key in taken] for name, taken in chosen.items() if taken}


def _quantities(member: Member) -> tuple[str, ...]:
    if isinstance(member, (Elastic, Fibre)):
        dimensions = len(member.axes)
        return FORCES[dimensions] + DEFORMATIONS[dimensions]
    if isinstance(member, Brace):
        return ("force", "elongation", *(["ductility"] if hasattr(member.material, "fy") else []))
    if isinstance(member, Spring):
        return ("force", "deformation")
    return tuple(f"{symbol}_{dof}" for symbol in "fd" for dof in _own_dofs(member))


def _own_dofs(member: Member) -> tuple[str, ...]:
    """Degrees of freedom between which a link or a leaning column acts."""
    if isinstance(member, LeanOn):
        return ("ux", "uz")[: len(member.rows)]
    assert isinstance(member, Link)
    return tuple(member.springs)


def _member(frame: FrameSums, member: Member, keys: Sequence[str]) -> list[Watched]:
    """Channels of a member: its forces, then its deformations, in the order of `_quantities`."""
    q, e, n = frame.basic_forces(member), frame.deformations(member), frame.model.dimensions
    if isinstance(member, (Elastic, Fibre)):
        L = member.length if isinstance(member, Elastic) else member.beam.length
        q = q.times(_end_forces(n, L))
        units = ["N" if key[0] in "NV" else "N m" for key in FORCES[n]]
        units += ["m", *["rad"] * (len(DEFORMATIONS[n]) - 1)]
    elif isinstance(member, Brace):
        law, units = member.material, ["N", "m", "-"]
        e = e.times([[1.0], [law.E / (law.fy * member.length)]] if hasattr(law, "fy") else [[1.0]])
    else:
        dofs = [member.dof or "u"] if isinstance(member, Spring) else _own_dofs(member)
        units = [pair[dof.startswith("r")] for pair in (("N", "N m"), ("m", "rad")) for dof in dofs]
    rows = [*((q, k) for k in range(len(q.c))), *((e, k) for k in range(len(e.c)))]
    found = dict(zip(_quantities(member), zip(rows, units, strict=False), strict=False))
    return [frame.channel(f"{member.name}.{key}", found[key][1], *found[key][0]) for key in keys]


def _end_forces(n: int, L: float) -> np.ndarray:
    """End forces, as in FORCES, from the basic ones."""
    if n == 2:
        return np.array([[1.0, 0, 0, 0], [0, 1 / L, 1 / L, -1 / L], [0, 1, 0, 0], [0, 0, 1, 0]])
    P = np.zeros((8, 8))
    P[0, 0] = P[3, 5] = 1.0
    P[1, [1, 2, 6]] = 1 / L, 1 / L, -1 / L
    P[2, [3, 4, 7]] = -1 / L, -1 / L, -1 / L
    P[[4, 5, 6, 7], [1, 2, 3, 4]] = 1.0
    return P


def _section(frame: FrameSums, name: str, member: str, end: str) -> list[Watched]:
    """Deformations and forces of a section at an end of a member."""
    where = f"sections.{name}"
    if member not in frame.beams:
        if member in frame.model.members:
            raise BadInput(f"{where}: member '{member}' has no fibre sections; watch the member itself.")
        raise UnknownName("member", member, frame.beams or frame.model.members, where)
    if end not in ENDS:
        raise UnknownName("end", str(end), ENDS, where)
    group, at, k = frame.beams[member]
    endings, found = SECTIONS[frame.model.dimensions], []
    for rows, first, other, units in zip(
        section_rows(group, k, ENDS[end]),
        ("strain", "N"),
        ("curvature", "moment"),
        (("-", "1/m"), ("N", "N m")),
        strict=True,
    ):
        for a, (row, ending) in enumerate(zip(rows, endings, strict=True)):
            key = first if a == 0 else other + ending
            found.append(
                Watched(
                    f"{name}.{key}", units[min(a, 1)], places=at + row.places, weights=row.factors, made_for=frame.made
                )
            )
    return found
