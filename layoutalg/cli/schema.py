"""JSON Schema of the ``--json`` output of commands: a notation for types, and the command ``schema`` of ``layoutalg``.

Types are written as Python values. ``{"size": int, "text?": str}`` is an object with these keys and no others, of which
``text`` may be missing; ``{str: int}`` is an object with any keys. ``[int]`` is a list, ``[int, int]`` a pair,
``(int, None)`` a union. ``{"K", "MN"}`` is one of these texts, ``"^0x"`` a text that matches this pattern, and any
other text is the name of a type. An answer or refusal is an object that contains the version of the format beside its
own keys.

Invariant: the version in a schema is the version in the answers.

>>> answer = json_schema("size", ["Size"], {"Size": {"size": int, "unit?": {"byte", "bit"}}})["anyOf"][0]
>>> answer["properties"]["schema"], answer["properties"]["unit"], answer["required"]
({'const': 1}, {'enum': ['bit', 'byte']}, ['schema', 'size'])

Source: JSON Schema, draft 2020-12, Core and Validation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import click

from layoutalg.cli.console import SCHEMA, say

#: A type in the notation of this module, and types by name.
Kind = Any
Kinds = Mapping[str, Kind]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PRIMITIVES = {int: "integer", float: "number", str: "string", bool: "boolean"}

#: The types of a refusal, and of an answer that was written to a file.
ERROR: Kind = {"error": {"type": str, "message": str, "fact": str, "notes": [str], "help": [str]}}
WRITTEN: Kind = {"written": str}


def json_schema(command: str, answers: Sequence[Kind], types: Kinds) -> dict[str, Any]:
    """Return the JSON Schema of the output of a command.

    Args:
        command: the command with its program, as a user types it.
        answers: the types of its answers.
        types: the types that the answers refer to by name.
    """
    used: dict[str, Any] = {}
    forms = [_form(kind, types, used) for answer in [*answers, ERROR] for kind in _objects(answer, types)]
    return {
        "$schema": DIALECT,
        "title": f"{command} as JSON, form {SCHEMA}",
        "anyOf": forms,
        "$defs": {name: used[name] for name in sorted(used)},
    }


def _objects(kind: Kind, types: Kinds) -> Iterator[dict[Any, Kind]]:
    """Yield the object types of a union or of a named type."""
    if isinstance(kind, str):
        yield from _objects(types[kind], types)
    elif isinstance(kind, tuple):
        for alternative in kind:
            yield from _objects(alternative, types)
    else:
        yield kind


def _form(kind: dict[Any, Kind], types: Kinds, used: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an answer: an object with the version beside its keys."""
    schema = _schema(kind, types, used)
    properties = {"schema": {"const": SCHEMA}, **schema.get("properties", {})}
    least = {"minProperties": 2} if str in kind else {}
    return {**schema, "properties": properties, "required": ["schema", *schema.get("required", ())], **least}


def _schema(kind: Kind, types: Kinds, used: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type, and add the schemas of the types that it names to ``used``."""

    def schema_of(part: Kind) -> dict[str, Any]:
        return _schema(part, types, used)

    match kind:
        case None:
            return {"type": "null"}
        case type():
            return {} if kind is object else {"type": _PRIMITIVES[kind]}
        case str() if kind.startswith("^"):
            return {"type": "string", "pattern": kind}
        case str():
            if kind not in used:
                used[kind] = {}  # ends the recursion of a type that refers to itself
                used[kind] = schema_of(types[kind])
            return {"$ref": f"#/$defs/{kind}"}
        case set() | frozenset():
            return {"enum": sorted(kind)}
        case tuple():
            return {"anyOf": [schema_of(alternative) for alternative in kind]}
        case [item]:
            return {"type": "array", "items": schema_of(item)}
        case list():
            items = [schema_of(item) for item in kind]
            return {"type": "array", "prefixItems": items, "items": False, "minItems": len(items)}
    if str in kind:
        return {"type": "object", "additionalProperties": schema_of(kind[str])}
    return {
        "type": "object",
        "properties": {name.removesuffix("?"): schema_of(value) for name, value in kind.items()},
        "required": [name for name in kind if not name.endswith("?")],
        "additionalProperties": False,
    }


def schema_command(program: str, answers: Mapping[str, Sequence[Kind]], types: Kinds) -> click.Command:
    """Return the command ``schema`` of a program.

    Args:
        program: the name of the program.
        answers: the types of the answers of each command that writes JSON.
        types: the types that the answers refer to by name.
    """

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        head = "".join(f"{word} " for word in context.params.get("words") or ())
        return [name.removeprefix(head) for name in answers if name.startswith(head + incomplete)]

    @click.command("schema")
    @click.argument("words", metavar="[COMMAND]", nargs=-1, shell_complete=complete)
    def schema(words: tuple[str, ...]) -> None:
        name = " ".join(words).removeprefix(f"{program} ")
        if not words:
            say("\n".join(answers))
        elif name in answers:
            say(json.dumps(json_schema(f"{program} {name}", answers[name], types)))
        else:
            near = get_close_matches(name, answers, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise click.UsageError(
                f"{name[:60]!r} is not a command that writes JSON{hint}; supported: {', '.join(answers)}"
            )

    schema.help = _HELP.format(program=program, one=next(iter(answers)))
    return schema


_HELP = """Print the JSON Schema of the --json output of COMMAND.

\b
{program} schema
{program} schema {one}

Without COMMAND, it lists the commands that have a schema. The dialect is draft 2020-12. The first key of an answer,
schema, is the version of the format. It is increased if a key is removed or changes its meaning, but not for a new key.
A program that reads the output should ignore unknown keys; the schema describes the keys of this release only.
"""

#: Types of the answers. Symbols and basis vectors in place of numbers are texts.
TYPES: Kinds = {
    "Numbers": (int, None, str, ["Numbers"]),
    "Leaves": (bool, int, None, str, ["Leaves"]),
    "Layout": {"kind": {"layout"}, "text": str, "shape": "Numbers", "stride": "Numbers", "size": (int, str)},
    "ComposedLayout": {
        "kind": {"composed_layout"}, "text": str, "shape": "Numbers", "outer": "Value", "offset": (int, str),
        "inner": "Value", "size": (int, str),
    },
    "Swizzle": {"kind": {"swizzle"}, "text": str, "bits": int, "base": int, "shift": int},
    "Items": {"kind": {"tuple"}, "text": str, "items": ["Value"]},
    "Tuple": {"kind": {"tuple"}, "text": str, "value": ["Leaves"]},
    "Number": {"kind": {"int"}, "text": str, "value": int},
    "Truth": {"kind": {"bool"}, "text": str, "value": bool},
    "Nothing": {"kind": {"none"}, "text": str, "value": None},
    "CopyLayouts": {"source": str, "destination": str, "reference": str},
    "TiledCopy": {
        "kind": {"TiledCopy"}, "text": str, "threads": int, "tiler": [str], "layout_tv": str, "layout_src_tv": str,
        "layout_dst_tv": str, "atom": "CopyLayouts",
    },
    "TiledMma": {
        "kind": {"TiledMma"}, "text": str, "threads": int, "shape_mnk": [int], "tile_mnk": [int],
        "thr_layout_vmnk": str, "permutation_mnk": [str], "tv_layouts": {str: str},
    },
    "CopyAtom": {"kind": {"CopyAtom"}, "text": str, "threads": int, "atom": "CopyLayouts"},
    "MmaAtom": {"kind": {"MmaAtom"}, "text": str, "threads": int, "shape_mnk": [int], "tv_layouts": {str: str}},
    "Other": {"kind": {"Polynomial", "ScaledBasis", "Vector"}, "text": str},
    "Value": (
        "Layout", "ComposedLayout", "Swizzle", "Items", "Tuple", "Number", "Truth", "Nothing", "TiledCopy", "TiledMma",
        "CopyAtom", "MmaAtom", "Other",
    ),
    "Check": {
        "agrees": bool, "how": (None, {"text", "function", "sum", "slice", "refusal"}), "status": str,
        "value": (str, None), "ours": (str, None), "text": str,
    },
    "Step": {
        "text": str, "operation": str, "operands": [str], "result": ("Value", None), "condition": str, "holds": bool,
        "steps": ["Step"],
    },
    "Family": {"form": str, "tile": str, "threads": int, "holds": str, "source": str, "grade": str},
    "Access": {
        "warp": int, "value": int, "addresses": [(int, None)], "phase_wavefronts": [int], "access": str, "store": bool,
    },
    "Axis": {"names": [str], "extents": [int], "shown": int},
    "Panel": {
        "title": str, "rows": "Axis", "columns": "Axis", "cells": [["Numbers"]], "roles": [[(str, None)]],
        "levels": [{"name": str, "rows": int, "columns": int, "role": str}],
        "marks": [{"row": int, "column": int, "rows": int, "columns": int, "role": str}],
    },
    "Plate": {
        "title": str, "notation": str, "description": str, "caption": str, "panels": ["Panel"],
        "legend": [{"role": str, "text": str}], "note": str, "before": int, "was": str, "stacked": int,
    },
}  # fmt: skip


def _beside(names: Sequence[str], more: dict[str, Kind]) -> list[Kind]:
    """Return named types with further keys."""
    return [{**more, **kind} for name in names for kind in _objects(name, TYPES)]


#: The answers of each command.
ANSWERS: Mapping[str, Sequence[Kind]] = {
    "atoms": [
        {"name": str, "layout": str, "tile": [int], "threads": int, "values": int, "family": "Family"},
        {"families": ["Family"], "names": [str]},
    ],
    "banks": [{"wavefronts": int, "conflicts": int, "accesses": ["Access"]}],
    "draw": ["Plate", WRITTEN],
    "eval": [
        *_beside(["Value"], {"check?": "Check", "line?": int, "label?": str, "steps?": ["Step"], "notes?": [str]}),
        {**ERROR, "check?": "Check", "steps?": ["Step"]},
        {**ERROR, "line": int},
        *_beside(["Layout", "ComposedLayout"], {"type": str, "encoding": str}),
        {**ERROR, "type": str},
    ],
    "feeds": [
        {
            "answer": {
                "same", "same after relabelling k", "same after relabelling rows", "needs shuffles",
                "through shared memory", "same elements, other order", "within quads", "within warps", "across warps",
            },
            "first": str, "second": str, "rows": int, "columns": int, "repeats": int, "threads": int, "values": int,
            "register_order": [int], "sigma": [int], "row_order": [int], "scale_blocks_16": [[int]],
            "scale_blocks_32": [[int]],
            "reach": {"", "quads", "warps", "CTA"},
            "stay": [int], "sources": [[[int, int]]], "shuffles": int, "store": str, "load": str, "ptx": [str],
        }
    ],
    "f2": [{"columns": [int], "rows": int, "rank": int}],
    "find-swizzle": [{"bytes": str, "elements": (str, None), "mode": (str, None), "modes": [str]}],
    "linear": [{str: [[int]]}],
    "ops": [{"operations": {str: str}}, {"name": str, "text": str}],
    "sectors": [
        {
            "sectors": int,
            "accesses": [
                {
                    "access": str, "warp": int, "value": int, "addresses": [(int, None)], "sectors": int,
                    "efficiency": float,
                }
            ],
        }
    ],
    "show": _beside(["Layout", "ComposedLayout"], {"offsets": "Numbers"}),
}  # fmt: skip

#: The commands that the group registers.
commands: list[click.Command] = [schema_command("layoutalg", ANSWERS, TYPES)]
