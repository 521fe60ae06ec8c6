"""Tasks of the study: tests of one record or wind with every specimen, with the filter of the paper and with ours."""

from typing import Any

from .events import overrides
from .filters import gone_wrong
from .hybrid import built, post_test, run
from .response import response

SHORT = "loads.wind.duration=70 s"  # of a quick run


def words(hazard: str, event: Any, quick: bool) -> tuple[str, ...]:
    """What an experiment file must hear for an event: the name of a record, or the seed of a wind."""
    if hazard == "earthquake":
        return tuple(overrides(event))
    return (f"seed={event}", *([SHORT] if quick else []))


def models(hazard: str, event: Any, names: tuple[str, ...], seeds: tuple[int, ...], quick: bool) -> dict[str, Any]:
    """Errors by filter ("ours", "printed"), specimen and seed; of the first seed also what can go wrong in a filter."""
    result: dict[str, Any] = {"note": ""}
    for filter_ in ("ours", "printed"):
        ready = built(hazard, words(hazard, event, quick), filter_ == "printed")
        result["note"] = "; ".join(ready.notes)
        for name in names:
            for seed in seeds:
                found = run(ready, hazard, name, seed)
                result[f"{filter_}|{name}|{seed}"] = post_test(found, hazard, name, seed)
                if filter_ == "printed" and seed == seeds[0]:
                    result[f"wrong|{name}"] = gone_wrong(found, hazard, name)
    return result


def building(hazard: str, event: Any, damped: bool, quick: bool) -> dict[str, Any]:
    """What the building goes through."""
    return response(hazard, words(hazard, event, quick), damped)
