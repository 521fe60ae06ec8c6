"""What stands between the structure and a specimen, and what instruments make of both."""

from hyloop.transfer.sensor import sensor

__all__ = ["sensor"]
