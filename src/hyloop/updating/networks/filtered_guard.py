"""How much of what a filtered network has learned is given out to the models that follow."""

import math

from hyloop.core.jit import verb

__all__ = ["believed", "deserved", "give_out", "watch"]

_GAINED = 4.0  # part of an update per part of the squared error that its witness has less
# parts of the error that a witness saves, over the memory of the guard: what saves less than the first is not followed
# at all, what saves more than the second wholly
_UNPROVEN, _PROVEN = 0.1, 0.2
_LEAST = 1e-3  # relative change of a scale: what is less helps nobody and is not given out


@verb
def watch(s, q, wrong, error, explained, beyond):
    """The guard adds up the squared errors of both, over what training error and noise explain."""
    surprise = wrong * wrong / explained
    s.sum_sensor[0] = q.fading * s.sum_sensor[0] + surprise
    s.sum_device[0] = q.fading * s.sum_device[0] + error * error / explained
    s.sum_beyond[0] = q.fading * s.sum_beyond[0] + (surprise if beyond > 0.0 else 0.0)
    s.weight[0] = q.fading * s.weight[0] + 1.0


@verb
def deserved(s, q):
    """As much of the other device as the data ask for: all less the part of the error that it does not explain."""
    rest = q.evidence * s.weight[0] + s.sum_device[0]
    return max(0.0, 1.0 - rest / s.sum_sensor[0]) if s.sum_sensor[0] > 0.0 else 0.0


@verb
def give_out(n, m, q, part, y):
    """The scales and weights for the models that follow."""
    if part * max(abs(m.device[4]), abs(m.device[5])) < _LEAST and q.share == 0.0:
        part = 0.0
    y[0] = math.exp(part * m.device[4])
    y[1] = math.exp(part * m.device[5])
    for k in range(n):
        y[2 + k] = m.frozen[k] + q.share * part * (m.w[k] - m.frozen[k])


@verb
def believed(s, q, still, part, seen, wrong):
    """Part of an update that its witness speaks for, from what it has gained over the first explanation: of late, and
    over the memory of the guard. Ticks in which there was nothing to give tell nothing of the latter."""
    if not still:
        s.sum_witness[0] = q.recent * s.sum_witness[0] + seen * seen
        s.sum_alone[0] = q.recent * s.sum_alone[0] + wrong * wrong
        if part > 0.0:
            s.long_witness[0] = q.fading * s.long_witness[0] + seen * seen
            s.long_alone[0] = q.fading * s.long_alone[0] + wrong * wrong
    if not (s.sum_alone[0] > 0.0 and s.long_alone[0] > 0.0):
        return 0.0
    saved = 1.0 - math.sqrt(s.long_witness[0] / s.long_alone[0])
    proven = min(1.0, max(0.0, (saved - _UNPROVEN) / (_PROVEN - _UNPROVEN)))
    of_late = min(1.0, max(0.0, _GAINED * (1.0 - s.sum_witness[0] / s.sum_alone[0])))
    return proven * proven * (3.0 - 2.0 * proven) * of_late
