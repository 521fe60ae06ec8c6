"""Tasks of a study, such as fits from several seeds: in processes of their own, and kept for a run that breaks off."""

import hashlib
import importlib
import itertools
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hyloop.core.cache import source_digest
from hyloop.core.writing import replacing
from hyloop.errors import BadInput
from hyloop.study.code import loaded_code
from hyloop.study.plain import from_text, to_text

__all__ = ["Task", "one_thread", "run_tasks"]

# Many processes share the processors: threads of their libraries would stand in each other's way, and sixteen processes
# in one graphics card. Read when the libraries are imported, so they have to be set before a process starts.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
}
NUMERICS = ("numpy", "scipy", "jax", "equinox")  # whose versions may change what a fit finds


class Task(NamedTuple):
    """One piece of work whose result hangs on nothing but its arguments and the sources."""

    name: str  # unique in the study; of the file it is kept in
    function: str  # "module:function" in the study's folder
    arguments: tuple = ()  # plain values and arrays, or tuples of the study's own classes
    files: tuple[str, ...] = ()  # of that folder, which define the result


def library_digest() -> str:
    """What every result hangs on: the sources of hyloop that compute, and the versions of what they compute with."""
    versions = " ".join(f"{package} {_version(package)}" for package in NUMERICS)
    return f"{source_digest('cli', 'report')} {versions}"


def kept_path(folder: Path, kept: Path, task: Task, library: str) -> Path:
    """Where the result of a task is kept; sources and arguments make the name, so that a stale one is not found."""
    digest = hashlib.sha256(library.encode())
    for file in task.files:
        digest.update((folder / file).read_bytes())
    digest.update(task.function.encode())
    _enter(digest, task.arguments)
    return kept / f"{task.name}.{digest.hexdigest()[:12]}.json"


def _enter(digest: Any, value: Any) -> None:
    """Enter plain values and arrays into a digest, equal ones equally."""
    if isinstance(value, np.ndarray):
        digest.update(f"{value.dtype}{value.shape}".encode() + value.tobytes())
    elif isinstance(value, (list, tuple)):
        digest.update(f"[{len(value)}".encode())
        for item in value:
            _enter(digest, item)
    else:
        digest.update(f"{value!r};".encode())


def run_tasks(
    folder: Path, kept: Path, tasks: Sequence[Task], *, workers: int, progress: Callable[[float], None]
) -> tuple[dict[str, Any], int]:
    """Results by name, and how many of them an earlier run had kept.

    Every result is written into `kept` as soon as it is there. With one worker all is done in this process.
    """
    library = library_digest()
    paths = {task.name: kept_path(folder, kept, task, library) for task in tasks}
    if len(paths) != len(tasks):
        raise BadInput(f"{folder.name}: two tasks have the same name.")
    kept.mkdir(parents=True, exist_ok=True)
    open_ = [task for task in tasks if not paths[task.name].is_file()]
    count = itertools.count(len(tasks) - len(open_) + 1)
    _do(folder, open_, paths, min(workers, len(open_)), lambda: progress(next(count) / len(tasks)))
    return {name: from_text(path.read_text(encoding="utf-8")) for name, path in paths.items()}, len(tasks) - len(open_)


def _do(folder: Path, tasks: Sequence[Task], paths: dict[str, Path], workers: int, done: Callable[[], None]) -> None:
    """Work through tasks, and say `done` after each."""
    if workers < 2:
        for task in tasks:
            _work(folder, task, paths[task.name])
            done()
        return
    others = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    # the code of the study is loaded first: arguments may be of its classes
    with one_thread(), ProcessPoolExecutor(workers, spawn, loaded_code, (folder,)) as pool:
        futures = [pool.submit(_work, folder, task, paths[task.name]) for task in tasks]
        try:
            for future in as_completed(futures):
                future.result()
                done()
        except KeyboardInterrupt:  # nobody wants to wait for the fits under way
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


def _work(folder: Path, task: Task, path: Path) -> None:
    """Do one task, in whatever process, and keep its result."""
    where, _, name = task.function.partition(":")
    module = importlib.import_module(f"{loaded_code(folder).__name__}.{where}")
    result = getattr(module, name)(*task.arguments)
    with replacing(path) as part:
        part.write_text(to_text(result), encoding="utf-8")


@contextmanager
def one_thread() -> Iterator[None]:
    """Surroundings that processes which start now will have."""
    before = {key: os.environ.get(key) for key in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # JAX is not needed by every study
        return "-"
