"""Charts as the page knows them: signals over time, or over each other."""

from dataclasses import dataclass, field

__all__ = ["History", "HistoryLine", "Loop", "LoopLine", "Section"]


@dataclass(frozen=True)
class HistoryLine:
    """A signal over time; `series` is the number of its colour."""

    name: str
    signal: int
    series: int


@dataclass(frozen=True)
class History:
    """Signals of one unit over time, with a band between two of them, and levels that do not change, both if any."""

    title: str
    unit: str
    factor: float
    lines: list[HistoryLine]
    band: tuple[int, int] | None = None
    levels: list[float] = field(default_factory=list)
    kind: str = "history"


@dataclass(frozen=True)
class LoopLine:
    """A signal over another one."""

    name: str
    x: int
    y: int
    series: int


@dataclass(frozen=True)
class Loop:
    """Signals over others, with the unit and factor of either axis; `ideal` draws the line on which both are equal."""

    title: str
    x: tuple[str, str, float]
    y: tuple[str, str, float]
    lines: list[LoopLine]
    ideal: bool = False
    kind: str = "loop"


@dataclass(frozen=True)
class Section:
    """Charts that belong together."""

    title: str
    text: str
    charts: list[History | Loop]
