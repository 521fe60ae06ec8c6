"""Results that are there already: kept under another name, unless --force says that they may go."""

import shutil
from collections.abc import Callable
from pathlib import Path

from hyloop.cli.console import errors
from hyloop.errors import BadInput
from hyloop.record import PICTURE, RESUME

__all__ = ["check_results", "keep_page", "keeper"]


def check_results(out: Path | None, force: bool) -> None:
    """Refuse what --out names if it is there; with --force, only a folder that is not one of results."""
    if out is None or not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return
    if not force:
        raise BadInput(f"{out} exists. Give another name, or --force to replace it.")
    if out.is_dir() and not (out / "claims.json").is_file():
        raise BadInput(f"{out} holds other files than results of a study. Give another name.")


def keeper(force: bool) -> Callable[[Path], None]:
    """What to do with earlier results that were renamed: say so, or remove them."""

    def keep(earlier: Path) -> None:
        if not force:
            errors.print(
                f"the earlier {'results are' if earlier.is_dir() else 'recording is'} now {earlier}", soft_wrap=True
            )
        elif earlier.is_dir():
            shutil.rmtree(earlier)
        else:
            earlier.unlink()
            for suffix in (".html", PICTURE, RESUME):  # they would show what is no longer there
                earlier.with_suffix(suffix).unlink(missing_ok=True)

    return keep


def keep_page(earlier: Path, force: bool) -> None:
    """Say where an earlier page is now, or remove it."""
    if force:
        earlier.unlink()
    else:
        errors.print(f"the earlier page is now {earlier}", soft_wrap=True)
