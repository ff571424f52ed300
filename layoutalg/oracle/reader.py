"""CuTe notation as plain data: the one language between this process and the oracle's.

The reader shares no code with ``layoutalg``, so that a slip in either notation shows when the two are compared.
It accepts what the DSL prints and nothing more: no blanks inside tuples, no C++ spelling.

Law: what is read is written as it was, and ``layoutalg`` writes the same.

>>> from layoutalg import parse_layout
>>> texts = ["8:1", "(8,(4,2)):(1,(8,0))", "(2,3):(1@0,2@1)", "S<3,4,3> o 16 o (8,64):(64,1)"]
>>> [write(read(text)) for text in texts] == texts == [str(parse_layout(text)) for text in texts]
True
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Affine", "Basis", "Composed", "Swizzling", "Term", "read", "read_tuple", "write", "write_tuple"]

_SWIZZLE = re.compile(r"S<(-?\d+),(-?\d+),(-?\d+)>?$")
_TOKEN = re.compile(r"[(),]|-?\d+(?:@\d+)*")


@dataclass(frozen=True, slots=True)
class Basis:
    """A stride ``value@m1@m0``: ``value`` steps along mode ``(m0, m1)``, whose outermost index is printed last."""

    value: int
    mode: tuple[int, ...]


Tree: TypeAlias = "int | Basis | tuple[Tree, ...]"


@dataclass(frozen=True, slots=True)
class Affine:
    """A layout ``shape:stride``."""

    shape: Tree
    stride: Tree


@dataclass(frozen=True, slots=True)
class Swizzling:
    """A swizzle ``S<bits,base,shift>``."""

    bits: int
    base: int
    shift: int


@dataclass(frozen=True, slots=True)
class Composed:
    """``outer o offset o inner``, applied from right to left."""

    outer: Term
    offset: Tree
    inner: Term

    @property
    def shape(self) -> Tree:
        """Shape of the rightmost layout, whose coordinates these are."""
        return () if isinstance(self.inner, Swizzling) else self.inner.shape


Term: TypeAlias = "Affine | Swizzling | Composed"


def read(text: str) -> Term:
    """Return the layout, swizzle or composed layout that ``text`` writes.

    Raises:
        ValueError: if the text is not in the notation.

    >>> read("(8,(4,2)):(1,(8,0))")
    Affine(shape=(8, (4, 2)), stride=(1, (8, 0)))
    >>> read("S<3,4,3> o 16 o 8:1").offset
    16
    """
    outer, composed, rest = text.partition(" o ")
    if composed:
        offset, _, inner = rest.partition(" o ")
        return Composed(read(outer), read_tuple(offset), read(inner))
    if match := _SWIZZLE.match(text):  # the DSL forgets the closing bracket after a negative shift
        bits, base, shift = map(int, match.groups())
        return Swizzling(bits, base, shift)
    shape, _, stride = text.partition(":")
    return Affine(read_tuple(shape), read_tuple(stride))


def read_tuple(text: str) -> Tree:
    """Return the nested tuple of integers (or of basis strides) that ``text`` writes; ``(4)`` is a tuple of one.

    Raises:
        ValueError: if the text is not in the notation.

    >>> read_tuple("(8,(4),2@1@0)")
    (8, (4,), Basis(value=2, mode=(0, 1)))
    """
    tokens = _TOKEN.findall(text)
    if "".join(tokens) != text or not tokens:
        raise ValueError(f"oracle reader: a nested tuple of integers must be written here, found {text[:80]!r}")
    try:
        tree, after = _tree(tokens, 0)
    except (IndexError, ValueError):  # the text ended inside a tuple, or a bracket stood where a number belongs
        after = -1
    if after != len(tokens):
        raise ValueError(f"oracle reader: brackets must match and commas separate, found {text[:80]!r}")
    return tree


def _tree(tokens: list[str], at: int) -> tuple[Tree, int]:
    if tokens[at] != "(":
        value, *modes = map(int, tokens[at].split("@"))
        return (Basis(value, tuple(reversed(modes))) if modes else value), at + 1
    items: list[Tree] = []
    at += 1
    while tokens[at] != ")":
        item, at = _tree(tokens, at)
        items.append(item)
        at += tokens[at] == ","
    return tuple(items), at + 1


def write_tuple(tree: object) -> str:
    """Write a nested tuple the way the DSL prints one inside a layout: no blanks, ``(4)`` for a tuple of one.

    >>> write_tuple((8, (4,), Basis(2, (0, 1))))
    '(8,(4),2@1@0)'
    """
    if isinstance(tree, tuple):
        return f"({','.join(map(write_tuple, tree))})"
    if isinstance(tree, Basis):
        return "@".join(map(str, (tree.value, *reversed(tree.mode))))
    return str(tree)


def write(term: Term) -> str:
    """Write a layout, swizzle or composed layout in CuTe notation: the inverse of `read`.

    >>> write(read("S<2,4,-3> o 0 o (8,64):(64,1)"))
    'S<2,4,-3> o 0 o (8,64):(64,1)'
    """
    if isinstance(term, Affine):
        return f"{write_tuple(term.shape)}:{write_tuple(term.stride)}"
    if isinstance(term, Swizzling):
        return f"S<{term.bits},{term.base},{term.shift}>"
    return f"{write(term.outer)} o {write_tuple(term.offset)} o {write(term.inner)}"
