"""Two panels: one subtile's chunks with the steps LBO and SBO between them, and one chunk with its addresses.

Law: the numbers in the first are the places of the canonical layout, those in the second what the tile's layout gives.

>>> from descriptors import derive
>>> a = Anatomy(derive((128, 128), "bf16", "K", "128B", (64, 16)))
>>> frame = chunks_panel(Figure(), a, 0, 0, 320)
>>> frame.rows, frame.columns
(8, 2)
"""

from __future__ import annotations

from descriptors.derivation.parts.derivation import Derivation
from descriptors.operands.operand import SwizzleMode
from descriptors.output.tiles.explanation import names, unread_because
from descriptors.pictures.parts.anatomy import Anatomy, Pair, bank_group
from descriptors.pictures.parts.panels import Frame, border, chunk_name, fill, hairs, times
from descriptors.text import many
from layoutalg import Figure, size

#: The most columns of chunks that are as wide as their numbers.
_MOST_WIDE = 8


def offset_words(d: Derivation) -> tuple[str, str]:
    """LBO and SBO in bytes, each with why it is not read.

    >>> from descriptors import derive
    >>> offset_words(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    ('LBO 16 (unused in this mode)', 'SBO 1024')
    """
    found = []
    for short, (field, _) in _named(d):
        because = unread_because(d, field)
        found.append(f"{short} {getattr(d.descriptor, field)}" + (f" ({because})" if because else ""))
    return found[0], found[1]


def label_room(d: Derivation) -> float:
    """The pixels beside the panel of chunks that the label of the step down takes."""
    longest = max((f"{short} {getattr(d.descriptor, field)}" for short, (field, _) in _named(d)), key=len)
    return round(24 + Figure.width_of(longest, 13, bold=True) + 34)


def _named(d: Derivation) -> list[tuple[str, tuple[str, Pair]]]:
    return list(zip(("LBO", "SBO"), d.match.form.steps, strict=True))


def chunks_heading(a: Anatomy) -> list[str]:
    """What is said above the panel of chunks."""
    rows, columns = a.chunk_grid
    (u, v), (mn, k) = a.chunk_units, a.chunk_extents
    shape = f"{mn} \u00d7 {16 * v} B" if a.derivation.major.contiguous_mode else f"{16 * u} B \u00d7 {k}"
    return [f"{times(a.chunk_grid)} {many(rows * columns, chunk_name(a.derivation))} of {shape}",
            "a number: its start in bytes"]  # fmt: skip


def chunk_heading(a: Anatomy) -> tuple[str, list[str]]:
    """The heading of the panel of one chunk, and what is said below it."""
    d, (u, v) = a.derivation, a.chunk_units
    shape = f"{u} rows of {16 * v} B" if d.major.contiguous_mode else f"{16 * u} B \u00d7 {v} {names(d)[1].lower()}"
    address = "its address" if d.swizzle is SwizzleMode.NONE else "its swizzled address"
    return f"One {chunk_name(d)}: {shape}", [f"a number: {address}", "a colour: four banks"]


def chunks_panel(figure: Figure, a: Anatomy, x: float, y: float, height: float, cell: float = 46) -> Frame:
    """The chunks of a subtile, each with the place where it begins."""
    places = a.chunk_places()
    labels = [[str(one) for one in row] for row in places]
    rows, columns = len(places), len(places[0])
    longest = max(len(label) for row in labels for label in row)
    wide = max(columns * max(cell, 7 * longest + 22), 120) if columns <= _MOST_WIDE else 420
    frame = Frame(x, y, wide, height, rows, columns)
    fill(figure, frame, [["r1" if (i + j) % 2 == 0 else "r2" for j in range(columns)] for i in range(rows)], labels)
    border(figure, frame, "chunk", rows, columns, outer=False)
    figure.border(*frame.box, "subtile")
    figure.border(*frame.cell(0, 0), "chunk", line=3)
    return frame


def draw_steps(figure: Figure, d: Derivation, frame: Frame) -> None:
    """LBO and SBO: an arrow from the first chunk to the next in the direction of each, and whether it is read."""
    for short, (field, path) in _named(d):
        because = unread_because(d, field)
        role = "muted" if because else "accent"
        why = ("not read" if because.startswith("unused") else "never taken") if because else ""
        taken = size(d.canonical[path[0]][path[1]]) > 1
        words = f"{short} {getattr(d.descriptor, field)}"
        (_down if path[0] == 0 else _across)(figure, frame, words, why, role, taken)


def _down(figure: Figure, frame: Frame, words: str, why: str, role: str, taken: bool) -> None:
    _, high = frame.step
    x, y = frame.x + frame.width + 15, frame.y + high / 2
    if taken:
        figure.arrow([(x, y), (x, y + high)], role, 1.8)
    middle = y + high / 2 if taken else y
    figure.text(x + 9, middle + (-2 if why else 4), words, role, 13, bold=True)
    figure.text(x + 9, middle + 14, why, "muted", 11)


def _across(figure: Figure, frame: Frame, words: str, why: str, role: str, taken: bool) -> None:
    wide, _ = frame.step
    x, y = frame.x + wide / 2, frame.y + frame.height + 15
    if taken:
        figure.arrow([(x, y), (x + wide, y)], role, 1.8)
    y += 19 if taken else 4
    middle = max(x + wide / 2 if taken else frame.x + frame.width / 2, frame.x + 40)
    figure.text(middle, y, words, role, 13, "middle", bold=True)
    figure.text(middle, y + 16, why, "muted", 11, "middle")


def chunk_panel(
    figure: Figure, a: Anatomy, x: float, y: float, height: float, subtile: Pair, chunk: Pair = (0, 0)
) -> Frame:
    """The 16-byte pieces of one chunk of a subtile, each with its address."""
    found, (rows, columns) = a.addresses(subtile, chunk), a.chunk_units
    labels = [[f"0x{one:03x}" for one in row] for row in found]
    longest = max(len(label) for row in labels for label in row)
    wide = max(columns * (7 * longest + 12), 150)
    frame = Frame(x, y, wide, height if rows > 1 else 76, rows, columns)
    fill(figure, frame, [[figure.kind(bank_group(one)) for one in row] for row in found], labels)
    hairs(figure, frame)
    figure.border(*frame.box, "chunk", line=3)
    _axes(figure, a, frame)
    return frame


def _axes(figure: Figure, a: Anatomy, frame: Frame) -> None:
    """Which element of the chunk each piece begins with, to the right and below."""
    (wide, high), (u, v), (mn, k) = frame.step, a.unit, names(a.derivation)
    if frame.rows > 1:
        right = frame.x + frame.width + 10
        items = [(right, frame.y + (i + 0.5) * high + 4, f"{mn.lower()} {i * u}") for i in range(frame.rows)]
        figure.texts(items, "muted", 11)
    if frame.columns > 1:
        foot = frame.y + frame.height + 18
        items = [(frame.x + (j + 0.5) * wide, foot, f"{k.lower()} {j * v}") for j in range(frame.columns)]
        figure.texts(items, "muted", 11, "middle")
