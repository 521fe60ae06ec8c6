# Numba ships no types, and what its decorators return is not what its source suggests: everything is Any.
from typing import Any

def __getattr__(name: str) -> Any: ...
