"""Settings every test shares; the environment is set here, before any test imports JAX or Matplotlib."""

import os

import numpy as np
import pytest
from hypothesis import settings

os.environ["JAX_ENABLE_X64"] = "1"  # laws are float64 throughout
os.environ["JAX_PLATFORMS"] = "cpu"  # the same result on every machine
os.environ["MPLBACKEND"] = "Agg"  # examples draw without a window

# the same examples in every run, and no time limit because the first call of a law compiles it
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


@pytest.fixture
def rng():
    """Random numbers that are the same in every run."""
    return np.random.default_rng(20240607)


def pytest_collection_modifyitems(items):
    """Whatever is not slow is quick, so that a new test needs no mark."""
    for item in items:
        if item.get_closest_marker("slow") is None:
            item.add_marker("quick")
