"""Every kind of bad input is refused, with a message that says what to do, before anything runs."""

import numpy as np
import pytest

from hyloop.devices.bilinear import bilinear
from hyloop.devices.bouc_wen import bouc_wen
from hyloop.devices.linear import spring
from hyloop.errors import BadInput, BadShape, OutOfBounds, UnknownName, UnstableStep
from hyloop.integrators import central_difference, cr, newmark_explicit
from hyloop.loop import FreeBlock, Loop, Site, Snapshot, run_ensemble
from hyloop.structure import Similitude, Structure, caughey, condense, modal, rayleigh, shear_frame, springs

FRAME = shear_frame([1e4, 1e4], [1e6, 1e6])
LOOP = Loop(FRAME, [Site("damper1", FRAME.story(1), bilinear())], method=cr(), dt=0.01)

REFUSED = {
    # structures
    "mass not square": (lambda: Structure(np.ones((2, 3)), np.eye(2)), BadShape, "M must be a square matrix"),
    "wrong shape of K": (lambda: Structure(np.eye(2), np.eye(3)), BadShape, r"K must have the shape of M, \(2, 2\)"),
    "wrong shape of C": (lambda: Structure(np.eye(2), np.eye(2), C=np.eye(3)), BadShape, "C must have the shape"),
    "negative mass": (lambda: Structure([1.0, -2.0], np.eye(2)), OutOfBounds, "mass of degree of freedom 2 is -2"),
    "indefinite mass": (lambda: Structure([[1.0, 2.0], [2.0, 1.0]], np.eye(2)), OutOfBounds, "negative eigenvalue"),
    "asymmetric K": (lambda: Structure(np.eye(2), [[2.0, -1.0], [-0.9, 1.0]]), BadShape, r"K must be symm.*K\[0,1\]"),
    "nan in K": (lambda: Structure(np.eye(2), np.full((2, 2), np.nan)), BadShape, "not finite"),
    "influence too short": (lambda: Structure(np.eye(2), np.eye(2), influence=[1.0]), BadShape, "influence"),
    "equal names": (lambda: Structure(np.eye(2), np.eye(2), names=["a", "a"]), BadShape, "2 different names"),
    "unequal stories": (lambda: shear_frame([1.0, 1.0], [1.0]), BadShape, "vectors of one length"),
    "gravity without heights": (lambda: shear_frame([1.0], [1.0], gravity=[1.0]), BadShape, "needs heights too"),
    "no such story": (lambda: FRAME.story(3), OutOfBounds, "stories run from 1 to 2"),
    "no such degree of freedom": (lambda: FRAME.between("roof"), UnknownName, "unknown degree of freedom 'roof'"),
    "device on itself": (lambda: FRAME.between(1, 1), OutOfBounds, "with itself"),
    "damping ratio in percent": (lambda: rayleigh(FRAME, 5.0), OutOfBounds, "0.05 for 5 %"),
    "no such mode": (lambda: caughey(FRAME, [0.05, 0.05], [1, 3]), OutOfBounds, "lie in 1 to 2"),
    "too many ratios": (lambda: modal(FRAME, [0.1, 0.1, 0.1]), BadShape, "3 ratios for 2 modes"),
    "keep a degree of freedom twice": (lambda: condense(FRAME, [0, 0]), BadInput, "once"),
    "scale zero": (lambda: Similitude(0.0), OutOfBounds, "0.5 for half scale"),
    "springs of two laws": (lambda: springs([spring(), bilinear()], np.eye(2)), BadInput, "a group for each law"),
    # devices
    "unknown parameter": (lambda: bouc_wen(bta=0.5), UnknownName, "Did you mean 'beta'"),
    "parameter out of bounds": (lambda: bouc_wen(alpha=1.5), OutOfBounds, r"alpha = 1.5 - is outside.*\[0, 1\]"),
    "parameter nan": (lambda: bouc_wen(alpha=np.nan), OutOfBounds, "outside its bounds"),
    "parameter not a number": (lambda: bouc_wen(k="stiff"), BadInput, "expected a number in N/m"),
    "unknown state": (lambda: bouc_wen(initial={"y": 0.0}), UnknownName, "unknown state 'y'"),
    "missing input": (lambda: bouc_wen().drive(0.01), BadInput, "input d is missing"),
    "unknown input": (lambda: bouc_wen().drive(0.01, x=[0.0]), UnknownName, "unknown input 'x'"),
    "inputs of two shapes": (lambda: spring().drive(0.01, d=np.zeros((3, 2))), BadShape, "one-dimensional"),
    # sites
    "law without parameters": (lambda: Site("a", [1.0], spring), BadInput, "called with its parameters"),
    "zero direction": (lambda: Site("a", [0.0, 0.0], spring()), BadShape, "not zero"),
    "bad site name": (lambda: Site("damper 1", [1.0], spring()), BadInput, "such as 'damper1'"),
    "bad part of a site name": (lambda: Site("east.damper-1", [1.0], spring()), BadInput, "such as 'damper1'"),
    "zero devices": (lambda: Site("a", [1.0], spring(), count=0), OutOfBounds, "count"),
    "negative limit": (lambda: Site("a", [1.0], spring(), max_d=-1.0), OutOfBounds, "limits"),
    "unknown role": (lambda: Site("a", [1.0], spring(), transfer={"actuators": spring()}), UnknownName, "'actuator'"),
    "wiring of an unknown input": (lambda: Site("a", [1.0], spring(), wiring={"q": "t"}), UnknownName, "unknown input"),
    "updater not connected": (lambda: FreeBlock("w", spring(), inputs={}), BadInput, "input d is not connected"),
    # loops
    "direction too long": (
        lambda: Loop(FRAME, [Site("a", [1.0, 0.0, 0.0], spring())], method=cr(), dt=0.01),
        BadShape,
        "3 entries",
    ),
    "two sites of one name": (
        lambda: Loop(FRAME, [Site("a", [1.0, 0.0], spring())] * 2, method=cr(), dt=0.01),
        BadInput,
        "exists twice",
    ),
    "unknown channel in wiring": (
        lambda: Loop(FRAME, [Site("a", [1.0, 0.0], spring(), wiring={"d": "ground1"})], method=cr(), dt=0.01),
        UnknownName,
        "unknown channel 'ground1'. Did you mean 'ground'",
    ),
    "fractional substeps": (lambda: Loop(FRAME, method=cr(), dt=0.01, substeps=1.5), OutOfBounds, "whole number"),
    "unstable step": (lambda: Loop(FRAME, method=central_difference(), dt=0.2), UnstableStep, "dt must not exceed"),
    "unstable because of a device": (
        lambda: Loop(FRAME, [Site("a", [1.0, 0.0], spring(k=1e9))], method=newmark_explicit(), dt=0.01),
        UnstableStep,
        "devices included",
    ),
    "massless floor": (
        lambda: Loop(Structure([1.0, 0.0], [[2.0, -1.0], [-1.0, 1.0]]), method=newmark_explicit(), dt=0.01),
        BadInput,
        "use mkr_alpha",
    ),
    "nan in the excitation": (lambda: LOOP.run([0.0, np.nan, 1.0]), BadShape, r"first in row 1 \(t = 0.01 s\)"),
    "excitation of two columns": (lambda: LOOP.run(np.zeros((5, 2))), BadShape, r"1 column\(s\)"),
    "no excitation": (lambda: LOOP.run([]), BadShape, "excitation"),
    "unknown channel to record": (lambda: LOOP.run([0.0], record=["damper1.fo"]), UnknownName, "mean 'damper1.f"),
    "unknown policy": (lambda: LOOP.run([0.0], on_fault="ignore"), UnknownName, "unknown policy"),
    "unknown recording rate": (lambda: LOOP.run([0.0], every="day"), UnknownName, "step, tick"),
    "initial displacement too short": (lambda: LOOP.run([0.0], u0=[1.0]), BadShape, "u0 must be 2 finite numbers"),
    "unknown channel to read": (lambda: LOOP["damper1.fx"], UnknownName, "Did you mean"),
    "unknown parameter to change": (lambda: LOOP.copy({"damper1.fy": 1.0}), UnknownName, "Did you mean 'damper1.f_y'"),
    "changed parameter out of bounds": (lambda: LOOP.copy({"damper1.alpha": 2.0}), OutOfBounds, "damper1.alpha"),
    "one loop in two jobs": (lambda: run_ensemble([(LOOP, [0.0]), (LOOP, [0.0])]), OutOfBounds, "loop.copy"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_clear_message(case):
    attempt, error, message = REFUSED[case]
    with pytest.raises(error, match=message) as caught:
        attempt()
    assert isinstance(caught.value, ValueError)


def test_a_broken_snapshot_file_is_refused(tmp_path):
    path = tmp_path / "broken.npz"
    path.write_bytes(b"PK\x03\x04 not a snapshot")
    with pytest.raises(BadInput, match="is not a snapshot"):
        Snapshot.load(path)
