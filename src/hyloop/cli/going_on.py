"""What is said of a folder of runs where a command is broken off: that they are kept, and how to go on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hyloop.cli.surroundings import unwritable
from hyloop.ensembles.campaign import JOURNAL
from hyloop.errors import HyloopError

__all__ = ["going_on"]


@contextmanager
def going_on(folder: Path) -> Iterator[None]:
    """Tell whoever interrupts the block, or has no room left on the disk, what the folder holds by then."""
    try:
        yield
    except KeyboardInterrupt as stop:
        stop.args = (*stop.args, *_there(folder))
        raise
    except OSError as error:
        if not (there := _there(folder)):
            raise
        raise HyloopError(f"{unwritable(error)[0]} {there[0]}.") from error


def _there(folder: Path) -> list[str]:
    """A sentence about the runs; none where there are none."""
    try:
        runs = (folder / JOURNAL).read_bytes().count(b"\n")
    except OSError:
        return []
    return [f"{folder} holds {runs} runs, and the same command goes on"] if runs else []
