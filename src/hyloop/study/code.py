"""The code of a study, from its folder."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from hyloop.errors import BadInput

__all__ = ["load_code", "loaded_code"]


def load_code(path: Path) -> ModuleType:
    """Import the study's own code from its folder; other files there are its submodules (``from .motions import``)."""
    name = f"hyloop_study_{path.parent.name}"
    spec = importlib.util.spec_from_file_location(name, path, submodule_search_locations=[str(path.parent)])
    if spec is None or spec.loader is None or not path.is_file():
        raise BadInput(f"{path} is missing; a study needs it.")
    for known in [key for key in sys.modules if key == name or key.startswith(f"{name}.")]:
        del sys.modules[known]  # of a folder of the same name elsewhere
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def loaded_code(folder: Path) -> ModuleType:
    """The code of a study as this process has loaded it already, or else from its folder."""
    known = sys.modules.get(f"hyloop_study_{folder.name}")
    if known is not None and [str(folder)] == list(known.__path__):
        return known
    return load_code(folder / "study.py")
