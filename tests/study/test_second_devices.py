"""Second devices of one make in experiment files: `draw = "damper1"`."""

import pytest

from hyloop.errors import BadInput
from hyloop.files.load import load_experiment
from hyloop.study.build import build

MISMATCH = 0.02
TEXT = """
[structure]
kind = "shear_frame"
stories = 2
masses = "40 t"
stiffnesses = "40 kN/mm"

[integrator]
method = "mkr_alpha"
dt = "1/1024 s"

[excitation]
kind = "noise"
rms = "0.1 g"
low = "0.3 Hz"
high = "4 Hz"
duration = "1 s"

[sites.damper1]
story = 1
physical = true
device = {{ law = "brfd_gap_slip", draw = true, level = "18 kN", friction = 0.25 }}

[sites.damper2]
story = 2
device = {{ law = "{law}", draw = "{site}", {more} }}
"""


def made(tmp_path, law="brfd_gap_slip", site="damper1", more="mismatch = 0.02"):
    path = tmp_path / "x.toml"
    path.write_text(TEXT.format(law=law, site=site, more=more), encoding="utf-8")
    return {site.name: site.device for site in build(load_experiment(path)).loop.sites}


def test_it_has_the_parameters_of_the_first_but_for_its_friction_and_noise(tmp_path):
    one, two = made(tmp_path).values()
    friction = {"Fc_pos", "Fc_neg", "dF_pos", "dF_neg"}
    for key, value in one.params.items():
        if key in friction:
            assert 0.0 < abs(two.params[key] / value - 1.0) <= MISMATCH
        elif key != "seed":
            assert two.params[key] == value
    assert one.params["seed"] != two.params["seed"]
    assert one.initial != two.initial


def test_the_same_file_draws_the_same(tmp_path):
    one, two = made(tmp_path)["damper2"], made(tmp_path)["damper2"]
    assert one.params == two.params and one.initial == two.initial


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"site": "damper3"}, "damper3"),
        ({"site": "damper2"}, "damper2"),
        ({"law": "brfd_stick_slip"}, "brfd_stick_slip"),
        ({"more": 'level = "23 kN"'}, "as the one of damper1"),
        ({"more": "Fc_pos = 1e4"}, "nothing can be given"),
        ({"law": "bouc_wen", "more": "k = 1e6"}, "cannot be drawn"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path, change, says):
    with pytest.raises(BadInput, match=says):
        made(tmp_path, **change)
