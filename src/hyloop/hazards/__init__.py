"""Ground motions: reading, checking, spectra, scaling, and motions of our own; load histories."""

from hyloop.hazards.checks import G
from hyloop.hazards.design_spectrum import asce7_spectrum
from hyloop.hazards.formats import read_record, record_components, record_format, record_name
from hyloop.hazards.library import RecordInfo, find_record, index_records
from hyloop.hazards.loads import LoadHistory, harmonic_load
from hyloop.hazards.motion import Baseline, GroundMotion
from hyloop.hazards.scaling import ScaledPair, geometric_mean, scale_factor, scale_pair
from hyloop.hazards.signals import band_limited_noise, harmonic, sweep
from hyloop.hazards.spectrum import Spectrum, response_spectrum
from hyloop.hazards.synthetic import default_motion, envelope, synthetic_motion

__all__ = [
    "Baseline",
    "G",
    "GroundMotion",
    "LoadHistory",
    "RecordInfo",
    "ScaledPair",
    "Spectrum",
    "asce7_spectrum",
    "band_limited_noise",
    "default_motion",
    "envelope",
    "find_record",
    "geometric_mean",
    "harmonic",
    "harmonic_load",
    "index_records",
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
