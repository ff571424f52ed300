"""Draw shared memory as lines over banks, without and with the swizzle, and the cost of one access.

A line contains each bank once. The hardware has 32 banks of 4 bytes; other numbers allow comparisons with other
memories. The picture shows the lines that an access touches.

Invariants: the element of a cell is stored at that cell, and the number in the cell is its logical column. The lines
of an atom contain the same pieces without and with the swizzle, each once. The wavefronts are those of
``layoutalg.access`` for the same addresses.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> [grid.cells[3][:4] for grid in banks(View(d, cell=(3, 0))).grids]
[((3, 0), (3, 8), (3, 16), (3, 24)), ((3, 24), (3, 16), (3, 8), (3, 0))]
>>> pieces = [pieces_at(replace(View(d), swizzled=swizzled), range(8)) for swizzled in (True, False)]
>>> set(pieces[0].values()) == set(pieces[1].values()), pieces[0][9], pieces[1][9]
(True, (1, 0), (1, 8))
>>> [(read.swizzled, read.wavefronts, read.addresses[:3]) for read in reads(View(d))]
[(False, 8, (0, 128, 256)), (True, 1, (0, 144, 288))]
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.errors import DescriptorError
from descriptors.show.pictures.anatomy import Pair
from descriptors.show.pictures.panels import Frame, every, hairs, table
from descriptors.show.stages.stage import LEAST_TYPE, Cells, Grid, Mark, Stage, stage
from descriptors.show.stages.view import PIECE, View, element_address, places
from descriptors.smem.operands.operand import SwizzleMode
from descriptors.smem.operands.swizzled import plain
from descriptors.smem.proof.addresses import address_bits
from descriptors.text import counted
from layoutalg import Figure, access, accesses
from layoutalg.frozen import frozen, replace

#: Width of a panel, height of a line, height of the bars, and the gap between two panels.
WIDE, HIGH, BARS, GAP = 400, 22, 44, 72
#: The largest number of lines of a panel.
MOST_LINES = 24


def banks(view: View) -> Stage:
    """Draw the lines that an access touches, without and with the swizzle, and the words that each bank serves."""
    read_views, figure = reads(view), Figure()
    grids, marks, texts, x = [], list[Mark](), list[str](), 0.0
    most = max(max(read.words, default=1) for read in read_views)
    for read in read_views:
        read_view = replace(view, swizzled=read.swizzled)
        lines = _lines(view, read)
        lines_cells = cells(read_view, lines, pieces_at(read_view, lines))
        frame = Frame(x, 42, WIDE, HIGH * len(lines), len(lines), view.line_bytes // PIECE)
        _panel(figure, read_view, read, frame, lines_cells, lines, most)
        grids.append(Grid(*frame.box, frame.rows, frame.columns, cells=lines_cells))
        marks += _marks(read_view, grids[-1], lines_cells)
        texts += [
            _name(read),
            *_table(read_view, lines_cells, lines),
            f"   words per bank: {' '.join(map(str, read.words))}",
        ]
        x += WIDE + GAP
    return stage(
        figure, "Lines of shared memory over banks", _sentence(view, read_views), grids, marks, "\n".join(texts)
    )


def _name(read: Read) -> str:
    return "With the swizzle" if read.swizzled else "Without the swizzle"


def _lines(view: View, read: Read) -> range:
    first, last = (
        min(read.addresses) // view.line_bytes,
        (max(read.addresses) + read.access_bytes - 1) // view.line_bytes,
    )
    return range(first, min(last, first + MOST_LINES - 1) + 1)


def _panel(figure: Figure, view: View, read: Read, frame: Frame, elements: Cells, lines: range, most: int) -> None:
    role = "good" if max(read.words, default=0) <= 1 else "bad"
    figure.text(frame.x, frame.y - 26, _name(read), "ink", 14, bold=True)
    figure.text(frame.x + WIDE, frame.y - 26, counted(read.wavefronts, "wavefront"), role, 14, "end", bold=True)
    wide, high = frame.step
    step = every(view.banks, WIDE / view.banks, 24)
    across = [(frame.x + (n + 0.5) * WIDE / view.banks, frame.y - 7, str(n)) for n in range(0, view.banks, step)]
    figure.texts(across, "muted", LEAST_TYPE, "middle", mono=True)
    figure.text(frame.x - 8, frame.y - 7, "bank", "muted", LEAST_TYPE, "end", mono=True)
    columns = [[None if element is None else column(view, element) for element in row] for row in elements]
    figure.cells(
        frame.x, frame.y, wide, high, [[None if c is None else Figure.kind(c) for c in row] for row in columns]
    )
    hairs(figure, frame)
    figure.texts(
        (
            (frame.x + (j + 0.5) * wide, frame.y + (i + 0.5) * high + 4, str(c))
            for i, row in enumerate(columns)
            for j, c in enumerate(row)
            if c is not None
        ),
        "ink", 11, "middle", mono=True,
    )  # fmt: skip
    labels = [
        (frame.x - 8, frame.y + (i + 0.5) * high + 4, f"0x{view.line_bytes * line:03x}") for i, line in enumerate(lines)
    ]
    figure.texts(labels, "muted", LEAST_TYPE, "end", mono=True)
    for address in sorted(set(read.addresses)):
        line, within = divmod(address, view.line_bytes)
        if line in lines:
            width = min(read.access_bytes, view.line_bytes - within) / view.line_bytes * WIDE
            figure.border(
                frame.x + within / view.line_bytes * WIDE,
                frame.y + (line - lines[0]) * high,
                width,
                high,
                "tile",
                line=2,
            )
    figure.border(*frame.box, "tile", line=1.4)
    top = frame.y + frame.height + 14
    figure.bars(frame.x, top, WIDE, BARS, read.words, most, role)
    figure.text(frame.x - 8, top + BARS, "words", "muted", LEAST_TYPE, "end")
    figure.text(frame.x - 8, top + 8, str(most), "muted", LEAST_TYPE, "end", mono=True)


def _marks(view: View, grid: Grid, elements: Cells) -> list[Mark]:
    u, v = view.anatomy.unit
    piece = view.cell[0] // u * u, view.cell[1] // v * v
    return [
        Mark("cell", *grid.box(i, j))
        for i, row in enumerate(elements)
        for j, element in enumerate(row)
        if element == piece
    ]


def _table(view: View, elements: Cells, lines: range) -> list[str]:
    columns = [["." if element is None else str(column(view, element)) for element in row] for row in elements]
    return table(columns, left=[f"0x{view.line_bytes * line:03x}" for line in lines])


def _sentence(view: View, read_views: tuple[Read, ...]) -> str:
    line = f"A line is {view.banks} banks of {view.bank_bytes} bytes. A number and its color: the logical column of"
    said = f"{line} the 16 bytes. Frames: what is read. "
    if view.slot is not None:
        return said + " ".join(f"{_name(read)} slot {view.slot} holds {_columns(view, read)}." for read in read_views)
    return said + " ".join(f"{_name(read)}: {read.said}" for read in read_views)


def _columns(view: View, read: Read) -> str:
    """Describe the logical columns that a slot contains, line by line."""
    read_view = replace(view, swizzled=read.swizzled)
    lines = _lines(view, read)
    element_at = pieces_at(read_view, lines)
    elements = [element_at.get(address // PIECE) for address in read.addresses]
    columns = [str(column(view, element)) for element in elements if element is not None]
    rows = [str(row(view, element)) for element in elements if element is not None]
    return f"the columns {', '.join(columns)} of the rows {', '.join(rows)}" if columns else "nothing of the tile"


def pieces_at(view: View, lines: Sequence[int]) -> dict[int, Pair]:
    """Return the first element (MN, K) of each piece in some lines, by the offset of the piece in units of 16 bytes.

    Args:
        view: the tile.
        lines: consecutive line numbers, counted from the start of the tile.
    """
    low, high = lines[0] * view.line_bytes, (lines[-1] + 1) * view.line_bytes
    u, v = view.anatomy.unit
    return {
        address // PIECE: (i * u, j * v)
        for i, row in enumerate(places(view))
        for j, address in enumerate(row)
        if low <= address < high
    }


def cells(view: View, lines: Sequence[int], piece_at: dict[int, Pair]) -> Cells:
    """Return the first element of each piece as a table: lines down, units of 16 bytes across."""
    units = view.line_bytes // PIECE
    return tuple(tuple(piece_at.get(units * line + unit) for unit in range(units)) for line in lines)


def column(view: View, element: Pair) -> int:
    """Return the logical column of a piece: its index along the contiguous dimension, in units of 16 bytes."""
    u, v = view.anatomy.unit
    return element[1] // v if v > u else element[0] // u


def row(view: View, element: Pair) -> int:
    """Return the index of an element along the dimension that is not contiguous."""
    u, v = view.anatomy.unit
    return element[0] if v > u else element[1]


def window(view: View, count: int) -> range:
    """Return an aligned range of ``count`` lines that contains the chosen element."""
    offset = element_address(view)[1 if view.swizzled else 0] * address_bits(view.derivation.element) // 8
    last = max(map(max, places(view))) // view.line_bytes
    first = offset // view.line_bytes // count * count
    return range(first, min(first + count, last + 1))


#: Lanes of a phase with 16 bytes each, and the largest number of lines of which a slot is read.
LANES, DEEP = 8, 8


@frozen
class Read:
    """One read access of a warp.

    Args:
        swizzled: whether the tile is swizzled.
        addresses: byte offset of each lane from the tile.
        access_bytes: bytes that a lane moves.
        wavefronts: number of wavefronts of the access.
        words: the largest number of words that each bank serves in a phase.
    """

    swizzled: bool
    addresses: tuple[int, ...]
    access_bytes: int
    wavefronts: int
    words: tuple[int, ...]

    @property
    def said(self) -> str:
        """The cost of the access as a sentence."""
        most, busy = max(self.words, default=0), sum(map(bool, self.words))
        if most <= 1:
            return f"{counted(self.wavefronts, 'wavefront')}: {busy} banks serve one word each."
        return f"{counted(self.wavefronts, 'wavefront')}: {busy} of {len(self.words)} banks serve up to {most} words."


def reads(view: View) -> tuple[Read, ...]:
    """Return the access of a view without and with the swizzle, or one access if there is no swizzle.

    Raises:
        DescriptorError: if the elements are smaller than a byte and threads are given, or nothing is read.
        LayoutError: as ``layoutalg.accesses``.
    """
    both = (False,) if view.derivation.swizzle is SwizzleMode.NONE else (False, True)
    return tuple(_read_of_view(replace(view, swizzled=swizzled)) for swizzled in both)


def _read_of_view(view: View) -> Read:
    width = view.access_bytes if view.lanes is not None else PIECE
    addresses = _lanes(view) if view.lanes is not None else _pieces(view)
    served = access(addresses, width, view.banks, view.bank_bytes)
    words = [0] * view.banks
    for phase in served.phases:
        words_read = {
            word
            for lane in phase
            if (address := served.addresses[lane]) is not None
            for word in range(address // view.bank_bytes, (address + width - 1) // view.bank_bytes + 1)
        }
        each = [0] * view.banks
        for word in words_read:
            each[word % view.banks] += 1
        words = [max(pair) for pair in zip(words, each, strict=True)]
    lane_addresses = tuple(address for address in served.addresses if address is not None)
    return Read(view.swizzled, lane_addresses, width, served.wavefronts, tuple(words))


def _pieces(view: View) -> list[int]:
    """Return the addresses of the pieces that are read: of a slot, a chunk, a row, or four matrices of ldmatrix."""
    if view.slot is not None:
        first = (view.anatomy.bytes * view.stage) // view.line_bytes
        most = max(1, min(DEEP, view.anatomy.bytes // view.line_bytes))
        return [(first + line) * view.line_bytes + view.slot * PIECE for line in range(most)]
    grid, (u, v) = places(view), view.anatomy.unit
    i, j = view.cell[0] // u, view.cell[1] // v
    if v <= u:  # contiguous along MN: a line of pieces runs down
        grid = [list(row) for row in zip(*grid, strict=True)]
        i, j = j, i
    first = i // LANES * LANES
    rows = grid[first : first + LANES]
    if view.access == "row":
        start = j // LANES * LANES
        return grid[i][start : start + LANES]
    if view.access == "chunk":
        return [row[j] for row in rows]
    across = range(j // 2 * 2, min(j // 2 * 2 + 2, len(rows[0])))
    tall = [*rows, *grid[first + LANES : first + 2 * LANES]]
    return [tall[r + down][c] for c in across for down in range(0, len(tall), LANES) for r in range(LANES)
            if r + down < len(tall)]  # fmt: skip


def _lanes(view: View) -> list[int | None]:
    """Return the addresses of the first access of a layout of threads and values."""
    d = view.derivation
    if d.element.storage_bits < 8:
        raise DescriptorError(f"banks: {d.element} elements are smaller than a byte, but threads read whole bytes")
    assert view.lanes is not None
    tile = d.smem_tile if view.swizzled else plain(d.smem_tile)
    lane_accesses = accesses(tile, view.lanes, d.element.storage_bits // 8, view.access_bytes)
    return list(lane_accesses[0].addresses)
