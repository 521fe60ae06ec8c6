"""What is kept of one run: how it ended, and its measures."""

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = ["AGAIN", "COMPLETE", "OUTCOMES", "Row"]

COMPLETE = "complete"
# stopped: it diverged or passed a limit; refused: bad input; failed: a defect in hyloop; died: the process that ran it
# ended again and again, or had too little memory; unseen: the machine that was to run it does not see its files
OUTCOMES = (COMPLETE, "stopped", "refused", "failed", "died", "unseen")
AGAIN = ("died", "unseen")  # say something of the machine, not of the run: whoever goes on runs it again


@dataclass(frozen=True)
class Row:
    """One run.

    Attributes
    ----------
    identity : str
        Digest of everything its result hangs on.
    outcome : str
        One of OUTCOMES.
    reason : str
        Why it did not complete: of a stop the word of `RunFailed.reason`, then what was said.
    values : dict of str to float
        Measures by name; empty unless it is complete.
    """

    identity: str
    outcome: str
    reason: str = ""
    values: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """For the journal."""
        return asdict(self)
