"""One client: where in time it is, what it looks at, and how far it has kept up."""

from time import monotonic
from typing import Any

from hyloop.live.protocol import message, wished_views
from hyloop.live.views import View
from hyloop.live.watched import Watched

__all__ = ["Viewer"]

_AHEAD = 4  # frames that may be on their way; a client that has more to read is left in peace
_TOLD = 0.2  # s between two statuses
_PATIENCE = 20.0  # s without an answer, after which a client is taken for dead


class Viewer:
    """What is sent to one client.

    Its place in time is the present, or a time at which it has paused, or one from which it plays on. Views end there.

    Parameters
    ----------
    watched : Watched
    """

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._views: dict[str, tuple[Any, View]] = {}
        self._span: float | None = None
        self._at: float | None = None
        self._since: float | None = None  # playing on, since this time of the clock
        self._frames = self._acknowledged = 0
        self._heard = monotonic()
        self._told, self._said = 0.0, ""
        self._mode: dict[str, bool] = {}

    def wish(self, said: dict[str, Any]) -> None:
        """Follow a message of the client; those about stopping are not for here."""
        if "ack" in said:
            self._acknowledged, self._heard = min(max(said["ack"], self._acknowledged), self._frames), monotonic()
        if "views" in said:
            wanted = wished_views(said["views"], len(self._watched.signals))
            kept = {name: old for name, old in self._views.items() if name in wanted and wanted[name][0] == old[0]}
            self._views = wanted | kept
            self._span = said.get("span")
        if "at" in said:
            self._at = None if said["at"] is None else float(said["at"])
            self._since = monotonic() if said.get("playing") and self._at is not None else None

    @property
    def keeps_up(self) -> bool:
        """Whether it has read what was sent, but for a few frames."""
        return self._frames - self._acknowledged < _AHEAD

    @property
    def dead(self) -> bool:
        """Whether it has not answered for long."""
        return not self.keeps_up and monotonic() - self._heard > _PATIENCE

    def _place(self) -> float:
        """Time in s up to which it sees, and the end of playing."""
        last = self._watched.time(self._watched.count - 1)
        if self._at is None:
            return last
        at = self._at + (0.0 if self._since is None else monotonic() - self._since)
        if self._since is not None and at >= last:
            self._at, self._since = last, None
        return min(max(at, self._watched.source.t0), last)

    def frame(self, status: dict[str, Any]) -> bytes | None:
        """What is new for this client; None if nothing is."""
        watched, at = self._watched, self._place()
        end = watched.count if self._at is None else watched.row(at) + 1
        span = watched.planned if self._span is None else max(round(self._span / watched.source.dt), 1)
        begin = max(end - span, 0)
        parts, payload = [], []
        for name, (_, view) in self._views.items():
            part = view.part(watched, begin, end, span)
            if part is not None:
                lines, width = part.numbers.shape[0], part.numbers.size // max(part.numbers.shape[0] * part.buckets, 1)
                parts.append([name, part.first, part.buckets, part.size, width, lines, part.fresh])
                payload.append(part.numbers)
        header: dict[str, Any] = {"kind": "frame", "n": self._frames + 1, "at": watched.time(end - 1), "parts": parts}
        header |= {"now": watched.time(watched.count - 1), "span": span * watched.source.dt}
        mode = {"live": self._at is None, "playing": self._since is not None}
        told = self._say(status)
        if told:
            header["status"] = status
        if not parts and not told and mode == self._mode:
            return None
        self._frames, self._mode = self._frames + 1, mode
        return message(header | mode, payload)

    def _say(self, status: dict[str, Any]) -> bool:
        """Whether the status is worth sending: it has changed, and not just now was another one sent."""
        now = monotonic()
        if now - self._told < _TOLD or (said := repr(status)) == self._said:
            return False
        self._told, self._said = now, said
        return True
