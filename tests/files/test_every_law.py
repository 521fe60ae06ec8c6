"""Every law of `hyloop laws` works in a file, as it is printed there."""

import math

import numpy as np
import pytest

from hyloop.devices.specimens import SPECIMENS
from hyloop.files.laws import LAWS, device_text
from hyloop.files.load import load_experiment
from hyloop.study.build import build

TEXT = """
[structure]
kind = "shear_frame"
stories = 1
masses = "40 t"
stiffnesses = "45 kN/mm"
[integrator]
method = "mkr_alpha"
dt = "1/1024 s"
[excitation]
kind = "harmonic"
amplitude = "2 m/s2"
frequency = "1 Hz"
duration = "0.5 s"
[sites.damper1]
story = 1
{}
"""


@pytest.mark.parametrize("name", LAWS)
def test_a_law_runs_in_a_file_as_it_is_printed(name, tmp_path):
    path = tmp_path / "law.toml"
    path.write_text(TEXT.format(device_text(name)), encoding="utf-8")
    built = build(load_experiment(path))
    (site,) = built.loop.sites
    for key, param in LAWS[name].params.items():
        assert math.isclose(site.device.params[key], param.default, rel_tol=1e-14), key
    result = built.run()
    assert np.abs(result["damper1.f"]).max() > 0.0
    assert all(f"damper1.{signal}" in result.names for signal in LAWS[name].outputs)


@pytest.mark.parametrize("name", SPECIMENS)
def test_a_specimen_is_drawn_in_a_file(name, tmp_path):
    path = tmp_path / "law.toml"
    path.write_text(TEXT.format(f'device = {{ law = "{name}", draw = true }}'), encoding="utf-8")
    (site,) = build(load_experiment(path)).loop.sites
    assert any(site.device.params[key] != param.default for key, param in LAWS[name].params.items())
