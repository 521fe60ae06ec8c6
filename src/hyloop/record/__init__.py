"""Recordings: HDF5 files written while a run goes on, readable live and after a crash."""

from hyloop.record.recorder import Recorder
from hyloop.record.recording import ChannelSummary, Recording

__all__ = ["ChannelSummary", "Recorder", "Recording"]
