"""The page of a study: the sentence counts, dots stand where ours over the paper's is, zeros have a place."""

import math

import numpy as np
import pytest
from oracles.pages import Page

from hyloop.report.charts import Chart
from hyloop.report.claims_picture import JudgedClaim, draw_claims
from hyloop.report.display import Line, Panel
from hyloop.report.page import Section
from hyloop.report.study_page import FIRST, StudySummary, study_sentence, write_study
from hyloop.study.claims import Claim, judge

SUMMARY = StudySummary("A paper", ["What was done."], 4, False, "about a minute", "hyloop study run x")


def claim(name, paper, ours, verdict, **more):
    given = {"source": "Table 1", "unit": "kN", "aim": "lower", "tolerance": 0.1, "headline": False, "remark": ""}
    return JudgedClaim(claim=name, paper=paper, ours=ours, verdict=verdict, **(given | more))


FOUR = [
    claim("error", 2.0, 1.0, "beaten"),
    claim("period", 0.4, 0.4, "met", headline=True, aim="equal", unit="s"),
    claim("force", 10.0, 40.0, "missed"),
    claim("no number", None, 3.0, "not-comparable", remark="not printed"),
]


def dots(drawing):
    """Place and symbol by hover text."""
    found = {}
    for trace in drawing.data[1:]:
        symbols = trace["marker"]["symbol"]
        for k, text in enumerate(trace["text"]):
            symbol = symbols if isinstance(symbols, str) else symbols[k]
            found[text.partition(":")[0]] = trace["x"][k], trace["y"][k], symbol, trace["name"]
    return found


def test_the_sentence_counts():
    said = study_sentence(SUMMARY, FOUR)
    assert said == "Of 4 claims, 1 is beaten, 1 is met and 1 is missed; 1 cannot be compared (not printed)."
    assert study_sentence(SUMMARY, FOUR[:1] * 3) == "Of 3 claims, 3 are beaten."


def test_the_sentence_tells_our_goals_from_the_papers_numbers():
    goals = [claim("g", None, 1.0, "goal met", bar=2.0), claim("h", None, 3.0, "goal missed", bar=2.0)]
    ties = [claim("t", 2.0, 2.0, "tie", spread=0.5, seeds=6)]
    said = study_sentence(SUMMARY, FOUR[:1] + goals + ties)
    assert said == "Of 4 claims, 1 is beaten, 1 is a tie, 1 meets our own goal and 1 misses our own goal."


def test_a_goal_is_drawn_over_itself_and_seeds_have_their_spread(tmp_path):
    shown = [
        claim("by goal", 130.0, 0.5, "goal met", bar=1.0, remark="other hardware"),
        claim("by paper", 2.0, 1.0, "beaten", bar=4.0, spread=0.4, seeds=6),
    ]
    drawing = draw_claims(shown, "")
    found = dots(drawing)
    assert found["by goal"][0] == 0.5 and found["by paper"][0] == 0.5
    (spread,) = (t["error_x"]["array"] for t in drawing.data[1:] if t["name"] == "beaten")
    assert spread == [pytest.approx(0.2)]
    page = Page(write_study(tmp_path / "page.html", SUMMARY, shown, [], {}))
    assert page.rows("Claims")["by paper"][1:5] == ["2", "4", "1 ± 0.4 (6)", "kN"]


def test_a_quick_run_says_what_it_leaves_out():
    quick = SUMMARY._replace(quick=True)
    said = study_sentence(quick, FOUR[:2])
    assert said.startswith("The quick run judges 2 of 4 claims: 1 is beaten and 1 is met.")
    assert said.endswith("The full run, about a minute, judges all: hyloop study run x")
    assert "can judge none of 4 claims here" in study_sentence(quick, [])


def test_a_partial_run_leaves_out_what_it_does_not_judge():
    claims = [
        Claim(claim="a", source="", paper=1.0, aim="lower"),
        Claim(claim="b", source="", paper=1.0),
        Claim(claim="c", source=""),
        Claim(claim="d", source="", paper=1.0),
    ]
    verdicts = judge("s", claims, {"a": 0.5, "c": 1.0, "d": 1.0}, "x", {"d": "no record"}, partial=True)
    assert [(v.claim, v.verdict) for v in verdicts] == [("a", "beaten")]


def test_dots_stand_at_ours_over_the_papers():
    found = dots(draw_claims(FOUR[:3], ""))
    assert found["error"] == (0.5, 3, "star", "beaten")
    assert found["period"] == (1.0, 2, "circle", "met")
    assert found["force"] == (4.0, 1, "x", "missed")


@pytest.mark.parametrize(
    ("paper", "ours", "side"), [(1.0, 0.0, "left"), (0.0, 3.0, "left"), (2.0, -1.0, "left"), (1.0, 900.0, "right")]
)
def test_what_has_no_ratio_or_is_far_off_stands_at_the_end_with_its_numbers(paper, ours, side):
    drawing = draw_claims([claim("odd", paper, ours, "missed"), claim("one", 1.0, 1.0, "met")], "")
    x, _, symbol, _ = dots(drawing)["odd"]
    low, high = drawing.layout["xaxis"]["range"]
    assert symbol == f"triangle-{side}-open" and low <= math.log10(x) <= high
    assert math.log10(x) < 0.9 * low if side == "left" else math.log10(x) > 0.9 * high
    assert any(n["text"] == f"{paper:.4g} → {ours:.3g} kN" for n in drawing.layout["annotations"])
    assert ("Without a ratio, at the left end: odd." in drawing.caption) == (ours <= 0.0 or paper == 0.0)


def test_the_page_has_the_headline_first_and_every_claim_below(tmp_path):
    many = [claim(f"c{k}", 1.0, 1.0 + k, "missed") for k in range(40)] + [FOUR[1]]
    page = Page(write_study(tmp_path / "page.html", SUMMARY, many, [], {}))
    first, (every,) = page.picture, page.specs
    names = [text.strip("<b>/") for text in first["layout"]["yaxis"]["ticktext"]]
    assert len(names) == FIRST and names[0] == "period =" and names[1] == "c39 ↓"  # then the furthest off
    assert len(every["layout"]["yaxis"]["ticktext"]) == 41
    assert page.rows("Claims")["c7"] == ["Table 1", "1", "-", "8", "kN", "missed", ""]
    assert "1 of 41" in page.text and "0.4 s" in page.text  # two of the three numbers


def test_the_picture_of_a_study_is_shown_whatever_the_number_of_claims(tmp_path):
    line = Line(np.arange(3.0), np.arange(3.0), "a", 0)
    drawn = SUMMARY._replace(picture=Chart([Panel("Errors of every plant", "x", "y", (line,))], "Errors."))
    for count in (1, FIRST + 5):
        path = write_study(tmp_path / f"{count}.html", drawn, FOUR[:1] * count, [], {})
        assert path.read_text(encoding="utf-8").count("Errors of every plant") == 1


def test_further_parts_of_a_study_stand_below_all_claims_with_their_captions(tmp_path):
    line = Line(np.arange(3.0), np.arange(3.0), "a", 0)
    charts = [Chart([Panel("Loop", "x", "y", (line,))], "A loop.", "What is drawn.")]
    parts = [Section("Figure 9", charts=charts), Section("Figure 10", charts=charts)]
    page = Page(write_study(tmp_path / "page.html", SUMMARY._replace(sections=parts), FOUR, [], {}))
    assert page.headings[-2:] == ["Figure 9", "Figure 10"]
    assert len(page.specs) == 2 and page.text.count("What is drawn.") == 2


def test_a_claim_without_a_number_is_in_the_table_alone(tmp_path):
    page = Page(write_study(tmp_path / "page.html", SUMMARY, FOUR, [], {}))
    assert page.specs == [] and "no number" not in str(page.picture)
    assert page.rows("Claims")["no number"][1:] == ["-", "-", "3", "kN", "not-comparable", "not printed"]
