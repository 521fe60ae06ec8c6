r"""A virtual banded rotary friction damper: what a test sees of one, with what it hides.

`brfd_gap_slip` and `brfd_stick_slip` are laws of `hyloop.devices.brfd_laws` with a pretension level, friction that
drifts with the energy dissipated, the tensions at the two band ends, and sensor noise. Their first output is the
force the structure feels; the others are what the sensors read. Slip position, energy and drift stay inside.
"""

import math
from typing import Any

import numpy as np

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.core.jit import jit
from hyloop.core.noise import normal_pair
from hyloop.devices.brfd_laws import gap_slip, placed, stick_slip
from hyloop.errors import BadInput, OutOfBounds, UnknownName

__all__ = ["brfd_gap_slip", "brfd_stick_slip", "draw_brfd", "draw_sibling"]

# F = 2.02 T2 - 1.88 T1 in the earthquake tests
_GAIN_1, _GAIN_2 = 1.88, 2.02

_SPECIMEN = {
    "level": Param("-", 1.0, low=1e-3, about="pretension over that of the friction levels given"),
    "A": Param("-", 0.0, low=-0.9, high=10.0, about="drift of the friction levels when all energy is spent"),
    "E0": Param("J", 2.5e3, low=1e-3, about="energy over which they drift, at level 1"),
    "t_rest": Param("N", 40.0, low=0.0, about="band tension at rest, at level 1"),
    "noise_f": Param("N", 3.6, low=0.0, about="standard deviation of the force reading"),
    "noise_d": Param("m", 1.4e-6, low=0.0, about="standard deviation of the deformation reading"),
    "noise_t": Param("N", 1.9, low=0.0, about="standard deviation of the tension readings"),
    "seed": Param("-", 0.0, low=0.0, high=2.0**52, about="whole number that names the noise"),
}
_SENSED = {"f": "N", "f_m": "N", "d_m": "m", "t1": "N", "t2": "N"}
_HIDDEN = {"E": "J", "count": "-"}
_REFERENCE = "Malik et al. 2025 (device in a hybrid test); Coble et al. 2024, doi:10.1016/j.ymssp.2024.111522 (tests)"

_gap_slip, _stick_slip = gap_slip.compiled, stick_slip.compiled
_GAP, _STICK = len(gap_slip.params), len(stick_slip.params)  # where the parameters of _SPECIMEN begin


@jit
def _friction(level, A, E0, E):
    """Factor on the friction levels after dissipating E."""
    return level * (1.0 + A * (1.0 - math.exp(-E / (E0 * level))))


@jit
def _sense(y, f, d, f_band, t_rest, noise_f, noise_d, noise_t, seed, count):
    n1, n2 = normal_pair(seed, 2.0 * count)
    n3, n4 = normal_pair(seed, 2.0 * count + 1.0)
    y[0] = f
    y[1] = f + noise_f * n1
    y[2] = d + noise_d * n2
    y[3] = (abs(f_band) - f_band) / (2.0 * _GAIN_1) + t_rest + noise_t * n3
    y[4] = (abs(f_band) + f_band) / (2.0 * _GAIN_2) + t_rest + noise_t * n4


@inplace_block(
    inputs=gap_slip.inputs,
    outputs=_SENSED,
    state={**gap_slip.state, **_HIDDEN},
    params={**gap_slip.params, **_SPECIMEN},
    reference=_REFERENCE,
    linear=gap_slip.linear,
    start=gap_slip.start,
)
def brfd_gap_slip(x, u, dt, p, y):
    r"""Virtual banded damper on the `gap_slip` law.

    .. math::

        F_c, \Delta F \to \lambda \left[1 + A (1 - e^{-E/(\lambda E_0)})\right] (F_c, \Delta F), \qquad
        \dot E = |\varphi \dot s|, \qquad
        T_{1,2} = \lambda T_0 + \max(\mp\varphi, 0) / (1.88, 2.02)

    with the level :math:`\lambda`. Outputs the force and the readings of force, deformation and both tensions, with
    white normal noise that depends on the seed and on the number of samples since the start only. SI units.

    References
    ----------
    Coble, Cao, Downey, Ricles (2024), doi:10.1016/j.ymssp.2024.111522.
    """
    level, A, E0, t_rest = p[_GAP], p[_GAP + 1], p[_GAP + 2], p[_GAP + 3]
    mu = _friction(level, A, E0, x[2])
    (f, f_band), (s, d) = _gap_slip(
        (x[0], x[1]),
        (u[0], u[1], u[2]),
        dt,
        (
            p[0],
            p[1],
            p[2],
            p[3],
            p[4],
            p[5],
            p[6],
            p[7],
            mu * p[8],
            mu * p[9],
            mu * p[10],
            mu * p[11],
            p[12],
            p[13],
            p[14],
            p[15],
            p[16],
            mu * p[17],
        ),
    )
    x[2] += abs(f_band * (s - x[0]))
    x[0], x[1] = s, d
    _sense(y, f, d, f_band, level * t_rest, p[_GAP + 4], p[_GAP + 5], p[_GAP + 6], p[_GAP + 7], x[3])
    x[3] += 1.0


@inplace_block(
    inputs={"d": "m", **stick_slip.inputs},
    outputs=_SENSED,
    state={**stick_slip.state, **_HIDDEN},
    params={**stick_slip.params, **_SPECIMEN},
    reference=_REFERENCE,
    linear=stick_slip.linear,
    start=stick_slip.start,
)
def brfd_stick_slip(x, u, dt, p, y):
    r"""Virtual banded damper on the `stick_slip` law: as `brfd_gap_slip`, with chatter.

    .. math::

        F_s, F_k \to \lambda \left[1 + A (1 - e^{-E/(\lambda E_0)})\right] (F_s, F_k), \qquad
        \dot E = |\sigma_g z (v - \dot b - \dot z)|

    The deformation is only measured, the velocity drives the device. SI units.

    References
    ----------
    Coble, Cao, Downey, Ricles (2024), doi:10.1016/j.ymssp.2024.111522.
    """
    level, A, E0, t_rest = p[_STICK], p[_STICK + 1], p[_STICK + 2], p[_STICK + 3]
    mu = _friction(level, A, E0, x[4])
    (f, f_band), (b, b_dot, z, v) = _stick_slip(
        (x[0], x[1], x[2], x[3]),
        (u[1], u[2]),
        dt,
        (
            p[0],
            p[1],
            p[2],
            p[3],
            p[4],
            p[5],
            mu * p[6],
            mu * p[7],
            mu * p[8],
            mu * p[9],
            p[10],
            p[11],
            p[12],
            p[13],
            p[14],
            p[15],
            p[16],
            p[17],
            p[18],
            p[19],
        ),
    )
    # travel of the drum less that of the band and of the bristle is slip
    slip = 0.5 * (v + x[3]) * dt - (b - x[0]) - (z - x[2])
    x[4] += abs(p[14] * z * slip)
    x[0], x[1], x[2], x[3] = b, b_dot, z, v
    f += u[0] - u[0]  # nothing, unless the deformation is broken: that must not pass unnoticed
    _sense(y, f, u[0], f_band, level * t_rest, p[_STICK + 4], p[_STICK + 5], p[_STICK + 6], p[_STICK + 7], x[5])
    x[5] += 1.0


_BLOCKS: dict[str, Block] = {"gap-slip": brfd_gap_slip, "stick-slip": brfd_stick_slip}
_LEVEL = 23e3
# The tests were made near 13 to 20 kN. For a device of 23 kN the friction levels are set by hand (gap-slip), or each
# direction is scaled so that its static friction is 23 kN (stick-slip); viscous part and mass are nearer to those read
# from the tensions. Band tension at rest is the capacity over the amplification of the device, about 140.
_AT_LEVEL: dict[str, dict[str, float]] = {
    "gap-slip": {"Fc_pos": 20e3, "dF_pos": 1.8e3, "Fc_neg": 17e3, "dF_neg": 6e3, "c": 5e3, "m": 200.0},
    "stick-slip": {"Fs_pos": 23e3, "Fk_pos": 16.2e3, "Fs_neg": 23e3, "Fk_neg": 12.6e3, "c": 5e3, "m": 200.0},
}
_FRICTION = {
    "gap-slip": (("Fc_pos", "dF_pos"), ("Fc_neg", "dF_neg")),
    "stick-slip": (("Fs_pos", "Fk_pos"), ("Fs_neg", "Fk_neg")),
}


def draw_brfd(
    rng: np.random.Generator,
    law: str = "gap-slip",
    level: float | None = None,
    *,
    friction: float = 0.12,
    gap: float = 0.3e-3,
    stiffness: float = 0.0,
    drift: float = 0.10,
    centred: float | None = None,
    **fixed: float,
) -> Instance:
    """Draw one run of a virtual banded damper; every spread is the half width of a uniform distribution.

    Parameters
    ----------
    rng
        Source of the draw, and of the seed of the noise.
    law
        ``"gap-slip"`` or ``"stick-slip"``.
    level
        Capacity in N (13e3, 18e3 or 23e3 in the hybrid tests). None is the device as fitted to the tests.
    friction
        Relative spread of the friction levels, one draw for each direction. The default is judged from repeated
        tests; 0.25 makes the devices of a study differ more than those.
    gap
        Spread of the backlash in m.
    stiffness
        Relative spread of the taut stiffness, one draw for each direction.
    drift
        Spread of the drift ``A``.
    centred
        The band starts within this distance in m of the middle of the backlash; None: anywhere in it.
    **fixed
        Parameters that are given, not drawn.
    """
    if law not in _BLOCKS:
        raise UnknownName("law", law, _BLOCKS, where="draw_brfd")
    if level is not None and not level > 0.0:
        raise OutOfBounds(f"draw_brfd: level = {level:g} N must be positive. Give a capacity in N, such as 23e3.")
    block = _BLOCKS[law]
    params: dict[str, Any] = {key: spec.default for key, spec in block.params.items()}
    if level is not None:
        params.update(_AT_LEVEL[law], level=level / _LEVEL, t_rest=_LEVEL / 140.0)
    for side in _FRICTION[law]:
        factor = 1.0 + friction * rng.uniform(-1.0, 1.0)
        params.update({key: params[key] * factor for key in side})
    params["gn"] += gap * rng.uniform(-1.0, 1.0)  # only the sum gp + gn matters
    for key in ("kp", "kn"):
        params[key] *= 1.0 + stiffness * rng.uniform(-1.0, 1.0)
    params["A"] = drift * rng.uniform(-1.0, 1.0)
    params["seed"] = _seed(rng)
    return _put(rng, block(**{**params, **fixed}), centred)


def draw_sibling(
    rng: np.random.Generator, device: Instance, *, mismatch: float = 0.01, centred: float | None = None
) -> Instance:
    """Draw a second device of the same make (another story): its friction differs by up to `mismatch`.

    Starting position and noise are drawn anew, with `centred` as in `draw_brfd`.
    """
    law = next((name for name, block in _BLOCKS.items() if block is device.block), None)
    if law is None:
        raise BadInput(f"draw_sibling: {device.block.name} is not a virtual specimen. Give a device of draw_brfd.")
    params = dict(device.params)
    for side in _FRICTION[law]:
        factor = 1.0 + mismatch * rng.uniform(-1.0, 1.0)
        params.update({key: params[key] * factor for key in side})
    params["seed"] = _seed(rng)
    return _put(rng, device.block(**params), centred)


def _seed(rng: np.random.Generator) -> float:
    return float(rng.integers(2**52))


def _put(rng: np.random.Generator, device: Instance, centred: float | None) -> Instance:
    """Place the band in its backlash."""
    gp, gn = device.params["gp"], device.params["gn"]
    reach = 0.5 * (gp + gn) if centred is None else centred
    return placed(device, 0.5 * (gp - gn) + reach * rng.uniform(-1.0, 1.0))
