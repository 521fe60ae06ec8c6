"""Recordings: HDF5 files written while a run goes on, readable live and after a crash."""

from hyloop.record.beside import PICTURE, RESUME, picture_of, picture_path, resume_path
from hyloop.record.recorder import Recorder
from hyloop.record.recording import ChannelSummary, Recording

__all__ = ["PICTURE", "RESUME", "ChannelSummary", "Recorder", "Recording", "picture_of", "picture_path", "resume_path"]
