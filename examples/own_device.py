"""A device law of your own, in one function: a damper with a hardening spring, used in a loop and drawn open loop."""

import numpy as np

from hyloop import Loop, Param, Site, block, shear_frame
from hyloop.integrators import newmark_explicit


@block(
    inputs={"d": "m", "v": "m/s"},
    outputs={"f": "N"},
    params={
        "k": Param("N/m", 2e6, low=0.0, about="initial stiffness"),
        "k3": Param("N/m3", 1e11, low=0.0, about="hardening"),
        "c": Param("N s/m", 5e4, low=0.0, about="damping"),
    },
    reference="Duffing (1918), Erzwungene Schwingungen bei veränderlicher Eigenfrequenz",
    linear=lambda k, k3, c: (k, c),
)
def duffing(x, u, dt, p):
    r"""Hardening spring and dashpot, :math:`f = k d + k_3 d^3 + c v`; no state."""
    return (p[0] * u[0] + p[1] * u[0] ** 3 + p[2] * u[1],), ()


# open loop: drive it with any history
d = 5e-3 * np.sin(2 * np.pi * np.arange(0.0, 1.0, 1 / 1024))
force = duffing(k3=2e11).drive(1 / 1024, d=d, v=np.gradient(d) * 1024)["f"]
print(f"peak force {force.max() / 1e3:.1f} kN")

# in a structure: between the ground and the first floor, stopped if it is stretched beyond 20 mm
frame = shear_frame([2e4, 2e4], [2e7, 2e7])
loop = Loop(frame, [Site("damper", frame.story(1), duffing(), max_d=0.02)], method=newmark_explicit(), dt=0.005)
result = loop.run(2.0 * np.sin(2 * np.pi * 1.5 * np.arange(0.0, 10.0, 0.005)))
print(f"peak drift {1e3 * np.abs(result['damper.d']).max():.2f} mm over {len(result) - 1} steps")

# live: one step at a time, the same numbers to the last bit
loop.start(0.0)
for value in 2.0 * np.sin(2 * np.pi * 1.5 * np.arange(0.0, 10.0, 0.005))[1:]:
    loop.step(np.array([value]))
print(f"live and compiled agree: {loop['u.2'] == result['u.2'][-1]}")
