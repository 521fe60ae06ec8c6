"""`python -m hyloop.live`: the server of the page, started by the command line."""

from hyloop.live.server import main

main()
