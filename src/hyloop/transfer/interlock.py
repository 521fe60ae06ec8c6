r"""The interlock of a rig: it passes the command on while all is well, and else goes to a stated safe state.

It stands between compensator and actuator. In every tick it looks at the command and at what was measured in the tick
before. From the first tick on in which something is wrong it no longer listens to the command, and moves its own to the
safe state along a ramp. It never goes back by itself.

What comes late or is led wrongly by the actuator adds energy that no structure has given. With the force *f* that was
measured, the motion *d* that was wanted and the motion *m* that was achieved, the specimen has been given
:math:`\int f\,dm` and the structure has given :math:`\int f\,dd`, so that

.. math:: A = \int f\,(dm - dd)

was added [1]_. The indicator is the part of that in all work that went in and out, both of the last seconds,

.. math:: \eta = \frac{\int e^{-(t-s)/T} f\,(dm - dd)}{\int e^{-(t-s)/T} |f\,dd| + W_0}

and :math:`W_0` keeps it small while hardly anything moves. A spring behind a delay :math:`\tau` that moves with
:math:`\omega` adds :math:`\pi k a^2 \sin\omega\tau` in a cycle of amplitude *a*, a dashpot
:math:`\pi c\,\omega a^2 (1 - \cos\omega\tau)`; with :math:`\varepsilon = \omega\tau`, in the mean over a cycle,

.. math:: \eta_k = \frac{\pi}{2}\,\frac{\sin\varepsilon}{\cos\varepsilon + \varepsilon\sin\varepsilon}, \qquad
    \eta_c = \frac{\pi}{2}\,\frac{1 - \cos\varepsilon}{\sin\varepsilon + (\pi/2 - \varepsilon)\cos\varepsilon}

A spring that is the part :math:`\kappa` of the stiffness of a mode with the damping ratio :math:`\zeta` drives it to
grow from :math:`\kappa\sin\varepsilon = 2\zeta` on, that is, from about :math:`\eta = \pi\zeta/\kappa` on.

References
----------
.. [1] Mosqueda, Stojadinovic, Mahin (2007), "Real-time error monitoring for hybrid simulation. Part I: methodology and
   experimental verification", J. Struct. Eng. 133(8), 1100-1108,
   doi:10.1061/(ASCE)0733-9445(2007)133:8(1100).
"""

from dataclasses import replace

from hyloop.core.block import Block, Instance, Param, inplace_block
from hyloop.errors import BadInput, UnknownName
from hyloop.transfer import interlock_tick
from hyloop.transfer.interlock_tick import Kept, Told
from hyloop.transfer.saturation import LEAST, UNLIMITED

__all__ = ["SAFE_STATES", "interlock", "settings_fit"]

SAFE_STATES = {
    "hold": interlock_tick.HOLD,
    "zero displacement": interlock_tick.ZERO_DISPLACEMENT,
    "zero force": interlock_tick.ZERO_FORCE,
}
_NONE = float("nan")
_UNITS = ("-", "m", "m/s", "m", "m", "m", "N", "m", "s", "m", "s", "m", "s", "J", "J", "m", "N")
_UNITS += ("-", "-", "-", "-", "-", "-", "s", "-")

PARAMS = {
    "max_rate": Param("m/s", _NONE, LEAST, UNLIMITED, about="rate that the command never exceeds"),
    "safe_state": Param("-", _NONE, 1.0, 3.0, about="1 hold, 2 zero displacement, 3 zero force"),
    "ramp": Param("m/s", _NONE, LEAST, UNLIMITED, about="rate of the way to the safe state"),
    "tolerance": Param("N", UNLIMITED, LEAST, about="force that counts as none"),
    "max_d": Param("m", UNLIMITED, LEAST, about="largest deformation, commanded and measured"),
    "max_v": Param("m/s", UNLIMITED, LEAST, about="largest velocity of the command"),
    "max_a": Param("m/s2", UNLIMITED, LEAST, about="largest acceleration of the command"),
    "smoothing": Param("s", 0.01, 0.0, about="time over which the acceleration is taken"),
    "max_f": Param("N", UNLIMITED, LEAST, about="largest measured force"),
    "max_error": Param("m", UNLIMITED, LEAST, about="largest difference between command and measured deformation"),
    "error_for": Param("s", 0.0, 0.0, about="how long it may be larger"),
    "jump_d": Param("m/s", UNLIMITED, LEAST, about="largest rate of the measured deformation from tick to tick"),
    "jump_f": Param("N/s", UNLIMITED, LEAST, about="largest rate of the measured force from tick to tick"),
    "frozen_d": Param("s", UNLIMITED, LEAST, about="how long the measured deformation may be the same"),
    "frozen_f": Param("s", UNLIMITED, LEAST, about="how long the measured force may be the same"),
    "frozen_path": Param("m", 0.0, 0.0, about="path of the command meanwhile from which on that counts"),
    "max_age": Param("s", UNLIMITED, LEAST, about="largest age of what a link brings"),
    "max_added": Param("-", UNLIMITED, LEAST, about="largest indicator of added energy"),
    "window": Param("s", 2.0, LEAST, about="time over which the indicator forgets"),
    "least_work": Param("J", 0.0, 0.0, about="work below which the indicator is small"),
}


def interlock(*, max_rate: float, safe_state: str, ramp: float | None = None, **limits: float) -> Instance:
    """The interlock of a rig; what is not said is not watched.

    Parameters
    ----------
    max_rate : float
        Rate in m/s that the command never exceeds. A faster one trips it.
    safe_state : {"hold", "zero displacement", "zero force"}
        Stay, go back to the deformation at rest, or unload the specimen: move against the measured force, within the
        range in which the command has been. Where the force cannot be read any more, the command is held.
    ramp : float, optional
        Rate of the way to the safe state, by default `max_rate`.
    **limits
        What is watched: `max_d`, `max_v`, `max_a` (with `smoothing`), `max_f`, `max_error` (`error_for`), `jump_d`,
        `jump_f`, `frozen_d` and `frozen_f` (`frozen_path`), `max_age`, `max_added` (`window`, `least_work`), and the
        `tolerance` of the safe state "zero force". In SI units.
    """
    if safe_state not in SAFE_STATES:
        raise UnknownName("safe state", safe_state, SAFE_STATES, where="safe_state")
    block = _LINKED if "max_age" in limits else _DIRECT
    given = {"max_rate": max_rate, "safe_state": SAFE_STATES[safe_state], "ramp": max_rate if ramp is None else ramp}
    made = block(**given, **limits)
    settings_fit(**made.params)
    return made


def settings_fit(dt: float = 0.0, **p: float) -> None:
    """Refuse settings that make no sense together, or in ticks of dt."""
    given = {key for key, value in p.items() if value < UNLIMITED}
    if p["ramp"] > p["max_rate"]:
        raise BadInput(f"ramp = {p['ramp']:g} m/s is faster than max_rate = {p['max_rate']:g} m/s, which nothing is.")
    if "max_v" in given and p["max_v"] > p["max_rate"]:
        raise BadInput(
            f"max_rate = {p['max_rate']:g} m/s is below max_v = {p['max_v']:g} m/s, which is then never reached. "
            "Raise the one or lower the other."
        )
    if p["safe_state"] == interlock_tick.ZERO_FORCE and "tolerance" not in given:
        raise BadInput('tolerance is missing: safe_state = "zero force" needs to know which force counts as none.')
    if {"tolerance", "max_f"} <= given and p["tolerance"] >= p["max_f"]:
        raise BadInput(f"tolerance = {p['tolerance']:g} N is no less than max_f = {p['max_f']:g} N.")
    slowest = p["max_v"] if "max_v" in given else p["max_rate"]
    if "jump_d" in given and p["jump_d"] < slowest:
        raise BadInput(
            f"jump_d = {p['jump_d']:g} m/s is less than the {slowest:g} m/s that the command may have; a sound "
            "measurement would count as a spike."
        )
    if given & {"frozen_d", "frozen_f"} and not p["frozen_path"] > 0.0:
        raise BadInput("frozen_path is missing: at rest every measurement stands still; say how far the command moves.")
    if "max_added" in given and not p["least_work"] > 0.0:
        raise BadInput("least_work is missing: without it the indicator of added energy is one of noise, at rest.")
    for key in ("frozen_d", "frozen_f", "max_age"):
        if key in given and p[key] < 2.0 * dt:
            raise BadInput(f"{key} = {p[key]:g} s is less than two ticks of {dt:g} s.")
    if p["window"] < 10.0 * dt:
        raise BadInput(f"window = {p['window']:g} s is less than ten ticks of {dt:g} s; give some periods of the test.")


def _made(inputs: dict[str, str]) -> Block:
    """The block; of a link the age is heard as well."""
    make = inplace_block(
        inputs={"d": "m", "wanted": "m", "d_m": "m", "f_m": "N", "stop": "-"} | inputs,
        outputs={"d": "m", "trip": "-", "settled": "-", "indicator": "-", "stop": "-"},
        state=dict(zip(Kept._fields, _UNITS, strict=True)),
        params={key: PARAMS[key] for key in Told._fields},
        fits=settings_fit,
        reference="Mosqueda, Stojadinovic, Mahin (2007), doi:10.1061/(ASCE)0733-9445(2007)133:8(1100) (added energy).",
    )
    return replace(make(interlock_tick.advance), name="interlock")


_DIRECT, _LINKED = _made({}), _made({"age_m": "s"})
