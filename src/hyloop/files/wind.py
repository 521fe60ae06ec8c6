"""Wind in experiment files: floor loads from spectra, and from pressures of a wind tunnel."""

import csv
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from hyloop.errors import BadInput, OutOfBounds
from hyloop.files.fields import Quantity, Table, refuse
from hyloop.files.load_kind import RampedLoad
from hyloop.files.measurements import in_seconds
from hyloop.files.signals import pick_time
from hyloop.files.tables import read_table, sampling
from hyloop.files.tables.options import keys_of, option
from hyloop.hazards import (
    FloorWind,
    LoadHistory,
    PressureTaps,
    WindBuilding,
    WindCoefficients,
    WindSite,
    pressure_loads,
)
from hyloop.structure import Structure

__all__ = ["Pressures", "Wind", "WindFactors"]

_RANGE = re.compile(r"(?P<head>\D*)(?P<first>\d+)\.\.(?P=head)(?P<last>\d+)")
_TAPS = ("tap", "face", "along", "height")
_MOST = 300_000  # samples: four hours at 20 Hz; of 40 floors 300 MB

Comfort = Literal["iso10137-office", "iso10137-residence", "nbcc-office", "nbcc-residence", "iso6897"]
Speed = Annotated[float, Quantity("m/s", above=0.0, high=150.0)]
Share = Annotated[float, Quantity("-", low=0.0, high=10.0)]
Positive = Annotated[float, Quantity("-", above=0.0, high=100.0)]
Band = Annotated[float, Quantity("-", above=0.0, high=0.99)]


class WindFactors(Table):
    """Coefficients of the wind on a building; what is left out follows from its proportions (docs/wind.md)."""

    density: Annotated[float, Quantity("kg/m3", above=0.0, high=10.0)] = WindCoefficients.density
    """Density of air."""
    windward: Positive = WindCoefficients.windward
    """Pressure on the windward face over ½ρU²."""
    leeward_x: Share | None = None
    """Suction on the leeward one of the faces north and south; default 0.5 to 0.2, by ASCE 7."""
    leeward_z: Share | None = None
    """The same for the faces east and west."""
    obliquity: Positive = WindCoefficients.obliquity
    """Power of the cosine with which the load on a face falls when the wind turns: 1 or 2."""
    decay_z: Annotated[float, Quantity("-", low=0.0, high=100.0)] = WindCoefficients.decay_z
    """Decay of coherence over the height."""
    decay_y: Annotated[float, Quantity("-", low=0.0, high=100.0)] = WindCoefficients.decay_y
    """Decay of coherence across the wind."""
    decay_wake: Annotated[float, Quantity("-", low=0.0, high=100.0)] = WindCoefficients.decay_wake
    """Decay of the correlation between windward and leeward face."""
    lift: Share | None = None
    """Rms coefficient of the across-wind base moment, over q_H B H²; default by AIJ."""
    strouhal: Positive | None = None
    """Peak of the across-wind force, f B/U_H; default by AIJ."""
    bandwidth: Band | None = None
    """Bandwidth of that peak; default by AIJ."""
    correlation: Positive = WindCoefficients.correlation
    """Length of correlation of across-wind force and torque over the height, in widths."""
    torsion: Share | None = None
    """Rms coefficient of the base torque, over q_H B² H; default by AIJ."""
    strouhal_torsion: Positive | None = None
    """Peak of the torque; default that of the across-wind force."""
    bandwidth_torsion: Band | None = None
    """Its bandwidth; default that of the across-wind force."""
    eccentricity: Annotated[float, Quantity("-", low=-0.5, high=0.5)] = WindCoefficients.eccentricity
    """Distance of the pressure on a face from its middle towards the upwind edge, over its width, at 45°."""


class _Body(RampedLoad):
    """The building in the wind."""

    floors: Annotated[tuple[str, ...], Field(strict=False, min_length=1)] | str
    """Masters of the floors that carry the load, upwards: a list, or a range such as "floor5..floor44"."""
    stories: Annotated[float | tuple[float, ...], Quantity("m", above=0.0, high=1000.0, depth=1)]
    """Height of the stories below these floors, from the ground up: a list, or one for all."""
    plan: Annotated[tuple[float, ...], Quantity("m", above=0.0, high=1e4, depth=1)]
    """Plan, [north to south, east to west]."""
    master: Annotated[tuple[float, ...], Quantity("m", depth=1)] = (0.0, 0.0)
    """Where the masters stand, [north, east] of the middle of the plan."""
    comfort: Comfort = "iso10137-office"
    """Criterion by which the page of a run judges the accelerations of these floors."""

    @model_validator(mode="after")
    def _fitting(self) -> Self:
        names = self._floors()
        if isinstance(self.stories, tuple) and len(self.stories) != len(names):
            refuse("stories", BadInput(f"there are {len(self.stories)} stories for {len(names)} floors; give as many."))
        for key in ("plan", "master"):
            given = getattr(self, key)
            if not isinstance(given, tuple) or len(given) != 2:
                refuse(key, BadInput("give two lengths, [north to south, east to west]."))
        return self

    def _floors(self) -> tuple[str, ...]:
        if isinstance(self.floors, tuple):
            return self.floors
        found = _RANGE.fullmatch(self.floors.replace(" ", ""))
        if found is None or int(found["first"]) > int(found["last"]):
            refuse("floors", BadInput(f"got {self.floors!r}; write a range such as 'floor5..floor44', or a list."))
        return tuple(f"{found['head']}{k}" for k in range(int(found["first"]), int(found["last"]) + 1))

    def building(self) -> WindBuilding:
        """The body in the wind."""
        names = self._floors()
        stories = self.stories if isinstance(self.stories, tuple) else (self.stories,) * len(names)
        return WindBuilding(np.cumsum(stories), self.plan[0], self.plan[1], names, (self.master[0], self.master[1]))


class Wind(_Body):
    """Wind on a rectangular building, from spectra; drawn from the seed of the experiment."""

    kind: Literal["wind"]
    speed: Speed
    """Basic wind speed: a gust of 3 s, 10 m above open terrain."""
    exposure: Literal["B", "C", "D"] = "B"
    """Terrain: urban (B), open (C), open water (D)."""
    profile: Literal["power", "log"] = "power"
    """Mean speed over the height: the power law of ASCE 7, or the logarithmic law in two steps."""
    averaging: Annotated[float, Quantity("-", above=0.0, high=2.0)] = 1.0
    """Factor on the hourly mean: 1.06 for means over ten minutes."""
    direction: Annotated[float, Quantity("rad", low=-2 * math.pi, high=2 * math.pi)] = 0.0
    """Where the wind comes from, from north (x) towards east (z)."""
    spectrum: Literal["kaimal", "von_karman"] = "kaimal"
    """Of the gusts."""
    coefficients: WindFactors = Field(default_factory=WindFactors)
    duration: Annotated[float, Quantity("s", above=0.0, high=86400.0)]
    dt: Annotated[float, Quantity("s", above=0.0, high=10.0)] = 0.05
    """Step of the loads; between the samples they are linear."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.ramp_up + self.ramp_down > self.duration:
            ramps = f"ramps of {self.ramp_up:g} and {self.ramp_down:g} s exceed the {self.duration:g} s of wind"
            refuse("ramp_down", BadInput(f"{ramps}; shorten them."))
        if self.duration / self.dt > _MOST:
            refuse(
                "dt", OutOfBounds(f"{self.duration:g} s are {self.duration / self.dt:.3g} samples; {_MOST} at most.")
            )
        try:
            self.wind()
        except OutOfBounds as error:
            refuse("plan", error)
        return self

    def wind(self) -> FloorWind:
        """The wind on the floors."""
        site = WindSite(self.speed, self.exposure, self.profile, averaging=self.averaging)
        factors = WindCoefficients(**self.coefficients.model_dump())
        return FloorWind(self.building(), site, self.direction, factors, self.spectrum)

    def own(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        return _noted(self.wind().sample(self.duration, self.dt, seed))


class Pressures(_Body):
    """Wind on a rectangular building, from pressure coefficients measured on a model in a wind tunnel."""

    kind: Literal["pressures"]
    file: str
    """Pressure coefficients over time, a column for each tap; relative to the experiment file."""
    taps: str
    """Text with the columns tap, face (north, south, east or west), along and height: places in m at full scale,
    `along` from the middle of the face to the east or to the north."""
    rate: Annotated[float, Quantity("Hz", above=0.0)] | None = None
    """Sampling rate in the tunnel, where the file has no times."""
    model_scale: Annotated[float, Quantity("-", above=0.0, high=1e5)]
    """Full-scale length over length of the model: 150 for 1:150."""
    tunnel_speed: Speed
    """Mean speed in the tunnel at the height of the roof."""
    roof_speed: Speed | None = None
    """Mean speed at the roof at full scale; or `speed`, from which it follows."""
    speed: Speed | None = None
    """Basic wind speed: a gust of 3 s, 10 m above open terrain."""
    exposure: Literal["B", "C", "D"] = "B"
    """Terrain, with `speed`."""
    profile: Literal["power", "log"] = "power"
    """Mean speed over the height, with `speed`."""
    density: Annotated[float, Quantity("kg/m3", above=0.0, high=10.0)] = WindCoefficients.density
    """Density of air."""

    @model_validator(mode="after")
    def _one_speed(self) -> Self:
        if (self.roof_speed is None) == (self.speed is None):
            refuse("roof_speed", BadInput("give either the mean speed at the roof or the basic wind speed, `speed`."))
        return self

    def own(self, dt: float, seed: int, structure: Structure) -> LoadHistory:
        body, taps = self.building(), read_taps(Path(self.taps))
        with keys_of("loads", {"rate": ("rate", "520 Hz")}):
            table = read_table(self.file)
            clock, time = pick_time(table, None, self.rate, {})
            columns = [table.find(tap, option("taps")) for tap in taps.names]
            rows = {len(column.values) for column in columns} | ({len(time)} if time is not None else set())
            if len(rows) != 1:
                raise BadInput(f"loads.file: columns of {self.file} have different lengths; give one for all taps.")
            step = sampling(table, time, in_seconds(clock, time), self.rate, rows.pop())
        V = self.roof_speed or float(WindSite(self.speed or 0.0, self.exposure, self.profile).mean(body.roof))
        cp = np.column_stack([column.values for column in columns])
        model: dict[str, Any] = {"tunnel_speed": self.tunnel_speed, "scale": self.model_scale}
        return _noted(pressure_loads(body, taps, cp, step.dt, speed=V, density=self.density, **model))


def _noted(loads: LoadHistory) -> LoadHistory:
    """With the mean speed at the roof, which a reader of the results wants to know."""
    return replace(loads, meta={**loads.meta, "notes": (f"{loads.meta['roof_speed']:.4g} m/s at the roof",)})


def read_taps(path: Path, where: str = "loads.taps") -> PressureTaps:
    """Taps from a text with the columns tap, face, along and height, in any order."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as stream:
            rows = list(csv.DictReader(stream, skipinitialspace=True))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{where}: {path} cannot be read ({error}).") from None
    missing = [key for key in _TAPS if not rows or key not in rows[0]]
    if missing:
        raise BadInput(
            f"{where}: {path} has no column {', '.join(missing)}; it must begin with a line 'tap,face,along,height' "
            "and have a line for every tap."
        )
    numbers = []
    for k, row in enumerate(rows, start=2):
        try:
            numbers.append([float(row["along"]), float(row["height"])])
        except (TypeError, ValueError):
            raise BadInput(f"{where}: {path}, line {k}: along and height must be numbers of m.") from None
    along, heights = np.array(numbers).T
    faces, names = ([str(row[key]).strip() for row in rows] for key in ("face", "tap"))
    try:
        return PressureTaps(faces, along, heights, names)
    except BadInput as error:
        raise BadInput(f"{where}: {path}: {error}") from None
