"""A swizzle by itself: which bits of an address change which, what each place of a line holds, where an atom's rows lie.

The row n of core matrix m, ``CMmRn``, is the 16 bytes number m of the atom's row n. Law: the place of each is what the
swizzle gives.

>>> found = SwizzlePicture(SwizzleMode.B64).record()
>>> found["lines"][1], found["rows"][1][:4]
((1, 0, 3, 2, 5, 4, 7, 6), ('CM1R2', 'CM0R2', 'CM3R2', 'CM2R2'))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from descriptors.operands.operand import LINE_BYTES, SwizzleMode
from descriptors.pictures.panels import Frame, border, fill
from descriptors.pictures.tables import story, table
from layoutalg import Figure, Picture, Scene, Swizzle

#: Address bits that are drawn, the width of one, and the size of a unit of 16 bytes.
BITS, BIT, UNIT, HIGH = 14, 44, 62, 30


@dataclass(frozen=True, slots=True)
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
            "unit_bytes": self._unit_bytes(),
            "lines": self.lines(),
            "xor": tuple(row[0] for row in self.lines()),
            "rows": self.rows(),
        }

    def lines(self) -> tuple[tuple[int, ...], ...]:
        """For eight lines of 128 bytes: which piece, as the program counts them, lies at each place.

        >>> SwizzlePicture(SwizzleMode.B128_BASE32B).lines()[3]
        (3, 2, 1, 0)
        """
        unit = self._unit_bytes()
        count = LINE_BYTES // unit
        found = [[0] * count for _ in range(8)]
        for line in range(8):
            for piece in range(count):
                address = self.swizzle(line * LINE_BYTES + piece * unit)
                assert isinstance(address, int)
                found[address // LINE_BYTES][address % LINE_BYTES // unit] = piece
        return tuple(map(tuple, found))

    def rows(self) -> tuple[tuple[str, ...], ...]:
        """For the lines of an atom of eight rows: whose 16 bytes lie at each place, as CMmRn."""
        span = self.mode.span_bytes
        found = [[""] * 8 for _ in range(-(-8 * span // LINE_BYTES))]
        for n in range(8):
            for m in range(span // 16):
                address = self.swizzle(n * span + 16 * m)
                assert isinstance(address, int)
                found[address // LINE_BYTES][address % LINE_BYTES // 16] = f"CM{m}R{n}"
        return tuple(map(tuple, found))

    def scene(self) -> Scene:
        """The bits, the map of lines, and the rows of an atom."""
        figure = Figure()
        title = f"Swizzle {self.mode}: {self.swizzle}"
        sentence = self._sentence()
        figure.heading(0, 0, title, sentence, room=1160)
        y = self._ruler(figure, 96)
        left, y = 52, y + 64
        count = LINE_BYTES // self._unit_bytes()
        wide = 8 * UNIT
        figure.panel_heading(left, y, "What lies at each place", [f"lines of {LINE_BYTES} bytes; a number: the piece of {self._unit_bytes()} bytes as the program counts it"])
        frame = Frame(left, y + 62, wide, 8 * HIGH, 8, count)
        lines = self.lines()
        self._banks(figure, frame)
        fill(figure, frame, [[Figure.kind(one) for one in row] for row in lines], [[str(one) for one in row] for row in lines])
        width = 1 << self.swizzle.bits
        border(figure, frame, "chunk", 8, count, outer=False)
        border(figure, frame, "atom", max(8 // width, 1), max(count // width, 1), outer=False)
        border(figure, frame, "tile")
        items = [(left - 10, frame.y + (i + 0.5) * HIGH + 4, f"line {i}") for i in range(8)]
        figure.texts(items, "muted", 11, "end")
        items = [(left + wide + 10, frame.y + (i + 0.5) * HIGH + 4, f"xor {row[0]}") for i, row in enumerate(lines)]
        figure.texts(items, "muted", 11, mono=True)
        self._atom(figure, left + wide + 130, y)
        entries = [("atom", f"where the pattern repeats: {width} \u00d7 {width} pieces"), ("chunk", f"{self._unit_bytes()} bytes")]
        figure.legend(left, frame.y + frame.height + 24, entries)
        return figure.scene(title, sentence)

    def text(self, *, color: bool = False, width: int | None = None) -> str:
        """The bits and the two tables."""
        lines, rows = self.lines(), self.rows()
        roles = [[Figure.kind(one) for one in row] for row in lines]
        left = [f"line {i}" for i in range(8)]
        cells = [[*row, f"  xor {row[0]}"] for row in lines]
        said = [f"Swizzle {self.mode}: {self.swizzle}", self._sentence(), "", "   " + self._bit_names()]
        said += ["", f"which piece of {self._unit_bytes()} bytes lies at each place"]
        said += table(lines, roles, left=[f"{name} xor {row[0]}" for name, row in zip(left, lines, strict=True)], color=color) if cells else []
        named = [[Figure.kind(int(one[2])) if one else None for one in row] for row in rows]
        said += ["", f"an atom of 8 rows of {self.mode.span_bytes} bytes: CMmRn is row n of core matrix m"]
        said += table(rows, named, left=left[: len(rows)], color=color)
        return story(said, width)

    def _unit_bytes(self) -> int:
        return 1 << self.swizzle.base

    def _changed(self) -> tuple[int, ...]:
        s = self.swizzle
        return tuple(range(s.base, s.base + s.bits))

    def _selecting(self) -> tuple[int, ...]:
        s = self.swizzle
        return tuple(range(s.base + s.shift, s.base + s.shift + s.bits))

    def _bit_names(self) -> str:
        """The bits of an address, highest first: Y selects, Z is changed, b counts bytes in a piece."""
        names = []
        for bit in reversed(range(BITS)):
            names.append("Y" if bit in self._selecting() else "Z" if bit in self._changed() else "b" if bit < self.swizzle.base else ".")
        return " ".join(names) + "   address bits 13 to 0: Z is replaced by Z xor Y"

    def _sentence(self) -> str:
        if not self.swizzle.bits:
            return "Addresses stay as they are: a piece lies where the program counts it."
        low, high = self._changed()[0], self._changed()[-1]
        first, last = self._selecting()[0], self._selecting()[-1]
        bits, become, are = ("bit", "becomes", "is") if low == high else ("bits", "become", "are")
        return (
            f"Address {bits} {_range(low, high)} (Z), of the number of a piece in its line, {become} Z xor Y, where Y {are} "
            f"{bits} {_range(first, last)}, of the number of the line; the others stay."
        )

    def _ruler(self, figure: Figure, y: float) -> float:
        """Fourteen address bits, and an arrow from those that select to those that change."""
        x = 52.0
        for place, bit in enumerate(reversed(range(BITS))):
            left = x + place * BIT
            role = "c7" if bit in self._selecting() else "c5" if bit in self._changed() else "r2" if bit < self.swizzle.base else "faint"
            name = "Y" if bit in self._selecting() else "Z" if bit in self._changed() else "b" if bit < self.swizzle.base else ""
            figure.box(left, y, BIT, 34, role, "rule", 0.8)
            figure.text(left + BIT / 2, y + 22, name, "ink", 13, "middle", mono=True, bold=bool(name.isupper()))
            figure.text(left + BIT / 2, y - 8, str(bit), "muted", 10.5, "middle", mono=True)
        figure.text(x - 10, y - 8, "bit", "muted", 10.5, "end", mono=True)
        if self.swizzle.bits:
            middles = [x + (BITS - 0.5 - (bits[0] + bits[-1]) / 2) * BIT for bits in (self._selecting(), self._changed())]
            foot = y + 54
            figure.arrow([(middles[0], y + 38), (middles[0], foot), (middles[1], foot), (middles[1], y + 38)], "accent", 1.8)
            figure.text(sum(middles) / 2, foot + 17, "xor", "accent", 13, "middle", bold=True)
        figure.legend(x + BITS * BIT + 40, y + 8, [("c7", "Y: selects"), ("c5", "Z: changes"), ("r2", "b: byte in a piece")], 460)
        return y + 76

    def _banks(self, figure: Figure, frame: Frame) -> None:
        across = frame.width / 8
        items = [(frame.x + (i + 0.5) * across, frame.y - 8, f"{4 * i}\u2013{4 * i + 3}") for i in range(8)]
        figure.texts(items, "muted", 10.5, "middle", mono=True)
        figure.text(frame.x - 10, frame.y - 8, "bank", "muted", 10.5, "end", mono=True)

    def _atom(self, figure: Figure, x: float, y: float) -> None:
        rows, span = self.rows(), self.mode.span_bytes
        figure.panel_heading(x, y, f"Where an atom of 8 \u00d7 {span} bytes lies", ["CMmRn: row n of core matrix m, 16 bytes"])
        frame = Frame(x, y + 62, 8 * UNIT, len(rows) * HIGH, len(rows), 8)
        roles = [[Figure.kind(int(one[2])) if one else None for one in row] for row in rows]
        self._banks(figure, frame)
        fill(figure, frame, roles, rows)
        border(figure, frame, "chunk", len(rows), 8, outer=False)
        border(figure, frame, "tile")


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}\u2013{high}"
