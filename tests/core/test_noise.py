"""Random numbers from a counter: the published mixing function, and normal numbers that are independent."""

import numpy as np
from scipy import stats

from hyloop.core.noise import mix, normal_pair

GAMMA = 0x9E3779B97F4A7C15
# Steele, Lea, Flood (2014): what SplitMix64 gives from the seed 0, as printed with the reference implementation
PUBLISHED = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
CHANCE = 1e-3  # level of the tests; the numbers are the same in every run


def test_mixing_is_that_of_splitmix64():
    for k, expected in enumerate(PUBLISHED, start=1):
        assert int(mix(np.uint64(k * GAMMA % 2**64))) == expected


def test_numbers_are_normal_and_independent():
    pairs = np.array([normal_pair(seed, k) for seed in (0, 1, 7) for k in range(4000)])
    for numbers in (*pairs.T, pairs.ravel()):
        assert stats.kstest(numbers, "norm").pvalue > CHANCE
    first, second = pairs.T
    for one, other in ((first, second), (first[:-1], first[1:]), (first[:4000], first[4000:8000])):
        assert stats.pearsonr(one, other).pvalue > CHANCE
