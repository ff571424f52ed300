"""Draw a swizzle: the address bits that it changes, the piece at each position of a line, and the rows of an atom.

A ruler shows the address bits, and tables show lines of shared memory. Row n of core matrix m, ``CMmRn``, is 16-byte
piece m of row n of the atom. Swizzles that are not modes are drawn on bytes in the same way: their lines are as long as
the pattern, and a row of their atom has all the pieces that they permute.

Invariant: the position of each piece is what the swizzle gives.

>>> swizzle = SwizzlePicture(SwizzleMode.B64).record()
>>> swizzle["lines"][1], swizzle["rows"][1][:4]
((1, 0, 3, 2, 5, 4, 7, 6), ('CM1R2', 'CM0R2', 'CM3R2', 'CM2R2'))
>>> SwizzlePicture(Swizzle(3, 4, 4)).lines()[5]
(5, 4, 7, 6, 1, 0, 3, 2, 13, 12, 15, 14, 9, 8, 11, 10)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.errors import DescriptorError
from descriptors.show.pictures.panels import Frame, Roles, border, fill, story, table
from descriptors.smem.operands.operand import LINE_BYTES, SwizzleMode
from layoutalg import Figure, Picture, Scene, Swizzle
from layoutalg.frozen import frozen

#: Left edge of the panels, width of a bit, width and height of a piece.
LEFT, BIT, UNIT, HIGH = 52, 34, 47, 30
#: Bytes of a row of a core matrix.
CORE_BYTES = 16

#: Fill roles of the bits, which differ from those of the pieces.
_ROLES = {"Y": "r7", "Z": "r5", "b": "r2", ".": "faint"}


#: Number of address bits if the swizzle has no higher ones; the largest numbers of pieces in a line, and in all lines.
BITS, MOST_PIECES, MOST = 14, 16, 512


@frozen
class SwizzlePicture(Picture):
    """The picture of a swizzle of byte addresses.

    Args:
        mode: the swizzle mode, or any other swizzle.
    """

    mode: SwizzleMode | Swizzle

    @property
    def swizzle(self) -> Swizzle:
        """The permutation of byte addresses, which is the identity for the mode ``none``."""
        return self.mode if isinstance(self.mode, Swizzle) else self.mode.swizzle or Swizzle(0, 4, 3)

    @property
    def line_bytes(self) -> int:
        """Bytes of a line: all banks for a mode, else one period of the pattern."""
        return LINE_BYTES if isinstance(self.mode, SwizzleMode) else 1 << self.swizzle.base + abs(self.swizzle.shift)

    @property
    def span_bytes(self) -> int:
        """Bytes of a row of an atom, which has the pieces that the swizzle permutes."""
        return 1 << self.swizzle.base + self.swizzle.bits

    def record(self) -> dict[str, Any]:
        """Return the numbers that are drawn."""
        return {
            "kind": "swizzle",
            "mode": str(self.mode),
            "swizzle": str(self.swizzle),
            "changed_bits": self._changed(),
            "selecting_bits": self._selecting(),
            "unit_bytes": self.unit_bytes,
            "lines": self.lines(),
            "xor": tuple(row[0] for row in self.lines()),
            "rows_before": self.rows(swizzled=False),
            "rows": self.rows(),
        }

    def lines(self) -> tuple[tuple[int, ...], ...]:
        """Return the piece at each position of the lines of memory, which are eight or one period of the pattern.

        A piece is numbered by its logical position in its line, or among all pieces if the swizzle moves pieces
        between lines. -1 is a piece that comes from beyond the last line.

        Raises:
            DescriptorError: if there are too many pieces for a picture.

        >>> SwizzlePicture(SwizzleMode.B128_BASE32B).lines()[3]
        (3, 2, 1, 0)
        """
        unit, long = self.unit_bytes, self.line_bytes
        count, lines = long // unit, max(8, 1 << self.swizzle.bits)
        if count > MOST_PIECES or count * lines > MOST:
            raise DescriptorError(
                f"picture: {self.swizzle} has {lines} lines of {count} pieces, but at most {MOST_PIECES} pieces per "
                f"line and {MOST} in all are drawn"
            )
        first = 0 if self.swizzle.shift > 0 else count  # with a positive shift, pieces stay in their lines
        piece_at = {
            self.swizzle(line * long + piece * unit): line * first + piece
            for line in range(lines)
            for piece in range(count)
        }
        return tuple(
            tuple(piece_at.get(line * long + place * unit, -1) for place in range(count)) for line in range(lines)
        )

    def rows(self, *, swizzled: bool = True) -> tuple[tuple[str, ...], ...]:
        """Return the core matrix row ``CMmRn`` at each 16 bytes of the lines of an atom of eight rows.

        The result is empty if the swizzle moves pieces of less than 16 bytes, which do not form core matrices.

        Args:
            swizzled: whether positions are those after the swizzle.

        >>> SwizzlePicture(SwizzleMode.B64).rows(swizzled=False)[1][:4]
        ('CM0R2', 'CM1R2', 'CM2R2', 'CM3R2')
        """
        span, long = self.span_bytes, self.line_bytes
        if self.unit_bytes < CORE_BYTES:
            return ()
        names = {n * span + CORE_BYTES * m: f"CM{m}R{n}" for n in range(8) for m in range(span // CORE_BYTES)}
        name_at = {self.swizzle(address) if swizzled else address: name for address, name in names.items()}
        lines = max(name_at) // long + 1
        return tuple(
            tuple(name_at.get(line * long + place, "") for place in range(0, long, CORE_BYTES)) for line in range(lines)
        )

    def scene(self) -> Scene:
        """Draw the bits, the lines, and the rows of an atom without and with the swizzle."""
        figure, title, sentence = Figure(), self._title(), self.sentence()
        top = figure.heading(0, 0, title, sentence)
        y = ruler(figure, self.bit_names(), top + 20) + 64
        foot, across = self._lines(figure, y), 1 << self.swizzle.bits
        foot = self._atom(figure, foot + 62)
        entries = [("chunk", f"{self.unit_bytes} bytes")]
        if across > 1:
            entries.append(("atom", f"period of the pattern, {across} \u00d7 {across} pieces"))
        figure.legend(LEFT, foot + 24, entries)
        return figure.scene(title, sentence)

    def _lines(self, figure: Figure, y: float) -> float:
        """Draw the piece at each position of the lines, and return the lower edge."""
        lines, unit, long = self.lines(), self.unit_bytes, self.line_bytes
        words = f"lines of {long} bytes; a number: the logical position of the piece of {unit} bytes"
        figure.panel_heading(LEFT, y, "Piece at each position", [words])
        roles = [[None if piece < 0 else Figure.kind(piece) for piece in row] for row in lines]
        labels = [["" if piece < 0 else piece for piece in row] for row in lines]
        frame = places(figure, (LEFT, y + 62), roles, labels, 1 << self.swizzle.bits, long)
        middles = [frame.y + (i + 0.5) * frame.step[1] + 4 for i in range(len(lines))]
        figure.texts([(LEFT - 10, middle, f"line {i}") for i, middle in enumerate(middles)], "muted", 11, "end")
        right = LEFT + frame.width + 10
        if self.swizzle.shift > 0:
            xors = [(right, middle, f"xor {row[0]}") for middle, row in zip(middles, lines, strict=True)]
            figure.texts(xors, "muted", 11, mono=True)
        return frame.y + frame.height

    def _atom(self, figure: Figure, y: float) -> float:
        """Draw the rows of an atom without and with the swizzle, side by side if they fit; return the lower edge."""
        foot = y - 62
        tables = [("without the swizzle", self.rows(swizzled=False)), ("with the swizzle", self.rows())]
        if not tables[0][1]:
            return foot
        figure.panel_heading(
            LEFT,
            y,
            f"Atom of 8 \u00d7 {self.span_bytes} bytes in memory",
            ["CMmRn: row n of core matrix m, 16 bytes"],
        )
        left, top = float(LEFT), y + 84
        for name, rows in tables if tables[0][1] != tables[1][1] else [("", tables[1][1])]:
            wide = UNIT * len(rows[0])
            if left > LEFT and left + wide > Figure.ROOM:
                left, top = float(LEFT), foot + 62
            if name:
                figure.text(left, top - 26, name, "ink", Figure.BODY, bold=True)
            frame = places(figure, (left, top), [list(map(_role, row)) for row in rows], rows, 0, self.line_bytes)
            left, foot = left + frame.width + LEFT, max(foot, frame.y + frame.height)
        return foot

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """Return the bits and the tables."""
        lines, names = self.lines(), self.bit_names()
        text_lines = [self._title(), self.sentence(), ""]
        text_lines += [f"   {' '.join(names)}   address bits {len(names) - 1} to 0", ""]
        text_lines += [f"the piece of {self.unit_bytes} bytes at each position"]
        left = [f"line {i}" + f" xor {row[0]}" * (self.swizzle.shift > 0) for i, row in enumerate(lines)]
        text_lines += table(
            [["." if piece < 0 else piece for piece in row] for row in lines],
            [[None if piece < 0 else Figure.kind(piece) for piece in row] for row in lines],
            left=left,
            color=color,
        )
        for name, rows in (("", self.rows(swizzled=False)), (", swizzled", self.rows())):
            if rows and not (name and rows == self.rows(swizzled=False)):
                text_lines += [
                    "",
                    f"an atom of 8 rows of {self.span_bytes} bytes{name}: CMmRn is row n of core matrix m",
                ]
                left = [f"line {i}" for i in range(len(rows))]
                text_lines += table(rows, [list(map(_role, row)) for row in rows], left=left, color=color)
        return story(text_lines, width)

    def _title(self) -> str:
        return f"Swizzle {self.mode}" + (f": {self.swizzle}" if isinstance(self.mode, SwizzleMode) else "")

    @property
    def unit_bytes(self) -> int:
        """Bytes of a piece that the swizzle moves."""
        return 1 << self.swizzle.base

    def _changed(self) -> tuple[int, ...]:
        return _bits_of(self.swizzle.target_mask)

    def _selecting(self) -> tuple[int, ...]:
        return _bits_of(self.swizzle.source_mask)

    def bit_names(self) -> str:
        """Return a letter for each address bit, the highest first.

        Y selects, Z is changed, b counts bytes in a piece, . is any other bit.

        >>> SwizzlePicture(SwizzleMode.B64).bit_names()
        '.....YY.ZZbbbb'
        """
        low, y, z = self.swizzle.base, self._selecting(), self._changed()
        count = max([BITS, *(n + 1 for n in (*y, *z))])
        return "".join("Y" if n in y else "Z" if n in z else "b" if n < low else "." for n in reversed(range(count)))

    def sentence(self) -> str:
        """Return a sentence about the effect of the swizzle."""
        if not self.swizzle.bits:
            return "Addresses do not change: each piece is at its logical position."
        low, high = self._changed()[0], self._changed()[-1]
        first, last = self._selecting()[0], self._selecting()[-1]
        bits, become, are = ("bit", "becomes", "is") if low == high else ("bits", "become", "are")
        changed, selecting = "the piece in its line", "the line"
        if self.swizzle.shift < 0:
            changed, selecting = selecting, changed
        return (
            f"Address {bits} {_range(low, high)} (Z, from the number of {changed}) {become} Z xor Y, where Y {are} "
            f"{bits} {_range(first, last)} (from the number of {selecting}); other bits do not change."
        )


def _bits_of(mask: int) -> tuple[int, ...]:
    return tuple(n for n in range(mask.bit_length()) if mask >> n & 1)


def _role(name: str) -> str | None:
    """Return the fill role of a core matrix row."""
    return Figure.kind(int(name[2:].partition("R")[0])) if name else None


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}\u2013{high}"


def ruler(figure: Figure, names: str, y: float) -> float:
    """Draw a box for each address bit and an arrow from the selecting to the changed bits; return the lower edge.

    Args:
        figure: the figure to draw on.
        names: a letter for each bit, as ``SwizzlePicture.bit_names`` returns them.
        y: the upper edge.
    """
    count = len(names)
    for place, name in enumerate(names):
        x = LEFT + place * BIT
        figure.box(x, y, BIT, 34, _ROLES[name], "rule", 0.8)
        figure.text(x + BIT / 2, y + 22, name.strip("."), "ink", 13, "middle", mono=True, bold=name.isupper())
    bits = [(LEFT + (place + 0.5) * BIT, y - 8, str(count - 1 - place)) for place in range(count)]
    figure.texts(bits, "muted", 10.5, "middle", mono=True)
    figure.text(LEFT - 10, y - 8, "bit", "muted", 10.5, "end", mono=True)
    if "Y" in names:
        start, end = (LEFT + (names.index(letter) + names.count(letter) / 2) * BIT for letter in "YZ")
        foot = y + 54
        figure.arrow([(start, y + 38), (start, foot), (end, foot), (end, y + 38)], "accent", 1.8)
        figure.text((start + end) / 2, foot + 17, "xor", "accent", 13, "middle", bold=True)
        entries = [(_ROLES["Y"], "Y: selects"), (_ROLES["Z"], "Z: is changed"), (_ROLES["b"], "b: byte in a piece")]
        figure.legend(LEFT + count * BIT + 24, y + 8, entries, 440)
    return y + 76


def places(
    figure: Figure,
    corner: tuple[float, float],
    roles: Roles,
    labels: Sequence[Sequence[object]],
    repeats: int,
    line_bytes: int,
) -> Frame:
    """Draw lines of memory with their contents, and above them the banks, or byte offsets in a line.

    Args:
        figure: the figure to draw on.
        corner: the upper left corner.
        roles: fill role of each position.
        labels: label of each position.
        repeats: rows and columns after which the pattern repeats; 0 or 1 draws no frames.
        line_bytes: bytes of a line.
    """
    rows, columns = len(roles), len(roles[0])
    heads = 8 if line_bytes == LINE_BYTES else columns
    frame = Frame(*corner, heads * UNIT, rows * HIGH, rows, columns)
    names = [
        f"{4 * i}\u2013{4 * i + 3}" if line_bytes == LINE_BYTES else str(line_bytes // heads * i) for i in range(heads)
    ]
    middles = [frame.x + (i + 0.5) * UNIT for i in range(heads)]
    figure.texts(
        [(x, frame.y - 8, name) for x, name in zip(middles, names, strict=True)], "muted", 10.5, "middle", mono=True
    )
    name = "bank" if line_bytes == LINE_BYTES else "byte"
    figure.text(frame.x - 10, frame.y - 8, name, "muted", 10.5, "end", mono=True)
    fill(figure, frame, roles, [list(map(str, row)) for row in labels])
    border(figure, frame, "chunk", rows, columns, outer=False)
    if repeats > 1:
        border(figure, frame, "atom", max(rows // repeats, 1), max(columns // repeats, 1), outer=False)
    border(figure, frame, "tile")
    return frame
