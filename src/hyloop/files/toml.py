"""TOML files as people write them: with a mark of the byte order or without, and refused in words."""

import codecs
import tomllib
from pathlib import Path
from typing import Any

from hyloop.errors import BadInput
from hyloop.files.examples import hint

__all__ = ["DEEPEST", "parse_toml", "read_toml"]

DEEPEST = 50  # tables within tables; what comes after recurses, and no file that means something is as deep


def read_toml(path: Path, asked: str = "") -> dict[str, Any]:
    """The tables of a file; `asked` says who wanted it, as in ", included by base.toml,"."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:  # a ValueError: a name no file can have
        advice = hint(path) if isinstance(error, FileNotFoundError) else ""
        raise BadInput(f"{path}: the file{asked} cannot be read ({error}). {advice or 'Check the path.'}") from None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadInput(f"{path}: is a text file in UTF-16. Save it as UTF-8.")
    try:
        return parse_toml(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadInput(f"{path}: is not a text file in UTF-8. Give a TOML file, or save this one as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        said = "tables or lists are nested too deeply" if isinstance(error, RecursionError) else str(error).rstrip(".")
        raise BadInput(f"{path}: not valid TOML: {said}. Texts, also those with units, need quotes.") from None


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a text; a `ValueError` or `RecursionError` if it has none."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # Python's own guard against numbers of thousands of digits
        raise ValueError("a number has too many digits") from error
    level: list[Any] = [data]
    for _ in range(DEEPEST):
        level = [part for table in level for part in (table.values() if isinstance(table, dict) else table)]
        level = [part for part in level if isinstance(part, dict | list)]
        if not level:
            return data
    raise RecursionError
