"""Rehearsals: seeded, counted against every limit, and beside the same test with an ideal rig."""

import numpy as np
import pytest

from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.report.rehearsal_page import write_rehearsal
from hyloop.study.build import build
from hyloop.study.rehearse import rehearse
from hyloop.study.uncertainty import draw, uncertain_parts

ROUND_OFF = 1e-9  # of a peak: an ideal rig in the loop and no rig at all go through other sums
TEXT = """
seed = 4
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "20 kN/mm"
damping = { ratio = "3 %" }
[integrator]
method = "mkr_alpha"
dt = "1/256 s"
substeps = 4
[excitation]
kind = "noise"
rms = "0.05 g"
low = "0.3 Hz"
high = "4 Hz"
duration = "4 s"
[sites.damper1]
story = 1
physical = true
device = { law = "spring", k = "6 kN/mm" }
[sites.damper1.transfer.actuator]
law = "delay"
tau = "4 ms"
[sites.damper1.transfer.sensor]
law = "sensor"
noise_f = "20 N"
[rehearsal]
runs = 12
margin = 1.5
"""


@pytest.fixture
def planned(tmp_path):
    """A function that loads the experiment with changes."""
    path = tmp_path / "planned.toml"
    path.write_text(TEXT, "utf-8")
    return lambda *changes: load_experiment(path, list(changes))


def values(found, key, site="damper1"):
    return next(one.values for one in found.demands if (one.key, one.site) == (key, site))


def test_go_and_the_same_again_with_any_number_of_workers(planned):
    found = rehearse(planned(), workers=1)
    again, other = rehearse(planned(), workers=3), rehearse(planned(), seed=5)
    assert found.go and found.sentence().startswith("Go: 12 of 12") and not found.reasons()
    assert again.as_dict() == found.as_dict() != other.as_dict()
    np.testing.assert_array_equal(found.answers, again.answers)
    late = values(found, "delay left")
    assert np.ptp(late) > 1e-4 and np.all(np.abs(late - 0.004) < 0.3 * 0.004 + 2e-4)  # 10 % of 4 ms, at most three
    margin = values(found, "margin")
    np.testing.assert_allclose(margin, found.critical["damper1"][0] / late)


def test_a_rig_that_is_too_slow_grows_and_is_no_crash(planned, tmp_path):
    stiff = "sites.damper1.device.k=15kN/mm", "excitation.duration=12s"
    found = rehearse(planned("sites.damper1.transfer.actuator.tau=60ms", *stiff))
    assert not found.go and found.unstable.all() and found.sentence().startswith("No-go: the rig is too slow: ")
    assert "12 of 12 runs grow by themselves until they are stopped" in found.reasons()
    assert np.isnan(values(found, "effect", "")).all() and found.as_dict()["demands"][-1]["worst"] is None
    assert np.isnan(found.answers[:, -1]).all()
    page = write_rehearsal(tmp_path / "slow.html", found).read_text("utf-8")
    assert "12 of 12 runs grow by themselves" in page and "cut off at 3 times the largest" in page


def test_the_effect_is_that_of_the_rig_alone(planned):
    """Of a rig that does nothing there is none, however uncertain the specimen is."""
    changes = 'rehearsal.uncertain={"damper1.k"="20 %"}', "sites.damper1.transfer.actuator.tau=0"
    found = rehearse(planned(*changes, "sites.damper1.transfer.sensor.noise_f=0"))
    assert np.all(values(found, "effect", "") < ROUND_OFF) and np.all(values(found, "tracking error") < ROUND_OFF)
    assert np.ptp(np.abs(found.answers).max(axis=1)) > 1e-4
    late = rehearse(planned("sites.damper1.transfer.sensor.noise_f=0"))
    assert np.all(values(late, "effect", "") > 0.01)


def test_noise_differs_from_run_to_run(planned):
    found = rehearse(planned("rehearsal.uncertain={}", "rehearsal.runs=3"))
    assert len(np.unique(values(found, "force"))) == 3 and not found.uncertain


def test_limits_of_the_rig_count_by_themselves(planned):
    usual = rehearse(planned("rehearsal.runs=3"))
    stroke = float(values(usual, "stroke").max())
    found = rehearse(planned("rehearsal.runs=3", f"sites.damper1.transfer.actuator.stroke={0.7 * stroke}"))
    assert not found.go and any("(stroke of the actuator): in 3 of 3 runs" in why for why in found.reasons())
    found = rehearse(planned("rehearsal.runs=3", f"sites.damper1.max_d={0.7 * stroke}"))
    assert not found.go and any("site 'damper1' passed its limit" in why for why in found.reasons())
    assert not found.unstable.any()
    found = rehearse(planned("rehearsal.runs=3", f"rehearsal.max_stroke={0.7 * stroke}", "rehearsal.may_fail=1"))
    assert found.go and any("rehearsal.max_stroke" in why for why in found.reasons())
    found = rehearse(planned("rehearsal.runs=3", "sites.damper1.transfer.actuator.rate=0.001"))
    assert values(found, "use of the valve").tolist() == [1.0] * 3 and not found.go


def test_what_is_drawn(planned):
    loop = build(planned()).loop
    text = 'rehearsal.uncertain={damper1={k="5 %", actuator={tau=["3 ms", "5 ms"]}}}'
    parts = uncertain_parts(loop, planned(text).rehearsal)
    drawn = [draw(loop, parts, 1, run).parameters for run in range(400)]
    tau = np.array([one["damper1.actuator.tau"] for one in drawn])
    k = np.array([one["damper1.k"] for one in drawn]) / 6e6
    assert 0.003 <= tau.min() < 0.0031 and 0.0049 < tau.max() <= 0.005
    assert abs(k.mean() - 1.0) < 0.01 and 0.04 < k.std() < 0.06 and np.abs(k - 1.0).max() <= 0.15
    alone = uncertain_parts(loop, planned('rehearsal.uncertain={"damper1.k"="5 %"}').rehearsal)
    assert draw(loop, alone, 1, 7).parameters["damper1.k"] == drawn[7]["damper1.k"]
    assert len({one["damper1.sensor.seed"] for one in drawn}) == 400


PLANT = "sites.damper1.transfer.actuator={law='zeros_poles', poles=['-80+-60j'], delay='2 ms'}"


@pytest.mark.slow
def test_plants_made_of_poles_have_factors(planned):
    found = rehearse(planned(PLANT, "rehearsal.runs=6"))
    names = [name for name, *_ in found.uncertain]
    assert names == ["damper1.actuator.gain", "damper1.actuator.time", "damper1.actuator.delay"]
    assert np.ptp(values(found, "delay left")) > 1e-4
    late = values(
        rehearse(planned(PLANT, "rehearsal.runs=2", 'rehearsal.uncertain={"damper1.actuator.time"=[2, 2.001]}')),
        "delay left",
    )
    usual = values(rehearse(planned(PLANT, "rehearsal.runs=1", "rehearsal.uncertain={}")), "delay left")
    assert late[0] - 0.002 == pytest.approx(2.0 * (usual[0] - 0.002), rel=0.03)  # the dead time is not stretched


COUPLED = """
[couplings.table]
law = "transfer_matrix"
entries = [
    [{ poles = [-200], gain = 200 }, { poles = [-200], gain = 2 }],
    [{ poles = [-200], gain = 2 }, { poles = [-200], gain = 200 }],
]
[sites.damper2]
story = 2
physical = true
device = { law = "spring", k = "6 kN/mm" }
transfer.actuator = { coupled = "table", axis = 2 }
"""


@pytest.mark.slow
def test_several_rigs_are_judged_together(planned, tmp_path):
    text = TEXT.replace('law = "delay"\ntau = "4 ms"', 'coupled = "table"\naxis = 1')
    (tmp_path / "two.toml").write_text(text + COUPLED, "utf-8")
    found = rehearse(load_experiment(tmp_path / "two.toml"), runs=4)
    assert set(found.critical) == {"damper1", "damper2", ""}
    assert found.critical[""][0] < min(found.critical["damper1"][0], found.critical["damper2"][0])
    assert [name for name, *_ in found.uncertain] == ["table.gain", "table.time"]
    late = np.maximum(values(found, "delay left"), values(found, "delay left", "damper2"))
    np.testing.assert_allclose(values(found, "margin", ""), found.critical[""][0] / late)


@pytest.mark.slow
def test_a_specimen_inside_its_actuator_and_plants_that_cannot_be(planned):
    servo = "sites.damper1.transfer.actuator={law='servo_hydraulic', k='1 kN/mm', a1_beta0=8e13}"
    device = "sites.damper1.device={law='handed_on'}"
    spread = 'rehearsal.uncertain={"damper1.actuator.a1_beta0"="30 %"}'
    found = rehearse(planned(servo, device, spread, "rehearsal.runs=8", "integrator.substeps=16"))
    assert any("cannot be: damper1.actuator: the plant is unstable" in why for why in found.stopped)
    assert 0 < found.unstable.sum() < 8 and not found.go
    valve = "sites.damper1.transfer.actuator.valve_velocity=0.5m/s"
    calm = "sites.damper1.transfer.actuator.a1_beta0=2.13e13", "rehearsal.uncertain={}", "rehearsal.runs=1"
    found = rehearse(planned(servo, device, valve, *calm, "integrator.substeps=16"))
    assert 0.1 < values(found, "use of the valve")[0] < 1.0 and values(found, "effect", "")[0] < 0.1


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ('rehearsal.uncertain={"damper1.actuator.tao"="10 %"}', r"Did you mean 'damper1\.actuator\.tau'"),
        ('rehearsal.uncertain={"damper1.actuator.tau"="-10 %"}', "between 0 and 100 %"),
        ('rehearsal.uncertain={"damper1.actuator.tau"=["5 ms", "3 ms"]}', "smaller end first"),
        ('rehearsal.uncertain={"damper1.actuator.tau"=["3 mm", "5 mm"]}', "not a unit"),
        ('rehearsal.uncertain={"damper1.actuator.tau"=["3 ms"]}', "a range has two ends"),
        ('rehearsal.uncertain={"damper1.actuator.tau"=["0.1 ms", "5 ms"]}', "shorter than a tick"),
        ('rehearsal.uncertain={"damper1.actuator.tau"="40 %"}', "draws reach from"),
        ('rehearsal.uncertain={"damper1.sensor.offset_f"="10 %"}', "give a range"),
        ("rehearsal.max_stroke=-3mm", "values above 0"),
        ("rehearsal.margin=0", "values above 0"),
        ("rehearsal.runs=0", "greater than or equal to 1"),
        ("rehearsal.answer=drif.*", "rehearsal.answer"),
        ("sites.damper1.transfer={}", "no physical site has an actuator"),
        ("sites.damper1.physical=false", "no physical site has an actuator"),
    ],
)
def test_what_is_refused(change, said, planned):
    with pytest.raises(BadInput, match=said):
        rehearse(planned(change))


def test_numbers_of_the_call_are_refused_too(planned):
    for wrong in ({"runs": 0}, {"workers": 0}, {"seed": -1}):
        with pytest.raises(BadInput, match="at least"):
            rehearse(planned(), **wrong)
