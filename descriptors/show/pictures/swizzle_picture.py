"""A swizzle by itself: which bits of an address change which, what each place holds, where an atom's rows lie.

A ruler shows the bits, lines of shared memory what lies at their places. The row n of core matrix m, ``CMmRn``, is the
16 bytes number m of the atom's row n. Any other swizzle is drawn so too, on bytes: its lines are as long as the pattern
needs, its atom has rows of all the pieces that it permutes. Law: the place of each is what the swizzle gives.

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

#: Where the panels begin, the width of a bit, the size of a unit of 16 bytes.
LEFT, BIT, UNIT, HIGH = 52, 34, 47, 30
#: Bytes of a row of a core matrix.
CORE_BYTES = 16

#: Of the bits; none of them is a piece's.
_ROLES = {"Y": "r7", "Z": "r5", "b": "r2", ".": "faint"}


#: Address bits that are drawn, where the swizzle has no higher ones; the most pieces of a line, and of all lines.
BITS, MOST_PIECES, MOST = 14, 16, 512


@frozen
class SwizzlePicture(Picture):
    """What a swizzle does to byte addresses.

    Args:
        mode: the swizzle mode, or any other swizzle.
    """

    mode: SwizzleMode | Swizzle

    @property
    def swizzle(self) -> Swizzle:
        """The permutation of byte addresses; of the mode ``none`` one that changes nothing."""
        return self.mode if isinstance(self.mode, Swizzle) else self.mode.swizzle or Swizzle(0, 4, 3)

    @property
    def line_bytes(self) -> int:
        """Bytes of a line: those of all banks, or what the pattern needs."""
        return LINE_BYTES if isinstance(self.mode, SwizzleMode) else 1 << self.swizzle.base + abs(self.swizzle.shift)

    @property
    def span_bytes(self) -> int:
        """Bytes of a row of an atom: the pieces that the swizzle permutes."""
        return 1 << self.swizzle.base + self.swizzle.bits

    def record(self) -> dict[str, Any]:
        """Every number that is drawn."""
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
        """For lines of memory, eight or as many as the pattern has: which piece lies at each place.

        A piece is named by its place in its line as the program counts it; where the swizzle moves pieces between
        lines, by its place among all.

        Raises:
            DescriptorError: for more pieces than a picture holds.

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
        first = 0 if self.swizzle.shift > 0 else count  # a swizzle of the lines' numbers leaves places in lines
        at = {
            self.swizzle(line * long + piece * unit): line * first + piece
            for line in range(lines)
            for piece in range(count)
        }
        # A swizzle to higher bits moves pieces between lines: what comes from beyond the last is left out.
        return tuple(tuple(at.get(line * long + place * unit, -1) for place in range(count)) for line in range(lines))

    def rows(self, *, swizzled: bool = True) -> tuple[tuple[str, ...], ...]:
        """For the lines of an atom of eight rows: whose 16 bytes lie at each place, as CMmRn.

        Without a swizzle each lies where the program counts it. Pieces of less than 16 bytes make no core matrices.

        >>> SwizzlePicture(SwizzleMode.B64).rows(swizzled=False)[1][:4]
        ('CM0R2', 'CM1R2', 'CM2R2', 'CM3R2')
        """
        span, long = self.span_bytes, self.line_bytes
        if self.unit_bytes < CORE_BYTES:
            return ()
        names = {n * span + CORE_BYTES * m: f"CM{m}R{n}" for n in range(8) for m in range(span // CORE_BYTES)}
        at = {self.swizzle(address) if swizzled else address: name for address, name in names.items()}
        lines = max(at) // long + 1
        return tuple(
            tuple(at.get(line * long + place, "") for place in range(0, long, CORE_BYTES)) for line in range(lines)
        )

    def scene(self) -> Scene:
        """The bits, the map of lines, and the rows of an atom without the swizzle and with it."""
        figure, title, sentence = Figure(), self._title(), self.sentence()
        top = figure.heading(0, 0, title, sentence)
        y = ruler(figure, self.bit_names(), top + 20) + 64
        foot, across = self._lines(figure, y), 1 << self.swizzle.bits
        foot = self._atom(figure, foot + 62)
        entries = [("chunk", f"{self.unit_bytes} bytes")]
        if across > 1:
            entries.append(("atom", f"where the pattern repeats, {across} \u00d7 {across} pieces"))
        figure.legend(LEFT, foot + 24, entries)
        return figure.scene(title, sentence)

    def _lines(self, figure: Figure, y: float) -> float:
        """Which piece lies at each place of the lines; where they end."""
        lines, unit, long = self.lines(), self.unit_bytes, self.line_bytes
        words = f"lines of {long} bytes; a number: the piece of {unit} bytes as the program counts it"
        figure.panel_heading(LEFT, y, "What lies at each place", [words])
        roles = [[None if one < 0 else Figure.kind(one) for one in row] for row in lines]
        labels = [["" if one < 0 else one for one in row] for row in lines]
        frame = places(figure, (LEFT, y + 62), roles, labels, 1 << self.swizzle.bits, long)
        middles = [frame.y + (i + 0.5) * frame.step[1] + 4 for i in range(len(lines))]
        figure.texts([(LEFT - 10, at, f"line {i}") for i, at in enumerate(middles)], "muted", 11, "end")
        right = LEFT + frame.width + 10
        if self.swizzle.shift > 0:
            xors = [(right, at, f"xor {row[0]}") for at, row in zip(middles, lines, strict=True)]
            figure.texts(xors, "muted", 11, mono=True)
        return frame.y + frame.height

    def _atom(self, figure: Figure, y: float) -> float:
        """Where the rows of an atom lie, without the swizzle and with it, side by side where that fits; the foot."""
        foot = y - 62
        tables = [("without the swizzle", self.rows(swizzled=False)), ("with it", self.rows())]
        if not tables[0][1]:
            return foot
        figure.panel_heading(
            LEFT,
            y,
            f"Where an atom of 8 \u00d7 {self.span_bytes} bytes lies",
            ["CMmRn: row n of core matrix m, 16 bytes"],
        )
        left, top = float(LEFT), y + 84
        for name, rows in tables if tables[0][1] != tables[1][1] else [("", tables[1][1])]:
            wide = UNIT * len(rows[0])
            if left > LEFT and left + wide > Figure.ROOM:
                left, top = float(LEFT), foot + 62
            if name:
                figure.text(left, top - 26, name, "ink", Figure.BODY, bold=True)
            frame = places(figure, (left, top), [[_role(one) for one in row] for row in rows], rows, 0, self.line_bytes)
            left, foot = left + frame.width + LEFT, max(foot, frame.y + frame.height)
        return foot

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """The bits and the tables."""
        lines, names = self.lines(), self.bit_names()
        said = [self._title(), self.sentence(), ""]
        said += [f"   {' '.join(names)}   address bits {len(names) - 1} to 0", ""]
        said += [f"which piece of {self.unit_bytes} bytes lies at each place"]
        left = [f"line {i}" + f" xor {row[0]}" * (self.swizzle.shift > 0) for i, row in enumerate(lines)]
        said += table(
            [["." if one < 0 else one for one in row] for row in lines],
            [[None if one < 0 else Figure.kind(one) for one in row] for row in lines],
            left=left,
            color=color,
        )
        for name, rows in (("", self.rows(swizzled=False)), (", swizzled", self.rows())):
            if rows and not (name and rows == self.rows(swizzled=False)):
                said += ["", f"an atom of 8 rows of {self.span_bytes} bytes{name}: CMmRn is row n of core matrix m"]
                left = [f"line {i}" for i in range(len(rows))]
                said += table(rows, [[_role(one) for one in row] for row in rows], left=left, color=color)
        return story(said, width)

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
        """The bits of an address, highest first: Y selects, Z is changed, b counts bytes in a piece, . stays.

        >>> SwizzlePicture(SwizzleMode.B64).bit_names()
        '.....YY.ZZbbbb'
        """
        low, y, z = self.swizzle.base, self._selecting(), self._changed()
        count = max([BITS, *(n + 1 for n in (*y, *z))])
        return "".join("Y" if n in y else "Z" if n in z else "b" if n < low else "." for n in reversed(range(count)))

    def sentence(self) -> str:
        """What the swizzle does, in words."""
        if not self.swizzle.bits:
            return "Addresses stay as they are: a piece lies where the program counts it."
        low, high = self._changed()[0], self._changed()[-1]
        first, last = self._selecting()[0], self._selecting()[-1]
        bits, become, are = ("bit", "becomes", "is") if low == high else ("bits", "become", "are")
        piece, line = ", of the number of a piece in its line,", ", of the number of the line"
        if self.swizzle.shift < 0:
            piece, line = line + ",", piece.removesuffix(",")
        return (
            f"Address {bits} {_range(low, high)} (Z){piece} {become} Z xor Y, where Y {are} {bits} "
            f"{_range(first, last)}{line}; the others stay."
        )


def _bits_of(mask: int) -> tuple[int, ...]:
    return tuple(n for n in range(mask.bit_length()) if mask >> n & 1)


def _role(name: str) -> str | None:
    """What is filled with the core matrix of a name."""
    return Figure.kind(int(name[2:].partition("R")[0])) if name else None


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}\u2013{high}"


def ruler(figure: Figure, names: str, y: float) -> float:
    """A box for each address bit, highest first, and an arrow from those that select to those that change; the foot.

    Args:
        figure: what it is drawn on.
        names: a letter a bit: Y selects, Z is changed, b counts bytes in a piece, . stays.
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
        start, end = (LEFT + (names.index(one) + names.count(one) / 2) * BIT for one in "YZ")
        foot = y + 54
        figure.arrow([(start, y + 38), (start, foot), (end, foot), (end, y + 38)], "accent", 1.8)
        figure.text((start + end) / 2, foot + 17, "xor", "accent", 13, "middle", bold=True)
        entries = [(_ROLES["Y"], "Y: selects"), (_ROLES["Z"], "Z: is changed"), (_ROLES["b"], "b: byte in a piece")]
        figure.legend(LEFT + count * BIT + 24, y + 8, entries, 440)
    return y + 76


def places(
    figure: Figure,
    at: tuple[float, float],
    roles: Roles,
    labels: Sequence[Sequence[object]],
    repeats: int,
    line_bytes: int,
) -> Frame:
    """Lines of memory with what lies at each place, and above them the banks, or where a place begins in its line.

    Args:
        figure: what it is drawn on.
        at: the upper left corner.
        roles: what each place is filled with.
        labels: what is written there.
        repeats: rows and columns of places after which the pattern repeats; 0 or 1 frames none.
        line_bytes: bytes of a line.
    """
    rows, columns = len(roles), len(roles[0])
    heads = 8 if line_bytes == LINE_BYTES else columns
    frame = Frame(*at, heads * UNIT, rows * HIGH, rows, columns)
    names = [
        f"{4 * i}\u2013{4 * i + 3}" if line_bytes == LINE_BYTES else str(line_bytes // heads * i) for i in range(heads)
    ]
    middles = [frame.x + (i + 0.5) * UNIT for i in range(heads)]
    figure.texts(
        [(x, frame.y - 8, name) for x, name in zip(middles, names, strict=True)], "muted", 10.5, "middle", mono=True
    )
    name = "bank" if line_bytes == LINE_BYTES else "byte"
    figure.text(frame.x - 10, frame.y - 8, name, "muted", 10.5, "end", mono=True)
    fill(figure, frame, roles, [[str(one) for one in row] for row in labels])
    border(figure, frame, "chunk", rows, columns, outer=False)
    if repeats > 1:
        border(figure, frame, "atom", max(rows // repeats, 1), max(columns // repeats, 1), outer=False)
    border(figure, frame, "tile")
    return frame
