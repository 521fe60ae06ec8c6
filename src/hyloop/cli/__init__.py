"""The command line: ``hyloop --help``."""

from hyloop.cli.main import main

__all__ = ["main"]
