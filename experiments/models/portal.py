"""A steel portal frame, 6 m wide and 4 m high, in OpenSeesPy; units are N, m, kg and s."""

import openseespy.opensees as ops


def build(mass=20e3, weight=200e3):
    """Nodes 1 and 2 are the feet, 3 and 4 the corners above them; the mass and the weight are those of a corner."""
    ops.wipe()
    ops.model("basic", "-ndm", 2, "-ndf", 3)
    ops.node(1, 0.0, 0.0)
    ops.node(2, 6.0, 0.0)
    ops.node(3, 0.0, 4.0)
    ops.node(4, 6.0, 4.0)
    for foot in (1, 2):
        ops.fix(foot, 1, 1, 1)
    ops.geomTransf("Linear", 1)
    E = 200e9
    ops.element("elasticBeamColumn", 1, 1, 3, 11.8e-3, E, 149e-6, 1)  # columns: HEB 260
    ops.element("elasticBeamColumn", 2, 2, 4, 11.8e-3, E, 149e-6, 1)
    ops.element("elasticBeamColumn", 3, 3, 4, 8.45e-3, E, 231e-6, 1)  # beam: IPE 400
    for corner in (3, 4):
        ops.mass(corner, mass, mass, 0.0)
    gravity(weight)


def gravity(weight):
    """Loads that act all the time: analysed, and then made constant."""
    ops.timeSeries("Linear", 1)
    ops.pattern("Plain", 1, 1)
    for corner in (3, 4):
        ops.load(corner, 0.0, -weight, 0.0)
    ops.constraints("Plain")
    ops.numberer("RCM")
    ops.system("BandGeneral")
    ops.algorithm("Linear")
    ops.integrator("LoadControl", 1.0)
    ops.analysis("Static")
    ops.analyze(1)
    ops.loadConst("-time", 0.0)
    ops.wipeAnalysis()
