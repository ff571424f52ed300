"""CuTe notation, read and written: ``((8,16),(64,2)):((64,512),(1,8192))``, ``S<3,4,3> o 0 o (8,64):(64,1)``.

Writing is ``str()``, which gives what the CuTe DSL prints. Reading takes that back, and C++'s spelling as well
(``Sw<3,4,3>``, ``(_8,_64):(_64,_1)``, tilers in ``<...>``). Law: ``parse_layout(str(x)) == x`` for every layout,
composed layout and swizzle. The grammar is that of :mod:`~layoutalg.notation.parser`.

A symbol is a name for a positive integer (``(8*m,64):(64,1)``); a sum needs one in it. A parenthesis around one layout
groups it (write ``(4:1,)`` for a tiler of one mode); around integers it is a tuple. What CuTe prints of a tensor is
read as the layout in it (``printed``).

>>> for text in ("((8,16),(64,2)):((64,512),(1,8192))", "S<3,4,3> o 0 o (8,64):(64,1)", "(4,8):(1@0,1@1)", "8*m:1"):
...     assert str(parse_layout(text)) == text
"""

from __future__ import annotations

from layoutalg.errors import NotationError
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.notation.parser import Parser, is_int_tuple
from layoutalg.notation.tokens import quoted
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.types import Coord, IntTuple


def parse_layout(text: str) -> Layout | ComposedLayout | Swizzle:
    """Read a layout, a composed layout or a swizzle from its notation.

    Raises:
        NotationError: if the text is not in the notation, or denotes something else.
        LayoutError: if it denotes no valid layout (shape and stride not congruent, a negative extent, ...).

    >>> parse_layout("Sw<3,4,3> o _0 o (_8,_64):(_64,_1)")
    ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 64), (64, 1)))
    >>> print(parse_layout("((8,16),(64,2)):((64,512),(1,8192))"))
    ((8,16),(64,2)):((64,512),(1,8192))
    """
    value = Parser(text).parse_all()
    if isinstance(value, (Layout, ComposedLayout, Swizzle)):
        return value
    raise NotationError(
        f"notation: a layout is written shape:stride or S<b,m,s> o offset o layout, found {safe_text(value)}; "
        f"text = {quoted(text)}",
        text,
    )


def parse_int_tuple(text: str) -> IntTuple | Coord:
    """Read a nested tuple of integers, with ``_`` for a mode that is kept.

    Raises:
        NotationError: if the text denotes something else.

    >>> parse_int_tuple("(8,(_,64))")
    (8, (None, 64))
    """
    value: IntTuple | Coord = Parser(text).parse_all()
    if not is_int_tuple(value):
        raise NotationError(f"notation: expected a tuple of integers, found {safe_text(value)}", text)
    return value
