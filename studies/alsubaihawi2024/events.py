"""Records of the earthquake tests, scaled to one spectrum, split by event.

The paper scales the geometric mean of a pair to the uniform hazard spectrum of its site, weighing periods of 0.5 to 3 s
with 10 %, 3 to 7 s with 60 % and 7 to 10 s with 30 %. That spectrum is not printed. Here it has the shape of ASCE 7 and
the level at which the pair of Superstition Hills has the factor 1.7 of the parameter set.
"""

from functools import cache

import numpy as np

from hyloop.errors import BadInput
from hyloop.hazards import asce7_spectrum, find_record, read_record, scale_pair

# settings of the filter were chosen on the first; the others judge (Loma Prieta at Saratoga, the paper's, is not there)
CHOOSING = ("kocaeli-duzce", "kocaeli-arcelik", "imperial-valley-delta", "imperial-valley-el-centro-array-11")
JUDGING = (
    "superstition-hills-el-centro-imp-co",
    "landers-yermo-fire-station",
    "manjil-abbar",
    "chi-chi-chy101",
    "duzce-bolu",
)
SHORT, ONE = 0.865 * 9.81, 0.494 * 9.81  # m/s2: spectral accelerations at short periods and at 1 s
PERIODS = np.linspace(0.5, 10.0, 96)
WEIGHTS = np.select([PERIODS < 3.0, PERIODS < 7.0], [0.1 / 25, 0.6 / 40], 0.3 / 31)


@cache
def factor(name: str) -> float:
    """Factor on both components of a record."""
    pair = [read_record(find_record(f"{name}_{k}")) for k in (1, 2)]
    target = asce7_spectrum(PERIODS, SHORT, ONE, 8.0)
    return scale_pair(pair[0], pair[1], PERIODS, target, WEIGHTS).factor


def overrides(name: str) -> list[str]:
    """What an experiment file needs to hear for this record; synthetic motions stand in where there is none."""
    try:
        scale = factor(name)
    except BadInput:
        scale = 1.0
    words = []
    for component in ("north_south", "east_west"):
        words += [f"excitations.{component}.name={name}", f"excitations.{component}.scale={scale:.4f}"]
    return words
