"""Supplemental damping of the tower by half power: the hybrid test of the wind under harmonic loads at the roof.

As in section 13 of the paper: two cycles up, ten constant, three down; the load is such that the measured damper moves
by 25 mm at resonance. What the inherent damping gives, 2 %, is taken off.
"""

from typing import Any

import numpy as np

from hyloop.files.load import load_experiment
from hyloop.report.charts import Chart
from hyloop.report.display import Line, Panel
from hyloop.report.page import Section
from hyloop.study.half_power import half_power_test

from .hybrid import HERE, MEASURED

# degree of freedom of the roof, frequencies in Hz about the printed resonance of 0.157 and 0.214 Hz
SUPPLEMENTAL = {"N-S": ("floor44.ux", 0.157), "torsion": ("floor44.ry", 0.221)}
NEAR = np.linspace(0.8, 1.2, 13)
MOVED = 0.025  # m
INHERENT = 0.02
# the damper as it was characterised (Table 2), and sensors without noise
AS_PRINTED = (
    'sites.d30NE.device={ law = "viscous_specimen" }',
    "sites.d30NE.transfer.sensor.noise_f=0",
    "sites.d30NE.transfer.sensor.noise_d=0",
)


def sweep(direction: str) -> dict[str, Any]:
    """Damping in %, by the bandwidth as in the paper and by a fit of the resonance curve, and that curve."""
    at, middle = SUPPLEMENTAL[direction]
    experiment = load_experiment(HERE / "wind.toml", AS_PRINTED)
    found = half_power_test(
        experiment,
        at,
        frequencies=(middle * NEAR).tolist(),
        peak=(f"{MEASURED['wind']}.d", MOVED),
        as_given=True,
        workers=1,
    )
    return {
        "supplemental": 100 * (found.band.damping - INHERENT),
        "fitted": 100 * (found.fit.damping - INHERENT),
        "resonance": found.band.frequency,
        "frequency": found.frequency,
        "amplitude": np.abs(found.amplitude),
        "unit": found.unit,
    }


def figure_24(found: dict[str, dict[str, Any]]) -> Section:
    """Resonance curves."""
    panels = []
    for direction, curve in found.items():
        said = f"{direction}: {curve['supplemental']:.1f} % supplemental, resonance at {curve['resonance']:.3f} Hz"
        label = "roof [mm]" if curve["unit"] == "m" else "roof [mrad]"
        panels.append(
            Panel(said, "frequency [Hz]", label, (Line(curve["frequency"], 1e3 * curve["amplitude"], direction, 0),))
        )
    title = "Figure 24: half-power tests"
    return Section(title, charts=[Chart(panels, f"{title}.", "Steady amplitude at the roof.", columns=2)])
