"""Offline identification: the parameters of a law from recorded tests, and how well they are known."""

from hyloop.identification.calibration import Calibration, SessionValue, calibrate
from hyloop.identification.defaults import DEFAULTS, LEFT_OUT, beginning
from hyloop.identification.energy import gives_energy
from hyloop.identification.fitting import Estimate, Fit, fit
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.noisy_inputs import InputNoise
from hyloop.identification.problem import predict
from hyloop.identification.profiles import Profile, profile
from hyloop.identification.ranking import Candidate, Ranking, rank
from hyloop.identification.sensors import SensorCheck, check_sensors
from hyloop.identification.session_numbers import SESSION, SessionNumber, numbers_from

__all__ = [
    "DEFAULTS",
    "LEFT_OUT",
    "SESSION",
    "Calibration",
    "Candidate",
    "Estimate",
    "Fit",
    "InputNoise",
    "MeasuredTest",
    "Profile",
    "Ranking",
    "SensorCheck",
    "SessionNumber",
    "SessionValue",
    "beginning",
    "calibrate",
    "check_sensors",
    "fit",
    "gives_energy",
    "numbers_from",
    "predict",
    "profile",
    "rank",
]
