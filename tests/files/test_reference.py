"""docs/reference.md: it is what the tables say, and every example in it can be built."""

import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from oracles.networks import random_tensors
from problems.networks import trained

from hyloop.files.column_map import read_column_map
from hyloop.files.fields import Table
from hyloop.files.frames.frame import Frame
from hyloop.files.load import load_experiment
from hyloop.files.reference import examples, markdown
from hyloop.files.reference_pages import PAGES
from hyloop.files.schema import Experiment
from hyloop.files.training import TrainingFile
from hyloop.neural import Card, FrozenStack, Signal, recurrent
from hyloop.study.build import build

ROOT = Path(__file__).parents[2]
TABLES = {title: tables for title, _, tables in PAGES}
BASE = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "45 kN/mm"
[integrator]
method = "mkr_alpha"
dt = "1/100 s"
[excitation]
kind = "harmonic"
amplitude = "0.1 g"
frequency = "2 Hz"
duration = "1 s"
"""
RIGID_FLOORS = """
[structure]
kind = "matrices"
names = ["floor1.ux", "floor1.uz", "floor1.ry", "floor2.ux", "floor2.uz", "floor2.ry"]
M = [[4e5,0,0,0,0,0],[0,4e5,0,0,0,0],[0,0,1e8,0,0,0],[0,0,0,4e5,0,0],[0,0,0,0,4e5,0],[0,0,0,0,0,1e8]]
K = [[8e7,0,0,-4e7,0,0],[0,8e7,0,0,-4e7,0],[0,0,4e10,0,0,-2e10],
     [-4e7,0,0,4e7,0,0],[0,-4e7,0,0,4e7,0],[0,0,-2e10,0,0,2e10]]
[integrator]
method = "mkr_alpha"
dt = "1/100 s"
"""
RIG = """
kind = "identified rig"
numerator = [1.01]
denominator = [1.1e-4, 0.013, 1.0]
delay = "12 ms"
"""
FRAME = """
kind = "frame"
[supports]
fixed = ["?0"]
"""
# what a frame needs that any part may stand in
FRAME_PARTS = [
    "Grid",
    "SteelMaterial",
    "BilinearMaterial",
    "KentPark",
    "ElasticSectionSpec",
    "RcRectangle",
    "FibreMembers",
    "Mass",
]
NODES = """
[members.right]
kind = "elastic"
section = "profile"
lines = [["B0", "B1", "B2"]]
[members.across]
kind = "elastic"
section = "profile"
lines = [["A1", "B1"], ["A2", "B2"]]
"""


def _names(*titles):
    return [table.__name__ for title in titles for table in TABLES[title].values()]


def merged(base, over):
    if not isinstance(base, dict) or not isinstance(over, dict):
        return over
    return {**base, **{key: merged(base.get(key), value) for key, value in over.items()}}


def test_the_page_is_up_to_date():
    page = (ROOT / "docs" / "reference.md").read_text("utf-8")
    assert page == markdown(), "docs/reference.md is stale: hyloop schema --markdown > docs/reference.md"


def test_every_table_of_the_files_is_in_the_page():
    def below(table):
        return {table}.union(*(below(other) for other in table.__subclasses__()))

    shown = {name for tables in TABLES.values() for name in (t.__name__ for t in tables.values())}
    ours = [table for table in below(Table) if table.__module__.startswith("hyloop.files.")]
    kinds = {t.__name__ for t in ours if not t.__name__.startswith("_") and not t.__subclasses__()}
    # rows of the tower's tables and the springs of a link are shown in the examples of those
    assert kinds - shown == {"Box", "Strength", "Springs"}
    assert set(examples()) == shown


@pytest.fixture
def folder(tmp_path):
    trained()[0].save(tmp_path / "brace.safetensors")
    stack = recurrent(3, width=4, depth=1)
    signals = tuple(Signal(key, unit) for key, unit in {"f1": "N", "t1": "N", "d": "m"}.items())
    tensors = random_tensors(stack, np.random.default_rng(0))
    listening = FrozenStack(stack, tensors, Card(signals, (Signal("f", "N"),), dt=0.01))
    listening.save(tmp_path / "listening.safetensors")
    portal = (ROOT / "experiments" / "models" / "portal.py").read_text("utf-8")
    (tmp_path / "portal.py").write_text(portal, "utf-8")
    (tmp_path / "rig.toml").write_text(RIG, "utf-8")
    floors = "t,F1,F2\n" + "".join(f"{0.1 * k:.1f},{k % 3},{k % 5}\n" for k in range(31))
    (tmp_path / "floors.csv").write_text(floors, "utf-8")
    (tmp_path / "taps.csv").write_text("tap,face,along,height\nP1,north,0,5\n", "utf-8")
    (tmp_path / "cp.csv").write_text("P1\n" + "0.8\n" * 100, "utf-8")
    return tmp_path


EXPERIMENTS = _names(
    "Experiments",
    "Structures",
    "Excitations",
    "Devices",
    "Transfer systems",
    "Models that follow a measured device",
    "Controllers",
)


@pytest.mark.slow
@pytest.mark.parametrize("name", _names("Wind"))
def test_examples_of_wind_blow(name, folder):
    path = folder / "example.toml"
    path.write_text(f"{RIGID_FLOORS}\n{examples()[name]}", "utf-8")
    built = build(load_experiment(path))
    assert built.loads is not None and np.abs(built.loads.values).max() > 1e4
    assert len(built.run(steps=20).time) > 20


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_examples_of_experiments_run(name, folder):
    if "Script" in name and find_spec("openseespy") is None:
        pytest.skip("OpenSeesPy is not installed (extra: peers)")
    given = tomllib.loads(examples()[name])
    base = tomllib.loads(BASE)
    whole = merged(base, given) if name == "Damping" else {**base, **given}
    if name == "Integrator":
        whole["sites"] = {"damper1": {"story": 1, "device": {"law": "lugre"}}}
    if name in ("Recording", "SectionSpec"):  # of a frame with members
        whole["structure"] = {
            "kind": "plane_frame",
            "file": (ROOT / "experiments" / "models" / "rc_frame.toml").as_posix(),
        }
    path = folder / "example.toml"
    path.write_text("\n".join(f"{key} = {_toml(value)}" for key, value in whole.items()), "utf-8")
    experiment = load_experiment(path)
    assert isinstance(experiment, Experiment)
    result = build(experiment, allow_scripts=True).run(steps=20)
    assert len(result.time) > 20


def _toml(value):
    """A value as inline TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{key}" = {_toml(item)}' for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return repr(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else repr(value)


@pytest.mark.slow
@pytest.mark.parametrize("name", _names("Parts of a frame"))
def test_examples_of_frames_stand(name):
    """The part in a frame of the other examples."""
    data = tomllib.loads(FRAME)
    for part in (*FRAME_PARTS, name):
        data = merged(data, tomllib.loads(examples()[part]))
    data = merged(data, tomllib.loads(NODES))
    model = Frame.model_validate(data).model()
    assert model.structure(gravity=name in ("Mass", "Load")).n > 4


@pytest.mark.parametrize("name", _names("Mapping tables"))
def test_examples_of_mapping_tables_are_taken(name, tmp_path):
    (tmp_path / "map.toml").write_text(examples()[name], "utf-8")
    mapped = read_column_map(tmp_path / "map.toml")
    assert mapped.channels.f in ("Kraft", "3") and set(mapped.units.values()) <= {"mm", "kN"}


@pytest.mark.parametrize("name", _names("Trainings"))
def test_examples_of_trainings_are_taken(name):
    whole = merged(tomllib.loads(examples()["TrainingFile"]), tomllib.loads(examples()[name]))
    file = TrainingFile.model_validate(whole)
    assert file.network.architecture(len(file.data.inputs), len(file.data.outputs)).layers
