"""The memory of a frozen network: a table of its layers, scales and ranges, all weights, states and room to calculate.

The numbers lie in the float64 slots of a block's memory, so that a snapshot of the loop holds the whole network and can
be resumed in another process. Whole numbers are int64, scales float64; weights and states are float32, two in a slot.

`evaluate` reads by address alone, and what it needs to know stands in the table. So one compiled block serves every
network, and it does not matter that the cache cannot tell the sizes of one from those of another.
"""

import numpy as np

from hyloop.core.jit import verb
from hyloop.neural.architecture import GATES, Architecture, Layer
from hyloop.neural.card import Card
from hyloop.neural.cells import DENSE, GRU, LSTM, dense_step, gru_step, lstm_step
from hyloop.neural.lanes import as_float32, as_int64, padded
from hyloop.neural.ranges import beyond, note_excess

__all__ = ["FIELDS", "evaluate", "memory_image"]

# columns of the table of layers; places count float32 numbers from the start of the block's state
FIELDS = ("kind", "inputs", "source", "units", "width", "weights", "state", "target", "room")
_N = len(FIELDS)
_HEAD = 7  # two named states, the places of the scaled inputs and of the outputs, the numbers of both and of layers


@verb
def evaluate(x, u, y):
    """Advance a network by one tick.

    The state `x` is: ticks outside the training range, largest excess; then the image made by `memory_image`. Outputs
    are those of the network, then the ticks outside so far.
    """
    words, m = as_int64(x), as_float32(x)
    first, last, n_in, n_out, n_layers = words[2], words[3], words[4], words[5], words[6]
    q = _HEAD + _N * n_layers

    excess = 0.0
    for k in range(n_in):
        centre, factor, low, high = x[q], x[q + 1], x[q + 2], x[q + 3]
        m[first + k] = (u[k] - centre) * factor
        excess = max(excess, beyond(u[k], low, high))
        q += 4
    note_excess(x, 0, excess)

    for i in range(n_layers):
        r = _HEAD + _N * i
        kind, inputs, source, units, width = words[r], words[r + 1], words[r + 2], words[r + 3], words[r + 4]
        weights, state, target, room = words[r + 5], words[r + 6], words[r + 7], words[r + 8]
        if kind == LSTM:
            lstm_step(m, weights, source, inputs, state, units, width, room)
        elif kind == GRU:
            gru_step(m, weights, source, inputs, state, units, width, room)
        else:
            dense_step(m, kind, weights, source, inputs, state, width)
        for k in range(units):
            m[target + k] = m[state + k]

    for k in range(n_out):
        y[k] = m[last + k] / x[q + 1] + x[q]
        q += 2
    y[n_out] = x[0]


def _padded_weights(layer: Layer, tensors: dict[str, np.ndarray]) -> np.ndarray:
    """Weights of a layer as `hyloop.neural.cells` reads them, every gate padded with zeros."""
    gates, width = GATES[layer.kind], padded(layer.width)

    def rows(matrix: np.ndarray) -> np.ndarray:
        given = np.reshape(matrix, (-1, gates, layer.width))
        wide = np.zeros((len(given), gates, width), np.float32)
        wide[:, :, : layer.width] = given
        return wide.ravel()

    parts = [rows(tensors[key]) for key in ("b", "W", "U") if key in tensors]
    if "r" in tensors:
        parts.append(np.pad(tensors["r"], (0, width - layer.width)))
    return np.concatenate(parts).astype(np.float32)


def memory_image(architecture: Architecture, tensors: dict[str, np.ndarray], card: Card) -> np.ndarray:
    """The memory of the block, at rest: what follows the two named states."""
    layers = architecture.layers
    weights = [
        _padded_weights(layer, {key: tensors[f"{k}.{key}"] for key in layer.shapes}) for k, layer in enumerate(layers)
    ]
    signals: list[float] = []
    for a in card.inputs:
        signals += [a.centre, a.factor, a.low, a.high]
    for a in card.outputs:
        signals += [a.centre, a.factor]

    words = _HEAD + _N * len(layers)
    place = 2 * (words + len(signals))  # of the next float32

    def take(n: int) -> int:
        nonlocal place
        place += padded(n)
        return place - padded(n)

    starts = [take(len(w)) for w in weights]
    states = [take(2 * padded(layer.width)) for layer in layers]
    # what a stage gives lies in one piece, in the order the next one counts it
    stages = [take(architecture.inputs), *(take(sum(a.width for a in stage)) for stage in architecture.stages)]
    room = take(max(6 * padded(layer.width) for layer in layers))

    table = [stages[0], stages[-1], architecture.inputs, architecture.outputs, len(layers)]
    k = 0
    for i, stage in enumerate(architecture.stages):
        target = stages[i + 1]
        for layer in stage:
            kind = {"lstm": LSTM, "gru": GRU}.get(layer.kind, DENSE.get(layer.kind))
            table += [
                kind,
                layer.inputs,
                stages[i] + layer.reads[0],
                layer.width,
                padded(layer.width),
                starts[k],
                states[k],
                target,
                room,
            ]
            target += layer.width
            k += 1

    image = np.zeros(place // 2)
    image[2:words].view(np.int64)[:] = table
    image[words : words + len(signals)] = signals
    for start, w in zip(starts, weights, strict=True):
        image.view(np.float32)[start : start + len(w)] = w
    return image[2:]
