"""What a filtered network keeps from tick to tick, and its settings."""

from collections import namedtuple
from typing import NamedTuple

from hyloop.core.block import Param
from hyloop.core.memory import laid_out
from hyloop.neural.hysteresis import INPUTS
from hyloop.neural.perceptron import weight_count

__all__ = ["NAMED", "PARAMS", "STATE", "Device", "FilteredMemory", "Sensor", "Settings", "filtered_memory"]

STATE = {
    "ticks": "-",
    "still": "-",  # ticks in which nothing has moved yet
    "d_still": "m",  # mean deformation of these
    "f_still": "N",  # and mean force: the offset of the load cell
    "f_1": "N",  # forces and deformations measured in the last three ticks, for the noise in them
    "f_2": "N",
    "f_3": "N",
    "d_1": "m",
    "d_2": "m",
    "d_3": "m",
    "jump_f": "N",  # median of the third differences
    "jump_d": "m",
    # the network as it was trained, behind a sensor with faults
    "d_sensor": "m",
    "f_sensor": "N",
    "e_sensor": "J",
    "by_shift": "N/m",  # derivative of its force by a constant error of the deformation
    "variance": "N2",  # what the noise in d makes of its force
    "shared": "N m",  # covariance of its force with the noise in the last d
    # the network of another device, behind such a sensor
    "d_device": "m",
    "f_device": "N",
    "e_device": "J",
    # squared errors of both over what is explained, fading, and the ticks they were summed over
    "sum_sensor": "-",
    "sum_device": "-",
    "sum_beyond": "-",  # of the first where it was outside the range of its training
    "weight": "-",
    "sum_given": "-",  # parts of an update that were given out, fading as slowly
    # the witness: a model as the guard would give it out, under the measured deformation
    "d_witness": "m",
    "f_witness": "N",
    "e_witness": "J",
    "sum_witness": "N2",  # its squared error, and that of the first explanation, fading fast
    "sum_alone": "N2",
    "long_witness": "N2",  # the same two as long as the guard remembers, while there was something to give
    "long_alone": "N2",
}
PARAMS = {
    "tolerance": Param("N", 1.0, 0.0, about="error of the freely running network in training"),
    "floor": Param("N", 1.0, 0.0, about="what the network cannot represent, standard deviation"),
    "lasting": Param("-", 50.0, 1.0, about="ticks over which such an error lasts"),
    "noise": Param("N", -1.0, about="standard deviation of the measured force; negative: found from the data"),
    "noise_d": Param("m", -1.0, about="standard deviation of the measured deformation; negative: found from the data"),
    "offset_walk": Param("N", 0.0, 0.0, about="random walk of the offset in a tick"),
    "most_gain": Param("-", 0.04, 0.0, about="largest error of the sensitivity of a load cell"),
    "scale_walk": Param("-", 0.0, 0.0, about="random walk of the logarithms of the scales in a tick"),
    "weight_walk": Param("-", 0.0, 0.0, about="random walk of the weights in a tick"),
    "evidence": Param("-", 4.0, 0.0, about="squared error over what is explained that contradicts nothing"),
    "share": Param("-", 0.0, 0.0, 1.0, about="part of the change of the weights that is given out"),
    "fading": Param("-", 0.999, 0.0, 1.0, about="forgetting factor of the guard"),
    "recent": Param("-", 0.99, 0.0, 1.0, about="forgetting factor of the witness"),
    "creep": Param("-", 3e-3, 0.0, about="change of the force at rest that an update may make in a tick, 0: any"),
}
State = namedtuple("State", STATE)
Settings = namedtuple("Settings", PARAMS)
NAMED, _ = laid_out(State, dict.fromkeys(STATE, 1))


class Sensor(NamedTuple):
    """Unknowns of a sensor; gain and bias are those of the first hypothesis alone."""

    offset: float  # of the force at the start, N
    rate: float  # at which the offset grows, N/s
    delay: float  # of the force, ticks
    shift: float  # offset of the deformation, m
    gain: float  # shown over true force, less one
    bias: float  # of the network itself, once the device has moved, N


class Device(NamedTuple):
    """Unknowns of another device, before its weights."""

    offset: float
    rate: float
    delay: float
    shift: float
    ln_a: float  # logarithm of the force scale
    ln_b: float  # and of the length scale


class FilteredMemory(NamedTuple):
    """What lies in the state vector behind the named states."""

    ring: int  # deformations measured in the last ticks
    frozen: int  # weights as trained
    w: int  # weights of the other device
    centre: int  # of the six inputs and the force
    factor: int
    sensor: int  # unknowns of the sensor hypothesis, and their covariance
    P_sensor: int
    device: int  # unknowns of the device hypothesis but for the weights, and the covariance of all of them
    P_device: int
    by: int  # derivatives of the force of the other device by its unknowns
    by_e: int  # and of its energy
    h: int  # derivatives of the measured force
    Ph: int
    g: int  # derivatives of the scaled force by the weights
    z: int  # scaled inputs
    gz: int  # derivatives of the scaled force by these
    hidden: int  # activations
    delta: int


def filtered_memory(width: int, depth: int, adaptive: int, late: int) -> tuple[FilteredMemory, int]:
    """Lay out the memory for `adaptive` weights that may change and `late` ticks of delay; with the size of all."""
    n, m, free = weight_count(INPUTS, width, depth), len(Sensor._fields), len(Device._fields) + adaptive
    sizes = {"ring": late + 2, "frozen": n, "w": n, "centre": 7, "factor": 7, "sensor": m, "P_sensor": m * m}
    sizes |= {"device": len(Device._fields), "P_device": free * free, "by": free, "by_e": free, "h": free, "Ph": free}
    sizes |= {"g": n, "z": INPUTS, "gz": INPUTS, "hidden": width * depth, "delta": width * depth}
    return laid_out(FilteredMemory, sizes, first=len(STATE))
