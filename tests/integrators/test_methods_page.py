"""The numbers of docs/methods.md are those of the methods."""

import re
from pathlib import Path

import numpy as np
import pytest

from hyloop import Limits, Loop, Structure
from hyloop.integrators import cr, mkr_alpha, newmark
from hyloop.integrators.spectral import damping_error, period_error

PAGE = (Path(__file__).parents[2] / "docs" / "methods.md").read_text(encoding="utf-8")
RHO = (1.0, 0.75, 0.5, 0.0)
PRINTED = 6e-4  # of a number, or in its third decimal: half a unit and a little more
METHODS = {
    "cr()": cr(),
    "mkr_alpha(1.0)": mkr_alpha(1.0),
    "mkr_alpha(0.75)": mkr_alpha(0.75),
    "mkr_alpha(0.5)": mkr_alpha(0.5),
    "mkr_alpha(0.0)": mkr_alpha(0.0),
    "newmark()": newmark(),
}


def rows(begin):
    """Cells of the table whose first row begins so, without its head."""
    table = PAGE[PAGE.index(begin) :].split("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[:1] + table[2:]]


def test_energy_and_period():
    for steps, *cells in rows("| steps in a period")[1:]:
        omega = 2 * np.pi / int(steps)
        # amplitude falls by exp(-2 pi zeta) in a cycle, energy by its square
        lost = [100 * (1 - np.exp(-4 * np.pi * damping_error(mkr_alpha(rho), omega))) for rho in RHO]
        longer = [100 * period_error(mkr_alpha(rho), omega) for rho in RHO]
        shown = [float(cell.removesuffix(" %")) for cell in cells]
        assert shown == pytest.approx(lost + longer, abs=PRINTED)


def largest(method, omega):
    """Largest displacement after an initial velocity, in terms of the exact amplitude."""
    loop = Loop(Structure(M=[1.0], K=[[omega**2]]), method=method, dt=1.0, limits=Limits(np.inf, np.inf))
    return np.abs(loop.run(np.zeros(400), v0=[omega])["u.1"]).max()


def test_overshoot():
    head, *table = rows("| ωΔt |")
    omegas = [float(cell) for cell in head[1:]]
    seen = set()
    for label, *cells in table:
        for name in re.findall(r"`(.+?)`", label):
            seen.add(name)
            expected = [largest(METHODS[name], omega) for omega in omegas]
            assert [float(cell) for cell in cells] == pytest.approx(expected, rel=PRINTED, abs=PRINTED), name
    assert seen == set(METHODS)
    assert largest(cr(), 7.0) == pytest.approx(1 + 7.0**2 / 4, rel=2e-3)  # the formula printed, where the table is not
