"""The tile that a question asks about, derived and looked at; kept, so that what follows a click is quick.

Law: questions about one operand get one derivation.

>>> from descriptors.explorer.parts.question import question
>>> one, other = question({"cell": "3,4"}), question({"colour": "bank"})
>>> derivation(one) is derivation(other)
True
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

from descriptors.derivation.derive import derive
from descriptors.derivation.parts.derivation import Derivation
from descriptors.derivation.report import Report
from descriptors.derivation.verify import verify
from descriptors.errors import DescriptorError
from descriptors.explorer.parts.edited import edited_word
from descriptors.explorer.parts.question import Question
from descriptors.operands.operand import major_of
from descriptors.operands.pasted import base_of
from descriptors.stages.view import View
from layoutalg import Layout, evaluate

#: What of a question names the operand.
OPERAND = ("tile", "dtype", "major", "swizzle", "mma", "order", "arch", "operand", "layout", "unit")


def derivation(q: Question) -> Derivation:
    """The derivation of the tile, not proved.

    Raises:
        DescriptorError: as ``derive``.
        LayoutError: if a layout is wrong.
    """
    return _derived(*(getattr(q, name) for name in OPERAND))


@lru_cache(maxsize=32)
def _derived(*values: Any) -> Derivation:
    given = dict(zip(OPERAND, values, strict=True))
    explicit = bool(given["layout"].strip())
    for name in ("order", "operand", "mma", "layout", "major", "swizzle"):
        given[name] = given[name] or None
    if explicit:
        given |= {"tile": None, "order": None}
    else:
        given |= {"layout": None, "unit": "elements", "major": major_of(given["swizzle"], given["major"])}
    return derive(**given, verify=False)


def base(q: Question) -> int:
    """The address of the tile: as asked, else that of the pointer that CuTe printed, else 0."""
    return q.base or (base_of(q.layout) or 0 if q.layout else 0)


@lru_cache(maxsize=32)
def proof(d: Derivation, at: int) -> Report:
    """The proof of a derivation whose tile is at an address."""
    return verify(d, bases=(at,))


def view(q: Question) -> View:
    """What of the tile is looked at.

    Raises:
        DescriptorError: as ``View``.
        LayoutError: if the lanes are no layout.
    """
    d, at = derivation(q), base(q)
    mn, k = q.cell
    looked = View(
        d,
        cell=(mn, k),
        stage=q.stage,
        base=at,
        colour=q.colour,
        levels=tuple(filter(None, q.levels.split(","))),
        swizzled=q.swizzled,
        banks=q.banks,
        bank_bytes=q.bank_bytes,
        slot=None if q.slot < 0 else q.slot,
        access=q.access,
        lanes=_lanes(q.lanes),
        access_bytes=q.access_bytes,
        across=q.across,
        load=q.load,
    )
    word = edited_word(looked, q)
    return looked if word is None else replace(looked, word=word)


def _lanes(text: str) -> Layout | None:
    if not text.strip():
        return None
    found = evaluate(text)
    if not isinstance(found, Layout):
        raise DescriptorError(f"explore: lanes must be a layout (threads, values), found {found}")
    return found
