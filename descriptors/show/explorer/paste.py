"""The box that takes what people have: a word, a layout, what CuTe, the DSL or Triton printed, a line of a log.

Two things stand on two lines, and are compared. Law: what is recognised is told by the engine's own function for it: a
word by ``decode``, a layout by ``match`` and ``candidates``, a word and a layout by ``diff``.

>>> from descriptors.show.explorer.question import question
>>> body = {"paste": "0x4000404000010000\\n(64,16):(64,1)"}
>>> paste_answer(question(body))["kind"], paste_answer(question({"paste": "0x4000404000010000"}))["kind"]
('a word and a layout', 'a word')
>>> [hex(word_in(one)) for one in ("4611756662049538048", "desc_a = 0x40004040 00010000")]
['0x4000404000010000', '0x4000404000010000']
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any

from descriptors.answers import tell
from descriptors.errors import DescriptorError, LayoutError, NotCanonicalError, brief
from descriptors.show.explorer.drawn import TILED_COPY, copy_drawing, layout_drawing, options_of, swizzle_drawing
from descriptors.show.explorer.question import Question, question, view
from descriptors.smem.debug.candidates import candidates
from descriptors.smem.debug.decode import decode
from descriptors.smem.debug.diff import diff
from descriptors.smem.operands.explicit import as_unit, explicit_tile, printed_types
from descriptors.smem.operands.operand import ELEMENT_TYPES, SwizzleMode, as_element_type
from descriptors.smem.operands.swizzled import parts, plain
from descriptors.smem.words.bitfield import span
from descriptors.smem.words.descriptor import Arch, architecture, smem_word
from descriptors.targets import has_tcgen05
from descriptors.text import ambiguous_digits, extents_text, word_text
from layoutalg import (
    ComposedLayout,
    Encoding,
    Fragment,
    Layout,
    Swizzle,
    TiledMma,
    draw,
    evaluate,
    parse_encoding,
    parse_pointer,
    size,
)
from layoutalg.frozen import replace
from layoutalg.messages import shortened

#: What a layout or a tensor begins with, or an operation on layouts.
_LAYOUT = re.compile(r"tensor<|\S*memref<|(?:Swizzle|Sw|S)<|\w*ptr\[|\(|\d+:|\w+\(", re.ASCII)
#: A name before what was printed.
_LABEL = re.compile(r"\A#?[^()<>\[\]#]*?\w\s*(?::|=)\s+(?=\S)", re.ASCII)
_HEX = r"0[xX][0-9a-fA-F_']"
#: Words as people write them: whole, in two halves, the high one first, as a decimal number.
_WHOLE = re.compile(rf"(?<![\w]){_HEX}{{9,24}}(?!\w)|(?<![\w.])[0-9a-fA-F]{{16}}(?!\w)", re.ASCII)
_HALVES = re.compile(rf"(?<!\w)({_HEX}{{8}})\W{{1,3}}({_HEX}{{8}}|[0-9a-fA-F]{{8}})(?!\w)", re.ASCII)
_HALF = r"{}\w*\W{{1,4}}(?:0[xX])?([0-9a-fA-F]{{1,8}})(?!\w)"
_LOW, _HIGH = (re.compile(_HALF.format(name), re.ASCII | re.IGNORECASE) for name in ("lo", "hi"))
_DECIMAL = re.compile(r"(?<![\w.:,(])(\d{9,20})(?:[uU]?[lL]{0,2})(?![\w.:)])", re.ASCII)
#: The most elements of two layouts that are compared one by one.
MOST = 1 << 18
#: The most elements of a picture of threads and values.
MOST_DRAWN = 1 << 12


def paste_answer(q: Question) -> dict[str, Any] | None:
    """What the text of the box is, told; None where it is empty.

    Returns:
        ``kind`` says what it was taken for, ``text`` is the engine's answer, ``use`` the change of the question that
        shows it on the stage, if there is one.

    Raises:
        DescriptorError: if it is nothing that the engine knows; the errors of what it was taken for.
        LayoutError: likewise.
    """
    lines = [line.strip() for line in q.paste.strip().splitlines() if line.strip()]
    if not lines:
        return None
    if TILED_COPY.search(q.paste):
        copy, drawing = copy_drawing(q.paste, as_element_type(q.dtype).storage_bits)
        return _record("a tiled copy", str(copy)) | drawing
    joined = " ".join(lines)
    if (encoded := _encoded(q, lines)) is not None:
        return encoded
    if len(lines) == 2 and (_HALVES.fullmatch(joined) or (_LOW.search(joined) and _HIGH.search(joined))):
        lines = [joined]
    if len(lines) > 2:  # what CuTe prints of a word has a line for each field
        lines = [line for line in lines if _WHOLE.search(line) or _layout_in(line)]
    words = [word for line in lines if (word := word_in(line)) is not None]
    layouts = [layout for line in lines if word_in(line) is None and (layout := _layout_in(line))]
    if not words and not layouts:
        raise DescriptorError(
            "explore: paste must be a word, a layout, what CuTe, the DSL or Triton printed, or two of these on two "
            f"lines, found {brief(q.paste.strip())}"
        )
    if len(words) + len(layouts) > 2:
        found = len(words) + len(layouts)
        raise DescriptorError(f"explore: paste must be one thing, or two on two lines, found {found}")
    if len(words) + len(layouts) == 1:
        return _word(q, words[0]) if words else _layout(q, layouts[0])
    if len(words) == 2:
        return _two_words(q, *words)
    return _word_and_layout(q, words[0], layouts[0]) if words else _two_layouts(q, *layouts)


def word_in(line: str) -> int | None:
    """The word that a line holds: in hexadecimal, decimal, or two halves; None if it is a layout, or holds none."""
    text = _LABEL.sub("", line, count=1)
    if _LAYOUT.match(text):
        return None
    low, high = _LOW.search(line), _HIGH.search(line)
    if low and high:
        return int(high[1], 16) << 32 | int(low[1], 16)
    if whole := _WHOLE.search(line):
        if whole[0][:2].casefold() != "0x":
            raise DescriptorError(f"explore: a word {ambiguous_digits(whole[0])}")
        return int(re.sub("['_]", "", whole[0]), 16)
    if halves := _HALVES.search(line):
        first, second = (int(re.sub("['_]", "", half), 16) for half in halves.groups())
        # An array of two words of 32 bits has the low one first: the one without the bits of a swizzle.
        return second << 32 | first if second >> 29 and not first >> 30 else first << 32 | second
    short = re.fullmatch(rf"{_HEX}{{1,8}}", text, re.ASCII)
    digits = _DECIMAL.search(line)
    return int(text.replace("_", "").replace("'", ""), 16) if short else int(digits[1]) if digits else None


def _layout_in(line: str) -> str:
    """The layout of a line, in notation that the engine reads; "" if nothing in it looks like one."""
    text = _LABEL.sub("", line, count=1)
    if not _LAYOUT.match(text):
        return ""
    text = text.replace("Swizzle<", "Sw<")
    if typed := re.match(r'\S*?memref<(\w+), *smem(.*?), *"([^"]+)".*', text):
        return f"tensor<ptr<{typed[1]}, smem{typed[2]}> o {typed[3]}>"
    return text


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
    if has_tcgen05(architecture(q.arch)) and number >> 46 & 7 != 1 and number >> 62:
        return "sm90"
    return architecture(q.arch)


def _unit(q: Question, text: str) -> str:
    """What a layout counts: as the controls say, but for what CuTe printed, whose swizzle is on bytes."""
    return "cute" if parse_pointer(text) is not None and q.unit == "elements" else q.unit


def _typed(q: Question, text: str) -> tuple[Question, dict[str, Any]]:
    """A question with the element type of what was printed, where that is another, and the change of it."""
    pointer = parse_pointer(text)
    if pointer is None or pointer.bits == as_element_type(q.dtype).storage_bits:
        return q, {}
    dtype = next(iter(printed_types(text)), q.dtype)
    return replace(q, dtype=dtype), {"dtype": dtype}


def _layout(q: Question, text: str) -> dict[str, Any]:
    """A layout: which forms it has, and the question that derives from it; its picture where none does."""
    text, options = options_of(text)
    if bare := re.fullmatch(r"Sw?<(\d+),(\d+),(-?\d+)>", text.replace(" ", "")):
        swizzle = Swizzle(*map(int, bare.groups()))
        return _swizzle(q, swizzle) | swizzle_drawing(swizzle, options)
    q, typed = _typed(q, text)
    unit: Any = _unit(q, text)
    try:
        tile, mode = explicit_tile(text, as_element_type(q.dtype), unit=as_unit(unit))
    except NotCanonicalError as error:  # a swizzle that no descriptor has is drawn all the same
        return _record("a layout", shortened(str(error)), ok=False) | layout_drawing(text, options)
    shape = _shape(q)
    whole = size(plain(tile), mode=[0]), size(plain(tile), mode=[1])
    if shape is None or whole[0] % shape[0] or whole[1] % shape[1]:
        shape = whole
    forms = candidates(text, q.dtype, shape=shape, arch=architecture(q.arch), unit=unit)
    head = f"layout {tile}, swizzle {mode}, {extents_text(whole)}; an operand of {extents_text(shape)}"
    usable = next((one for one in forms if one.usable), None)
    use: dict[str, Any] = {"layout": text, "unit": unit, "order": "", "mma": extents_text(shape), "cell": "0,0",
                           "word": "", "edit": {}, "stage": 0, "base": 0, **typed}  # fmt: skip
    if usable is not None:
        # A swizzle that is hidden in the strides of a plain layout is found again, and not applied to it.
        named = usable.applied or usable.swizzle is mode
        use |= {"major": str(usable.major), "swizzle": str(usable.swizzle) if named else ""}
    fits = any(one.fit is not None for one in forms)
    refused = _refused(q, use) if fits else ""
    text_ = f"{head}\n{tell(forms)}" + (f"\nno instruction reads it so: {refused}" if refused else "")
    usable_here = fits and not refused
    boxed = _record("a layout", text_, ok=usable_here, use=use if usable_here else None)
    return boxed if usable_here and not options else boxed | layout_drawing(text, options)


def _refused(q: Question, use: dict[str, Any]) -> str:
    """Why a change of a question has no answer; "" if it has one."""
    try:
        view(question(replace(q, paste="").state() | use))
    except LayoutError as error:
        return shortened(str(error))
    return ""


def _swizzle(q: Question, swizzle: Swizzle) -> dict[str, Any]:
    """A swizzle alone: the mode that it is, counted in bytes as CuTe prints it, or in elements."""
    shift = as_element_type(q.dtype).storage_bits.bit_length() - 4
    for unit, base in (("bytes", swizzle.base), ("elements", swizzle.base + shift)):
        for mode in SwizzleMode:
            if mode.swizzle == (Swizzle(swizzle.bits, base, swizzle.shift) if swizzle.bits else None):
                use = {"swizzle": str(mode), "layout": "", "word": "", "edit": {}}
                refused = _refused(q, use)
                said = f"{swizzle} on {unit} is the swizzle mode {mode}" + (f"; {refused}" if refused else "")
                return _record("a swizzle", said, use=None if refused else use)
    known = ", ".join(f"{mode} {mode.swizzle}" for mode in SwizzleMode if mode.swizzle)
    return _record("a swizzle", f"{swizzle} is none that a descriptor has: on bytes {known}", ok=False)


def _encoded(q: Question, lines: list[str]) -> dict[str, Any] | None:
    """What another compiler wrote, or a tiled MMA that CuTe printed; None of anything else.

    A word on a line of its own is compared with it. Where the text says no extents, they are those of the controls.
    """
    words = [line for line in lines if not _WRITTEN.search(line) and word_in(line) is not None]
    text = "\n".join(line for line in lines if line not in words)
    if text.startswith("Tiled") and isinstance(tiled := evaluate(text), TiledMma):
        return _record("a tiled MMA", str(tiled)) | _owners(tiled)
    encoding = parse_encoding(text, q.tile[:2]) if _WRITTEN.search(text) else None
    if encoding is None:
        return None
    kind = f"an encoding of {encoding.compiler}"
    if encoding.space == "rmem":
        return _record(kind, str(encoding)) | _owners(encoding.fragment())
    if encoding.space == "tmem" or len(encoding.shape) != 2:
        return _record(kind, str(encoding))
    typed = _of_width(q, encoding)
    q = replace(q, unit="elements", **typed)
    if len(words) == 1:
        return _word_and_layout(q, int(word_in(words[0]) or 0), str(encoding.layout))
    found = _layout(q, str(encoding.layout))
    if found["use"] is not None:
        found["use"] |= {"dtype": q.dtype}
    return found | {"kind": kind, "text": f"{encoding}\n{found['text']}"}


#: What another compiler writes.
_WRITTEN = re.compile(r"#ttn?g\.|#triton|Layout\(|Transform\(|forward_thread:|transform:")


def _of_width(q: Question, encoding: Encoding) -> dict[str, Any]:
    """The element type of an encoding, where that of the controls is not as wide, and the instruction's K with it."""
    if encoding.bits is None or encoding.bits == as_element_type(q.dtype).storage_bits:
        return {}
    names = printed_types(f"tensor<ptr<{encoding.type}, smem> o 1:0>") if encoding.type else []
    names += [name for name, one in ELEMENT_TYPES.items() if one.storage_bits == encoding.bits]
    if not names:
        return {}
    k = {"mma": (q.mma[0], 256 // encoding.bits)} if isinstance(q.mma, tuple) and len(q.mma) == 2 else {}
    return {"dtype": names[0], **k}


def _owners(what: Fragment | TiledMma) -> dict[str, Any]:
    """Who holds what, as a picture, where it is not too large for one."""
    picture = draw(what)
    if size(picture.layout.shape) > MOST_DRAWN:
        return {"facts": "", "text": f"{what}\nnot drawn: more than {MOST_DRAWN} elements; layoutalg draw -o has it"}
    scene = picture.scene()
    shown = {
        "title": picture.title,
        "said": "T is a thread, V its value.",
        "svg": picture.svg(),
        "marks": [],
        "grids": [],
    }
    return {"picture": shown | {"width": scene.width, "height": scene.height}, "drawing": {}, "facts": str(what)}


def _word_and_layout(q: Question, number: int, text: str) -> dict[str, Any]:
    """A word against a layout, element by element."""
    q, _ = _typed(q, text)
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
    layout = smem_word(_arch_of(q, one))
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
