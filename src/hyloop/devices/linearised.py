"""A device as a spring and a dashpot, at the amplitude and frequency at which it is expected to work."""

import numpy as np

from hyloop.core.block import Instance
from hyloop.errors import BadInput, OutOfBounds

__all__ = ["linearised"]

_CYCLES = 4  # the last one counts; a device that settles slower than this is not what two constants can stand for
_SAMPLES = 4096  # in a cycle, and at most a controller tick of 1/1024 s: explicit laws need small steps
_TICK = 1 / 1024


def linearised(device: Instance, amplitude: float, frequency: float) -> tuple[float, float]:
    r"""Stiffness in N/m and damping in N s/m of the first harmonic of the force under a steady sine.

    .. math:: d = A \sin \omega t, \qquad k = \frac{\omega}{\pi A} \oint f \sin \omega t \,dt, \qquad
              c = \frac{1}{\pi A} \oint f \cos \omega t \,dt

    A model-based method (MKR-α, KR-α, CR) that knows a damper by these loses less accuracy than one that takes the
    stiffness of the damper at rest: give them as ``Site(linear=...)``.

    Parameters
    ----------
    device : Instance
        A law of d, v and a.
    amplitude, frequency : float
        A in m and ω/2π in Hz.

    References
    ----------
    Kolay, Ricles (2014), doi:10.1002/eqe.2401: equivalent stiffness and damping in model-based methods.
    """
    if not (0.0 < amplitude < np.inf and 0.0 < frequency < np.inf):
        raise OutOfBounds(f"linearised: amplitude {amplitude!r} m and frequency {frequency!r} Hz must be positive.")
    unknown = [key for key in device.block.inputs if key not in ("d", "v", "a")]
    if unknown:
        raise BadInput(
            f"linearised: {device.block.name} needs {', '.join(unknown)} beside its motion; say its stiffness and "
            "damping instead."
        )
    omega = 2.0 * np.pi * frequency
    samples = max(_SAMPLES, int(np.ceil(1.0 / (frequency * _TICK))))
    dt = 1.0 / (frequency * samples)
    phase = omega * dt * np.arange(1, _CYCLES * samples + 1)
    motion = {"d": np.sin(phase), "v": omega * np.cos(phase), "a": -(omega**2) * np.sin(phase)}
    f = device.drive(dt, **{key: amplitude * motion[key] for key in device.block.inputs})["f"][-samples:]
    last = phase[-samples:]
    k = 2.0 / (samples * amplitude) * float(f @ np.sin(last))
    c = 2.0 / (samples * amplitude * omega) * float(f @ np.cos(last))
    return k, c
