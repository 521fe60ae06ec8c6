"""Laws made by a function: their numbers are part of what is compiled, so two of them are never taken for one."""

import re

import numpy as np

from hyloop.core import Param, block, inplace_block


def tripled(factor):
    @block(inputs={"d": "m"}, outputs={"f": "N"}, params={"k": Param("N/m", 1.0)}, reference="test")
    def law(x, u, dt, p):
        return (factor * p[0] * u[0],), ()

    return law


def test_two_laws_of_one_factory_differ():
    d = np.array([1.0, 2.0])
    for factor in (2.0, 3.0, 5.0):
        assert tripled(factor)(k=10.0).drive(0.01, d=d)["f"].tolist() == [10 * factor, 20 * factor]


def scaled_in_place(factor):
    @inplace_block(inputs={"d": "m"}, outputs={"f": "N"}, params={}, reference="test")
    def advance(x, u, dt, p, y):
        y[0] = factor * u[0]

    return advance


def test_no_two_of_them_have_one_name_in_compiled_code():
    """Numba tells functions of one name apart by a count that begins anew in every process (v1, v2, ...); code that two
    processes have cached would otherwise be taken for one another where both are loaded."""
    blocks = [*map(tripled, (2.0, 3.0)), *map(scaled_in_place, (2.0, 3.0))]
    for names in ([law.cfunc.native_name for law in blocks], [law.compiled.py_func.__qualname__ for law in blocks]):
        bare = [re.sub(r"B\d*v\d+", "", name) for name in names]
        assert len(set(bare)) == len(blocks)
    assert tripled(2.0).compiled.py_func.__qualname__ == blocks[0].compiled.py_func.__qualname__
