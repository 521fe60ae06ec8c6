"""The damper tests the paper uses, 13 harmonic motions and six earthquakes at 36 lb, and how they are split."""

from functools import cache

import numpy as np

from hyloop.data.banded_damper import DamperTest, tests

RATE = 1024.0  # Hz
QUAKES = ("DuzceDBE", "DuzceMCE", "ImperialValleyDBE", "ImperialValleyMCE", "KocaeliDBE", "KocaeliMCE")
# samples that the paper's stored predictions cover: 4.5 to 12, 3 to 7.5 and 6 to 14 s
SEGMENTS = {"Duzce": slice(4608, 12288), "ImperialValley": slice(3072, 7680), "Kocaeli": slice(6144, 14336)}
PRINTED_LUGRE = (1306.36, 1892.02, 2040.92, 2969.81, 3131.42, 3340.78)  # N, first row of Table 9
PRINTED_PHYSICS_ML = (539.62, 2031.00, 1524.07, 2239.42, 1754.26, 1917.32)  # N, its diagonal
# What is left out of a fit. DBE and MCE are one ground motion at two levels: by record, as in the paper, the other
# level is fitted; by event it is not.
SPLITS = {"record": QUAKES, "event": tuple(SEGMENTS)}
FOLDS = (*SPLITS["record"], *SPLITS["event"])


@cache
def load() -> tuple[dict[str, DamperTest], dict[str, DamperTest]]:
    """Harmonic tests by id, and earthquakes by name."""
    found = tests("d2_*36lb_*")
    quakes = {test.event + test.level: test for test in found.values() if test.event}
    return {name: test for name, test in found.items() if not test.event}, {name: quakes[name] for name in QUAKES}


def left_out(fold: str) -> tuple[str, ...]:
    """Earthquakes that a fit has not seen: one record, or both levels of an event."""
    return tuple(name for name in QUAKES if name.startswith(fold))


def fold_of(split: str, name: str) -> str:
    """The fold whose fits have not seen an earthquake."""
    return name if split == "record" else name[:-3]


def training(fold: str) -> list[DamperTest]:
    """What is fitted: all harmonic tests, and the earthquakes that are not left out."""
    harmonics, quakes = load()
    return [*harmonics.values(), *(test for name, test in quakes.items() if name not in left_out(fold))]


def segment(name: str) -> slice:
    """The samples an earthquake is judged on."""
    return SEGMENTS[name[:-3]]


def pooled(errors) -> float:
    """RMSE over the samples of all six segments together, from the RMSE of each."""
    samples = np.array([segment(name).stop - segment(name).start for name in QUAKES])
    return float(np.sqrt(np.sum(samples * np.asarray(errors) ** 2) / np.sum(samples)))


def improvement(errors) -> float:
    """How much less the pooled RMSE is than that of the printed LuGre row, in percent (the paper's 32.8 %)."""
    return 100.0 * (1.0 - pooled(errors) / pooled(PRINTED_LUGRE))
