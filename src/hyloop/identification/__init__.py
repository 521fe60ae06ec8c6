"""Offline identification: the parameters of a law from recorded tests, and how well they are known."""

from hyloop.identification.fitting import Estimate, Fit, fit
from hyloop.identification.measured import MeasuredTest
from hyloop.identification.problem import predict
from hyloop.identification.profiles import Profile, profile

__all__ = ["Estimate", "Fit", "MeasuredTest", "Profile", "fit", "predict", "profile"]
