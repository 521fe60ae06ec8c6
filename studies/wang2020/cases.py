"""The frame with networks or filtered models in place of eleven braces, and what the updaters hear."""

from dataclasses import replace

import numpy as np

from hyloop.devices import bilinear
from hyloop.loop import FreeBlock, Loop
from hyloop.metrics import running_rmsd
from hyloop.updating import filtered_network, forgetting_network, unscented

ELEMENTS = (2, 4, 6, 8, 10, 12)  # one brace of each story, as in Table 5
K0, ALPHA = 74227e3, 0.01

# Every case of an updated network: the pre-trained network, and the standard deviations of the noise in f and d.
NETWORKS = {
    "Offline": lambda network, f, d: None,
    "ANN1": lambda network, f, d: forgetting_network(network, fallback=False),
    "ANN2": lambda network, f, d: forgetting_network(network, window=1, fallback=False),
    "ANN1 anchored": lambda network, f, d: forgetting_network(network, anchor=1e-2),
    "last layer": lambda network, f, d: filtered_network(network, noise=f, noise_d=d, adapt="output"),
    "default": lambda network, f, d: filtered_network(network, noise=f, noise_d=d),
}


def with_models(built, device, updater=None, sensor=None):
    """The frame of an experiment with one device law at all braces but the first, kept true by an updater.

    The models share their parameters. `sensor` stands between the first brace and the updater; the structure feels the
    true force.
    """
    sites = []
    for site in built.loop.sites:
        shares = None if site.name == "brace2" else "brace2"
        sites.append(site if site.physical else replace(site, device=device, shares=shares))
    blocks, heard = [], {"d": "brace1.d", "f_m": "brace1.f"}
    if sensor is not None:
        blocks.append(FreeBlock("sensor", sensor, {"d": "brace1.d", "f": "brace1.f"}))
        heard = {"d": "sensor.d", "f_m": "sensor.f"}
    if updater is not None:
        targets = {key: f"brace2.{key}" for key in updater.block.outputs if key in device.params}
        blocks.append(FreeBlock("updater", updater, heard, targets))
    loop = built.loop
    return Loop(loop.structure, sites, method=loop.method, dt=loop.dt, blocks=blocks)


def forces(loop, built):
    """Force of one brace of each story, (N, 6); nan from a failure on."""
    rows = np.full((len(built.excitation), len(ELEMENTS)), np.nan)
    result = loop.run(built.excitation, record=[f"brace{k}.f" for k in ELEMENTS], on_fault="stop")
    rows[: len(result.time)] = np.column_stack([result[f"brace{k}.f"] for k in ELEMENTS])
    return rows


def errors(exact, ours):
    """RMSD at the end of the run and largest error in kN of every element; infinite where the run failed."""
    whole = np.isfinite(ours).all(0)
    rmsd = [running_rmsd(exact[:, k], ours[:, k])[-1] if whole[k] else np.inf for k in range(len(whole))]
    worst = np.where(whole, np.abs(exact - np.nan_to_num(ours)).max(0) / 1e3, np.inf)
    return np.array(rmsd), worst


def printed_filter(f_y):
    """The unscented filter of the paper on the bilinear law, Eqs. (17)-(20).

    Their units are not printed: the covariances are taken for those of scaled parameters and of a force in kN.
    """
    free = {"k": (1e-3 * K0, 10 * K0), "alpha": (0.0, 1.0), "f_y": (1e-3 * f_y, 10 * f_y)}
    model = bilinear(k=K0, alpha=ALPHA, f_y=f_y)
    stds = {"k": 1e-8**0.5, "alpha": 0.1**0.5, "f_y": 0.1**0.5}
    return model, unscented(model, free, noise=1e-9**0.5 * 1e3, process=0.0, initial_std=stds)
