"""Forces in a braced building in space while its braces yield in an earthquake: every member as in OpenSees."""

from pathlib import Path

import numpy as np
import pytest
from oracles.data import data_path
from oracles.opensees_seismic import Shaken

from hyloop.files.frames.models import load_frame
from hyloop.hazards import read_record
from hyloop.integrators import mkr_alpha
from hyloop.loop import Loop
from hyloop.metrics import nrmse
from hyloop.structure import modal_and_stiffness
from hyloop.structure.frames.members import Brace

SEISMIC = 0.01  # NRMSE of each history: two methods, the same step
NOTHING = 1e-3  # of the largest of its unit: what has no more is not compared by its own range
RATIO, MODES, DT, SECONDS, SKIP, SCALE = 0.03, 6, 1 / 512, 4.0, 4.5, 1.5
COLUMN, BEAM = "columns AS0-AS1", "beams BS1-CS1"
SUPPORTS = ("AS0", "CN0")


@pytest.fixture(scope="module")
def model():
    path = Path(__file__).parents[2] / "experiments" / "models" / "braced_building.toml"
    found = load_frame(path).model()
    found.loads.clear()  # both begin without any force
    return found


def _ground():
    """Two components of a record, faded in."""
    motions = [read_record(data_path("ground_motions", f"kobe-nishi-akashi_{k}.AT2")) for k in (1, 2)]
    t = np.arange(round(SECONDS / DT) + 1) * DT
    return SCALE * np.column_stack([np.interp(SKIP + t, m.time, m.a) * np.minimum(t / 0.25, 1.0) for m in motions])


def _theirs(model, braces):
    """Brace forces and elongations; N, Mz_i, Mz_j, My_i, My_j, T, Vy, Vz of the column; the beam; reactions."""
    there, ground = Shaken(model, RATIO, MODES, _ground(), DT, eigen=("-fullGenLapack",)), _ground()
    ops, rows = there.ops, []

    def row():
        ops.reactions()
        forces = [ops.basicForce(there.members[name])[0] for name in braces]
        lengths = [ops.basicDeformation(there.members[name])[0] for name in braces]
        column, beam = (ops.basicForce(there.members[name]) for name in (COLUMN, BEAM))
        shear = ops.eleResponse(there.members[COLUMN], "localForce")[1:3]
        reactions = [ops.nodeReaction(there.tags[node], k) for node in SUPPORTS for k in (1, 2, 3)]
        held = [there.tags[name.split(".")[0]] for name in model.held if name.endswith("ux")]
        shears = [-sum(ops.nodeReaction(tag, k) for tag in held) for k in (1, 3)]
        return [*forces, *lengths, *column, *shear, beam[0], *reactions, *shears]

    rows.append(row())
    for _ in ground[1:]:
        there.step()
        rows.append(row())
    return np.array(rows)


@pytest.mark.slow
def test_members_of_a_yielding_building_carry_what_they_carry_in_opensees(model):
    braces = [name for name, member in model.members.items() if isinstance(member, Brace)]
    asked = [f"{name}.force" for name in braces] + [f"{name}.elongation" for name in braces]
    asked += [f"{COLUMN}.{key}" for key in ("N", "Mz_i", "Mz_j", "My_i", "My_j", "T", "Vy", "Vz")] + [f"{BEAM}.N"]
    supports = [f"reaction.{node}.{dof}" for node in SUPPORTS for dof in ("ux", "uy", "uz")]
    frame = model.structure(lambda s: modal_and_stiffness(s, RATIO, MODES))
    watch = model.watch(frame, [*asked, "braces*.ductility"], SUPPORTS)
    result = Loop(frame, method=mkr_alpha(0.75), dt=DT, watch=watch).run(_ground())
    names = [*asked, *supports, "support_shear.x", "support_shear.z"]
    reached = {name: np.abs(result[f"{name}.ductility"]).max() for name in braces}
    assert sum(value > 1.5 for value in reached.values()) >= 4
    truth, units = _theirs(model, braces), dict(zip(result.names, result.units, strict=True))
    largest = {u: max(np.ptp(result[n]) for n in names if units[n] == u) for u in {units[n] for n in names}}
    errors = {}
    for name, history in zip(names, truth.T, strict=True):
        if np.ptp(history) > NOTHING * largest[units[name]]:
            errors[name] = nrmse(history, result[name])
        else:  # as the torsion of a column with floors that hardly turn
            assert np.abs(result[name] - history).max() < NOTHING * largest[units[name]]
    assert len(errors) > 25
    assert max(errors.values()) < SEISMIC, max(errors, key=lambda name: errors[name])
