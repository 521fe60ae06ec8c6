"""What of a live OpenSees model is not in a linear structure is said before it is left out."""

import numpy as np
import pytest
from oracles.opensees import opensees

from hyloop.errors import BadInput
from hyloop.structure.frames import opensees_import


def frame(material="Elastic", transformation="Linear", section="Elastic", element="forceBeamColumn"):
    """A portal in the plane: two columns with sections, an elastic beam, a truss and a zero-length spring."""
    ops = opensees()
    ops.wipe()
    ops.model("basic", "-ndm", 2, "-ndf", 3)
    for k, x in enumerate([(0.0, 0.0), (0.0, 3.0), (5.0, 3.0), (5.0, 0.0), (5.0, 0.0)]):
        ops.node(k + 1, *x)
    for foot in (1, 5):
        ops.fix(foot, 1, 1, 1)
    numbers = {
        "Elastic": (2e11,),
        "Steel02": (3e8, 2e11, 0.01),
        "ElasticPP": (2e11, 1e-3),
        "ENT": (2e11,),
        "Viscous": (1e5, 1.0),
    }
    ops.uniaxialMaterial("Elastic", 1, 2e11)
    ops.uniaxialMaterial(material, 2, *numbers[material])
    ops.uniaxialMaterial("Elastic", 3, 2e8)
    if section == "Elastic":
        ops.section("Elastic", 1, 2e11, 1e-2, 1e-4)
    else:
        ops.section("Fiber", 1)
        for y in (-0.1, 0.1):
            ops.fiber(y, 0.0, 5e-3, 2 if section == "Fiber" else 1)
    ops.geomTransf(transformation, 1)
    ops.geomTransf("Linear", 2)
    ops.beamIntegration("Lobatto", 1, 1, 3)
    ops.element(element, 1, 1, 2, 1, 1)
    ops.element(element, 2, 4, 3, 1, 1)
    ops.element("elasticBeamColumn", 3, 2, 3, 1e-2, 2e11, 1e-4, 2)
    ops.element("Truss", 4, 1, 3, 1e-4, 2)
    ops.element("zeroLength", 5, 5, 4, "-mat", 3, 3, 3, "-dir", 1, 2, 3)
    for node in (2, 3):
        ops.mass(node, 1e4, 1e4, 0.0)
    return ops


@pytest.mark.parametrize(
    "options", [{}, {"section": "elastic fibres"}, {"element": "dispBeamColumn", "section": "elastic fibres"}]
)
def test_an_elastic_model_is_imported_without_a_question(options):
    ops = frame(**options)
    assert opensees_import.left_out(ops) == []
    assert opensees_import.structure(ops).n == 9


@pytest.mark.parametrize(
    "options, words",
    [
        ({"material": "Steel02"}, r"Truss \(element 4\): Steel02"),
        ({"material": "ElasticPP"}, r"Truss \(element 4\): ElasticPPMaterial"),
        ({"material": "ENT"}, r"Truss \(element 4\): ENTMaterial"),
        ({"material": "Viscous"}, r"Truss \(element 4\): .*2"),  # OpenSees cannot print this one
        (
            {"material": "Steel02", "section": "Fiber"},
            r"ForceBeamColumn2d \(elements 1, 2\): Steel02; .*Truss \(element 4\): Steel02",
        ),
        ({"material": "Steel02", "section": "Fiber", "element": "dispBeamColumn"}, r"DispBeamColumn2d .*Steel02"),
        ({"transformation": "PDelta"}, r"ForceBeamColumn2d \(elements 1, 2\): PDeltaCrdTransf2d"),
        ({"transformation": "Corotational"}, r"ForceBeamColumn2d \(elements 1, 2\): CorotCrdTransf2d"),
    ],
)
def test_what_is_not_linear_is_listed_and_refused_until_told(options, words):
    ops = frame(**options)
    with pytest.raises(BadInput, match=rf"opensees_import: .*{words}.*linearise=True"):
        opensees_import.structure(ops)
    assert len(opensees_import.left_out(ops)) >= 1
    told = opensees_import.structure(ops, linearise=True)
    assert told.n == 9 and np.isfinite(told.K).all()


def test_an_elastic_material_of_two_moduli_or_with_damping_is_not_linear():
    for numbers in ((2e11, 0.0, 1e11), (2e11, 1e6)):
        ops = frame()
        ops.uniaxialMaterial("Elastic", 9, *numbers)
        ops.element("Truss", 9, 1, 3, 1e-4, 9)
        with pytest.raises(BadInput, match=r"Truss \(element 9\): ElasticMaterial"):
            opensees_import.structure(ops)


def test_elements_that_are_not_known_are_named():
    ops = frame()
    ops.element("corotTruss", 9, 1, 3, 1e-4, 1)
    with pytest.raises(BadInput, match=r"CorotTruss \(element 9\)"):
        opensees_import.structure(ops)


def _load(ops):
    ops.timeSeries("Linear", 1)
    ops.pattern("Plain", 1, 1)
    ops.load(2, 1e4, 0.0, 0.0)
    ops.eleLoad("-ele", 3, "-type", "-beamUniform", -1e3)


def _damp(ops):
    ops.rayleigh(0.1, 0.0, 0.0, 1e-3)


def _move(ops):
    ops.setNodeDisp(2, 1, 1e-3, "-commit")


@pytest.mark.parametrize(
    "change, words", [(_load, "loads on node 2 and element 3"), (_damp, "damping"), (_move, r"displaced .*node 2")]
)
def test_loads_damping_and_a_state_are_told_of(change, words):
    ops = frame()
    change(ops)
    with pytest.raises(BadInput, match=rf"opensees_import: .*{words}.*linearise=True"):
        opensees_import.structure(ops)
    assert len(opensees_import.left_out(ops)) == 1
    told = opensees_import.structure(ops, linearise=True)
    plain = opensees_import.structure(frame())
    assert np.array_equal(told.M, plain.M) and np.allclose(told.K, plain.K, rtol=1e-12)
