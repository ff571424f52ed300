"""Pictures of layouts: the public door, ``draw``, and the value that it gives.

Law: the number drawn in row i and column j is ``layout(i, j)``, in every face; arguments are checked before anything is
drawn.

>>> from layoutalg import Layout
>>> print(draw(Layout((2, 3), (3, 1))))
(2,3):(3,1)
<BLANKLINE>
[1]    0 1 2
[0]  +------
  0  | 0 1 2
  1  | 3 4 5
>>> try:
...     draw(Layout((2, 3)), colour="red")
... except LayoutError as error:
...     print(error)
draw: colour must be one of offset, bank, block, mode, thread, value, none, found 'red'
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from layoutalg.analysis.banks import BANKS, Access
from layoutalg.drawing.arrange import arrange
from layoutalg.drawing.grid import Drawable
from layoutalg.drawing.picture import Picture
from layoutalg.drawing.plate import Plate
from layoutalg.drawing.shapes import Scene
from layoutalg.drawing.text_table import columns_within, text_of
from layoutalg.errors import LayoutError, brief
from layoutalg.fragments.fragment import Fragment
from layoutalg.fragments.fragment_names import fragment, is_name
from layoutalg.fragments.tiled_copy import TiledCopy
from layoutalg.fragments.tiled_mma import TiledMma
from layoutalg.frozen import arguments, fix, frozen
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout
from layoutalg.pictures.plates import Question, plate_of
from layoutalg.pictures.quantities import COLOURS, LABELS, Limits, Words
from layoutalg.tuples.int_tuple import product as size
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int

#: The most cells of a scene: a tile of 512 x 512, whose file is megabytes long.
MOST_CELLS = 1 << 18

#: The most levels of borders that a caller may ask for: more cannot be told apart.
MOST_LEVELS = 3


@frozen
class LayoutPicture(Picture):
    """A layout drawn, as :func:`draw` gives it; the arguments are those of :func:`draw`, checked there.

    >>> from layoutalg import Layout
    >>> draw(Layout(4))
    LayoutPicture(Layout(4, 1), 'offset', 'offset', None, None, None, None, '')
    """

    layout: Drawable
    colour: str
    label: str
    element_bytes: int | None
    thread_values: AnyLayout | Words | None
    before: Drawable | None
    levels: tuple[tuple[int, int], ...] | None
    title: str

    def __init__(
        self,
        layout: Drawable,
        colour: str = "offset",
        label: str = "offset",
        element_bytes: int | None = None,
        thread_values: AnyLayout | Words | None = None,
        before: Drawable | None = None,
        levels: tuple[tuple[int, int], ...] | None = None,
        title: str = "",
    ) -> None:
        fix(self, layout=layout, colour=colour, label=label, element_bytes=element_bytes)
        fix(self, thread_values=thread_values, before=before, levels=levels, title=title)

    def _question(self) -> Question:
        return Question(*arguments(self))

    def plate(self) -> Plate:
        """What stands where, and what it is filled with: data without pixels.

        Raises:
            LayoutError: for more than 262,144 cells.
        """
        return plate_of(self._question(), Limits(), MOST_CELLS)

    def scene(self) -> Scene:
        """Its shapes, positioned; it raises as :meth:`plate` does."""
        return arrange(self.plate())

    def record(self) -> dict[str, Any]:
        """Its plate as plain data; it raises as :meth:`plate` does.

        >>> from layoutalg import Layout
        >>> draw(Layout((2, 2))).record()["panels"][0]["cells"]
        [[0, 2], [1, 3]]
        """
        return self.plate().record()

    def text(
        self,
        *,
        color: bool = False,
        width: int | None = None,
        max_rows: int | None = 32,
        max_columns: int | None = 32,
        max_grids: int | None = 8,
    ) -> str:
        """The picture as lines of plain text, without a final newline.

        Args:
            color: fill the cells, with terminal escapes.
            width: the most characters on a line; columns beyond it are left out.
            max_rows: the most rows drawn; ``None`` draws all. What was left out is said below.
            max_columns: the most columns drawn.
            max_grids: the most tables drawn of a layout of rank 3 or more.

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
        plate = plate_of(self._question(), Limits(max_rows, max_columns, max_grids))
        if width is not None:
            columns = columns_within(plate, width)
            if columns < max(panel.grid.columns.shown for panel in plate.panels):
                plate = plate_of(self._question(), Limits(max_rows, columns, max_grids))
        return text_of(plate, color)


def draw(
    layout: Drawable | Fragment | TiledCopy | TiledMma | Access | str,
    colour: str | None = None,
    label: str | None = None,
    *,
    element_bytes: int | None = None,
    thread_values: AnyLayout | Fragment | str | None = None,
    before: Drawable | None = None,
    levels: Iterable[tuple[int, int]] | None = None,
    title: str = "",
) -> LayoutPicture:
    """A layout as a picture: mode 0 down, mode 1 across, a table for each slice of further modes.

    The picture has a text, an SVG, a TikZ picture and a page, can be saved, and a notebook shows it. Where a mode is
    nested, borders and labels show its blocks.

    Args:
        layout: a layout or composed layout of any rank, or any function on the coordinates of its ``shape``; of a
            :class:`Fragment`, or its name, the tile, with who holds what; of a tiled copy the tile as it is afterwards,
            of a tiled MMA the tile of C; of an :class:`Access` the lines of 128 bytes that it touches, a column for
            each bank, with the lanes that access a word.
        colour: what the cells' colour is: ``offset`` (the default), ``bank``, ``block``, ``mode`` (the position in the
            last mode: the default where there is a ``before``), ``thread``, ``value`` or ``none``.
        label: what is written in them: ``offset`` (the default), ``index``, ``coord``, ``bank``, ``block``, ``mode``,
            ``thread``, ``value`` or ``none``.
        element_bytes: bytes of an element, which banks need.
        thread_values: (threads, values) to an index into the layout, or a fragment of its shape, or its name: each
            cell shows who holds it. Without it, threads and values are the rows and columns of the layout itself.
        before: another layout, drawn first: its cells have the colours that the cells of the same offset have after it.
        levels: the rows and columns of up to three blocks, innermost first, in place of those of the nesting.
        title: a few words above the notation.

    Raises:
        LayoutError: if an operand is no layout, or a name or number is none of those above.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> print(draw(ComposedLayout(Swizzle(1, 0, 1), 0, Layout((2, 2), (2, 1))), label="bank", element_bytes=4))
    S<1,0,1> o 0 o (2,2):(2,1)
    <BLANKLINE>
    [1]    0 1
    [0]  +----
      0  | 0 1
      1  | 3 2
    """
    drawn = _fragment_of(layout)
    if isinstance(drawn, Fragment):
        title = title or drawn.name
        drawn, thread_values = Layout(drawn.shape), drawn
    if isinstance(drawn, Access):
        words = Words(drawn)
        lines = max(1, len(words.lines))
        return LayoutPicture(Layout((lines, BANKS)), "thread", "thread", None, words, title=title or "Lanes over banks")
    if isinstance(thread_values, str):
        thread_values = fragment(thread_values)
    if isinstance(thread_values, Fragment):
        thread_values = thread_values_of(thread_values, drawn)
    for operand in (drawn, drawn if before is None else before):
        if not callable(operand) or not hasattr(operand, "shape"):
            raise LayoutError(f"draw: the operand must be a layout, found {safe_text(operand)}")
    usual = "thread" if thread_values is not None else "offset"
    by = need_choice(colour if colour is not None else "mode" if before is not None else usual, COLOURS, "colour")
    written = need_choice(usual if label is None else label, LABELS, "label")
    if element_bytes is not None:
        element_bytes = positive(element_bytes, "element_bytes")
    elif "bank" in (by, written):
        raise LayoutError("draw: banks need element_bytes, the bytes of an element, found none")
    return LayoutPicture(drawn, by, written, element_bytes, thread_values, before, levels_of(levels), str(title))


def _fragment_of(value: Any) -> Any:
    """The fragment that a name, a tiled copy or a tiled MMA is drawn as; anything else as it is."""
    if isinstance(value, TiledCopy):
        return value.fragment("D")
    if isinstance(value, TiledMma):
        return value.fragment("C")
    if isinstance(value, str) and not is_name(value):
        raise LayoutError(
            "draw: the operand must be a layout or the name of a fragment (`layoutalg atoms` lists them), found "
            f"{brief(value)}; evaluate() makes a layout of its text"
        )
    return fragment(value) if isinstance(value, str) else value


def thread_values_of(fragment: Fragment, layout: Drawable) -> AnyLayout:
    """The thread-value layout of a fragment whose tile is of the layout's shape."""
    shape = getattr(layout, "shape", None)
    extents = tuple(map(size, shape)) if type(shape) is tuple else shape
    if extents != fragment.shape:
        raise LayoutError(
            f"draw: the layout must have the shape of {fragment.name}, {fragment.shape[0]} x {fragment.shape[1]}, "
            f"found {safe_text(layout)}"
        )
    return fragment.layout


def need_choice(name: str, names: tuple[str, ...], what: str) -> str:
    """The name, which is one of some."""
    if not isinstance(name, str) or name not in names:
        raise LayoutError(f"draw: {what} must be one of {', '.join(names)}, found {brief(name)}")
    return name


def positive(value: object, what: str) -> int:
    """The value as an integer of at least 1.

    >>> positive(2, "element_bytes")
    2
    """
    number = as_int(value, f"draw: {what}")
    if number < 1:
        raise LayoutError(f"draw: {what} must be positive, found {number}")
    return number


def levels_of(levels: Iterable[tuple[int, int]] | None) -> tuple[tuple[int, int], ...] | None:
    """Rows and columns of blocks as pairs; ``None`` stays.

    >>> levels_of([[8, 64]])
    ((8, 64),)
    """
    if levels is None:
        return None
    try:
        pairs = [(rows, columns) for rows, columns in levels]
    except (TypeError, ValueError):
        raise LayoutError(f"draw: levels must be pairs of rows and columns, found {brief(levels)}") from None
    if len(pairs) > MOST_LEVELS:
        raise LayoutError(f"draw: there must be at most {MOST_LEVELS} levels, found {len(pairs)}")
    return tuple((positive(rows, "a level's rows"), positive(columns, "a level's columns")) for rows, columns in pairs)
