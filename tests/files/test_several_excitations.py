"""Several ground motions and loads in files: what is taken, and what is refused in words."""

import h5py
import numpy as np
import pytest

from hyloop.errors import BadInput
from hyloop.files.directions import cosines, in_words
from hyloop.files.load import load_experiment
from hyloop.study.build import build

FRAME = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "45 kN/mm"
"""
MATRICES = """
[structure]
kind = "matrices"
M = [1e4, 1e4]
K = [[4e6, 0], [0, 3e6]]
names = ["roof.ux", "roof.uz"]
influence = { x = [1, 0], z = [0, 1] }
"""
PLANE = """
[structure]
kind = "frame"
nodes = { A0 = [0, 0], A1 = [0, 3] }
supports = { fixed = ["A0"] }
sections = { c = { kind = "elastic", E = 2e11, A = 1e-2, Iz = 1e-4 } }
members = { column = { kind = "elastic", section = "c", lines = [["A0", "A1"]] } }
masses = [{ nodes = ["A1"], ux = 1e4 }]
"""
INTEGRATOR = '[integrator]\nmethod = "mkr_alpha"\ndt = "10 ms"\n'
SINE = 'kind = "harmonic"\namplitude = 1.0\nfrequency = 2\nduration = "{duration} s"\n'
ROUND_OFF = 1e-15


def motion(name, direction, duration=1):
    said = "" if direction is None else f"direction = {direction}\n"
    return f"[excitations.{name}]\n{SINE.format(duration=duration)}{said}"


def made(folder, text):
    path = folder / "e.toml"
    path.write_text(text + INTEGRATOR, encoding="utf-8")
    return build(load_experiment(path))


def refused(folder, text):
    with pytest.raises(BadInput) as caught:
        made(folder, text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("given", "wanted", "said"),
    [
        ("x", [1, 0, 0], "along x"),
        ("-z", [0, 0, -1], "along -z"),
        ("90 deg", [0, 0, 1], "at 90 deg from x towards z"),
        ("-60 deg", [0.5, 0, -(0.75**0.5)], "at -60 deg from x towards z"),
        ([0.6, 0, 0.8], [0.6, 0, 0.8], "along [0.6, 0, 0.8]"),
        ([0.577, 0.577, 0.577], [3**-0.5] * 3, "along [0.577, 0.577, 0.577]"),
    ],
)
def test_directions(given, wanted, said):
    np.testing.assert_allclose(cosines(given), wanted, atol=1e-15)
    assert in_words(given) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ('"north"', "excitations.a.direction: got 'north'; give \"x\""),
        ("30", "got 30; give"),
        ('"30"', "got '30'; give"),
        ("[1, 0, 1]", "of length 1.414; a vector must have the length 1; [0.7071, 0, 0.7071] has this direction"),
        ("[0, 0, 0]", "of length 0; a vector must have the length 1."),
        ("[1, 0]", "got [1, 0]; give"),
        ('["a", 0, 0]', "give"),
    ],
)
def test_what_is_no_direction_is_refused(given, said, tmp_path):
    assert said in refused(tmp_path, FRAME + motion("a", given))


def test_motions_along_one_axis_add_and_the_shorter_is_followed_by_zeros(tmp_path):
    built = made(tmp_path, FRAME + motion("a", '"x"', 2) + motion("b", '"-x"', 1))
    assert built.loop.structure.excitation_names == ("ground",)
    assert np.abs(built.excitation[:101]).max() < ROUND_OFF and built.excitation[101:].any()
    assert built.notes[1] == "excitation: b, along -x: harmonic-2Hz, peak 0.998 m/s2, 1 s; followed by 1 s of zeros"
    assert built.excited_by == "harmonic-2Hz + harmonic-2Hz"
    with pytest.raises(BadInput, match="has 2 ground motions"):
        _ = built.motion


def test_matrices_have_columns_by_direction(tmp_path):
    built = made(tmp_path, MATRICES + motion("a", '"z"'))
    assert built.loop.structure.influence.tolist() == [[0.0], [1.0]]
    both = made(tmp_path, MATRICES + motion("a", '"45 deg"'))
    assert both.loop.structure.directions == ("x", "z")
    r = both.run()
    assert {"ground.x", "ground.z", "base_shear.x", "base_shear.z"} <= set(r.names)
    alone = f"[excitation]\n{SINE.format(duration=1)}"
    assert "excitation.direction: is missing; structure.influence has several" in refused(tmp_path, MATRICES + alone)
    assert made(tmp_path, MATRICES + alone + 'direction = "x"\n').notes[0].startswith("excitation: along x: harmonic")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            FRAME + motion("a", '"z"'),
            "excitations.a.direction: got 'z', which needs z, but the floors of a shear frame",
        ),
        (FRAME + motion("a", '"20 deg"'), "which needs z"),
        (PLANE + motion("a", '"z"'), "a frame in the plane moves along x and y alone"),
        (PLANE + motion("a", '"y"'), "excitations.a.direction: nothing in the structure has mass along y"),
        (MATRICES + motion("a", '"y"'), "which needs y, but structure.influence has x and z alone"),
        (FRAME + motion("a", None), "excitations.a.direction: is missing"),
        (FRAME + motion("a", '"x"') + f"[excitation]\n{SINE.format(duration=1)}", "there is an [excitation] too"),
        (FRAME, "excitation: is missing; every experiment needs an excitation, excitations or loads"),
        (FRAME + motion("a b", '"x"').replace("a b", '"a b"'), "name 'a b' must be letters"),
        (FRAME + motion("a", '"x"').replace('"harmonic"', '"harmonc"'), "excitations.a.kind: got 'harmonc', did you"),
        (FRAME + motion("a", '"x"', 0.05), "excitations.a.duration = 0.05 s is 5 steps"),
        (
            FRAME + '[excitations.a]\nkind = "record"\nname = "nowhere"\ndirection = "x"\n',
            "excitations.a.name: the record 'nowhere' is missing",
        ),
        (
            FRAME
            + '[excitation]\nkind = "record"\nname = "nowhere"\n[excitation.fallback]\ndirection = "x"\n'
            + SINE.format(duration=1),
            "excitation.fallback.direction: the fallback takes that of the record",
        ),
        (MATRICES.replace("z = [0, 1]", "w = [0, 1]") + motion("a", '"x"'), "unknown direction 'w'"),
        (MATRICES.replace("z = [0, 1]", "z = [0]") + motion("a", '"x"'), "structure.influence.z: must be a list of 2"),
    ],
)
def test_what_does_not_go_together_is_refused(text, said, tmp_path):
    assert said in refused(tmp_path, text)


def test_two_random_motions_are_different(tmp_path):
    noise = 'kind = "noise"\nrms = 1.0\nlow = 0.5\nhigh = 5\nduration = "2 s"\n'
    text = MATRICES + f'[excitations.a]\n{noise}direction = "x"\n[excitations.b]\n{noise}direction = "z"\n'
    a, b = made(tmp_path, text).excitation.T
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.9
    again = made(tmp_path, text).excitation
    assert np.array_equal(again, np.column_stack([a, b]))


TABLE = '[loads.wind]\nkind = "table"\nfile = "{file}"\nat = {{ "1" = "F1", "story 2" = "F2" }}\n'
T = np.arange(21) * 0.05
F1, F2 = 2.0 * np.sin(T), 3.0 + T


def tables(folder):
    rows = "".join(f"{t:.2f},{a!r},{b!r}\n" for t, a, b in zip(T.tolist(), F1.tolist(), F2.tolist(), strict=True))
    (folder / "f.csv").write_text("t,F1 [kN],F2 [kN]\n" + rows, encoding="utf-8")
    (folder / "plain.csv").write_text("t,F1,F2\n" + rows, encoding="utf-8")
    np.savez(folder / "f.npz", t=T, F1=F1, F2=F2)
    np.savez(folder / "m.npz", dt=0.05, F=np.column_stack([F1, F2]))
    with h5py.File(folder / "f.hdf5", "w") as file:
        file["time"], file["F1"], file["F2"] = T, F1, F2


@pytest.mark.parametrize(
    ("file", "more"),
    [
        ("f.csv", ""),
        ("plain.csv", 'unit = "kN"\n'),
        ("f.npz", 'unit = "kN"\n'),
        ("m.npz", 'unit = "kN"\n'),
        ("f.hdf5", 'unit = "kN"\n'),
    ],
)
def test_loads_come_from_tables(file, more, tmp_path):
    tables(tmp_path)
    text = (
        TABLE.format(file=file)
        if file != "m.npz"
        else TABLE.format(file=file).replace('"F1"', '"F.1"').replace('"F2"', '"F.2"')
    )
    built = made(tmp_path, FRAME + text + more + "scale = 2\nramp_up = 0.1\nramp_down = 0.2\n")
    assert built.loop.structure.load_names == ("1", "story 2")
    envelope = np.minimum(np.minimum(T / 0.1, 1.0), (1.0 - T) / 0.2)
    truth = 2e3 * np.column_stack([F1, F2]) * envelope[:, None]
    np.testing.assert_allclose(built.excitation[::5, 1:], truth, atol=1e-9 * truth.max())
    assert built.notes == (f"excitation: loads wind: {file[0]}{file[1:].split('.')[0]} at 2 degrees of freedom, peak "
                           f"{truth.max():.4g} N at story 2, 1 s",)  # fmt: skip
    r = built.run()
    assert {"ground", "base_shear", "load.1", "load.story 2"} <= set(r.names) and not r["ground"].any()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TABLE.format(file="none.csv"), "loads.wind.file:"),
        (
            TABLE.format(file="plain.csv"),
            "column 'F1' has no unit. Write it into the header, as in 'F1 [kN]', or give ",
        ),
        (TABLE.format(file="plain.csv") + 'unit = "mm"\n', "'F1' is in mm, wanted a unit of the kind N"),
        (TABLE.format(file="f.csv") + 'unit = "N"\n', "'F1' is in kN by its header"),
        (TABLE.format(file="f.csv").replace('"F2"', '"F3"'), "unknown channel 'F3'"),
        (TABLE.format(file="f.csv").replace("story 2", "story 3"), "loads: 'story 3' does not exist"),
        (TABLE.format(file="f.csv").replace("story 2", "roof"), "loads: unknown degree of freedom 'roof'"),
        (TABLE.format(file="f.csv") + "ramp_up = 2\n", "ramps of 2 s up and 0 s down exceed the 1 s"),
        (TABLE.format(file="f.csv").replace('{ "1" = "F1", "story 2" = "F2" }', "{ }"), "loads.wind.at: is empty"),
        (TABLE.format(file="f.csv").replace('"table"', '"wnd"'), "loads.wind.kind: got 'wnd'"),
        ('[loads.s]\nkind = "harmonic"\nat = { "1" = "2 kg" }\nfrequency = 2\n', "loads.s.at"),
        (
            '[loads.s]\nkind = "harmonic"\nat = { "1" = 2 }\nfrequency = 2\ncycles = [1, 2]\n',
            "loads.s.cycles: got [1, 2]",
        ),
        ('[loads.s]\nkind = "harmonic"\nat = { "1" = 2 }\nfrequency = 80\n', "loads.s"),
        ('[loads.s]\nkind = "harmonic"\nat = { "1" = 2 }\nfrequency = 1e-9\n', "loads.s.frequency: the duration"),
    ],
)
def test_loads_that_cannot_be_are_refused(text, said, tmp_path):
    tables(tmp_path)
    assert said in refused(tmp_path, FRAME + text)


def test_loads_and_motions_together(tmp_path):
    shaker = '[loads.s]\nkind = "harmonic"\nat = { "story 2" = "5 kN" }\nfrequency = 2\ncycles = [1, 1, 1]\n'
    built = made(tmp_path, FRAME + shaker + shaker.replace("loads.s", "loads.t") + motion("a", '"x"', 3))
    assert built.excitation.shape == (301, 2), "loads at one place are one column"
    alone = made(tmp_path, FRAME + shaker)
    np.testing.assert_allclose(built.excitation[:151, 1], 2 * alone.excitation[:, 1])
    assert "followed by 1.5 s of zeros" in built.notes[1]
