r"""Draw the figures of a lesson, from the notation of a layout or from Python code.

Invariant: the figure of a layout is the same picture in both forms.

>>> by_python = figure("picture", "from layoutalg import *\ndraw(Layout((4, 8), (8, 1)))")
>>> figure("figure", "(4,8):(8,1)").svg() == by_python.svg()
True
"""

from __future__ import annotations

import ast
from typing import Any

from descriptors.errors import DescriptorError
from descriptors.show.pictures.kinds import picture
from descriptors.smem.debug.diff import diff
from descriptors.smem.words.descriptor import Arch
from layoutalg import Picture, draw, evaluate
from layoutalg.frozen import replace


def figure(kind: str, text: str) -> Picture:
    """Return the picture of a figure block.

    Args:
        kind: ``figure`` for a layout expression, or ``picture`` for lines of Python with their own imports, of which
            the last is a picture.
        text: the content of the block.

    Raises:
        DescriptorError: if the result is not a picture.

    >>> figure("picture", '''
    ... from descriptors import derive, picture
    ... tile = derive((128, 128), "bf16", "K", "128B", (64, 16))
    ... picture(tile, "chunks")
    ... ''').svg()[:4]
    '<svg'
    """
    drawing = draw(evaluate(text)) if kind == "figure" else _last(text)
    if not isinstance(drawing, Picture):
        raise DescriptorError(
            f"picture: the last line is a value of type {type(drawing).__name__}, not a picture; {text[:60]!r}"
        )
    return drawing


def unanswered(word: int, layout: str, arch: Arch, **keywords: Any) -> Picture:
    """Return the picture of ``diff`` for a wrong descriptor, without the correct one, which an exercise asks for.

    >>> drawing = unanswered(0x4000002000010000, "S<3,3,3> o 0 o (32,16):(64,1)", "sm90", dtype="bf16", major="K")
    >>> "read from elsewhere" in drawing.svg(), "right descriptor" in drawing.svg()
    (True, False)
    """
    difference = diff(word, layout, arch, **keywords)
    return picture(replace(difference, right_word=None, right_major=None, changes=()))


def _last(text: str) -> object:
    """Return the value of the last expression of some lines of code, which come from the lesson itself."""
    lines = ast.parse(text.strip()).body
    if not lines or not isinstance(lines[-1], ast.Expr):
        raise DescriptorError(f"picture: the last line is not an expression; {text[:60]!r}")
    known: dict[str, object] = {}
    exec(compile(ast.Module(lines[:-1], []), "<picture>", "exec"), known)  # noqa: S102
    return eval(compile(ast.Expression(lines[-1].value), "<picture>", "eval"), known)  # noqa: S307
