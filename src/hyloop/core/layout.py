"""Names of everything in the one flat memory of a run.

Signals and parameters share one vector, the *bus*: a parameter is a signal that nobody happens to write, so
an updater changes a model simply by listing ``damper2.Fc`` among its outputs.
"""

from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from hyloop.errors import BadInput, UnknownName

__all__ = ["Layout"]


@dataclass
class Layout:
    """Channel names and units of the bus, in order."""

    names: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)
    selected: dict[tuple[str, ...], list[int]] = field(default_factory=dict)  # a run asks for the same ones many times

    def add(self, name: str, unit: str) -> int:
        """Append a channel and return its position."""
        if name in self.positions:
            raise BadInput(f"channel '{name}' exists twice; give sites, and what is watched, different names.")
        self.selected.clear()
        self.positions[name] = len(self.names)
        self.names.append(name)
        self.units.append(unit)
        return self.positions[name]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> int:
        try:
            return self.positions[name]
        except KeyError:
            raise UnknownName("channel", name, self.names) from None

    def select(self, patterns: list[str]) -> list[int]:
        """Positions of all channels that match any pattern (``*`` and ``?`` as in a shell), in bus order."""
        key, chosen = tuple(patterns), set()
        if key in self.selected:
            return self.selected[key]
        for pattern in patterns:
            if pattern in self.positions:  # a name in full, of which a large model has thousands
                chosen.add(self.positions[pattern])
                continue
            found = [i for i, name in enumerate(self.names) if fnmatchcase(name, pattern)]
            if not found:
                raise UnknownName("channel", pattern, self.names)
            chosen.update(found)
        self.selected[key] = sorted(chosen)
        return self.selected[key]
