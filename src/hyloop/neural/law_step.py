"""One tick of a law with learned parameters, compiled round the law, and the memory it works on."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hyloop.core.block import Block, rebind
from hyloop.core.jit import verb
from hyloop.core.memory import read
from hyloop.neural.dense import respond
from hyloop.neural.lanes import as_int64
from hyloop.neural.ranges import MONITOR, monitor

if TYPE_CHECKING:
    from hyloop.neural.law import FrozenLaw

__all__ = ["Places", "compiled_step", "memory_image"]

DECLARED_COUNT = 2  # parameters of every trained block before the command: stiffness and damping


class Places(NamedTuple):
    """Table in the memory, behind the parameters of this tick: positions in the state of the block, and counts.

    Those parameters come first because the law is given a slice of the state. Compiled code is shared by networks of
    all sizes, so that only what lies at one place for all of them may be sliced; all else is read by its position.
    """

    monitored: int  # the two states of the monitor
    inputs: int
    ranges: int
    params: int
    used: int  # parameters of this tick
    given: int  # parameters as learned for all samples
    by_sample: int
    chosen: int  # which parameters the network multiplies
    features: int
    seen: int  # where each feature lies: states from 0 on, inputs from -1 down
    scales: int
    scaled: int
    answer: int
    log_reach: int
    even: int
    dense: int  # table of the perceptron
    command: int  # parameter that stays one of the block, behind the declared ones; -1: none


def memory_image(made: "FrozenLaw") -> np.ndarray:
    """The memory of the block: the table, then what it refers to."""
    law, names = made.law, list(made.law.params)
    states, inputs = list(law.state), list(law.inputs)
    chosen = [names.index(key) for key in made.by_sample]
    seen = [states.index(key) if key in states else -1 - inputs.index(key) for key in made.features]
    used = len(states) + len(MONITOR)
    after = used + len(names) + len(Places._fields)
    dense, weights = made.network.laid_out(0) if made.network else ([], np.empty(0))
    numbers = after + len(chosen) + len(seen) + len(dense)  # where whole numbers end
    parts = {
        "ranges": [end for signal in made.card.inputs for end in (signal.low, signal.high)],
        "given": made.values,
        "scales": list(made.features.values()),
        "scaled": np.zeros(len(seen)),
        "answer": np.zeros(len(chosen)),
        "log_reach": [math.log(made.reach)],
        "weights": weights,
    }
    at = dict(zip(parts, (numbers + np.cumsum([0, *map(len, parts.values())])).tolist(), strict=False))
    behind = at.pop("weights")
    if made.network:
        dense, _ = made.network.laid_out(behind)
    places = Places(
        monitored=len(states),
        inputs=len(inputs),
        params=len(names),
        used=used,
        by_sample=len(chosen),
        chosen=after,
        features=len(seen),
        seen=after + len(chosen),
        even=int(made.even),
        dense=after + len(chosen) + len(seen),
        command=names.index(made.command) if made.command else -1,
        **at,
    )
    words = np.array([*places, *chosen, *seen, *dense], dtype=np.int64)
    return np.concatenate([made.values, words.view(float), *(np.asarray(part, dtype=float) for part in parts.values())])


@verb
def _set_parameters(x, u, p, m):
    """Parameters of this tick, and the count of ticks outside the training range."""
    words = as_int64(x)
    monitor(x, m.monitored, u, m.inputs, m.ranges)
    for k in range(m.params):
        x[m.used + k] = x[m.given + k]
    if m.command >= 0:
        x[m.used + m.command] = p[DECLARED_COUNT]
    if m.by_sample == 0:
        return
    for k in range(m.features):
        place = words[m.seen + k]
        x[m.scaled + k] = (x[place] if place >= 0 else u[-1 - place]) / x[m.scales + k]
    for k in range(m.by_sample):
        x[m.answer + k] = 0.0
    respond(x, words, m.dense, m.scaled, 1.0, m.answer)
    if m.even == 1:
        respond(x, words, m.dense, m.scaled, -1.0, m.answer)
    for k in range(m.by_sample):
        answer = 0.5 * x[m.answer + k] if m.even == 1 else x[m.answer + k]
        x[m.used + words[m.chosen + k]] *= math.exp(x[m.log_reach] * math.tanh(answer))


law: Any = None  # put among the globals of `advance`, as `hyloop.core.block` does


def compiled_step(block: Block) -> Any:
    """The step of the block round a law; the counts are closure variables, so that they enter the cache key."""
    states, outputs = len(block.state), len(block.outputs)
    used = states + len(MONITOR)
    table = used + len(block.params)

    def stateful(x, u, dt, p, y):
        m = read(Places, as_int64(x), table)
        _set_parameters(x, u, p, m)
        found, new = law(x, u, dt, x[used:table])
        for k in range(outputs):
            y[k] = found[k]
        for k in range(states):
            x[k] = new[k]
        y[outputs] = x[m.monitored]

    def stateless(x, u, dt, p, y):  # an empty tuple cannot be indexed
        m = read(Places, as_int64(x), table)
        _set_parameters(x, u, p, m)
        found, _ = law(x, u, dt, x[used:table])
        for k in range(outputs):
            y[k] = found[k]
        y[outputs] = x[m.monitored]

    advance = rebind(stateful if states else stateless, law=block.compiled)
    advance.__doc__ = f"The law {block.name} with learned parameters, which are in its memory.\n\n{block.doc}"
    return advance
