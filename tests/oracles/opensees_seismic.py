"""A model shaken in OpenSees: Newmark's average acceleration with Newton's method, modal and stiffness damping."""

import numpy as np
from oracles.opensees_model import OpenSeesModel

CONVERGED = 1e-8  # m, norm of the last displacement increment
ITERATIONS = 100  # at most; Newton's method takes some three, with the initial stiffness some thirty


class Shaken(OpenSeesModel):
    """`model` with the damping of `hyloop.structure.modal_and_stiffness` and ground motion.

    Parameters
    ----------
    ratio, modes : float, int
        Damping ratio and number of modes that have it.
    ground : ndarray, (steps, directions)
        Ground acceleration in m/s2 along each of the directions; the first row is at rest.
    system : str
        OpenSees' solver: ProfileSPD is fast for hundreds of degrees of freedom, UmfPack for thousands.
    directions : sequence of int
        1, 2 and 3 are x, y and z; default x, then z.
    eigen : sequence of str
        Its solver of the eigenvalue problem; ("-fullGenLapack",) where few degrees of freedom have mass.
    """

    def __init__(self, model, ratio, modes, ground, dt, system="ProfileSPD", directions=(1, 3), eigen=()):
        super().__init__(model)
        ops, self.dt = self.ops, dt
        omega = np.sqrt(ops.eigen(*eigen, modes))
        ops.modalDamping(*(ratio * (1.0 - omega / omega[-1])).tolist())
        ops.rayleigh(0.0, 0.0, 2.0 * ratio / omega[-1], 0.0)
        for column, direction in zip(ground.T, directions, strict=False):
            ops.timeSeries("Path", 10 + direction, "-dt", dt, "-values", *column.tolist())
            ops.pattern("UniformExcitation", 10 + direction, direction, "-accel", 10 + direction)
        self.use(system, "Newton")

    def use(self, system, *algorithm):
        """Go on with another solver and another algorithm of OpenSees."""
        ops = self.ops
        ops.wipeAnalysis()
        ops.constraints("Transformation")
        ops.numberer("RCM")
        ops.system(system)
        ops.test("NormDispIncr", CONVERGED, ITERATIONS)
        ops.algorithm(*algorithm)
        ops.integrator("Newmark", 0.5, 0.25)
        ops.analysis("Transient")

    def step(self, count=1):
        assert self.ops.analyze(count, self.dt) == 0

    def run(self, names, steps, every=1):
        """Displacements of degrees of freedom such as "floor3.ux", after every so many of the steps."""
        places = [(self.tags[node], self.model.dofs.index(dof) + 1) for node, dof in (n.split(".") for n in names)]
        history = np.zeros((steps // every + 1, len(names)))
        for k in range(1, len(history)):
            self.step(every)
            history[k] = [self.ops.nodeDisp(*place) for place in places]
        return history

    # the stiffness part of the damping acts in every member, as K does

    def _brace(self, member):
        material = self.material(member.material, member.distance / member.length)
        self.ops.element(
            "Truss",
            self.members[member.name],
            self.tags[member.i],
            self.tags[member.j],
            member.area,
            material,
            "-doRayleigh",
            1,
        )

    def _springs(self, member, kind, springs, *orientation):
        super()._springs(member, kind, springs, *orientation, "-doRayleigh", 1)
