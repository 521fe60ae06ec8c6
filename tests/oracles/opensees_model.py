"""The same model in OpenSees: every node, member, floor, mass and load of a `hyloop.structure.Model`."""

import numpy as np
from oracles.opensees import opensees

from hyloop.structure.fibres import materials
from hyloop.structure.fibres.sections import ElasticSection, FibreSection
from hyloop.structure.frames import assembly
from hyloop.structure.frames.constraints import IN_PLAN
from hyloop.structure.frames.members import Brace, Elastic, Fibre, LeanOn, Link, Spring


def coupled(section):
    """Whether axial force and bending of an elastic section belong together."""
    return any((section.Sz, section.Sy, section.Iyz))


def four_fibres(section):
    """Fibres with all moments of area of an elastic section: two on each principal axis, at √2 radii of gyration."""
    s = section
    centre = np.array([s.Sz, s.Sy]) / s.A
    squares, axes = np.linalg.eigh(np.array([[s.Iz, s.Iyz], [s.Iyz, s.Iy]]) / s.A - np.outer(centre, centre))
    arms = axes * np.sqrt(2.0 * squares.clip(min=0.0))
    y, z = np.concatenate([centre + arms.T, centre - arms.T]).T
    return FibreSection(y, np.full(4, s.A / 4), materials.Elastic(s.E), z, GJ=s.GJ)


class OpenSeesModel:
    """Builds `model` in OpenSees (one model at a time); `tags` has the node tags by name.

    Dead loads stand in load pattern 1; `gravity` applies them and holds them. An elastic member with a given axial
    force gets OpenSees' own P-Delta transformation, which uses the force it finds in the analysis.
    """

    def __init__(self, model):
        self.model, self.ops = model, opensees()
        self.tags = {name: k + 1 for k, name in enumerate(model.nodes)}
        self.members = {name: k + 1 for k, name in enumerate(model.members)}
        self._count = 0
        self._sections, self._materials = {}, {}
        ops, dimensions = self.ops, model.dimensions
        if model.super_elements:
            raise NotImplementedError("OpenSees has no element for a given matrix")
        ops.wipe()
        ops.model("basic", "-ndm", dimensions, "-ndf", len(model.dofs))
        for name, x in model.nodes.items():
            ops.node(self.tags[name], *x.tolist())
        self._constraints()
        for name in model.nodes:
            values = [model.masses.get(f"{name}.{dof}", 0.0) for dof in model.dofs]
            if any(values):
                ops.mass(self.tags[name], *values)
        for member in model.members.values():
            {
                Elastic: self._elastic,
                Fibre: self._fibre,
                Brace: self._brace,
                LeanOn: self._lean_on,
                Link: self._link,
                Spring: self._device,
            }[type(member)](member)
        ops.timeSeries("Linear", 1)
        ops.pattern("Plain", 1, 1)
        for name in model.nodes:
            values = [model.loads.get(f"{name}.{dof}", 0.0) for dof in model.dofs]
            if any(values):
                ops.load(self.tags[name], *values)

    def omega(self, count):
        """Lowest circular frequencies."""
        return np.sqrt(self.ops.eigen("-fullGenLapack", count))

    def gravity(self, steps=10, tolerance=1e-10):
        """Apply the dead loads in equal steps and hold them; time starts anew."""
        ops = self.ops
        ops.wipeAnalysis()
        ops.constraints("Transformation")
        ops.numberer("RCM")
        ops.system("BandGeneral")
        ops.test("NormUnbalance", tolerance * max(map(abs, self.model.loads.values())), 50)
        ops.algorithm("Newton")
        ops.integrator("LoadControl", 1.0 / steps)
        ops.analysis("Static")
        assert ops.analyze(steps) == 0
        ops.loadConst("-time", 0.0)

    def displacement(self, name):
        """Displacement of a degree of freedom such as "A1.ux"."""
        node, dof = name.split(".")
        return self.ops.nodeDisp(self.tags[node], self._direction(dof))

    def _tag(self):
        self._count += 1
        return self._count

    def _constraints(self):
        model, ops = self.model, self.ops
        unknown = set(assembly.numbering(model).names)
        follows = {
            f"{node}.{dof}"
            for floor in model.floors.values()
            for node in floor.nodes
            for dof in IN_PLAN[model.dimensions]
        }
        for name, tag in self.tags.items():
            # rotations nothing resists, and what a master does not have, are held
            held = [int(f"{name}.{dof}" not in unknown | follows) for dof in model.dofs]
            if any(held):
                ops.fix(tag, *held)
        for floor in model.floors.values():
            slaves = [self.tags[node] for node in floor.nodes]
            if model.dimensions == 3:
                ops.rigidDiaphragm(2, self.tags[floor.name], *slaves)
            else:
                for slave in slaves:
                    ops.equalDOF(self.tags[floor.name], slave, 1)

    def _transformation(self, member, pdelta):
        tag = self._tag()
        across = member.axes[2].tolist() if self.model.dimensions == 3 else []
        offsets = np.concatenate(member.offsets)
        rigid = ["-jntOffset", *offsets.tolist()] if offsets.any() else []
        self.ops.geomTransf("PDelta" if pdelta else "Linear", tag, *across, *rigid)
        return tag

    def _elastic(self, member):
        s, ends, tag = member.section, (self.tags[member.i], self.tags[member.j]), self.members[member.name]
        if coupled(s):
            raise NotImplementedError("OpenSees' elastic element has the centroid on its axis")
        transformation = self._transformation(member, member.axial_force is not None)
        codes = {"i": (1, 0), "j": (2, 0), "iz": (1, 0), "jz": (2, 0), "iy": (0, 1), "jy": (0, 2)}
        z, y = (sum(codes[end][k] for end in member.release) for k in (0, 1))
        if self.model.dimensions == 2:
            release = ["-release", z] if z else []
            self.ops.element("elasticBeamColumn", tag, *ends, s.A, s.E, s.Iz, transformation, *release)
        else:
            release = (["-releasez", z] if z else []) + (["-releasey", y] if y else [])
            self.ops.element("elasticBeamColumn", tag, *ends, s.A, s.E, s.G, s.J, s.Iy, s.Iz, transformation, *release)

    def _fibre(self, member):
        ops, beam, rule = self.ops, member.beam, self._tag()
        sections = [self._section(section) for section in beam.sections]
        if member.hinges is None:
            ops.beamIntegration("Lobatto", rule, sections[0], len(sections))
        else:
            lp_i, lp_j = member.hinges
            ops.beamIntegration("HingeRadau", rule, sections[0], lp_i, sections[-1], lp_j, sections[1])
        ops.element(
            "forceBeamColumn",
            self.members[member.name],
            self.tags[member.i],
            self.tags[member.j],
            self._transformation(member, member.pdelta),
            rule,
            "-iter",
            100,
            1e-14,
        )

    def _section(self, section):
        if id(section) in self._sections:
            return self._sections[id(section)][0]
        ops, tag, plane = self.ops, self._tag(), self.model.dimensions == 2
        self._sections[id(section)] = tag, section  # kept, so that no other one gets this id
        if isinstance(section, ElasticSection) and coupled(section):
            section = four_fibres(section)
        if isinstance(section, ElasticSection):
            s = section
            ops.section("Elastic", tag, s.E, s.A, s.Iz, *([] if plane else [s.Iy, s.G, s.J]))
        else:
            fibres = [self.material(material) for material in section.materials]
            # OpenSees moves the member's axis to the centroid of the fibres unless told not to
            ops.section("Fiber", tag, "-noCentroid", *([] if plane else ["-GJ", section.GJ]))
            for y, z, area, material in zip(section.y, section.z, section.area, fibres, strict=True):
                ops.fiber(float(y), 0.0 if plane else float(z), float(area), material)
        return tag

    def material(self, material, stretch=1.0):
        """Tag of a uniaxial material whose strain axis is divided by `stretch`."""
        key = (material, stretch)
        if key not in self._materials:
            m, tag, ops = material, self._tag(), self.ops
            if isinstance(m, materials.Elastic):
                ops.uniaxialMaterial("Elastic", tag, m.E * stretch)
            elif isinstance(m, materials.Bilinear):
                ops.uniaxialMaterial("Steel01", tag, m.fy, m.E * stretch, m.b)
            elif isinstance(m, materials.Steel):
                ops.uniaxialMaterial(
                    "Steel02", tag, m.fy, m.E * stretch, m.b, m.R0, m.cR1, m.cR2, m.a1, m.a2, m.a3, m.a4
                )
            else:
                ops.uniaxialMaterial("Concrete01", tag, -m.fc, -m.ec / stretch, -m.fcu, -m.ecu / stretch)
            self._materials[key] = tag
        return self._materials[key]

    def _brace(self, member):
        # OpenSees' strain refers to the distance of the nodes, ours to the part that deforms
        material = self.material(member.material, member.distance / member.length)
        self.ops.element(
            "Truss", self.members[member.name], self.tags[member.i], self.tags[member.j], member.area, material
        )

    def _springs(self, member, kind, springs, *orientation):
        tags = []
        for k in springs.values():
            tags.append(self._tag())
            self.ops.uniaxialMaterial("Elastic", tags[-1], k)
        directions = [self._direction(dof) for dof in springs]
        self.ops.element(
            kind,
            self.members[member.name],
            self.tags[member.i],
            self.tags[member.j],
            "-mat",
            *tags,
            "-dir",
            *directions,
            *orientation,
        )

    def _lean_on(self, member):
        directions = ("ux", "uz")[: self.model.dimensions - 1]
        self._springs(member, "zeroLength", dict.fromkeys(directions, -member.load / member.height))

    def _link(self, member):
        apart = self.model.nodes[member.j] - self.model.nodes[member.i]
        if np.linalg.norm(apart) == 0.0:
            return self._springs(member, "zeroLength", member.springs)
        if np.any(apart[1:] != 0.0) or apart[0] < 0.0:
            raise NotImplementedError("OpenSees' link has its own axes: only links along +x are compared")
        y = [0.0, 1.0, 0.0]
        self._springs(member, "twoNodeLink", member.springs, *(["-orient", *y] if self.model.dimensions == 3 else []))

    def _device(self, member):
        law, tag, values = member.law.block.name, self._tag(), member.law.params
        if law == "spring":
            self.ops.uniaxialMaterial("Elastic", tag, values["k"])
        elif law == "dashpot":
            self.ops.uniaxialMaterial("Viscous", tag, values["c"], 1.0)
        elif law == "bilinear":
            self.ops.uniaxialMaterial("Steel01", tag, values["f_y"], values["k"], values["alpha"])
        else:
            raise NotImplementedError(f"no OpenSees material for {law} is known here")
        kind, direction = ("twoNodeLink", 1) if member.dof is None else ("zeroLength", self._direction(member.dof))
        ends = self.tags[member.i], self.tags[member.j]
        self.ops.element(kind, self.members[member.name], *ends, "-mat", tag, "-dir", direction)

    def _direction(self, dof):
        return self.model.dofs.index(dof) + 1
