"""The mutants of a source file: small changes at positions found with `ast`, one at a time (see mutants.py)."""

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

BINARY = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"), ast.Pow: ("**", "*")}
COMPARE = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
CALLS = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "sin": "cos",
    "cos": "sin",
    "argmin": "argmax",
    "argmax": "argmin",
}
# arguments that change speed, wording or the style of a class, never a number
NOT_NUMBERS = {"about", "reference", "nogil", "cache", "inline", "frozen", "eq", "strict", "allow_pickle", "where"}
# functions about speed and folders of compiled code
SPEED = {"_cache_root", "_package_digest", "_usable", "_warn", "cache_folder", "cached"}


class Mutant(NamedTuple):
    package: str
    module: str
    line: int
    start: int  # bytes from the beginning of the file
    end: int
    old: str
    new: str

    @property
    def name(self) -> str:
        return f"{self.package}/{self.module}.py:{self.line}:{self.start} {self.old} -> {self.new}"

    def apply(self, source: bytes) -> bytes:
        assert source[self.start : self.end].decode() == self.old, f"{self.name}: the source has changed"
        return source[: self.start] + self.new.encode() + source[self.end :]


def code_lines(source: bytes) -> int:
    """Lines that begin a statement or continue one: neither blank, comment nor docstring."""
    return len({node.lineno for node in ast.walk(ast.parse(source)) if hasattr(node, "lineno") and not _text(node)})


def _text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def mutants_of(source: bytes, package: str, module: str) -> Iterator[Mutant]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def span(node) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def text(node) -> str:
        first, last = span(node)
        return source[first:last].decode()

    def change(node, new: str, first: int | None = None, last: int | None = None) -> Iterator[Mutant]:
        begin, end = span(node)
        begin, end = begin if first is None else first, end if last is None else last
        yield Mutant(package, module, node.lineno, begin, end, source[begin:end].decode(), new)

    def between(node, left, right, old: str, new: str) -> Iterator[Mutant]:
        """Change the operator between two operands."""
        first, last = span(left)[1], span(right)[0]
        word = re.escape(old).replace(r"\ ", r"\s+")
        found = re.search(rf"\b{word}\b" if old[0].isalpha() else word, source[first:last].decode())
        if found:  # only ASCII stands between operands, so characters are bytes
            yield from change(node, new, first + found.start(), first + found.end())

    def here(node, parent) -> Iterator[Mutant]:
        match node:
            case ast.BinOp() if type(node.op) in BINARY and not _has_text(node):
                yield from between(node, node.left, node.right, *BINARY[type(node.op)])
            case ast.Compare():
                left = node.left
                for op, right in zip(node.ops, node.comparators, strict=True):
                    yield from between(node, left, right, *COMPARE[type(op)])
                    left = right
            case ast.BoolOp():
                old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                yield from between(node, node.values[0], node.values[1], old, new)
            case ast.Constant(value=bool()):
                yield from change(node, str(not node.value))
            case ast.Constant(value=int() | float()):
                shifted = {0: "1", 1: "2"}.get(node.value) or str(
                    node.value * 1.5 if isinstance(node.value, float) else node.value + 1
                )
                yield from change(
                    node, shifted + (".0" if isinstance(node.value, float) and node.value in (0, 1) else "")
                )
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                yield from change(node, text(node.operand))
            case ast.AugAssign():
                yield from change(node, "pass")
                if type(node.op) in BINARY:
                    old, new = BINARY[type(node.op)]
                    yield from between(node, node.target, node.value, f"{old}=", f"{new}=")
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in CALLS:
                end = span(node.func)[1]
                yield from change(node, CALLS[name], end - len(name), end)
            case ast.Return(value=ast.expr()) if parent is not None:
                said = text(parent.returns) if parent.returns else ""
                if said in ("float", "np.ndarray", "Floats"):
                    yield from change(node.value, f"1.5 * ({text(node.value)})")
                elif said == "bool":
                    yield from change(node.value, f"not ({text(node.value)})")
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            yield from change(node.test, f"(not ({text(node.test)}))")

    def walk(node, function) -> Iterator[Mutant]:
        yield from here(node, function)
        inner = node if isinstance(node, ast.FunctionDef) else function
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not _untouchable(child):
                    yield from walk(child, inner)

    yield from walk(ast.parse(source), None)


def _has_text(node: ast.BinOp) -> bool:
    """Whether text is put together, not numbers."""
    sides = (node.left, node.right)
    return any(
        isinstance(s, ast.JoinedStr) or (isinstance(s, ast.Constant) and isinstance(s.value, str)) for s in sides
    )


def _untouchable(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom():
            return True
        case ast.keyword(arg=name):
            return name in NOT_NUMBERS
        case ast.FunctionDef(name=name):
            return name in SPEED
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
    return _text(node)
