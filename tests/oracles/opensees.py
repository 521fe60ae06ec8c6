"""OpenSees as a second opinion on force-deformation laws."""

import ctypes
import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest


@cache
def opensees():
    """Return the module `openseespy.opensees`; skip the calling test where it is not installed."""
    if sys.platform.startswith("linux"):
        found = importlib.util.find_spec("openseespylinux")
        library = Path(found.origin).parent / "lib" / "libblas.so.3" if found and found.origin else None
        if library and library.exists():
            # the wheel brings its own BLAS but does not say where it is
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    return pytest.importorskip("openseespy.opensees", reason="OpenSeesPy is not installed (extra: peers)")


def uniaxial(name: str, parameters: tuple, strain: np.ndarray) -> np.ndarray:
    """Stress of the uniaxial material ``name`` driven, and committed, along a strain history."""
    ops = opensees()
    ops.wipe()
    ops.uniaxialMaterial(name, 1, *parameters)
    ops.testUniaxialMaterial(1)
    stress = np.empty(len(strain))
    for i, value in enumerate(strain):
        ops.setStrain(float(value))
        stress[i] = ops.getStress()
    ops.wipe()
    return stress
