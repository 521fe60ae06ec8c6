"""All runs of the frame under one record."""

from pathlib import Path

import numpy as np

from .cases import DEVICES, FAULTS, Campaign

SEEDS = (0, 1, 2)  # of the networks, and of the noise
LEVELS = (20.0, 30.0, 40.0, 50.0, 60.0, 80.0)  # dB
NOISY = ("right", "weaker by 23 %", "stiffer by 25 %", "sharper")


def ratios(folder, record):
    """Errors with updating over those without by (device, fault, level), and with retraining by fault, each (runs, 6).

    Noise with faults and levels besides 60 dB have one network each.
    """
    runs = [("right", fault, 60.0) for fault in FAULTS]
    runs += [(device, "none", 60.0) for device in DEVICES if device != "right"]
    runs += [(device, "none", level) for level in LEVELS if level != 60.0 for device in NOISY]
    runs += [("right", fault, level) for level in (20.0, 30.0, 40.0) for fault in FAULTS if fault != "none"]
    campaign = Campaign(Path(folder))
    found = {
        case: np.array([campaign.ratio(record, case[0], seed, *case[1:]) for seed in _seeds(case[2])]) for case in runs
    }
    beside = {fault: campaign.ratio(record, "right", 0, fault, updater="ANN1 anchored")[None] for fault in FAULTS}
    return found, beside


def _seeds(level):
    return SEEDS if level == 60.0 else SEEDS[:1]
