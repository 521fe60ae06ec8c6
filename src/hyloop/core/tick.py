"""The sampling interval that a trained block has learned, and the refusal of any other.

A network with memory maps one sample to the next, so what it has learned holds for one interval between them: an LSTM
of a damper is 26 % off at twice the rate of its training. It does not say so, hence it is not run.
"""

from os import PathLike

from hyloop.errors import BadInput

__all__ = ["check_tick", "same_tick", "stated_tick", "typed_tick"]

# Relative. Wide enough for a step that was divided into ticks (1e-16) and for times that a file prints with six
# decimals (1e-6 s in some tens of seconds: 1e-7); a network cannot tell, its own numbers have seven digits.
_SAME = 1e-6
_SHORT = 2  # digits that are shorter than a fraction: 0.005, 0.0025


def same_tick(one: float, other: float) -> bool:
    """Whether two sampling intervals in s are the same but for round-off."""
    return abs(one - other) <= _SAME * other


def typed_tick(tick: float) -> str:
    """An interval in s as a person types it: "0.005", "1/256", and more digits only where neither is the same."""
    rate = round(1.0 / tick)
    decimals = [f"{tick:.{digits}g}" for digits in range(1, 18)]
    whole = [f"1/{rate}"] if rate and same_tick(1.0 / rate, tick) else []
    texts = [*decimals[:_SHORT], *whole, *decimals]
    return next(text for text in texts if text in whole or same_tick(float(text), tick))


def check_tick(
    name: str,
    tick: float | None,
    dt: float,
    where: str = "",
    runs: str = "the signals are sampled",
    remedy: str = "Resample them so that dt is {} s",
) -> None:
    """Refuse to run a block at another interval than its `tick` in s; None has learned none."""
    if tick is not None and not same_tick(dt, tick):
        rate = f"at {1.0 / dt:g} Hz" if dt > 0.0 else f"with dt = {dt!r} s"
        raise BadInput(
            f"{f'{where}: ' if where else ''}{name} was trained at {1.0 / tick:g} Hz, {runs} {rate}. "
            f"{remedy.format(typed_tick(tick))}, or train at that rate."
        )


def stated_tick(path: str | PathLike[str], kept: float, given: float | None, reader: str) -> float:
    """The interval that a file keeps (0 where it does not), or else the one given; never one that was guessed.

    `reader` is the function that reads such files and takes the interval as `dt`.
    """
    if kept > 0.0 and (given is None or same_tick(given, kept)):
        return kept
    if kept > 0.0:
        raise BadInput(
            f"{path}: the network was trained at {1.0 / kept:g} Hz (dt = {typed_tick(kept)} s), not with dt = "
            f"{given!r} s. Leave dt out."
        )
    if given is None:
        raise BadInput(
            f"{path}: the file does not say at what rate the network was trained. State the sampling "
            f"interval in s of its training data, as in {reader}(path, dt=1/1024); saved again, the file "
            "keeps it."
        )
    return float(given)
