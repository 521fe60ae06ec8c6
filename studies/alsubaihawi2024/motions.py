"""Deformation histories of the twelve dampers, from the modes of the tower that work them.

The tower itself is not modelled here. A damper at an outrigger end lengthens with the rotation of its level, so its
deformation is a sum of modal coordinates, each the response of an oscillator with the printed frequency:

    d = s_NS [a1 q1 + a2 q2] + s_NS s_EW [t1 q3 + t2 q4]

N-S modes work north and south ends in opposite senses, torsion (warping) also east and west ends. E-W modes do not work
the dampers. The weights over the three levels are a guess, fixed before any filter was run, and the sign of the torsion
is such that the measured damper moves most; one factor scales all histories to its stroke.
"""

from itertools import product

import numpy as np

from hyloop.data import data_folder
from hyloop.errors import BadInput
from hyloop.hazards import band_limited_noise, find_record, read_record, synthetic_motion
from hyloop.hazards.design_spectrum import asce7_spectrum
from hyloop.integrators import newmark_explicit
from hyloop.loop import Loop
from hyloop.structure import Structure

DT = 1 / 1024  # s
LEVELS, CORNERS = (20, 30, 40), ("NW", "NE", "SW", "SE")
PLACES = [f"{level} {corner}" for level, corner in product(LEVELS, CORNERS)]
MEASURED = {"earthquake": "30 NW", "wind": "30 NE"}  # section 6 of the paper

# Table 4 of the paper (Hz): N-S 1 and 2, torsion 1 and 2; damping of the first of each by half power, the others 5 %
FREQUENCIES = {"earthquake": (0.149, 0.570, 0.213, 0.685), "wind": (0.150, 0.585, 0.214, 0.683)}
DAMPING = (0.104, 0.05, 0.075, 0.05)
WEIGHTS = {20: (0.85, 0.6, 0.8, 0.3), 30: (1.0, 0.0, 1.0, -0.1), 40: (0.9, -0.6, 1.1, -0.4)}
TORSION = -0.4  # of the translation; the sign makes the measured damper move most in the earthquake, as in the paper

RECORD = "superstition-hills-el-centro-imp-co"
STROKE = 0.120  # m, earthquake: the stroke of the damper is 125 mm, and the earthquake uses nearly all of it
SWAY, OFFSET, RAMP = 0.025, 0.040, 30.0  # m, m, s: wind, oscillation about an offset that comes and goes in 30 s
REST = 20.0  # s of free vibration after the record


def earthquake():
    """Histories in the tower shaken by a recorded pair of motions, and a note on what was used."""
    try:
        if data_folder() is None:
            raise BadInput("there is no folder of records.")
        pair = [read_record(find_record(f"{RECORD}_{k}")).resampled(DT).a for k in (1, 2)]
        note = f"earthquake: both components of {RECORD}"
    except BadInput:
        periods = np.geomspace(0.05, 4.0, 60)
        target = asce7_spectrum(periods, 9.81, 5.9, 8.0)
        pair = [synthetic_motion(periods, target, 40.0, 0.01, seed).resampled(DT).a for seed in (1, 2)]
        note = f"earthquake: the record {RECORD} is missing, synthetic motions are used instead"
    length = min(len(a) for a in pair)
    ground = np.zeros((length + round(REST / DT), 2))
    ground[:length] = np.column_stack([a[:length] for a in pair])
    histories = _dampers("earthquake", ground)
    return _scaled(histories, STROKE / np.abs(histories[MEASURED["earthquake"]]).max()), note


def wind(seed):
    """Histories in a tower that sways narrow-banded about an offset: 325 s with ramps of 30 s."""
    duration, rise = 325.0, RAMP
    # the modes filter the noise; the band holds the slow background and all four frequencies
    loads = [band_limited_noise(1.0, 0.02, 1.0, duration, DT, 2 * seed + k).a for k in (0, 1)]
    t = np.arange(len(loads[0])) * DT
    ramp = np.clip(np.minimum(t, duration - t) / rise, 0.0, 1.0)
    sway = _dampers("wind", np.column_stack(loads) * ramp[:, None])
    factor = SWAY / np.abs(sway[MEASURED["wind"]]).max()
    mean = _signs()[:, 0] * [
        WEIGHTS[int(place[:2])][0] for place in PLACES
    ]  # an offset has the shape of the first mode
    return {place: factor * sway[place] + OFFSET * mean[i] * ramp for i, place in enumerate(PLACES)}


def _signs():
    """s_NS and s_NS s_EW of every place."""
    north = np.array([1.0 if "N" in place else -1.0 for place in PLACES])
    west = np.array([1.0 if "W" in place else -1.0 for place in PLACES])
    return np.column_stack([north, north * west])


def _dampers(hazard, ground):
    """Sum of modal coordinates at every place; column 0 of `ground` drives the N-S modes, column 1 torsion."""
    w = 2.0 * np.pi * np.array(FREQUENCIES[hazard])
    influence = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, TORSION], [0.0, TORSION]])
    modes = Structure(np.eye(4), np.diag(w**2), np.diag(2.0 * np.array(DAMPING) * w), influence=influence)
    q = Loop(modes, method=newmark_explicit(), dt=DT).run(ground, record=["u.*"]).data
    signs = np.repeat(_signs(), 2, axis=1)
    return {place: q @ (signs[i] * np.array(WEIGHTS[int(place[:2])])) for i, place in enumerate(PLACES)}


def _scaled(histories, factor):
    return {place: factor * d for place, d in histories.items()}
