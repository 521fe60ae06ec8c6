"""Is the cause of what is measured named rightly? Drawn sensor faults and drawn devices."""

from pathlib import Path

import numpy as np

from hyloop.updating.networks.diagnosis import CAUSES

from .cases import BETA, DURATION, GAMMA, K0, UPDATERS, built, forces, instrument, loop_of, network

DRAWN = ("none", "offset", "drift", "delay", "other device")
SNR = 60.0  # dB
# ranges that are drawn from, uniformly, with either sign where there is one; of the peak force
RANGES = {"offset": (0.0075, 0.03), "drift": (0.015, 0.06), "delay": (0.5, 3.0)}


def drawn(rng, cause, peak):
    """Settings of the sensor, and changes of the true device."""
    sign = rng.choice([-1.0, 1.0])
    if cause == "offset":
        return {"offset_f": sign * rng.uniform(*RANGES[cause]) * peak}, ()
    if cause == "drift":
        return {"drift_f": sign * rng.uniform(*RANGES[cause]) * peak / DURATION}, ()
    if cause == "delay":
        return {"delay_f": rng.uniform(*RANGES[cause])}, ()
    if cause == "other device":
        strength, stiffness = (1.0 + rng.choice([-1.0, 1.0]) * rng.uniform(0.2, 0.4) for _ in range(2))
        which = rng.integers(3)  # strength, stiffness or both
        strength, stiffness = 1.0 if which == 1 else strength, 1.0 if which == 0 else stiffness
        of = {"k0": stiffness * K0, "beta": BETA * stiffness / strength, "gamma": GAMMA * stiffness / strength}
        return {}, tuple(f"sites.brace{k}.device.{key}={value}" for k in (1,) for key, value in of.items())
    return {}, ()


def name_causes(folder, records, count, seed):
    """Table of counts, (drawn, named), over `count` cases."""
    rng, table = np.random.default_rng(seed), np.zeros((len(DRAWN), len(CAUSES)), dtype=int)
    for k in range(count):
        cause, record = DRAWN[k % len(DRAWN)], records[int(rng.integers(len(records)))]
        fault, device = drawn(rng, cause, built(record)[2])
        made, size, _ = built(record, device) if device else built(record)
        trained = network(Path(folder), "right", int(rng.integers(3)))
        instruments = instrument(size, SNR, k, **fault)
        loop = loop_of(made, instruments, trained.device(), UPDATERS["default"](trained))
        run = forces(loop, made, "updater.cause")[1]
        table[DRAWN.index(cause), int(run["updater.cause"][-1])] += 1
    return table


def rightly(table):
    """Share of causes named rightly. A motion beyond the training is neither a fault of a sensor nor another device."""
    right = sum(table[k, CAUSES.index(cause)] for k, cause in enumerate(DRAWN))
    return (right + table[DRAWN.index("none"), CAUSES.index("beyond the training")]) / table.sum()
