"""One element's address, taken apart: its bits before the swizzle and after it, bank, line, and the parts it is in.

What is said is sentences with places for numbers, so that a page which nobody answers can fill them in. A place is
``{name}``, ``{name:x}`` in hexadecimal, or ``{name:no|yes}``, words for 0 and 1. Law: the formula with its numbers is
the address that the tile's layout gives.

>>> from descriptors import derive
>>> found = inspect(View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(11, 21)))
>>> found["formula"], found["bank"], found["line"]
('0x5aa ^ ((0x5aa >> 7 & 7) << 4) = 0x59a', 6, 11)
>>> found["word"]
'0x4000404000010002'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from descriptors.explorer.parts.edited import own_word
from descriptors.explorer.parts.numbers import addresses
from descriptors.output.tiles.explanation import names
from descriptors.pictures.parts.panels import atom_name, chunk_name
from descriptors.proof.addresses import address_bits, fetched_rows
from descriptors.stages.view import View
from descriptors.text import word_text
from layoutalg import Swizzle

#: Bits of an address of shared memory.
BITS = 18


def inspect(view: View) -> dict[str, Any]:
    """Everything about the chosen element's address.

    Args:
        view: the tile and the element.

    Returns:
        Plain data: ``facts`` are pairs of names and values in words; ``kinds`` says what each of the address's bits is
        for, the highest first: Y selects, Z is changed, b counts bytes within what is moved, . is the rest.
    """
    word, found = own_word(view), addresses(view).numbers(view.cell)
    told, values = sentences(view), {**found, "word": word_text(word)}
    return {
        "cell": list(view.cell),
        **{key: found[key] for key in ("before", "after", "address", "bank", "line")},
        "subtile": list(view.subtile),
        "word": word_text(word),
        "formula": fill(told["formula"], values),
        "general": told["general"],
        "kinds": told["kinds"],
        "facts": [[name, fill(value, values)] for name, value in told["facts"]],
        "reads": _read_from(view, word),
    }


def sentences(view: View) -> dict[str, Any]:
    """What is said of every element, with places for its numbers.

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
        ("after it", "byte {after} = {after:x}" + halves[1]),
        *([("address", f"{{address:x}}, of a tile at {view.base:#x}")] if view.base else []),
        ("line and bank", f"line {{line}}, bank {{bank}} of {view.banks}"),
        ("16 bytes", "number {piece} in memory, place {place} of its line"),
        *([(atom_name(d), "({atom_mn},{atom_k}), number {number} in memory")] if view.anatomy.atom_grid[0] else []),
        *([("chunk", "({chunk_mn},{chunk_k}) of the subtile")] if chunk_name(d) != "atom" else []),
        ("subtile", "({subtile_mn},{subtile_k}), element ({inside_mn},{inside_k}) of it, starts at byte {start}"),
        ("its word", "{word}"),
    ]
    formula, general = _formulas(swizzle)
    return {"facts": facts, "formula": formula, "general": general, "kinds": _kinds(swizzle)}


_WHEN = ("before", "after")


def fill(sentence: str, values: Mapping[str, Any]) -> str:
    """A sentence with its numbers.

    >>> fill("byte {at} = {at:x}, {half:low|high}", {"at": 26, "half": 1})
    'byte 26 = 0x1a, high'
    """

    def one(found: re.Match[str]) -> str:
        value, form = values[found[1]], found[2]
        if not form:
            return str(value)
        return f"{value:#x}" if form == "x" else form.split("|")[value]

    return re.sub(r"\{(\w+):?([^}]*)\}", one, sentence)


def _read_from(view: View, word: int) -> int:
    """From where the read model says that the element is read, in bytes: an answer of its own, beside the layout's."""
    d, (i, k) = view.derivation, view.inside
    read = fetched_rows([word], arch=d.arch, element=d.element, major=d.major, shape=d.mma)[0]
    return read[i][k] * address_bits(d.element) // 8


def _formulas(swizzle: Swizzle) -> tuple[str, str]:
    """The swizzle with an element's numbers; as a formula of a byte's place, and of a piece's: its slot in the line."""
    if not swizzle.bits:
        return "{before:x}: no swizzle", "slot = column"
    mask, low, at = (1 << swizzle.bits) - 1, swizzle.base + swizzle.shift, swizzle.base
    general = f"address ^ ((address >> {low} & {mask}) << {at}); slot = column ^ (line & {mask})"
    return f"{{before:x}} ^ (({{before:x}} >> {low} & {mask}) << {at}) = {{after:x}}", general


def _kinds(swizzle: Swizzle) -> str:
    """What each bit is for, the highest first."""
    found = ""
    for n in reversed(range(BITS)):
        kind = "Y" if swizzle.source_mask >> n & 1 else "Z" if swizzle.target_mask >> n & 1 else "."
        found += "b" if kind == "." and n < swizzle.base else kind
    return found
