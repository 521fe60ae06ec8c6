"""Networks that listen, in experiment files: wired by names to what is measured, over a link, and to nothing else."""

import numpy as np
import pytest
from oracles.networks import random_tensors

from hyloop.errors import BadInput, UnknownName
from hyloop.files.load import load_experiment
from hyloop.neural import Architecture, Card, FrozenStack, Signal
from hyloop.study.build import build

pytestmark = pytest.mark.slow

DT = 1 / 512
FRAME = """
seed = 5

[structure]
kind = "shear_frame"
stories = 3
masses = "40 t"
stiffnesses = "40 kN/mm"

[integrator]
method = "newmark_explicit"
dt = "1/512 s"

[excitation]
kind = "noise"
rms = "0.3 g"
low = "0.5 Hz"
high = "5 Hz"
duration = "2 s"

[sites.damper1]
story = 1
physical = true
device = { law = "brfd_gap_slip", draw = true, level = "18 kN" }

[sites.damper2]
story = 2
hears = "damper1"
device = { network = "net.safetensors" }
"""
SENSOR = 'sites.damper1.transfer={ sensor = { law = "sensor", noise_d = "1 um", noise_f = "5 N" } }'
ACTUATOR = 'sites.damper1.transfer={ actuator = { law = "first_order_lag", tau = "5 ms" } }'
THIRD = '\n[sites.damper3]\nstory = 3\nphysical = true\ndevice = { law = "bouc_wen", k = "4 kN/mm" }\n'
SCALES = {"f": ("N", 1e-4), "d": ("m", 100.0), "v": ("m/s", 10.0), "t": ("N", 2e-4), "a": ("s", 10.0)}
HEARD = ("f1", "d1", "v1", "t1", "t2", "d", "v")


def network(names=HEARD, dt=DT, units=None):
    kinds = {name: SCALES[name[0]] for name in names} | (units or {})
    signals = tuple(Signal(name, kinds[name][0], 0.0, kinds[name][1]) for name in names)
    architecture = Architecture(len(names), [[("lstm", 8)], [("linear", 1)]])
    tensors = random_tensors(architecture, np.random.default_rng(1))
    return FrozenStack(architecture, tensors, Card(signals, (Signal("f", "N", 0.0, 1e-3),), dt=dt))


@pytest.fixture
def made(tmp_path):
    """Write a network and the frame, and build it with changes."""

    def make(names=HEARD, *changes, text=FRAME, **options):
        network(names, **options).save(tmp_path / "net.safetensors")
        (tmp_path / "frame.toml").write_text(text)
        return build(load_experiment(tmp_path / "frame.toml", changes))

    return make


def alone(result, sources, names=HEARD, dt=DT):
    """Force of the network driven by what was recorded; the first row is the start."""
    signals = {name: result[sources[name]][1:] for name in names}
    return network(names).drive(dt, **signals)["f"]


READINGS = {"f1": "damper1.f_m", "d1": "damper1.d_m", "t1": "damper1.t1", "t2": "damper1.t2"}
OWN = {"d": "damper2.d", "v": "damper2.v"}


def test_a_network_hears_the_readings_of_a_specimen(made):
    result = made().run()
    assert np.array_equal(result["damper2.f"][1:], alone(result, READINGS | OWN | {"v1": "damper1.heard.v"}))
    d = result["damper1.d_m"][1:]
    assert np.array_equal(result["damper1.heard.v"][1:], np.diff(d, prepend=d[0]) / DT)
    own = np.diff(result["damper2.d"]) / DT
    np.testing.assert_allclose(result["damper2.v"][1:], own, rtol=1e-9, atol=1e-9)  # its command is known as exactly
    assert np.ptp(result["damper2.f"]) > 100.0 and np.ptp(result["damper1.f"]) > 1e4


def test_a_sensor_is_heard_where_there_is_one(made):
    result = made(HEARD, SENSOR).run()
    shown = READINGS | OWN | {"f1": "damper1.sensor.f", "d1": "damper1.sensor.d", "v1": "damper1.heard.v"}
    assert np.array_equal(result["damper2.f"][1:], alone(result, shown))
    d = result["damper1.sensor.d"][1:]
    assert np.array_equal(result["damper1.heard.v"][1:], np.diff(d, prepend=d[0]) / DT)
    behind = made(HEARD, ACTUATOR).loop.connections["damper2"].inputs
    assert behind["d1"] == "damper1.d_m" and behind["f1"] == "damper1.f_m"  # not the true motion of the piston


def test_explicit_wiring_comes_first_and_the_rest_is_heard(made):
    built = made(HEARD, 'sites.damper2.wiring={ t1 = "damper1.t2" }')
    inputs = built.loop.connections["damper2"].inputs
    assert inputs["t1"] == inputs["t2"] == "damper1.t2" and inputs["f1"] == "damper1.f_m"


def test_a_link_without_delay_is_direct_wiring_to_the_bit(made):
    direct, linked = made().run(), made(HEARD, "sites.damper2.link={}").run()
    for channel in direct.names:
        assert np.array_equal(direct[channel], linked[channel]), channel
    assert not linked["damper2.link.age"].any()


def test_a_link_delays_all_that_is_heard(made):
    result = made(HEARD, "sites.damper2.link={ delay = '10 ms' }").run()
    late = 6  # ticks of 1/512 s: the first that is not before 10 ms
    for name, channel in (READINGS | {"v1": "damper1.heard.v"}).items():
        assert np.array_equal(result[f"damper2.link.{name}"][1 + late :], result[channel][1:-late])
    heard = {name: f"damper2.link.{name}" for name in HEARD if name not in OWN}
    assert np.array_equal(result["damper2.f"][1:], alone(result, heard | OWN))
    assert (result["damper2.link.age"][1:] == late * DT).all()


JITTER = "sites.damper2.link={ delay = '10 ms', jitter = '6 ms', loss = 0.1, stamped = true }"


def test_what_is_on_its_way_is_part_of_a_snapshot(made):
    built = made(HEARD, JITTER)
    loop, rows = built.loop, built.excitation
    whole = loop.run(rows, record=["damper2.*"])
    loop.start(rows[0])
    loop.advance(rows[1:401], record=["damper2.f"])
    kept = loop.snapshot()
    other = made(HEARD, JITTER).loop
    other.restore(kept)
    rest = other.advance(rows[401:], record=["damper2.*"])
    for channel in rest.names:
        assert np.array_equal(rest[channel][-100:], whole[channel][-100:])
    assert len(np.unique(whole["damper2.link.age"])) > 4
    seeds = [JITTER.replace("stamped", f"seed = {seed}, stamped") for seed in (1, 1, 2)]
    first, again, third = (made(HEARD, change).run()["damper2.link.age"] for change in seeds)
    assert np.array_equal(first, again) and not np.array_equal(first, third)


def test_a_network_is_told_the_age_of_stamped_packets(made):
    names = (*HEARD, "age")
    result = made(names, JITTER).run()
    heard = {name: f"damper2.link.{name}" for name in names if name not in OWN}
    assert np.array_equal(result["damper2.f"][1:], alone(result, heard | OWN, names))
    direct = made(names).run()  # without a link nothing is old
    assert not direct["damper2.link.age"].any()
    with pytest.raises(BadInput, match=r"sites\.damper2: link\.stamped: .*wants the age"):
        made(names, "sites.damper2.link={ delay = '10 ms' }")


def test_several_devices_are_heard_by_numbers(made):
    names = ("f_1", "t2_1", "f_2", "v_2", "d")
    listed = "sites.damper2.hears=['damper1', 'damper3']"
    loop = made(names, listed, text=FRAME + THIRD).loop
    assert loop.connections["damper2"].inputs == {
        "f_1": "damper1.f_m",
        "t2_1": "damper1.t2",
        "f_2": "damper3.f",
        "v_2": "damper3.heard.v",
        "d": "damper2.d",
    }
    with pytest.raises(BadInput, match=r"input t1 of the network does not say which of the 2 devices.*t1_1, t1_2"):
        made(HEARD[3:], listed, text=FRAME + THIRD)
    with pytest.raises(BadInput, match=r"input f_3 of the network is of device 3, but hears names 2"):
        made(("f_3", "d"), listed, text=FRAME + THIRD)
    both = made(("f_1", "d_1", "d")).loop.connections["damper2"].inputs  # numbers are understood for one, too
    assert both == {"f_1": "damper1.f_m", "d_1": "damper1.d_m", "d": "damper2.d"}


def test_several_places_hear_one_device(made):
    more = FRAME + '\n[sites.damper3]\nlike = "damper2"\nstory = 3\n'
    built = made(HEARD, JITTER, text=more)
    assert len([block for block in built.loop.blocks if block.name == "damper1.heard"]) == 1
    result = built.run()
    assert not np.array_equal(result["damper2.link.age"], result["damper3.link.age"])  # each has a way of its own


LATENT = FRAME.replace('"brfd_gap_slip", draw = true, level = "18 kN"', '"gap_slip"')


@pytest.mark.parametrize(
    ("names", "changes", "text", "words"),
    [
        (("f_band", "d"), [], LATENT, "f_band of damper1, which no instrument shows there. Measured are d, f"),
        (("t1", "d"), [], LATENT, "signal t1 of damper1, which no instrument shows"),
        (("d", "v"), [], FRAME, "none of them is heard. Leave hears out"),
        (HEARD, ["sites.damper2.hears=damper2"], FRAME, "damper2"),
        (HEARD, ["sites.damper2.hears=damper9"], FRAME, "damper9"),
        (HEARD, ["sites.damper2.hears=['damper1', 'damper1']"], FRAME, "names a site twice"),
        (HEARD, ["sites.damper1.physical=false"], FRAME, "not physical, so nothing is measured there"),
        (HEARD, ["sites.damper2.physical=true"], FRAME, "is for a device that is a model"),
        (HEARD, ["sites.damper2.link={ delay = '-1 ms' }"], FRAME, "at least 0"),
        (HEARD, ["sites.damper2.link={ delay = '1 ms', jitter = '2 ms' }"], FRAME, "before they are sent"),
        (HEARD, ["sites.damper2.link={ delay = '1 s' }"], FRAME, "at most 256 can be kept"),
        (HEARD, ["sites.damper2.link={ loss = 1.0 }"], FRAME, "at most 0.9"),
        (HEARD, [], FRAME.replace('hears = "damper1"', "link = { delay = 0.01 }"), "carries what is heard"),
        (HEARD, [], FRAME.replace('hears = "damper1"', ""), 'hears = "damper1"'),
    ],
)
def test_what_cannot_be_heard_is_refused(made, names, changes, text, words):
    with pytest.raises((BadInput, UnknownName)) as caught:
        made(names, *changes, text=text, units={"f_band": ("N", 1e-4)} if "f_band" in names else None)
    assert words in str(caught.value) and "sites.damper2" in str(caught.value)


def test_a_heard_signal_in_another_unit_is_refused(made):
    with pytest.raises(BadInput, match=r"sites\.damper2\.wiring\.f1: channel damper1\.f_m is in N, but .* f1 in m"):
        made(HEARD, units={"f1": ("m", 1.0)})


@pytest.mark.parametrize(("dt", "span"), [(DT, 1), (DT / 2, 2), (DT * 2, 1)])
def test_a_network_is_resampled_where_the_file_says_so(made, dt, span):
    """At twice its rate the velocity is taken over one of its own samples."""
    change = f"integrator.dt={dt!r} s"
    if dt != DT:
        with pytest.raises(BadInput, match=r'trained at 512 Hz.*resample = "hold"'):
            made(HEARD, change)
    held = made(HEARD, change, "sites.damper2.resample=hold").run()
    ear = "damper1.heard" if span == 1 else f"damper1.heard{span}"
    heard = {name: held[channel][1:] for name, channel in (READINGS | OWN | {"v1": f"{ear}.v"}).items()}
    d = heard["d1"]
    before = np.concatenate([np.full(span, d[0]), d])[: len(d)]
    assert np.array_equal(heard["v1"], (d - before) / (span * dt))
    if dt < DT:
        own = network().drive(DT, **{key: values[::2] for key, values in heard.items()})["f"]
        assert np.array_equal(held["damper2.f"][1:], np.repeat(own, 2)[: len(d)])
        on_lines = made(HEARD, change, "sites.damper2.resample=line").run()["damper2.f"]
        assert np.abs(on_lines - held["damper2.f"]).max() > 1.0
    with pytest.raises(BadInput, match="can be resampled to whole multiples or fractions"):
        made(HEARD, "integrator.dt=1/768 s", "sites.damper2.resample=hold")
