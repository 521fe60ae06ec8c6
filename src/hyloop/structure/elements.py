"""Nonlinear members of the analytical substructure.

`Elements` is the seam between the loop and any kind of member: a compiled function that adds the forces of a
whole group of members to the restoring force, and the flat arrays it works on. `springs` makes a group of
uniaxial members from any device law.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from hyloop.core.block import Block, Instance
from hyloop.core.jit import GROUP, call_block, compile_c
from hyloop.errors import BadInput, BadShape

__all__ = ["Elements", "law_of", "spring_force", "spring_members", "springs"]


@dataclass(frozen=True, eq=False)
class Elements:
    """A group of members behind one compiled function ``resist(u, v, dt, x, p, i, r)`` that adds to r.

    Attributes
    ----------
    name : str
        For error messages.
    function : object
        A C function with the signature `hyloop.core.jit.GROUP`; the group keeps it alive.
    initial, parameters, integers : ndarray
        Initial state `x`, constants `p` and connectivity `i` of the whole group, flat.
    stiffness : ndarray or scipy.sparse.csr_array, (n, n)
        Initial stiffness.
    keep : tuple
        Objects whose compiled code is referred to by address.
    imbalance : int
        Where in the state the group notes how far its members are from equilibrium (a strain); -1: nowhere.
    """

    name: str
    function: Any
    initial: np.ndarray
    parameters: np.ndarray
    integers: np.ndarray
    stiffness: Any
    keep: tuple = ()
    imbalance: int = -1

    def forces(self, u: np.ndarray, v: np.ndarray, dt: float, x: np.ndarray) -> np.ndarray:
        """Forces of the group at u and v; the state `x` moves on in place."""
        u, v, r = np.ascontiguousarray(u), np.ascontiguousarray(v), np.zeros(len(u))
        self.function.ctypes(
            _floats(u),
            _floats(v),
            dt,
            _floats(x),
            _floats(self.parameters),
            self.integers.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)),
            _floats(r),
        )
        return r


def _floats(array: np.ndarray) -> Any:
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def springs(laws: Instance | Sequence[Instance], directions: Any) -> Elements:
    """Uniaxial members, one for each row of `directions`; deformation is the row times u.

    Parameters
    ----------
    laws : Instance or sequence of Instance
        One device law for all members, or one for each; all of the same block, which may read d and v.
    directions : array_like or scipy.sparse array, (members, n)
        Direction vectors, for instance `Structure.story(1)`. Sparse rows give a sparse initial stiffness.
    """
    is_sparse = sparse.issparse(directions)
    full: Any = directions if is_sparse else np.atleast_2d(np.asarray(directions, dtype=float))
    rows = sparse.csr_array(full)
    count, n = full.shape
    instances = [laws] * count if isinstance(laws, Instance) else list(laws)
    if len(instances) != count:
        raise BadShape(f"springs: {len(instances)} laws for {count} direction vectors.")
    block = instances[0].block
    if any(instance.block is not block for instance in instances):
        raise BadInput("springs: one group has one law; make a group for each law.")
    if not set(block.inputs) <= {"d", "v"} or len(block.outputs) != 1:
        needs = ", ".join(block.inputs)
        raise BadInput(f"springs: {block.name} needs {needs}; only laws of d and v with one output fit.")
    order = [("d", "v").index(key) for key in block.inputs]
    rows.eliminate_zeros()
    rows.sort_indices()
    sizes = [len(instances), block.address, len(instances[0].x0), len(block.params), len(order)]
    header = [*sizes, *order, *[0] * (2 - len(order))]
    parameters = [value for instance in instances for value in instance.params.values()]
    if is_sparse:
        stiffness = sparse.csr_array(rows.T @ sparse.diags_array([i.stiffness for i in instances]) @ rows)
    else:
        terms = (i.stiffness * np.outer(row, row) for i, row in zip(instances, full, strict=True))
        stiffness = sum(terms, np.zeros((n, n)))
    return Elements(
        name=f"springs({block.name})",
        function=_springs(),
        initial=np.concatenate([*(i.x0 for i in instances), np.zeros(_INPUTS + count)]),
        parameters=np.concatenate([np.array(parameters, dtype=float), rows.data]),
        integers=np.concatenate([np.array(header), rows.indptr, rows.indices]).astype(np.int64),
        stiffness=stiffness,
        keep=(block,),
    )


def law_of(group: Elements) -> Block | None:
    """The law of a group of `springs`; None for other groups."""
    return group.keep[0] if group.function is _springs() else None


def spring_members(group: Elements) -> list[tuple[np.ndarray, Elements]]:
    """Row of directions and a group of its own for every member of a group of `springs`.

    After a call of its `forces` the last number of its state is the force of the member.
    """
    count, _, nx, n_p, _ = (int(k) for k in group.integers[:5])
    start, dof = group.integers[_HEADER:][: count + 1], group.integers[_HEADER + count + 1 :]
    found = []
    for e in range(count):
        places = slice(int(start[e]), int(start[e + 1]))
        row = np.zeros(group.stiffness.shape[0])
        row[dof[places]] = group.parameters[count * n_p :][places]
        used = dof[places]
        alone = Elements(
            name=group.name,
            function=group.function,
            initial=np.concatenate([group.initial[e * nx : (e + 1) * nx], np.zeros(_INPUTS + 1)]),
            parameters=np.concatenate([group.parameters[e * n_p : (e + 1) * n_p], row[used]]),
            integers=np.concatenate([[1], group.integers[1:_HEADER], [0, len(used)], used]).astype(np.int64),
            stiffness=np.zeros((0, 0)),
            keep=group.keep,
        )
        found.append((row, alone))
    return found


_HEADER = 7  # members, address of the law, sizes of its state, parameters and inputs, then which inputs: 0 d, 1 v
# inputs of one law, behind the states so that nothing is allocated in a step, and before the forces of all members
_INPUTS = 2


def spring_force(group: Elements, member: int) -> int:
    """Place of a member's force in the state of a group of `springs`."""
    count, _, nx = group.integers[:3]
    return int(count * nx) + _INPUTS + member


@cache
def _springs() -> Any:
    def resist(u, v, dt, x, p, i, r):
        count, address, nx, n_p, n_in = i[0], i[1], i[2], i[3], i[4]
        start, dof, coefficient, signal = _HEADER, _HEADER + count + 1, count * n_p, count * nx
        for e in range(count):
            d, rate = 0.0, 0.0
            for k in range(i[start + e], i[start + e + 1]):
                d += p[coefficient + k] * u[i[dof + k]]
                rate += p[coefficient + k] * v[i[dof + k]]
            for k in range(n_in):
                x[signal + k] = d if i[5 + k] == 0 else rate
            call_block(address, x, e * nx, x, signal, dt, p, e * n_p, x, signal + _INPUTS + e)
            for k in range(i[start + e], i[start + e + 1]):
                r[i[dof + k]] += p[coefficient + k] * x[signal + _INPUTS + e]

    return compile_c(resist, GROUP, resist)
