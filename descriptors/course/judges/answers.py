"""Parse answers of students: a layout, numbers, 64-bit words, several short answers.

Invariant: characters of other keyboards and a remark do not matter; words around the answer are removed if they do not
change it.

>>> plain("（４，８）：（８，１）  # by hand"), without_prose("I think it is 8:1, because a fits.")
('(4,8):(8,1)', '8:1')
>>> [without_prose(text) for text in ("not 8:1", "twice 8", "8 or 16", "the inverse of 8:1")]
[None, None, None, None]

Invariant: the separators between numbers do not matter.

>>> integers_of("(0, 2, 0x10)"), integers_of("0;2 16"), integers_of("size 32 and cosize 38"), parts_of("yes, no;yes")
((0, 2, 16), (0, 2, 16), (32, 38), ('yes', 'no', 'yes'))
>>> print(layout_of("(4,8):(8,1)"))
(4,8):(8,1)
"""

from __future__ import annotations

import re
import unicodedata

import layoutalg
from descriptors.errors import DescriptorError
from layoutalg import ComposedLayout, Layout, evaluate, law_names

#: Characters of other keyboards and of word processors, and what they stand for.
_TYPED = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u2032\u00b4", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u3008\u27e8\u2329", "<"),
        **dict.fromkeys("\u3009\u27e9\u232a", ">"),
        **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad"),
        "\u2236": ":",
        "\ua789": ":",
        "\u2218": " o ",
        "\u3001": ",",
        "\u3002": ".",
    }
)
#: Compatibility characters that do not mean the plain one: 2 to the power of 3 is not 23.
_RAISED = ("<super>", "<sub>", "<fraction>", "<circle>", "<square>")
_REMARK = re.compile(r"(?:#|//)[^\n]*")


def plain_characters(text: str) -> str:
    """Return a text with the plain forms of characters.

    >>> plain_characters("\u201c４:1\u201d"), plain_characters("2\u00b3")
    ('"4:1"', '2\u00b3')
    """
    raised = {c for c in set(text) if unicodedata.decomposition(c).startswith(_RAISED)}
    return "".join(c if c in raised else unicodedata.normalize("NFKC", c) for c in text).translate(_TYPED)


def plain(text: str) -> str:
    """Return a text with plain characters, without remarks after ``#`` or ``//``."""
    return _REMARK.sub("", plain_characters(text)).strip()


def layout_of(text: str) -> Layout | ComposedLayout:
    """Return the layout of an expression of the algebra.

    Raises:
        DescriptorError: if the value is not a layout.
        LayoutError: if the text cannot be parsed.
    """
    value = evaluate(text)
    if not isinstance(value, (Layout, ComposedLayout)):
        raise DescriptorError(f"answer: {text} is not a layout, such as (4,8):(8,1)")
    return value


#: Functions that may occur in an answer: the constructors of layouts and swizzles.
_CONSTRUCTORS = ("Layout", "make_layout", "Swizzle", "make_swizzle", "ComposedLayout", "make_composed_layout", "o")
#: Notation of CuTe programs around numbers, and the parentheses around a single number.
_CUTE = re.compile(r"\bcute(?:\.|::)|\bmake_(?:shape|stride|coord|tuple)\b|\{\}|\bInt(?=<)")
_SINGLE = re.compile(r"(?<![\w>)\]])\(\s*(\d+)\s*\)|(?<=[\s(,:])<(\d+)>")
_MOST_NESTED = 64  # the parser refuses deeper nesting
_CALL, _APPLIED = re.compile(r"\b([A-Za-z_]\w*)\s*\("), re.compile(r"[)>\]]\s*[(\[]")


def written(text: str) -> str:
    """Convert an answer to the notation of this project, also from CuTe notation; `8` is the layout `8:1`.

    Raises:
        DescriptorError: if it is an expression that must be computed first.

    >>> written("Swizzle<2,0,2>"), written("Sw<3,4,3> o 0 o (8,128):(128,1)"), written(" 8 ")
    ('S<2,0,2>', 'S<3,4,3> o 0 o (8,128):(128,1)', '8:1')
    >>> written("make_layout(make_shape(Int<4>{}, 8), make_stride(1, 4))"), written("cute.make_layout(8, stride=(2))")
    ('make_layout((4, 8), (1, 4))', 'make_layout(8, stride=2)')
    >>> written("complement(4:2, 24)")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: answer: the operation complement is not computed; write the resulting layout,
    such as (4,8):(8,1)
    """
    text = _CUTE.sub("", text.strip(" \t\r\n`.'\""))
    text = _STRIDES.sub(r"\1:\2", " ".join(text.split()))
    text = text.replace(";", "," if ":" in text else ":")
    text += ")" * _missing_brackets(text)
    text = re.sub(r"\b(?:swizzle|sw|s)\s*<", "S<", text, flags=re.I).replace("make_swizzle(", "Swizzle(")
    for _ in range(_MOST_NESTED):  # each pass removes one level of parentheses
        simpler = _SINGLE.sub(r"\1\2", text)
        if simpler == text:
            break
        text = simpler
    operation = next((name for name in _CALL.findall(text) if name not in _CONSTRUCTORS), "")
    if operation and operation not in layoutalg.__all__:
        raise DescriptorError(
            f"answer: {operation[:40]!r} is not part of a layout; write only the layout, such as (4,8):(8,1)"
        )
    if operation or _APPLIED.search(text):
        subject = f"the operation {operation}" if operation else f"{text[:40]}"
        raise DescriptorError(f"answer: {subject} is not computed; write the resulting layout, such as (4,8):(8,1)")
    if _has_shape_alone(text):
        raise DescriptorError(f"answer: {text[:40]} has no strides; write a layout with strides, such as (4,8):(8,1)")
    return f"{text}:1" if text.isdecimal() else text


#: Shape and strides in words, such as ``shape (2,4), stride (1,8)``.
_STRIDES = re.compile(
    r"^(?:shape[ :=]*)?((?:\d|\()[\d(), ]*(?<=[\d)]))[ ,;]*(?:(?:with|and) )?(?:the )?strides?[ :=]*([\d(][\d(), ]*)$",
    re.I,
)


def _missing_brackets(text: str) -> int:
    """Return how many closing parentheses, at most 3, are missing at the end of a layout, where only one reading has
    them: the strides are open, or a call is.
    """
    shape, colon, strides = text.rpartition(":")
    complete = colon and shape.count("(") == shape.count(")")
    is_call = re.match(r"(?:make_l|L)ayout\s*\(", text)
    missing = strides.count("(") - strides.count(")")
    return missing if (complete or (is_call and not colon)) and 0 < missing <= 3 else 0


def _has_shape_alone(text: str) -> bool:
    """Return whether a call that constructs a layout has only one argument."""
    calls = {call.end() - 1 for call in re.finditer(r"\b(?:make_l|L)ayout\s*\(", text)}
    brackets: list[tuple[int, bool]] = []  # open brackets: position, and if a comma follows
    for place, letter in enumerate(text if calls else ""):
        if letter in "([":
            brackets.append((place, False))
        elif letter == "," and brackets:
            brackets[-1] = (brackets[-1][0], True)
        elif letter in ")]" and brackets:
            start, has_comma = brackets.pop()
            if start in calls and not has_comma:
                return True
    return any(start in calls and not has_comma for start, has_comma in brackets)


_DIGITS16 = r"(?<![0-9a-z])(?:0x)?[0-9a-f]{4}(?:[ _]?[0-9a-f]{4}){3}(?![0-9a-z_])"
#: The parts of an answer: a word of 16 digits, the name that opens a layout or a swizzle, a number.
_TOKEN = re.compile(
    rf"{_DIGITS16}|\b(?:cute(?:\.|::))?(?:make_\w+|Layout|Swizzle|Sw|S)\s*[(<]|(?<![\w.])[-+]?\d\w*", re.I
)
#: A word after which a reason follows, words after which an answer follows, and words of doubt, which change nothing.
_REASON = re.compile(r"\b(?:because|since|reason|due to)\b", re.I)
_CONCLUSION = re.compile(r"\b(?:so|therefore|thus|hence|answer|instead)\b", re.I)
_DOUBT = re.compile(r"\b(?:but )?(?:(?:i am|i'm) )?not (?:so |quite |really |completely )?sure\b", re.I)
#: Words and signs that may change the answer beside which they are written.
_CHANGES = re.compile(
    r"\b(?:and|or|nor|not?|never|none|n?either|instead|but|except|without|unless|if|when|wrong|false|incorrect|over|above"
    r"|below|under|between|of|from|to|until|every|each|per|twice|double|half|times|plus|minus|more|less|fewer|least|most"
    r"|than|almost|nearly|about|around|approx\w*|roughly|inver\w*|revers\w*|transpos\w*|swap\w*|exchang\w*|opposite"
    r"|negative|divided|multipl\w*|impossible|zero|one|two|three|four|five|six|seven|eight|nine|ten|\w+n't|(?:is|are|was|do|does|did|ca|wo)nt"
    r"|oder|nicht|kein\w*|ou|pas|o|y)\b|\ba\s*=|[?\d_+/^%~@|]",
    re.I,
)
#: Answers that mean "there is no layout"; `no idea` or `not sure` do not mean this.
NONE = (
    r"(?:none(?: exists)?|(?:im|not )possible"
    r"|no(?: (?:such )?(?:layout|complement|composition|divide|inverse|answer))?)"
)
_NONE_LAST = re.compile(rf"\b{NONE}(?=\W*$)", re.I)
#: After a number, such a word is a unit, and a sign continues a calculation.
_COUNTED = re.compile(
    r"\s*(?:\*(?!\W*$)|-\s*\w\b(?!\s+[a-z])"
    r"|(?:[kmg]i?b?|bits?|words?|elements?|units?|rows?|columns?|lines?|thousand|million)\b)",
    re.I,
)


def without_prose(text: str) -> str | None:
    """Return the answer in a line of prose; None if there is no prose, or the words may change the answer."""
    text = plain(text)
    if "\n" in text:
        return None
    reason = _REASON.search(text)
    if reason and _CONCLUSION.search(text, reason.end()):
        return None  # a second answer may follow
    sentence = text[: reason.start()].rstrip(" ,;.:([-") if reason and reason.start() else text
    sentence = _DOUBT.sub("", sentence)
    tokens = list(_TOKEN.finditer(sentence))
    if not tokens:
        none = _NONE_LAST.search(sentence)
        before = sentence[: none.start()] if none else ""
        return none[0] if none and not (_CHANGES.search(before) or re.search(r"\w\($", before)) else None
    start, end = tokens[0].start(), tokens[-1].end()
    while start and sentence[start - 1] in "([<":
        start -= 1
    while end < len(sentence) and sentence[end] in ")]>}(":
        end += 1
    before, answer, after = sentence[:start].rstrip(), sentence[start:end], sentence[end:]
    surplus = answer.count(")") - answer.count("(")
    if 0 < surplus <= before.count("(") and answer.endswith(")" * surplus):
        answer = answer[:-surplus]  # the whole sentence is in parentheses
    is_layout = answer[0] in "([" or ":" in answer
    operator = not is_layout and re.search(r"(?<![*=-])[-*<>\u2248]$", before)
    nested = before.count("(") > 1
    called = is_layout and re.search(rf"\b(?:{'|'.join(law_names())})$", before)
    attached = sentence[:start][-1:].isalnum()
    if (
        nested
        or operator
        or called
        or attached
        or _CHANGES.search(before)
        or _CHANGES.search(after)
        or _COUNTED.match(after)
    ):
        return None
    return answer if answer != text else None


def written_layout(text: str) -> Layout | ComposedLayout:
    """Parse a layout that is not an operation; the errors are those of :func:`written` and :func:`layout_of`."""
    return layout_of(written(text))


#: Words that students write with their numbers.
_UNITS = set("and bank banks byte bytes cosize i index is size tcgen05 tma turn turns wgmma".split())
_NUMBER = re.compile(r"[+-]?(?:0x[0-9a-f]{1,16}|0b[01]{1,64}|[0-9]{1,20})")


def parts_of(text: str) -> tuple[str, ...]:
    """Split a text at commas, semicolons and spaces, in lower case and without brackets."""
    return tuple(re.sub(r"[()\[\],;`'\"=]", " ", text.strip(" \t\r\n.")).lower().split()) or ("",)


def integers_of(text: str, count: int | None = None) -> tuple[int, ...]:
    """Parse numbers, decimal or hexadecimal.

    Args:
        text: the typed text.
        count: the required number of numbers; default: any.

    Raises:
        DescriptorError: if the text contains something else, or another number of numbers.
    """
    parts, unknown = _numbers_in(text)
    if unknown or not parts:
        raise DescriptorError(f"answer: {(unknown or text)[:20]!r} is not a number; write numbers with commas")
    if count is not None and len(parts) != count:
        raise DescriptorError(f"answer: it has {len(parts)} number{'s' * (len(parts) != 1)}, must have {count}")
    return tuple(int(part, 0) if "x" in part or "0b" in part else int(part) for part in parts)


def _numbers_in(text: str) -> tuple[list[str], str]:
    """Return the numbers in a text, and the first part that is neither a number nor a unit; "" if there is none."""
    parts = [part for part in parts_of(text) if part and part.rstrip(":") not in _UNITS]
    return parts, next((part for part in parts if not _NUMBER.fullmatch(part)), "")


#: The 16 digits of a word: together or in groups of four, with or without 0x.
WORD = re.compile(_DIGITS16, re.I)


def _digits(word: str) -> str:
    return re.sub(r"[ _]", "", word.lower().removeprefix("0x"))


def words_of(text: str, count: int = 1) -> tuple[int, ...]:
    """Parse 64-bit words such as 0x0123456789abcdef; the digits may be in groups, such as 0x0123 4567 89ab cdef.

    Raises:
        DescriptorError: if the text has another number of words, or a word does not fit into 64 bits.
    """
    digits = WORD.sub(lambda word: f"0x{_digits(word[0])}", text)
    parts, unknown = _numbers_in(digits)
    words = integers_of(digits, count) if parts and not unknown else (-1,)
    if not all(0 <= word < 1 << 64 for word in words):
        raise DescriptorError(f"answer: {text[:40]!r} is not a 64-bit word; write it as 0x and 16 hexadecimal digits")
    return words
