r"""Ensemble Kalman filter: models of one device side by side, each with its own parameters and its own state.

Where the unscented filter places its points, the ensemble carries its members on from tick to tick. No derivative, no
covariance and no choice of filtered states is needed, so it suits laws with gaps, stops and other corners. The price
is sampling error, which falls with the square root of the number of members.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.core.noise import normal_pair
from hyloop.errors import OutOfBounds
from hyloop.updating.filters.ensemble_step import ensemble_memory, ensemble_step
from hyloop.updating.filters.parameters import (
    CLIP,
    TRANSFORM,
    carried_params,
    check_choice,
    fixed_params,
    free_parameters,
    kept,
    positive,
)

__all__ = ["ensemble"]

BOUNDS = {None: 0, "clip": CLIP, "transform": TRANSFORM}


def ensemble(
    law: Instance,
    free: Mapping[str, tuple[float, float]],
    *,
    noise: float,
    members: int = 16,
    process: float | Mapping[str, float] = 1e-3,
    initial_std: float | Mapping[str, float] = 0.1,
    bounds: str | None = "clip",
    seed: int = 0,
) -> Instance:
    r"""Follow the free parameters of a law with an ensemble of models.

    Inputs and outputs are those of `unscented`; ``f`` is the force believed after the measurement. Parameters are the
    means over the members.

    Parameters
    ----------
    law, free, noise, process, initial_std
        As in `unscented`.
    members : int
        Number of models, more than there are free parameters.
    bounds : {"clip", "transform", None}
        ``"clip"`` holds every member inside the bounds, ``"transform"`` carries logits, None lets them go anywhere.
    seed : int
        Names the random walk. Every number depends on the seed and on the count of ticks only, so that a resumed run
        goes on bit for bit.

    Notes
    -----
    The members start with exactly the mean and the covariance given, walk at random, and advance through the law.
    With their forces :math:`f_j`, the mean :math:`\bar f`, the variance :math:`s_f^2` and the covariance *c* of an
    unknown *a* (parameter or state) with the force, every member moves by

    .. math:: a_j \leftarrow a_j + k\,(f_m - \bar f) - \frac{k}{1 + \sqrt{\sigma^2/s^2}}\,(f_j - \bar f), \qquad
        k = \frac{c}{s^2}, \qquad s^2 = s_f^2 + \sigma^2

    which gives mean and covariance of the Kalman filter without perturbing the measurement.

    References
    ----------
    Evensen (1994), doi:10.1029/94JC00572; Whitaker, Hamill (2002),
    doi:10.1175/1520-0493(2002)130<1913:EDAWPO>2.0.CO;2.
    """
    where = f"ensemble({law.block.name})"
    check_choice("bound rule", bounds, BOUNDS, where)
    carried = free_parameters(law, free, process, initial_std, bounds == "transform", where)
    if int(members) != members or members <= len(carried):
        raise OutOfBounds(
            f"{where}: members = {members!r} must be a whole number above that of the free parameters, "
            f"{len(carried)}; take 16 or more."
        )
    if int(seed) != seed or not 0 <= seed < 2**52:
        raise OutOfBounds(f"{where}: seed = {seed!r} must be a whole number from 0 to 2^52.")
    settings = kept(law, carried) | {"enkf_noise": positive(noise, "noise", where), "enkf_seed": float(seed)}
    draws = _normal(int(members), len(carried), seed)
    initial = {
        f"m_{key}_{j}": parameter.m + parameter.std * draws[j, i]
        for i, (key, parameter) in enumerate(carried.items())
        for j in range(int(members))
    }
    initial |= {f"x_{key}_{j}": start for j in range(int(members)) for key, start in law.initial.items()}
    initial["drawn"] = float(draws.size)
    return _block(law.block, tuple(carried), BOUNDS[bounds], int(members))(initial=initial, **settings)


def _normal(members: int, n: int, seed: int) -> np.ndarray:
    """Random numbers (members, n) whose sample mean is zero and whose sample covariance is the unit matrix."""
    pairs = np.array([normal_pair(float(seed), float(k)) for k in range(members * n)])
    raw = pairs[:, 0].reshape(members, n)
    return np.linalg.qr(raw - raw.mean(axis=0))[0] * np.sqrt(members - 1.0)


@cache
def _block(law: Block, names: tuple[str, ...], bounds: int, members: int) -> Block:
    order = list(law.params)
    params = fixed_params(law, names) | {
        "enkf_noise": Param("N", 1.0, 0.0, about="standard deviation of the measured force"),
        "enkf_seed": Param("-", 0.0, 0.0, 2.0**52, about="whole number that names the random walk"),
    }
    state = [f"m_{key}_{j}" for key in names for j in range(members)]
    state += [f"x_{key}_{j}" for j in range(members) for key in law.state]
    state += ["drawn"]
    _, size = ensemble_memory(law, len(names), members)
    make = inplace_block(
        inputs={**law.inputs, "f_m": "N"},
        outputs={**{key: law.params[key].unit for key in names}, "f": "N", "innovation": "N"},
        params=params | carried_params(law, names),
        state=dict.fromkeys([*state, *(f"work_{k}" for k in range(size - len(state)))], "-"),
        reference="Evensen 1994, doi:10.1029/94JC00572",
        flags="ensemble",
    )
    step = ensemble_step(law, tuple(order.index(key) for key in names), bounds, members)
    return replace(make(step), name=f"ensemble({law.name})", tick=law.tick)
