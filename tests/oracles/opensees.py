"""OpenSees as a second opinion on force-deformation laws."""

import importlib.util
from functools import cache

import numpy as np
import pytest

from hyloop.structure.frames.opensees_library import load_opensees


@cache
def opensees():
    """Return the module `openseespy.opensees`; skip the calling test where it is not installed."""
    if importlib.util.find_spec("openseespy") is None:
        pytest.skip("OpenSeesPy is not installed (extra: peers)")
    return load_opensees()


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
