"""What the picture of a frame in space keeps is enough to find all nodes again, and ductility is that of the braces."""

from importlib import import_module

import numpy as np
import pytest

from hyloop.buildings.tower import Tower, tower
from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.report.space import displaced
from hyloop.structure.frames import assembly
from hyloop.structure.frames.assembly import numbering
from hyloop.structure.frames.model import Model
from hyloop.structure.frames.picture import FramePicture

LAYOUT = Tower(heights=(3.5, 4.0, 4.0), basements=1, outriggers=(3,))
ROUNDING = 1e-9  # relative: products of sparse matrices, and coordinates kept to a tenth of a millimetre
STATIC = 1e-7  # relative: equilibrium of what was condensed, by a sparse solution of a stiff frame
ductility = import_module("benchmarks.tower").ductility  # which takes every brace for itself, from nodes


@pytest.fixture(scope="module")
def model():
    return tower(LAYOUT)


def moved(model, structure, seed, rows=7):
    random = np.random.default_rng(seed)
    turning = np.array([name.split(".")[1][0] == "r" for name in structure.names])
    return random.normal(size=(rows, structure.n)) * np.where(turning, 1e-3, 2e-2)


def drawn(picture, rows):
    time = 0.04 * np.arange(len(rows))
    return displaced(Recording(time, rows, picture.names, picture.units, {"frame": picture.about}))


def test_every_node_is_where_all_displacements_put_it(model):
    structure = model.structure()
    u, picture = moved(model, structure, 0), FramePicture(model, structure)
    whole = (numbering(model).T @ u.T).T.reshape(len(u), len(model.nodes), 6)
    found = drawn(picture, picture.rows(u))
    masters = [k for k, name in enumerate(model.nodes) if name in model.floors]
    kept = np.setdiff1d(np.arange(len(model.nodes)), masters)
    np.testing.assert_allclose(found[:, kept], whole[:, kept, :3], atol=ROUNDING)
    np.testing.assert_allclose(found[:, masters][:, :, [0, 2]], whole[:, masters][:, :, [0, 2]], atol=ROUNDING)
    channels = sum(name.startswith("u.") for name in picture.names)
    assert channels < structure.n / 2  # few are enough


def test_ductility_is_the_largest_until_then(model):
    structure = model.structure()
    u, picture = moved(model, structure, 1, rows=20), FramePicture(model, structure)
    first, rest = picture.rows(u[:8]), picture.rows(u[8:])  # in pieces, as in a run
    columns = [k for k, name in enumerate(picture.names) if name.endswith(".ductility")]
    assert [picture.names[k] for k in columns] == [f"{name}.ductility" for name, _, _ in picture.about["braces"]]
    for k in (0, 7, 8, 19):
        row = np.vstack([first, rest])[k, columns]
        np.testing.assert_allclose(row, ductility(model, u[: k + 1]), rtol=ROUNDING)
    assert rest[-1, columns].max() > 1.0


def test_what_was_condensed_follows_by_statics(model):
    whole, condensed = model.structure(), model.structure(condense=LAYOUT.retained)
    assert condensed.n < whole.n
    u = moved(model, condensed, 2)
    place = {name: k for k, name in enumerate(whole.names)}
    T, everything = assembly.whole(model, condensed).T, numbering(model)
    own = (T @ u.T).T[:, everything.own]  # of the unknowns of the whole, in its order
    np.testing.assert_allclose(own[:, [place[name] for name in condensed.names]], u, rtol=ROUNDING)
    force = (whole.K @ own.T).T
    away = [k for name, k in place.items() if name not in set(condensed.names)]
    assert len(away) > 20 and np.abs(force[:, away]).max() < STATIC * np.abs(force).max()


def test_lines_stand_between_the_nodes_of_members(model):
    about = FramePicture(model, model.structure()).about
    columns = [line for line in about["lines"] if line[2] == "column"]
    posts = 4  # of the outriggers
    assert len(columns) == len(LAYOUT.columns) * LAYOUT.levels + posts
    outline = [at for at in about["floors"][-1]["outline"]]
    corners = {about["nodes"][k] for k in outline}
    assert corners == {"NW-3", "SW-3", "NE-3", "SE-3"}
    assert sum(line[2] == "floor" for line in about["lines"]) == 4 * (LAYOUT.levels + 1)  # and the base


def test_a_frame_in_the_plane_has_none():
    model = Model(2)
    with pytest.raises(BadInput, match="frames in space"):
        FramePicture(model, None)
