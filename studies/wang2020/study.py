"""The six-story frame of Wang et al. (2020): Reference and Traditional cases."""

import numpy as np

from hyloop.metrics import running_rmsd
from hyloop.study.build import build
from hyloop.study.load import load_experiment
from hyloop.study.report import Table

ELEMENTS = (2, 4, 6, 8, 10, 12)  # one brace of each story, as in Table 5
QUICK, FULL = 8.0, 25.0  # s of the record
RECORD = "El Centro is not in the data folder; a synthetic motion took its place."


def run(job):
    """Values of all claims; errors are those of the Traditional case against the Reference case."""
    duration = QUICK if job.quick else FULL
    shorter = [f"excitation.duration={duration}s", f"excitation.fallback.duration={duration}s"]
    cases = {case: job.run(case, f"{case.lower()}.toml", *shorter).recording for case in ("Reference", "Traditional")}
    loop = build(load_experiment(job.folder / "reference.toml")).loop
    values = {"first period": loop.modes().periods[0], "second period": loop.modes().periods[1]}
    rows = []
    for story, element in enumerate(ELEMENTS, start=1):
        exact, ours = (cases[case][f"brace{element}.f"] for case in ("Reference", "Traditional"))
        rms, rmsd = np.sqrt(np.mean(exact**2)) / 1e3, running_rmsd(exact, ours)[-1]
        worst, peak = np.abs(exact - ours).max() / 1e3, np.abs(exact).max() / 1e3
        values[f"rms force of element {element}"] = rms
        values[f"RMSD of element {element}, Traditional"] = rmsd
        rows.append([story, element, f"{peak:.1f}", f"{rms:.1f}", f"{worst:.1f}", f"{rmsd:.3f}"])
    columns = ["story", "element", "peak force, kN", "rms force, kN", "max error, kN", "RMSD at the end"]
    job.tables.append(Table(f"Traditional against Reference over {duration:g} s", columns, rows))
    timed = [claim for claim in values if "period" not in claim]
    if job.quick:
        job.not_comparable |= dict.fromkeys(timed, f"quick run: {QUICK:g} s instead of {FULL:g} s")
    elif any("synthetic" in note for note in job.notes):
        job.not_comparable |= dict.fromkeys(timed, RECORD)
    return values
