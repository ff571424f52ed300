"""A swizzle by itself: which bits of an address change which, what each place holds, where an atom's rows lie.

A ruler shows the bits, lines of shared memory what lies at their places. The row n of core matrix m, ``CMmRn``, is the
16 bytes number m of the atom's row n. Law: the place of each is what the swizzle gives.

>>> swizzle = SwizzlePicture(SwizzleMode.B64).record()
>>> swizzle["lines"][1], swizzle["rows"][1][:4]
((1, 0, 3, 2, 5, 4, 7, 6), ('CM1R2', 'CM0R2', 'CM3R2', 'CM2R2'))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from descriptors.show.pictures.panels import Frame, Roles, border, fill, story, table
from descriptors.smem.operands.operand import LINE_BYTES, SwizzleMode
from layoutalg import Figure, Picture, Scene, Swizzle
from layoutalg.frozen import frozen

#: Where the panels begin, the width of a bit, the size of a unit of 16 bytes.
LEFT, BIT, UNIT, HIGH = 52, 34, 47, 30

#: Of the bits; none of them is a piece's.
_ROLES = {"Y": "r7", "Z": "r5", "b": "r2", ".": "faint"}


#: Address bits that are drawn.
BITS = 14


@frozen
class SwizzlePicture(Picture):
    """What a swizzle mode does to addresses.

    Args:
        mode: the swizzle mode.
    """

    mode: SwizzleMode

    @property
    def swizzle(self) -> Swizzle:
        """The permutation of byte addresses; of the mode ``none`` one that changes nothing."""
        return self.mode.swizzle or Swizzle(0, 4, 3)

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
            "rows": self.rows(),
        }

    def lines(self) -> tuple[tuple[int, ...], ...]:
        """For eight lines of 128 bytes: which piece, as the program counts them, lies at each place.

        >>> SwizzlePicture(SwizzleMode.B128_BASE32B).lines()[3]
        (3, 2, 1, 0)
        """
        unit = self.unit_bytes
        count = LINE_BYTES // unit
        grid = [[0] * count for _ in range(8)]
        for line in range(8):
            for piece in range(count):
                address = self.swizzle(line * LINE_BYTES + piece * unit)
                assert isinstance(address, int)
                grid[address // LINE_BYTES][address % LINE_BYTES // unit] = piece
        return tuple(map(tuple, grid))

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """For the lines of an atom of eight rows: whose 16 bytes lie at each place, as CMmRn."""
        span = self.mode.span_bytes
        grid = [[""] * 8 for _ in range(-(-8 * span // LINE_BYTES))]
        for n in range(8):
            for m in range(span // 16):
                address = self.swizzle(n * span + 16 * m)
                assert isinstance(address, int)
                grid[address // LINE_BYTES][address % LINE_BYTES // 16] = f"CM{m}R{n}"
        return tuple(map(tuple, grid))

    def scene(self) -> Scene:
        """The bits, the map of lines, and the rows of an atom."""
        figure, title, sentence = Figure(), f"Swizzle {self.mode}: {self.swizzle}", self.sentence()
        figure.heading(0, 0, title, sentence)
        y = ruler(figure, self.bit_names(), 96) + 64
        lines, unit = self.lines(), self.unit_bytes
        words = f"a number: the piece of {unit} bytes as the program counts it"
        figure.panel_heading(LEFT, y, "What lies at each place", [words])
        roles = [[Figure.kind(one) for one in row] for row in lines]
        across = 1 << self.swizzle.bits
        frame = places(figure, (LEFT, y + 62), roles, lines, across)
        middles = [frame.y + (i + 0.5) * frame.step[1] + 4 for i in range(8)]
        figure.texts([(LEFT - 10, at, f"line {i}") for i, at in enumerate(middles)], "muted", 11, "end")
        right = LEFT + frame.width + 10
        figure.texts(
            [(right, at, f"xor {row[0]}") for at, row in zip(middles, lines, strict=True)], "muted", 11, mono=True
        )
        left, span = LEFT + frame.width + 130, self.mode.span_bytes
        figure.panel_heading(
            left, y, f"Where an atom of 8 \u00d7 {span} bytes lies", ["CMmRn: row n of core matrix m, 16 bytes"]
        )
        rows = self.rows()
        places(figure, (left, y + 62), [[_role(one) for one in row] for row in rows], rows, 0)
        entries = [("chunk", f"{unit} bytes")]
        if across > 1:
            entries.append(("atom", f"where the pattern repeats, {across} \u00d7 {across} pieces"))
        figure.legend(LEFT, frame.y + frame.height + 24, entries)
        return figure.scene(title, sentence)

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """The bits and the two tables."""
        lines, rows = self.lines(), self.rows()
        said = [f"Swizzle {self.mode}: {self.swizzle}", self.sentence(), ""]
        said += [f"   {' '.join(self.bit_names())}   address bits {BITS - 1} to 0", ""]
        said += [f"which piece of {self.unit_bytes} bytes lies at each place"]
        left = [f"line {i} xor {row[0]}" for i, row in enumerate(lines)]
        said += table(lines, [[Figure.kind(one) for one in row] for row in lines], left=left, color=color)
        said += ["", f"an atom of 8 rows of {self.mode.span_bytes} bytes: CMmRn is row n of core matrix m"]
        left = [f"line {i}" for i in range(len(rows))]
        said += table(rows, [[_role(one) for one in row] for row in rows], left=left, color=color)
        return story(said, width)

    @property
    def unit_bytes(self) -> int:
        """Bytes of a piece that the swizzle moves."""
        return 1 << self.swizzle.base

    def _changed(self) -> tuple[int, ...]:
        s = self.swizzle
        return tuple(range(s.base, s.base + s.bits))

    def _selecting(self) -> tuple[int, ...]:
        s = self.swizzle
        return tuple(range(s.base + s.shift, s.base + s.shift + s.bits))

    def bit_names(self) -> str:
        """The bits of an address, highest first: Y selects, Z is changed, b counts bytes in a piece, . stays.

        >>> SwizzlePicture(SwizzleMode.B64).bit_names()
        '.....YY.ZZbbbb'
        """
        low, y, z = self.swizzle.base, self._selecting(), self._changed()
        return "".join("Y" if n in y else "Z" if n in z else "b" if n < low else "." for n in reversed(range(BITS)))

    def sentence(self) -> str:
        """What the swizzle does, in words."""
        if not self.swizzle.bits:
            return "Addresses stay as they are: a piece lies where the program counts it."
        low, high = self._changed()[0], self._changed()[-1]
        first, last = self._selecting()[0], self._selecting()[-1]
        bits, become, are = ("bit", "becomes", "is") if low == high else ("bits", "become", "are")
        return (
            f"Address {bits} {_range(low, high)} (Z), of the number of a piece in its line, {become} Z xor Y, where Y "
            f"{are} {bits} {_range(first, last)}, of the number of the line; the others stay."
        )


def _role(name: str) -> str | None:
    """What is filled with the core matrix of a name."""
    return Figure.kind(int(name[2])) if name else None


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
    figure: Figure, at: tuple[float, float], roles: Roles, labels: Sequence[Sequence[object]], repeats: int
) -> Frame:
    """Lines of 128 bytes with what lies at each place, and the banks above them.

    Args:
        figure: what it is drawn on.
        at: the upper left corner.
        roles: what each place is filled with.
        labels: what is written there.
        repeats: rows and columns of places after which the pattern repeats; 0 or 1 frames none.
    """
    rows, columns = len(roles), len(roles[0])
    frame = Frame(*at, 8 * UNIT, rows * HIGH, rows, columns)
    banks = [(frame.x + (i + 0.5) * UNIT, frame.y - 8, f"{4 * i}\u2013{4 * i + 3}") for i in range(8)]
    figure.texts(banks, "muted", 10.5, "middle", mono=True)
    figure.text(frame.x - 10, frame.y - 8, "bank", "muted", 10.5, "end", mono=True)
    fill(figure, frame, roles, [[str(one) for one in row] for row in labels])
    border(figure, frame, "chunk", rows, columns, outer=False)
    if repeats > 1:
        border(figure, frame, "atom", max(rows // repeats, 1), max(columns // repeats, 1), outer=False)
    border(figure, frame, "tile")
    return frame
