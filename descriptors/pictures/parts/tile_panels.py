"""Panels of a whole tile: its atoms numbered by their place in memory, its subtiles over them, what enlarges a part.

>>> from descriptors import derive
>>> a = Anatomy(derive((128, 128), "bf16", "MN", "64B", (64, 16)))
>>> atoms_panel(Figure(), a, 0, 0, panel_width(a, 320), 320).box
(0, 0, 320, 320)
"""

from __future__ import annotations

from descriptors.derivation.parts.derivation import Derivation
from descriptors.operands.operand import SwizzleMode
from descriptors.output.tiles.explanation import names
from descriptors.pictures.parts.anatomy import Anatomy, Pair, ranks
from descriptors.pictures.parts.panels import Frame, amount, border, fill, ticks
from layoutalg import Figure

#: The widths between which a panel of a tile is.
NARROW, WIDE = 150, 340


def panel_width(a: Anatomy, height: float) -> float:
    """The width of a tile of such a height, in its proportions as far as it can be read."""
    mn, k = a.extents
    return round(max(NARROW, min(WIDE, height * k / mn)))


def memory_order(a: Anatomy) -> list[list[int]]:
    """Which atom comes first, second, ... in memory; of a layout that is not made of whole atoms, which subtile.

    >>> from descriptors import derive
    >>> memory_order(Anatomy(derive((16, 128), "bf16", "K", "128B", (16, 16), legality="off")))
    [[0, 2], [1, 3]]
    """
    return ranks(a.atom_places() or a.subtile_starts())


def atoms_panel(figure: Figure, a: Anatomy, x: float, y: float, width: float, height: float) -> Frame:
    """The atoms of a tile, numbered and shaded in the order in which they lie in memory; the extents beside it."""
    (mn, k), (high, wide), order = names(a.derivation), a.extents, memory_order(a)
    frame = Frame(x, y, width, height, len(order), len(order[0]))
    labels, beside = [[str(rank) for rank in row] for row in order], 16
    if not fill(figure, frame, order_roles(order), labels):
        ticks(figure, frame, [row[0] for row in labels], labels[0])
        beside = 24 + round(figure.width_of(labels[-1][0], 10.5, mono=True))
    border(figure, frame, "atom" if a.atom_grid[0] else "subtile", frame.rows, frame.columns, outer=False)
    border(figure, frame, "tile")
    figure.text(x + width / 2, y + height + 24, f"{k} {wide}", "muted", 13, "middle")
    figure.text(x - beside, y + height / 2, f"{mn} {high}", "muted", 13, "middle", turn=-90)
    return frame


def order_roles(order: list[list[int]]) -> list[list[str | None]]:
    """The roles of parts by their place in the order of memory."""
    count = max((rank for row in order for rank in row), default=0) + 1
    return [[Figure.step(rank, count) for rank in row] for row in order]


def subtiles_panel(
    figure: Figure, a: Anatomy, x: float, y: float, width: float, height: float, chosen: Pair | None
) -> Frame:
    """The subtiles of a tile over its atoms, one of them chosen."""
    frame, order = Frame(x, y, width, height, *a.subtile_grid), memory_order(a)
    atoms = Frame(x, y, width, height, len(order), len(order[0]))
    fill(figure, atoms, order_roles(order))
    if chosen:
        figure.box(*frame.cell(*chosen), "glow")
    if a.atom_grid[0]:
        border(figure, atoms, "atom", atoms.rows, atoms.columns, outer=False)
    border(figure, frame, "subtile", *a.subtile_grid)
    if chosen:
        figure.border(*frame.cell(*chosen), "subtile", line=3.6)
    return frame


def beam(figure: Figure, panel: Frame, part: tuple[float, float, float, float], whole: Frame) -> None:
    """What joins a part of a panel with the panel to its right that enlarges it, in the gap alone."""
    start, foot = panel.x + panel.width, part[1] + part[3]
    corners = [(start, part[1]), (whole.x, whole.y), (whole.x, whole.y + whole.height), (start, foot)]
    figure.area(corners, "faint", 0.8)
    figure.lines([(start, foot, whole.x, whole.y + whole.height)], "chunk", 1, (4, 4))


def share_of_atom(d: Derivation, room: float = 400) -> str:
    """How much of an atom's line one subtile takes, in at most so many pixels.

    >>> from descriptors import derive
    >>> share_of_atom(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    'each 32 bytes of K: a quarter of an atom\u2019s line'
    """
    taken = d.mma[d.major.contiguous_mode] * d.element.storage_bits // 8
    along, span = names(d)[d.major.contiguous_mode], d.swizzle.span_bytes
    if d.swizzle is SwizzleMode.NONE or taken % span == 0:
        return f"each {amount(taken)} of {along}"
    part = {2: "half", 4: "a quarter"}.get(span // taken if span % taken == 0 else 0)
    whole = f"each {amount(taken)} of {along}: {part} of an atom\u2019s line"
    return whole if part and Figure.width_of(whole, 13) <= room else f"each {amount(taken)} of {along}"
