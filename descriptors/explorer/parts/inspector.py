"""One element's address, taken apart: its bits before the swizzle and after it, bank, line, and the parts it is in.

Law: the formula with its numbers is the address that the tile's layout gives.

>>> from descriptors import derive
>>> found = inspect(View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(11, 21)))
>>> found["formula"], found["bank"], found["line"]
('0x5aa ^ ((0x5aa >> 7 & 7) << 4) = 0x59a', 6, 11)
>>> found["word"]
'0x4000404000010002'
"""

from __future__ import annotations

from typing import Any

from descriptors.explorer.parts.edited import own_word
from descriptors.output.tiles.explanation import names
from descriptors.pictures.parts.anatomy import ranks
from descriptors.pictures.parts.panels import atom_name, chunk_name
from descriptors.proof.addresses import address_bits, fetched_rows
from descriptors.stages.pieces import element_address
from descriptors.stages.view import PIECE, View
from descriptors.text import tuple_text, word_text
from layoutalg import Swizzle

#: Bits of an address of shared memory.
BITS = 18


def inspect(view: View) -> dict[str, Any]:
    """Everything about the chosen element's address.

    Args:
        view: the tile and the element.

    Returns:
        Plain data: ``facts`` are pairs of names and values in words, ``bits`` the two addresses with what each bit is.
    """
    d, a = view.derivation, view.anatomy
    unit = address_bits(d.element)
    before, after = (one * unit // 8 for one in element_address(view))
    swizzle = d.swizzle.swizzle or Swizzle(0, 4, 3)
    address = view.base + after
    bank, line = address // view.bank_bytes % view.banks, address // view.line_bytes
    formula = _formula(swizzle, before)
    subtile, word = view.subtile, own_word(view)
    mn, k = names(d)
    found = {
        "cell": list(view.cell),
        "before": before,
        "after": after,
        "address": address,
        "bank": bank,
        "line": line,
        "formula": formula,
        "general": _general(swizzle),
        "subtile": list(subtile),
        "word": word_text(word),
        "bits": _bits(swizzle, before, after),
        "reads": _read_from(view, word),
    }
    facts = [
        ("element", f"{mn} {view.cell[0]}, {k} {view.cell[1]}" + (f", stage {view.stage}" if len(d.tile) > 2 else "")),
        ("before the swizzle", f"byte {before} = {before:#x}" + _nibble(view, 0)),
        ("after it", f"byte {after} = {after:#x}" + _nibble(view, 1)),
        *([("address", f"{address:#x}, of a tile at {view.base:#x}")] if view.base else []),
        ("line and bank", f"line {line}, bank {bank} of {view.banks}"),
        (
            "16 bytes",
            f"number {after // PIECE} in memory, place {after // PIECE % (view.line_bytes // PIECE)} of its line",
        ),
        *_parts(view),
        ("subtile", f"{tuple_text(subtile)}, element {tuple_text(view.inside)} of it, starts at byte {_start(view)}"),
        ("its word", word_text(word)),
    ]
    return found | {"facts": [list(fact) for fact in facts], "atoms": list(a.atom_grid)}


def _parts(view: View) -> list[tuple[str, str]]:
    """The atom and the chunk of the element."""
    a, (i, k), d = view.anatomy, view.cell, view.derivation
    found = []
    if a.atom_grid[0]:
        (high, wide), order = a.atom_extents, ranks(a.atom_places())
        where = i // high, k // wide
        number = order[where[0]][where[1]]
        found.append((atom_name(d), f"{tuple_text(where)}, number {number} in memory"))
    if chunk_name(d) != "atom":
        (high, wide), inside = a.chunk_extents, view.inside
        found.append(("chunk", f"{tuple_text((inside[0] // high, inside[1] // wide))} of the subtile"))
    return found


def _start(view: View) -> int:
    return view.derivation.descriptor_at(view.base).start_address + view.derivation.offset_of(*view.subtile, view.stage)


def _nibble(view: View, which: int) -> str:
    """Which half of its byte an element of 4 bits is."""
    if address_bits(view.derivation.element) == 8:
        return ""
    return ", high half" if element_address(view)[which] % 8 else ", low half"


def _read_from(view: View, word: int) -> int:
    """From where the read model says that the element is read, in bytes: an answer of its own, beside the layout's."""
    d, (i, k) = view.derivation, view.inside
    read = fetched_rows([word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
    return read[i][k] * address_bits(d.element) // 8


def _formula(swizzle: Swizzle, before: int) -> str:
    """The swizzle with this element's numbers."""
    if not swizzle.bits:
        return f"{before:#x}: no swizzle"
    mask, low, at = (1 << swizzle.bits) - 1, swizzle.base + swizzle.shift, swizzle.base
    return f"{before:#x} ^ (({before:#x} >> {low} & {mask}) << {at}) = {swizzle(before):#x}"


def _general(swizzle: Swizzle) -> str:
    """The swizzle as a formula of a byte's place, and of a piece's: its slot in the line."""
    if not swizzle.bits:
        return "slot = column"
    mask, low, at = (1 << swizzle.bits) - 1, swizzle.base + swizzle.shift, swizzle.base
    return f"address ^ ((address >> {low} & {mask}) << {at}); slot = column ^ (line & {mask})"


def _bits(swizzle: Swizzle, before: int, after: int) -> list[dict[str, Any]]:
    """Every bit, highest first: its number, what it is for, and its value before and after.

    Y selects, Z is changed, b counts bytes within what is moved, . is the rest.
    """
    found = []
    for n in reversed(range(BITS)):
        kind = "Y" if swizzle.source_mask >> n & 1 else "Z" if swizzle.target_mask >> n & 1 else "."
        if kind == "." and n < swizzle.base:
            kind = "b"
        found.append({"bit": n, "kind": kind, "before": before >> n & 1, "after": after >> n & 1})
    return found
