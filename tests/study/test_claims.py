"""Verdicts."""

import json
from pathlib import Path

import pytest

from hyloop.errors import BadInput, UnknownName
from hyloop.study.claims import (
    LOST,
    Claim,
    Verdict,
    judge,
    load_claims,
    markdown,
    markdown_short,
    read_verdicts,
    rejudge,
    write_verdicts,
)
from hyloop.study.seeds import Seeds
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
        ({"tuned": True, "aim": "equal", "tolerance": 0.01}, 2.0, "not-comparable"),
        ({"tuned": True, "bar": 2.0}, 2.0, "not-comparable"),
        ({"paper": None, "bar": 3.0, "aim": "at most"}, 2.9, "goal met"),
        ({"paper": None, "bar": 3.0, "aim": "at most"}, 3.1, "goal missed"),
        ({"paper": None, "bar": 3.0, "aim": "lower"}, 1.0, "goal met"),  # one's own goal is not beaten
        ({"bar": 3.0, "aim": "lower"}, 2.5, "missed"),  # the paper decides where both are there
        ({"bar": 3.0, "aim": "lower", "not_comparable": "other hardware"}, 2.5, "goal met"),
        ({"kind": "baseline", "aim": "equal", "tolerance": 0.1}, 0.1, "missed"),  # much better is not the same
        ({"kind": "baseline", "aim": "equal", "tolerance": 0.1}, 1.9, "met"),
    ],
)
def test_verdict(settings, ours, verdict):
    assert _claim(**settings).verdict(ours) == verdict


@pytest.mark.parametrize("settings", [{"aim": "lower", "tolerance": 0.1}, {"aim": "equal"}, {"bar": 1.0}])
def test_a_baseline_that_could_be_beaten_is_refused(settings):
    with pytest.raises(ValueError, match="a baseline"):
        _claim(kind="baseline", **settings)


@pytest.mark.parametrize(
    ("aim", "values", "verdict"),
    [
        # mean 1.905, standard error of the four 0.102, so 2.0 is just within reach
        ("lower", (1.7, 1.8, 1.95, 2.17), "tie"),
        ("higher", (1.7, 1.8, 1.95, 2.17), "tie"),
        ("at most", (2.0, 2.1, 1.9, 2.4), "tie"),
        ("lower", (1.85, 1.9, 1.95), "beaten"),
        ("higher", (1.85, 1.9, 1.95), "missed"),
        ("equal", (1.7, 1.8, 1.95, 2.17), "missed"),  # a spread is no tolerance
        ("lower", (2.0, 2.0, 2.0), "met"),  # nothing is open
        ("lower", (1.0, float("inf"), 1.0), "missed"),
    ],
)
def test_means_within_their_standard_error_are_ties(aim, values, verdict):
    assert judge("s", [_claim(aim=aim)], {"c": Seeds.of(values)}, "x", {})[0].verdict == verdict


def test_a_tie_with_our_own_goal():
    claim = _claim(paper=None, bar=2.0, aim="at most")
    assert judge("s", [claim], {"c": Seeds.of((1.7, 1.8, 1.95, 2.17))}, "x", {})[0].verdict == "tie"


def test_seeds_are_those_of_the_textbook():
    seeds = Seeds.of([2, 4, 4, 4, 5, 5, 7, 9])  # mean 5, sum of squares about it 32
    assert seeds.mean == 5.0 and seeds.spread == pytest.approx((32 / 7) ** 0.5)
    assert seeds.error == pytest.approx((32 / 7 / 8) ** 0.5)
    assert Seeds.of([3.0]).spread == 0.0


@pytest.mark.parametrize(
    ("values", "aim", "unsettled"),
    [
        ((1.7, 1.8, 1.95, 2.17), "lower", True),
        ((1.7, 1.8, 1.95, 2.17, 1.9, 1.9), "lower", False),  # six are enough to say what they say
        ((1.0, 1.1, 1.2), "lower", False),  # far enough off
        ((1.9, 2.0, 2.25), "equal", True),  # at the edge of a tolerance of 0.1
        ((1.99, 2.0, 2.01), "equal", False),
    ],
)
def test_few_seeds_that_differ_more_than_the_margin_settle_nothing(values, aim, unsettled):
    claim = _claim(aim=aim, tolerance=0.1 if aim == "equal" else 0.0)
    assert judge("s", [claim], {"c": Seeds.of(values)}, "x", {})[0].unsettled(claim) == unsettled


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
        "bar": None,
        "ours": 1.5,
        "spread": None,
        "seeds": None,
        "unit": "N",
        "kind": "result",
        "verdict": "beaten",
        "command": "hyloop study run s",
        "headline": True,
    }
    assert "| s | c | 2 | - | 1.5 | N | beaten |" in markdown(verdicts, every=True)


def test_a_spread_survives_the_file_and_is_shown(tmp_path):
    claim = _claim(aim="lower", bar=1.6)
    verdicts = judge("s", [claim], {"c": Seeds.of((1.0, 1.5, 2.0))}, "x", {})
    write_verdicts(tmp_path / "claims.json", verdicts)
    assert read_verdicts(tmp_path / "claims.json") == verdicts == rejudge([claim], verdicts)
    assert "| s | c | 2 | 1.6 | 1.5 ± 0.5 (3) | - | beaten |" in markdown(verdicts)


def test_files_of_before_are_read(tmp_path):
    row = {"study": "s", "claim": "c", "paper": 2.0, "ours": 1.5, "unit": "N", "verdict": "beaten", "command": "x"}
    (tmp_path / "claims.json").write_text(json.dumps([row, row | {"headline": True}]))
    first, second = read_verdicts(tmp_path / "claims.json")
    assert (first.bar, first.spread, first.seeds, first.kind) == (None, None, None, "result")
    assert second.headline and second.value == "1.5"


def test_readme_table_shows_the_first_of_every_group_and_counts_the_rest():
    claims = [_claim(claim=name, group=name[0], aim="lower") for name in ("a1", "a2", "b1", "b2")]
    claims.append(_claim(claim="c1", group="c", paper=None))
    values = {"a1": 1.5, "a2": 1.6, "b1": 2.5, "b2": 1.0, "c1": 1.0}
    lines = markdown(judge("s", claims, values, "x", {})).splitlines()[2:]
    assert lines == [
        "| s | a1 | 2 | - | 1.5 | - | beaten |",
        "| s | b1 | 2 | - | 2.5 | - | missed |",
        "| s | all 5 claims | | | | | 3 beaten, 1 missed, 1 not-comparable |",
    ]


@pytest.mark.parametrize("lost", [{"lost": 3.0}, {"lost": Seeds.of((1.7, 1.8, 1.95, 2.17))}])
def test_what_was_lost_is_a_headline_where_the_first_rows_were_won(lost):
    claims = [_claim(claim=name, aim="lower") for name in ("won", "also won", "lost", "also lost")]
    verdicts = judge("s", claims, {"won": 1.0, "also won": 1.0, "also lost": 4.0} | lost, "x", {})
    assert [v.claim for v in verdicts if v.headline] == ["won", "lost"]


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


FINISHED = [folder for folder in find_studies().values() if (folder / "claims.json").is_file()]


@pytest.mark.parametrize("folder", FINISHED, ids=lambda folder: folder.name)
def test_committed_claims_are_those_of_full_runs(folder):
    claims, verdicts = load_claims(folder / "claims.toml"), read_verdicts(folder / "claims.json")
    assert [v.claim for v in verdicts] == [c.claim for c in claims]
    assert {v.command for v in verdicts} == {f"hyloop study run {folder.name}"}
    assert verdicts == rejudge(claims, verdicts)
    assert all(claim.group for claim in claims)  # a row outside all groups could not become a headline


@pytest.mark.parametrize("folder", FINISHED, ids=lambda folder: folder.name)
def test_committed_means_are_settled_and_what_was_lost_is_shown(folder):
    claims = {claim.claim: claim for claim in load_claims(folder / "claims.toml")}
    verdicts = read_verdicts(folder / "claims.json")
    assert [v.claim for v in verdicts if v.unsettled(claims[v.claim])] == []
    lost = {v.claim for v in verdicts if v.verdict in LOST}
    assert not lost or lost & {v.claim for v in verdicts if v.headline}
    assert not any(v.verdict == "beaten" for v in verdicts if v.kind == "baseline")


def test_the_readme_and_the_page_of_claims_show_the_committed_claims():
    """Both tables are generated: `hyloop study table --short` and `hyloop study table`."""
    root = Path(__file__).parents[2]
    readme, page = ((root / name).read_text(encoding="utf-8") for name in ("README.md", "docs/claims.md"))
    assert {"alsubaihawi2024", "brfd", "wang2020"} <= {folder.name for folder in FINISHED}
    verdicts = [v for folder in FINISHED for v in read_verdicts(folder / "claims.json")]
    assert markdown_short(verdicts) in readme and markdown(verdicts) in page


def test_the_short_table_tells_what_was_lost():
    rows = {"a": ("met", 1.0), "b": ("missed", 3.0), "c": ("not-comparable", 0.0)}
    verdicts = [
        Verdict(
            study="s",
            claim=claim,
            paper=2.0,
            ours=ours,
            unit="N",
            verdict=verdict,
            command="run",
            headline=claim in "ab",
        )
        for claim, (verdict, ours) in rows.items()
    ]
    assert markdown_short(verdicts).splitlines()[-1] == "| s | 1 of 2 | a: 1 N (paper 2) | b: 3 N (paper 2) |"
