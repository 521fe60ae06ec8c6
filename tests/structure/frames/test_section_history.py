"""Section histories against the closed form of a cantilever, and their refusals."""

import numpy as np
import pytest

from hyloop.errors import BadInput, BadShape, UnknownName
from hyloop.structure import Elastic, ElasticSection, FibreSection, Model
from hyloop.structure.frames.section_history import section_history

EXACT = 1e-10  # relative: round-off, since elastic fibres are in equilibrium at once
LENGTH, EI = 3.0, 200e9 * 2 * 1e-3 * 0.1**2


def _cantilever(fibres):
    model = Model()
    model.node("foot", 0.0, 0.0)
    model.node("top", LENGTH, 0.0)
    model.support("foot", "fixed")
    if fibres:
        section = FibreSection([-0.1, 0.1], [1e-3, 1e-3], Elastic(200e9))
        model.fibre("beam", "foot", "top", section, hinges=(0.3, 0.3), pdelta=False)
    else:
        model.elastic("beam", "foot", "top", ElasticSection(200e9, 2e-3, EI / 200e9))
    model.mass("top", uy=1.0)
    return model.structure()


@pytest.mark.parametrize(("point", "x"), [(0, 0.0), (1, 8 * 0.3 / 3), (-1, LENGTH)])
def test_moment_of_a_cantilever(point, x):
    structure = _cantilever(fibres=True)
    P = np.array([0.0, 10.0, -250.0, 400.0])  # upwards at the tip
    u = np.zeros((4, structure.n))
    u[:, structure.dof("top.uy")] = P * LENGTH**3 / (3 * EI)
    u[:, structure.dof("top.rz")] = P * LENGTH**2 / (2 * EI)
    deformation, force = section_history(structure, u, "beam", point)
    moment = P * (LENGTH - x)
    scale = np.abs(P).max() * LENGTH
    assert force[:, 1] == pytest.approx(moment, rel=EXACT, abs=EXACT * scale)
    assert deformation[:, 1] == pytest.approx(moment / EI, rel=EXACT, abs=EXACT * scale / EI)
    assert force[:, 0] == pytest.approx(0.0, abs=EXACT * scale)


def test_refusals():
    structure = _cantilever(fibres=True)
    with pytest.raises(BadShape, match="steps, 3"):
        section_history(structure, np.zeros((5, 2)), "beam", 0)
    with pytest.raises(UnknownName, match="baem"):
        section_history(structure, np.zeros((5, 3)), "baem", 0)
    with pytest.raises(BadInput, match="no force-based"):
        section_history(_cantilever(fibres=False), np.zeros((5, 3)), "beam", 0)
