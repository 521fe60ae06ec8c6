"""What stands between the structure and a specimen, and what instruments make of both."""

from hyloop.transfer.delay import delay
from hyloop.transfer.difference import difference
from hyloop.transfer.handed_on import handed_on
from hyloop.transfer.interlock import interlock
from hyloop.transfer.kinematics import kinematics
from hyloop.transfer.lag import first_order_lag, second_order_lag
from hyloop.transfer.linear import linear_plant, state_space, transfer_function, transfer_matrix, zeros_poles
from hyloop.transfer.linear_specimen import linear_specimen
from hyloop.transfer.link import link
from hyloop.transfer.plant import Plant
from hyloop.transfer.sensor import sensor
from hyloop.transfer.servo_hydraulic import servo_hydraulic

__all__ = [
    "Plant",
    "delay",
    "difference",
    "first_order_lag",
    "handed_on",
    "interlock",
    "kinematics",
    "linear_plant",
    "linear_specimen",
    "link",
    "second_order_lag",
    "sensor",
    "servo_hydraulic",
    "state_space",
    "transfer_function",
    "transfer_matrix",
    "zeros_poles",
]
