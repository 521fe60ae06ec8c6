r"""Unscented Kalman filters for the parameters of a device law, as blocks on the bus.

The parameters :math:`\theta` follow a random walk and the measured force is the law's own,

.. math:: \theta_{k+1} = \theta_k + w_k, \qquad f_{m,k} = h(\theta_k; x_k, u_k) + e_k,

where *h* advances the law by one tick from its stored state :math:`x_k`. All sigma points start from this one
state, and after the update the state advances once, with the updated parameters: the hidden variables of the law
are not filtered. That suits a law whose state is a force or a deflection that its parameters act on at once, such as
LuGre and the Maxwell damper. It does not suit a parameter that acts through a dimensionless state only, such as the
yield deformation of Bouc-Wen: one tick from a given z shows the product k d_y, and the two drift apart.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.updating.filter_step import BOUNDS, REACH, REPAIRS, filter_step, places

__all__ = ["covariance", "unscented"]


def unscented(law: Instance, free: Mapping[str, tuple[float, float]], *, noise: float,
              process: float | Mapping[str, float] = 1e-3, initial_std: float | Mapping[str, float] = 0.1,
              alpha: float = 1e-3, beta: float = 2.0, kappa: float = 0.0, bounds: str | None = "clip",
              repair: str = "square-root") -> Instance:  # fmt: skip
    r"""A filter that follows the free parameters of a law, from its measured inputs and force.

    Inputs are those of the law and the measured force ``f_m``. Outputs are the free parameters under their own names,
    ``f`` (the law's force with the updated parameters) and ``innovation`` (measured less predicted force). Connect
    it with `hyloop.loop.Wired` and send the parameters to the models that shall follow.

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
    bounds : {"clip", "transform", "shrink", None}
        ``"clip"`` holds the mean inside the bounds. ``"transform"`` filters the logit of the place between the
        bounds, so that the sigma points stay inside as well. ``"shrink"`` lowers the spread by tenths until all
        sigma points are inside, as in the papers; it is absorbing: on a bound the spread is zero and the filter
        rests there for good. None lets the parameters go anywhere.
    repair : {"square-root", "nearest", "none"}
        ``"square-root"`` carries a factor of the covariance, which cannot lose definiteness. ``"nearest"`` carries the
        covariance and replaces one that is not definite by the nearest that is, eigenvalues lifted to 1e-11, or else by
        the last good one. ``"none"`` does nothing, and the outputs are nan from then on.

    Notes
    -----
    Each parameter is carried as a multiple of its starting value (of the width of its bounds where it starts at
    zero), so that a stiffness of 1e8 and an exponent of 0.4 live together. With
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
    block, where = law.block, f"unscented({law.block.name})"
    if bounds not in BOUNDS:
        raise UnknownName("bound rule", str(bounds), [str(key) for key in BOUNDS], where=where)
    if repair not in REPAIRS:
        raise UnknownName("covariance repair", repair, REPAIRS, where=where)
    names = tuple(free)
    _check_law(block, names, where)
    _positive(noise, "noise", where)
    spread = _positive(alpha, "alpha", where) * math.sqrt(_positive(len(names) + kappa, "number of parameters + kappa",
                                                                    where))  # fmt: skip
    if not beta >= alpha * alpha:
        raise OutOfBounds(
            f"{where}: beta = {beta!r} must be at least alpha squared, or a variance may become negative."
        )
    settings: dict[str, float] = {key: value for key, value in law.params.items() if key not in names}
    settings |= {"ukf_noise": noise, "ukf_spread": spread, "ukf_curvature": beta - alpha * alpha}
    initial: dict[str, float] = {f"x_{key}": value for key, value in law.initial.items()}
    deviations = _each(initial_std, names, "initial_std", where)
    for i, (key, walk) in enumerate(_each(process, names, "process", where).items()):
        start, (low, high) = law.params[key], _interval(block.params[key], law.params[key], free[key], f"{where}.{key}")
        scale = abs(start) or high - low
        if not math.isfinite(scale):
            raise BadInput(
                f"{where}.{key} starts at zero, so its scale is the width of its bounds; give finite bounds."
            )
        m = start / scale
        if bounds == "transform":
            m, scale = _logit(start, low, high, scale, f"{where}.{key}")
        if not walk >= 0.0 or not deviations[key] > 0.0:
            raise OutOfBounds(f"{where}.{key}: process = {walk!r} must not be negative and initial_std = "
                              f"{deviations[key]!r} must be positive.")  # fmt: skip
        settings |= {f"{key}_scale": scale, f"{key}_low": low, f"{key}_high": high, f"{key}_process": walk}
        initial[f"m_{key}"] = m
        size = deviations[key] if repair == "square-root" else deviations[key] ** 2
        initial |= {f"S_{i}_{i}": size, f"good_{i}_{i}": size}
    return _block(block, names, BOUNDS[bounds], REPAIRS[repair])(initial=initial, **settings)


def covariance(filtered: Instance, states: Mapping[str, Any]) -> np.ndarray:
    """Covariance of the carried parameters, (..., n, n), from the states that `Instance.drive` returns.

    The carried numbers are multiples of the starting values; with ``bounds="transform"`` only to first order.
    """
    n = sum(key.startswith("m_") for key in filtered.block.state)
    S = np.stack([np.stack([states[f"S_{i}_{j}"] for j in range(n)], -1) for i in range(n)], -2)
    return S @ np.swapaxes(S, -1, -2) if "square-root" in filtered.block.flags else S


def _check_law(block: Block, names: tuple[str, ...], where: str) -> None:
    if "f" not in block.outputs:
        raise BadInput(f"{where}: {block.name} has no output 'f' to compare with a measured force.")
    if not names:
        raise BadInput(f"{where}: name at least one free parameter of {', '.join(block.params)}.")
    for key in names:
        if key not in block.params:
            raise UnknownName("parameter", key, block.params, where=where)
    if "f_m" in block.inputs:
        raise BadInput(f"{where}: {block.name} already has an input 'f_m', the name of the measured force.")


def _positive(value: float, name: str, where: str) -> float:
    if not (value > 0.0 and math.isfinite(value)):
        raise OutOfBounds(f"{where}: {name} = {value!r} must be positive and finite.")
    return float(value)


def _each(value: float | Mapping[str, float], names: tuple[str, ...], what: str, where: str) -> dict[str, float]:
    """One number for every free parameter, given as one for all or by name."""
    if not isinstance(value, Mapping):
        return dict.fromkeys(names, float(value))
    for key in value:
        if key not in names:
            raise UnknownName("free parameter", key, names, where=f"{where}: {what}")
    missing = [key for key in names if key not in value]
    if missing:
        raise BadInput(f"{where}: {what} lacks {', '.join(missing)}; give a number for every free parameter.")
    return {key: float(value[key]) for key in names}


def _interval(spec: Param, start: float, interval: Any, where: str) -> tuple[float, float]:
    try:
        low, high = (float(bound) for bound in interval)
    except (TypeError, ValueError) as error:
        raise BadInput(f"{where}: bounds must be a pair (low, high), got {interval!r}.") from error
    if not low < high or low < spec.low or high > spec.high:
        raise OutOfBounds(f"{where}: bounds ({low:g}, {high:g}) must be in order and inside those of the law, "
                          f"[{spec.low:g}, {spec.high:g}].")  # fmt: skip
    if not low <= start <= high:
        raise OutOfBounds(f"{where} starts at {start:g}, outside its bounds ({low:g}, {high:g}). Widen them or start "
                          "inside.")  # fmt: skip
    return low, high


def _logit(start: float, low: float, high: float, unit: float, where: str) -> tuple[float, float]:
    """Carried number and scale, such that a small change of the carried number is a change in `unit` at the start."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise BadInput(f"{where}: bounds='transform' needs finite bounds, got ({low:g}, {high:g}).")
    place = (start - low) / (high - low)
    if not abs(2.0 * place - 1.0) < math.tanh(REACH / 2.0):
        raise OutOfBounds(f"{where} starts at {start:g}, on a bound or next to it; bounds='transform' needs a start "
                          f"clearly inside ({low:g}, {high:g}).")  # fmt: skip
    scale = unit / ((high - low) * place * (1.0 - place))
    return math.log(place / (1.0 - place)) / scale, scale


@cache
def _block(law: Block, names: tuple[str, ...], bounds: int, repair: int) -> Block:
    n, order = len(names), list(law.params)
    params = {key: spec for key, spec in law.params.items() if key not in names}
    params |= {
        "ukf_noise": Param("N", 1.0, 0.0, about="standard deviation of the measured force"),
        "ukf_spread": Param("-", 1.0, 0.0, about="distance of the sigma points in standard deviations"),
        "ukf_curvature": Param("-", 1.0, 0.0, about="beta - alpha^2"),
    }
    for key in names:
        unit = law.params[key].unit
        params |= {
            f"{key}_scale": Param(unit, 1.0, about=f"{key} over the carried number (of its logit: transform)"),
            f"{key}_low": Param(unit, -np.inf, about=f"lower bound of {key}"),
            f"{key}_high": Param(unit, np.inf, about=f"upper bound of {key}"),
            f"{key}_process": Param("-", 0.0, 0.0, about=f"random walk of {key} in a tick"),
        }
    square = [f"{i}_{j}" for i in range(n) for j in range(n)]
    state = [*(f"m_{key}" for key in names), *(f"S_{ij}" for ij in square), *(f"x_{key}" for key in law.state)]
    state += [f"good_{ij}" for ij in square]
    state += [f"work_{k}" for k in range(places(law, n).size - len(state))]
    make = inplace_block(
        inputs={**law.inputs, "f_m": "N"},
        outputs={**{key: law.params[key].unit for key in names}, "f": "N", "innovation": "N"},
        params=params,
        state=dict.fromkeys(state, "-"),
        reference="Wan and van der Merwe 2000, doi:10.1109/ASSPCC.2000.882463",
        flags=next(key for key, code in REPAIRS.items() if code == repair),
    )
    step = filter_step(law, tuple(order.index(key) for key in names), bounds, repair)
    return replace(make(step), name=f"unscented({law.name})")
