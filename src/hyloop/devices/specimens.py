"""Virtual specimens: laws that can draw a device of their kind at random, as one is taken from a batch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from hyloop.core.block import Instance
from hyloop.devices.brfd import draw_brfd, draw_sibling

__all__ = ["SPECIMENS", "Specimen"]


@dataclass(frozen=True)
class Specimen:
    """How devices of one law differ.

    Attributes
    ----------
    draw : callable
        ``draw(rng, **given)``: a device whose parameters are drawn, except those given; spreads are given likewise.
    spreads : dict of str to str
        Names and units of what can be given beside the parameters of the law.
    sibling : callable
        ``sibling(rng, device, **given)``: a second device of the same make as one that was drawn.
    differs : dict of str to str
        Names and units of what can be given of how the second one differs.
    """

    draw: Callable[..., Instance]
    spreads: Mapping[str, str]
    sibling: Callable[..., Instance]
    differs: Mapping[str, str]


_SIBLING = {"mismatch": "-", "centred": "m"}
_BANDED = {"level": "N", "friction": "-", "gap": "m", "stiffness": "-", "drift": "-", "centred": "m"}

SPECIMENS: dict[str, Specimen] = {
    "brfd_gap_slip": Specimen(partial(draw_brfd, law="gap-slip"), _BANDED, draw_sibling, _SIBLING),
    "brfd_stick_slip": Specimen(partial(draw_brfd, law="stick-slip"), _BANDED, draw_sibling, _SIBLING),
}
