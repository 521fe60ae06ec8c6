"""A run in the browser while it goes on, or a recording: a server of its own that looks on and is never waited for.

The loop writes into memory that the server maps, or into a file that it reads; nothing leads back, but for one number
that a person may set to end the run, where that was allowed.
"""

from hyloop.live.launcher import PageServer

__all__ = ["PageServer"]
