"""Floor loads from pressure coefficients that were measured on a model in a wind tunnel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hyloop.core.jit import Floats
from hyloop.errors import BadInput, BadShape, OutOfBounds
from hyloop.hazards.checks import choice, positive, samples
from hyloop.hazards.loads import LoadHistory
from hyloop.hazards.wind.building import WindBuilding

__all__ = ["FACES", "PressureTaps", "full_scale_step", "pressure_loads"]

FACES = {"north": ("x", 1.0), "south": ("x", -1.0), "east": ("z", 1.0), "west": ("z", -1.0)}
"""Axis of the outward normal of each face, and its sign."""

_SAME_ROW = 1e-3  # m: taps whose heights differ by less are one row


@dataclass(frozen=True, eq=False)
class PressureTaps:
    """Where pressures were measured, in m of the full-scale building.

    Parameters
    ----------
    faces : sequence of {"north", "south", "east", "west"}
        Face of each tap.
    along : array
        Place along the face from its middle: z on the faces north and south, x on the faces east and west.
    heights : array
        Height above ground.
    names : sequence of str
        For messages; default 1, 2, ...

    Notes
    -----
    On each face the taps of one height are a row. A tap stands for the width from halfway to its neighbour on one
    side to halfway on the other, or to the edge of the face. Between rows the load of a row is linear in the height;
    below the lowest and above the highest row it is that of the row.
    """

    faces: Sequence[str]
    along: Floats
    heights: Floats
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        where = "pressure taps"
        faces = tuple(choice(where, "face", face, tuple(FACES)) for face in self.faces)
        s, z = samples(where, "along", self.along), samples(where, "heights", self.heights)
        names = tuple(self.names) or tuple(str(k + 1) for k in range(len(faces)))
        if not len(faces) == s.size == z.size == len(names):
            raise BadShape(
                f"{where}: {len(faces)} faces, {s.size} places along them, {z.size} heights and {len(names)} names; "
                "give one of each for every tap."
            )
        for key, value in (("faces", faces), ("along", s), ("heights", z), ("names", names)):
            object.__setattr__(self, key, value)

    def weights(self, building: WindBuilding) -> Floats:
        """Loads at the floors for a unit pressure at each tap, (3 n, taps): m2 for forces, m3 for moments."""
        z, h = building.heights, building.tributary
        W = np.zeros((z.size, 3, len(self.faces)))
        for face in dict.fromkeys(self.faces):
            rows = self._rows(face, building)
            levels = np.array([self.heights[row[0]] for row, _ in rows])
            axis, sign = FACES[face]
            for r, (row, widths) in enumerate(rows):
                # pressure pushes against the outward normal; M = r_z F_x - r_x F_z about the master
                share = np.interp(z, levels, np.eye(levels.size)[r]) * h
                force = -sign * share[:, None] * widths
                if axis == "x":
                    W[:, 0, row] = force
                    W[:, 2, row] = force * (self.along[row] - building.master[1])
                else:
                    W[:, 1, row] = force
                    W[:, 2, row] = -force * (self.along[row] - building.master[0])
        return W.reshape(3 * z.size, -1)

    def _rows(self, face: str, building: WindBuilding) -> list[tuple[np.ndarray, Floats]]:
        """Taps of each row of a face, upwards, and the widths they stand for."""
        edge = 0.5 * (building.length_z if FACES[face][0] == "x" else building.length_x)
        mine = np.array([k for k, name in enumerate(self.faces) if name == face])
        beyond = [k for k in mine if abs(self.along[k]) > edge or not 0.0 <= self.heights[k] <= building.roof]
        if beyond:
            k = beyond[0]
            raise OutOfBounds(
                f"pressure taps: tap '{self.names[k]}' at {self.along[k]:g} m along and {self.heights[k]:g} m up is "
                f"not on the {face} face, which is {2 * edge:g} m wide and {building.roof:g} m high. Give places in m "
                "of the full-scale building."
            )
        mine = mine[np.argsort(self.heights[mine], kind="stable")]
        rows = []
        for row in np.split(mine, np.flatnonzero(np.diff(self.heights[mine]) > _SAME_ROW) + 1):
            row = row[np.argsort(self.along[row], kind="stable")]
            s = self.along[row]
            if np.any(np.diff(s) <= 0.0):
                twice = row[int(np.argmin(np.diff(s)))]
                raise BadInput(f"pressure taps: two taps stand where '{self.names[twice]}' is; leave one out.")
            rows.append((row, np.diff(np.concatenate(([-edge], 0.5 * (s[:-1] + s[1:]), [edge])))))
        return rows


def full_scale_step(dt: float, scale: float, tunnel_speed: float, speed: float) -> float:
    r"""Step of a wind-tunnel history at full scale, s.

    .. math:: \Delta t_{fs} = \frac{D_{fs}\, U_{ss}\, \Delta t_s}{D_{ss}\, U_{fs}}

    The reduced frequency f D / U is then the same in both.

    Parameters
    ----------
    dt : float
        Δt_s, step in the tunnel, s.
    scale : float
        D_fs/D_ss, full-scale length over length of the model: 150 for a model of 1:150.
    tunnel_speed, speed : float
        Mean speed at the roof in the tunnel, U_ss, and at full scale, U_fs, m/s.

    References
    ----------
    Al-Subaihawi et al. (2024), section 4.2.
    """
    where = "pressures"
    dt, scale = positive(where, "dt", dt), positive(where, "scale", scale)
    return scale * positive(where, "tunnel_speed", tunnel_speed) * dt / positive(where, "speed", speed)


def pressure_loads(
    building: WindBuilding,
    taps: PressureTaps,
    cp: Any,
    dt: float,
    *,
    speed: float,
    tunnel_speed: float,
    scale: float,
    density: float = 1.161,
    up: float = 0.0,
    down: float = 0.0,
    name: str = "pressures",
) -> LoadHistory:
    r"""Floor loads from histories of pressure coefficients.

    Pressures are :math:`P = \tfrac12 \rho V^2 C_p(t)`, positive towards the face; see `PressureTaps` for the areas they
    act on and `full_scale_step` for the time.

    Parameters
    ----------
    building : WindBuilding
    taps : PressureTaps
    cp : array, (N, taps)
        C_p, a row for each sample.
    dt : float
        Step in the tunnel, s.
    speed : float
        V, mean speed at the roof of the full-scale building, m/s: ``WindSite(...).mean(roof)``.
    tunnel_speed : float
        Mean speed at the roof of the model, m/s.
    scale : float
        Full-scale length over length of the model.
    density : float
        ρ of the air, kg/m3.
    up, down : float
        Ramps at the beginning and at the end, s of full-scale time.

    References
    ----------
    Al-Subaihawi et al. (2024), section 4.2.
    """
    try:
        cp = np.asarray(cp, np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput("pressures: cp must be numbers.") from error
    if cp.ndim != 2 or cp.shape[1] != len(taps.faces):
        raise BadShape(
            f"pressures: cp has shape {cp.shape} for {len(taps.faces)} taps; give a row for each sample and a column "
            "for each tap."
        )
    bad = np.argwhere(~np.isfinite(cp))
    if len(bad):
        row, tap = bad[0]
        raise BadShape(
            f"pressures: {len(bad)} value(s) of cp are not finite, the first at sample {row} of tap "
            f"'{taps.names[tap]}'. Repair it or leave the tap out."
        )
    step = full_scale_step(dt, scale, tunnel_speed, speed)
    q = 0.5 * positive("pressures", "density", density) * speed**2
    values = q * (cp @ taps.weights(building).T)
    meta = {"roof_speed": float(speed), "scale": float(scale), "tunnel_speed": float(tunnel_speed)}
    return LoadHistory(values, step, building.at, name, meta).ramped(up, down)
