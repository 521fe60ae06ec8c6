"""File formats of ground motions, one file each, recognised by what a file says and not by how it is called."""

from hyloop.hazards.formats.reading import COMPONENT_SUFFIX, read_record, record_components, record_format, record_name

__all__ = ["COMPONENT_SUFFIX", "read_record", "record_components", "record_format", "record_name"]
