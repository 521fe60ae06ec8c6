"""A further updater is one class: files, messages and schema know it without another list."""

import json
from typing import Literal, get_args

import pytest

from hyloop.core import Instance
from hyloop.devices import spring
from hyloop.errors import BadInput
from hyloop.files import updaters
from hyloop.files.excitations import EXCITATIONS, SIGNALS
from hyloop.files.load import json_schema, load_experiment
from hyloop.files.schema import Experiment, SiteSpec
from hyloop.files.updaters import UPDATERS, Updater
from hyloop.study.build import build

FILE = """
structure = { kind = "shear_frame", stories = 2, masses = "40 t", stiffnesses = "40 kN/mm" }
integrator = { method = "newmark_explicit", dt = "0.01 s" }
excitation = { kind = "harmonic", amplitude = "1 m/s2", frequency = "1 Hz", duration = "1 s" }

[sites.a]
story = 1
physical = true
device = { law = "spring", k = 1e6 }
model = { updater = "UPDATER", stiffness = 2e6 }

[sites.b]
story = 2
follows = "a"
"""


@pytest.fixture
def made_up():
    """A made-up updater, gone after the test."""

    class MadeUp(Updater):
        """Believes in a spring."""

        updater: Literal["made_up"]
        stiffness: float

        @property
        def law(self) -> Instance:
            return spring(k=self.stiffness)

    def again():
        for table in (SiteSpec, Experiment):
            table.model_rebuild(force=True)

    again()  # a class in the package stands there before these tables are made
    yield MadeUp
    del UPDATERS["made_up"]
    again()


@pytest.fixture
def write(tmp_path):
    def write(updater):
        (tmp_path / "experiment.toml").write_text(FILE.replace("UPDATER", updater))
        return tmp_path / "experiment.toml"

    return write


def test_one_class_is_all_it_takes(made_up, write):
    experiment = load_experiment(write("made_up"))
    assert isinstance(experiment.sites["a"].model, made_up)
    assert build(experiment).loop.sites[1].device.params == {"k": 2e6}
    with pytest.raises(BadInput, match=r"sites\.a\.model\.updater: got 'made_p', did you mean 'made_up'\?.*'made_up'"):
        load_experiment(write("made_p"))
    assert "made_up" in json.loads(json_schema())["$defs"]["MadeUp"]["properties"]["updater"]["const"]


def test_without_it_the_name_is_refused(write):
    with pytest.raises(BadInput, match=r"sites\.a\.model\.updater: got 'made_up'.*allowed are 'constant', 'unscented'"):
        load_experiment(write("made_up"))


def test_names_are_those_of_the_classes():
    public = [getattr(updaters, name) for name in updaters.__all__ if isinstance(getattr(updaters, name), type)]
    named = {get_args(table.model_fields["updater"].annotation)[0]: table for table in public if table is not Updater}
    assert named == UPDATERS and len(UPDATERS) == 7
    assert set(EXCITATIONS) - set(SIGNALS) == {"record"}
