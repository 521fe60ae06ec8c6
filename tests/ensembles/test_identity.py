"""What a run is: equal content is the same run, other content another one."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyloop.ensembles.identity import Identities, identity
from hyloop.files.load import read_experiment

KEYS = ["structure.stiffnesses", "sites.damper1.device.k", "integrator.dt", "seed"]
CHANGES = st.lists(st.tuples(st.sampled_from(KEYS), st.integers(1, 3)), max_size=3).map(
    lambda pairs: [f"{key}={value}" for key, value in pairs]
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """An experiment whose structure is a file that includes another, with a record by name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HYLOOP_DATA", str(tmp_path / "data"))
    Path("data").mkdir()
    Path("data/quake_1.txt").write_text("t a\n0 0\n0.1 1\n")
    Path("law.toml").write_text("law = 1")
    Path("base.toml").write_text('kind = "shear_frame"\nstories = 2\n')
    Path("frame.toml").write_text('include = ["base.toml"]\nmasses = 4\n')
    Path("x.toml").write_text(
        'title = "a"\n[structure]\nfile = "frame.toml"\n[excitation]\nkind = "record"\nname = "quake"\n'
        '[sites.damper1]\ndevice = { file = "law.toml" }\n[sweep]\nruns = 3\n'
    )
    return tmp_path


def digest(*overrides):
    return identity(read_experiment(Path("x.toml")), overrides, "also")


@pytest.mark.parametrize("file", ["data/quake_1.txt", "law.toml", "frame.toml", "base.toml"])
def test_another_content_of_a_file_is_another_run_and_another_place_is_not(place, file):
    before, path = digest(), Path(file)
    text = path.read_text()
    path.write_text(f"{text}\nother = 2\n")
    assert digest() != before
    path.write_text(text)
    os.utime(path, (1, 1))
    assert digest() == before


def test_what_is_done_with_a_file_is_not_the_run(place):
    before = digest()
    text = Path("x.toml").read_text()
    Path("x.toml").write_text(text.replace("runs = 3", "runs = 4").replace('"a"', '"b"'))
    assert digest() == before
    Path("x.toml").write_text(text.replace('"quake"', '"quake_1"'))
    assert digest() != before


def test_another_record_by_an_override_counts(place):
    assert len({digest(), digest("excitation.name=quake_1"), digest("excitation.peak=2")}) == 3
    before = digest("excitation.peak=2")
    Path("data/quake_1.txt").write_text("t a\n0 0\n0.1 2\n")
    assert digest("excitation.peak=2") != before


def test_a_file_named_by_an_override_counts_by_its_content_and_its_key(place):
    Path("other.toml").write_text("law = 1")
    same = digest("sites.damper1.device.file=other.toml")
    Path("other.toml").write_text("law = 2")
    assert digest("sites.damper1.device.file=other.toml") != same
    assert digest("sites.damper1.a=other.toml") != digest("sites.damper1.b=other.toml")


@given(changes=CHANGES, others=CHANGES)
def test_identities_of_a_campaign_are_those_of_single_runs(changes, others):
    tables = {
        "structure": {"stiffnesses": 1.0},
        "sites": {"damper1": {"device": {"k": 1.0}}},
        "integrator": {"dt": 1.0},
    }
    many = Identities(tables, "also")
    many.of(others)  # must not leave anything behind
    assert many.of(changes) == identity(tables, changes, "also")
    assert tables["sites"] == {"damper1": {"device": {"k": 1.0}}}
    assert (many.of(changes) == many.of(others)) == (changes == others)
    assert many.of(changes) != identity(tables, changes, "another library")
