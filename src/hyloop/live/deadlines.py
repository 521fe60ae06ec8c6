"""How a run on the clock keeps its time: histograms that grow with every tick, and what they say."""

from typing import Any

import numpy as np

__all__ = ["Deadlines"]

_FINE = 8  # bins in one that is drawn: a quantile is told to 7 %
_EDGES = 10.0 ** (-7.0 + np.arange(29 * _FINE + 1) / (4.0 * _FINE))  # s, four bins that are drawn in a decade
_QUANTILES = {"50 %": 0.5, "99 %": 0.99, "99.9 %": 0.999}
_RECENT = 2.0  # s: an overrun this old is over


class Deadlines:
    """Lateness and computing time of every tick, counted as they come; memory does not grow.

    Parameters
    ----------
    tick : float
        Length of a tick in s.
    times : ndarray of int, (2, ticks)
        Lateness and computing time of every tick in ns, written by the loop.
    policy : str
        What is done about ticks that begin too late.
    """

    def __init__(self, tick: float, times: np.ndarray, policy: str = "go on") -> None:
        self.tick, self.policy, self._times, self._seen = tick, policy, times, 0
        self.overruns, self._extrapolated, self._kept = 0, 0, [(0, 0)]
        self._counts = np.zeros((2, len(_EDGES) - 1), int)
        self._largest = np.zeros(2)

    def see(self, ticks: int, overruns: int, extrapolated: int = 0) -> None:
        """Count the ticks that are over: the one under way is not among them."""
        over = min(max(ticks - 1, 0), self._times.shape[1])
        if over > self._seen:
            values = 1e-9 * self._times[:, self._seen : over]
            for k, row in enumerate(values):
                self._counts[k] += np.histogram(np.clip(row, _EDGES[0], _EDGES[-1]), _EDGES)[0]
            self._largest = np.maximum(self._largest, values.max(axis=1))
            self._seen = over
        self.overruns, self._extrapolated = overruns, extrapolated
        self._kept.append((ticks, overruns))
        recent = ticks - _RECENT / self.tick
        while len(self._kept) > 2 and self._kept[1][0] <= recent:
            self._kept.pop(0)

    @property
    def recent(self) -> int:
        """Ticks that began too late within the last moments."""
        return self.overruns - self._kept[0][1]

    def quantile(self, k: int, share: float) -> float:
        """Lateness (0) or computing time (1) in s that so many ticks do not exceed."""
        total = self._counts[k].sum()
        if total == 0:
            return 0.0
        place = int(np.searchsorted(np.cumsum(self._counts[k]), share * total))
        return float(min(_EDGES[min(place + 1, len(_EDGES) - 1)], self._largest[k]))

    def told(self) -> dict[str, Any]:
        """As the attribute ``paced`` of a recording, times in µs."""
        said: dict[str, Any] = {"tick": 1e6 * self.tick, "overruns": self.overruns, "policy": self.policy}
        if self.policy == "extrapolate":
            said["extrapolated"] = self._extrapolated
        if self._seen:
            for k, name in enumerate(("lateness", "work")):
                said[name] = {key: round(1e6 * self.quantile(k, q), 2) for key, q in _QUANTILES.items()}
                said[name]["largest"] = round(1e6 * float(self._largest[k]), 2)
                said[f"{name}, histogram"] = self._counts[k].reshape(-1, _FINE).sum(axis=1).tolist()
        return said
