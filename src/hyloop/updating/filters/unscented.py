r"""Unscented Kalman filters for the parameters of a device law, as blocks on the bus.

The parameters :math:`\theta` follow a random walk and the measured force is the law's own,

.. math:: \theta_{k+1} = \theta_k + w_k, \qquad f_{m,k} = h(\theta_k; x_k, u_k) + e_k,

where *h* advances the law by one tick from its stored state :math:`x_k`. All sigma points start from this one
state, and after the update the state advances once, with the updated parameters: the hidden variables of the law
are not filtered. That suits a law whose state is a force or a deflection that its parameters act on at once, such as
LuGre and the Maxwell damper. It does not suit a parameter that acts through the memory of the law, such as the
yield deformation of Bouc-Wen: one tick from a given z shows the product k d_y, and the two drift apart. For such laws
name the states that shall be filtered together with the parameters (`states`): every sigma point then has its own.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.updating.filters.delay import delay_memory, delayed_step
from hyloop.updating.filters.filter_step import REPAIRS, filter_memory, filter_step
from hyloop.updating.filters.joint_step import joint_memory, joint_step
from hyloop.updating.filters.parameters import (
    CLIP,
    SHRINK,
    TRANSFORM,
    carried_params,
    check_choice,
    fixed_params,
    free_parameters,
    kept,
    positive,
)

__all__ = ["unscented"]

BOUNDS: Mapping[str | None, int] = {None: 0, "clip": CLIP, "shrink": SHRINK, "transform": TRANSFORM}
LONGEST = 4096  # ticks of delay; the inputs of all of them are kept in the state


def unscented(
    law: Instance,
    free: Mapping[str, tuple[float, float]],
    *,
    noise: float,
    process: float | Mapping[str, float] = 1e-3,
    initial_std: float | Mapping[str, float] = 0.1,
    alpha: float = 0.1,
    beta: float = 2.0,
    kappa: float = 0.0,
    bounds: str | None = "clip",
    repair: str = "square-root",
    states: Mapping[str, tuple[float, float]] | None = None,
    delay: float = 0.0,
) -> Instance:
    r"""A filter that follows the free parameters of a law, from its measured inputs and force.

    Inputs are those of the law and the measured force ``f_m``. Outputs are the free parameters under their own names,
    ``f`` (the law's force with the updated parameters) and ``innovation`` (measured less predicted force). Connect
    it with `hyloop.loop.FreeBlock` and send the parameters to the models that shall follow.

    Parameters
    ----------
    law : Instance
        The device law with its starting parameters; any block with an output ``f``.
    free : mapping of parameter to (low, high)
        Parameters to follow and their bounds, which contain the start and lie inside those of the law.
    noise : float
        Standard deviation of the measured force in N.
    process : float or mapping
        Standard deviation of the random walk in one tick, as a fraction of the starting value.
    initial_std : float or mapping
        Standard deviation of the starting value, as a fraction of it.
    alpha, beta, kappa : float
        Scaled unscented transform: sigma points lie :math:`\alpha\sqrt{L+\kappa}` standard deviations from the mean.
        The papers take alpha = 1e-3. So close together the second differences of the force drown in round-off, and
        for a linear law, where they should vanish, the filter differs from the Kalman filter by 1e-9; with 0.1 it is
        the same to 1e-12, and the points still lie well inside the spread of the parameters.
    bounds : {"clip", "transform", "shrink", None}
        ``"clip"`` holds the mean inside the bounds. ``"transform"`` filters the logit of the place between the
        bounds, so that the sigma points stay inside as well. ``"shrink"`` lowers the spread by tenths until all
        sigma points are inside, as in the papers; it is absorbing: on a bound there is no spread left to learn from
        and the filter rests there for good. None lets the parameters go anywhere.
    repair : {"square-root", "nearest", "none"}
        ``"square-root"`` carries a factor of the covariance, which cannot lose definiteness. ``"nearest"`` carries the
        covariance and replaces one that is not definite by the nearest that is, eigenvalues lifted to 1e-11, or else by
        the last good one. ``"none"`` does nothing, and the outputs are nan from then on.
    states : mapping of state to (initial, process)
        States of the law to filter with the parameters, such as ``{"z": (0.0, 1e-3)}``: standard deviation at the
        start, and of what the law does not know of its own state in a tick, both in the unit of the state. States
        that the inputs determine, such as the last deformation, are left out. Needs the square-root form and not
        ``"shrink"``; ``f`` is then the force believed after the measurement. A law with a corner, such as the
        bilinear one, needs sigma points that reach across it (`alpha` = 0.5).
    delay : float
        Ticks, whole or not, by which the measured force comes later than the inputs it belongs to. The filter then
        works with the inputs of that time, and ``f`` is the force of that time.

    Notes
    -----
    Parameters are carried as multiples of their starting values (`hyloop.updating.filters.parameters`). With
    :math:`\lambda = \alpha^2(L+\kappa) - L`, :math:`W_0^m = \lambda/(L+\lambda)`,
    :math:`W_0^c = W_0^m + 1 - \alpha^2 + \beta`, :math:`W_i = 1/(2(L+\lambda))`, columns :math:`l_j` of the Cholesky
    factor of :math:`P + Q` and :math:`\gamma = \sqrt{L+\lambda}`, the weighted sums are, exactly,

    .. math::

        g_j = \frac{h_j^+ - h_j^-}{2\gamma},\quad c_j = \frac{h_j^+ + h_j^- - 2h_0}{2\gamma},\quad
        b = \sum_j \frac{c_j}{\gamma},\quad \hat f = h_0 + b,\quad P_{xy} = L g,\quad
        P_{yy} = g^T g + c^T c + (\beta - \alpha^2) b^2 + R

    which cancels nothing and shows that :math:`P_{yy} > g^T g`, hence that
    :math:`P^+ = L(I - g g^T/P_{yy})L^T` is positive definite. A sample that is not finite changes no parameter.
    With wide sigma points (`alpha` near 1) ``"clip"`` may ask the law for values outside the bounds; a tick where it
    has no finite answer teaches nothing.

    References
    ----------
    Wan, van der Merwe (2000), doi:10.1109/ASSPCC.2000.882463; van der Merwe, Wan (2001),
    doi:10.1109/ICASSP.2001.940586; Al-Subaihawi et al. (2024) for the constrained form.
    """
    where, memory = f"unscented({law.block.name})", dict(states or {})
    check_choice("bound rule", bounds, BOUNDS, where)
    check_choice("covariance repair", repair, REPAIRS, where)
    carried = free_parameters(law, free, process, initial_std, bounds == "transform", where)
    _check_states(law.block, memory, bounds, repair, where)
    if not 0.0 <= delay <= LONGEST:
        raise OutOfBounds(f"{where}: delay = {delay!r} ticks must lie between 0 and {LONGEST}.")
    unknowns = len(carried) + len(memory)
    spread = positive(alpha, "alpha", where) * math.sqrt(
        positive(unknowns + kappa, "number of unknowns + kappa", where)
    )
    if not alpha * alpha <= beta < math.inf:
        raise OutOfBounds(
            f"{where}: beta = {beta!r} must be at least alpha squared, or a variance may become negative."
        )
    settings = kept(law, carried) | {
        "ukf_noise": positive(noise, "noise", where),
        "ukf_spread": spread,
        "ukf_curvature": beta - alpha * alpha,
    }
    settings |= {f"x_{key}_process": walk for key, (_, walk) in memory.items()}
    settings |= {"ukf_delay": delay} if delay else {}
    initial = {f"x_{key}": number for key, number in law.initial.items()}
    initial |= {f"m_{key}": parameter.m for key, parameter in carried.items()}
    if memory:  # every tick ends with the random walk, so the first one begins after it
        deviations = [math.hypot(std, walk) for *_, walk, std in carried.values()]
        deviations += [math.hypot(std, walk) for std, walk in memory.values()]
    else:
        deviations = [parameter.std if repair == "square-root" else parameter.std**2 for parameter in carried.values()]
        initial |= {f"good_{i}_{i}": variance for i, variance in enumerate(deviations)}
    initial |= {f"S_{i}_{i}": number for i, number in enumerate(deviations)}
    block = _block(law.block, tuple(carried), BOUNDS[bounds], REPAIRS[repair], tuple(memory), math.ceil(delay))
    return block(initial=initial, **settings)


def _check_states(
    block: Block, states: Mapping[str, tuple[float, float]], bounds: str | None, repair: str, where: str
) -> None:
    for key, pair in states.items():
        if key not in block.state:
            raise UnknownName("state", key, block.state, where=where)
        if np.shape(pair) != (2,) or not 0.0 <= pair[0] < math.inf or not 0.0 < pair[1] < math.inf:
            raise OutOfBounds(
                f"{where}: states[{key!r}] = {pair!r} must be two standard deviations in "
                f"{block.state[key]}: at the start, not negative; of one tick, positive."
            )
    if states and (repair != "square-root" or bounds == "shrink"):
        raise BadInput(
            f"{where}: filtered states need repair='square-root' and bounds 'clip', 'transform' or None; "
            f"got {repair!r} and {bounds!r}."
        )


@cache
def _block(law: Block, names: tuple[str, ...], bounds: int, repair: int, states: tuple[str, ...], depth: int) -> Block:
    n, unknowns, order = len(names), len(names) + len(states), list(law.params)
    params = fixed_params(law, names) | {
        "ukf_noise": Param("N", 1.0, 0.0, about="standard deviation of the measured force"),
        "ukf_spread": Param("-", 1.0, 0.0, about="distance of the sigma points in standard deviations"),
        "ukf_curvature": Param("-", 1.0, 0.0, about="beta - alpha^2"),
    }
    params |= carried_params(law, names)
    params |= {
        f"x_{key}_process": Param(law.state[key], 1.0, 0.0, about=f"unknown to the law in {key}") for key in states
    }
    square = [f"{i}_{j}" for i in range(unknowns) for j in range(unknowns)]
    state = [*(f"m_{key}" for key in names), *(f"S_{ij}" for ij in square), *(f"x_{key}" for key in law.state)]
    free = tuple(order.index(key) for key in names)
    if states:
        _, size = joint_memory(law, n, len(states))
        step = joint_step(law, free, tuple(list(law.state).index(key) for key in states), bounds)
    else:
        _, size = filter_memory(law, n)
        state += [f"good_{ij}" for ij in square]
        step = filter_step(law, free, bounds, repair)
    if depth:
        step = delayed_step(step, size, len(params), len(law.inputs), depth)
        _, size = delay_memory(size, len(law.inputs), depth)
        params["ukf_delay"] = Param("-", float(depth), 0.0, float(depth), about="ticks by which the force comes late")
    state += [f"work_{k}" for k in range(size - len(state))]
    make = inplace_block(
        inputs={**law.inputs, "f_m": "N"},
        outputs={**{key: law.params[key].unit for key in names}, "f": "N", "innovation": "N"},
        params=params,
        state=dict.fromkeys(state, "-"),
        reference="Wan and van der Merwe 2000, doi:10.1109/ASSPCC.2000.882463",
        flags=next(key for key, code in REPAIRS.items() if code == repair),
    )
    return replace(make(step), name=f"unscented({law.name})", tick=law.tick)
