"""What is made of one heard test: calibrated, updated and refitted laws."""

from dataclasses import replace

from hyloop.devices import gap_slip, lugre_exact
from hyloop.identification import Fit, beginning, calibrate, fit
from hyloop.updating import unscented

from .band import FACTORS, banded, plain
from .sessions import EVERY, measured

BLOCKS = {"LuGre": ("lugre_exact", lugre_exact), "gap-slip": ("gap_slip", gap_slip)}
BASE_TOLERANCE, BASE_STEPS = 1e-6, 100  # relative change of the sum of squares and steps at which a descent ends
REFIT_TOLERANCE, REFIT_STEPS = 1e-4, 25
# Settings of the filters, chosen on the base session alone (README, "Settings"), with the friction of its law put wrong
NOISE, PROCESS, INITIAL = 1e3, 1e-4, 0.5  # N; of the starting value in a tick; of the starting value
LEAST, MOST = 0.02, 5.0  # of the starting value: bounds of what is followed


def fitted(kind: str, tests, start=None) -> Fit:
    """A law fitted to tests, from starts and bounds that the tests give; or from a law, for a refit."""
    name, block = BLOCKS[kind]
    short = [measured(kind, test, EVERY) for test in tests]
    law, bounds, _ = beginning(name, block, short)
    if start is None:
        return fit(law, short, bounds, starts=1, tolerance=BASE_TOLERANCE, most=BASE_STEPS, noisy_inputs=False)
    held = {key: value for key, value in start.params.items() if key not in bounds}
    values = {key: min(max(start.params[key], low), high) for key, (low, high) in bounds.items()}
    law = block(**values, **held)
    return fit(law, short, bounds, starts=1, tolerance=REFIT_TOLERANCE, most=REFIT_STEPS, noisy_inputs=False)


def calibrated(kind: str, law, test):
    """The law with the numbers of the session, found from one test."""
    return calibrate(BLOCKS[kind][0], law, measured(kind, test, EVERY), validate=False).law


def updated(law, test, *, factors: bool, noise=NOISE, process=PROCESS, initial=INITIAL):
    """Gap-slip with friction as a filter leaves it that has heard one test, sample by sample.

    With `factors` it follows a factor on the friction of each side, else the friction at speed, Fc, alone.
    """
    heard = measured("band" if factors else "gap-slip", test)
    start = banded(law) if factors else law
    names = FACTORS if factors else ("Fc_pos", "Fc_neg")
    free = {key: (LEAST * start.params[key], MOST * start.params[key]) for key in names}
    begun = replace(start, initial=_at_rest(start, heard))
    updater = unscented(begun, free, noise=noise, process=process, initial_std=initial)
    out = updater.drive(heard.dt, **heard.inputs, f_m=heard.f)
    last = {key: float(out[key][-1]) for key in names}
    return plain(start.block(**start.params | last)) if factors else gap_slip(**start.params | last)


def _at_rest(law, test):
    """Initial states in which the law has the first measured force, as `predict` begins."""
    from hyloop.identification.problem import Problem

    problem = Problem(law, [test], {})
    problem.check()
    x = problem.solved_states(problem.parameters(problem.start()))[0]
    return dict(zip(law.initial, map(float, x), strict=True))
