"""Runs the experiment FILE on the clock into OUT, and prints the part that is done: ``python guarded.py FILE OUT``."""

import sys
from pathlib import Path

from hyloop.errors import HyloopError
from hyloop.study.run import run_file

try:
    run_file(Path(sys.argv[1]), (), Path(sys.argv[2]), paced=True, progress=lambda part: print(part, flush=True))
except HyloopError as error:
    sys.exit(str(error))
