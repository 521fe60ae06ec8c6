"""`hyloop laws` for the blocks of a transfer system: what they are, in which role, and how a file says it."""

from typing import Any

from hyloop.cli.console import console, print_json, print_table
from hyloop.core import Block, Param
from hyloop.files.fields import Table
from hyloop.files.laws import parameters_text
from hyloop.files.reference import examples, keys
from hyloop.files.transfers import BLOCKS, MAKERS
from hyloop.transfer import handed_on
from hyloop.transfer.saturation import UNLIMITED

__all__ = ["described", "show_transfer", "show_transfers", "transfer_dicts"]


def described() -> dict[str, tuple[str, Any]]:
    """Role, and block or table, of everything by its name."""
    found: dict[str, tuple[str, Any]] = {name: (entry.role, entry.block) for name, entry in BLOCKS.items()}
    for name, table in MAKERS.items():
        found[name] = (table.role, table)
    return {**found, "handed_on": ("device", handed_on)}


def show_transfers() -> None:
    """Table of all of them."""
    rows = [[name, role, _about(what), ", ".join(_keys(what))] for name, (role, what) in described().items()]
    title = 'Blocks of transfer systems, for files: [sites.NAME.transfer.ROLE] with law = "NAME"'
    print_table(title, ["law", "role", "what it is", "keys"], rows)


def show_transfer(name: str, json: bool) -> None:
    """One of them: equation, role, keys, and how it stands in a file."""
    role, what = described()[name]
    if json:
        print_json([_as_dict(name)])
        return
    if isinstance(what, Block):
        console.print(what.doc, markup=False, highlight=False)
        rows = [
            [key, f"{p.default:g}" if p.default < UNLIMITED else "none", p.unit, _bounds(p), p.about]
            for key, p in what.params.items()
        ]
        print_table(
            f"Parameters of {name}", ["parameter", "default", "unit", "bounds", "about"], rows, right=["default"]
        )
        console.print(f"Reference: {what.reference}", markup=False, highlight=False)
    else:
        console.print(_about(what), markup=False, highlight=False)
        print_table(f"Keys of {name}", ["key", "value", "default", "meaning"], [list(row) for row in keys(what)])
    console.print(f"Role: {role}. In a file:\n{_text(name)}", markup=False, highlight=False, soft_wrap=True)


def transfer_dicts() -> list[dict[str, Any]]:
    """All of them for other programs."""
    return [_as_dict(name) for name in described()]


def _bounds(param: Param) -> str:
    return f"{param.low:g} to {param.high:g}"


def _text(name: str) -> str:
    """How it stands in a file."""
    role, what = described()[name]
    if not isinstance(what, Block):
        return examples()[what.__name__]
    if role == "device":
        return f"device = {{ {parameters_text(name, what)} }}"
    return f"transfer.{role} = {{ {parameters_text(name, what)} }}"


def _about(what: Block | type[Table]) -> str:
    return what.doc.splitlines()[0] if isinstance(what, Block) else " ".join((what.__doc__ or "").split())


def _keys(what: Block | type[Table]) -> list[str]:
    return list(what.params) if isinstance(what, Block) else [key for key in what.model_fields if key != "law"]


def _as_dict(name: str) -> dict[str, Any]:
    role, what = described()[name]
    found: dict[str, Any] = {"law": name, "role": role, "about": _about(what), "file": _text(name)}
    if not isinstance(what, Block):
        return found | {"keys": {key: meaning for key, _, _, meaning in keys(what)}}
    params = {
        key: {"default": p.default if p.default < UNLIMITED else None, "unit": p.unit, "about": p.about}
        for key, p in what.params.items()
    }
    return found | {
        "about": what.doc,
        "inputs": dict(what.inputs),
        "outputs": dict(what.outputs),
        "params": params,
        "pure": what.pure,
        "reference": what.reference,
    }
