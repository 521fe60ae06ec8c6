"""Offline identification: the parameters of a law from recorded tests, and how well they are known."""

from hyloop.identification.defaults import DEFAULTS, LEFT_OUT, beginning
from hyloop.identification.energy import gives_energy
from hyloop.identification.fitting import Estimate, Fit, fit
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.noisy_inputs import InputNoise
from hyloop.identification.problem import predict
from hyloop.identification.profiles import Profile, profile
from hyloop.identification.ranking import Candidate, Ranking, rank

__all__ = [
    "DEFAULTS",
    "LEFT_OUT",
    "Candidate",
    "Estimate",
    "Fit",
    "InputNoise",
    "MeasuredTest",
    "Profile",
    "Ranking",
    "beginning",
    "fit",
    "gives_energy",
    "predict",
    "profile",
    "rank",
]
