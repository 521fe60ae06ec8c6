"""All runs of the frame under one record."""

from pathlib import Path

import numpy as np

from .cases import DEVICES, FAULTS, Campaign

SEEDS = (0, 1, 2)  # of the networks, and of the noise
LEVELS = (20.0, 30.0, 40.0, 50.0, 60.0, 80.0)  # dB
NOISY = ("right", "weaker by 23 %", "stiffer by 25 %", "sharper")


CLEAR = 60.0  # dB
AT_60 = [("right", fault, CLEAR) for fault in FAULTS]
AT_60 += [(device, "none", CLEAR) for device in DEVICES if device != "right"]
OTHERS = [(device, "none", level) for level in LEVELS if level != CLEAR for device in NOISY]
OTHERS += [("right", fault, level) for level in (20.0, 30.0, 40.0) for fault in FAULTS if fault != "none"]


def ratios(folder, record, clear):
    """Errors with updating over those without by (device, fault, level), each (runs, 6); at 60 dB alone if `clear`.

    Levels besides 60 dB have one network each.
    """
    campaign = Campaign(Path(folder))
    return {
        case: np.array([campaign.ratio(record, case[0], seed, *case[1:]) for seed in _seeds(case[2])])
        for case in (AT_60 if clear else AT_60 + OTHERS)
    }


def retrained(folder, record):
    """The same by fault where a window is retrained on, anchored; right device, 60 dB, one network."""
    campaign = Campaign(Path(folder))
    return {fault: campaign.ratio(record, "right", 0, fault, updater="ANN1 anchored")[None] for fault in FAULTS}


def _seeds(level):
    return SEEDS if level == CLEAR else SEEDS[:1]
