"""A 40-story tower with 1080 braces that yield and outriggers on viscous dampers, under a strong earthquake."""

import numpy as np

from hyloop import Loop, Site
from hyloop.buildings.tower import Tower, tower
from hyloop.devices import nonlinear_viscous
from hyloop.hazards import default_motion
from hyloop.integrators import mkr_alpha
from hyloop.structure import modal_and_stiffness

layout = Tower()  # any field may differ: Tower(outriggers=(24, 44), eccentricity=(0.0, 0.0))
model = tower(layout)
# what has neither mass nor brace is condensed, which is exact
structure = model.structure(lambda s: modal_and_stiffness(s, 0.02, modes=30), condense=layout.retained)
print(f"{len(model.nodes)} nodes, {len(model.members)} members, {structure.n} degrees of freedom kept")
print("periods", ", ".join(f"{T:.2f}" for T in structure.modes(count=5).periods), "s")

# five dampers at the tip of every outrigger, up to the corner column; linear below 2 cm/s
damper = nonlinear_viscous(C=708e3, alpha=0.457, v_lin=0.02)
sites = [
    Site(f"damper{k}", model.direction(structure, column, tip, "uy"), damper, count=5)
    for k, (column, tip) in enumerate(layout.dampers, start=1)
]

dt = 1 / 128
ground = np.column_stack([default_motion(seed).resampled(dt).a for seed in (1, 2)])  # north-south, east-west
for name, devices in (("bare", []), ("with dampers", sites)):
    channels = ["u.floor44.ux", *(f"{site.name}.{signal}" for site in devices for signal in "df")]
    result = Loop(structure, devices, method=mkr_alpha(0.75), dt=dt).run(ground, record=channels)
    roof = result["u.floor44.ux"]
    print(f"{name}: roof {100 * np.abs(roof).max():.0f} cm, at the end {100 * abs(roof[-1]):.0f} cm")
stroke = max(np.abs(result[f"{site.name}.d"]).max() for site in sites)
force = max(np.abs(result[f"{site.name}.f"]).max() for site in sites)
print(f"dampers: up to {1e3 * stroke:.0f} mm and {force / 1e3:.0f} kN each")
