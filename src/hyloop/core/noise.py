"""Normal random numbers from a counter, for blocks whose noise must resume from a snapshot.

A number depends on (seed, counter) only, so the counter is the whole state of the generator.
"""

import math

import numpy as np

from hyloop.core.jit import jit

__all__ = ["mix", "normal_pair", "uniform"]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, odd
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_ULP = 2.0**-53


@jit
def mix(h):
    """Scramble 64 bits so that neighbouring numbers become unrelated ones."""
    h = (h ^ (h >> _S30)) * _MIX1
    h = (h ^ (h >> _S27)) * _MIX2
    return h ^ (h >> _S31)


@jit
def _uniform(key, counter):
    """Uniform on the open interval (0, 1): the top 53 bits of the hash, centred in their cell."""
    return (np.float64(mix(key + counter * _GAMMA) >> _S11) + 0.5) * _ULP


@jit
def uniform(seed, counter):
    """A uniform number on (0, 1) of a seed and a counter, independent of `normal_pair` of the same two."""
    key = mix(mix((np.uint64(seed) + np.uint64(1)) * _GAMMA) ^ _MIX2)
    return _uniform(key, np.uint64(counter))


@jit
def normal_pair(seed, counter):
    r"""Two independent standard normal numbers of a seed and a counter, both whole and below 2^52.

    .. math::

        n_{1,2} = \sqrt{-2 \ln U_1}\,(\cos, \sin)(2 \pi U_2), \qquad
        U_j = 2^{-64}\,\mathrm{mix}\left(\mathrm{mix}(seed) + (2\,counter + j)\,\gamma\right)

    References
    ----------
    Steele, Lea, Flood (2014), doi:10.1145/2660193.2660195 (the mixing function);
    Box, Muller (1958), doi:10.1214/aoms/1177706645.
    """
    key = mix((np.uint64(seed) + np.uint64(1)) * _GAMMA)
    first = np.uint64(2) * np.uint64(counter) + np.uint64(1)
    radius = math.sqrt(-2.0 * math.log(_uniform(key, first)))
    angle = 2.0 * math.pi * _uniform(key, first + np.uint64(1))
    return radius * math.cos(angle), radius * math.sin(angle)
