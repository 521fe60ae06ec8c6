"""What a compiled function is made from, as a digest: another one means other code.

Numba decides whether a cached function is still valid by looking at the file that defines it. It looks neither at the
functions it calls nor at the numbers and arrays that it has taken for constants; so the cache of a law lies in a folder
that is named after all of them.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

__all__ = ["fingerprint"]


@cache
def _content(path: str, changed: int) -> bytes:
    return Path(path).read_bytes()


def fingerprint(function: Callable) -> str:
    """Digest of all that a function is compiled from: its source, and whatever it refers to."""
    return _digest(function, {}).hex()[:16]


def _digest(value: Any, known: dict[int, bytes]) -> bytes:
    """Digest of a function with everything behind its global and enclosed names, or of numbers, texts and arrays.

    Numba takes such data for constants and puts them into the compiled code; it does not look at them again.
    """
    value = getattr(value, "py_func", value)
    if isinstance(value, FunctionType):
        if id(value) not in known:
            known[id(value)] = b""  # while it is looked at: a function may refer to itself
            known[id(value)] = hashlib.sha256(b"".join(_parts(value, known))).digest()
        return known[id(value)]
    if isinstance(value, np.ndarray):
        return repr((value.dtype.str, value.shape)).encode() + value.tobytes()
    if isinstance(value, tuple):
        return b"(" + b",".join(_digest(item, known) for item in value) + b")"
    plain = isinstance(value, (int, float, complex, str, bytes, np.generic))
    return repr(value).encode() if plain else b""  # what is left, such as a module, is no data


def _parts(function: FunctionType, known: dict[int, bytes]) -> list[bytes]:
    code, path = function.__code__, Path(function.__code__.co_filename)
    # what is compiled refers to the module by its name, which one file may have two of
    parts = [f"{path}:{code.co_firstlineno}:{function.__module__}.{code.co_name}".encode()]
    # the byte code stands in for a source that is not a file (a notebook cell)
    is_file = path.is_file()
    parts.append(_content(str(path), path.stat().st_mtime_ns) if is_file else _code(code))
    for name in sorted(_names(code)):
        parts += [name.encode(), _digest(function.__globals__.get(name), known)]
    for cell in function.__closure__ or ():
        parts.append(_digest(cell.cell_contents, known))
    return parts


def _inner(code: CodeType) -> list[CodeType]:
    """Functions written inside a function."""
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*map(_names, _inner(code)))


def _code(code: CodeType) -> bytes:
    constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
    return code.co_code + repr(constants).encode() + b"".join(map(_code, _inner(code)))
