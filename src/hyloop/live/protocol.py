"""What goes over the websocket.

From the server come binary messages, little-endian::

    4 bytes   length n of the header, a whole number without sign
    n bytes   header: JSON in UTF-8, filled up with spaces so that what follows begins at a multiple of four
    the rest  numbers of single precision

The header says what it is. ``about``: the run has changed; names, panels, and whether it may be stopped. ``frame``: its
number ``n``, the client's place ``at`` and the last row ``now`` in s, whether that is the present (``live``) or moves
on (``playing``), the ``span`` that is drawn in s; ``parts``, for every view with something new ``[id, first bucket,
buckets, rows in a bucket, numbers in a bucket, lines, whether older buckets are void]``, whose numbers follow one after
the other, line by line; now and then ``status``.

From the client come texts, JSON: ``{"views": [...], "span": s or null}`` with views ``{"id", "kind", "points"}`` and
``signals`` (kind ``histories`` or ``values``) or ``pairs`` (kind ``paths``); ``{"at": s or null, "playing": ...}``
where null is the present; ``{"ack": n}``; ``{"stop": true}``.
"""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from hyloop.errors import BadInput
from hyloop.live.views import Histories, Paths, Values, View

__all__ = ["message", "numbers", "wish", "wished_views"]

_MOST_VIEWS, _MOST_SIGNALS, _MOST_POINTS = 200, 2000, 4096
_LONGEST = 1e7  # s


def message(header: dict[str, Any], payload: Sequence[np.ndarray] = ()) -> bytes:
    """A message from the server."""
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return b"".join([len(text).to_bytes(4, "little"), text, *(numbers(array) for array in payload)])


def numbers(values: np.ndarray) -> bytes:
    """Single precision; what it cannot hold is not a number."""
    with np.errstate(over="ignore", invalid="ignore"):
        single = np.ascontiguousarray(values, "<f4")
    finite = np.isfinite(single)
    return single.tobytes() if finite.all() else np.where(finite, single, np.float32(np.nan)).tobytes()


def wish(text: str) -> dict[str, Any]:
    """A message of a client, as far as it can be judged by itself."""
    try:
        said = json.loads(text)
    except ValueError:
        raise BadInput("a message is not JSON") from None
    if not isinstance(said, dict) or not said.keys() <= {"views", "span", "at", "playing", "ack", "stop"}:
        raise BadInput("a message is an object with views and span, at and playing, ack, or stop")
    for key, kinds in (("playing", bool), ("stop", bool), ("views", list)):
        if key in said and not isinstance(said[key], kinds):
            raise BadInput(f"'{key}' is of the wrong kind")
    for key in ("at", "span"):
        value = said.get(key)
        if value is not None and not (_is_number(value) and abs(value) <= _LONGEST):
            raise BadInput(f"'{key}' is no time")
    if "span" in said and said["span"] is not None and said["span"] <= 0.0:
        raise BadInput("'span' is no length of time")
    if "ack" in said and not (type(said["ack"]) is int and said["ack"] >= 0):
        raise BadInput("'ack' is no number of a frame")
    return said


def wished_views(asked: list[Any], signals: int) -> dict[str, tuple[Any, View]]:
    """The views asked for, with what identifies each; there are so many signals."""
    if len(asked) > _MOST_VIEWS:
        raise BadInput(f"at most {_MOST_VIEWS} views")
    found, total = {}, 0
    for spec in asked:
        if not isinstance(spec, dict) or not isinstance(spec.get("id"), str) or len(spec["id"]) > 200:
            raise BadInput("a view has an id")
        kind, points = spec.get("kind"), spec.get("points", 1)
        if type(points) is not int or not 1 <= points <= _MOST_POINTS:
            raise BadInput("a view has too many points, or none")
        pairs = spec.get("pairs") if kind == "paths" else [[number] for number in _list(spec.get("signals"))]
        chosen = tuple(tuple(_list(pair)) for pair in _list(pairs))
        width = 2 if kind == "paths" else 1
        if not chosen or any(
            len(pair) != width or any(type(n) is not int or not 0 <= n < signals for n in pair) for pair in chosen
        ):
            raise BadInput("a view names signals by number")
        total += len(chosen)
        if total > _MOST_SIGNALS:
            raise BadInput(f"at most {_MOST_SIGNALS} lines")
        found[spec["id"]] = ((kind, chosen, points), _view(kind, chosen, points))
    return found


def _view(kind: Any, chosen: tuple[tuple[int, ...], ...], points: int) -> View:
    flat = tuple(number for pair in chosen for number in pair)
    if kind == "histories":
        return Histories(flat, points)
    if kind == "values":
        return Values(flat)
    if kind == "paths":
        return Paths(tuple((x, y) for x, y in chosen), points)
    raise BadInput("a view is histories, paths or values")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BadInput("a list is missing")
    return value


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and value == value
