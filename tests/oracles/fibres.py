"""Fibre sections and members of plain Python, and the same in OpenSees.

The laws are written from their rules, one branch for each, with what the rules call by name kept as attributes; nothing
is shared with the code under test.
"""

import ctypes

import numpy as np
from oracles.opensees import opensees
from scipy.optimize import brentq

from hyloop.structure.fibres.materials import Concrete


class PlainConcrete:
    """Kent-Park and Karsan-Jirsa, by the book; stresses and strains positive in compression inside."""

    def __init__(self, fc, ec, fcu, ecu):
        self.fc, self.ec, self.fcu, self.ecu = fc, ec, fcu, ecu
        self.largest = 0.0

    def envelope(self, strain):
        if strain <= self.ec:
            return self.fc * (2 * strain / self.ec - (strain / self.ec) ** 2)
        if strain <= self.ecu:
            return self.fc + (self.fcu - self.fc) * (strain - self.ec) / (self.ecu - self.ec)
        return self.fcu

    def unloading_line(self):
        """Strain at zero stress and slope of the line from the largest compression."""
        top, E0 = self.envelope(self.largest), 2 * self.fc / self.ec
        if self.largest == 0.0:
            return 0.0, E0
        ratio = min(self.largest, self.ecu) / self.ec
        zero = self.ec * (0.145 * ratio**2 + 0.13 * ratio if ratio < 2 else 0.707 * (ratio - 2) + 0.834)
        slope = top / (self.largest - zero)
        return (self.largest - top / E0, E0) if slope > E0 else (zero, slope)

    def stress(self, strain):
        compression = -strain
        if compression >= self.largest:
            return -self.envelope(compression)
        zero, slope = self.unloading_line()
        return -max(0.0, slope * (compression - zero))

    def commit(self, strain):
        self.largest = max(self.largest, -strain)


class PlainSteel:
    """Menegotto-Pinto without isotropic hardening: asymptotes are fixed lines, intersections solved as such."""

    def __init__(self, fy, E, b, R0, cR1, cR2):
        self.fy, self.E, self.b, self.R0, self.cR1, self.cR2 = fy, E, b, R0, cR1, cR2
        self.last = self.origin = self.target = (0.0, 0.0)
        self.sign, self.R = 0, R0
        self.extremes = {1: fy / E, -1: -fy / E}

    def branch(self, strain):
        """Direction, starting point, meeting point of the asymptotes and R of the branch that leads to `strain`."""
        step = strain - self.last[0]
        sign = int(np.sign(step)) or self.sign or 1
        if sign == self.sign:
            return sign, self.origin, self.target, self.R
        ey = self.fy / self.E
        if self.sign == 0:
            return sign, (0.0, 0.0), (sign * ey, sign * self.fy), self.R0
        # last + E (e - e_last) = sign fy + b E (e - sign ey)
        matrix = [[self.E, -1.0], [self.b * self.E, -1.0]]
        right = [self.E * self.last[0] - self.last[1], sign * (self.b * self.E * ey - self.fy)]
        e0, s0 = np.linalg.solve(matrix, right)
        extreme = max(self.extremes[1], self.last[0]) if self.sign == 1 else min(self.extremes[-1], self.last[0])
        xi = abs({**self.extremes, self.sign: extreme}[sign] - e0) / ey
        return sign, self.last, (e0, s0), self.R0 * (1 - self.cR1 * xi / (self.cR2 + xi))

    def stress(self, strain):
        if self.sign == 0 and strain == self.last[0]:
            return 0.0
        _, (e_r, s_r), (e_0, s_0), R = self.branch(strain)
        rho = (strain - e_r) / (e_0 - e_r)
        return s_r + (s_0 - s_r) * (self.b * rho + (1 - self.b) * rho / (1 + abs(rho) ** R) ** (1 / R))

    def commit(self, strain):
        if self.sign == 0 and strain == self.last[0]:
            return
        stress = self.stress(strain)
        sign, origin, target, R = self.branch(strain)
        if self.sign and sign != self.sign:
            pick = max if self.sign == 1 else min
            self.extremes[self.sign] = pick(self.extremes[self.sign], self.last[0])
        self.sign, self.origin, self.target, self.R = sign, origin, target, R
        self.last = (strain, stress)


def plain_moment_curvature(section, axial_force, curvatures):
    """Moments under a constant axial force, applied first, by a root search at every curvature."""
    fibres = [
        PlainConcrete(m.fc, m.ec, m.fcu, m.ecu)
        if isinstance(m, Concrete)
        else PlainSteel(m.fy, m.E, m.b, m.R0, m.cR1, m.cR2)
        for m in section.materials
    ]
    moments = []
    for curvature in [0.0, *curvatures]:

        def forces(mean, curvature=curvature):
            return [f.stress(mean - y * curvature) * a for f, y, a in zip(fibres, section.y, section.area, strict=True)]

        mean = brentq(lambda e: sum(forces(e)) - axial_force, -0.02, 0.1, xtol=1e-16, rtol=1e-14, maxiter=500)
        moments.append(-np.dot(section.y, forces(mean)))
        for fibre, y in zip(fibres, section.y, strict=True):
            fibre.commit(mean - y * curvature)
    return np.array(moments[1:])


def drive(group, displacements):
    """Forces of a group along a history of displacements, and its states after every step."""

    def address(array, kind=ctypes.c_double):
        return array.ctypes.data_as(ctypes.POINTER(kind))

    x, forces, states = group.initial.copy(), [], []
    for row in displacements:
        u, r = np.array(row, dtype=float), np.zeros(len(row))
        group.function.ctypes(
            address(u),
            address(np.zeros_like(u)),
            1.0,
            address(x),
            address(group.parameters),
            address(group.integers, ctypes.c_int64),
            address(r),
        )
        forces.append(r)
        states.append(x.copy())
    return np.array(forces), np.array(states)


def opensees_fibre_section(tag, section):
    """Define a FibreSection of Concrete and Steel in the OpenSees model that is open."""
    ops, tags = opensees(), {}
    for m in dict.fromkeys(section.materials):
        tags[m] = 100 * tag + len(tags) + 1
        if isinstance(m, Concrete):
            ops.uniaxialMaterial("Concrete01", tags[m], -m.fc, -m.ec, -m.fcu, -m.ecu)
        else:
            ops.uniaxialMaterial("Steel02", tags[m], m.fy, m.E, m.b, m.R0, m.cR1, m.cR2)
    # OpenSees moves the member's axis to the centroid of the fibres unless told not to
    ops.section("Fiber", tag, "-noCentroid", *(("-GJ", section.GJ) if section.GJ else ()))
    for y, z, area, material in zip(section.y, section.z, section.area, section.materials, strict=True):
        ops.fiber(float(y), float(z), float(area), tags[material])


def _static(tolerance=1e-12):
    ops = opensees()
    ops.constraints("Plain")
    ops.numberer("Plain")
    ops.system("BandGeneral")
    ops.test("NormDispIncr", tolerance, 200)
    ops.algorithm("Newton")


def opensees_moment_curvature(section, axial_force, curvatures):
    """The classic script: a zero-length section, its axial force held, its rotation prescribed step by step."""
    ops = opensees()
    ops.wipe()
    ops.model("basic", "-ndm", 2, "-ndf", 3)
    for node in (1, 2):
        ops.node(node, 0.0, 0.0)
    ops.fix(1, 1, 1, 1)
    ops.fix(2, 0, 1, 0)
    opensees_fibre_section(1, section)
    ops.element("zeroLengthSection", 1, 1, 2, 1)
    _static()
    ops.timeSeries("Linear", 1)
    ops.pattern("Plain", 1, 1)
    ops.load(2, axial_force, 0.0, 0.0)
    ops.integrator("LoadControl", 0.1)
    ops.analysis("Static")
    assert ops.analyze(10) == 0
    ops.loadConst("-time", 0.0)
    ops.timeSeries("Linear", 2)
    ops.pattern("Plain", 2, 2)
    ops.load(2, 0.0, 0.0, 1.0)
    moments = []
    for step in np.diff(curvatures, prepend=0.0):
        ops.integrator("DisplacementControl", 2, 3, float(step))
        assert ops.analyze(1) == 0
        moments.append(ops.getTime())
    ops.wipe()
    return np.array(moments)


def opensees_cantilever(member, loads, path, sideways=(0.0, 1.0, 0.0), transformation="Linear"):
    """A HingeRadau cantilever along x, fixed at i: constant loads at j in ten steps, then a history of its deflection.

    The deflection (second degree of freedom) follows `path` under forces in the ratio `sideways`.

    Returns
    -------
    displacement, force, section : ndarray
        All degrees of freedom of the tip, the member's forces there, and deformations and forces of the first section,
        for all steps, loading included.
    """
    ops = opensees()
    ops.wipe()
    dofs = len(loads)
    ops.model("basic", "-ndm", 2 if dofs == 3 else 3, "-ndf", dofs)
    for node, x in ((1, 0.0), (2, member.length)):
        ops.node(node, x, *[0.0] * (1 if dofs == 3 else 2))
    ops.fix(1, *[1] * dofs)
    fibre, inner = member.sections[0], member.sections[1]
    opensees_fibre_section(1, fibre)
    assert inner.Sz == inner.Sy == inner.Iyz == 0.0, "OpenSees' elastic section has its centroid on the axis"
    space = () if dofs == 3 else (inner.Iy, inner.G, inner.J)
    ops.section("Elastic", 2, inner.E, inner.A, inner.Iz, *space)
    ops.geomTransf(transformation, 1, *(() if dofs == 3 else (0.0, 0.0, 1.0)))
    ops.beamIntegration("HingeRadau", 1, 1, member.rule.weight[0], 1, member.rule.weight[-1], 2)
    ops.element("forceBeamColumn", 1, 1, 2, 1, 1, "-iter", 100, 1e-16)
    _static()
    ops.timeSeries("Linear", 1)
    ops.pattern("Plain", 1, 1)
    ops.load(2, *loads)
    ops.integrator("LoadControl", 0.1)
    ops.analysis("Static")
    rows = []

    def note():
        rows.append(
            (
                ops.nodeDisp(2),
                ops.eleForce(1)[dofs:],
                ops.eleResponse(1, "section", "1", "deformation"),
                ops.eleResponse(1, "section", "1", "force"),
            )
        )

    for _ in range(10):
        assert ops.analyze(1) == 0
        note()
    ops.loadConst("-time", 0.0)
    ops.timeSeries("Linear", 2)
    ops.pattern("Plain", 2, 2)
    ops.load(2, *sideways)
    start = ops.nodeDisp(2, 2)
    for step in np.diff(path, prepend=start):
        ops.integrator("DisplacementControl", 2, 2, float(step))
        assert ops.analyze(1) == 0
        note()
    ops.wipe()
    return tuple(np.array(column) for column in zip(*rows, strict=True))


def cycles(peaks, step):
    """A history through +-peak for every peak and back to zero, in nearly equal steps."""
    history = [0.0]
    for target in [sign * peak for peak in peaks for sign in (1, -1)] + [0.0]:
        count = max(1, round(abs(target - history[-1]) / step))
        history += list(np.linspace(history[-1], target, count + 1)[1:])
    return np.array(history[1:])
