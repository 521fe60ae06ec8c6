"""What may stand in the second story, as changes of the file: the truth, three stand-ins, and nothing."""

from pathlib import Path
from typing import Any

from hyloop.files.load import read_experiment
from hyloop.files.units import quantity

FILE = Path(__file__).parent / "frame.toml"
TRUTH, NETWORK, FOLLOWED, FIXED, NOTHING = (
    "specimen",
    "listening network",
    "updated law (CUKF)",
    "fixed law",
    "no dampers",
)
# of the filter, as in studies/malik2025, where they were chosen on training events
BOUNDS, NOISE, PROCESS = (0.01, 2.0), 1e3, 1e-2  # of the nominal sigma0 and sigma1; N; of the nominal value in a tick
UNITS = {"sigma0": "N/m", "sigma1": "N s/m"}
PLACE = "story = 2, count = 4"


def changes(model: str) -> list[str]:
    """Of the file, which has the network."""
    if model == NETWORK:
        return []
    site, law = "sites.damper2", nominal()
    if model == TRUTH:  # a second damper of the make that is drawn for the laboratory
        own = 'law = "brfd_stick_slip", draw = "damper1", mismatch = 0.01, centred = "0.5 mm"'
        return [f"{site}={{ {PLACE}, device = {{ {own} }} }}"]
    if model == FIXED:
        return [f"{site}={{ {PLACE}, device = {_table(law)} }}"]
    if model == NOTHING:  # a spring of no stiffness, so that the channels of the site are there
        return [f'{site}={{ {PLACE}, device = {{ law = "spring", k = 0.0 }} }}']
    free = {key: [part * quantity(law[key], unit, key) for part in BOUNDS] for key, unit in UNITS.items()}
    follow = {"updater": "unscented", "device": law, "free": free, "noise": NOISE, "process": PROCESS}
    return [
        f"sites.damper1.model={_table(follow | {'initial_std': PROCESS})}",
        f'{site}={{ {PLACE}, follows = "damper1" }}',
    ]


def nominal() -> dict[str, str]:
    """LuGre, fitted to a harmonic test of the device as it is meant to be: what the network falls back to."""
    return read_experiment(FILE)["sites"]["damper2"]["trust"]["fallback"]


def _table(values: dict[str, Any]) -> str:
    """A table as it stands in a line of a file."""
    return "{ " + ", ".join(f"{key} = {_word(value)}" for key, value in values.items()) + " }"


def _word(value: Any) -> str:
    return _table(value) if isinstance(value, dict) else f'"{value}"' if isinstance(value, str) else repr(value)
