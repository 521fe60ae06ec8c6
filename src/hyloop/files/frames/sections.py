"""Materials and sections in files that describe a frame."""

import math
from collections.abc import Mapping
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from hyloop.errors import BadInput, UnknownName
from hyloop.files.fields import Quantity, Table, kinds, refuse
from hyloop.structure.fibres.materials import Bilinear, Concrete, Elastic, Material, Steel, kent_park
from hyloop.structure.fibres.reinforced import rc_rectangle
from hyloop.structure.fibres.sections import ElasticSection, FibreSection

__all__ = ["MATERIALS", "SECTIONS", "Layers", "MaterialSpec", "SectionSpec", "one_material"]

Stress = Annotated[float, Quantity("Pa", above=0.0)]
Length = Annotated[float, Quantity("m", above=0.0)]
Area = Annotated[float, Quantity("m2", above=0.0)]
Number = Annotated[float, Quantity("-", low=0.0)]

Layers = tuple[Material, Material]  # concrete outside and inside the hoops


class ElasticMaterial(Table):
    """Linear elastic."""

    kind: Literal["elastic"]
    E: Stress

    def make(self) -> Material:
        return Elastic(self.E)


class BilinearMaterial(Table):
    """Elastic-plastic with kinematic hardening."""

    kind: Literal["bilinear"]
    fy: Stress
    E: Stress
    b: Number = 0.0
    """Modulus after yield over E."""

    def make(self) -> Material:
        return Bilinear(self.fy, self.E, self.b)


class SteelMaterial(Table):
    """Steel after Giuffré, Menegotto and Pinto; see `hyloop.structure.fibres.materials.Steel`."""

    kind: Literal["steel"]
    fy: Stress
    E: Stress
    b: Number = 0.01
    R0: Number = 20.0
    cR1: Number = 0.925
    cR2: Number = 0.15
    a1: Number = 0.0
    a2: Number = 1.0
    a3: Number = 0.0
    a4: Number = 1.0

    def make(self) -> Material:
        return Steel(**{key: value for key, value in self.model_dump().items() if key != "kind"})


class ConcreteMaterial(Table):
    """Modified Kent-Park concrete; compression is given positive."""

    kind: Literal["concrete"]
    fc: Stress
    """Strength."""
    ec: Annotated[float, Quantity("-", above=0.0)] = 0.002
    """Strain at the strength."""
    fcu: Annotated[float, Quantity("Pa", low=0.0)]
    """Stress that remains when crushed."""
    ecu: Annotated[float, Quantity("-", above=0.0)]
    """Strain from which on it does."""

    def make(self) -> Material:
        return Concrete(self.fc, self.ec, self.fcu, self.ecu)


class KentPark(Table):
    """Concrete of a section with hoops: unconfined cover and confined core."""

    kind: Literal["kent_park"]
    fc: Stress
    """Cylinder strength."""
    hoop_ratio: Number
    """Volume of the hoops over that of the core."""
    hoop_yield: Stress
    core_width: Length
    """To the outside of the hoops."""
    spacing: Length
    """Of the hoops."""

    def make(self) -> Layers:
        return kent_park(self.fc, self.hoop_ratio, self.hoop_yield, self.core_width, self.spacing)


MaterialSpec = Annotated[
    ElasticMaterial | BilinearMaterial | SteelMaterial | ConcreteMaterial | KentPark, Field(discriminator="kind")
]
MATERIALS = kinds(MaterialSpec)
Materials = Mapping[str, Material | Layers]


def one_material(name: str, materials: Materials, where: str) -> Material:
    """The material of this name, which must not be the pair a `kent_park` table gives."""
    if name not in materials:
        raise UnknownName("material", name, materials, where)
    found = materials[name]
    if isinstance(found, tuple):
        raise BadInput(
            f"{where}: '{name}' is of kind kent_park and so two materials; it is for `concrete` of a section."
        )
    return found


class ElasticSectionSpec(Table):
    """Section of an elastic member by its numbers."""

    kind: Literal["elastic"]
    E: Stress
    A: Area
    Iz: Annotated[float, Quantity("m4", above=0.0)]
    """Second moment of area for bending in the plane; in space: of a beam in the vertical plane."""
    Iy: Annotated[float, Quantity("m4", low=0.0)] = 0.0
    G: Annotated[float, Quantity("Pa", low=0.0)] = 0.0
    J: Annotated[float, Quantity("m4", low=0.0)] = 0.0
    """Iy, G and J are needed in space only."""

    def make(self, materials: Materials) -> ElasticSection:
        return ElasticSection(self.E, self.A, self.Iz, self.Iy, self.G, self.J)


class Rectangle(Table):
    """Elastic rectangle, for instance of cracked concrete."""

    kind: Literal["rectangle"]
    width: Length
    """Along the local z axis."""
    depth: Length
    """Along the local y axis: the height of a beam."""
    E: Stress
    poisson: Annotated[float, Quantity("-", low=0.0, high=0.5)] = 0.2
    bending: Annotated[float, Quantity("-", above=0.0)] = 1.0
    """Factor on the bending and torsional stiffness, such as 0.35 for cracked beams."""

    def make(self, materials: Materials) -> ElasticSection:
        b, h = self.width, self.depth
        long, short = max(b, h), min(b, h)
        # torsion of a rectangle: Roark's formula for Saint-Venant's series, within 4 %
        J = long * short**3 * (1 / 3 - 0.21 * short / long * (1 - (short / long) ** 4 / 12))
        factor = self.bending
        return ElasticSection(
            self.E, b * h, factor * b * h**3 / 12, factor * h * b**3 / 12, self.E / (2 * (1 + self.poisson)), factor * J
        )


class Bars(Table):
    """A layer of reinforcing bars: their area, or number and diameter."""

    y: Annotated[float, Quantity("m")]
    """Height above the centre of the section."""
    z: Annotated[float, Quantity("m")] = 0.0
    """Place of the layer's middle across the section."""
    area: Area | None = None
    """Of the whole layer."""
    count: Annotated[int, Field(ge=1, le=1000)] = 1
    diameter: Length | None = None
    spread: Annotated[float, Quantity("m", low=0.0)] = 0.0
    """Distance between the outermost bars of the layer; matters in space only."""

    @model_validator(mode="after")
    def _one_size(self) -> Self:
        if (self.area is None) == (self.diameter is None):
            refuse("area", BadInput("give either the area of the layer, or the number and the diameter of its bars."))
        return self

    def placed(self) -> list[tuple[float, float, float]]:
        """(y, z, area) of every bar."""
        total = self.area if self.diameter is None else self.count * math.pi * self.diameter**2 / 4
        places = self.z + np.linspace(-self.spread / 2, self.spread / 2, self.count) if self.count > 1 else [self.z]
        return [(self.y, float(z), float(total or 0.0) / self.count) for z in places]


class RcRectangle(Table):
    """Reinforced-concrete rectangle of fibres."""

    kind: Literal["rc_rectangle"]
    width: Length
    depth: Length
    cover: Annotated[float, Quantity("m", low=0.0)]
    """From the faces to the outside of the hoops."""
    concrete: str | Annotated[tuple[str, str], Field(strict=False)]
    """Name of a kent_park material, of one concrete for all, or of two: [cover, core]."""
    steel: str
    """Name of the material of the bars."""
    bars: Annotated[tuple[Bars, ...], Field(strict=False)] = ()
    """Layers of bars."""
    layers: Annotated[tuple[int, int, int], Field(strict=False)] = (5, 10, 5)
    """Fibres over the depth: bottom cover, core, top cover."""
    columns: Annotated[int, Field(ge=1, le=200)] = 1
    """Fibres across the width; one is enough in the plane."""
    GJ: Annotated[float, Quantity("N m2", low=0.0)] = 0.0
    """Torsional stiffness, needed in space."""

    def make(self, materials: Materials) -> FibreSection:
        names = (self.concrete, self.concrete) if isinstance(self.concrete, str) else self.concrete
        first = materials.get(names[0])
        if isinstance(self.concrete, str) and isinstance(first, tuple):
            shell, core = first
        else:
            shell, core = (one_material(name, materials, "concrete") for name in names)
        bars = [bar for layer in self.bars for bar in layer.placed()]
        steel = one_material(self.steel, materials, "steel")
        return rc_rectangle(
            self.width, self.depth, self.cover, core, shell, bars, steel, self.layers, self.columns, self.GJ
        )


SectionSpec = Annotated[ElasticSectionSpec | Rectangle | RcRectangle, Field(discriminator="kind")]
SECTIONS = kinds(SectionSpec)
