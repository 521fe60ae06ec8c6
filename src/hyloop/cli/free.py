"""What is free in a search and where it begins, from the words of the command line."""

from collections.abc import Mapping, Sequence
from typing import Any

from hyloop.core import Block, Instance
from hyloop.devices import LAWS
from hyloop.errors import BadInput, UnknownName
from hyloop.files.units import quantity
from hyloop.identification import MeasuredTest, beginning

__all__ = ["beginning_of", "law_and_ranges"]


def beginning_of(
    name: str, tests: Sequence[MeasuredTest], fixed: Sequence[str], guesses: Sequence[str], bounds: Sequence[str]
) -> tuple[Instance, dict[str, tuple[float, float]], str | None]:
    """What is free by default, with what the user says about it; and the state that tests begin loaded with."""
    block = LAWS[name]
    law, ranges, state = beginning(name, block, tests)
    values, limits = _said(block, [key for key in ranges if key not in _keys(fixed)], fixed, guesses, bounds)
    ranges = {key: limits.get(key, ends) for key, ends in ranges.items() if key not in _keys(fixed)}
    start = {**law.params, **values}
    for key, (low, high) in ranges.items():
        if key not in values:  # a start of ours gives way to bounds of theirs
            start[key] = min(max(start[key], low), high)
    if not ranges:
        raise BadInput(f"{name}: nothing is left free; hold fewer parameters with --fix.")
    return block(**start), ranges, state


def law_and_ranges(
    block: Block, names: Sequence[str], fixed: Sequence[str], guesses: Sequence[str], bounds: Sequence[str]
) -> tuple[Instance, dict[str, Any]]:
    """The law with what is fixed and where the search starts; bounds of the free parameters, None where not given."""
    for key in names:
        if key not in block.params:
            raise UnknownName("parameter", key, block.params, where=f"--free of {block.name}")
    values, limits = _said(block, names, fixed, guesses, bounds)
    return block(**values), {key: limits.get(key) for key in names}


def _said(
    block: Block, names: Sequence[str], fixed: Sequence[str], guesses: Sequence[str], bounds: Sequence[str]
) -> tuple[dict[str, float], dict[str, tuple[float, float]]]:
    """Values of --fix and --guess, and bounds of --bounds."""
    held, begin, limits = (
        _pairs(block, words, option) for option, words in (("--fix", fixed), ("--guess", guesses), ("--bounds", bounds))
    )
    for option, given, free in (("--fix", held, False), ("--guess", begin, True), ("--bounds", limits, True)):
        for key in given:
            if (key in names) is not free:
                raise BadInput(
                    f"{option} {key}: it is {'not free' if free else 'free'}; "
                    f"{'name it in --free too' if free else 'leave it out of --free'}."
                )
    values = {key: _number(block, key, text, "--fix") for key, text in held.items()}
    values |= {key: _number(block, key, text, "--guess") for key, text in begin.items()}
    ranges = {}
    for key, text in limits.items():
        ends = text.split("..")
        if len(ends) != 2:
            raise BadInput(f"--bounds {key}={text}: write the lower and the upper bound as in {key}=1..10.")
        low, high = (_number(block, key, end, "--bounds") for end in ends)
        ranges[key] = (low, high)
    return values, ranges


def _keys(words: Sequence[str]) -> set[str]:
    return {word.partition("=")[0].strip() for word in words}


def _pairs(block: Block, words: Sequence[str], option: str) -> Mapping[str, str]:
    found = {}
    for word in words:
        key, sign, text = word.partition("=")
        if not sign:
            raise BadInput(f"{option} {word}: write it as in {option} {next(iter(block.params))}=1.")
        if key.strip() not in block.params:
            raise UnknownName("parameter", key.strip(), block.params, where=option)
        found[key.strip()] = text.strip()
    return found


def _number(block: Block, key: str, text: str, option: str) -> float:
    return quantity(text, block.params[key].unit, f"{option} {key}")
