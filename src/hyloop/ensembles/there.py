"""What a worker of a cluster does before it runs a batch: is this the same hyloop, and does it see the same files?"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from hyloop.data import data_folder
from hyloop.data.folders import VARIABLE
from hyloop.ensembles.identity import beside, identity
from hyloop.ensembles.measures import Measure
from hyloop.ensembles.outcome import Row
from hyloop.ensembles.work import Batch, Done, tables, work
from hyloop.errors import BadInput
from hyloop.study.tasks import ONE_THREAD, library_digest

__all__ = ["Sender", "named_files", "run_there", "sender"]

_alone = Lock()  # what a process keeps (structures, motions, tables) is shared, so it runs one batch at a time
_SHOWN = 3  # names of files in a reason


class Sender(NamedTuple):
    """Who hands out: what a worker must have in common with it.

    Attributes
    ----------
    library : str
        Digest of hyloop's sources and of what it computes with.
    folder, data : str
        Where it works, and its folder of data; taken over where they are there.
    """

    library: str
    folder: str
    data: str


def sender() -> Sender:
    """This process as the one that hands out."""
    return Sender(_library(), os.getcwd(), str(data_folder() or ""))


def run_there(by: Sender, batch: Batch, files: tuple[str, ...]) -> Done:
    """Run a batch for a process elsewhere.

    Runs whose identity is another one here, because a file is missing or another, are not run: their rows say so.
    `files` are those that the batch names where it comes from.

    Raises
    ------
    BadInput
        If this is not the hyloop that the sender has.
    """
    if by.library != _library():
        raise BadInput(
            f"the worker on {socket.gethostname()} has another hyloop, or other versions of what it computes with, so "
            "its numbers might differ. Install there what is installed here, and start the workers anew."
        )
    with _alone, _surroundings(by):
        reasons = {key: _unseen(batch, key, overrides, files) for key, overrides in batch.runs}
        done = work(batch._replace(runs=tuple(run for run in batch.runs if not reasons[run[0]])))
    ran = {row.identity: row for row in done.rows}
    rows = [ran.get(key) or Row(key, "unseen", reasons[key]) for key, _ in batch.runs]
    return Done(rows, done.seconds)


@cache
def _library() -> str:
    return library_digest()


@lru_cache(maxsize=4)
def _beside(measures: tuple[Measure, ...]) -> str:
    return beside(measures)


@cache
def _one_thread() -> threadpool_limits:
    """One thread for this process, from now on: its libraries sum in another order with several."""
    os.environ.update(ONE_THREAD)
    return threadpool_limits(1)


@contextmanager
def _surroundings(by: Sender) -> Iterator[None]:
    """Folder and data of the sender where this machine has them: names of files are relative to them."""
    _one_thread()
    here, data = os.getcwd(), os.environ.get(VARIABLE)
    if os.path.isdir(by.folder):
        os.chdir(by.folder)
    if os.path.isdir(by.data):
        os.environ[VARIABLE] = by.data
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.pop(VARIABLE, None)
        if data is not None:
            os.environ[VARIABLE] = data


def _unseen(batch: Batch, key: str, overrides: tuple[str, ...], files: tuple[str, ...]) -> str:
    """Why a run cannot be done here; empty if it can."""
    host, advice = socket.gethostname(), "Let all machines see one file system, and go on."
    if batch.recordings and not os.path.isdir(batch.recordings):
        return f"{host} does not see the folder of recordings, {batch.recordings}. {advice}"
    try:
        if identity(tables(batch.text), overrides, _beside(batch.measures)) == key:
            return ""
    except BadInput as error:  # there is no folder of records
        return f"{host}: {error} {advice}"
    if missing := [name for name in files if not _is_file(name)]:
        return f"{host} does not see {', '.join(missing[:_SHOWN])}. {advice}"
    return f"{host} has not the same files, or not the same records, as the machine that hands out. {advice}"


def named_files(batch: Batch) -> tuple[str, ...]:
    """Files that the tables and the changes of a batch name, as this machine sees them."""
    changes = {change for _, overrides in batch.runs for change in overrides}
    names = {*_named(batch.text), *(text for text in _texts([*changes]) if _is_file(text))}
    return tuple(sorted(names))


@lru_cache(maxsize=4)
def _named(text: str) -> tuple[str, ...]:
    return tuple(name for name in _texts(tables(text)) if _is_file(name))


def _texts(value: Any) -> Iterator[str]:
    """All texts of tables and lists; of a change what stands behind its equals sign."""
    if isinstance(value, str):
        yield value.partition("=")[2].strip(" '\"") if "=" in value else value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(part)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # a text that no name can be
        return False
