"""`hyloop model` as a person uses it: tables, JSON, a page, and bad models refused with exit code 2."""

import json
import sys
from pathlib import Path

import pytest
from oracles.pages import Page

from hyloop.cli.main import main

SHOWN = 5e-4  # relative: tables show four digits
MODELS = Path(__file__).parents[2] / "experiments" / "models"

PORTAL = """
[grid]
x = { A = 0, B = "6 m" }
levels = [0, "3 m", "6 m"]
[supports]
fixed = ["?0"]
[materials.steel]
kind = "steel"
fy = "355 MPa"
E = "200 GPa"
[materials.concrete]
kind = "concrete"
fc = "30 MPa"
fcu = "6 MPa"
ecu = 0.006
[sections.profile]
kind = "elastic"
E = "200 GPa"
A = "100 cm2"
Iz = "1e4 cm4"
[members.columns]
kind = "elastic"
section = "profile"
lines = [["A0", "A1", "A2"], ["B0", "B1", "B2"]]
[members.beams]
kind = "elastic"
section = "profile"
lines = [["A{n}", "B{n}"]]
n = [1, 2]
[[masses]]
nodes = ["?1", "?2"]
ux = "10 t"
uy = "10 t"
weight = true
"""


@pytest.fixture
def hyloop(monkeypatch, tmp_path, capsys):
    """Run a command in this process, in a folder of its own: compiled members are shared."""
    monkeypatch.chdir(tmp_path)

    def run(*words, code=0):
        monkeypatch.setattr(sys, "argv", ["hyloop", *map(str, words)])
        if code:
            with pytest.raises(SystemExit) as stop:
                main()
            assert stop.value.code == code
        else:
            main()
        said = capsys.readouterr()
        return said.out, " ".join(said.err.split())

    return run


@pytest.mark.parametrize("name", ["rc_frame", "braced_building"])
def test_the_models_to_copy(hyloop, name):
    out, _ = hyloop("model", MODELS / f"{name}.toml", "--json")
    found = json.loads(out)
    assert found["modes"][0]["period"] == max(mode["period"] for mode in found["modes"])
    assert sum(mode["participation"]["ux"] for mode in found["modes"]) == pytest.approx(1.0)
    assert found["settlement"]["displacement"] > 0.0
    assert Path(found["report"]) == Path("out") / f"{name}-model.html"
    page = Page(Path(found["report"]))
    periods = page.rows("Natural modes")
    assert len(periods) == len(found["modes"]) + 1  # and their sum
    for mode in found["modes"]:
        assert float(periods[str(mode["mode"])][0]) == pytest.approx(mode["period"], rel=SHOWN)
    assert float(page.rows("Totals")["mass that moves in ux [t]"][0]) == pytest.approx(
        found["mass"]["ux"] / 1e3, rel=SHOWN
    )
    assert {key: int(row[0]) for key, row in page.rows("Size").items()} == found["counts"]
    picture = page.picture
    lines = [trace for trace in picture["data"] if trace.get("mode") == "lines"]
    members = {text for trace in lines for text in trace.get("text") or () if text}
    assert len(members) == found["counts"]["members"]  # each is named where it stands
    assert sum(trace["name"].startswith("mode") for trace in picture["data"]) >= 1


def test_tables_for_a_person(hyloop):
    Path("portal.toml").write_text(PORTAL)
    out, _ = hyloop("model", "portal.toml", "--no-report", "--modes", "2")
    for word in ("degrees of freedom", "12", "mass in ux", "392.3", "period", "checked: no mechanism", "moves most"):
        assert word in out
    assert not Path("out").exists()
    assert out.count("│") < 200


def test_degrees_of_freedom_without_mass_are_told_of(hyloop):
    """A node in the middle of a beam and the rotations have none; with a mass everywhere nothing is said."""
    middle = PORTAL.replace('lines = [["A{n}", "B{n}"]]', 'lines = [["A{n}", "mid{n}", "B{n}"]]')
    middle += '[nodes]\nmid1 = ["3 m", "3 m"]\nmid2 = ["3 m", "6 m"]\n'
    Path("portal.toml").write_text(middle)
    out, _ = hyloop("model", "portal.toml", "--out", "page.html")
    assert "degrees of freedom without mass" in out and "10" in out
    told = [line for line in " ".join(out.split()).split("checked: ") if line.startswith("10 of 18")]
    assert len(told) == 1
    for word in ("have no mass", "statics", "device", "rho_inf", "condense"):
        assert word in told[0]
    page = Path("page.html").read_text(encoding="utf-8")
    assert "10 of 18 degrees of freedom have no mass" in page
    found = json.loads(hyloop("model", "portal.toml", "--json", "--no-report")[0])
    assert found["counts"]["degrees of freedom without mass"] == 10
    assert any("10 of 18 degrees of freedom have no mass" in check for check in found["checks"])
    Path("portal.toml").write_text(PORTAL.replace('uy = "10 t"', 'uy = "10 t"\nrz = "1 t m2"'))
    assert "without mass" not in hyloop("model", "portal.toml", "--no-report")[0]


def test_a_change_reaches_the_model(hyloop):
    Path("portal.toml").write_text(PORTAL)
    words = ("model", "portal.toml", "--no-report", "--json")
    before, after = (json.loads(hyloop(*words, *more)[0]) for more in ((), ("--set", "sections.profile.E=50 GPa")))
    # a quarter of the modulus, twice the period
    assert after["modes"][0]["period"] == pytest.approx(2 * before["modes"][0]["period"])


RC = """
[sections.rc]
kind = "rc_rectangle"
width = "400 mm"
depth = "400 mm"
cover = "40 mm"
concrete = "concrete"
steel = "steel"
"""

SPACE = """
dimensions = 3
[grid]
x = { A = 0, B = "6 m" }
z = { S = 0, N = "5 m" }
levels = [0, "3 m", "6 m"]
[supports]
fixed = ["??0"]
[sections.profile]
kind = "elastic"
E = "200 GPa"
G = "77 GPa"
A = "100 cm2"
Iz = "1e4 cm4"
Iy = "1e4 cm4"
J = "100 cm4"
[members.columns]
kind = "elastic"
section = "profile"
lines = [["AS{n-1}", "AS{n}"], ["BS{n-1}", "BS{n}"], ["AN{n-1}", "AN{n}"], ["BN{n-1}", "BN{n}"]]
n = "1..2"
[floors.floor]
n = "1..2"
nodes = ["??{n}"]
mass = "10 t"
rotary = "100 t m2"
"""

BAD = {
    "mechanism": (
        PORTAL.replace("fixed", "pinned").replace("n = [1, 2]", 'n = [1, 2]\nrelease = ["i", "j"]'),
        ("mechanism", ".ux"),
    ),
    "zero length": (
        PORTAL + '[nodes]\nC1 = ["6 m", "3 m"]\n[members.stub]\nkind = "elastic"\nsection = "profile"\n'
        'lines = [["B1", "C1"]]\n',
        ("members.stub", "stub B1-C1", "zero length"),
    ),
    "no bars": (PORTAL + RC, ("sections.rc", "no bars")),
    "floors adrift": (
        SPACE.replace('n = "1..2"', "n = [1]", 1) + '[members.beams]\nkind = "elastic"\n'
        'section = "profile"\nlines = [["AS2", "BS2", "BN2", "AN2"]]\n',
        ("floor 'floor2'", "not connected with any support"),
    ),
    "floor not level": (
        SPACE.replace('nodes = ["??{n}"]', 'nodes = ["??{n}", "AS{n-1}"]'),
        ("floors.floor", "floor1", "level"),
    ),
    "buckling by leaning columns": (
        PORTAL + '[members.leaning]\nkind = "lean_on"\nlines = [["A0", "A1", "A2"]]\nload = "100 MN"\n',
        ("buckling", "critical load", ".ux"),
    ),
    "buckling by axial force": (
        PORTAL.replace('section = "profile"', 'section = "profile"\naxial_force = "200 MN"', 1),
        ("buckling", "critical load"),
    ),
    "node in the air": (PORTAL + "[nodes]\nC1 = [12, 3]\n", ("'C1'", "not connected to any member")),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_models_are_refused_by_name(hyloop, name):
    text, words = BAD[name]
    Path("bad.toml").write_text(text)
    out, err = hyloop("model", "bad.toml", code=2)
    for word in ("refused", "bad.toml", *words):
        assert word in err, err
    assert not out and not Path("out").exists()


def test_gravity_beyond_buckling_of_fibre_columns_is_refused(hyloop):
    _, err = hyloop("model", MODELS / "rc_frame.toml", "--set", "gravity=40 MN", code=2)
    assert (
        "rc_frame.toml" in err and "buckling" in err and "dead loads exceed the critical load" in err and "1.ux" in err
    )


def test_bad_words_are_refused(hyloop):
    Path("portal.toml").write_text(PORTAL)
    assert "sectoins" in hyloop("model", "portal.toml", "--set", "sectoins.profile.E=1", code=2)[1]
    assert "modes" in hyloop("model", "portal.toml", "--modes", "0", code=2)[1]
    assert "nothing.toml" in hyloop("model", "nothing.toml", code=2)[1]


def test_the_sites_of_an_experiment_are_shown(hyloop):
    experiment = MODELS.parent / "rc_frame.toml"
    found = json.loads(hyloop("model", experiment, "--json")[0])
    assert [(site["site"], site["where"], site["device"]) for site in found["sites"]] == [
        ("damper1", "story 1", "brfd_gap_slip"),
        ("damper2", "story 2", "lugre"),
    ]
    page = Page(Path(found["report"]))
    assert list(page.rows("Sites")) == ["damper1", "damper2"]
    drawn = next(trace for trace in page.picture["data"] if trace["name"] == "site of a device")
    nodes = next(trace for trace in page.picture["data"] if trace["name"] == "node")
    levels = sorted(set(nodes["y"]))
    low, mid, high = levels[0], *(y for y in levels if nodes["y"].count(y) > 2)
    assert drawn["y"] == [low, mid, None, mid, high, None]  # a diagonal in each story, from node to node
    assert {*zip(drawn["x"], drawn["y"], strict=True)} - {(None, None)} <= {*zip(nodes["x"], nodes["y"], strict=True)}
    assert drawn["x"][0] != drawn["x"][1]
    out, _ = hyloop("model", experiment, "--no-report")
    assert "Sites" in out and "damper2" in out


def test_a_site_at_no_node_is_refused_and_one_that_cannot_be_read_is_noted(hyloop):
    head = 'title = "x"\n[structure]\nkind = "frame"\nfile = "portal.toml"\n'
    rest = '[integrator]\nmethod = "cr"\ndt = "1/256 s"\n[excitation]\nkind = "harmonic"\namplitude = "1 m/s2"\n'
    rest += 'frequency = "1 Hz"\nduration = "1 s"\n'
    Path("portal.toml").write_text(PORTAL)
    site = '[sites.brace]\nbetween = ["A0", "{}"]\ndevice = {{ law = "bilinear"{} }}\n'
    Path("e.toml").write_text(head + site.format("B1", "") + rest)
    assert "between A0 and B1" in hyloop("model", "e.toml", "--no-report")[0]
    Path("e.toml").write_text(head + site.format("B9", "") + rest)
    _, err = hyloop("model", "e.toml", "--no-report", code=2)
    assert "sites.brace.between" in err and "B9" in err
    Path("e.toml").write_text(head + site.format("B1", ", nonsense = 1") + rest)
    out = " ".join(hyloop("model", "e.toml", "--no-report")[0].split())
    assert "the sites are not shown" in out and "nonsense" in out and "period" in out
