"""Stories exist where a structure knows its floors, and nowhere else."""

from dataclasses import replace

import numpy as np
import pytest

from hyloop.devices import bilinear
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.structure import (
    ElasticSection,
    Similitude,
    Structure,
    condense,
    plane_frame,
    rayleigh,
    shear_frame,
    springs,
)
from hyloop.structure.frames.gravity import rest

K = np.array([[30.0, -20.0, 0.0], [-20.0, 35.0, -15.0], [0.0, -15.0, 15.0]])


def test_matrices_without_floors_have_no_stories():
    """Degree of freedom 2 may be a rotation or stand on the roof: nobody can know."""
    structure = Structure(np.ones(3), K, names=["roof", "tilt", "first"])
    with pytest.raises(BadInput, match=r"story 2: .*does not know its floors.*between\(.*Model\.direction.*floors="):
        structure.story(2)
    with pytest.raises(BadInput, match="does not know its floors"):
        plane_frame(6.0, [3.0, 3.0], *[ElasticSection(2e11, 1e-2, 1e-4)] * 2, masses=1e4).structure().story(1)


def test_named_floors_give_the_stories_from_the_bottom_up():
    structure = Structure(np.ones(3), K, names=["roof", "tilt", "first"], floors=["first", "roof"])
    assert structure.story(1).tolist() == [0.0, 0.0, 1.0]
    assert structure.story(2, factor=0.5).tolist() == [0.5, 0.0, -0.5]
    for number in (0, 3):
        with pytest.raises(OutOfBounds, match=f"story {number} does not exist; stories run from 1 to 2"):
            structure.story(number)
    assert Structure(np.ones(3), K, floors=[2, 0]).story(2).tolist() == [1.0, 0.0, -1.0]


@pytest.mark.parametrize(
    "floors, error, words",
    [
        (["first", "attic"], UnknownName, "floors: unknown degree of freedom 'attic'"),
        ([0, 3], OutOfBounds, "floors: .*3 does not exist"),
        (["roof", "roof"], BadInput, "floors: .*once"),
        ("roof", BadInput, "floors: .*list"),
    ],
)
def test_floors_are_checked(floors, error, words):
    with pytest.raises(error, match=words):
        Structure(np.ones(3), K, names=["roof", "tilt", "first"], floors=floors)


def test_whatever_makes_a_structure_of_another_keeps_its_floors():
    frame = shear_frame([1e4] * 3, [1e7] * 3)
    drift = [0.0, -1.0, 1.0]
    assert frame.story(3).tolist() == drift
    for other in (
        frame.with_damping(rayleigh(frame, 0.02)),
        frame.with_elements(springs(bilinear(), frame.story(1))),
        Similitude(0.5).scale(frame),
        rest(frame, np.ones(3)),
        replace(frame, names=["a", "b", "c"]),
    ):
        assert other.story(3).tolist() == drift
    tall = shear_frame([1e4] * 1200, [1e7] * 1200)
    assert np.flatnonzero(tall.dense().story(1200)).tolist() == [1198, 1199]


def test_condensation_maps_floors_or_forgets_them():
    """In another order they are still the floors; without one of them the story numbers would mean something else."""
    mixed = Structure(np.ones(3), K, names=["roof", "tilt", "first"], floors=["first", "roof"])
    small, _ = condense(mixed, ["first", "roof"])
    assert small.story(2).tolist() == [-1.0, 1.0]
    frame = shear_frame([1.0] * 3, [10.0] * 3)
    less, _ = condense(frame, ["1", "3"])
    with pytest.raises(BadInput, match="does not know its floors"):
        less.story(2)
