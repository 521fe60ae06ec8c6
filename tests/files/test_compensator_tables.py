"""Compensators in files: made for the tick of the controller, and refused with their key."""

import pytest

from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.study.build import build
from hyloop.transfer.compensators import ats, extrapolation, unscented_inverse

BASE = """
[structure]
kind = "shear_frame"
stories = 1
masses = "40 t"
stiffnesses = "45 kN/mm"
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
transfer.actuator = { law = "first_order_lag", tau = "20 ms" }
[sites.one.transfer.compensator]
"""
DT = 1 / 1024
MEANT = {
    'law = "ats"\na = [1, 0.02]\nlimits = [[0.8, 1.2], [0, 0.03]]\nthreshold = "0.1 mm"\nwindow = "500 ms"': ats(
        [1.0, 0.02], dt=DT, limits=[(0.8, 1.2), (0.0, 0.03)], threshold=1e-4, window=0.5, substeps=4
    ),
    'law = "extrapolation"\ndelay = "20 ms"\norder = 2': extrapolation(0.02, dt=DT, order=2),
    'law = "unscented_inverse"\ndelay = ["5 ms", "12 ms", "30 ms"]\nnoise = "2 um"': unscented_inverse(
        (0.005, 0.012, 0.03), dt=DT, noise=2e-6, substeps=4
    ),
}


@pytest.fixture
def load(tmp_path):
    def loaded(text):
        path = tmp_path / "test.toml"
        path.write_text(BASE + text, encoding="utf-8")
        return load_experiment(path)

    return loaded


@pytest.mark.slow
@pytest.mark.parametrize("text", MEANT)
def test_a_table_means_the_function_at_the_tick_of_the_controller(load, text):
    made = build(load(text)).loop.sites[0].transfer["compensator"]
    assert made.block is MEANT[text].block
    assert made.params == pytest.approx(MEANT[text].params)
    assert made.x0 == pytest.approx(MEANT[text].x0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('law = "ats"\na = [1, 0.05]\nlimits = [[0.8, 1.2], [0, 0.03]]', "seed a1 = 0.05"),
        ('law = "amb"\na = [1, 0.02]\nthreshold = "-1 mm"', "threshold"),
        ('law = "inverse"\na = [1, 0.02]\nwindow = "1 s"', "window"),
        ('law = "phase_lead"\nnum = [1]\nden = [1, 0]', "does not settle"),
    ],
)
def test_what_cannot_work_is_refused_where_it_stands(load, text, message):
    with pytest.raises(BadInput, match=f"(?s)compensator.*{message}"):
        load(text)


def test_what_only_the_tick_forbids_is_refused_when_built(load):
    with pytest.raises(BadInput, match="quarter of the 1024 ticks"):
        build(load('law = "ats"\na = [1, 0.02]\ncutoff = "400 Hz"'))
