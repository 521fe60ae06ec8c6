"""A folder of recordings: one row for each, what can be compared in pairs, and files that cannot be read."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from hyloop.errors import BadInput
from hyloop.record import PICTURE, Recording
from hyloop.report.comparison import peak
from hyloop.report.degrees import degrees_of_freedom, telling_degree
from hyloop.report.response import respond

__all__ = ["WITHOUT", "Entry", "Pairs", "find_recordings", "pairs", "read_entry"]

BARE = "-bare"  # how `hyloop run --against bare` ends the name of what it runs without devices
_GROUND = re.compile(r"ground(\.([0-9]+|[xyz]))?")  # not the channels of a site called ground
WITHOUT = "without devices"
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
    motion : str
        Fingerprint of the ground motion: equal for equal histories; empty where it was not recorded.
    drift, drift_ratio : float
        Each the largest of all stories; with unequal heights they may belong to different ones.
    """

    path: Path
    group: str = ""
    problem: str = ""
    title: str = ""
    excitation: str = ""
    created: str = ""
    state: str = ""
    ground: float | None = None
    motion: str = ""
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
    found = sorted(path for path in folder.rglob("*.h5") if not path.name.endswith(PICTURE))
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
        group = ", ".join(word for word in changed if not word.startswith(("excitation", "loads", "seed")))
    if path.stem.endswith(BARE):
        group = WITHOUT
    grounds = [peak(recording[name]) for name in recording.names if _GROUND.fullmatch(name)]
    notes = [note.partition(":")[2].strip() for note in recording.notes if note.startswith("excitation:")]
    channel = telling_degree({"": recording}) or next(iter(recording.names), "")
    history = recording[channel] if channel and len(recording) else None
    ratios = (story.drift_ratio for story in response.stories if story.drift_ratio is not None)
    return Entry(
        path,
        group,
        title=str(attributes.get("title", "")),
        excitation="; ".join(notes),
        created=str(attributes.get("created", ""))[:16].replace("T", " "),
        state=recording.fault or ("complete" if recording.complete else "stopped early"),
        ground=max(grounds, default=None),
        motion=_motion(recording),
        drift=max((story.drift for story in response.stories), default=None),
        drift_ratio=max(ratios, default=None),
        displacement=max((peak(recording[name]) for name in degrees_of_freedom({"": recording}, "m")), default=None),
        force=max((device.force for device in response.devices), default=None),
        history=None if history is None else history[:: max(1, len(history) // _KEPT)],
        channel=channel,
    )


def _motion(recording: Recording) -> str:
    found = hashlib.sha256()
    names = [name for name in recording.names if name == "ground" or name.startswith(("ground.", "load."))]
    for name in names:
        found.update(np.ascontiguousarray(recording[name]).tobytes())
    return found.hexdigest() if names else ""


@dataclass(frozen=True)
class Pairs:
    """Two groups with recordings of the same names, the sizes of each pair in m, and their ground motions."""

    first: str
    second: str
    sizes: dict[str, tuple[float, float]]
    motions: dict[str, str] = field(default_factory=dict)

    @property
    def alike(self) -> int:
        """Pairs whose ground motion is that of another pair too."""
        counts = Counter(motion for motion in self.motions.values() if motion)
        return sum(count for count in counts.values() if count > 1)

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

    What has no devices comes first, whatever the sizes, so that a ratio is with devices over without. Where both
    groups have devices, or neither, the one with the larger sizes comes first: a ratio says what is left.
    """
    groups: dict[str, dict[str, Entry]] = {}
    for entry in entries:
        if entry.size:
            groups.setdefault(entry.group, {})[entry.path.stem.removesuffix(BARE)] = entry
    if len(groups) != 2:
        return None
    (a, of_a), (b, of_b) = groups.items()
    shared = [name for name in of_a if name in of_b]
    if not shared:
        return None
    bare_a, bare_b = (_bare(group, of.values()) for group, of in ((a, of_a), (b, of_b)))
    smaller = sum(of_a[name].size or 0.0 for name in shared) < sum(of_b[name].size or 0.0 for name in shared)
    if bare_b if bare_a != bare_b else smaller:
        (a, of_a), (b, of_b) = (b, of_b), (a, of_a)
    sizes = {name: (of_a[name].size or 0.0, of_b[name].size or 0.0) for name in shared}
    return Pairs(a, b, sizes, {name: of_b[name].motion for name in shared})


def _bare(group: str, entries: Iterable[Entry]) -> bool:
    return group == WITHOUT or all(entry.force is None for entry in entries)
