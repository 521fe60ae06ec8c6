"""Fits are kept in the folder of results, and read from there if a run was broken off."""

import hashlib

import equinox as eqx

# What defines a fit. The digest of these files is part of a folder's name, so a fit by other settings is not read.
BAND = ("learned.py", "band.py", "tests36.py")
NUMERICAL = ("numerical.py",)
AUGMENTED = ("augmented.py", "printed.py", "learned.py", "tests36.py")


def kept(job, files, name, like, fit):
    """The model that ``fit()`` finds, or the one of the same structure as `like` that an earlier run kept as `name`."""
    code = b"".join((job.folder / file).read_bytes() for file in files)
    folder = job.kept / f"models-{hashlib.sha256(code).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.eqx"
    if path.is_file():
        note = f"Some models were fitted by an earlier run and read from {folder.name}."
        job.notes.extend([note] if note not in job.notes else [])
        return eqx.tree_deserialise_leaves(path, like)
    model = fit()
    eqx.tree_serialise_leaves(path.with_suffix(".part"), model)
    path.with_suffix(".part").rename(path)
    return model
