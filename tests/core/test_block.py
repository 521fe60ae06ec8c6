"""Blocks: declarations, the compile cache, and the rule that an edited law is never served from it."""

import os
import subprocess
import sys

import numpy as np
import pytest

from hyloop.core import Param, block, inplace_block
from hyloop.core.jit import Floats, Ints, Table, bind, jit
from hyloop.errors import BadInput

LAW = '''
import numpy as np
from hyloop.core import Param, block
from {helper} import factor

@block(inputs={{"d": "m"}}, outputs={{"f": "N"}}, params={{"k": Param("N/m", 1.0)}}, reference="test")
def law(x, u, dt, p):
    """f = constant k d."""
    return ({constant} * factor(p[0]) * u[0],), ()
'''
HELPER = """
from numba import njit

@njit
def factor(k):
    return {value} * k
"""
USE = "import numpy as np; from {module} import law; print(law(k=1.0).drive(0.1, d=np.array([1.0]))['f'][0])"


@pytest.mark.slow
@pytest.mark.parametrize("edited", ["law", "helper"])
def test_an_edited_law_is_compiled_again(tmp_path, edited):
    """The wrapper round a law lives in another file than the law: its cache must notice every edit."""
    env = os.environ | {"HYLOOP_CACHE": str(tmp_path / "cache")}

    def value(constant, helper):
        (tmp_path / "my_helper.py").write_text(HELPER.format(value=helper))
        (tmp_path / "my_law.py").write_text(LAW.format(constant=constant, helper="my_helper"))
        command = [sys.executable, "-B", "-c", USE.format(module="my_law")]
        return float(subprocess.run(command, cwd=tmp_path, env=env, check=True, capture_output=True).stdout)

    assert value(2.0, 1.0) == 2.0
    assert value(2.0, 1.0) == 2.0
    assert value(*((3.0, 1.0) if edited == "law" else (2.0, 1.5))) == 3.0


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_cache_is_compiled_again_and_mended(tmp_path, suffix):
    env = os.environ | {"HYLOOP_CACHE": str(tmp_path / "cache")}
    (tmp_path / "my_helper.py").write_text(HELPER.format(value=1.0))
    (tmp_path / "my_law.py").write_text(LAW.format(constant=2.0, helper="my_helper"))

    def use():
        command = [sys.executable, "-B", "-c", USE.format(module="my_law")]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "") and float(done.stdout) == 2.0
        return {path: path.stat().st_size for path in (tmp_path / "cache").rglob(f"*{suffix}")}

    whole = use()
    assert whole
    for number, path in enumerate(sorted(whole)):
        path.write_bytes((b"", path.read_bytes()[: whole[path] // 2], b"\x00garbage", b"cgone\nname\n.")[number % 4])
    assert use().keys() == whole.keys() and all(path.stat().st_size > 13 for path in whole)


@pytest.mark.slow
def test_a_law_whose_file_is_imported_under_another_name_is_compiled_again(tmp_path):
    """A test or a notebook may import the file of a law in its own way; compiled code knows the module by its name."""
    helpers, laws = tmp_path / "helpers", tmp_path / "laws"
    for folder, name, text in (
        (helpers, "my_helper", HELPER.format(value=1.0)),
        (laws, "my_law", LAW.format(constant=2.0, helper="my_helper")),
    ):
        folder.mkdir()
        (folder / f"{name}.py").write_text(text)
    env = os.environ | {"HYLOOP_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(helpers)}
    for module, folder in (("laws.my_law", tmp_path), ("my_law", laws)):
        command = [sys.executable, "-B", "-c", USE.format(module=module)]
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert float(done.stdout) == 2.0


def test_inplace_block_writes_state_and_outputs():
    @inplace_block(inputs={"d": "m"}, outputs={"f": "N", "n": "-"}, state={"count": "-"}, params={}, reference="test")
    def counter(x, u, dt, p, y):
        """Counts its calls."""
        x[0] += 1.0
        if x[0] > 2.0:
            y[0] = u[0]
        else:
            y[0] = 0.0
        y[1] = x[0]

    out = counter().drive(0.1, d=np.array([5.0, 6.0, 7.0]))
    assert out["f"].tolist() == [0.0, 0.0, 7.0]
    assert out["n"].tolist() == [1.0, 2.0, 3.0]
    assert counter(initial={"count": 10.0}).drive(0.1, d=np.array([5.0]))["count"].tolist() == [11.0]


def test_declarations_are_checked():
    with pytest.raises(BadInput, match="share a name"):
        block(inputs={"d": "m"}, outputs={"f": "N"}, params={"d": Param("m", 1.0)}, reference="test")(
            lambda x, u, dt, p: 0
        )
    with pytest.raises(BadInput, match="at least one output"):
        block(inputs={"d": "m"}, outputs={}, params={}, reference="test")(lambda x, u, dt, p: 0)


def test_a_table_carries_numbers_and_arrays_into_compiled_code():
    from typing import NamedTuple

    class Bundle(NamedTuple):
        a: float
        n: int
        numbers: Floats
        indices: Ints

    @jit
    def total(words):
        bundle = bind(Bundle, words)
        result = bundle.a
        for i in range(bundle.n):
            result += bundle.numbers[bundle.indices[i]]
        return result

    bundle = Bundle(-0.5, 2, np.array([1.0, 10.0, 100.0]), np.array([2, 0]))
    assert total(Table(bundle).words) == 100.5
