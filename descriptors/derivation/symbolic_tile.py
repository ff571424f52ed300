"""A tile whose extents hold symbols, such as ``(64*m, 64*k)``: read from values, or from one line of text.

Law: a tile in one line is the tile of its parts, whether they are text or numbers.

>>> parts = ("128", "64*m", "8*max", 48)
>>> all(parse_tile(f"{a} x {b}") == symbolic_extents((a, b)) for a in parts for b in parts)
True
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from descriptors.errors import DescriptorError, brief
from layoutalg import Layout, LayoutError, UndecidedError

#: A number, or a polynomial of ``layoutalg`` in symbols for positive integers; sympy takes both.
Expression: TypeAlias = Any


def symbolic_extents(tile: Any) -> tuple[Expression, ...]:
    """Two or three extents, as numbers and polynomials.

    Raises:
        DescriptorError: if there are not two or three, or one is no positive number or expression.

    >>> print(*symbolic_extents(("8*m", 64)))
    8*m 64
    """
    if not isinstance(tile, (tuple, list)) or len(tile) not in (2, 3):
        raise DescriptorError(f"derive: tile must be (MN, K) or (MN, K, stages), found {brief(tile)}")
    extents = []
    for i, extent in enumerate(tile):
        try:
            value = Layout(_read(extent) if isinstance(extent, str) else extent).shape
        except UndecidedError:
            raise
        except LayoutError as error:
            raise DescriptorError(f"derive: tile extent {i} must be a positive number or expression; {error}") from None
        if isinstance(value, tuple):
            raise DescriptorError(f"derive: tile extent {i} must be a number or expression, found {brief(extent)}")
        extents.append(value)
    return tuple(extents)


def _read(extent: str) -> Any:
    from layoutalg import parse_int_tuple  # only where an extent was written down

    return parse_int_tuple(extent)


def parse_tile(text: str) -> tuple[Expression, ...]:
    """Read a tile whose extents hold symbols, as a command line has it.

    The extents are separated by commas, or by an ``x`` with spaces around it, or by an ``x`` alone: then no symbol may
    have an x in its name. Parentheses around all of it are allowed.

    Raises:
        DescriptorError: if there are not two or three extents, or one cannot be read.

    >>> print(*parse_tile("8*m x 64*k"), *parse_tile("8*mx64*k"), *parse_tile("(8*max, 64)"))
    8*m 64*k 8*m 64*k 8*max 64
    """
    if "," in text:
        inner = text.strip()
        if inner.startswith("(") and inner.endswith(")"):
            inner = inner[1:-1]
        parts = inner.split(",")
    else:
        parts = re.split(r"\s+x\s+", text) if re.search(r"\s+x\s+", text) else text.split("x")
    return symbolic_extents(tuple(part.strip() for part in parts))
