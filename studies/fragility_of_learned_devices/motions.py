"""The records that are judged: of events from which no network was trained, and motions drawn for the purpose.

The listening network was trained on the events under `train` of studies/malik2025/split.toml; on its validation events
its settings were chosen, its test events and Morgan Hill it has never met. Thirteen components of seven events are too
few, so nine artificial motions stand beside them. Every record has a damper of its own, drawn from its seed, which is
the same for all models.
"""

from pathlib import Path

import numpy as np

from hyloop.ensembles.record_sets import ChosenRecord, choose_records
from hyloop.files.toml import read_toml
from hyloop.hazards import default_motion

SPLIT = Path(__file__).parents[1] / "malik2025" / "split.toml"
STATIONS = (
    "kobe-nishi-akashi",
    "loma-prieta-capitola",
    "manjil-abbar",
    "hector-mine-hector",
    "cape-mendocino-rio-dell-overpass",
    "friuli-tolmezzo",
)
ALONE = ("morgan",)  # one component
DRAWN = tuple(range(9001, 9010))  # seeds; studies/malik2025 has drawn its own below 3000
DEVICES = 500  # seed of the first damper


def judged(folder: Path) -> list[ChosenRecord]:
    """All of them; those that are drawn are written into a folder."""
    names = [f"{station}_{k}" for station in STATIONS for k in (1, 2)]
    found = choose_records((*names, *ALONE), Path())
    found += [ChosenRecord(f"drawn-{seed}", {"file": str(_drawn(folder, seed))}) for seed in DRAWN]
    return [ChosenRecord(one.name, one.table, (f"seed={DEVICES + k}",)) for k, one in enumerate(found)]


def trained_on() -> set[str]:
    """Stations of which the network was trained."""
    return set(read_toml(SPLIT)["train"])


def _drawn(folder: Path, seed: int) -> Path:
    """An artificial motion as a file, time in s and acceleration in m/s2."""
    path = folder / f"drawn-{seed}.csv"
    if not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        motion = default_motion(seed=seed)
        part = path.with_suffix(".part")
        table = np.column_stack([motion.time, motion.a])
        np.savetxt(part, table, fmt="%.9g", delimiter=",", header="t [s],a [m/s2]", comments="")
        part.rename(path)
    return path
