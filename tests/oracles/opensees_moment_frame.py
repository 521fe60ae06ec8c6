"""The two-story RC frame in OpenSees, pushed and shaken, with everything the comparison looks at.

Damping is a0 M + a1 K0, and K0 is the stiffness of the virgin members: OpenSees' Rayleigh damping with its
initial-stiffness coefficient alone. Dampers are members of the model and have none.
"""

import numpy as np
from oracles.opensees_model import OpenSeesModel

BALANCED = 1e-3  # N, norm of the unbalanced forces: 1e-8 of the weights
ITERATIONS = 200
# tried in turn at every place of a pushover: cracks that close stiffen all at once, where Newton's method may cycle
ALGORITHMS = (("Newton",), ("KrylovNewton",), ("ModifiedNewton", "-initial"))


class OpenSeesMomentFrame(OpenSeesModel):
    """`model`, at rest under its dead loads after `gravity`."""

    def _springs(self, member, kind, springs, *orientation):
        super()._springs(member, kind, springs, *orientation, "-doRayleigh", 1)

    def push(self, node, path):
        """Move a node horizontally along a path; base shear at every place, the dead loads held."""
        ops, tag = self.ops, self.tags[node]
        ops.timeSeries("Linear", 20)
        ops.pattern("Plain", 20, 20)
        ops.load(tag, 1.0, 0.0, 0.0)
        ops.wipeAnalysis()
        self._solver()
        shear, before = np.zeros(len(path)), path[0]
        for k in range(1, len(path)):
            ops.integrator("DisplacementControl", tag, 1, float(path[k] - before))
            if k == 1:
                ops.analysis("Static")
            assert any(self._found(*algorithm) for algorithm in ALGORITHMS), f"no equilibrium at {path[k]:g} m"
            shear[k], before = ops.getLoadFactor(20), path[k]
        return shear

    def _found(self, *algorithm):
        self.ops.algorithm(*algorithm)
        return self.ops.analyze(1) == 0

    def shake(self, ground, dt, a0, a1, integrator=("Newmark", 0.5, 0.25), algorithm="Newton", system="BandGeneral"):
        """Make ready for `step`: ground acceleration in m/s2 at every dt, damping a0 M + a1 K0."""
        ops, self.dt = self.ops, dt
        ops.rayleigh(a0, 0.0, a1, 0.0)
        ops.timeSeries("Path", 30, "-dt", dt, "-values", *ground.tolist())
        ops.pattern("UniformExcitation", 30, 1, "-accel", 30)
        ops.wipeAnalysis()
        self._solver(algorithm, system)
        ops.integrator(*integrator)
        ops.analysis("Transient")

    def step(self, count=1):
        assert self.ops.analyze(count, self.dt) == 0

    def run(self, steps, dampers, column, every=1, more=lambda: []):
        """Histories after every so many steps: M1.ux, M2.ux, forces of dampers, curvature and moment at i, and more."""
        rows = np.zeros((steps // every + 1, 4 + len(dampers) + len(more())))
        rows[0] = [*self._row(dampers, column), *more()]
        for k in range(1, len(rows)):
            self.step(every)
            rows[k] = [*self._row(dampers, column), *more()]
        return rows

    def forces(self, column, beam, left, right):
        """N, V, M_i and M_j of a column, M_i of a beam; reactions left.ux, right.ux, left.uy, right.rz, and of both."""
        ops = self.ops
        ops.reactions()
        N, M_i, M_j = ops.basicForce(self.members[column])
        A, B = ([ops.nodeReaction(self.tags[node], k) for k in (1, 2, 3)] for node in (left, right))
        shear = ops.eleResponse(self.members[column], "localForce")[1]
        turn = ops.basicForce(self.members[beam])[1]
        return [N, shear, M_i, M_j, turn, A[0], B[0], A[1], B[2], A[0] + B[0]]

    def _row(self, dampers, column):
        ops, tag = self.ops, self.members[column]
        sway = [self.displacement(f"M{s}.ux") for s in (1, 2)]
        forces = [ops.basicForce(self.members[name])[0] for name in dampers]
        section = [ops.sectionDeformation(tag, 1, 2), ops.sectionForce(tag, 1, 2)]
        return [*sway, *forces, *section]

    def _solver(self, algorithm="Newton", system="BandGeneral"):
        ops = self.ops
        ops.constraints("Plain")
        ops.numberer("RCM")
        ops.system(system)
        ops.test("NormUnbalance", BALANCED, ITERATIONS)
        ops.algorithm(algorithm)
