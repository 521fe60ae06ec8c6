"""Transfer systems in files: the blocks they mean, in units, and every refusal with its key."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from hyloop.errors import BadInput
from hyloop.files.load import json_schema, load_experiment
from hyloop.files.transfers import BLOCKS, MAKERS
from hyloop.study.build import build
from hyloop.transfer import delay, sensor, state_space, zeros_poles

BASE = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "45 kN/mm"
damping = { kind = "rayleigh", ratio = "5 %" }
[integrator]
method = "mkr_alpha"
dt = "1/256 s"
substeps = 4
[excitation]
kind = "harmonic"
amplitude = "0.1 g"
frequency = "2 Hz"
duration = "1 s"
[sites.one]
story = 1
physical = true
device = { law = "bilinear", k = "1 kN/mm", f_y = "2 kN" }
"""
TABLE = """
[couplings.table]
law = "transfer_matrix"
entries = [
    [{ poles = [-40], gain = 40 }, { poles = [-50], gain = 2 }],
    [{ poles = [-50], gain = -3 }, { numerator = [3600], denominator = [1, 80, 3600] }],
]
[sites.one.transfer.actuator]
coupled = "table"
axis = 1
[sites.two]
like = "one"
story = 2
[sites.two.transfer.actuator]
coupled = "table"
axis = 2
"""


@pytest.fixture
def load(tmp_path):
    def loaded(text, *overrides):
        path = tmp_path / "test.toml"
        path.write_text(BASE + text, encoding="utf-8")
        return load_experiment(path, overrides)

    return loaded


def actuator(text):
    return f"[sites.one.transfer.actuator]\n{text}"


def same(one, other):
    return one.block.name == other.block.name and one.params == other.params and np.array_equal(one.x0, other.x0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('law = "delay"\ntau = "12 ms"\nstroke = "80 mm"', lambda: delay(tau=0.012, stroke=0.08)),
        ('law = "zeros_poles"\npoles = [-40, "-50+-63j"]', lambda: zeros_poles([], [-40, -50 + 63j, -50 - 63j])),
        (
            'law = "zeros_poles"\nzeros = ["-120"]\npoles = [-40, [-50, 63], "-50 - 63j"]\ngain = 2e3\nhold = "step"',
            lambda: zeros_poles([-120], [-40, -50 + 63j, -50 - 63j], 2e3, hold="step"),
        ),
        (
            'law = "state_space"\nA = [[0, 1], [-100, -20]]\nB = [[0], [100]]\nC = [[1, 0]]\nvelocity = "20 cm/s"',
            lambda: state_space([[0, 1], [-100, -20]], [[0], [100]], [[1, 0]], velocity=0.2),
        ),
    ],
)
def test_a_table_is_the_block_it_means(load, text, expected):
    assert same(load(actuator(text)).sites["one"].transfer["actuator"].make(), expected())


def test_a_sensor_in_units(load):
    given = 'law = "sensor"\nnoise_f = "20 N"\nrange_f = "50 kN"\nbits = 18\nrate = "512 Hz"'
    read = load(f"[sites.one.transfer.sensor]\n{given}").sites["one"].transfer["sensor"].make()
    assert same(read, sensor(noise_f=20.0, range_f=5e4, bits=18.0, rate=512.0))


def test_two_sites_share_a_plant(load):
    built = build(load(TABLE))
    r = built.run()
    assert np.abs(r["table.d1"]).max() > 0 and built.loop.sites[0].own["d"] == "table.d1"
    slow = np.abs(r["table.d1"] - r["one.d"]).max() / np.abs(r["one.d"]).max()
    assert 0.05 < slow < 1.0  # ω/40 = 0.3 of a lag that the file means, and a little of the other axis


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (actuator('law = "dely"'), ["sites.one.transfer.actuator.law: unknown law 'dely'", "Did you mean 'delay'?"]),
        (actuator('law = "delay"\ntua = "1 ms"'), ["transfer.actuator.tua", "Did you mean 'tau'?"]),
        (actuator('law = "delay"\ntau = "1 mm"'), ["transfer.actuator.tau", "'mm' is not a unit of the kind s"]),
        (actuator('law = "delay"\nstroke = "-8 mm"'), ["transfer.actuator.stroke", "outside its bounds"]),
        (actuator('law = "delay"\ntau = "0.5 ms"'), ["sites.one.transfer.actuator", "shorter than a tick", "substeps"]),
        (actuator('law = "sensor"'), ["transfer.actuator.law", "'sensor' is for the role sensor, not actuator"]),
        (
            actuator('law = "transfer_function"\nnumerator = [1]\ndenominator = [1, -1]'),
            ["sites.one.transfer.actuator.law: the plant is unstable", "check signs and units"],
        ),
        (
            actuator('law = "transfer_function"\nnumerator = [1, 0, 0]\ndenominator = [1, 1]'),
            ["transfer.actuator", "not proper", "Add poles"],
        ),
        (actuator('law = "transfer_function"\nnumerator = [1]'), ["transfer.actuator.denominator: is missing"]),
        (actuator('law = "zeros_poles"\npoles = ["-40 Hz"]'), ["transfer.actuator.poles", "wanted a number in rad/s"]),
        (actuator('law = "zeros_poles"\npoles = ["-50+63j"]'), ["transfer.actuator.poles", "has no conjugate"]),
        (actuator('law = "zeros_poles"\npoles = [-1]\nhold = "ramp"'), ["actuator.hold", "'line', 'step'"]),
        (actuator('law = "zeros_poles"\npoles = [-1]\nstorke = 1'), ["actuator.storke", "Did you mean 'stroke'?"]),
        (actuator('law = "servo_hydraulic"\na1_beta0 = 1e15'), ["sites.one.transfer.actuator", "unstable"]),
        (
            '[sites.one.transfer.sensor]\nlaw = "sensor"\nrate = "2 kHz"',
            ["sites.one.transfer.sensor", "above the controller's 1024 Hz", "Give at most 1024 Hz"],
        ),
        (TABLE.replace('coupled = "table"', 'coupled = "tabel"'), ["actuator.coupled", "Did you mean 'table'?"]),
        (TABLE.replace("axis = 2", "axis = 3"), ["sites.two.transfer.actuator", "its axes are 1 to 2"]),
        (TABLE.replace("axis = 2", "axis = 1"), ["table: axis 1 of 2 stands at one and two"]),
        (TABLE.replace("gain = 40", "slow = 1"), ["couplings.table.entries[0][0].slow", "unknown key"]),
        (TABLE[: TABLE.index("[sites.one")], ["couplings.table: stands at no site", "coupled = "]),
        (TABLE.replace("actuator", "sensor"), ["'table' is for the role actuator, not sensor"]),
        (
            '[sites.one.transfer.specimen]\nlaw = "linear_specimen"\nK = [["1 kN/mm"]]',
            ["transfer.specimen", "one with a single axis is the device"],
        ),
    ],
)
def test_refused_with_its_key(load, text, words):
    with pytest.raises(BadInput) as caught:
        build(load(text))
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_an_override_takes_the_place_of_another_block(load):
    changed = load(actuator('law = "delay"\ntau = "12 ms"'), 'sites.one.transfer.actuator={ law = "first_order_lag" }')
    assert build(changed).loop.sites[0].transfer["actuator"].block.name == "first_order_lag"


def test_the_schema_knows_them():
    text = json.dumps(json.loads(json_schema()))
    assert all(f'"{name}"' in text for name in (*BLOCKS, *MAKERS))


DOCS = Path(__file__).parents[2] / "docs" / "transfer.md"


@pytest.mark.slow
@pytest.mark.parametrize("shown", [(0,), (0, 1), (2,)])
def test_what_the_page_shows_runs(shown, load, tmp_path):
    """The rig; the rig with its compensator; two sites that share a plant."""
    texts = re.findall(r"^```toml\n(.*?)^```", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    text = "\n".join(texts[number] for number in shown)
    site = '[sites.damper1]\nstory = 1\nphysical = true\ndevice = { law = "bilinear" }\n' if shown != (2,) else ""
    path = tmp_path / "page.toml"
    path.write_text(BASE[: BASE.index("[sites.one]")] + site + text, encoding="utf-8")
    result = build(load_experiment(path)).run()
    assert np.abs(result["damper1.f"]).max() > 0.0 and np.abs(result["u.2"]).max() < 0.1


def test_two_sensors_have_noise_of_their_own(load):
    shows = 'transfer = { sensor = { law = "sensor", noise_f = "20 N" } }'
    text = f'{shows}\n[sites.two]\nlike = "one"\nstory = 2\n'
    one, two = (site.transfer["sensor"].params["seed"] for site in build(load(text)).loop.sites)
    again = build(load(text)).loop.sites[0].transfer["sensor"].params["seed"]
    other = build(load(text, "seed=5")).loop.sites[0].transfer["sensor"].params["seed"]
    given = build(load(text, "sites.one.transfer.sensor.seed=7")).loop.sites[0].transfer["sensor"].params["seed"]
    assert one != two and one == again and one != other and given == 7.0
