"""Parse and check the questions of a page. A question is a flat record of texts and numbers, and the state of the page.

A key that is left out has the value of the first example, a 128 x 128 bf16 tile, K-major, 128B. A tile is derived once
for all questions about it, so that the answer to a click is quick. The fields of the chosen subtile's descriptor can be
changed; a changed descriptor is compared with the tile, element by element.

Invariants: the record of a question parses to an equal question. Questions about one operand share one derivation.

>>> question({"tile": "128x64", "cell": "11,21"}).cell, question({}).tile
((11, 21), (128, 128))
>>> record_of_page = {"tile": "64x64x2", "dtype": "tf32", "mma": "64x8", "cell": [9, 40], "slot": 3}
>>> question(question(record_of_page).state()) == question(record_of_page)
True
>>> derivation(question({"cell": "3,4"})) is derivation(question({"colour": "bank"}))
True
>>> from descriptors import derive
>>> seen = View(derive((128, 128), "bf16", "K", "128B", (64, 16)), cell=(70, 21))
>>> edited_word(seen, question({})), hex(edited_word(seen, question({"edit": {"stride_byte_offset": "512"}})))
(None, '0x4000402000010202')
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from descriptors.answers import record, tell
from descriptors.errors import ChoiceError, DescriptorError, LayoutError, brief
from descriptors.show.stages.view import View, misread
from descriptors.smem.debug.decode import decode
from descriptors.smem.debug.diff import Diff, diff
from descriptors.smem.derivation.arguments import ARGUMENTS, names
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.derivation.derive import derive
from descriptors.smem.derivation.proved import Proof, proved
from descriptors.smem.derivation.verdict import judge
from descriptors.smem.operands.explicit import base_of
from descriptors.smem.operands.operand import major_of
from descriptors.smem.words.bitfield import Field, span
from descriptors.smem.words.descriptor import smem_word
from descriptors.text import counted, word_text
from layoutalg import Layout, evaluate
from layoutalg.frozen import frozen
from layoutalg.messages import shortened

#: The parts of an answer, in the order in which a page shows them.
PARTS = ("told", "proof", "stage", "inspector", "code", "story", "edited", "pasted", "links")
#: The parts of an answer if the question has no ``want``.
FIRST = ("told", "proof", "stage", "inspector")
TABS = ("tile", "memory", "atom", "banks", "tensor", "registers")
#: The largest number of characters of a text.
LONGEST = 20_000


@frozen
class Question:
    """A question of a page: the arguments of ``derive`` and of the pictures.

    Args:
        tile, dtype, major, swizzle, mma, order, arch, operand, layout, unit, base: as in ``derive``; a layout that is
            not empty replaces the tile.
        stage: the stage of the tile.
        cell: the chosen element.
        tab: one of ``TABS``.
        colour, levels, swizzled, banks, bank_bytes, slot, access, access_bytes, lanes, across, load, lying:
            as in ``stages.view.View``; ``slot`` -1 is none, ``lanes`` is the notation of a layout.
        word: a descriptor in hexadecimal that replaces that of the chosen subtile; "" for none.
        edit: changed fields of the descriptor, with their new values as texts.
        paste: the pasted text.
    """

    tile: tuple[int, ...] = (128, 128)
    dtype: str = "bf16"
    major: str = "K"
    swizzle: str = "128B"
    mma: tuple[int, ...] | str = (64, 16)
    order: tuple[int, ...] = ()
    arch: str = "sm100"
    operand: str = ""
    layout: str = ""
    unit: str = "elements"
    base: int = 0
    stage: int = 0
    cell: tuple[int, ...] = (0, 0)
    tab: str = "tile"
    colour: str = "column"
    levels: str = "tile,atom"
    swizzled: bool = True
    banks: int = 32
    bank_bytes: int = 4
    slot: int = -1
    access: str = "chunk"
    access_bytes: int = 16
    lanes: str = ""
    across: int = 64
    load: str = "32x32b"
    lying: str = "accumulator"
    word: str = ""
    edit: tuple[tuple[str, str], ...] = ()
    paste: str = ""

    def state(self) -> dict[str, Any]:
        """Return the values that differ from the first example, as plain data for an address."""
        record: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value == field.default:
                continue
            if field.name == "edit":
                record["edit"] = dict(value)
            elif field.name in _EXTENTS and isinstance(value, tuple):
                record[field.name] = ("x" if field.name in ("tile", "mma") else ",").join(map(str, value))
            else:
                record[field.name] = value
        return record


#: The keys that are arguments of ``derive``, and the keys that are typed as ``128x64`` or ``1,0``.
OPERAND = tuple(field.name for field in fields(Question) if field.name in (*names("reader"), *names("request")))
_EXTENTS = (*(name for name in OPERAND if ARGUMENTS[name].is_list), "cell")
_NUMBERS = ("base", "stage", "banks", "bank_bytes", "slot", "access_bytes", "across")


def question(body: object) -> Question:
    """Parse a question.

    Args:
        body: a record with keys of ``Question``. The values are texts as a person types them (``"128x64"``,
            ``"0x400"``), or numbers and lists. ``want`` and ``known`` are allowed too; they say how to answer.

    Raises:
        DescriptorError: if it is not a record, or has an unknown key, a value of the wrong type, or a too long text.

    >>> try:
    ...     question({"tile": [128, "x"]})
    ... except DescriptorError as error:
    ...     print(error)
    explore: tile is [128, 'x'], which is not 1 to 4 numbers such as 128x64
    """
    if not isinstance(body, Mapping):
        raise DescriptorError(f"explore: the question is {brief(body)}, which is not a JSON object")
    known = [field.name for field in fields(Question)]
    values: dict[str, Any] = {}
    for key, value in body.items():
        if key in ("want", "known"):
            continue
        if key not in known:
            raise ChoiceError("explore: a key of a question", key, known)
        values[key] = _value(key, value)
    parsed = Question(**values)
    if parsed.tab not in TABS:
        raise ChoiceError("explore: tab", parsed.tab, TABS)
    return parsed


def requested_parts(record: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the parts of the answer that a record asks for.

    Raises:
        DescriptorError: if there is no such part.

    >>> requested_parts({"want": ["code"]}), requested_parts({})
    (('code',), ('told', 'proof', 'stage', 'inspector'))
    """
    want = record.get("want", FIRST)
    if not isinstance(want, (list, tuple)) or len(want) > len(PARTS):
        raise DescriptorError(f"explore: want is {brief(want)}, which is not a list of up to {len(PARTS)} parts")
    for part in want:
        if part not in PARTS:
            raise ChoiceError("explore: a part", part, PARTS)
    return tuple(want)


def _value(key: str, value: object) -> Any:
    if key in _EXTENTS:
        return _numbers(key, value)
    if key in _NUMBERS:
        return _number(key, value)
    if key == "swizzled":
        return _flag(key, value)
    if key == "edit":
        return _edits(value)
    return _text(key, value)


def _text(key: str, value: object) -> str:
    if not isinstance(value, str):
        raise DescriptorError(f"explore: {key} is {brief(value)}, which is not a text")
    if len(value) > LONGEST:
        raise DescriptorError(f"explore: {key} has {len(value)} characters, but the maximum is {LONGEST}")
    return value


def _number(key: str, value: object) -> int:
    if isinstance(value, str) and re.fullmatch(r"-?(0[xX][0-9a-fA-F]{1,16}|\d{1,18})", value.strip(), re.ASCII):
        return int(value, 0 if "x" in value.casefold() else 10)
    if isinstance(value, bool) or not isinstance(value, int):
        raise DescriptorError(f"explore: {key} is {brief(value)}, which is not an integer of up to 18 digits")
    return value


def _numbers(key: str, value: object) -> Any:
    if isinstance(value, str):
        text = value.strip().casefold()
        if not text and key in ("order", "mma"):
            return ()
        if key == "mma" and re.fullmatch(r"m\d{1,9}n\d{1,9}k\d{1,9}", text, re.ASCII):
            return text
        value = [int(digits) for digits in re.split("[x, ]+", text)] if _NUMBERS_TEXT.fullmatch(text) else value
    like = "128x64" if key in ("tile", "mma") else "1,0"
    fewest = 0 if key in ("order", "mma") else 1
    if not isinstance(value, (list, tuple)) or not fewest <= len(value) <= 4 or not all(map(_is_extent, value)):
        raise DescriptorError(f"explore: {key} is {brief(value)}, which is not {fewest} to 4 numbers such as {like}")
    if key == "cell" and len(value) != 2:
        raise DescriptorError(f"explore: cell is {brief(value)}, which is not two numbers (MN, K)")
    return tuple(value)


def _is_extent(value: object) -> bool:
    return type(value) is int and 0 <= value < 10**9


_NUMBERS_TEXT = re.compile(r"\d{1,9}([x, ]+\d{1,9}){0,3}", re.ASCII)


def _flag(key: str, value: object) -> bool:
    known = {"1": True, "true": True, "0": False, "false": False}
    flag = known.get(str(value).casefold()) if isinstance(value, (str, int)) else None
    if flag is None:
        raise DescriptorError(f"explore: {key} is {brief(value)}, which is not true or false")
    return flag


def _edits(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping) or len(value) > 16:
        raise DescriptorError(
            f"explore: edit is {brief(value)}, which is not a JSON object of up to 16 fields and values"
        )
    edits = ((_text("a field", name), _text(f"edit of {name}"[:60], text)) for name, text in value.items())
    return tuple(sorted(edits))


def own_word(view: View) -> int:
    """Return the descriptor of the subtile that contains the chosen element."""
    return view.derivation.word(*view.subtile, view.stage, view.base)


def edited_word(view: View, q: Question) -> int | None:
    """Return the descriptor with the changes of a question; None if there are no changes.

    Raises:
        DescriptorError: if the descriptor is not a number, or a field cannot store its value.
    """
    if not q.word.strip() and not q.edit:
        return None
    number = _word(q.word) if q.word.strip() else own_word(view)
    layout = view.derivation.descriptor.word
    for name, text in q.edit:
        field = layout[name]
        number = number & ~field.mask | field.store(_typed_value(field, text), layout.name) << field.low
    return number


def word_fields(view: View, word: int) -> list[dict[str, Any]]:
    """Return the fields of a descriptor, lowest first: name, bits, value, meaning and choices.

    >>> from descriptors import derive
    >>> first_view = View(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    >>> [(field["name"], field["value"]) for field in word_fields(first_view, own_word(first_view))][1:3]
    [('leading_byte_offset', 16), ('stride_byte_offset', 1024)]
    """
    d = view.derivation
    read = decode(word, d.arch, dtype=d.element, major=d.major, shape=d.mma)
    texts = record(read)
    return [
        {
            "name": field.name,
            "low": field.low,
            "bits": field.bits,
            "span": span(field),
            "unit": field.unit,
            "value": texts["fields"][field.name],
            "stored": texts["stored"][field.name],
            "meaning": texts["meanings"][field.name],
            "idle": field.name in d.dont_care,
            "choices": [str(meaning) for meaning, _ in field.codes],
        }
        for field in read_fields(d.arch)
    ]


def read_fields(arch: str) -> tuple[Field, ...]:
    """Return the fields of the descriptor of an architecture."""
    return smem_word(arch).fields


def comparison(view: View) -> dict[str, Any] | None:
    """Compare the changed descriptor with the chosen subtile; None if the descriptor was not changed."""
    if view.word is None:
        return None
    words = {"word": word_text(view.word), "own": word_text(own_word(view)), "fields": word_fields(view, view.word)}
    try:
        compared_word = difference(view, view.word)
    except LayoutError as error:  # no instruction reads this descriptor
        why = shortened(str(error))
        return words | {"ok": False, "tone": "bad", "warnings": [], "verdict": f"WRONG: {why}", "text": why}
    placed, line = judge(view.derivation, view.base), verdict(compared_word)
    agrees = not compared_word.differing
    with_tile = agrees and not compared_word.pattern_assumed
    warned = not compared_word.ok or bool((with_tile and placed.warnings) or compared_word.warnings)
    return words | {
        "ok": compared_word.ok,
        "tone": ("warn" if warned else "good") if agrees else "bad",
        "verdict": f"{line} (read model: {placed.evidence})" if compared_word.ok else line,
        "warnings": tuple(dict.fromkeys((*(placed.warnings if with_tile else ()), *map(str, compared_word.warnings)))),
        "headline": compared_word.headline,
        "text": tell(compared_word),
        "wrong": misread(view)[:64] if compared_word.mismatches else [],
        "differing": compared_word.differing,
        **{key: record(compared_word)[key] for key in ("right_word", "changes", "reason", "illegal")},
    }


def verdict(compared_word: Diff) -> str:
    """Return the verdict on a descriptor: the number of elements read from a wrong address, and what to change.

    >>> from descriptors import derive
    >>> first_view = View(derive((128, 128), "bf16", "K", "128B", (64, 16)))
    >>> verdict(difference(first_view, own_word(first_view) - (512 // 16 << 32)))
    'WRONG: 896 of 1024 elements; change stride_byte_offset 512 -> 1024'
    """
    elements = counted(compared_word.shape[0] * compared_word.shape[1], "element")
    if not compared_word.differing:
        if compared_word.open_questions:
            return f"undecided: all {elements} agree, but {compared_word.doubt}"
        assumed = f"; assumed: a swizzle pattern starts at {compared_word.pattern_start:#x}"
        return f"right: all {elements}{assumed if compared_word.pattern_assumed else ''}"
    change = f"change {', '.join(map(str, compared_word.changes))}" if compared_word.changes else compared_word.reason
    moved = any(one.field in ("start_address", "base_offset") for one in compared_word.changes)
    of = f" for a tile at {compared_word.base:#x}" if moved else ""
    return f"WRONG{of}: {compared_word.differing} of {elements}{'; ' if change else ''}{change}"


def difference(view: View, word: int) -> Diff:
    """Compare a descriptor with the chosen subtile of the tile.

    The swizzle pattern starts at the tile, as in the descriptor of the tile, or at address 0 if the descriptor agrees
    only with that.
    """
    compared = _difference(view, word, view.base)
    if compared.differing and view.base:
        assumed = _difference(view, word, None)
        return compared if assumed.differing else assumed
    return compared


def _difference(view: View, word: int, pattern_start: int | None) -> Diff:
    d = view.derivation
    return diff(
        word, d.smem_tile, d.arch, dtype=d.element, major=d.major, shape=d.mma,
        subtile=(*view.subtile, *view.anatomy.stage_coordinate), base=view.base, pattern_start=pattern_start,
    )  # fmt: skip


def is_pattern_assumed(view: View, word: int) -> bool:
    """Whether a word agrees with the chosen subtile only if the swizzle pattern starts at address 0."""
    try:
        return difference(view, word).pattern_assumed
    except LayoutError:  # a word that no instruction reads
        return False


def _word(text: str) -> int:
    digits = re.fullmatch(r"0[xX][0-9a-fA-F_']{1,24}", text.strip(), re.ASCII)
    if digits is None:
        raise DescriptorError(
            f"explore: word is {brief(text)}, which is not a hexadecimal number such as 0x4000404000010000"
        )
    return int(re.sub("['_]", "", digits[0]), 16)


def _typed_value(field: Field, text: str) -> Any:
    """Parse the value of a field as it was typed."""
    if field.codes:
        return next((meaning for meaning, _ in field.codes if str(meaning) == text.strip()), text)
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|\d{1,18}", text.strip(), re.ASCII):
        raise DescriptorError(
            f"explore: {field.name} is {brief(text)}, which is not a non-negative integer of up to 18 digits"
        )
    return int(text, 16 if "x" in text.casefold() else 10)


def derivation(q: Question) -> Derivation:
    """Return the derivation of the tile, without verifying it.

    Raises:
        DescriptorError: as ``derive``.
        LayoutError: if a layout is wrong.
    """
    return _derivation_of(*(getattr(q, name) for name in OPERAND))


@lru_cache(maxsize=32)
def _derivation_of(*values: Any) -> Derivation:
    arguments = dict(zip(OPERAND, values, strict=True))
    explicit = bool(arguments["layout"].strip())
    for name in OPERAND:
        if ARGUMENTS[name].default is None and not ARGUMENTS[name].required:
            arguments[name] = arguments[name] or None  # an empty text means that the argument is left out
    if explicit:
        arguments |= {"tile": None, "order": None}
    else:
        arguments |= {"layout": None, "unit": "elements", "major": major_of(arguments["swizzle"], arguments["major"])}
    return derive(**arguments, verify=False)


def base(q: Question) -> int:
    """Return the address of the tile: that of the question, else of the pointer that CuTe printed, else 0."""
    return q.base or (base_of(q.layout) or 0 if q.layout else 0)


@lru_cache(maxsize=32)
def proof(d: Derivation, address: int) -> Proof:
    """Verify every element of a derivation whose tile is at an address; the result includes what the theorem covers."""
    return proved(d, base=address, walk=True)


def view(q: Question) -> View:
    """Return the view of a question: the tile, the chosen element and the options of its pictures.

    Raises:
        DescriptorError: as ``View``.
        LayoutError: if the lanes are not a layout.
    """
    d, address = derivation(q), base(q)
    if address:
        proved(d, base=address)  # refuses an address at which the tile cannot be, as ``descriptors derive`` does
    mn, k = q.cell
    tile_view = View(
        d,
        cell=(mn, k),
        stage=q.stage,
        base=address,
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
        lying=q.lying,
    )
    word = edited_word(tile_view, q)
    return tile_view if word is None else replace(tile_view, word=word)


def _lanes(text: str) -> Layout | None:
    if not text.strip():
        return None
    lanes = evaluate(text)
    if not isinstance(lanes, Layout):
        raise DescriptorError(f"explore: lanes is {lanes}, which is not a layout (threads, values)")
    return lanes
