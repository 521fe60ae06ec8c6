"""Beyond the paper: networks in the place of the filter, and how many dampers must be measured; tasks and tables."""

import numpy as np

from hyloop.report.page import Table
from hyloop.study.seeds import Seeds
from hyloop.study.tasks import Task

from .events import JUDGING
from .learned import SEEDS, WAYS
from .measured import RECORDS, SCORES, SPREADS
from .measured import WAYS as COUNTS
from .specimens import RUBBING, SAME, SPECIMENS

FILES = ("tower_loop.py", "ears.py", "learned.py", "measured.py", "events.py", "specimens.py", "hybrid.py")
NETWORKS = tuple(f"networks/parameters-{seed}.safetensors" for seed in range(SEEDS))
DRAWS = 3
TITLES = {"printed": "CUKF as printed", "ours": "CUKF, ours", "seal": "CUKF, ours, law with seal"}


def tasks() -> dict[tuple, Task]:
    """Tests of every way to follow, and of every number of measured dampers."""
    found: dict[tuple, Task] = {
        ("learned", record, how): Task(
            f"{how}, {record}", "learned:judged", (record, how, tuple(SPECIMENS)), (*FILES, *NETWORKS)
        )
        for record in JUDGING
        for how in WAYS
    }
    for record in RECORDS:
        for spread in SPREADS:
            for seed in range(DRAWS if spread else 1):
                name = f"measured, {record}, {100 * spread:g} %, {seed}"
                found["measured", record, spread, seed] = Task(name, "measured:compared", (record, spread, seed), FILES)
    return found


def values(found: dict[tuple, dict]) -> dict:
    """Claims: networks over the filter, and three measured dampers over one."""
    networks = np.array([[_free(found, f"parameters-{k}", name) for name in SPECIMENS] for k in range(SEEDS)])
    filtered = np.array([_free(found, "ours", name) for name in SPECIMENS])
    names = list(SPECIMENS)
    differ = [k for k, name in enumerate(names) if name not in (SAME, RUBBING)]
    rubbing, constant = names.index(RUBBING), _free(found, "ours", RUBBING, "mean constant free")
    roof = {way: np.mean([abs(one[way]["roof"]) for key, one in _draws(found, 0.05)]) for way in ("1", "3 together")}
    return {
        "networks over our filter, noise-free, specimens that differ": Seeds.of(
            networks[:, differ].mean(axis=1) / filtered[differ].mean()
        ),
        "networks over our filter with seal friction, noise-free": Seeds.of(networks[:, rubbing] / filtered[rubbing]),
        "networks over constant with seal friction, noise-free": Seeds.of(networks[:, rubbing] / constant),
        "three measured over one, error of the peak roof displacement, dampers that differ by 5 %": float(
            roof["3 together"] / roof["1"]
        ),
    }


def tables(found: dict[tuple, dict]) -> list[Table]:
    """One table for each question."""
    rows = []
    for name in SPECIMENS:
        networks = [_free(found, f"parameters-{k}", name) for k in range(SEEDS)]
        filters = [f"{_free(found, how, name):.2f}" for how in TITLES]
        constant = f"{_free(found, 'ours', name, 'mean constant free'):.2f}"
        rows.append([name, constant, *filters, f"{np.mean(networks):.2f} ± {np.std(networks):.2f}"])
    columns = ["specimen", "constant", *TITLES.values(), f"networks ({SEEDS})"]
    title = f"Learned followers: noise-free NRMSE in % of eleven, {len(JUDGING)} records"
    return [Table(title, columns, rows), _counted(found)]


def _counted(found: dict[tuple, dict]) -> Table:
    rows = []
    for spread in SPREADS:
        for way in COUNTS:
            each = [[abs(one[way][score]) for score in SCORES] for _, one in _draws(found, spread)]
            cells = [
                f"{mean:.2f} ({most:.1f})"
                for mean, most in zip(np.mean(each, axis=0), np.max(each, axis=0), strict=True)
            ]
            rows.append([f"{100 * spread:g} %", way, *cells])
    columns = ["dampers differ by", "measured", "force of models", "peak roof", "peak drift", "peak damper force"]
    return Table(
        "How many must be measured? Mean error in % (largest) against dampers that are all real", columns, rows
    )


def _free(found: dict[tuple, dict], how: str, name: str, key: str = "mean free") -> float:
    return float(np.mean([found["learned", record, how][name][key] for record in JUDGING]))


def _draws(found: dict[tuple, dict], spread: float) -> list[tuple[tuple, dict]]:
    return [(key, one) for key, one in found.items() if key[0] == "measured" and key[2] == spread]
