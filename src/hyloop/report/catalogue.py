"""A folder of recordings: one row for each, what can be compared in pairs, and files that cannot be read."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyloop.errors import BadInput
from hyloop.record import Recording
from hyloop.report.comparison import peak
from hyloop.report.response import respond

__all__ = ["Entry", "Pairs", "find_recordings", "pairs", "read_entry"]

BARE = "-bare"  # how `hyloop run --against bare` ends the name of what it runs without devices
_GROUND = re.compile(r"ground(\.[0-9]+)?")  # not the channels of a site called ground
_KEPT = 2000  # values of a history that are kept for its picture


@dataclass(frozen=True, eq=False)
class Entry:
    """One file of the folder, SI units; None where the recording does not say.

    Attributes
    ----------
    path : Path
    group : str
        Folder below the one that is catalogued, or what was changed when it was run.
    problem : str
        Why it cannot be read; all else is then empty.
    state : str
        ``complete``, ``stopped early`` or the fault.
    """

    path: Path
    group: str = ""
    problem: str = ""
    title: str = ""
    excitation: str = ""
    created: str = ""
    state: str = ""
    ground: float | None = None
    drift: float | None = None
    drift_ratio: float | None = None
    displacement: float | None = None
    force: float | None = None
    history: np.ndarray | None = None
    channel: str = ""

    @property
    def size(self) -> float | None:
        """What recordings are compared by: the largest drift, else the largest displacement."""
        return self.displacement if self.drift is None else self.drift


def find_recordings(folder: Path) -> list[Path]:
    """All recordings below a folder, by name."""
    if not folder.is_dir():
        raise BadInput(f"{folder}: there is no such folder.")
    found = sorted(folder.rglob("*.h5"))
    if not found:
        raise BadInput(f"{folder}: there are no recordings (.h5) in it. Run an experiment with --out {folder}/NAME.h5.")
    return found


def read_entry(path: Path, folder: Path) -> Entry:
    """What a catalogue says of a file."""
    below = path.relative_to(folder).parent.as_posix()
    group = "" if below == "." else below
    try:
        return _summary(path, group, Recording.load(path))
    except BadInput as error:
        reason = str(error).removeprefix(f"{path}").strip(" :")
        return Entry(path, group, reason or "cannot be read")
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # one file with channels or attributes that nobody foresaw must not hide all others
        return Entry(path, group, f"cannot be summarised: {type(error).__name__}: {error}")


def _summary(path: Path, group: str, recording: Recording) -> Entry:
    attributes, response = recording.attributes, respond(recording)
    if not group:
        changed = (str(word) for word in attributes.get("overrides", []))
        group = ", ".join(word for word in changed if not word.startswith(("excitation", "seed")))
    if path.stem.endswith(BARE):
        group = "without devices"
    displaced = [
        n for n, unit in zip(recording.names, recording.units, strict=True) if n.startswith("u.") and unit == "m"
    ]
    grounds = [peak(recording[name]) for name in recording.names if _GROUND.fullmatch(name)]
    notes = [note.partition(":")[2].strip() for note in recording.notes if note.startswith("excitation:")]
    channel = displaced[-1] if displaced else next(iter(recording.names), "")
    history = recording[channel] if channel and len(recording) else None
    worst = response.worst
    return Entry(
        path,
        group,
        title=str(attributes.get("title", "")),
        excitation="; ".join(notes),
        created=str(attributes.get("created", ""))[:16].replace("T", " "),
        state=recording.fault or ("complete" if recording.complete else "stopped early"),
        ground=max(grounds, default=None),
        drift=None if worst is None else worst.drift,
        drift_ratio=None if worst is None else worst.drift_ratio,
        displacement=max((peak(recording[name]) for name in displaced), default=None),
        force=max((device.force for device in response.devices), default=None),
        history=None if history is None else history[:: max(1, len(history) // _KEPT)],
        channel=channel,
    )


@dataclass(frozen=True)
class Pairs:
    """Two groups with recordings of the same names, and the sizes of each pair in m."""

    first: str
    second: str
    sizes: dict[str, tuple[float, float]]

    @property
    def ratios(self) -> dict[str, float]:
        """Second over first, by name."""
        return {name: second / first for name, (first, second) in self.sizes.items()}

    @property
    def mean(self) -> float:
        """Mean of the ratios."""
        return float(np.mean(list(self.ratios.values())))

    @property
    def spread(self) -> float:
        """Standard deviation (n - 1) of the ratios; nan for one pair."""
        return float(np.std(list(self.ratios.values()), ddof=1)) if len(self.sizes) > 1 else float("nan")


def pairs(entries: list[Entry]) -> Pairs | None:
    """Recordings of the same name in two groups; None where there are no such pairs. NAME-bare.h5 goes with NAME.h5.

    The group with the larger sizes comes first, so that a ratio says what is left.
    """
    groups: dict[str, dict[str, float]] = {}
    for entry in entries:
        if entry.size:
            groups.setdefault(entry.group, {})[entry.path.stem.removesuffix(BARE)] = entry.size
    if len(groups) != 2:
        return None
    (a, of_a), (b, of_b) = groups.items()
    shared = [name for name in of_a if name in of_b]
    if not shared:
        return None
    if sum(of_a[name] for name in shared) < sum(of_b[name] for name in shared):
        (a, of_a), (b, of_b) = (b, of_b), (a, of_a)
    return Pairs(a, b, {name: (of_a[name], of_b[name]) for name in shared})
