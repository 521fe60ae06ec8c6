"""A run that is killed with SIGKILL again and again, and each time gone on with; a script that tests start.

``python attempts.py FOLDER SEED KILLS paced|straight EVERY`` runs FOLDER/everything.toml without a break into whole.h5,
then into run.h5 in processes that are killed, until there were so many kills. Prints the steps from which it has gone
on, of every recording, as JSON. What is left of the last one is for the test.
"""

import json
import mmap
import os
import random
import signal
import sys
import time
from pathlib import Path

from hyloop.record import Recording, resume_path
from hyloop.study.run import run_file

ANYWHERE = 0.3  # share of the kills that come at any time; the others when the run goes on
LONGEST = 0.5  # s from the beginning, and
MOST = 12  # pieces, and then
WITHIN = 0.02  # s


def attempt(file: Path, out: Path, settings: dict) -> tuple[int, mmap.mmap]:
    """Begin, or go on, in a process of its own; its number, and where it counts pieces."""
    count = mmap.mmap(-1, 8)

    def counted(part: float) -> None:
        count[:] = (int.from_bytes(count[:], "little") + 1).to_bytes(8, "little")

    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            run_file(file, (), out, resume=resume_path(out).exists(), progress=counted, **settings)
            code = 0
        finally:
            os._exit(code)
    return pid, count


def ended(pid: int) -> bool:
    """Whether it has ended; it stays there to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def main(folder: Path, seed: int, kills: int, paced: bool, every: float) -> None:
    file, out, rng, gone_on = folder / "everything.toml", folder / "run.h5", random.Random(seed), []
    settings = {"keep_every": every, "paced": paced}
    run_file(file, (), folder / "whole.h5")
    while kills:
        pid, count = attempt(file, out, settings)
        if rng.random() < ANYWHERE:
            time.sleep(rng.uniform(0.0, LONGEST))
        else:
            wanted = rng.randint(1, MOST)
            while int.from_bytes(count[:], "little") < wanted and not ended(pid):
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, WITHIN))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if os.WIFSIGNALED(status):
            kills -= 1
        else:
            assert os.WEXITSTATUS(status) == 0, "an attempt was refused"
            gone_on.append(Recording.load(out).attributes.get("resumed", []))
            out.rename(folder / f"finished{len(gone_on)}.h5")
    print(json.dumps(gone_on))


if __name__ == "__main__":
    place, seed, kills, how, every = sys.argv[1:]
    main(Path(place), int(seed), int(kills), how == "paced", float(every))
