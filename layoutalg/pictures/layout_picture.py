"""Pictures of layouts: the public function ``draw`` and the picture that it returns.

Invariant: the number in row i and column j of a picture is ``layout(i, j)`` in every output format. Arguments are
checked before anything is drawn.

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
draw: 'red' is not a colour; supported: offset, bank, block, mode, thread, value, none
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
from layoutalg.pictures.quantities import COLOURS, LABELS, MISSING_BYTES, Limits, Words
from layoutalg.tuples.int_tuple import product as size
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int

#: The most cells of a scene: a tile of 512 x 512, whose file is megabytes long.
MOST_CELLS = 1 << 18

#: The most levels of borders that a caller may request. More levels cannot be distinguished.
MOST_LEVELS = 3


@frozen
class LayoutPicture(Picture):
    """The picture of a layout that :func:`draw` returns. It has the arguments of :func:`draw`, which checks them.

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
        """Return the contents and fills of all cells as data, without pixels.

        Raises:
            LayoutError: if there are more than 262,144 cells.
        """
        return plate_of(self._question(), Limits(), MOST_CELLS)

    def scene(self) -> Scene:
        """Return the shapes of the picture with their positions; see :meth:`plate` for errors."""
        return arrange(self.plate())

    def record(self) -> dict[str, Any]:
        """Return the plate as plain data; see :meth:`plate` for errors.

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
        """Return the picture as lines of plain text without a final newline.

        A last line reports what was left out.

        Args:
            color: whether to fill the cells with terminal escape codes.
            width: the most characters of a line; further columns are left out.
            max_rows: the most rows; ``None`` draws all.
            max_columns: the most columns.
            max_grids: the most tables of a layout of rank 3 or more.

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
    """Draw a layout: mode 0 runs down, mode 1 across, and each slice of further modes is a table.

    The picture can be converted to text, SVG, TikZ and HTML, saved to a file, and shown in a notebook. Borders and
    labels show the blocks of nested modes.

    Args:
        layout: a layout or composed layout of any rank, or any function on the coordinates of its ``shape``. A
            :class:`Fragment` or the name of one is drawn as its tile with the threads and values of each cell, a tiled
            copy as its tile after the copy, and a tiled MMA as the tile of C. An :class:`Access` is drawn as the
            128-byte lines that it touches, with a column for each bank and the lanes that access each word.
        colour: the property that determines the color of a cell: ``offset`` (the default), ``bank``, ``block``,
            ``mode`` (the position in the last mode; the default with ``before``), ``thread``, ``value`` or ``none``.
        label: the text of a cell: ``offset`` (the default), ``index``, ``coord``, ``bank``, ``block``, ``mode``,
            ``thread``, ``value`` or ``none``.
        element_bytes: bytes of an element; required for banks.
        thread_values: (threads, values) to an index into the layout, or a fragment of its shape, or the name of one.
            Each cell shows the thread and value that hold it. Without it, threads and values are the rows and columns
            of the layout.
        before: another layout, which is drawn first. Its cells have the color that the cell with the same offset has in
            ``layout``.
        levels: rows and columns of up to three blocks to frame, innermost first, instead of the blocks of nested modes.
        title: a few words above the notation.

    Raises:
        LayoutError: if an operand is not a layout, or a name or number is not supported.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> print(draw(ComposedLayout(Swizzle(1, 0, 1), 0, Layout((2, 2), (2, 1))), label="bank", element_bytes=4))
    S<1,0,1> o 0 o (2,2):(2,1)
    <BLANKLINE>
    [1]    0 1
    [0]  +----
      0  | 0 1
      1  | 3 2
    """
    subject = _fragment_of(layout)
    if isinstance(subject, Fragment):
        title = title or subject.name
        subject, thread_values = Layout(subject.shape), subject
    if isinstance(subject, Access):
        words = Words(subject)
        lines = max(1, len(words.lines))
        return LayoutPicture(Layout((lines, BANKS)), "thread", "thread", None, words, title=title or "Lanes over banks")
    if isinstance(thread_values, str):
        thread_values = fragment(thread_values)
    if isinstance(thread_values, Fragment):
        thread_values = thread_values_of(thread_values, subject)
    for operand in (subject, subject if before is None else before):
        if not callable(operand) or not hasattr(operand, "shape"):
            raise LayoutError(f"draw: {safe_text(operand)} is not a layout")
    default = "thread" if thread_values is not None else "offset"
    colour = need_choice(colour if colour is not None else "mode" if before is not None else default, COLOURS, "colour")
    label = need_choice(default if label is None else label, LABELS, "label")
    if element_bytes is not None:
        element_bytes = positive(element_bytes, "element_bytes")
    elif "bank" in (colour, label):
        raise LayoutError(MISSING_BYTES)
    return LayoutPicture(subject, colour, label, element_bytes, thread_values, before, levels_of(levels), str(title))


def _fragment_of(value: Any) -> Any:
    """Return the fragment with which a name, a tiled copy or a tiled MMA is drawn; return anything else unchanged."""
    if isinstance(value, TiledCopy):
        return value.fragment("D")
    if isinstance(value, TiledMma):
        return value.fragment("C")
    if isinstance(value, str) and not is_name(value):
        raise LayoutError(
            f"draw: {brief(value)} is not a layout or the name of a fragment; `layoutalg atoms` lists the names; "
            "evaluate() makes a layout of its text"
        )
    return fragment(value) if isinstance(value, str) else value


def thread_values_of(fragment: Fragment, layout: Drawable) -> AnyLayout:
    """Return the thread-value layout of a fragment.

    Raises:
        LayoutError: if the layout does not have the shape of the fragment's tile.
    """
    shape = getattr(layout, "shape", None)
    extents = tuple(map(size, shape)) if type(shape) is tuple else shape
    if extents != fragment.shape:
        raise LayoutError(
            f"draw: the layout {safe_text(layout)} does not have the shape of {fragment.name}, {fragment.shape[0]} x "
            f"{fragment.shape[1]}"
        )
    return fragment.layout


def need_choice(name: str, names: tuple[str, ...], argument: str) -> str:
    """Return ``name`` if it is one of ``names``.

    Raises:
        LayoutError: if it is not.
    """
    if not isinstance(name, str) or name not in names:
        raise LayoutError(f"draw: {brief(name)} is not a {argument}; supported: {', '.join(names)}")
    return name


def positive(value: object, argument: str) -> int:
    """Return a value as an integer of at least 1.

    Raises:
        LayoutError: if it is not a positive integer.

    >>> positive(2, "element_bytes")
    2
    """
    number = as_int(value, f"draw: {argument}")
    if number < 1:
        raise LayoutError(f"draw: {argument} is {number}, which is not positive")
    return number


def levels_of(levels: Iterable[tuple[int, int]] | None) -> tuple[tuple[int, int], ...] | None:
    """Return rows and columns of blocks as pairs of integers; return ``None`` unchanged.

    Raises:
        LayoutError: if they are not pairs of positive integers, or there are more than ``MOST_LEVELS``.

    >>> levels_of([[8, 64]])
    ((8, 64),)
    """
    if levels is None:
        return None
    try:
        pairs = [(rows, columns) for rows, columns in levels]
    except (TypeError, ValueError):
        raise LayoutError(f"draw: the levels {brief(levels)} are not pairs of rows and columns") from None
    if len(pairs) > MOST_LEVELS:
        raise LayoutError(f"draw: there are {len(pairs)} levels; supported: at most {MOST_LEVELS}")
    return tuple(
        (positive(rows, "the number of rows of a level"), positive(columns, "the number of columns of a level"))
        for rows, columns in pairs
    )
