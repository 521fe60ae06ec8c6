"""The memory of a frozen network: a table of its layers, scales and ranges, all weights, states and room to calculate.

The numbers lie in the float64 slots of a block's memory, so that a snapshot of the loop holds the whole network and can
be resumed in another process. Whole numbers are int64, scales float64; weights and states are float32, two in a slot.

`evaluate` reads by address alone, and what it needs to know stands in the table. So one compiled block serves every
network, and it does not matter that the cache cannot tell the sizes of one from those of another.
"""

from typing import NamedTuple

import numpy as np

from hyloop.core.jit import verb
from hyloop.core.memory import entry, read
from hyloop.neural.architecture import GATES, Architecture, Layer
from hyloop.neural.card import Card
from hyloop.neural.cells import GRU, KINDS, LSTM, Cell, dense_step, gru_step, lstm_step
from hyloop.neural.lanes import as_float32, as_int64, padded
from hyloop.neural.ranges import MONITOR, beyond, note_excess

__all__ = ["evaluate", "memory_image", "weights_place"]


class Header(NamedTuple):
    """Whole numbers behind the two named states; a table of `Cell`, the inputs and the outputs follow."""

    first: int  # place of the scaled inputs, in float32 numbers from the start of the block's state
    last: int  # and of the outputs of the last layers
    inputs: int
    outputs: int
    cells: int


class Input(NamedTuple):
    """An input signal is scaled as (u - centre) factor; training saw it from low to high."""

    centre: float
    factor: float
    low: float
    high: float


class Output(NamedTuple):
    """An output signal is y/factor + centre."""

    centre: float
    factor: float


OUTSIDE, HEADER = 0, len(MONITOR)  # places of the named states and of the header in a block's state
CELLS = HEADER + len(Header._fields)
CELL, INPUT = len(Cell._fields), len(Input._fields)


@verb
def evaluate(x, u, y):
    """Advance a network by one tick.

    The state `x` is: ticks outside the training range, largest excess; then the image made by `memory_image`. Outputs
    are those of the network, then the ticks outside so far.
    """
    words, m = as_int64(x), as_float32(x)
    header = read(Header, words, HEADER)
    inputs = CELLS + CELL * header.cells
    outputs = inputs + INPUT * header.inputs
    note_excess(x, OUTSIDE, _take_in(x, u, m, header, inputs))
    for k in range(header.cells):
        cell = entry(Cell, words, CELLS, k)
        if cell.kind == LSTM:
            lstm_step(m, cell)
        elif cell.kind == GRU:
            gru_step(m, cell)
        else:
            dense_step(m, cell)
        for j in range(cell.units):
            m[cell.target + j] = m[cell.state + j]
    for k in range(header.outputs):
        signal = entry(Output, x, outputs, k)
        y[k] = m[header.last + k] / signal.factor + signal.centre
    y[header.outputs] = x[OUTSIDE]


@verb
def _take_in(x, u, m, header, inputs):
    """Scale the inputs; return how far any lies beyond its range."""
    excess = 0.0
    for k in range(header.inputs):
        signal = entry(Input, x, inputs, k)
        m[header.first + k] = (u[k] - signal.centre) * signal.factor
        excess = max(excess, beyond(u[k], signal.low, signal.high))
    return excess


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
    signals = np.concatenate(
        [
            *(Input(a.centre, a.factor, a.low, a.high) for a in card.inputs),
            *(Output(a.centre, a.factor) for a in card.outputs),
        ]
    )
    words = CELLS + CELL * len(layers)
    header, cells, size = _places(architecture, [len(w) for w in weights], 2 * (words + len(signals)))
    image = np.zeros(size // 2)
    image[HEADER:words].view(np.int64)[:] = np.concatenate([header, *cells])
    image[words : words + len(signals)] = signals
    for cell, w in zip(cells, weights, strict=True):
        image.view(np.float32)[cell.weights : cell.weights + len(w)] = w
    return image[HEADER:]


def weights_place(image: np.ndarray, before: int = 0) -> tuple[int, int]:
    """Where the weights lie, from and to, in the state of a block whose image comes behind `before` more numbers."""
    words = np.concatenate([np.zeros(HEADER), image]).view(np.int64)
    cells = [Cell(*words[CELLS + CELL * k : CELLS + CELL * (k + 1)]) for k in range(words[CELLS - 1])]
    return before + int(min(c.weights for c in cells)) // 2, before + int(min(c.state for c in cells)) // 2


def _places(architecture: Architecture, weights: list[int], first: int) -> tuple[Header, list[Cell], int]:
    """Where everything lies, in float32 numbers from `first` on, for the numbers of weights; and where it ends."""
    layers, place = architecture.layers, first

    def take(n: int) -> int:
        nonlocal place
        place += padded(n)
        return place - padded(n)

    starts = [take(n) for n in weights]
    states = [take(2 * padded(layer.width)) for layer in layers]
    # what a stage gives lies in one piece, in the order the next one counts it
    stages = [take(architecture.inputs), *(take(sum(a.width for a in stage)) for stage in architecture.stages)]
    room = take(max(6 * padded(layer.width) for layer in layers))
    cells = []
    for source, target, stage in zip(stages[:-1], stages[1:], architecture.stages, strict=True):
        for layer in stage:
            k = len(cells)
            cells.append(
                Cell(
                    kind=KINDS[layer.kind],
                    inputs=layer.inputs,
                    source=source + layer.reads[0],
                    units=layer.width,
                    width=padded(layer.width),
                    weights=starts[k],
                    state=states[k],
                    target=target,
                    room=room,
                )
            )
            target += layer.width
    return Header(stages[0], stages[-1], architecture.inputs, architecture.outputs, len(layers)), cells, place
