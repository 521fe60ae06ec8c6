"""Laws made by a function: their numbers are part of what is compiled, so two of them are never taken for one."""

import re
import subprocess
import sys

import numpy as np
import pytest

from hyloop.core import Param, block, inplace_block
from hyloop.core.fingerprint import fingerprint
from hyloop.core.jit import rebind


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


def from_a_table(table):
    @inplace_block(inputs={"d": "m"}, outputs={"f": "N"}, params={}, reference="test")
    def advance(x, u, dt, p, y):
        y[0] = table[0] * u[0] + table[1]

    return advance


def test_an_array_in_a_law_is_part_of_it():
    for table in ([5.0, 1.0], [6.0, 2.0], [5.0, 1.0]):
        found = from_a_table(np.array(table))().drive(0.01, d=np.array([2.0]))["f"]
        assert found.tolist() == [2.0 * table[0] + table[1]]


STIFFNESS = 2.0


def plain(d):
    return STIFFNESS * d


def composed(first, second):
    return lambda d: first(d) - second(d)


def times(factor):
    return lambda d: factor * d


def test_whatever_a_function_refers_to_is_part_of_it():
    double, triple = times(2.0), times(3.0)
    different = [
        rebind(plain, STIFFNESS=3.0),
        rebind(plain, STIFFNESS=np.array([2.0])),
        rebind(plain, STIFFNESS=(2.0, 3.0)),
        composed(double, triple),
        composed(triple, double),
        plain,
    ]
    assert len({fingerprint(function) for function in different}) == len(different)
    assert fingerprint(rebind(plain, STIFFNESS=2.0)) == fingerprint(plain)


LAW = """
import sys
import numpy as np
from hyloop.core import inplace_block

TABLE = {table}

@inplace_block(inputs={{"d": "m"}}, outputs={{"f": "N"}}, params={{}}, reference="test")
def advance(x, u, dt, p, y):
    y[0] = TABLE{index} * u[0]

print(advance().drive(0.01, d=np.ones(1))["f"][0])
"""


@pytest.mark.parametrize(("table", "index"), [("float(sys.argv[1])", ""), ("np.array([float(sys.argv[1])])", "[0]")])
def test_a_law_beside_other_data_is_compiled_again(tmp_path, table, index):
    """Data that a file computes or reads when it is imported may be others in the next process."""
    script = tmp_path / "law.py"
    script.write_text(LAW.format(table=table, index=index))
    for value in ("5.0", "6.0"):
        done = subprocess.run([sys.executable, script, value], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == value
