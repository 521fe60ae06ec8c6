"""What can be drawn: the channels, and differences of two of them."""

from collections.abc import Sequence

import numpy as np

__all__ = ["Signals"]


class Signals:
    """Channels in their order, then differences of channels; a signal has a number.

    Attributes
    ----------
    names, units : list of str
        Of every signal.
    """

    def __init__(self, names: Sequence[str], units: Sequence[str]) -> None:
        self.names, self.units = list(names), list(units)
        self._numbers = {name: k for k, name in enumerate(names)}
        self._channels = len(self.names)
        self._plus: list[int] = []
        self._minus: list[int] = []

    def __contains__(self, name: str) -> bool:
        return name in self._numbers

    def __getitem__(self, name: str) -> int:
        return self._numbers[name]

    def __len__(self) -> int:
        return len(self.names)

    def difference(self, name: str, plus: str, minus: str) -> int:
        """One channel less another, by a name of its own."""
        self._plus.append(self._numbers[plus])
        self._minus.append(self._numbers[minus])
        self._numbers[name] = len(self.names)
        self.names.append(name)
        self.units.append(self.units[self._numbers[plus]])
        return self._numbers[name]

    def of(self, rows: np.ndarray, chosen: Sequence[int] | None = None) -> np.ndarray:
        """All signals of some rows of channels, or those with the numbers given."""
        if chosen is None:
            return np.hstack([rows, rows[:, self._plus] - rows[:, self._minus]]) if self._plus else rows
        numbers = np.asarray(chosen, int)
        beyond = numbers >= self._channels
        if not beyond.any():
            return rows[:, numbers]
        values = rows[:, np.where(beyond, 0, numbers)]
        which = numbers[beyond] - self._channels
        values[:, beyond] = rows[:, np.array(self._plus)[which]] - rows[:, np.array(self._minus)[which]]
        return values
