"""Describe the address of one element: its bits before and after the swizzle, its bank, line, atom and subtile.

The sentences have placeholders for numbers, so that a page without an engine can fill them in. A placeholder is
``{name}``, ``{name:x}`` for hexadecimal, or ``{name:no|yes}`` for words that stand for 0 and 1.

Invariant: the formula with its numbers gives the address of the tile's layout.

>>> from descriptors import derive
>>> d = derive((128, 128), "bf16", "K", "128B", (64, 16))
>>> element = inspect(View(d, cell=(11, 21)))
>>> element["formula"], element["bank"], element["line"], element["word"]
('0x5aa ^ ((0x5aa >> 7 & 7) << 4) = 0x59a', 6, 11, '0x4000404000010002')
>>> numbers = addresses(View(d)).numbers((11, 21))
>>> numbers["before"], numbers["after"], numbers["after"] == 2 * d.smem_tile(11, 21)
(1450, 1434, True)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from descriptors.show.explorer.question import own_word
from descriptors.show.pictures.anatomy import Pair, ranks
from descriptors.show.pictures.panels import atom_name, chunk_name
from descriptors.show.stages.swizzle_stage import tile_place
from descriptors.show.stages.view import PIECE, View
from descriptors.smem.derivation.explanation import names
from descriptors.smem.operands.swizzled import parts
from descriptors.smem.proof.addresses import address_bits, fetched_rows
from descriptors.smem.words.descriptor import with_version
from descriptors.text import word_text
from layoutalg import Swizzle, bank_group
from layoutalg.frozen import frozen, replace

#: The number of bits of a shared-memory address that are shown.
BITS = 18


def inspect(view: View) -> dict[str, Any]:
    """Return the facts about the address of the chosen element.

    Args:
        view: the tile and the element.

    Returns:
        Plain data. ``facts`` are pairs of a name and a value as text. ``kinds`` gives the role of each address bit,
        the highest first: Y selects, Z is changed, b counts bytes within the unit that the swizzle moves, . is any
        other bit.
    """
    word, numbers = own_word(view), addresses(view).numbers(view.cell)
    texts, values = sentences(view), {**numbers, "word": word_text(word)}
    return {
        "cell": list(view.cell),
        **{key: numbers[key] for key in ("before", "after", "address", "bank", "line")},
        "subtile": list(view.subtile),
        "word": word_text(word),
        "formula": fill(texts["formula"], values),
        "general": texts["general"],
        "kinds": texts["kinds"],
        "facts": [[name, fill(value, values)] for name, value in texts["facts"]],
        "reads": _read_from(view, word),
    }


def sentences(view: View) -> dict[str, Any]:
    """Return the sentences about an element, with placeholders for its numbers.

    >>> from descriptors import derive
    >>> dict(sentences(View(derive((64, 64), "bf16", "K", "128B", (64, 16))))["facts"])["line and bank"]
    'line {line}, bank {bank} of 32'
    """
    d, (mn, k) = view.derivation, names(view.derivation)
    swizzle = d.swizzle.swizzle or Swizzle(0, 4, 3)
    stage = f", stage {view.stage}" if len(d.tile) > 2 else ""
    halves = [f", {{{when}_half:low half|high half}}" if address_bits(d.element) == 1 else "" for when in _WHEN]
    facts = [
        ("element", f"{mn} {{mn}}, {k} {{k}}{stage}"),
        ("before the swizzle", "byte {before} = {before:x}" + halves[0]),
        ("after the swizzle", "byte {after} = {after:x}" + halves[1]),
        *([("address", f"{{address:x}}, of a tile at {view.base:#x}")] if view.base else []),
        ("line and bank", f"line {{line}}, bank {{bank}} of {view.banks}"),
        *([("swizzle tile", TILE_PLACE)] if swizzle.bits else []),
        ("16 bytes", "number {piece} in memory, position {place} in its line"),
        *([(atom_name(d), "({atom_mn},{atom_k}), number {number} in memory")] if view.anatomy.atom_grid[0] else []),
        *([("chunk", "({chunk_mn},{chunk_k}) of the subtile")] if chunk_name(d) != "atom" else []),
        ("subtile", "({subtile_mn},{subtile_k}), element ({inside_mn},{inside_k}) of it, starts at byte {start}"),
        ("its descriptor", "{word}"),
    ]
    formula, general = _formulas(swizzle)
    return {"facts": facts, "formula": formula, "general": general, "kinds": _kinds(swizzle)}


_WHEN = ("before", "after")
#: The position of an element in the grid of swizzle tiles, with the names of the literature.
TILE_PLACE = "row_tile_idx {row_tile}, col_tile_idx {col_tile}; row {row_in_tile}, column {col_in_tile}"


def fill(sentence: str, values: Mapping[str, Any]) -> str:
    """Fill the numbers into a sentence.

    >>> fill("byte {at} = {at:x}, {half:low|high}", {"at": 26, "half": 1})
    'byte 26 = 0x1a, high'
    """

    def number(match: re.Match[str]) -> str:
        value, form = values[match[1]], match[2]
        if not form:
            return str(value)
        return f"{value:#x}" if form == "x" else form.split("|")[value]

    return re.sub(r"\{(\w+):?([^}]*)\}", number, sentence)


def _read_from(view: View, word: int) -> int:
    """Return the byte offset from which the read model reads the element, computed independently of the layout."""
    d, (i, k) = view.derivation, view.inside
    read = fetched_rows([with_version(word, d.arch)], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
    return read[i][k] * address_bits(d.element) // 8


def _formulas(swizzle: Swizzle) -> tuple[str, str]:
    """Return the swizzle as a formula with the numbers of an element, and as a general formula of address and slot."""
    if not swizzle.bits:
        return "{before:x}: no swizzle", "slot = column"
    mask, low, base = (1 << swizzle.bits) - 1, swizzle.base + swizzle.shift, swizzle.base
    general = f"address ^ ((address >> {low} & {mask}) << {base}); slot = column ^ (line & {mask})"
    return f"{{before:x}} ^ (({{before:x}} >> {low} & {mask}) << {base}) = {{after:x}}", general


def _kinds(swizzle: Swizzle) -> str:
    """Return the role of each address bit, the highest first."""
    pattern = ""
    for n in reversed(range(BITS)):
        kind = "Y" if swizzle.source_mask >> n & 1 else "Z" if swizzle.target_mask >> n & 1 else "."
        pattern += "b" if kind == "." and n < swizzle.base else kind
    return pattern


@frozen
class Addresses:
    """The data from which the numbers of every element of a view are computed.

    Args:
        downs, across: offsets of the rows and of the columns in elements; the sum is the offset of an element.
        swizzle: the swizzle of these offsets.
        bits: bits of an element.
        base: address of the tile, in bytes.
        banks, bank_bytes: number of banks of shared memory, and bytes of one bank.
        atom, subtile, chunk: extents (MN, K) of these parts, in elements.
        atoms: the rank of each atom in memory; empty if atoms do not divide the tile.
        starts: the start address of each subtile.
    """

    downs: tuple[int, ...]
    across: tuple[int, ...]
    swizzle: Swizzle
    bits: int
    base: int
    banks: int
    bank_bytes: int
    atom: Pair
    subtile: Pair
    chunk: Pair
    atoms: tuple[tuple[int, ...], ...]
    starts: tuple[tuple[int, ...], ...]

    def numbers(self, cell: Pair) -> dict[str, int]:
        """Return the numbers of one element (MN, K), by name.

        Returns:
            ``before`` and ``after``, the byte offsets from the tile before and after the swizzle, each with the
            ``_half`` of the byte (0 is the low one); ``row_tile`` and ``col_tile`` of the swizzle tile, and
            ``row_in_tile`` and ``col_in_tile``; ``address``, ``line``, ``bank``; ``piece``, the number of the 16 bytes
            in memory, and its ``place`` in the line; ``_mn`` and ``_k`` of the ``atom``, of the ``chunk`` in the
            subtile, of the ``subtile``, and of the element ``inside`` it; the ``number`` of the atom in memory; the
            ``start`` address of the subtile.
        """
        (i, k), line_bytes = cell, self.banks * self.bank_bytes
        offset = self.downs[i] + self.across[k]
        before, after = offset * self.bits, self.swizzle(offset) * self.bits
        place, address = after // 8, self.base + after // 8
        atom, subtile = (i // self.atom[0], k // self.atom[1]), (i // self.subtile[0], k // self.subtile[1])
        inside = i % self.subtile[0], k % self.subtile[1]
        in_tiles = zip(
            ("row_tile", "col_tile", "row_in_tile", "col_in_tile"), tile_place(self.swizzle, offset), strict=True
        )
        return dict(in_tiles) | {
            "mn": i, "k": k,
            "before": before // 8, "before_half": before % 8 // 4, "after": place, "after_half": after % 8 // 4,
            "address": address, "line": address // line_bytes, "bank": address // self.bank_bytes % self.banks,
            "piece": place // PIECE, "place": bank_group(place, line_bytes),
            "atom_mn": atom[0], "atom_k": atom[1], "number": self.atoms[atom[0]][atom[1]] if self.atoms else 0,
            "chunk_mn": inside[0] // self.chunk[0], "chunk_k": inside[1] // self.chunk[1],
            "subtile_mn": subtile[0], "subtile_k": subtile[1], "inside_mn": inside[0], "inside_k": inside[1],
            "start": self.starts[subtile[0]][subtile[1]],
        }  # fmt: skip


def addresses(view: View) -> Addresses:
    """Return the addresses of all elements of the stage of a view. They do not depend on the chosen element."""
    return _addresses(replace(view, cell=(0, 0), word=None))


@lru_cache(maxsize=16)
def _addresses(view: View) -> Addresses:
    d, a = view.derivation, view.anatomy
    rows, swizzle, offset = parts(d.smem_tile)
    stage_coordinate, zero, (mn, k) = a.stage_coordinate, (0,) * len(a.stage_coordinate), a.extents
    first = d.descriptor_at(view.base).start_address
    return Addresses(
        downs=tuple(offset + _number(rows((i, 0, *stage_coordinate))) for i in range(mn)),
        across=tuple(_number(rows((0, j, *zero))) for j in range(k)),
        swizzle=swizzle or Swizzle(0, 4, 3),
        bits=d.element.storage_bits,
        base=view.base,
        banks=view.banks,
        bank_bytes=view.bank_bytes,
        atom=a.atom_extents,
        subtile=d.mma,
        chunk=a.chunk_extents,
        atoms=tuple(map(tuple, ranks(a.atom_places()))) if a.atom_grid[0] else (),
        starts=tuple(
            tuple(first + d.offset_of(i, j, view.stage) for j in range(a.subtile_grid[1]))
            for i in range(a.subtile_grid[0])
        ),
    )


def _number(offset: object) -> int:
    assert isinstance(offset, int)
    return offset
