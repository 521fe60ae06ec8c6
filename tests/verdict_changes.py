"""Verdicts that differ from those of an earlier revision, as a Markdown table.

``python tests/verdict_changes.py REVISION [STUDY ...]`` reads ``claims.json`` of every study as it was committed then
and as it is now.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from hyloop.study.claims import Verdict, read_verdicts

STUDIES = Path(__file__).parents[1] / "studies"


def committed(revision: str, study: str) -> list[Verdict]:
    """Verdicts of a study at a revision; none if it had none."""
    named = f"{revision}:./{study}/claims.json"
    shown = subprocess.run(["git", "show", named], cwd=STUDIES, capture_output=True, text=True, check=False)
    return [Verdict(**row) for row in json.loads(shown.stdout)] if shown.returncode == 0 else []


def changes(before: list[Verdict], after: list[Verdict]) -> list[str]:
    """A line for every claim that is new, gone or judged otherwise, and one for the counts."""
    old, new = {v.claim: v for v in before}, {v.claim: v for v in after}
    lines = []
    for name in dict.fromkeys([*old, *new]):
        was, now = old.get(name), new.get(name)
        if was is None or now is None or was.verdict != now.verdict:
            cells = [(v.value, v.verdict) if v else ("-", "-") for v in (was, now)]
            asked = now or was
            number = asked.bar if asked.paper is None else asked.paper
            shown = "-" if number is None else f"{number:.4g}"
            lines.append(f"| {asked.study} | {name} | {shown} | {' | '.join(' | '.join(cell) for cell in cells)} |")
    counts = [
        ", ".join(f"{n} {kind}" for kind, n in sorted(Counter(v.verdict for v in v_).items())) for v_ in (before, after)
    ]
    study = (after or before)[0].study
    return [*lines, f"| {study} | all: {len(before)} before, {len(after)} now | | | {counts[0]} | | {counts[1]} |"]


def main() -> None:
    """Print the table."""
    revision, *names = sys.argv[1:]
    print("| study | claim | paper or goal | ours before | verdict before | ours now | verdict now |")
    print("|---|---|---|---|---|---|---|")
    for path in sorted(STUDIES.glob("*/claims.json")):
        if not names or path.parent.name in names:
            print("\n".join(changes(committed(revision, path.parent.name), read_verdicts(path))))


if __name__ == "__main__":
    main()
