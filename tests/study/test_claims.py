"""Verdicts."""

import json
from pathlib import Path

import pytest

from hyloop.errors import BadInput, UnknownName
from hyloop.study.claims import Claim, judge, load_claims, markdown, read_verdicts, write_verdicts
from hyloop.study.studies import find_studies


def _claim(**settings):
    return Claim(**({"claim": "c", "source": "Table 1", "paper": 2.0} | settings))


@pytest.mark.parametrize(
    ("settings", "ours", "verdict"),
    [
        ({"aim": "equal", "tolerance": 0.01}, 2.019, "met"),
        ({"aim": "equal", "tolerance": 0.01}, 1.97, "missed"),
        ({"aim": "lower"}, 1.9, "beaten"),
        ({"aim": "lower"}, 2.0, "met"),
        ({"aim": "lower"}, 2.1, "missed"),
        ({"aim": "lower", "tolerance": 0.1}, 2.1, "met"),
        ({"aim": "higher"}, 2.1, "beaten"),
        ({"aim": "higher"}, 1.9, "missed"),
        ({"aim": "at most"}, 1.0, "met"),
        ({"aim": "at most"}, 2.1, "missed"),
        ({"aim": "lower"}, float("nan"), "missed"),
        ({"aim": "equal", "tolerance": 0.5}, float("nan"), "missed"),
        ({"paper": None}, 1.0, "not-comparable"),
        ({"not_comparable": "other record"}, 2.0, "not-comparable"),
    ],
)
def test_verdict(settings, ours, verdict):
    assert _claim(**settings).verdict(ours) == verdict


def test_every_claim_needs_a_value_and_no_value_is_stray():
    with pytest.raises(BadInput, match="no value for the claim 'c'"):
        judge("s", [_claim()], {}, "x", {})
    with pytest.raises(UnknownName, match="Did you mean 'c'"):
        judge("s", [_claim()], {"c": 1.0, "cc": 1.0}, "x", {})


def test_verdicts_survive_the_file(tmp_path):
    verdicts = judge("s", [_claim(aim="lower", unit="N")], {"c": 1.5}, "hyloop study run s", {})
    write_verdicts(tmp_path / "claims.json", verdicts)
    assert read_verdicts(tmp_path / "claims.json") == verdicts
    row = json.loads((tmp_path / "claims.json").read_text())[0]
    assert row == {
        "study": "s",
        "claim": "c",
        "paper": 2.0,
        "ours": 1.5,
        "unit": "N",
        "verdict": "beaten",
        "command": "hyloop study run s",
        "headline": False,
    }
    assert "| s | c | 2 | 1.5 | N | beaten |" in markdown(verdicts, every=True)


def test_readme_table_shows_headlines_and_counts_the_rest():
    claims = [_claim(headline=True, aim="lower"), _claim(claim="other")]
    lines = markdown(judge("s", claims, {"c": 1.5, "other": 1.5}, "x", {})).splitlines()[2:]
    assert lines == ["| s | c | 2 | 1.5 | - | beaten |", "| s | all 2 claims | | | | 1 beaten, 1 missed |"]


def test_a_run_may_say_that_it_cannot_judge():
    assert judge("s", [_claim()], {"c": 2.0}, "x", {"c": "quick"})[0].verdict == "not-comparable"


def test_bad_claim_files(tmp_path):
    path = tmp_path / "claims.toml"
    path.write_text('[[claims]]\nclaim = "a"\nsource = "b"\npapper = 1.0\n')
    with pytest.raises(BadInput, match="papper"):
        load_claims(path)
    path.write_text('[[claims]]\nclaim = "a"\nsource = "b"\n' * 2)
    with pytest.raises(BadInput, match="same name"):
        load_claims(path)


def test_committed_claims_are_those_of_full_runs_and_the_readme_shows_them():
    """The README's table is generated: `hyloop study table`."""
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    finished = [folder for folder in find_studies().values() if (folder / "claims.json").is_file()]
    assert {"alsubaihawi2024", "brfd", "wang2020"} <= {folder.name for folder in finished}
    for folder in finished:
        verdicts = read_verdicts(folder / "claims.json")
        assert [v.claim for v in verdicts] == [c.claim for c in load_claims(folder / "claims.toml")]
        assert all("--quick" not in v.command for v in verdicts)
        for line in markdown(verdicts).splitlines()[2:]:
            assert line in readme
