"""One tick of a law that a stack guides, compiled round the law."""

import math
from collections.abc import Sequence
from typing import Any

from hyloop.core.block import Block, rebind
from hyloop.core.jit import verb
from hyloop.neural.image import evaluate

__all__ = ["compiled_step"]

_DECLARED = 2  # parameters of the block before those of the law: stiffness and damping
law: Any = None  # put among the globals of `advance`, as `hyloop.core.block` does


@verb
def _factor(o, low, high, shift):
    """The head: between low and high, or a softplus where high is infinite."""
    o += shift
    if high < math.inf:
        return low + (high - low) / (1.0 + math.exp(-o))
    return max(o, 0.0) + math.log1p(math.exp(-abs(o)))


def compiled_step(
    block: Block, places: Sequence[int], chosen: Sequence[int], heads: Sequence[tuple[float, float, float]]
) -> Any:
    """The step round a law: where its inputs stand in u, which parameters are guided, and low, high, shift of each.

    The state is that of the law, its parameters and inputs in this tick, the two of the monitor, and the image of the
    stack. Counts and heads are closure variables, so that they enter the cache key.
    """
    states, outputs, inputs, guided = len(block.state), len(block.outputs), len(places), len(chosen)
    seen = states + len(block.params)
    monitor = seen + inputs
    where, which, ends = tuple(places), tuple(chosen), tuple(heads)

    def advance(x, u, dt, p, y):
        evaluate(x[monitor:], u, y[outputs:])
        for k in range(seen - states):
            x[states + k] = p[_DECLARED + k]
        for k in range(guided):
            low, high, shift = ends[k]
            x[states + which[k]] *= _factor(y[outputs + k], low, high, shift)
            y[outputs + k] = x[states + which[k]]
        for k in range(inputs):
            x[seen + k] = u[where[k]]
        found, new = law(x, x[seen:monitor], dt, x[states:seen])
        for k in range(outputs):
            y[k] = found[k]
        for k in range(states):
            x[k] = new[k]

    made = rebind(advance, law=block.compiled)
    made.__doc__ = f"The law {block.name} with parameters from a network that listens.\n\n{block.doc}"
    return made
