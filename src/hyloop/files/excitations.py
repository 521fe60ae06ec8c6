"""Excitations in experiment files, and the ground motions they mean."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os.path import isfile
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from hyloop.core.tick import typed_tick
from hyloop.data import data_folder
from hyloop.errors import BadInput, OutOfBounds, UnknownName
from hyloop.files.directions import Direction, in_words
from hyloop.files.fields import Quantity, Table, kinds, refuse, word
from hyloop.files.ground_records import read_ground_record
from hyloop.hazards import (
    GroundMotion,
    asce7_spectrum,
    band_limited_noise,
    find_record,
    harmonic,
    record_components,
    sweep,
    synthetic_motion,
)

__all__ = [
    "EXCITATIONS",
    "MOST_STEPS",
    "SIGNALS",
    "Excitation",
    "Record",
    "check_count",
    "ground_motion",
    "named_motion",
    "naming",
]

MOST_STEPS = 10_000_000  # a run of some hours at 1024 Hz; more is a slip of the pen
_FEWEST_STEPS = 10
_LOST = 0.01  # of a peak: less is within what two processings of one record differ by
_SYNTHETIC_DT = 0.01  # s; a fifth of the shortest period
_SHORTEST, _LONGEST = 0.05, 4.0  # s, periods at which a synthetic motion fits its target

Acceleration = Annotated[float, Quantity("m/s2", above=0.0)]
Frequency = Annotated[float, Quantity("Hz", above=0.0)]
Duration = Annotated[float, Quantity("s", above=0.0, high=86400.0)]


class Motion(Table):
    """What every kind of ground motion has."""

    direction: Direction | None = None
    """Where to: "x", "y" (up), "z" or "-z"; an angle in plan from x towards z, such as "30 deg"; or a vector of the
    length 1, [cx, cy, cz]. In `[excitations.NAME]` it must be said; default: structure.ground."""


class Synthetic(Motion):
    """A random motion that fits the ASCE 7 design spectrum; drawn from the seed of the experiment."""

    kind: Literal["synthetic"]
    sds: Acceleration
    """Design spectral acceleration at short periods, S_DS."""
    sd1: Acceleration
    """Design spectral acceleration at 1 s, S_D1."""
    tl: Annotated[float, Quantity("s", above=0.0)] = 8.0
    """Long-period transition period T_L."""
    duration: Annotated[float, Quantity("s", low=1.0, high=600.0)] = 30.0
    peak: Acceleration | None = None
    """Scale to this peak ground acceleration."""

    def motion(self, dt: float, seed: int) -> GroundMotion:
        """The motion, at a step of its own so that it does not depend on that of the integrator."""
        periods = np.geomspace(_SHORTEST, min(_LONGEST, self.duration / 2), 60)
        target = asce7_spectrum(periods, self.sds, self.sd1, self.tl)
        motion = synthetic_motion(periods, target, self.duration, _SYNTHETIC_DT, seed)
        return motion if self.peak is None else motion.to_peak(self.peak)


class Harmonic(Motion):
    """A sine."""

    kind: Literal["harmonic"]
    amplitude: Acceleration
    frequency: Frequency
    duration: Duration

    def motion(self, dt: float, seed: int) -> GroundMotion:
        return harmonic(self.amplitude, self.frequency, self.duration, dt)


class Sweep(Motion):
    """A sine whose frequency runs from `low` to `high`."""

    kind: Literal["sweep"]
    amplitude: Acceleration
    low: Frequency
    high: Frequency
    duration: Duration
    law: Literal["log", "linear"] = "log"

    def motion(self, dt: float, seed: int) -> GroundMotion:
        return sweep(self.amplitude, self.low, self.high, self.duration, dt, self.law)


class Noise(Motion):
    """Gaussian noise of flat power between two frequencies; drawn from the seed of the experiment."""

    kind: Literal["noise"]
    rms: Acceleration
    low: Frequency
    high: Frequency
    duration: Duration

    def motion(self, dt: float, seed: int) -> GroundMotion:
        return band_limited_noise(self.rms, self.low, self.high, self.duration, dt, seed)


Signal = Annotated[Synthetic | Harmonic | Sweep | Noise, Field(discriminator="kind")]


class Record(Motion):
    """A recorded ground motion, from a file or from the folder of records (``hyloop records`` lists it)."""

    kind: Literal["record"]
    file: str | None = None
    """File, relative to the experiment file."""
    name: str | None = None
    """Part of the name of a record in the data folder."""
    component: Annotated[str | None, BeforeValidator(word)] = None
    """What follows the name and an underscore or a dot, such as "180" or "EW"; or, of a file with several, a channel or
    the column of the acceleration."""
    unit: str | None = None
    """Unit of the numbers in the file, where the file does not say it."""
    dt: Annotated[float, Quantity("s", above=0.0)] | None = None
    """Step of the file, where the file does not say it."""
    t: Annotated[str | None, BeforeValidator(word)] = None
    """Column of the times in a table of several columns, by name or number; default: t or time, or the first of two."""
    decimal: Literal["comma", "point"] | None = None
    """Decimal sign of a text that does not tell."""
    scale: Annotated[float, Quantity("-")] | None = None
    """Factor on the acceleration."""
    peak: Acceleration | None = None
    """Or: scale to this peak ground acceleration."""
    start: Annotated[float, Quantity("s", low=0.0)] = 0.0
    """Time in the record at which to begin."""
    duration: Duration | None = None
    """How much of the record to use; default all."""
    time_scale: Annotated[float, Quantity("-", above=0.0, high=100.0)] = 1.0
    """Factor on time, the square root of the length scale for a scaled model."""
    fallback: Signal | None = None
    """Excitation to use, with a note, where the record is missing."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.file is None) == (self.name is None):
            refuse("file" if self.file else "name", BadInput("give either the file or the name of a record."))
        if self.scale is not None and self.peak is not None:
            refuse("peak", BadInput("scale is given too; give one of them."))
        if self.fallback is not None and self.fallback.direction is not None:
            refuse("fallback.direction", BadInput("the fallback takes that of the record; leave it out."))
        return self

    def find(self) -> Path | None:
        """Where the record lies; None where it is missing."""
        if self.file is not None:
            return Path(self.file) if isfile(self.file) else None
        if data_folder() is None:
            return None
        for wanted in [f"{self.name}{mark}{self.component}" for mark in "_."] if self.component else [f"{self.name}"]:
            with suppress(UnknownName):
                return find_record(wanted)
        with suppress(BadInput):  # not a file for each component, but one file with several channels
            path = find_record(f"{self.name}")
            return path if self.component and record_components(path) else None
        return None

    def motion(self, path: Path) -> GroundMotion:
        """The part wanted of the record, scaled."""
        try:
            channel = self.component if self.file is not None or record_components(path) else None
            how = {"unit": self.unit, "dt": self.dt, "t": self.t, "decimal": self.decimal}
            stored = read_ground_record(path, component=channel, **how)
        except OSError as error:
            raise BadInput(f"excitation.file: {path} cannot be read ({error.strerror}).") from None
        first, last = self._samples(stored.duration, stored.dt)
        motion = GroundMotion(stored.a[first:last], stored.dt, stored.name, stored.meta)
        if self.scale is not None:
            motion = motion.scaled(self.scale)
        if self.peak is not None:
            motion = motion.to_peak(self.peak)
        return motion if self.time_scale == 1.0 else motion.in_model_time(self.time_scale**2)

    def _samples(self, length: float, dt: float) -> tuple[int, int | None]:
        """The first sample wanted of a record, and the one after the last; None: to its end."""
        if self.start >= length:
            raise OutOfBounds(
                f"excitation.start = {self.start:g} s is after the end of the record, {length:g} s. Begin earlier."
            )
        first = round(self.start / dt)
        return first, None if self.duration is None else first + round(self.duration / dt) + 1


Excitation = Annotated[Record | Synthetic | Harmonic | Sweep | Noise, Field(discriminator="kind")]
SIGNALS, EXCITATIONS = kinds(Signal), kinds(Excitation)


def ground_motion(spec: Excitation, dt: float, seed: int) -> tuple[GroundMotion, str]:
    """The ground motion of an experiment at the step `dt`, and a note on what was used.

    Raises
    ------
    BadInput
        If a record is missing and no fallback is given, or if the motion is too short or too long for the step.
    """
    path = spec.find() if isinstance(spec, Record) else None
    if isinstance(spec, Record) and path is not None:
        motion = spec.motion(path)
        decided = "; ".join(str(remark) for remark in motion.meta.get("notes", ()))
        note = f"excitation: record {motion.name}{f' ({decided})' if decided else ''}"
    else:
        signal, missing = _fallback(spec) if isinstance(spec, Record) else (spec, "")
        check_count("excitation.duration", signal.duration, dt)
        motion = signal.motion(dt, seed)
        note = f"excitation: {missing}{motion.name}{' is used instead' if missing else ''}"
    check_count("excitation.duration", motion.duration, dt)
    stored, motion = motion, motion.resampled(dt)
    return motion, f"{note}, peak {motion.pga:.4g} m/s2, {motion.duration:.4g} s{_lowered(stored, motion)}"


def named_motion(name: str, spec: Excitation, dt: float, seed: int) -> tuple[GroundMotion, str]:
    """The ground motion of `[excitations.NAME]`, or of `[excitation]` where the name is empty; see `ground_motion`.

    What is drawn at random is drawn from the seed of the experiment and the name, so that two motions differ.
    """
    if not name:
        motion, note = ground_motion(spec, dt, seed)
        if spec.direction is not None:
            note = f"excitation: {in_words(spec.direction)}: {note.partition(': ')[2]}"
        return motion, note
    own = int(np.random.SeedSequence(seed, spawn_key=tuple(name.encode())).generate_state(1)[0])
    with naming("excitation", f"excitations.{name}"):
        motion, note = ground_motion(spec, dt, own)
    return motion, f"excitation: {name}, {in_words(spec.direction)}: {note.partition(': ')[2]}"


@contextmanager
def naming(table: str, name: str) -> Iterator[None]:
    """Give a table its full name in refusals: excitation.file becomes excitations.north.file."""
    try:
        yield
    except BadInput as error:
        said = re.sub(rf"\b{table}\.(?=[a-z])", f"{name}.", str(error))
        error.args = (said if name in said else f"{name}: {said}",)
        raise


def _lowered(stored: GroundMotion, motion: GroundMotion) -> str:
    """What to know of a peak that the step of the integrator leaves out."""
    if motion.pga >= (1.0 - _LOST) * stored.pga:
        return ""
    lost = 100.0 * (1.0 - motion.pga / stored.pga)
    return (
        f"; at integrator.dt = {typed_tick(motion.dt)} s the peak is {lost:.2g} % lower than the {stored.pga:.4g} m/s2 "
        f"at its own step; {typed_tick(stored.dt)} s or a whole part of it keeps the peak"
    )


def _fallback(spec: Record) -> tuple[Signal, str]:
    """What stands in for a record that is missing, and what to say of it."""
    key, wanted = ("file", spec.file) if spec.file is not None else ("name", spec.name)
    missing = f"the record '{wanted}' is missing"
    if spec.fallback is None:
        advice = "set HYLOOP_DATA to the folder of records" if key == "name" else "check the path"
        raise BadInput(f"excitation.{key}: {missing}; {advice}, or give an excitation.fallback.")
    return spec.fallback, f"{missing}, the fallback "


def check_count(key: str, duration: float, dt: float) -> None:
    """Refuse a history with too few or too many steps before anything is allocated for it."""
    if not _FEWEST_STEPS <= duration / dt <= MOST_STEPS:
        raise OutOfBounds(
            f"{key} = {duration:g} s is {duration / dt:.3g} steps of integrator.dt = {dt:g} s; allowed "
            f"are {_FEWEST_STEPS} to {MOST_STEPS}. Change one of them."
        )
