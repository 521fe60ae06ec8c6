"""What stands between the structure and a specimen, and what instruments make of both."""

from hyloop.transfer.kinematics import kinematics
from hyloop.transfer.sensor import sensor

__all__ = ["kinematics", "sensor"]
