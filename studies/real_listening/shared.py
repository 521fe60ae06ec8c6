"""What other studies have and this one uses: sessions, laws and filters of real_pairs, files of malik2025."""

from importlib import import_module
from pathlib import Path

from hyloop.study.code import loaded_code

_STUDIES = Path(__file__).parents[1]
_real_pairs = loaded_code(_STUDIES / "real_pairs").__name__
_malik2025 = loaded_code(_STUDIES / "malik2025").__name__

sessions = import_module(f"{_real_pairs}.sessions")
hearing = import_module(f"{_real_pairs}.hearing")
band = import_module(f"{_real_pairs}.band")
baselines = import_module(f"{_malik2025}.baselines")
kept = import_module(f"{_malik2025}.data")
