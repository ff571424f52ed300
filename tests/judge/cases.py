"""Cases of the data files: an operation's name, its operands as JSON, and how to run it.

Operands and answers are JSON: a string is a layout, swizzle or composed layout in notation, a number an integer, a list
a tuple, ``null`` the ``None`` of coordinates and tilers, ``true`` and ``false`` truth values; an object at the end has
the options, such as ``{"round_up": true}``. Operations are those of the package, and ``call`` (a layout or swizzle at a
coordinate).
"""

from __future__ import annotations

from typing import Any

import judge

import layoutalg
from layoutalg import ComposedLayout, Layout, Swizzle, parse_layout

Value = Any


def decode(data: Any) -> Value:
    """The value that JSON data stands for."""
    if isinstance(data, str):
        return parse_layout(data)
    if isinstance(data, dict):  # the laws take an option by its place
        (data,) = data.values()
    return tuple(map(decode, data)) if isinstance(data, list) else data


def encode(value: Value) -> Any:
    """A value as JSON data."""
    if isinstance(value, (Layout, ComposedLayout, Swizzle)):
        return str(value)
    return list(map(encode, value)) if isinstance(value, tuple) else value


def run(operation: str, operands: list[Any]) -> Value:
    """Call an operation of the package with operands given as JSON data."""
    options = {key: value for operand in operands if isinstance(operand, dict) for key, value in operand.items()}
    arguments = [decode(operand) for operand in operands if not isinstance(operand, dict)]
    if operation == "call":
        return arguments[0](arguments[1])
    return getattr(layoutalg, operation)(*arguments, **options)


def comparable(data: Any) -> Any:
    """An answer as JSON data, with the strides of extent-1 modes written 0: they carry no meaning."""
    if isinstance(data, str):
        return judge.normal(parse_layout(data))
    return list(map(comparable, data)) if isinstance(data, list) else data


def spelled(operation: str, operands: list[Any]) -> str:
    """A case as an expression of the ``layoutalg eval`` command."""
    if operation == "call":
        where = spelled_value(operands[1])
        layout = operands[0]
        return f"{layout if ':' not in layout else f'({layout})'}{where if where.startswith('(') else f'({where})'}"
    return f"{operation}({', '.join(map(spelled_value, operands))})"


def spelled_value(data: Any) -> str:
    """An operand or an answer in notation."""
    if isinstance(data, dict):
        return ", ".join(f"{key}={value}" for key, value in data.items())
    if isinstance(data, list):
        inside = ",".join(map(spelled_value, data))
        return f"({inside},)" if len(data) == 1 and isinstance(data[0], str) else f"({inside})"
    return "_" if data is None else str(data)
