r"""Explain pasted text: a descriptor, a layout, output of CuTe, the DSL or Triton, or a line of a log.

Two items on two lines are compared. The functions of the public interface explain what is recognized: ``decode`` a
descriptor, ``candidates`` a layout, ``diff`` a descriptor and a layout.

>>> from descriptors.show.explorer.question import question
>>> body = {"paste": "0x4000404000010000\n(64,16):(64,1)"}
>>> paste_answer(question(body))["kind"], paste_answer(question({"paste": "0x4000404000010000"}))["kind"]
('a word and a layout', 'a word')
>>> [hex(word_in(line)) for line in ("4611756662049538048", "desc_a = 0x40004040 00010000")]
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

#: The beginning of a layout, of a tensor, or of an operation on layouts.
_LAYOUT = re.compile(r"tensor<|\S*memref<|(?:Swizzle|Sw|S)<|\w*ptr\[|\(|\d+:|\w+\(", re.ASCII)
#: A name in front of a printed value.
_LABEL = re.compile(r"\A#?[^()<>\[\]#]*?\w\s*(?::|=)\s+(?=\S)", re.ASCII)
_HEX = r"0[xX][0-9a-fA-F_']"
#: The ways to write a descriptor: as one number, as two halves with the high one first, as a decimal number.
_WHOLE = re.compile(rf"(?<![\w]){_HEX}{{9,24}}(?!\w)|(?<![\w.])[0-9a-fA-F]{{16}}(?!\w)", re.ASCII)
_HALVES = re.compile(rf"(?<!\w)({_HEX}{{8}})\W{{1,3}}({_HEX}{{8}}|[0-9a-fA-F]{{8}})(?!\w)", re.ASCII)
_HALF = r"{}\w*\W{{1,4}}(?:0[xX])?([0-9a-fA-F]{{1,8}})(?!\w)"
_LOW, _HIGH = (re.compile(_HALF.format(name), re.ASCII | re.IGNORECASE) for name in ("lo", "hi"))
_DECIMAL = re.compile(r"(?<![\w.:,(])(\d{9,20})(?:[uU]?[lL]{0,2})(?![\w.:)])", re.ASCII)
#: The largest number of elements of two layouts that are compared one by one.
MOST = 1 << 18
#: The largest number of elements of a picture of threads and values.
MOST_DRAWN = 1 << 12


def paste_answer(q: Question) -> dict[str, Any] | None:
    """Explain the pasted text of a question; None if it is empty.

    Returns:
        ``kind`` says what the text was recognized as, ``text`` is the answer, and ``use`` is the change of the question
        that shows it in the picture, if there is one.

    Raises:
        DescriptorError: if the text is not recognized, or is an invalid value of the recognized kind.
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
    if len(lines) > 2:  # CuTe prints a descriptor with one line per field
        lines = [line for line in lines if _WHOLE.search(line) or _layout_in(line)]
    words = [word for line in lines if (word := word_in(line)) is not None]
    layouts = [layout for line in lines if word_in(line) is None and (layout := _layout_in(line))]
    if not words and not layouts:
        raise DescriptorError(
            f"explore: the pasted text {brief(q.paste.strip())} is not recognized; supported: a descriptor, a layout, "
            "output of CuTe, the DSL or Triton, or two of these on two lines"
        )
    if len(words) + len(layouts) > 2:
        raise DescriptorError(
            f"explore: the pasted text has {len(words) + len(layouts)} items; supported: one item, or two on two lines"
        )
    if len(words) + len(layouts) == 1:
        return _word(q, words[0]) if words else _layout(q, layouts[0])
    if len(words) == 2:
        return _two_words(q, *words)
    return _word_and_layout(q, words[0], layouts[0]) if words else _two_layouts(q, *layouts)


def word_in(line: str) -> int | None:
    """Return the descriptor in a line, in hexadecimal, decimal or two halves; None for a layout or other text."""
    text = _LABEL.sub("", line, count=1)
    if _LAYOUT.match(text):
        return None
    low, high = _LOW.search(line), _HIGH.search(line)
    if low and high:
        return int(high[1], 16) << 32 | int(low[1], 16)
    if whole := _WHOLE.search(line):
        if whole[0][:2].casefold() != "0x":
            raise DescriptorError(f"explore: word {ambiguous_digits(whole[0])}")
        return int(re.sub("['_]", "", whole[0]), 16)
    if halves := _HALVES.search(line):
        first, second = (int(re.sub("['_]", "", half), 16) for half in halves.groups())
        # A printed array of two 32-bit halves has the low half first, which has no bits of a swizzle.
        return second << 32 | first if second >> 29 and not first >> 30 else first << 32 | second
    short = re.fullmatch(rf"{_HEX}{{1,8}}", text, re.ASCII)
    digits = _DECIMAL.search(line)
    return int(text.replace("_", "").replace("'", ""), 16) if short else int(digits[1]) if digits else None


def _layout_in(line: str) -> str:
    """Return the layout of a line, in notation that ``evaluate`` reads; "" if the line does not begin like a layout."""
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
    """Return the extents that one instruction reads; None unless the question gives them as numbers."""
    return (q.mma[0], q.mma[1]) if isinstance(q.mma, tuple) and len(q.mma) == 2 else None


def _word(q: Question, number: int) -> dict[str, Any]:
    """Decode a descriptor for the operand of the controls. Its use compares it with the tile."""
    name: Any = _arch_of(q, number)
    decoded = decode(number, name, dtype=q.dtype, major=q.major or None, shape=_shape(q))  # type: ignore[arg-type]
    use = {"word": word_text(number), "edit": {}} | ({} if name == q.arch else {"arch": name})
    return _record("a word", tell(decoded), use=use)


def _arch_of(q: Question, number: int) -> Arch:
    """Return the architecture of the controls, or sm90 if the version of the descriptor is not that of sm100."""
    if has_tcgen05(architecture(q.arch)) and number >> 46 & 7 != 1 and number >> 62:
        return "sm90"
    return architecture(q.arch)


def _unit(q: Question, text: str) -> str:
    """Return the unit of a layout: that of the controls, or "cute" for a printed pointer, whose swizzle is on bytes."""
    return "cute" if parse_pointer(text) is not None and q.unit == "elements" else q.unit


def _typed(q: Question, text: str) -> tuple[Question, dict[str, Any]]:
    """Return the question with the printed element type, if its width differs, and the change of the question."""
    pointer = parse_pointer(text)
    if pointer is None or pointer.bits == as_element_type(q.dtype).storage_bits:
        return q, {}
    dtype = next(iter(printed_types(text)), q.dtype)
    return replace(q, dtype=dtype), {"dtype": dtype}


def _layout(q: Question, text: str) -> dict[str, Any]:
    """Explain a layout: its canonical forms, and the question that derives from it, or its picture if none does."""
    text, options = options_of(text)
    if bare := re.fullmatch(r"Sw?<(\d+),(\d+),(-?\d+)>", text.replace(" ", "")):
        swizzle = Swizzle(*map(int, bare.groups()))
        return _swizzle(q, swizzle) | swizzle_drawing(swizzle, options)
    q, typed = _typed(q, text)
    unit: Any = _unit(q, text)
    try:
        tile, mode = explicit_tile(text, as_element_type(q.dtype), unit=as_unit(unit))
    except NotCanonicalError as error:  # no descriptor has this swizzle, but it can be drawn
        return _record("a layout", shortened(str(error)), ok=False) | layout_drawing(text, options)
    shape = _shape(q)
    whole = size(plain(tile), mode=[0]), size(plain(tile), mode=[1])
    if shape is None or whole[0] % shape[0] or whole[1] % shape[1]:
        shape = whole
    forms = candidates(text, q.dtype, shape=shape, arch=architecture(q.arch), unit=unit)
    head = f"layout {tile}, swizzle {mode}, {extents_text(whole)}; an operand of {extents_text(shape)}"
    usable = next((form for form in forms if form.usable), None)
    use: dict[str, Any] = {"layout": text, "unit": unit, "order": "", "mma": extents_text(shape), "cell": "0,0",
                           "word": "", "edit": {}, "stage": 0, "base": 0, **typed}  # fmt: skip
    if usable is not None:
        # A swizzle that the strides of a plain layout already contain is recognized, so it is not applied again.
        named = usable.applied or usable.swizzle is mode
        use |= {"major": str(usable.major), "swizzle": str(usable.swizzle) if named else ""}
    fits = any(form.fit is not None for form in forms)
    refused = _refused(q, use) if fits else ""
    text_ = f"{head}\n{tell(forms)}" + (f"\nno instruction reads it in this form: {refused}" if refused else "")
    usable_here = fits and not refused
    boxed = _record("a layout", text_, ok=usable_here, use=use if usable_here else None)
    return boxed if usable_here and not options else boxed | layout_drawing(text, options)


def _refused(q: Question, use: dict[str, Any]) -> str:
    """Return the reason why a changed question has no answer; "" if it has one."""
    try:
        view(question(replace(q, paste="").state() | use))
    except LayoutError as error:
        return shortened(str(error))
    return ""


def _swizzle(q: Question, swizzle: Swizzle) -> dict[str, Any]:
    """Find the swizzle mode of a swizzle, which counts bytes, as CuTe prints it, or elements."""
    shift = as_element_type(q.dtype).storage_bits.bit_length() - 4
    for unit, base in (("bytes", swizzle.base), ("elements", swizzle.base + shift)):
        for mode in SwizzleMode:
            if mode.swizzle == (Swizzle(swizzle.bits, base, swizzle.shift) if swizzle.bits else None):
                use = {"swizzle": str(mode), "layout": "", "word": "", "edit": {}}
                refused = _refused(q, use)
                said = f"{swizzle} on {unit} is the swizzle mode {mode}" + (f"; {refused}" if refused else "")
                return _record("a swizzle", said, use=None if refused else use)
    known = ", ".join(f"{mode} {mode.swizzle}" for mode in SwizzleMode if mode.swizzle)
    return _record("a swizzle", f"descriptors do not support {swizzle}; supported, on bytes: {known}", ok=False)


def _encoded(q: Question, lines: list[str]) -> dict[str, Any] | None:
    """Explain a layout encoding of another compiler, or a tiled MMA that CuTe printed; None for any other text.

    A descriptor on a line of its own is compared with the encoding. Extents that the text does not give are those of
    the controls.
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
    layout_record = _layout(q, str(encoding.layout))
    if layout_record["use"] is not None:
        layout_record["use"] |= {"dtype": q.dtype}
    return layout_record | {"kind": kind, "text": f"{encoding}\n{layout_record['text']}"}


#: A layout encoding of another compiler.
_WRITTEN = re.compile(r"#ttn?g\.|#triton|Layout\(|Transform\(|forward_thread:|transform:")


def _of_width(q: Question, encoding: Encoding) -> dict[str, Any]:
    """Return the element type of an encoding and K of the instruction, if the type of the controls is not as wide."""
    if encoding.bits is None or encoding.bits == as_element_type(q.dtype).storage_bits:
        return {}
    names = printed_types(f"tensor<ptr<{encoding.type}, smem> o 1:0>") if encoding.type else []
    names += [name for name, element in ELEMENT_TYPES.items() if element.storage_bits == encoding.bits]
    if not names:
        return {}
    k = {"mma": (q.mma[0], 256 // encoding.bits)} if isinstance(q.mma, tuple) and len(q.mma) == 2 else {}
    return {"dtype": names[0], **k}


def _owners(operand: Fragment | TiledMma) -> dict[str, Any]:
    """Draw the thread and value of each element, if there are not too many elements."""
    picture = draw(operand)
    if size(picture.layout.shape) > MOST_DRAWN:
        reason = f"not drawn: more than {MOST_DRAWN} elements; use layoutalg draw -o to draw it"
        return {"facts": "", "text": f"{operand}\n{reason}"}
    scene = picture.scene()
    shown = {
        "title": picture.title,
        "said": "T is the thread, V the value in this thread.",
        "svg": picture.svg(),
        "marks": [],
        "grids": [],
    }
    return {"picture": shown | {"width": scene.width, "height": scene.height}, "drawing": {}, "facts": str(operand)}


def _word_and_layout(q: Question, number: int, text: str) -> dict[str, Any]:
    """Compare a descriptor with a layout, element by element."""
    q, _ = _typed(q, text)
    unit: Any = _unit(q, text)
    tile, _ = explicit_tile(text, as_element_type(q.dtype), unit=as_unit(unit))
    shape, whole = _shape(q), (size(plain(tile), mode=[0]), size(plain(tile), mode=[1]))
    if shape is not None and (whole[0] % shape[0] or whole[1] % shape[1]):
        shape = None
    major: Any = q.major or "K"
    comparison = diff(number, text, _arch_of(q, number), dtype=q.dtype, major=major, shape=shape, unit=unit)
    return _record("a word and a layout", tell(comparison), ok=comparison.ok)


def _two_words(q: Question, first_word: int, second_word: int) -> dict[str, Any]:
    """Compare two descriptors, field by field."""
    layout = smem_word(_arch_of(q, first_word))
    first, second = layout.decode(first_word), layout.decode(second_word)
    lines = [
        f"   {field.name} {span(field)}: {first[field.name]} and {second[field.name]}"
        for field in layout.fields
        if first[field.name] != second[field.name]
    ]
    if unknown := layout.unknown_bits(first_word) ^ layout.unknown_bits(second_word):
        lines.append(f"   bits outside of all fields: {word_text(unknown)}")
    same = first_word == second_word
    head = "same: the two descriptors" if same else f"different: {word_text(first_word)} and {word_text(second_word)}"
    return _record("two words", "\n".join([head, *lines]), ok=same)


def _two_layouts(q: Question, first_text: str, second_text: str) -> dict[str, Any]:
    """Compare two layouts, coordinate by coordinate."""
    element = as_element_type(q.dtype)
    tiles = [explicit_tile(text, element, unit=as_unit(_unit(q, text)))[0] for text in (first_text, second_text)]
    extents = [tuple(size(mode) for mode in plain(tile)) for tile in tiles]
    if extents[0] != extents[1]:
        head = f"different: extents {extents_text(extents[0])} and {extents_text(extents[1])}"
        return _record("two layouts", head, ok=False)
    if size(plain(tiles[0])) > MOST:
        raise DescriptorError(
            f"explore: the two layouts have {size(plain(tiles[0]))} elements, but at most {MOST} are compared"
        )
    places = {
        coordinate: tuple(_place(tile, coordinate) for tile in tiles) for coordinate in product(*map(range, extents[0]))
    }
    wrong = [coordinate for coordinate, (first, second) in places.items() if first != second]
    lines = [f"{tile}" for tile in tiles]
    if not wrong:
        return _record("two layouts", "\n".join(["same: every element has the same address", *lines]))
    lines += [
        "   element ({}): {} and {}".format(",".join(map(str, coordinate)), *places[coordinate])
        for coordinate in wrong[:8]
    ]
    head = f"different: {len(wrong)} of {size(plain(tiles[0]))} elements have different addresses"
    return _record("two layouts", "\n".join([head, *lines]), ok=False)


def _place(tile: Layout | ComposedLayout, coordinate: tuple[int, ...]) -> int:
    rows, swizzle, offset = parts(tile)
    offset_in_tile = rows(coordinate)
    assert isinstance(offset_in_tile, int)
    return (swizzle or Swizzle(0, 4, 3))(offset + offset_in_tile)
