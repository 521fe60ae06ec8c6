"""The engine's core: blocks, the named bus, and the compiled time step."""

from hyloop.core.block import Block, Instance, Param, block, inplace_block, rebind
from hyloop.core.factor import Factor
from hyloop.core.jit import Table, jit
from hyloop.core.layout import Layout
from hyloop.core.low_rank import LowRank
from hyloop.core.plan import Plan, State
from hyloop.core.run import begin, run, settle

__all__ = [
    "Block",
    "Factor",
    "Instance",
    "Layout",
    "LowRank",
    "Param",
    "Plan",
    "State",
    "Table",
    "begin",
    "block",
    "inplace_block",
    "jit",
    "rebind",
    "run",
    "settle",
]
