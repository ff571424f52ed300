"""The box that takes anything: a word, a layout, what CuTe printed of a tensor, or two of these to compare.

Two things stand on two lines. Law: what is recognised is told by the engine's own function for it: a word by
``decode``, a layout by ``match`` and ``candidates``, a word and a layout by ``diff``.

>>> from descriptors.show.explorer.question import question
>>> body = {"paste": "0x4000404000010000\\n(64,16):(64,1)"}
>>> paste_answer(question(body))["kind"], paste_answer(question({"paste": "0x4000404000010000"}))["kind"]
('a word and a layout', 'a word')
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any

from descriptors.answers import tell
from descriptors.errors import DescriptorError
from descriptors.show.explorer.question import Question
from descriptors.smem.debug.candidates import candidates
from descriptors.smem.debug.decode import decode
from descriptors.smem.debug.diff import diff
from descriptors.smem.operands.explicit import as_unit, explicit_tile
from descriptors.smem.operands.operand import as_element_type
from descriptors.smem.operands.swizzled import parts, plain
from descriptors.smem.words.bitfield import span
from descriptors.smem.words.descriptor import WORDS, Arch, architecture
from descriptors.text import extents_text, word_text
from layoutalg import ComposedLayout, Layout, Swizzle, parse_pointer, size

#: A word as people write it.
_WORD = re.compile(r"0[xX][0-9a-fA-F_']{1,24}", re.ASCII)
#: The most elements of two layouts that are compared one by one.
MOST = 1 << 18


def paste_answer(q: Question) -> dict[str, Any] | None:
    """What the text of the box is, told; None where it is empty.

    Returns:
        ``kind`` says what it was taken for, ``text`` is the engine's answer, ``use`` the change of the question that
        shows it on the stage, if there is one.

    Raises:
        DescriptorError: if it is nothing that the engine knows; the errors of what it was taken for.
        LayoutError: likewise.
    """
    things = [line.strip() for line in q.paste.strip().splitlines() if line.strip()]
    if not things:
        return None
    if len(things) > 2:
        raise DescriptorError(f"explore: paste must be one thing, or two on two lines, found {len(things)} lines")
    words = [one for one in things if _WORD.fullmatch(one)]
    layouts = [one for one in things if one not in words]
    if len(things) == 1:
        return _word(q, _number(words[0])) if words else _layout(q, layouts[0])
    if len(words) == 2:
        return _two_words(q, *map(_number, words))
    return _word_and_layout(q, _number(words[0]), layouts[0]) if words else _two_layouts(q, *layouts)


def _number(text: str) -> int:
    return int(re.sub("['_]", "", text), 16)


def _record(kind: str, text: str, *, ok: bool = True, use: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"kind": kind, "text": text, "ok": ok, "use": use}


def _shape(q: Question) -> tuple[int, int] | None:
    """What one instruction reads, where the question says it in numbers."""
    return (q.mma[0], q.mma[1]) if isinstance(q.mma, tuple) and len(q.mma) == 2 else None


def _word(q: Question, number: int) -> dict[str, Any]:
    """A word: decoded, for the operand of the controls; on the stage it is compared with the tile."""
    name: Any = _arch_of(q, number)
    decoded = decode(number, name, dtype=q.dtype, major=q.major or None, shape=_shape(q))  # type: ignore[arg-type]
    use = {"word": word_text(number), "edit": {}} | ({} if name == q.arch else {"arch": name})
    return _record("a word", tell(decoded), use=use)


def _arch_of(q: Question, number: int) -> Arch:
    """The architecture of the controls; the other one where a word of sm100 would have no version."""
    if architecture(q.arch) == "sm100" and number >> 46 & 7 != 1 and number >> 62:
        return "sm90"
    return architecture(q.arch)


def _unit(q: Question, text: str) -> str:
    """What a layout counts: as the controls say, but for what CuTe printed, whose swizzle is on bytes."""
    return "cute" if parse_pointer(text) is not None and q.unit == "elements" else q.unit


def _layout(q: Question, text: str) -> dict[str, Any]:
    """A layout: which forms it has, and the question that derives from it."""
    unit: Any = _unit(q, text)
    tile, mode = explicit_tile(text, as_element_type(q.dtype), unit=as_unit(unit))
    shape = _shape(q)
    whole = size(plain(tile), mode=[0]), size(plain(tile), mode=[1])
    if shape is None or whole[0] % shape[0] or whole[1] % shape[1]:
        shape = whole
    forms = candidates(text, q.dtype, shape=shape, arch=architecture(q.arch), unit=unit)
    head = f"layout {tile}, swizzle {mode}, {extents_text(whole)}; an operand of {extents_text(shape)}"
    usable = next((one for one in forms if one.usable), None)
    use: dict[str, Any] = {"layout": text, "unit": unit, "order": "", "mma": extents_text(shape), "cell": "0,0",
                           "word": "", "edit": {}, "stage": 0, "base": 0}  # fmt: skip
    if usable is not None:
        use |= {"major": str(usable.major), "swizzle": str(usable.swizzle)}
    fits = any(one.fit is not None for one in forms)
    return _record("a layout", f"{head}\n{tell(forms)}", ok=fits, use=use if fits else None)


def _word_and_layout(q: Question, number: int, text: str) -> dict[str, Any]:
    """A word against a layout, element by element."""
    unit: Any = _unit(q, text)
    tile, _ = explicit_tile(text, as_element_type(q.dtype), unit=as_unit(unit))
    shape, whole = _shape(q), (size(plain(tile), mode=[0]), size(plain(tile), mode=[1]))
    if shape is not None and (whole[0] % shape[0] or whole[1] % shape[1]):
        shape = None
    major: Any = q.major or "K"
    comparison = diff(number, text, _arch_of(q, number), dtype=q.dtype, major=major, shape=shape, unit=unit)
    return _record("a word and a layout", tell(comparison), ok=comparison.ok)


def _two_words(q: Question, one: int, other: int) -> dict[str, Any]:
    """Two words, field by field."""
    layout = WORDS[_arch_of(q, one)]
    first, second = layout.decode(one), layout.decode(other)
    lines = [
        f"   {field.name} {span(field)}: {first[field.name]} and {second[field.name]}"
        for field in layout.fields
        if first[field.name] != second[field.name]
    ]
    if unknown := layout.unknown_bits(one) ^ layout.unknown_bits(other):
        lines.append(f"   bits that belong to no field: {word_text(unknown)}")
    same = one == other
    head = "same: the two words" if same else f"different: {word_text(one)} and {word_text(other)}"
    return _record("two words", "\n".join([head, *lines]), ok=same)


def _two_layouts(q: Question, one: str, other: str) -> dict[str, Any]:
    """Two layouts, coordinate by coordinate."""
    element = as_element_type(q.dtype)
    tiles = [explicit_tile(text, element, unit=as_unit(_unit(q, text)))[0] for text in (one, other)]
    extents = [tuple(size(mode) for mode in plain(tile)) for tile in tiles]
    if extents[0] != extents[1]:
        head = f"different: extents {extents_text(extents[0])} and {extents_text(extents[1])}"
        return _record("two layouts", head, ok=False)
    if size(plain(tiles[0])) > MOST:
        raise DescriptorError(f"explore: two layouts must have at most {MOST} elements, found {size(plain(tiles[0]))}")
    wrong = [at for at in product(*map(range, extents[0])) if _place(tiles[0], at) != _place(tiles[1], at)]
    lines = [f"{tile}" for tile in tiles]
    if not wrong:
        return _record("two layouts", "\n".join(["same: every element lies at the same place", *lines]))
    lines += [
        f"   element ({','.join(map(str, at))}): {_place(tiles[0], at)} and {_place(tiles[1], at)}" for at in wrong[:8]
    ]
    head = f"different: {len(wrong)} of {size(plain(tiles[0]))} elements lie elsewhere"
    return _record("two layouts", "\n".join([head, *lines]), ok=False)


def _place(tile: Layout | ComposedLayout, at: tuple[int, ...]) -> int:
    rows, swizzle, offset = parts(tile)
    offset_in_tile = rows(at)
    assert isinstance(offset_in_tile, int)
    return (swizzle or Swizzle(0, 4, 3))(offset + offset_in_tile)
