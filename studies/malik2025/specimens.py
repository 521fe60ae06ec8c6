"""Histories imposed on the virtual specimen: what a laboratory would measure at both places, one device draw a run.

Story 1 is the device that is measured, story 2 a second one of the same make, the truth to be predicted. A third
history is the measured device under an unrelated motion: a network that hears it can learn of the device and of nothing
that happens at the same time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hyloop.core.block import Instance
from hyloop.devices.brfd import draw_brfd, draw_sibling

from .frame import DT

NARROW = {"friction": 0.12, "gap": 0.3e-3, "stiffness": 0.06, "drift": 0.10}
WIDE = {"friction": 0.25, "gap": 0.8e-3, "stiffness": 0.12, "drift": 0.15}
CENTRED, MISMATCH = 0.5e-3, 0.01  # m from the middle of the backlash at the start; friction of the two devices
# what the virtual laboratory can hold: law and spread of the devices
SPECIMENS = {"wide": ("gap-slip", WIDE), "chatter": ("stick-slip", WIDE), "narrow": ("gap-slip", NARROW)}


@dataclass(frozen=True)
class Run:
    """One run: f, d, v, t1, t2 of the measured device (samples, 5), d, v of the other (samples, 2), and its force."""

    name: str
    event: str
    level: float
    heard: np.ndarray
    own: np.ndarray
    f: np.ndarray
    unrelated: np.ndarray


def moved(device: Instance, d: np.ndarray, dt: float = DT) -> dict[str, np.ndarray]:
    """Answer of a device to a deformation history, its velocity held within each tick as an actuator holds it."""
    v = np.diff(d, prepend=d[:1]) / dt
    a = np.diff(v, prepend=0.0) / dt
    signals = {"d": d, "v": v, "a": a}
    return device.drive(dt, **{key: signals[key] for key in device.block.inputs})


def heard(device: Instance, d: np.ndarray, dt: float = DT) -> np.ndarray:
    """What is measured of a device: force, deformation, velocity by backward difference of it, both tensions."""
    read = moved(device, d, dt)
    v = np.diff(read["d_m"], prepend=read["d_m"][:1]) / dt
    return np.column_stack([read["f_m"], read["d_m"], v, read["t1"], read["t2"]]).astype(np.float32)


def measure(
    kind: str,
    named: Sequence[tuple[str, str]],
    deformations: Sequence[np.ndarray],
    level: float,
    seed: int,
    dt: float = DT,
) -> list[Run]:
    """Runs of drawn devices; `named` has name and event of every deformation history, which has a row every `dt`."""
    law, spread = SPECIMENS[kind]
    rng = np.random.default_rng([seed, round(level)])
    runs = []
    for (name, event), d in zip(named, deformations, strict=True):
        device = draw_brfd(rng, law, level, centred=CENTRED, **spread)
        other = draw_sibling(rng, device, mismatch=MISMATCH, centred=CENTRED)
        again = draw_sibling(rng, device, mismatch=0.0, centred=CENTRED)
        strangers = [k for k, (_, theirs) in enumerate(named) if theirs != event]
        stranger = deformations[rng.choice(strangers)][:, 0]
        v = np.diff(d[:, 1], prepend=d[:1, 1]) / dt
        runs.append(
            Run(
                name,
                event,
                level,
                heard(device, d[:, 0], dt),
                np.column_stack([d[:, 1], v]).astype(np.float32),
                moved(other, d[:, 1], dt)["f"].astype(np.float32),
                heard(again, stranger, dt),
            )
        )
    return runs
