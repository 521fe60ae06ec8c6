"""A two-story building in space that twists: yielding braces on one side, eccentric mass, masses that bounce."""

STRUCTURE = """
[structure]
kind = "frame"
dimensions = 3

[structure.grid]
x = { A = 0, B = "6 m" }
z = { S = 0, N = "5 m" }
levels = [0, "3.6 m", "7 m"]

[structure.supports]
fixed = ["??0"]

[structure.materials.core]
kind = "steel"
fy = "290 MPa"
E = "200 GPa"
b = "2 %"

[structure.sections.column]
kind = "elastic"
E = "200 GPa"
G = "77 GPa"
A = "40 cm2"
Iz = "8e3 cm4"
Iy = "3e3 cm4"
J = "50 cm4"

[structure.members.columns]
kind = "elastic"
section = "column"
lines = [["AS{n-1}", "AS{n}"], ["BS{n-1}", "BS{n}"], ["AN{n-1}", "AN{n}"], ["BN{n-1}", "BN{n}"]]
n = "1..2"

[structure.members.beams]
kind = "elastic"
section = "column"
lines = [["AS{n}", "BS{n}"], ["AN{n}", "BN{n}"], ["AS{n}", "AN{n}"], ["BS{n}", "BN{n}"]]
n = "1..2"

[structure.members.braces]
kind = "brace"
material = "core"
area = "4 cm2"
length = "4 m"
lines = [["AS{n-1}", "BS{n}"], ["AS{n-1}", "AN{n}"]]
n = "1..2"

[structure.floors.floor]
n = "1..2"
nodes = ["??{n}"]
centre = ["3.6 m", "2 m"]
mass = "30 t"
rotary = "180 t m2"

[[structure.masses]]
n = "1..2"
nodes = ["??{n}"]
uy = "7.5 t"

[structure.damping]
kind = "modal_and_stiffness"
ratio = "2 %"
count = 6
"""

INTEGRATOR = """
[integrator]
method = "mkr_alpha"
rho_inf = 1.0
dt = "1 ms"
"""

MOTIONS = """
[excitations.east]
kind = "noise"
rms = "0.35 g"
low = "0.4 Hz"
high = "6 Hz"
duration = "2.5 s"
direction = "x"

[excitations.up]
kind = "noise"
rms = "0.2 g"
low = "2 Hz"
high = "12 Hz"
duration = "2 s"
direction = "y"

[excitations.south]
kind = "noise"
rms = "0.25 g"
low = "0.4 Hz"
high = "6 Hz"
duration = "2.5 s"
direction = "-z"
"""
