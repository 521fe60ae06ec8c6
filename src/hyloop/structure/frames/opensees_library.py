"""OpenSeesPy, loaded; and what to do where it cannot be."""

import ctypes
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from hyloop.errors import BadInput

__all__ = ["load_opensees"]

# system libraries that the compiled module of Linux is linked to, directly or through another, and the packages
# that bring them: Debian and Ubuntu, Fedora
_PACKAGES = {
    "libblas": ("libblas3", "blas"),
    "liblapack": ("liblapack3", "lapack"),
    "libgfortran": ("libgfortran4", "libgfortran4"),
    "libquadmath": ("libquadmath0", "libquadmath"),
    "libgomp": ("libgomp1", "libgomp"),
    "libstdc++": ("libstdc++6", "libstdc++"),
}


def load_opensees() -> Any:
    """The module ``openseespy.opensees``.

    Raises
    ------
    BadInput
        If it is not installed or cannot be loaded; says what is missing and how to get it.
    """
    _load_blas()
    try:
        return importlib.import_module("openseespy.opensees")
    except Exception as error:  # OpenSeesPy turns every failure into a RuntimeError
        raise BadInput(_explained(error)) from error


def _load_blas() -> None:
    """Load the BLAS that the wheel for Linux brings along, but does not say where."""
    found = importlib.util.find_spec("openseespylinux") if sys.platform.startswith("linux") else None
    library = Path(found.origin).parent / "lib" / "libblas.so.3" if found and found.origin else None
    if library and library.exists():
        ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


def _explained(error: BaseException) -> str:
    """What went wrong first is what a person can repair: OpenSeesPy hides it behind two errors of its own."""
    first = error
    while (below := first.__cause__ or first.__context__) is not None:
        first = below
    if isinstance(first, ModuleNotFoundError):
        return (
            f"OpenSeesPy is not installed here ({first}); `pip install openseespy` brings it, for 64-bit Linux, "
            f"Windows and macOS. This is Python {sys.version_info[0]}.{sys.version_info[1]} on {sys.platform}; where "
            "pip finds no wheel for it, take a Python for which there is one."
        )
    said = f"OpenSeesPy is installed but cannot be loaded: {first}."
    text = str(first)
    for library, (debian, fedora) in _PACKAGES.items():
        if text.startswith(library):
            return (
                f"{said} It needs this library of the system. Install it, on Debian and Ubuntu by `apt install "
                f"{debian}`, on Fedora by `dnf install {fedora}`; OpenSeesPy as a whole needs libblas3, liblapack3, "
                "libgomp1 and libquadmath0."
            )
    return (
        f"{said} Its wheels are compiled for one kind of system and, on Windows and macOS, for one version of "
        f"Python; this is Python {sys.version_info[0]}.{sys.version_info[1]} on {sys.platform}. Try `python -c "
        "'import openseespy.opensees'` in a Python for which there is a wheel."
    )
