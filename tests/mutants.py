"""Break one line at a time on purpose, and see whether a test fails: how much do the tests hold?

    python tests/mutants.py --count 300 --seed 1 --jobs 2 --out mutants.jsonl

A mutant is a copy of the tree with one operator, comparison, constant, condition or returned value changed. The
relevant tests run on it; one that lets them all pass has survived, and somebody must look: it is either equivalent
(no number can change) or a hole in the tests. Each verdict is written at once, so that a broken run goes on where it
was. Dear tests are left out at first; `--again` repeats the survivors with all, and with the tests written since.

Compiled code is the difficulty. The cache of `hyloop.core.cache` has one folder for each state of the sources, so every
mutant would compile everything again. Here a mutant inherits the folder of the untouched tree, without the entries
that could contain its own code: those whose file reaches the mutated one through imports. (`pytest -p mutants` notes
the files behind each compiled law while the untouched tree runs.) Paths enter Numba's keys: each job has one tree.
"""

import argparse
import ast
import hashlib
import json
import os
import random
import re
import runpy
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import pytest
from mutations import Mutant, code_lines, mutants_of

ROOT = Path(__file__).resolve().parents[1]
COPIED = ("src", "tests", "studies", "experiments", "examples", "README.md", "pyproject.toml")
DIGEST = ("source_digest", "_package_digest")  # functions of `hyloop.core.cache` that name its folder
LEAST = 25  # mutants of a package, however small
# what can notice an error in a package: its own tests, then those of what is built on it
TESTS = {
    "core": "core integrators loop neural/test_frozen.py updating/test_resume.py devices/test_every_law.py",
    "loop": "loop integrators/test_accuracy.py structure/frames/test_gravity.py",
    "devices": "devices loop/test_opensees.py loop/test_braced_frame.py",
    "integrators": "integrators loop structure/frames/test_gravity.py",
    "structure": "structure loop/test_sparse_loop.py loop/test_opensees.py loop/test_loop.py files/test_frames.py",
    "updating": "updating files/test_network_updaters.py",
    "neural": "neural learn/test_freezing.py updating/networks/test_network.py loop/test_channels.py",
}
DEAR = 5.0  # seconds from which the tests of a file are left for the survivors
# slow tests that run for the named modules alone; other tests hold the rest
GRADIENTS = "tests/devices/test_every_law.py::test_gradients_equal_differences_of_the_compiled_law[0.002-"
SLOW = {
    f"{GRADIENTS}stick_slip]": ["brfd_laws"],
    f"{GRADIENTS}gap_slip]": ["brfd_laws"],
    f"{GRADIENTS}bouc_wen_baber_noori]": ["bwbn"],
    f"{GRADIENTS}prandtl_ishlinskii_8]": ["prandtl_ishlinskii"],
    "tests/core/test_block.py::test_an_edited_law_is_compiled_again": ["cache", "jit", "block"],
}

# --- as a plugin of pytest, on the untouched tree --------------------------------------------------------------------


def _note(kind: str, key: str, value: Any) -> None:
    with open(os.environ["MUTANTS_NOTES"], "a") as stream:
        stream.write(json.dumps([kind, key, value]) + "\n")


def pytest_configure() -> None:
    """Note which files stand behind each folder of compiled laws."""
    import_module("hyloop")
    engine: Any = sys.modules["hyloop.core.jit"]  # as an attribute it is the function of that name
    behind: Any = sys.modules["hyloop.core.fingerprint"]
    parts, cached, files = behind._parts, engine.cached, set()

    def noted_parts(function, known):
        files.add(function.__code__.co_filename)
        return parts(function, known)

    def noted_cached(decorate, inside=""):
        if inside:
            _note("law", inside, sorted(files))
            files.clear()
        return cached(decorate, inside)

    behind._parts, engine.cached = noted_parts, noted_cached


def pytest_runtest_logreport(report) -> None:
    _note("seconds", report.nodeid.split("::")[0], report.duration)


# --- the copy that is broken -----------------------------------------------------------------------------------------


class Tree:
    """A private copy of the repository at a fixed path, and the compiled code of its untouched state."""

    def __init__(self, work: Path, job: int) -> None:
        self.root, self.warm, self.cache = work / f"job{job}", work / f"warm{job}", work / f"cache{job}"
        self.package = self.root / "src" / "hyloop"
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir(parents=True)
        for name in COPIED:
            copied = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copied(ROOT / name, self.root / name)
        self.warm = self.warm / self.digest()
        self.notes = self.warm / "notes.jsonl"
        self.closure = cache(self._closure)

    def digest(self) -> str:
        """The folder that `hyloop.core.cache` has for the present sources: its own function, without an import."""
        source = ast.parse((self.package / "core" / "cache.py").read_bytes())
        source.body = [n for n in source.body if isinstance(n, ast.FunctionDef) and n.name in DIGEST]
        names: dict[str, Any] = {"hashlib": hashlib, "numba": numba, "_PACKAGE": self.package}
        exec(compile(source, "cache.py", "exec"), names)
        return names["_package_digest"]()

    # --- which compiled code can contain a file ---

    def _module(self, name: str) -> Iterator[Path]:
        for base in (self.root / "src", self.root / "tests"):
            place = base.joinpath(*name.split("."))
            yield from (path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file())

    def _imports(self, path: Path, wanted: str = "") -> Iterator[Path]:
        """The files a file imports, or the one it imports a wanted name from."""
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import) and not wanted:
                for alias in node.names:
                    yield from self._module(alias.name)
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if wanted in ("", alias.asname or alias.name):
                        found = [*self._module(f"{node.module}.{alias.name}")]  # the name may be a module
                        for source in self._module(node.module) if not found else ():
                            # or come through the __init__ of a package
                            inner = [*self._imports(source, alias.name)] if source.name == "__init__.py" else []
                            found += inner or [source]
                        yield from found

    def _closure(self, path: Path) -> frozenset[Path]:
        seen, todo = set(), [path]
        while todo:
            here = todo.pop()
            if here not in seen and here.is_file():
                seen.add(here)
                todo.extend(self._imports(here))
        return frozenset(seen)

    def noted(self, kind: str) -> Iterator[tuple[str, Any]]:
        lines = self.notes.read_text().splitlines() if self.notes.is_file() else []
        yield from ((key, value) for k, key, value in map(json.loads, lines) if k == kind)

    def inherit(self, mutated: Path) -> None:
        """Give the mutant all compiled code of the untouched tree that cannot contain the mutated file."""
        laws: dict[str, set[Path]] = defaultdict(set)
        for key, files in self.noted("law"):
            laws[key] |= set(map(Path, files))
        folders = [folder for folder in self.package.rglob("*") if folder.is_dir()]
        named = {
            f"{folder.name}_{hashlib.sha1(str(folder).encode()).hexdigest()}": folder for folder in folders
        }  # Numba's
        shutil.rmtree(self.cache, ignore_errors=True)
        new = self.cache / self.digest()
        for entry in self.warm.rglob("*.nb?"):
            *law, folder, name = entry.relative_to(self.warm).parts
            if folder not in named or (law and law[0] not in laws):
                continue  # compiled in a test
            behind = {named[folder] / (name.split(".")[0] + ".py"), *(laws[law[0]] if law else ())}
            if not any(mutated in self.closure(file) for file in behind):
                target = new / entry.relative_to(self.warm)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.link(entry, target)

    # --- running tests ---

    def tests(self, package: str, module: str = "", dear: bool = True) -> list[str]:
        """The test files of a package: those named after the module first, then those that use its names."""
        seconds: dict[str, float] = defaultdict(float)
        for key, value in self.noted("seconds"):
            seconds[key] += value
        body = ast.parse((self.package / package / f"{module}.py").read_bytes()).body if module else []
        names = {n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name[0] != "_"}
        found = {}
        for k, entry in enumerate(TESTS[package].split()):
            path = self.root / "tests" / entry
            for file in [path] if path.is_file() else sorted(path.rglob("test_*.py")):
                key, uses = str(file.relative_to(self.root)), names & set(re.findall(r"\w+", file.read_text()))
                named = f"{Path(module).name}_".startswith(
                    file.stem.removeprefix("test_") + "_"
                )  # test_tower for tower_layout
                if dear or named or seconds[key] < DEAR:
                    found[key] = (not named, seconds[key] > DEAR, not uses, k > 0, seconds[key])
        return sorted(found, key=found.__getitem__)

    def run(self, tests: list[str], timeout: float, module: str = "", warming: bool = False) -> tuple[str, str]:
        """Run tests until one fails: survived, killed, broken (does not import or compile, or crashes) or timeout."""
        arguments = ["-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib", *tests]
        arguments += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # some plugins are loaded already
        arguments += ["-p", "mutants"] if warming else ["-x"]
        arguments += [f"--deselect={name}" for name, modules in SLOW.items() if Path(module).name not in modules]
        output, deadline = self.cache.with_suffix(".txt"), time.monotonic() + timeout
        child = os.fork()
        if child == 0:
            os.setsid()
            sys.path[:0] = [str(self.root / "src"), str(self.root / "tests")]
            os.environ["PYTHONPATH"] = os.pathsep.join(sys.path[:2])  # for tests that start a process
            os.environ["HYLOOP_CACHE"] = str(self.warm.parent if warming else self.cache)
            os.environ["MUTANTS_NOTES"] = str(self.notes)
            os.chdir(self.root)
            stream = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(stream, 1)
            os.dup2(stream, 2)
            os._exit(pytest.main(arguments))
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            time.sleep(0.05)
            if time.monotonic() > deadline:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return "timeout", ""
        if ended[1] == 0:
            return "survived", ""
        said = output.read_text(errors="replace")
        first = re.search(r"^(FAILED|ERROR) (.*)$", said, re.MULTILINE)
        compiles = not re.search(r"^E .*(TypingError|LoweringError|SyntaxError|UnsupportedError)", said, re.MULTILINE)
        killed = first is not None and first[1] == "FAILED" and compiles and os.waitstatus_to_exitcode(ended[1]) == 1
        return "killed" if killed else "broken", first[2][:200] if first else said[-300:]

    def warm_up(self, packages: list[str]) -> None:
        """Compile what the tests of the untouched tree need; they must all pass, or every mutant would seem killed."""
        tests = sorted((self.root / "tests").rglob("*.py"))
        seen = hashlib.sha256(b"".join(path.read_bytes() for path in tests) + repr(packages).encode()).hexdigest()
        done = self.warm / "passed.txt"
        if not done.is_file() or done.read_text() != seen:
            self.warm.mkdir(parents=True, exist_ok=True)
            self.notes.unlink(missing_ok=True)
            names = dict.fromkeys(name for package in packages for name in self.tests(package))
            verdict, said = self.run([*names], timeout=3600.0, warming=True)
            if verdict != "survived":
                sys.exit(f"the tests must pass on the untouched tree: {said}")
            done.write_text(seen)

    def judge(self, mutant: Mutant, timeout: float, dear: bool) -> tuple[str, str]:
        path = self.package / mutant.package / f"{mutant.module}.py"
        untouched = path.read_bytes()
        try:
            path.write_bytes(mutant.apply(untouched))
            self.inherit(path)
            return self.run(self.tests(mutant.package, mutant.module, dear), timeout, mutant.module)
        finally:
            path.write_bytes(untouched)


# --- the experiment --------------------------------------------------------------------------------------------------


def sample(packages: list[str], count: int, seed: int) -> list[Mutant]:
    """Mutants drawn at random, shared out over the packages by their lines of code: a line, then one of its mutants."""
    dice, chosen = random.Random(seed), []
    files = {name: sorted((ROOT / "src" / "hyloop" / name).rglob("[!_]*.py")) for name in packages}
    lines = {name: sum(code_lines(path.read_bytes()) for path in files[name]) for name in packages}
    least = min(LEAST, count // len(packages))
    for name in packages:
        by_line: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
        for path in files[name]:
            module = path.relative_to(ROOT / "src" / "hyloop" / name).with_suffix("").as_posix()  # frames/model
            for mutant in mutants_of(path.read_bytes(), name, module):
                by_line[mutant.module, mutant.line].append(mutant)
        wanted = least + round((count - least * len(packages)) * lines[name] / sum(lines.values()))
        chosen += [dice.choice(by_line[key]) for key in dice.sample(sorted(by_line), min(wanted, len(by_line)))]
    dice.shuffle(chosen)
    return chosen


def verdicts(out: Path) -> dict[str, dict[str, Any]]:
    """The last verdict on each mutant."""
    lines = out.read_text().splitlines() if out.is_file() else []
    return {Mutant(**found["mutant"]).name: found for found in map(json.loads, lines)}


def work(job: int, mutants: list[Mutant], given: argparse.Namespace) -> None:
    tree = Tree(given.work, job)
    tree.warm_up(given.packages)
    for mutant in mutants:
        began = time.monotonic()
        verdict, said = tree.judge(mutant, given.timeout, dear=given.again)
        seconds = round(time.monotonic() - began, 1)
        with open(given.out, "a") as stream:
            stream.write(json.dumps({"mutant": mutant._asdict(), "verdict": verdict, "by": said, "s": seconds}) + "\n")
        print(f"{verdict:8} {seconds:6.1f} s  {mutant.name}  {said[:100]}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutation testing; see the head of this file.")
    parser.add_argument("--packages", type=lambda text: text.split(","), default=[*TESTS])
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True, help="verdicts, one JSON line each; none is run twice")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "hyloop-mutants")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for the tests of one mutant")
    parser.add_argument("--again", action="store_true", help="only the survivors in --out, with all tests")
    given = parser.parse_args()
    before = verdicts(given.out)
    todo = [mutant for mutant in sample(given.packages, given.count, given.seed) if mutant.name not in before]
    if given.again:
        todo = [Mutant(**found["mutant"]) for found in before.values() if found["verdict"] == "survived"]
    # what every run of pytest needs is loaded once, and inherited by fork
    sys.dont_write_bytecode = True
    runpy.run_path(str(ROOT / "tests" / "conftest.py"))  # sets the environment that JAX reads
    for name in ("jax", "scipy.sparse.linalg", "scipy.optimize", "scipy.signal", "hypothesis"):
        import_module(name)
    numba.njit(lambda x: x + 1.0)(1.0)
    children = []
    for job in range(given.jobs):
        children.append(os.fork())
        if children[-1] == 0:
            work(job, todo[job :: given.jobs], given)
            os._exit(0)
    for child in children:
        os.waitpid(child, 0)
    for name in given.packages:
        found = [v["verdict"] for v in verdicts(given.out).values() if v["mutant"]["package"] == name]
        print(name.ljust(12), len(found), {kind: found.count(kind) for kind in sorted(set(found))})


if __name__ == "__main__":
    main()
