r"""Panels of cells, their borders and axes, and descriptions of operands, which the pictures share.

As text, a panel is a table, in color if the terminal supports it.

>>> spaced(16288).split("\u202f"), type_size([["1024"]], 40, 20)
(['16', '288'], 11)
>>> table([[0, 16], [1, 17]])
['   0 16', '   1 17']
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.explanation import names
from descriptors.smem.operands.operand import Major, SwizzleMode
from descriptors.smem.operands.swizzled import plain
from descriptors.text import counted
from layoutalg import Figure, Picture, size
from layoutalg.frozen import frozen

#: Height of a panel, in pixels.
HEIGHT = 288
#: The smallest type size of a number in a cell.
LEAST_TYPE = Figure.LEAST

Labels = Sequence[Sequence[str]]
Roles = Sequence[Sequence[str | None]]


@frozen
class Frame:
    """A panel of cells: its upper left corner, its size, its numbers of rows and columns.

    >>> Frame(0, 0, 100, 50, 5, 10).cell(1, 2)
    (20.0, 10.0, 10.0, 10.0)
    """

    x: float
    y: float
    width: float
    height: float
    rows: int
    columns: int

    @property
    def step(self) -> tuple[float, float]:
        """Width and height of a cell."""
        return self.width / self.columns, self.height / self.rows

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Corner and size of the panel."""
        return self.x, self.y, self.width, self.height

    def cell(self, row: int, column: int, rows: int = 1, columns: int = 1) -> tuple[float, float, float, float]:
        """Return the corner and the size of a cell, or of a block of cells."""
        wide, high = self.step
        return self.x + column * wide, self.y + row * high, columns * wide, rows * high

    def lines(self, rows: int, columns: int) -> tuple[list[float], list[float]]:
        """Return the positions of the horizontal and vertical lines that divide the panel into rows and columns."""
        return (
            [self.height * i / rows for i in range(1, rows)],
            [self.width * j / columns for j in range(1, columns)],
        )


def fill(figure: Figure, frame: Frame, roles: Roles, labels: Labels = (), *, bold: bool = False) -> float:
    """Fill the cells of a panel and write the labels if all of them fit.

    Returns:
        The type size of the labels; 0 if they are not written.
    """
    wide, high = frame.step
    size = type_size(labels, wide, high)
    figure.table(frame.x, frame.y, wide, high, roles, labels if size else (), size=size or 11, bold=bold, hair=False)
    return size


def border(figure: Figure, frame: Frame, role: str, rows: int = 1, columns: int = 1, *, outer: bool = True) -> None:
    """Draw the borders of a level: around the panel, and between rows and columns of blocks."""
    across, down = frame.lines(rows, columns)
    tight = min(frame.width / columns, frame.height / rows)
    line = None if tight >= 16 else 1.2 if tight >= 8 else 0.6
    if tight >= 2.5:
        figure.border(*frame.box, role, rows=across, columns=down, line=line, outer=False)
    if outer:
        figure.border(*frame.box, role)


def hairs(figure: Figure, frame: Frame) -> None:
    """Draw thin lines between the cells of a panel."""
    across, down = frame.lines(frame.rows, frame.columns)
    segments = [(frame.x, frame.y + b, frame.x + frame.width, frame.y + b) for b in across]
    figure.lines([*segments, *((frame.x + a, frame.y, frame.x + a, frame.y + frame.height) for a in down)], "hair", 0.6)


def type_size(labels: Labels, width: float, height: float, sizes: Sequence[float] = (11, LEAST_TYPE)) -> float:
    """Return the largest type size at which every label fits its cell; 0 if none does, or there are no labels."""
    longest = max((len(label) for row in labels for label in row), default=0)
    for points in sizes:
        if longest and Figure.width_of("0" * longest, points, mono=True) + 3 <= width and points + 2 <= height:
            return points
    return 0


def sparse(figure: Figure, frame: Frame, labels: Labels) -> None:
    """Write every second, fourth, ... label of a panel whose cells are too small for all of them."""
    wide, high = frame.step
    need = figure.width_of("0" * max(len(label) for row in labels for label in row), LEAST_TYPE, mono=True) + 8
    across, down = every(frame.columns, wide, need), every(frame.rows, high, 2.4 * LEAST_TYPE)
    for i in range(0, frame.rows, down):
        for j in range(0, frame.columns, across):
            x, y = frame.x + (j + 0.5) * wide, frame.y + (i + 0.5) * high
            room = figure.width_of(labels[i][j], LEAST_TYPE, mono=True) + 4
            left = min(max(x - room / 2, frame.x + 2), frame.x + frame.width - room - 2)
            top = min(max(y - 7, frame.y + 2), frame.y + frame.height - 16)
            figure.box(left, top, room, 14, "paper", radius=3, opacity=0.85)
            figure.text(left + room / 2, top + 10.5, labels[i][j], "ink", LEAST_TYPE, "middle", mono=True)


def ticks(figure: Figure, frame: Frame, left: Sequence[str], top: Sequence[str] = (), points: float = 10.5) -> None:
    """Write labels of the rows and columns of a panel, or every second, fourth, ... if they would touch."""
    wide, high = frame.step
    skip = every(len(left), high, 13)
    figure.texts(
        ((frame.x - 8, frame.y + (i + 0.5) * high + 4, left[i]) for i in range(0, len(left), skip)),
        "muted", points, "end", mono=True,
    )  # fmt: skip
    longest = max(map(len, top), default=1)
    skip = every(len(top), wide, longest * 6.5 + 6)
    figure.texts(
        ((frame.x + (j + 0.5) * wide, frame.y - 8, top[j]) for j in range(0, len(top), skip)),
        "muted", points, "middle", mono=True,
    )  # fmt: skip


def every(count: int, step: float, need: float) -> int:
    """Return the distance between labels that are written: a power of 2, at least 1.

    Args:
        count: number of labels.
        step: distance between two labels, in pixels.
        need: pixels that a label needs.

    >>> every(64, 5, 20), every(8, 20, 14)
    (4, 1)
    """
    skip = 1
    while skip * step < need and skip < count:
        skip *= 2
    return skip


#: The largest numbers of rows and columns of a table that are written.
MOST_ROWS, MOST_COLUMNS = 40, 64

#: The ASCII replacements of characters in pictures.
_ASCII = str.maketrans({"\u00d7": "x", "\u2013": "-", "\u202f": None, "\u2019": "'"})


def table(
    cells: Sequence[Sequence[object]],
    roles: Sequence[Sequence[str | None]] = (),
    *,
    left: Sequence[str] = (),
    top: Sequence[str] = (),
    color: bool = False,
) -> list[str]:
    """Return the lines of a table. Cells are right-aligned; the last line gives the rows and columns left out.

    Args:
        cells: the cells, row by row.
        roles: fill role of each cell.
        left: labels of the rows.
        top: labels of the columns.
        color: whether cells have terminal colors.

    >>> table([[7, 128]], left=["mn 0"], top=["k 0", "k 1"])
    ['        k 0 k 1', '   mn 0   7 128']
    """
    rows = [[str(cell) for cell in row[:MOST_COLUMNS]] for row in cells[:MOST_ROWS]]
    width = max((len(cell) for row in [*rows, top[:MOST_COLUMNS]] for cell in row), default=0)
    beside = max(map(len, left), default=-1) + 1
    lines = []
    if top:
        lines.append(" " * (3 + beside) + " ".join(name.rjust(width) for name in top[:MOST_COLUMNS]))
    for i, row in enumerate(rows):
        start = f"{left[i]:>{beside - 1}} " if left else ""
        if color and roles:  # colored cells touch, so that a block has one color without gaps
            body = "".join(
                Picture.painted(f"{cell:>{width}} ", role) for cell, role in zip(row, roles[i], strict=False)
            )
        else:
            body = " ".join(cell.rjust(width) for cell in row)
        lines.append(f"   {start}{body}")
    more = [f"{len(cells) - MOST_ROWS} more rows"] if len(cells) > MOST_ROWS else []
    columns = max(map(len, cells), default=0)
    more += [f"{columns - MOST_COLUMNS} more columns"] if columns > MOST_COLUMNS else []
    return [*lines, f"   ... and {', '.join(more)}"] if more else lines


def story(lines: Iterable[str], width: int | None) -> str:
    r"""Return a text in ASCII. Sentences are wrapped to a width, lines of tables are cut, colored lines are kept.

    >>> print(story(["64 \u00d7 16 of it", "   a table that is long"], 12))
    64 x 16 of
    it
       a tabl...
    """
    wrapped_lines: list[str] = []
    for line in lines:
        text = line.translate(_ASCII)
        if width is None or len(text) <= width or "\x1b" in text:
            wrapped_lines.append(text)
        elif text.startswith(" "):
            wrapped_lines.append(text[: max(width - 3, 0)] + "...")
        else:
            wrapped_lines += wrap(text, max(width, 8))
    return "\n".join(wrapped_lines)


def spaced(number: int) -> str:
    """Return a number with narrow spaces between its thousands."""
    return f"{number:,}".replace(",", "\u202f")


def times(extents: Sequence[int]) -> str:
    r"""Return extents as a picture writes them.

    >>> times((64, 16)) == "64 \u00d7 16"
    True
    """
    return " \u00d7 ".join(map(str, extents))


def amount(count: int) -> str:
    """Return a number of bytes in KB if it is a multiple of 1024, else in bytes.

    >>> amount(32768), amount(640)
    ('32 KB', '640 bytes')
    """
    return f"{count // 1024} KB" if count and count % 1024 == 0 else counted(count, "byte")


def operand_text(d: Derivation) -> str:
    """Return a short description of an operand.

    >>> from descriptors import derive
    >>> operand_text(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    'K-major, 128B swizzle, bf16'
    """
    swizzle = "no swizzle" if d.swizzle is SwizzleMode.NONE else f"{d.swizzle} swizzle"
    return f"{names(d)[d.major.contiguous_mode]}-major, {swizzle}, {d.element}"


def subtile_name(d: Derivation) -> str:
    """Return the name of the part that one instruction reads."""
    return "MMA subtile" if d.instruction == "mma" else "subtile"


def atom_name(d: Derivation) -> str:
    """Return the name of the parts of a tile: swizzle atoms, or core matrices without a swizzle."""
    return "core matrix" if d.swizzle is SwizzleMode.NONE else "swizzle atom"


def chunk_name(d: Derivation) -> str:
    """Return the name of the part of a subtile whose layout the hardware knows: "atom" if it is a whole atom.

    >>> from descriptors import derive
    >>> [chunk_name(derive((128, 128), "bf16", major, "64B", (64, 16))) for major in ("K", "MN")]
    ['chunk', 'atom']

    Half of an atom is a chunk.

    >>> chunk_name(derive((128, 128), "tf32", "MN", "128B_BASE32B", (64, 8)))
    'chunk'
    """
    whole = size(plain(d.atom)[1]) == d.match.form.rows
    return "atom" if d.major is Major.MN and d.swizzle is not SwizzleMode.NONE and whole else "chunk"
