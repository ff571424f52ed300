"""Pictures: a layout drawn as text or HTML, one value for every way to show it.

Law: each way shows the same cells, those of :mod:`layoutalg.drawing.grid`; only the limits and the strokes differ.

>>> from layoutalg import Layout
>>> picture = draw(Layout((2, 2), (2, 1)))
>>> all(str(offset) in picture.text() and f">{offset}</td>" in picture.html() for offset in range(4))
True
"""

from __future__ import annotations

from layoutalg.drawing import html, text
from layoutalg.drawing.grid import Drawable
from layoutalg.errors import LayoutError
from layoutalg.tuples.frozen import Value
from layoutalg.tuples.int_tuple import safe_text


class Picture(Value):
    """The offset table of a layout: ``str`` is its text, and a notebook shows its HTML.

    Args:
        layout: a layout or composed layout of any rank.

    Raises:
        LayoutError: if the operand is no layout.

    >>> from layoutalg import Layout
    >>> print(Picture(Layout((2, 3), (3, 1))))
    (2,3):(3,1)
    <BLANKLINE>
    [1]    0 1 2
    [0]  +------
      0  | 0 1 2
      1  | 3 4 5
    """

    __slots__ = ("layout",)
    layout: Drawable

    def __init__(self, layout: Drawable) -> None:
        if not callable(layout) or not hasattr(layout, "shape"):
            raise LayoutError(f"draw: the operand must be a layout, found {safe_text(layout)}")
        self.fix(layout=layout)

    def text(
        self,
        *,
        color: bool = False,
        max_rows: int | None = 32,
        max_columns: int | None = 32,
        max_grids: int | None = 8,
        width: int | None = None,
    ) -> str:
        """The picture as lines of plain text, without a final newline.

        Args:
            color: colour each cell by its offset modulo 8, with terminal escapes.
            max_rows: the most rows drawn; ``None`` draws all. What was left out is said below.
            max_columns: the most columns drawn.
            max_grids: the most tables drawn of a layout of rank 3 or more.
            width: the most characters on a line; columns beyond it are left out.

        >>> from layoutalg import Layout
        >>> print(draw(Layout((2, 30))).text(width=22, max_rows=1))
        (2,30):(1,2)
        <BLANKLINE>
        [1]    0 1 2 3
        [0]  +--------
          0  | 0 2 4 6 ...
             ...
        <BLANKLINE>
        shown: 1 of 2 rows, 4 of 30 columns
        """
        return text.table(self.layout, max_rows, max_columns, max_grids, width, color)

    def html(self) -> str:
        """The picture as an HTML fragment for any page; of a layout that is large, its notation and size alone.

        >>> from layoutalg import Layout
        >>> draw(Layout((128, 128))).html()
        '<code>(128,128):(1,128)</code> (16384 elements)'
        """
        return html.table(self.layout)

    def _repr_html_(self) -> str:
        return self.html()

    def __str__(self) -> str:
        return self.text()


def draw(layout: Drawable) -> Picture:
    """The offset table of a layout as a picture: mode 0 down, mode 1 across, a table for each slice of further modes.

    Args:
        layout: a layout or composed layout of any rank, or any function on the coordinates of its ``shape``.

    Raises:
        LayoutError: if the operand is no layout.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> print(draw(ComposedLayout(Swizzle(1, 0, 1), 0, Layout((2, 2), (2, 1)))))
    S<1,0,1> o 0 o (2,2):(2,1)
    <BLANKLINE>
    [1]    0 1
    [0]  +----
      0  | 0 1
      1  | 3 2
    """
    return Picture(layout)
