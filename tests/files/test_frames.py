"""Frames in files: closed forms, the same model as in Python, and refusals that name the key and the node."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from oracles.pages import Page
from scipy.signal import cont2discrete, dlsim

from hyloop.buildings.tower import Tower, tower
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName
from hyloop.files.frames.frame import frame_along, story_nodes
from hyloop.files.frames.models import load_frame
from hyloop.files.frames.tower import TOWER_FIELDS
from hyloop.files.load import load_experiment
from hyloop.record import Recording
from hyloop.report.degrees import degrees_of_freedom
from hyloop.report.model_summary import summarise
from hyloop.report.run_page import write_report
from hyloop.structure.fibres.materials import Steel, kent_park
from hyloop.structure.fibres.reinforced import rc_rectangle
from hyloop.structure.fibres.sections import ElasticSection
from hyloop.structure.frames.plane_frame import plane_frame
from hyloop.study.build import build

MODELS = Path(__file__).parents[2] / "experiments" / "models"
ROUND_OFF = 1e-10  # of the largest entry, the same sums in another order
STEP = 5e-3  # of the range: MKR-alpha with a step of a fiftieth of the period, second order
QUIET = 1e-8  # m: what a billionth of gravity moves, and what is left of the balance under the dead load
SLENDER = 1e-4  # relative: members a million times stiffer along than across still give a little
SHOWN = 5e-4  # relative: tables show four digits

PORTAL = """
dimensions = 2
[grid]
x = { A = 0, B = "6 m" }
levels = [0, "3 m"]
[supports]
fixed = ["?0"]
[sections.column]
kind = "elastic"
E = "200 GPa"
A = "1 m2"
Iz = "1e4 cm4"
[sections.beam]
kind = "elastic"
E = "200 GPa"
A = "1 m2"
Iz = "2e4 cm4"
[members.columns]
kind = "elastic"
section = "column"
lines = [["A0", "A1"], ["B0", "B1"]]
[members.beam]
kind = "elastic"
section = "beam"
lines = [["A1", "B1"]]
[[masses]]
nodes = ["?1"]
ux = "10 t"
"""

EXPERIMENT = """
[structure]
kind = "frame"
file = "portal.toml"
damping = { ratio = "2 %" , kind = "modal"}
[integrator]
method = "mkr_alpha"
rho_inf = 1.0
dt = "1/512 s"
[excitation]
kind = "noise"
rms = "0.1 g"
low = "0.5 Hz"
high = "8 Hz"
duration = "1 s"
[sites.brace]
between = ["A0", "B1"]
device = { law = "spring", k = "5 kN/mm" }
[sites.wall]
story = 1
device = { law = "spring", k = "2 kN/mm" }
"""


@pytest.fixture
def read(tmp_path):
    def read(text=PORTAL, *overrides):
        path = tmp_path / "portal.toml"
        path.write_text(text, encoding="utf-8")
        return load_frame(path, overrides)

    return read


def portal_stiffness(E=200e9, Ic=1e-4, Ib=2e-4, h=3.0, L=6.0):
    """Chopra, Dynamics of Structures, section 1.3: a portal with fixed columns and a flexible beam."""
    rho = (Ib / L) / (2 * Ic / h)
    return 24 * E * Ic / h**3 * (12 * rho + 1) / (12 * rho + 4)


def test_period_of_a_portal(read):
    found = summarise(read().model(), modes=1)
    assert found.periods[0] == pytest.approx(2 * np.pi * np.sqrt(20e3 / portal_stiffness()), rel=SLENDER)
    assert found.mass["ux"] == 20e3 and found.participation["ux"][0] == pytest.approx(1.0, abs=SLENDER)


def test_effective_masses_of_a_shear_building():
    # two equal masses and stories, beams that do not bend: shapes (1, golden ratio), 94.7 and 5.3 % of the mass
    column, beam = ElasticSection(200e9, 1.0, 1e-4), ElasticSection(200e9, 1.0, 1e3)
    found = summarise(plane_frame(6.0, [3.0, 3.0], column, beam, masses=1e4), modes=2)
    golden = (1 + np.sqrt(5)) / 2
    first = np.array([1.0, golden])
    assert found.participation["ux"][0] == pytest.approx(first.sum() ** 2 / (2 * first @ first), abs=1e-3)
    omega = np.sqrt(2 * 12 * 200e9 * 1e-4 / 3.0**3 / 1e4) / golden
    assert found.periods[0] == pytest.approx(2 * np.pi / omega, rel=1e-3)


def test_file_is_the_frame_written_in_python():
    shell, core = kent_park(30e6, 0.01, 420e6, 0.32, 0.1)
    bar = np.pi * 0.02**2 / 4
    section = rc_rectangle(
        0.4, 0.4, 0.04, core, shell, [(-0.142, 4 * bar), (0.0, 2 * bar), (0.142, 4 * bar)], Steel(460e6, 200e9, 0.01)
    )
    beam = ElasticSection(26e9, 0.3 * 0.5, 0.35 * 0.3 * 0.5**3 / 12)
    expected = plane_frame(
        6.0, [3.6, 3.2], section, beam, masses=40e3, gravity=392e3, leaning=200e3, joints=(0.4, 0.5), column_hinges=0.22
    ).structure()
    found = summarise(load_frame(MODELS / "rc_frame.toml").model()).structure
    assert found.names == expected.names
    for key in ("M", "initial_stiffness", "dead_load", "at_rest"):
        one, two = getattr(found, key), getattr(expected, key)
        assert np.abs(one - two).max() <= ROUND_OFF * np.abs(two).max(), key


def test_braced_building_stands_and_turns():
    found = summarise(load_frame(MODELS / "braced_building.toml").model())
    assert found.counts["braces"] == 12 and found.counts["elastic beam-columns"] == 18 + 21
    assert found.mass == pytest.approx({"ux": 180e3, "uy": 0.0, "uz": 180e3})
    assert found.dead_load == pytest.approx(18 * 98e3)
    # nine modes: three floors that move in x, in z and turn
    assert len(found.periods) == 9
    assert found.participation["ux"].sum() == pytest.approx(1.0) and found.participation["uz"].sum() == pytest.approx(
        1.0
    )


def test_tables_are_repeated_and_names_matched(read):
    text = PORTAL.replace(
        'lines = [["A0", "A1"], ["B0", "B1"]]', 'lines = [["A{n-1}", "A{n}"], ["B{n-1}", "B{n}"]]\nn = "1..1"'
    )
    assert (
        list(read(text).model().members)
        == list(read().model().members)
        == ["columns A0-A1", "columns B0-B1", "beam A1-B1"]
    )
    model = read(PORTAL.replace('ux = "10 t"', 'ux = "10 t"\nuy = "10 t"\nweight = true')).model()
    assert model.masses["B1.uy"] == 10e3 and model.loads["B1.uy"] == pytest.approx(-98066.5)


def test_tower_table_has_the_fields_of_the_tower(tmp_path):
    assert {field.name for field in fields(Tower)} == TOWER_FIELDS
    path = tmp_path / "tower.toml"
    path.write_text("""
kind = "tower"
heights = ["4 m", "4 m", "4 m"]
basements = 0
outriggers = [3]
brace_strength = [{ upto = 3, force = "2 MN" }]
""")
    found, expected = (
        load_frame(path).model(),
        tower(heights=(4.0,) * 3, basements=0, outriggers=(3,), brace_strength=((3, 2e6),)),
    )
    assert list(found.members) == list(expected.members)
    assert all(np.array_equal(found.nodes[name], place) for name, place in expected.nodes.items())
    braces = [name for name in expected.members if name.startswith("brace")]
    assert braces and all(found.members[name].area == expected.members[name].area for name in braces)


# devices on frames


def test_directions_of_devices(read):
    model = read().model()
    structure = model.structure()
    cosine, sine = 6 / np.hypot(6, 3), 3 / np.hypot(6, 3)
    expected = np.zeros(structure.n)
    expected[[structure.dof("B1.ux"), structure.dof("B1.uy")]] = cosine, sine
    assert np.allclose(frame_along(model, structure, None, ("A0", "B1")), expected)
    assert np.allclose(frame_along(model, structure, 1, None), structure.between("A1.ux"))
    assert np.allclose(frame_along(model, structure, None, ("B1.ux", "A1.ux")), structure.between("B1.ux", "A1.ux"))
    building = load_frame(MODELS / "braced_building.toml").model()
    assert story_nodes(building) == ["floor1", "floor2", "floor3"]


def test_an_experiment_runs_on_a_frame(read, tmp_path):
    read()  # writes the file
    path = tmp_path / "test.toml"
    path.write_text(EXPERIMENT)
    result = build(load_experiment(path)).run()
    k = portal_stiffness() + 5e6 * 6.0**2 / (6.0**2 + 3.0**2) + 2e6
    # both springs stiffen the one mode: an oscillator of the same period, by the exact step for straight-line loads
    omega = np.sqrt(k / 20e3)
    c = 2 * 0.02 * np.sqrt(portal_stiffness() / 20e3)  # damping was set without the devices
    u = _oscillator(omega, c / (2 * omega), result["ground"], 1 / 512)
    error = np.sqrt(np.mean((result["u.A1.ux"] - u) ** 2)) / np.ptp(u)
    assert np.ptp(u) > 1e-3 and error < STEP
    assert np.allclose(result["wall.d"][1:], result["u.A1.ux"][1:], rtol=0, atol=1e-12)


def test_rotations_are_not_shown_as_lengths(read, tmp_path):
    read()
    path = tmp_path / "test.toml"
    path.write_text(EXPERIMENT)
    result = build(load_experiment(path)).run()
    units = dict(zip(result.names, result.units, strict=True))
    assert (units["u.A1.ux"], units["u.A1.rz"], units["v.A1.rz"]) == ("m", "rad", "rad/s")
    recorded = Recording(result.time, result.data, result.names, result.units)
    assert "u.A1.rz" in degrees_of_freedom({"run": recorded}, "rad")
    assert "u.A1.rz" not in degrees_of_freedom({"run": recorded}, "m")
    page = Page(write_report(tmp_path / "run.html", {"run": recorded}, title="Frame"))
    for title, channel in (("Peak displacement in mm", "u.A1.ux"), ("Peak rotation in mrad", "u.A1.rz")):
        (shown,) = page.rows(title)[channel]
        assert float(shown) == pytest.approx(1e3 * np.abs(result[channel]).max(), rel=SHOWN)
    assert "u.A1.rz" not in page.rows("Peak displacement in mm")


@pytest.mark.parametrize("kind", ["rayleigh", "modal", "modal_and_stiffness"])
def test_damping_of_a_frame_with_massless_rotations(read, tmp_path, kind):
    read()
    path = tmp_path / "test.toml"
    count = ", count = 2" if kind == "modal_and_stiffness" else ""
    path.write_text(EXPERIMENT.replace('kind = "modal"', f'kind = "{kind}"{count}'))
    frame = build(load_experiment(path)).loop.structure
    modes = frame.modes()
    assert len(modes.omega) == 2 < frame.n  # two masses that move in x
    damping = modes.shapes.T @ (frame.C @ modes.shapes)
    assert np.allclose(damping, np.diag(2 * 0.02 * modes.omega), atol=1e-8 * modes.omega[-1])


@pytest.mark.parametrize(
    ("name", "ends", "top"), [("rc_frame", ("A1", "B2"), "A2"), ("braced_building", ("AS0", "BN1"), "floor3")]
)
def test_the_models_to_copy_run_from_rest(tmp_path, name, ends, top):
    path = tmp_path / "test.toml"
    text = EXPERIMENT.replace("portal.toml", (MODELS / f"{name}.toml").as_posix()).replace(
        'kind = "modal"', 'kind = "rayleigh"'
    )
    path.write_text(text.replace('"A0", "B1"', f'"{ends[0]}", "{ends[1]}"'))
    still, shaken = (build(load_experiment(path, [f"excitation.rms={rms}"])) for rms in ("1e-9 g", "0.2 g"))
    for built, low, high in ((still, 0.0, QUIET), (shaken, 1e-3, 0.2)):
        result, rest = built.run(), built.loop.structure.at_rest
        moved = result[f"u.{top}.ux"] - rest[built.loop.structure.dof(f"{top}.ux")]
        assert low <= np.abs(moved).max() <= high
        assert np.abs(result["brace.d"]).max() <= 2 * np.abs(moved).max() + QUIET


def _oscillator(omega, ratio, a, dt):
    A, B = np.array([[0.0, 1.0], [-(omega**2), -2 * ratio * omega]]), np.array([[0.0], [-1.0]])
    system = cont2discrete((A, B, np.array([[1.0, 0.0]]), np.zeros((1, 1))), dt, method="foh")
    return dlsim(system, a)[1][:, 0]


def test_values_of_a_frame_file_can_be_changed(read, tmp_path):
    read()
    path = tmp_path / "test.toml"
    path.write_text(EXPERIMENT)
    changed = load_experiment(path, ["structure.sections.column.E=100 GPa"]).structure
    assert changed.sections["column"].E == 100e9 and changed.sections["beam"].E == 200e9
    assert load_frame(path, ["structure.sections.column.E=100 GPa"]) == changed


# refusals


def refused(read, text, *words, error=BadInput):
    """The message of what is refused, anywhere between the file and the structure at rest."""
    with pytest.raises(error) as caught:
        summarise(read(text).model())
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "words", "error"),
    [
        ('E = "200 GPa"', 'E = "200 mm"', ("portal.toml", "sections.column.E"), BadInput),
        ('kind = "elastic"\nE', 'kind = "elastik"\nE', ("sections.column.kind", "elastic"), BadInput),
        ('section = "beam"', 'section = "baem"', ("members.beam: section", "'beam'"), UnknownName),
        ('lines = [["A1", "B1"]]', 'lines = [["A1"]]', ("members.beam.lines",), BadInput),
        ('lines = [["A1", "B1"]]', 'lines = [["A1", "B{n}"]]', ("members.beam", "n is not given"), BadInput),
        ('lines = [["A1", "B1"]]', 'lines = [["A1", "B2"]]', ("members.beam", "'B2'", "B1"), UnknownName),
        ('nodes = ["?1"]', 'nodes = ["?7"]', ("masses[0]", "'?7'"), UnknownName),
        ('fixed = ["?0"]', 'fixd = ["?0"]', ("supports.fixd", "fixed"), BadInput),
        ("dimensions = 2", "dimensions = 4", ("dimensions",), BadInput),
        ('ux = "10 t"', 'uz = "10 t"', ("masses[0]", "uz"), UnknownName),
        ("[grid]", "[grid]\nz = { S = 0 }", ("grid.z",), BadInput),
        ('[[masses]]\nnodes = ["?1"]\nux = "10 t"', "", ("no mass",), OutOfBounds),
    ],
)
def test_refusals_name_the_key(read, old, new, words, error):
    assert old in PORTAL
    refused(read, PORTAL.replace(old, new, 1), *words, error=error)


def test_regular_frames_are_checked(read):
    section = ElasticSection(200e9, 1.0, 1e-4)
    with pytest.raises(OutOfBounds, match="heights"):
        plane_frame(6.0, [3.0, -3.0], section, section)
    with pytest.raises(BadShape, match="3 columns for 2 stories"):
        plane_frame(6.0, [3.0, 3.0], [section] * 3, section)
    with pytest.raises(OutOfBounds, match="masses"):
        plane_frame(6.0, [3.0, 3.0], section, section, masses=[1.0, 1.0, 1.0])
    with pytest.raises(BadInput, match="hinges"):
        plane_frame(6.0, 3.0, section, section, column_hinges=0.2)
    refused(read, 'kind = "plane_frame"\nbays = "6 m"\nheights = "3 m"\ncolumns = "a"\nbeams = "a"', "columns", "'a'")


def test_a_file_of_another_kind_is_refused(read):
    with pytest.raises(UnknownName, match="kind"):
        read('[structure]\nkind = "shear_frame"')
    with pytest.raises(BadInput, match=r"nothing\.toml"):
        read('[structure]\nkind = "frame"\nfile = "nothing.toml"')


def test_the_page_about_frames_tells_the_truth(read):
    text = (MODELS.parents[1] / "docs" / "frames.md").read_text(encoding="utf-8")
    python, described = (text.split(f"```{language}\n")[1].split("```")[0] for language in ("python", "toml"))
    names = {}
    exec(compile(python, "frames.md", "exec"), names)
    assert names["loop"].structure.names[0] == "A1.ux" and names["frame"].at_rest.min() < 0.0
    model = read(described).model()
    assert len(model.members) == 8 and model.loads["A2.uy"] < 0.0
