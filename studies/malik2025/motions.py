"""Ground motions: pairs of records scaled to 1.5 times a design spectrum, split by event, and varied for training.

Lengths of the frame are halved with stress and acceleration kept, so time runs √0.5 as long.
"""

from dataclasses import dataclass

import numpy as np

from hyloop.hazards import G, asce7_spectrum, default_motion, find_record, read_record, scale_pair
from hyloop.hazards.motion import GroundMotion

RATE = 1024  # Hz, of the controller
MAXIMUM = 1.5  # the maximum considered earthquake over the design spectrum
SDS, SD1 = MAXIMUM * 1.0 * G, MAXIMUM * 0.6 * G  # Los Angeles, site class D
PERIOD = 0.39 / np.sqrt(0.5)  # s, first mode at full scale
LEAST, MOST = 0.0005, 0.995  # of the Arias intensity between which a motion is kept,
BEFORE, AFTER = 1.0, 3.0  # with so many seconds around it
LONGEST = 30_000  # samples
AMPLITUDE = (0.4, 1.3)  # of varied motions, over the maximum considered level


@dataclass(frozen=True)
class Motion:
    """Ground acceleration at the controller's rate in the time of the model, and the event it belongs to."""

    name: str
    event: str
    a: np.ndarray


def scaled_pair(station: str) -> tuple[GroundMotion, ...]:
    """Components of a station, both times the factor that fits their geometric mean to the spectrum."""
    periods = np.geomspace(0.2 * PERIOD, 1.5 * PERIOD, 25)
    target = asce7_spectrum(periods, SDS, SD1)
    if station.startswith("synthetic"):
        seed = int(station.removeprefix("synthetic-"))
        first, second = (default_motion(seed=1000 * k + seed) for k in (1, 2))
    elif station.endswith("_180"):  # the only record of 1940
        first = second = read_record(find_record(station))
    else:
        first, second = (read_record(find_record(f"{station}_{k}")) for k in (1, 2))
    pair = scale_pair(first, second, periods, target)
    return (pair.first,) if first is second else (pair.first, pair.second)


def in_model_time(motion: GroundMotion, stretch: float = 1.0) -> np.ndarray:
    """Acceleration at the controller's rate, time divided by √2 and times `stretch`, cut to what shakes."""
    short = motion.in_model_time(0.5 * stretch**2).resampled(1.0 / RATE)
    return strong_part(short.a)


def strong_part(a: np.ndarray) -> np.ndarray:
    """From a second before 0.05 % of the Arias intensity to three after 99.5 %, 30 000 samples at most."""
    arias = np.cumsum(a**2) / np.sum(a**2)
    begin = max(int(np.searchsorted(arias, LEAST)) - round(BEFORE * RATE), 0)
    end = int(np.searchsorted(arias, MOST)) + round(AFTER * RATE)
    return a[begin : min(end, begin + LONGEST)]


def plain(stations: dict[str, str], components: tuple[int, ...] = (0, 1)) -> list[Motion]:
    """Motions of stations (name to event) at the maximum considered level."""
    found = []
    for station, event in stations.items():
        pair = scaled_pair(station)
        for k in components[: len(pair)]:
            found.append(Motion(f"{station}.{k + 1}", event, in_model_time(pair[k])))
    return found


def varied(stations: dict[str, str], seed: int, amplitudes: int, mixtures: int) -> list[Motion]:
    """Each component again with other amplitudes and signs, and mixed with another one and stretched in time.

    Amplitudes are uniform in 0.4 to 1.3. A mixture is a record and another of the same side of the split, in shares
    that keep the sum of squares, both stretched by 0.75 to 1.3; its event is that of the first, and as nothing of the
    other sides enters it, it belongs to its own side alone.
    """
    rng = np.random.default_rng(seed)
    pairs = {station: scaled_pair(station) for station in stations}
    each = [(f"{s}.{k + 1}", s, motion) for s in stations for k, motion in enumerate(pairs[s])]
    found = []
    for name, station, motion in each:
        for n in range(amplitudes):
            factor = rng.uniform(*AMPLITUDE) * rng.choice([-1.0, 1.0])
            found.append(Motion(f"{name} x {factor:.2f} #{n}", stations[station], factor * in_model_time(motion)))
        for n in range(mixtures):
            other = each[rng.integers(len(each))][2]
            angle, stretch = rng.uniform(0.0, 0.5 * np.pi), np.exp(rng.uniform(np.log(0.75), np.log(1.3)))
            factor = rng.uniform(*AMPLITUDE) * rng.choice([-1.0, 1.0])
            one, two = (in_model_time(m, stretch) for m in (motion, other))
            size = min(len(one), len(two))
            a = factor * (np.cos(angle) * one[:size] + np.sin(angle) * two[:size])
            found.append(Motion(f"{name} mixed #{n}", stations[station], a))
    return found
