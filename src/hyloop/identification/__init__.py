"""Offline identification: the parameters of a law from recorded tests, and how well they are known."""

from hyloop.identification.defaults import DEFAULTS, LEFT_OUT, beginning
from hyloop.identification.energy import gives_energy
from hyloop.identification.fitting import Estimate, Fit, fit
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.problem import predict
from hyloop.identification.profiles import Profile, profile
from hyloop.identification.ranking import Candidate, Ranking, rank
from hyloop.identification.sensors import SensorCheck, check_sensors

__all__ = [
    "DEFAULTS",
    "LEFT_OUT",
    "Candidate",
    "Estimate",
    "Fit",
    "MeasuredTest",
    "Profile",
    "Ranking",
    "SensorCheck",
    "beginning",
    "check_sensors",
    "fit",
    "gives_energy",
    "predict",
    "profile",
    "rank",
]
