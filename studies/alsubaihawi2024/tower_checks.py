"""The tower by itself: natural frequencies, condensation, and how large a step may be."""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from hyloop.buildings.tower import Tower, tower
from hyloop.devices import linearised, nonlinear_maxwell
from hyloop.files.load import load_experiment
from hyloop.loop import Loop
from hyloop.metrics import nrmse
from hyloop.study.build import build

from .events import overrides
from .hybrid import HERE, PLACES

# Table 4 of the paper, Hz; the models differ by the eccentricity of the masses and the number of dampers
PRINTED_FREQUENCIES = {"earthquake": (0.149, 0.213, 0.246, 0.570, 0.685), "wind": (0.150, 0.214, 0.241, 0.585, 0.683)}
MODELS = {"earthquake": ((0.05, 0.05), 5), "wind": ((0.0, 0.0), 3)}
AMPLITUDE, FREQUENCY = 0.025, 0.149  # m, Hz at which dampers are linearised
STEPS = (11, 8, 4, 2, 1)  # ticks in a step
COARSE = 88  # ticks from one compared row to the next: a multiple of every step
SHORT = 25.0  # s of a record, with its strong part


def frequencies(model: str) -> dict[str, Any]:
    """Natural frequencies in Hz with linearised dampers, and in which direction each mode moves the roof."""
    eccentricity, count = MODELS[model]
    layout = Tower(eccentricity=eccentricity)
    frame = tower(layout)
    s = frame.structure(condense=layout.retained)
    along = csr_array(np.array([frame.direction(s, column, tip, "uy") for column, tip in layout.dampers]))
    k, _ = linearised(nonlinear_maxwell(), AMPLITUDE, FREQUENCY)
    modes = s.modes(count * k * (along.T @ along), count=6)
    floors = [s.dof(f"floor{layout.levels}.{dof}") for dof in ("ux", "uz", "ry")]
    radius = layout.gyration * np.hypot(*layout.plan) / np.sqrt(12.0)
    moved = np.abs(modes.shapes[floors]) * np.array([[1.0], [1.0], [radius]])
    labels = [("N-S", "E-W", "torsion")[int(column.argmax())] for column in moved.T]
    return {"found": [float(w / (2 * np.pi)) for w in modes.omega], "labels": labels}


def shaken(ticks: float, record: str, words: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Floors, deformations and forces of dampers that are all as the model believes, without a laboratory."""
    step = [f"integrator.dt={ticks / 1024!r}", f"integrator.substeps={max(round(ticks), 1)}"]
    ready = build(load_experiment(HERE / "earthquake.toml", [*overrides(record), *step, *words]))
    sites = [_ideal(site) for site in ready.loop.sites]
    loop = Loop(ready.loop.structure, sites, method=ready.loop.method, dt=ready.loop.dt, substeps=max(round(ticks), 1))
    rows = ready.excitation[: round(SHORT / loop.dt) + 1]
    found = loop.run(rows, record=["u.floor*", *(f"{place}.{key}" for place in PLACES for key in "df")])
    every = round(COARSE / ticks)
    return {name: found[name][::every] for name in found.names}


def _ideal(site: Any) -> Any:
    return replace(site, device=nonlinear_maxwell(), physical=False, transfer={}, shares=None)


def convergence(record: str) -> dict[str, Any]:
    """Largest NRMSE in % against a step of half a tick, by step and kind of channel; and condensed against full."""
    truth = shaken(0.5, record)
    errors = {}
    for ticks in STEPS:
        found = shaken(ticks, record)
        n = min(len(next(iter(truth.values()))), len(next(iter(found.values()))))
        each = {name: 100 * nrmse(truth[name][:n], found[name][:n]) for name in truth}
        errors[str(ticks)] = {
            "floors": max(error for name, error in each.items() if name.startswith("u.")),
            "deformation": max(error for name, error in each.items() if name.endswith(".d")),
            "force": max(error for name, error in each.items() if name.endswith(".f")),
        }
    return errors


def condensed(record: str) -> float:
    """Largest difference of the condensed tower from the whole one, over the peak of each channel."""
    small, whole = (shaken(4, record, words) for words in ((), ('structure.condense=["*"]',)))
    return max(float(np.abs(small[k] - whole[k]).max() / np.abs(whole[k]).max()) for k in small)
