"""The test before the test: a rig follows a motion given beforehand, with its compensator and without a structure."""

from typing import Any

import numpy as np

from hyloop.core import Instance, jit
from hyloop.core.jit import call_block, pointer
from hyloop.core.tick import check_tick
from hyloop.errors import BadInput, BadShape

__all__ = ["predefined_test"]

_WANTED, _MEASURED, _REST = 0, 1, 2  # places of the deformation wanted, of the one last measured, and of zero


def predefined_test(
    dt: float, d: Any, *, compensator: Instance | None = None, actuator: Instance, sensor: Instance | None = None
) -> dict[str, np.ndarray]:
    """Send a rig through a predefined deformation.

    Parameters
    ----------
    dt : float
        Controller tick in s.
    d : array_like, (N,)
        Deformation wanted at every tick in m.
    compensator, actuator, sensor : Instance
        Blocks of the transfer system, as at a site. ``d_m`` is what the sensor, or without one the actuator, showed in
        the tick before; forces are zero, for there is no specimen.

    Returns
    -------
    dict of str to ndarray
        ``d`` wanted, and every output of every block as ``role.signal``.

    Examples
    --------
    >>> import numpy as np
    >>> from hyloop.transfer import delay
    >>> from hyloop.transfer.compensators import ats
    >>> t = np.arange(0.0, 10.0, 1 / 1024)
    >>> rig, wanted = delay(tau=0.02), 0.01 * np.sin(2 * t) + 0.004 * np.sin(9 * t)
    >>> found = predefined_test(1 / 1024, wanted, compensator=ats([1.0, 0.01], dt=1 / 1024), actuator=rig)
    >>> bool(abs(found["compensator.a1"][-1] - 0.02) < 1e-3)
    True
    """
    wanted = np.asarray(d, dtype=float)
    if wanted.ndim != 1 or len(wanted) == 0 or not np.isfinite(wanted).all():
        raise BadShape(f"predefined_test: d must be a finite history of one dimension, got shape {wanted.shape}.")
    chain = {
        role: instance
        for role, instance in (("compensator", compensator), ("actuator", actuator), ("sensor", sensor))
        if instance is not None
    }
    names, places = ["d", "d_m", "rest"], {"d": _WANTED}
    inputs, outputs = [], []
    for role, instance in chain.items():
        law = instance.block
        check_tick(law.name, law.tick, dt, role)
        instance.check_fit(dt, role)
        inputs.append([_source(law.name, key, places) for key in law.inputs])
        outputs.append(len(names))
        places |= {key: len(names) + i for i, key in enumerate(law.outputs)}
        names += [f"{role}.{key}" for key in law.outputs]
    instances = list(chain.values())
    histories = np.empty((len(wanted), len(names)))
    _follow(
        np.array([instance.block.address for instance in instances], dtype=np.int64),
        np.concatenate([instance.x0 for instance in instances]),
        _starts([len(instance.x0) for instance in instances]),
        np.array([value for instance in instances for value in instance.params.values()], dtype=float),
        _starts([len(instance.params) for instance in instances]),
        np.array([place for row in inputs for place in row], dtype=np.int64),
        _starts([len(row) for row in inputs]),
        np.array(outputs, dtype=np.int64),
        wanted,
        places["d"],
        float(dt),
        histories,
    )
    return {name: histories[:, k] for k, name in enumerate(names) if k not in (_MEASURED, _REST)}


def _source(law: str, key: str, places: dict[str, int]) -> int:
    if key in places:
        return places[key]
    if key in ("d_m", "f", "f_m"):
        return _MEASURED if key == "d_m" else _REST
    raise BadInput(
        f"predefined_test: input {key} of {law} is not there; without a structure there are d, d_m and what the blocks "
        "before it give."
    )


def _starts(sizes: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@jit
def _follow(addresses, x, x_at, p, p_at, inputs, in_at, outputs, wanted, shown, dt, histories):
    bus, u = np.zeros(histories.shape[1]), np.empty(16)
    for i in range(len(wanted)):
        bus[_MEASURED] = bus[shown] if i else wanted[0]
        bus[_WANTED] = wanted[i]
        for b in range(len(addresses)):
            for k in range(in_at[b], in_at[b + 1]):
                u[k - in_at[b]] = bus[inputs[k]]
            call_block(
                addresses[b], pointer(x), x_at[b], pointer(u), 0, dt, pointer(p), p_at[b], pointer(bus), outputs[b]
            )
        histories[i] = bus
