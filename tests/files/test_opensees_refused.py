"""Scripts that are not run, fail, or build what cannot be carried over; and an OpenSeesPy that does not load."""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from problems.portal import built, portal

from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.study.build import build

pytestmark = pytest.mark.skipif(find_spec("openseespy") is None, reason="OpenSeesPy is not installed (extra: peers)")


def test_a_script_runs_only_if_allowed(tmp_path):
    path = portal(tmp_path, f"    open({str(tmp_path / 'ran')!r}, 'w').close()\n", condense="[]")
    experiment = load_experiment(path)
    with pytest.raises(BadInput, match=r"portal.toml: structure.script: .*portal.py' is a program .*--allow-scripts"):
        build(experiment)
    assert not (tmp_path / "ran").exists()
    build(experiment, allow_scripts=True)
    assert (tmp_path / "ran").exists()


REFUSED = {
    "a yielding element": (
        "    ops.uniaxialMaterial('Steel01', 9, 3e8, 2e11, 0.01)\n    ops.element('Truss', 9, 1, 4, 1e-4, 9)\n",
        r"Truss \(element 9\): Steel01.*\[sites\].*linearise = true",
    ),
    "ground motion": (
        "    ops.timeSeries('Constant', 7)\n    ops.pattern('UniformExcitation', 7, 1, '-accel', 7)\n",
        r"load pattern 7 of kind UniformExcitation.*\[excitation\]",
    ),
    "modal damping": (
        "    ops.eigen('-fullGenLapack', 3)\n    ops.modalDamping(0.02)\n",
        "the modal damping.*kind = 'modal'",
    ),
    "loads not analysed": (
        "    ops.timeSeries('Linear', 7)\n    ops.pattern('Plain', 7, 7)\n    ops.load(3, 1e3, 0.0, 0.0)\n",
        r"loads on nodes 3, 4 would move the model on.*loadConst",
    ),
    "a chain": (
        "    ops.node(8, 6.0, 5.0)\n    ops.node(9, 6.0, 6.0)\n    ops.rigidLink('beam', 4, 8)\n"
        "    ops.rigidLink('beam', 8, 9)\n",
        "node 9 follows node 8, which follows another",
    ),
    "a mechanism": ("    ops.node(9, 1.0, 1.0)\n", "nothing holds 9.ux, 9.uy, 9.rz; .*mechanism"),
    "an error": ("    print('so far')\n    1 / 0\n", r"failed.*so far(.|\n)*line \d+, in build(.|\n)*ZeroDivision"),
    "an end": ("    raise SystemExit(5)\n", "the script ended before the model was read.*It printed nothing"),
    "an end with words": ("    raise SystemExit('no steel')\n", "ended before the model was read.*no steel"),
    "a sudden end": ("    import os\n    print('so far')\n    os._exit(0)\n", "ended before .* read.*so far"),
    "the end of a refusal": ("    import os\n    os._exit(3)\n", "ended before the model was read"),
    "no end": ("    while True: pass\n", r"did not end within 3 s.*structure.timeout"),
    "nothing": ("    ops.wipe()\n", "no nodes"),
}


@pytest.mark.slow
@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_carried_over_is_refused_by_name(why, tmp_path):
    more, words = REFUSED[why]
    with pytest.raises(BadInput, match=rf"(?s)portal.toml: structure.script: portal.py.*{words}"):
        built(portal(tmp_path, more, condense="[]", **({"timeout": 3.0} if why == "no end" else {})))


@pytest.mark.slow
def test_functions_directions_and_places_that_are_not_there(tmp_path):
    path = portal(tmp_path, condense="[]")
    for change, words in {
        "structure.function=bild": "unknown function in the script 'bild'. Did you mean 'build'",
        "structure.script=port.py": "structure.script: port.py is missing",
        "structure.ground=uz": "unknown direction of ground motion 'uz'",
        "structure.units={ length = 'kg' }": "structure.units.length: got 'kg', which is no unit of length",
        "sites.damper1.between=[1, 5]": "sites.damper1.between: unknown node '5'",
        "sites.damper1.between=['4.rz', '1.rz']": "4.rz has been condensed; name it in structure.condense",
    }.items():
        with pytest.raises(BadInput, match=words):
            built(path, change)


def test_a_script_without_a_function_is_told_to_have_one(tmp_path):
    """As most scripts are: commands one below the other."""
    path = portal(tmp_path, condense="[]")
    (tmp_path / "portal.py").write_text("import openseespy.opensees as ops\nops.wipe()\n")
    with pytest.raises(BadInput, match=r"the script has no function\. .* write `def build\(\):` above the first line"):
        built(path)


LIBRARY = "libblas.so.3: cannot open shared object file: No such file or directory"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"raise ImportError({LIBRARY!r})", r"libblas.so.3: cannot open .*apt install libblas3"),
        ("raise ModuleNotFoundError('No module named x')", "not installed.*pip install openseespy"),
        ("raise ImportError('DLL load failed')", "cannot be loaded: DLL load failed.*wheel"),
    ],
)
def test_a_missing_library_is_explained(text, words, tmp_path, monkeypatch):
    """OpenSeesPy as it is installed, but with a compiled module that fails in the words of the real one."""
    fake = tmp_path / "fake"
    for name in ("openseespy", "openseespylinux"):
        origin = Path(find_spec(name).origin)
        (fake / name).mkdir(parents=True)
        (fake / name / "__init__.py").write_text(origin.read_text("utf-8"), "utf-8")
    (fake / "openseespy" / "opensees").mkdir()
    facade = Path(find_spec("openseespy").origin).parent / "opensees" / "__init__.py"
    (fake / "openseespy" / "opensees" / "__init__.py").write_text(facade.read_text("utf-8"), "utf-8")
    (fake / "openseespylinux" / "opensees.py").write_text(text, "utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(fake), *sys.path]))
    with pytest.raises(BadInput, match=words):
        built(portal(tmp_path, condense="[]"))
