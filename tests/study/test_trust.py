"""Trust in experiment files: what the tables mean, the page, followers with adaptive bands, and every refusal."""

import numpy as np
import pytest
from problems.trust import CAPACITY, LEVEL, network

from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.report.run_page import write_report
from hyloop.report.trust import watched
from hyloop.study.build import build
from hyloop.study.run import run_file, run_in_memory
from hyloop.trust import Band

FRAME = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "40 kN/mm"
damping = { kind = "rayleigh", ratio = "2 %", modes = [1, 2] }

[integrator]
method = "newmark_explicit"
dt = "1/256 s"
substeps = 4

[excitation]
kind = "noise"
rms = "0.15 g"
low = "0.3 Hz"
high = "6 Hz"
duration = "8 s"

[recording]
every = "tick"

[sites.damper1]
story = 1
physical = true
device = { law = "lugre_exact", sigma0 = 3e8, sigma1 = 2e4, Fc_pos = 19e3, Fs_pos = 19e3, Fc_neg = 19e3, Fs_neg = 19e3 }
transfer = { sensor = { law = "sensor", noise_f = "20 N" } }
"""
LAW = "law = 'lugre_exact', sigma0 = 3e8, sigma1 = 2e4, Fc_pos = 18e3, Fs_pos = 18e3, Fc_neg = 18e3, Fs_neg = 18e3"
NETWORK = f"""
[sites.damper2]
story = 2
device = {{ network = ["nets/a.safetensors", "nets/b.safetensors", "nets/c.safetensors"] }}

[sites.damper2.trust]
capacity = "20 kN"
band = {{ coverage = 0.9, q = 2.0, floor = "0.5 kN", spread = 1.0, range = "5 kN", twin = 0.5 }}
fallback = {{ {LAW} }}
twin = {{ at = "damper1", {LAW} }}
truth = "truth.f"

[blocks.truth]
block = {{ {LAW} }}
inputs = {{ v = "damper2.v" }}
"""
MODEL = """
[sites.damper1.model]
updater = "unscented"
device = { law = "lugre_exact", sigma0 = 3e8, sigma1 = 2e4, Fc_pos = 14e3, Fs_pos = 14e3, Fc_neg = 14e3, Fs_neg = 14e3 }
free = { Fc_pos = ["4 kN", "40 kN"], Fc_neg = ["4 kN", "40 kN"] }
noise = "1 kN"
process = 1e-3
"""
FOLLOWER = """
[sites.damper2]
story = 2
follows = "damper1"

[sites.damper2.trust]
capacity = "25 kN"
band = { coverage = 0.9, floor = "300 N" }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "nets").mkdir()
    for name, level in (("a", 1.0), ("b", 0.97), ("c", 1.02)):
        network(level * LEVEL).save(tmp_path / "nets" / f"{name}.safetensors")
    on_card = {"band": Band(0.8, 700.0, q=1.5).as_json()}
    network(about=on_card).save(tmp_path / "nets" / "carded.safetensors")
    return tmp_path


def write(folder, *parts):
    path = folder / "test.toml"
    path.write_text("".join(parts))
    return path


def test_networks_of_a_file_with_twin_and_fallback(folder):
    recording = run_file(write(folder, FRAME, NETWORK), (), folder / "run.h5")
    f = [recording[name][1:] for name in ("damper2.f_model", "damper2.network2.f", "damper2.network3.f")]
    np.testing.assert_allclose(recording["damper2.f"][1:], np.mean(f, axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(recording["damper2.spread"][1:], np.std(f, axis=0, ddof=1), rtol=1e-9, atol=1e-9)
    # each member is the network of its file, moved as the site was
    alone = network(0.97 * LEVEL).device().drive(1 / 1024, d=recording["damper2.d"][1:], v=recording["damper2.v"][1:])
    assert np.array_equal(alone["f"], f[1])
    # the twin has heard nothing but the deformation that was measured
    assert build(load_experiment(folder / "test.toml")).loop.blocks[-1].name == "damper2.backup"
    (one,) = watched(recording)
    assert one.covered == np.mean((one.low <= one.truth) & (one.truth <= one.high)) and 0.5 < one.covered < 1.0
    assert one.replaced == 0.0 and one.measured is None and one.trust.min() > 0.25


def test_a_twin_and_a_monitor_hear_only_what_is_measured(folder):
    """No wire from the true force, or from the state of the structure, to anything that judges or decides."""
    loop = build(load_experiment(write(folder, FRAME, NETWORK, MODEL))).loop
    measured = {"damper1.sensor.d", "damper1.sensor.f", "damper2.d", "damper2.v", "damper2.a"}
    beside = {block.name: block for block in loop.blocks if block.name.startswith("damper2.")}
    for block in beside.values():
        assert all(c in measured or c.rpartition(".")[0] in beside for c in block.inputs.values()), block.name
    wires = loop.sites[1].guard.wiring
    assert set(wires.values()) <= measured | {f"{name}.f" for name in beside}
    assert wires["heard"] == "damper1.sensor.f"


def test_a_network_out_of_its_range_hands_over_and_the_page_says_so(folder):
    recording = run_file(write(folder, FRAME, NETWORK), ("excitation.rms=0.6 g",), folder / "run.h5")
    (one,) = watched(recording)
    assert one.fallback.max() == 1.0 and one.replaced > 0.5
    assert np.abs(recording["damper2.f"]).max() <= 1.1 * CAPACITY
    ticks = int(recording["damper2.fallback_ticks"][-1])
    assert any(
        f"in {ticks} controller ticks" in note and "not trusted" in note for note in recording.attributes["notes"]
    )
    text = write_report(folder / "run.html", {"run": recording}, title="run").read_text("utf-8")
    assert "The fallback (lugre_exact) had a share in the force" in text and '"fill":"toself"' in text.replace(" ", "")


def test_the_band_may_stand_on_the_card(folder):
    site = """
[sites.damper2]
story = 2
device = { network = "nets/carded.safetensors" }
trust = { capacity = "20 kN" }
"""
    recording = run_in_memory(load_experiment(write(folder, FRAME, site)))
    np.testing.assert_allclose(recording["damper2.f_high"][1:] - recording["damper2.f"][1:], 1.5 * 700.0, rtol=1e-9)
    assert recording.attributes["trust"]["damper2"]["coverage"] == 0.8


def test_the_band_of_a_file_may_grow_with_the_force(folder):
    site = """
[sites.damper2]
story = 2
device = { network = "nets/a.safetensors" }
trust = { capacity = "20 kN", band = { coverage = 0.9, q = 2.0, floor = "0.1 kN", force = 0.05 } }
"""
    recording = run_in_memory(load_experiment(write(folder, FRAME, site)))
    f = recording["damper2.f_model"][1:]
    half = recording["damper2.f_high"][1:] - recording["damper2.f"][1:]
    np.testing.assert_allclose(half, 2.0 * (100.0 + 0.05 * np.abs(f)), rtol=1e-9)
    assert np.abs(f).max() > 20 * 100.0  # the force is what makes the band


def test_a_follower_learns_its_band_where_the_truth_is_measured(folder):
    recording = run_file(write(folder, FRAME, MODEL, FOLLOWER), (), folder / "run.h5")
    (one,) = watched(recording)
    gain, seconds = 2.0, one.t[-1]
    ratio = (
        np.abs(recording["damper1.sensor.f"] - recording["damper2.twin.f"]).max() / 300.0
    )  # no score is below its floor
    assert abs(one.measured - 0.9) <= ratio / (gain * seconds)  # the bound of the docs, with the largest ratio possible
    assert abs(one.measured - 0.9) < 0.06  # and what it is worth here; measured: 0.93
    # it is the model that follows, with its parameters of the tick before
    assert "damper2.twin.Fc_pos" not in recording.names and np.ptp(recording["damper2.Fc_pos"]) > 1e3
    assert (recording["damper2.fallback"] == 0.0).all()
    names = [block.name for block in build(load_experiment(folder / "test.toml")).loop.blocks]
    assert names.index("damper2.twin") < names.index("damper1.model")


@pytest.mark.parametrize("others", [False, True])
def test_a_fallback_may_follow(folder, others):
    """The fallback has the parameters that the updater finds, its own or those of a site that follows."""
    text = NETWORK.replace(f"fallback = {{ {LAW} }}", 'fallback = { follows = "damper1" }')
    text = text.replace(f'twin = {{ at = "damper1", {LAW} }}', 'twin = { follows = "damper1" }')
    more = '[sites.damper3]\nstory = 1\nfollows = "damper1"\n' if others else ""
    built = build(load_experiment(write(folder, FRAME, text, MODEL, more)))
    holder = "damper3" if others else "damper2.backup"
    assert set(built.estimates) == {f"{holder}.Fc_pos", f"{holder}.Fc_neg"}
    recording = built.run()
    level = recording[f"{holder}.Fc_pos"][1:]
    assert abs(level[-1] - 19e3) < 1e3 and level[0] < 15e3
    sliding = recording["damper2.v"][1:] > 0.15  # long enough in one direction that the bristles have yielded
    assert np.abs(recording["damper2.backup.f"][1:] / level - 1.0)[sliding][-1000:].max() < 0.02


REFUSED = [
    ('device = { law = "bilinear" }\ntrust = { capacity = "1 kN" }', "trust: is for a network"),
    ('device = { network = ["nets/a.safetensors", "nets/b.safetensors"] }', "trust: is missing; several networks"),
    ("device = { network = [] }", "device.network: give the files"),
    (
        'device = { network = "nets/a.safetensors" }\ntrust = { capacity = "1 kN" }',
        "trust.band: is missing, and the card",
    ),
    ('follows = "damper1"\ntrust = { capacity = "1 kN" }', "trust.band: is missing, and a model that follows"),
    (
        'device = { network = "nets/a.safetensors" }\n'
        'trust = { capacity = "1 kN", band = { coverage = 0.9, floor = "1 N" } }',
        "trust.band: q is missing",
    ),
    (
        'device = { network = "nets/a.safetensors" }\n'
        'trust = { capacity = "1 kN", band = { coverage = 0.9, floor = "1 N", q = 1, gain = 1, twin = 1 } }',
        "trust.band: gain is for a model that follows",
    ),
    (
        'device = { network = "nets/a.safetensors" }\n'
        'trust = { capacity = "1 kN", band = { coverage = 0.9, floor = "1 N", q = 1, twin = 1 } }',
        "trust.twin: is missing",
    ),
    (
        'device = { network = "nets/a.safetensors" }\n'
        'trust = { capacity = "1 kN", band = { coverage = 0.9, floor = "1 N", q = 1, spread = 1 } }',
        "trust.band.spread: needs several",
    ),
    (
        'follows = "damper1"\ntrust = { capacity = "1 kN", band = { coverage = 0.9, floor = "1 N", range = "1 N" } }',
        "trust.band.range: is for networks",
    ),
    (
        'follows = "damper1"\ntrust = { capacity = "1 kN", twin = { follows = "damper1" }, '
        'band = { coverage = 0.9, floor = "1 N" } }',
        "trust.twin: a model that follows",
    ),
    (
        'device = { network = "nets/a.safetensors" }\n'
        'trust = { capacity = "1 kN", limit = 0.9, band = { coverage = 0.9, floor = "1 N", q = 1 } }',
        "trust.back: trust: limit = 0.9 and back",
    ),
    (
        'device = { network = "nets/a.safetensors" }\ntrust = { capacity = "1 kN", '
        'fallback = { follows = "nobody" }, band = { coverage = 0.9, floor = "1 N", q = 1 } }',
        "trust.fallback.follows: .*nobody",
    ),
    (
        'device = { network = "nets/a.safetensors" }\ntrust = { capacity = "1 kN", '
        'fallback = { follows = "damper1", law = "bilinear" }, band = { coverage = 0.9, floor = "1 N", q = 1 } }',
        "trust.fallback.law: the model is that of the site",
    ),
    (
        'device = { network = "nets/a.safetensors" }\ntrust = { capacity = "1 kN", '
        'twin = { at = "nowhere", law = "bilinear" }, band = { coverage = 0.9, floor = "1 N", q = 1 } }',
        "trust.twin.at: .*nowhere",
    ),
    (
        'device = { network = "nets/a.safetensors" }\ntrust = { capacity = "1 kN", '
        'twin = { law = "bilinear" }, band = { coverage = 0.9, floor = "1 N", q = 1 } }',
        "trust.twin.at: name the physical site",
    ),
    (
        'device = { network = "nets/a.safetensors" }\ntrust = { capacity = "1 kN", margin = 0.3, '
        'band = { coverage = 0.9, floor = "1 N", q = 1 } }',
        "trust.margin: .*at most 0.1",
    ),
    (
        'device = { network = "nets/a.safetensors" }\ntransfer = { sensor = { law = "sensor" } }\n'
        'trust = { capacity = "1 kN", band = { coverage = 0.9, floor = "1 N", q = 1 } }',
        "trust: is for a model",
    ),
]


@pytest.mark.parametrize(("text", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_makes_no_sense_is_refused_when_the_file_is_loaded(folder, text, words):
    path = write(folder, FRAME, MODEL, "[sites.damper2]\nstory = 2\n", text)
    with pytest.raises(BadInput, match=f"sites.damper2.{words}"):
        load_experiment(path)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('truth = "damper1.d"', "truth: 'damper1.d' is no channel in N"),
        (
            'twin = { at = "damper1", law = "bilinear", wiring = { d = "damper1.f" } }',
            "needs d in m, but channel damper1.f",
        ),
        ('twin = { at = "damper2", law = "bilinear" }', "nothing is measured at 'damper2'"),
    ],
)
def test_what_shows_when_tables_meet_is_refused_when_it_is_built(folder, more, words):
    site = '[sites.damper2]\nstory = 2\ndevice = { network = "nets/a.safetensors" }\n[sites.damper2.trust]\n'
    path = write(folder, FRAME, site, 'capacity = "20 kN"\nband = { coverage = 0.9, floor = "1 N", q = 1 }\n', more)
    with pytest.raises(BadInput, match=words):
        build(load_experiment(path))


def test_the_truth_of_another_place_is_not_taken_over(folder):
    third = '\n[sites.damper3]\nlike = "damper2"\nstory = 1\n'
    experiment = load_experiment(write(folder, FRAME, NETWORK, third))
    assert experiment.sites["damper3"].trust.truth is None and experiment.sites["damper2"].trust.truth == "truth.f"
