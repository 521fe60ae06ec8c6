"""What a method takes a device for, in files."""

import pytest

from hyloop.devices import linearised, nonlinear_maxwell
from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.study.build import build

TEXT = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "20 kN/mm"

[integrator]
method = "mkr_alpha"
rho_inf = 0.75
dt = "1/256 s"

[excitation]
kind = "noise"
rms = "0.05 g"
low = "0.3 Hz"
high = "4 Hz"
duration = "1 s"

[sites.damper1]
story = 1
physical = true
device = {{ law = "viscous_specimen", C = 500e3 }}
model = {{ updater = "constant", device = {{ law = "nonlinear_maxwell" }} }}
linearised = {{ {said} }}

[sites.damper2]
story = 2
follows = "damper1"
"""


def _sites(folder, said):
    path = folder / "experiment.toml"
    path.write_text(TEXT.format(said=said), "utf-8")
    return {site.name: site for site in build(load_experiment(path)).loop.sites}


def test_a_specimen_is_taken_for_its_model_at_a_sine(tmp_path):
    """What is inside a specimen nobody knows before the test."""
    sites = _sites(tmp_path, 'amplitude = "25 mm", frequency = "0.5 Hz"')
    assert sites["damper1"].linear == linearised(nonlinear_maxwell(), 0.025, 0.5)
    assert sites["damper2"].linear is None


def test_numbers_are_taken_as_given(tmp_path):
    assert _sites(tmp_path, 'stiffness = "204 kN/mm"')["damper1"].linear == (204e6, 0.0)
    assert _sites(tmp_path, 'damping = "3 kN s/m"')["damper1"].linear == (0.0, 3e3)


@pytest.mark.parametrize(
    "said", ['amplitude = "25 mm"', 'amplitude = "25 mm", frequency = "1 Hz", damping = "1 N s/m"', ""]
)
def test_half_a_sine_or_both_ways_are_refused(tmp_path, said):
    with pytest.raises(BadInput, match="linearised"):
        _sites(tmp_path, said)
