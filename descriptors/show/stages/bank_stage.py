"""Shared memory as lines over banks, without the swizzle and with it: what lies where, and what one access costs.

A line is all banks once, 32 of 4 bytes on the hardware; other numbers are for comparison with other memories. The lines
are those that an access touches.

Laws: the element that a place stands for lies at that place, and the number in a line is its logical column; without a
swizzle and with it the same pieces lie in the lines of an atom, each once; the wavefronts are those of
``layoutalg.access`` of the same addresses.

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

#: Width of a panel, height of a line, of the bars, and what lies between two panels.
WIDE, HIGH, BARS, GAP = 400, 22, 44, 72
#: The most lines of a panel.
MOST_LINES = 24


def banks(view: View) -> Stage:
    """The lines that an access touches, in both forms, with the words that each bank must serve."""
    read_views, figure = reads(view), Figure()
    grids, marks, texts, x = [], list[Mark](), list[str](), 0.0
    most = max(max(one.words, default=1) for one in read_views)
    for one in read_views:
        looked = replace(view, swizzled=one.swizzled)
        lines = _lines(view, one)
        there = cells(looked, lines, pieces_at(looked, lines))
        frame = Frame(x, 42, WIDE, HIGH * len(lines), len(lines), view.line_bytes // PIECE)
        _panel(figure, looked, one, frame, there, lines, most)
        grids.append(Grid(*frame.box, frame.rows, frame.columns, cells=there))
        marks += _marks(looked, grids[-1], there)
        texts += [_name(one), *_table(looked, there, lines), f"   words per bank: {' '.join(map(str, one.words))}"]
        x += WIDE + GAP
    return stage(
        figure, "Lines of shared memory over banks", _sentence(view, read_views), grids, marks, "\n".join(texts)
    )


def _name(one: Read) -> str:
    return "With the swizzle" if one.swizzled else "Without the swizzle"


def _lines(view: View, one: Read) -> range:
    first, last = min(one.addresses) // view.line_bytes, (max(one.addresses) + one.access_bytes - 1) // view.line_bytes
    return range(first, min(last, first + MOST_LINES - 1) + 1)


def _panel(figure: Figure, view: View, one: Read, frame: Frame, there: Cells, lines: range, most: int) -> None:
    role = "good" if max(one.words, default=0) <= 1 else "bad"
    figure.text(frame.x, frame.y - 26, _name(one), "ink", 14, bold=True)
    figure.text(frame.x + WIDE, frame.y - 26, counted(one.wavefronts, "wavefront"), role, 14, "end", bold=True)
    wide, high = frame.step
    step = every(view.banks, WIDE / view.banks, 24)
    across = [(frame.x + (n + 0.5) * WIDE / view.banks, frame.y - 7, str(n)) for n in range(0, view.banks, step)]
    figure.texts(across, "muted", LEAST_TYPE, "middle", mono=True)
    figure.text(frame.x - 8, frame.y - 7, "bank", "muted", LEAST_TYPE, "end", mono=True)
    columns = [[None if at is None else column(view, at) for at in row] for row in there]
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
    for at in sorted(set(one.addresses)):
        line, within = divmod(at, view.line_bytes)
        if line in lines:
            width = min(one.access_bytes, view.line_bytes - within) / view.line_bytes * WIDE
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
    figure.bars(frame.x, top, WIDE, BARS, one.words, most, role)
    figure.text(frame.x - 8, top + BARS, "words", "muted", LEAST_TYPE, "end")
    figure.text(frame.x - 8, top + 8, str(most), "muted", LEAST_TYPE, "end", mono=True)


def _marks(view: View, grid: Grid, there: Cells) -> list[Mark]:
    u, v = view.anatomy.unit
    piece = view.cell[0] // u * u, view.cell[1] // v * v
    return [Mark("cell", *grid.box(i, j)) for i, row in enumerate(there) for j, at in enumerate(row) if at == piece]


def _table(view: View, there: Cells, lines: range) -> list[str]:
    columns = [["." if at is None else str(column(view, at)) for at in row] for row in there]
    return table(columns, left=[f"0x{view.line_bytes * line:03x}" for line in lines])


def _sentence(view: View, read_views: tuple[Read, ...]) -> str:
    line = f"A line is {view.banks} banks of {view.bank_bytes} bytes; a number and its colour: the logical column"
    said = f"{line} of 16 bytes that lies there; framed: what is read. "
    if view.slot is not None:
        return said + " ".join(f"{_name(one)} slot {view.slot} holds {_columns(view, one)}." for one in read_views)
    return said + " ".join(f"{_name(one)}: {one.said}" for one in read_views)


def _columns(view: View, one: Read) -> str:
    """Which logical columns a slot meets down the lines."""
    looked = replace(view, swizzled=one.swizzled)
    lines = _lines(view, one)
    there = pieces_at(looked, lines)
    met = [there.get(at // PIECE) for at in one.addresses]
    columns = [str(column(view, at)) for at in met if at is not None]
    rows = [str(row(view, at)) for at in met if at is not None]
    return f"the columns {', '.join(columns)} of the rows {', '.join(rows)}" if columns else "nothing of the tile"


def pieces_at(view: View, lines: Sequence[int]) -> dict[int, Pair]:
    """The first element (MN, K) of the piece at each place, by the number of the place: 16 bytes from the tile on.

    Args:
        view: the tile.
        lines: numbers of lines, in a row, counted from the start of the tile.
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
    """The same as a table: lines down, places across."""
    units = view.line_bytes // PIECE
    return tuple(tuple(piece_at.get(units * line + place) for place in range(units)) for line in lines)


def column(view: View, element: Pair) -> int:
    """The logical column of a piece: its number along the contiguous dimension, in 16 bytes."""
    u, v = view.anatomy.unit
    return element[1] // v if v > u else element[0] // u


def row(view: View, element: Pair) -> int:
    """Its place along the other dimension, in elements."""
    u, v = view.anatomy.unit
    return element[0] if v > u else element[1]


def window(view: View, count: int) -> range:
    """So many lines, aligned to their number, in which the chosen element lies."""
    at = element_address(view)[1 if view.swizzled else 0] * address_bits(view.derivation.element) // 8
    last = max(map(max, places(view))) // view.line_bytes
    first = at // view.line_bytes // count * count
    return range(first, min(first + count, last + 1))


#: Lanes of a phase of 16 bytes each, and the lines that a slot is read down.
LANES, DEEP = 8, 8


@frozen
class Read:
    """One access.

    Args:
        swizzled: whether the tile is.
        addresses: of the lanes, in bytes from the tile on.
        access_bytes: bytes that a lane moves.
        wavefronts: how often shared memory is asked, in all.
        words: the most words that each bank serves in a phase.
    """

    swizzled: bool
    addresses: tuple[int, ...]
    access_bytes: int
    wavefronts: int
    words: tuple[int, ...]

    @property
    def said(self) -> str:
        """What it costs, in a sentence."""
        most, busy = max(self.words, default=0), sum(map(bool, self.words))
        if most <= 1:
            return f"{counted(self.wavefronts, 'wavefront')}: {busy} banks serve one word each."
        return f"{counted(self.wavefronts, 'wavefront')}: {busy} of {len(self.words)} banks serve up to {most} words."


def reads(view: View) -> tuple[Read, ...]:
    """The access of a view without the swizzle and with it; one where there is no swizzle.

    Raises:
        DescriptorError: if the threads read no whole bytes, or nothing.
        LayoutError: as ``layoutalg.accesses``.
    """
    both = (False,) if view.derivation.swizzle is SwizzleMode.NONE else (False, True)
    return tuple(_read_of_view(replace(view, swizzled=one)) for one in both)


def _read_of_view(view: View) -> Read:
    width = view.access_bytes if view.lanes is not None else PIECE
    addresses = _lanes(view) if view.lanes is not None else _pieces(view)
    served = access(addresses, width, view.banks, view.bank_bytes)
    words = [0] * view.banks
    for phase in served.phases:
        words_read = {
            word
            for lane in phase
            if (at := served.addresses[lane]) is not None
            for word in range(at // view.bank_bytes, (at + width - 1) // view.bank_bytes + 1)
        }
        each = [0] * view.banks
        for word in words_read:
            each[word % view.banks] += 1
        words = [max(pair) for pair in zip(words, each, strict=True)]
    there = tuple(one for one in served.addresses if one is not None)
    return Read(view.swizzled, there, width, served.wavefronts, tuple(words))


def _pieces(view: View) -> list[int]:
    """The addresses of the pieces that are read: those of a chunk, of a row, or of four matrices as ldmatrix reads."""
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
    """What the threads of a layout of threads and values read first."""
    d = view.derivation
    if d.element.storage_bits < 8:
        raise DescriptorError(f"banks: elements of an access must be whole bytes, found {d.element}")
    assert view.lanes is not None
    tile = d.smem_tile if view.swizzled else plain(d.smem_tile)
    lane_accesses = accesses(tile, view.lanes, d.element.storage_bits // 8, view.access_bytes)
    return list(lane_accesses[0].addresses)
