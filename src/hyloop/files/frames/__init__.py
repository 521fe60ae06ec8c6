"""Frames in files: the tables of nodes, sections, members, floors and loads."""
