"""Ground motions: reading, checking, spectra, scaling, and motions of our own; load histories; wind."""

from hyloop.hazards.checks import G
from hyloop.hazards.design_spectrum import asce7_spectrum
from hyloop.hazards.formats import read_record, record_components, record_format, record_name
from hyloop.hazards.library import RecordInfo, event_name, find_record, index_records
from hyloop.hazards.loads import LoadHistory, harmonic_load
from hyloop.hazards.motion import Baseline, GroundMotion
from hyloop.hazards.scaling import ScaledPair, geometric_mean, scale_factor, scale_pair
from hyloop.hazards.signals import band_limited_noise, harmonic, sweep
from hyloop.hazards.spectrum import Spectrum, response_spectrum
from hyloop.hazards.synthetic import default_motion, envelope, synthetic_motion
from hyloop.hazards.wind import FloorWind, PressureTaps, WindBuilding, WindCoefficients, WindSite, pressure_loads

__all__ = [
    "Baseline",
    "FloorWind",
    "G",
    "GroundMotion",
    "LoadHistory",
    "PressureTaps",
    "RecordInfo",
    "ScaledPair",
    "Spectrum",
    "WindBuilding",
    "WindCoefficients",
    "WindSite",
    "asce7_spectrum",
    "band_limited_noise",
    "default_motion",
    "envelope",
    "event_name",
    "find_record",
    "geometric_mean",
    "harmonic",
    "harmonic_load",
    "index_records",
    "pressure_loads",
    "read_record",
    "record_components",
    "record_format",
    "record_name",
    "response_spectrum",
    "scale_factor",
    "scale_pair",
    "sweep",
    "synthetic_motion",
]
