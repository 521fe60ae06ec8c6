"""An eight-story frame with eight devices, 4096 steps: its response under JAX, its gradient, and the compiled run.

The gradient is that of a smooth peak drift over all parameters of all devices, in reverse mode. Goal: at most ten times
the response under JAX.
"""

import os
from typing import Any

import numpy as np

from benchmarks.frame8 import MASS, STIFFNESS, STORIES, ground
from benchmarks.measure import interleaved, report
from hyloop import Loop, Site, shear_frame
from hyloop.devices import bilinear, bouc_wen
from hyloop.integrators import newmark_explicit

__all__ = ["differentiable"]

STEPS, DT, REPEATS, EXPONENT = 4096, 0.005, 15, 30.0
LAWS = {"bilinear": bilinear(k=1e7, f_y=2e4), "bouc_wen": bouc_wen(k=1e7, d_y=2e-3)}


def differentiable() -> dict[str, Any]:
    """Milliseconds of a history; ratios are to the response under JAX."""
    os.environ.setdefault("JAX_ENABLE_X64", "1")  # it counts if JAX was not imported before
    import jax
    import jax.numpy as jnp

    from hyloop.learn import differentiable as made

    frame = shear_frame([MASS] * STORIES, [STIFFNESS] * STORIES)
    frame = frame.with_damping(0.6 * frame.M + 1e-3 * frame.K)
    e = np.resize(ground(), STEPS + 1)
    jobs, ratios = {}, {}
    for name, law in LAWS.items():
        sites = [Site(f"damper{k + 1}", frame.story(k + 1), law) for k in range(STORIES)]
        loop = Loop(frame, sites, method=newmark_explicit(), dt=DT)
        response = made(loop, "damper*", "drift.*")

        def peak(values: Any, response: Any = response) -> Any:
            y = jnp.stack(list(response(values, e).values()))
            return jnp.sum(jnp.abs(y) ** EXPONENT) ** (1.0 / EXPONENT)

        values, forward, backward = response.parameters, jax.jit(peak), jax.jit(jax.grad(peak))
        jobs[name] = lambda f=forward, v=values: jax.block_until_ready(f(v))
        jobs[f"{name}, gradient"] = lambda f=backward, v=values: jax.block_until_ready(f(v))
        jobs[f"{name}, compiled run"] = lambda one=loop: one.run(e, record="u.*")
    times = interleaved({key: (lambda job=job: (job(), None)[1]) for key, job in jobs.items()}, REPEATS)
    for name in LAWS:
        own = np.median(times[name])
        ratios[name] = {
            "gradient over response": float(np.median(times[f"{name}, gradient"]) / own),
            "response over compiled run": float(own / np.median(times[f"{name}, compiled run"])),
        }
    return {**report("differentiable", times, "ms"), "ratios": ratios}
