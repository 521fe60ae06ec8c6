r"""Optimisers with the learning rates of the papers, and newer ones.

=============  =================================================================================================
schedule       learning rate
=============  =================================================================================================
constant       :math:`\eta`; Coble et al. (2024), section 2.1: Adam, :math:`10^{-4}`
staircase      :math:`\eta\,\gamma^{\lfloor \mathrm{epoch}/10 \rfloor}`; Malik et al. (2025), section 2.3: Adam,
               :math:`\eta = 10^{-3}`, :math:`\gamma = 0.99`
cosine         rises from 0 to :math:`\eta` during a warm-up, then falls on half a cosine to a final rate
=============  =================================================================================================

Optax counts updates, the papers count epochs; `batches.count_updates` leads from one to the other.

References
----------
Kingma and Ba (2015), "Adam: a method for stochastic optimization"; Loshchilov and Hutter (2019), "Decoupled weight
decay regularization" (AdamW); Loshchilov and Hutter (2017), "SGDR" (cosine); Pascanu et al. (2013), "On the difficulty
of training recurrent neural networks" (clipping the norm of the gradient).
"""

import optax

from hyloop.errors import OutOfBounds

__all__ = ["adam", "constant", "cosine", "staircase"]


def constant(rate: float) -> optax.Schedule:
    """The same learning rate throughout."""
    _positive(rate, "rate")
    return optax.constant_schedule(rate)


def staircase(rate: float, updates_per_epoch: int, *, factor: float = 0.99, every: int = 10) -> optax.Schedule:
    """Multiply the rate by `factor` after every `every` epochs."""
    _positive(rate, "rate")
    if not 0.0 < factor <= 1.0 or every < 1 or updates_per_epoch < 1:
        raise OutOfBounds(
            f"staircase: factor = {factor} must be in (0, 1], every = {every} and updates_per_epoch = "
            f"{updates_per_epoch} 1 or more."
        )
    return optax.exponential_decay(rate, every * updates_per_epoch, factor, staircase=True)


def cosine(rate: float, updates: int, *, warmup: int = 0, final: float = 0.0) -> optax.Schedule:
    """Warm up over `warmup` updates, then fall on half a cosine to the rate `final` after all `updates`."""
    _positive(rate, "rate")
    if not 0 <= warmup < updates or not 0.0 <= final <= rate:
        raise OutOfBounds(
            f"cosine: warmup = {warmup} must be from 0 to below the {updates} updates of the training, "
            f"and final = {final} from 0 to the rate {rate}."
        )
    return optax.warmup_cosine_decay_schedule(0.0 if warmup else rate, rate, warmup, updates, final)


def adam(
    schedule: optax.Schedule,
    *,
    weight_decay: float = 0.0,
    clip: float | None = None,
    beta1: float = 0.9,
    beta2: float = 0.999,
) -> optax.GradientTransformation:
    """Adam, with decoupled weight decay if it is above 0 (AdamW), and gradients clipped to a norm if one is given."""
    if weight_decay < 0.0:
        raise OutOfBounds(f"adam: weight_decay = {weight_decay} must be 0 or more.")
    if clip is not None:
        _positive(clip, "clip")
    rule = (
        optax.adamw(schedule, beta1, beta2, weight_decay=weight_decay)
        if weight_decay
        else (optax.adam(schedule, beta1, beta2))
    )
    return rule if clip is None else optax.chain(optax.clip_by_global_norm(clip), rule)


def _positive(value: float, name: str) -> None:
    if not value > 0.0:
        raise OutOfBounds(f"{name} = {value} must be above 0.")
