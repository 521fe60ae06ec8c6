"""The study of Wang et al. (2020): how means over networks become claims."""

from pathlib import Path

import numpy as np
import pytest

from hyloop.study import studies
from hyloop.study.seeds import Seeds

FOLDER = Path(__file__).parents[2] / "studies" / "wang2020"


@pytest.fixture(scope="module")
def study():
    return studies._load(FOLDER / "study.py")


def test_every_network_is_compared_with_itself_and_the_worst_story_is_told(study):
    """Three networks, two stories: updating doubles the error of one network in the second story."""
    without = [(np.array([0.1, 0.2]), None), (np.array([0.4, 0.4]), None), (np.array([1.0, 0.5]), None)]
    updated = [(np.array([0.05, 0.4]), None), (np.array([0.2, 0.4]), None), (np.array([0.5, 0.5]), None)]
    ratios = study._ratio({"Offline": without, "default": updated})
    np.testing.assert_allclose(ratios, [[0.5, 2.0], [0.5, 1.0], [0.5, 1.0]])
    assert study._worst(ratios) == Seeds.of([2.0, 1.0, 1.0])


def test_a_case_without_networks_has_no_spread(study):
    one = study._of_case("UKF", [(np.arange(6.0), np.arange(6.0))])
    several = study._of_case("ANN1", [(np.arange(6.0), np.arange(6.0))] * 2)
    assert one["RMSD of element 12, UKF"] == 5.0
    assert several["RMSD of element 12, ANN1"] == Seeds.of([5.0, 5.0])


def test_the_networks_judged_are_not_those_settings_were_chosen_with(study):
    assert len(set(study.SEEDS)) == 6 and not set(study.SEEDS) & set(range(5))
