"""Panels of a swizzle: a ruler of address bits, and what lies at the places of lines of shared memory.

>>> ruler(Figure(), ".....YY.ZZbbbb", 0)
76
"""

from __future__ import annotations

from collections.abc import Sequence

from descriptors.pictures.parts.panels import Frame, Roles, border, fill
from layoutalg import Figure

#: Where the panels begin, the width of a bit, the size of a unit of 16 bytes.
LEFT, BIT, UNIT, HIGH = 52, 44, 62, 30

_ROLES = {"Y": "c7", "Z": "c5", "b": "r2", ".": "faint"}


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
        entries = [("c7", "Y: selects"), ("c5", "Z: changes"), ("r2", "b: byte in a piece")]
        figure.legend(LEFT + count * BIT + 40, y + 8, entries, 460)
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
