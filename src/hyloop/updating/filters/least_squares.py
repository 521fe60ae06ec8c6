r"""Recursive least squares with exponential forgetting, for any law.

Every tick minimises what the batch would, with the law linearised at the present estimate,

.. math:: \sum_{i \le k} \lambda^{k-i} \left(\frac{f_{m,i} - f_i(\theta)}{\sigma}\right)^2
    + \lambda^k (\theta - \theta_0)^T P_0^{-1} (\theta - \theta_0),

so that old samples fade with a memory of :math:`1/(1-\lambda)` ticks. There is no random walk: the forgetting takes its
place. As in `unscented` the law keeps one state, which advances with the updated parameters.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.errors import OutOfBounds
from hyloop.updating.filters.least_squares_step import least_squares_memory, least_squares_step
from hyloop.updating.filters.parameters import (
    CLIP,
    carried_params,
    check_choice,
    fixed_params,
    free_parameters,
    kept,
    positive,
)

__all__ = ["recursive_least_squares"]

BOUNDS = {None: 0, "clip": CLIP}


def recursive_least_squares(
    law: Instance,
    free: Mapping[str, tuple[float, float]],
    *,
    noise: float,
    forgetting: float = 0.999,
    initial_std: float | Mapping[str, float] = 0.1,
    bounds: str | None = "clip",
    windup: float = 1.0,
) -> Instance:
    r"""Follow the free parameters of a law by least squares that forget.

    Inputs and outputs are those of `unscented`.

    Parameters
    ----------
    law, free, noise, initial_std
        As in `unscented`. The noise weighs the data against the start.
    forgetting : float
        Weight :math:`\lambda` of a sample relative to the next; 1 forgets nothing.
    bounds : {"clip", None}
        ``"clip"`` holds the estimate inside the bounds.
    windup : float
        Without motion nothing new is learnt, the old fades and the covariance grows without limit, until the
        first movement throws the estimate anywhere. So a tick forgets only as long as the trace of the covariance
        stays below this multiple of the trace at the start. A single parameter that the motion does not show is
        enough to reach that trace, and then nothing is forgotten of the others either: leave such a one fixed.

    Notes
    -----
    With the sensitivities :math:`\varphi` of the force by central differences and :math:`P = S S^T`,

    .. math:: k = \frac{P \varphi}{\lambda \sigma^2 + \varphi^T P \varphi}, \qquad
        \theta \leftarrow \theta + k (f_m - f), \qquad P \leftarrow \frac{(I - k \varphi^T) P}{\lambda}

    on the factor S, which cannot lose definiteness. A sample that is not finite neither teaches nor fades.

    References
    ----------
    Ljung (1999), System Identification, 2nd ed., section 11.2; Astrom and Wittenmark (1995), Adaptive Control,
    section 11.5 (wind-up).
    """
    where = f"recursive_least_squares({law.block.name})"
    check_choice("bound rule", bounds, BOUNDS, where)
    carried = free_parameters(law, free, 0.0, initial_std, False, where)
    if not 0.0 < forgetting <= 1.0:
        raise OutOfBounds(f"{where}: forgetting = {forgetting!r} must be above 0 and at most 1, such as 0.999.")
    trace = sum(parameter.std**2 for parameter in carried.values())
    settings = kept(law, carried, walk=False) | {"rls_noise": positive(noise, "noise", where)}
    settings |= {"rls_forgetting": forgetting, "rls_trace": positive(windup, "windup", where) * trace}
    initial = {f"x_{key}": number for key, number in law.initial.items()}
    for i, (key, parameter) in enumerate(carried.items()):
        initial |= {f"m_{key}": parameter.m, f"S_{i}_{i}": parameter.std}
    return _block(law.block, tuple(carried), BOUNDS[bounds])(initial=initial, **settings)


@cache
def _block(law: Block, names: tuple[str, ...], bounds: int) -> Block:
    n, order = len(names), list(law.params)
    params = fixed_params(law, names) | {
        "rls_noise": Param("N", 1.0, 0.0, about="standard deviation of the measured force"),
        "rls_forgetting": Param("-", 0.999, 0.0, 1.0, about="weight of a sample relative to the next"),
        "rls_trace": Param("-", 1.0, 0.0, about="trace of the covariance above which nothing is forgotten"),
    }
    square = [f"{i}_{j}" for i in range(n) for j in range(n)]
    state = [*(f"m_{key}" for key in names), *(f"S_{ij}" for ij in square), *(f"x_{key}" for key in law.state)]
    _, size = least_squares_memory(law, n)
    make = inplace_block(
        inputs={**law.inputs, "f_m": "N"},
        outputs={**{key: law.params[key].unit for key in names}, "f": "N", "innovation": "N"},
        params=params | carried_params(law, names, walk=False),
        state=dict.fromkeys([*state, *(f"work_{k}" for k in range(size - len(state)))], "-"),
        reference="Ljung 1999, System Identification, section 11.2",
        flags="square-root",
    )
    step = least_squares_step(law, tuple(order.index(key) for key in names), bounds)
    return replace(make(step), name=f"recursive_least_squares({law.name})", tick=law.tick)
