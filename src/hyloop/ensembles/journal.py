"""Rows on disk, one line each, written behind one another and never changed: what is there survives everything."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from hyloop.ensembles.outcome import AGAIN, Row
from hyloop.errors import BadInput

__all__ = ["Journal"]


class Journal:
    """The rows of a campaign by identity, and the file they stand in.

    A line that a death has cut short (the last one) is taken off when the journal is opened. A row that is there is
    not written again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}
        if path.exists():
            self._read()

    def _read(self) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                row = Row(**json.loads(line))
            except (ValueError, TypeError):
                raise BadInput(
                    f"{self.path}: line {number} is damaged. Remove this line to run it again, or the file to run all."
                ) from None
            self.rows[row.identity] = row
        if len(whole) < len(data):
            with open(self.path, "r+b") as file:
                file.truncate(len(whole))

    def _open(self, identity: str) -> bool:
        return identity not in self.rows or self.rows[identity].outcome in AGAIN

    def add(self, rows: Iterable[Row]) -> list[Row]:
        """Write rows and wait until the disk has them; returns those that are new.

        Where the disk is full, or somebody interrupts, what has been written is taken back: the journal stays whole.
        """
        new = {row.identity: row for row in rows if self._open(row.identity)}
        data = "".join(json.dumps(row.as_dict(), ensure_ascii=False) + "\n" for row in new.values()).encode()
        with open(self.path, "ab", buffering=0) as file:
            before = file.tell()
            try:
                while data:
                    data = data[file.write(data) :]
                os.fsync(file.fileno())
            except BaseException as error:
                if data or isinstance(error, OSError):
                    os.ftruncate(file.fileno(), before)
                else:  # interrupted while the disk is at work: the lines are whole
                    self.rows |= new
                raise
        self.rows |= new
        return list(new.values())
