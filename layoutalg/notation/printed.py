"""Convert tensors as CuTe prints them to layout notation, and parse their pointers.

A printed tensor has a pointer, possibly a swizzle on *byte addresses*, and a layout. The pointer has the memory space,
the width of an element, and possibly the address. After the conversion, the swizzle acts on elements, as the layout
does, and the inner offset is the position of the pointer in the swizzle pattern. If the address is not printed, the
tensor is assumed to start at the start of a pattern, which is not always true for a slice. The pointer is replaced by
blanks, so that positions in error messages refer to the original text.

A layout of another compiler (:mod:`layoutalg.compilers.encoding`) is replaced as a whole. A tensor of coordinates, as
TMA uses them, has a coordinate instead of a pointer; it becomes a layout that starts at that coordinate.

Invariant: the address of an element is ``base`` plus the offset of the layout times ``bits`` / 8.
Source: CUTLASS ``include/cute/pointer.hpp``, ``pointer_flagged.hpp``, ``pointer_swizzle.hpp`` (print); the CuTe DSL
4.8.1, ``str`` of a tensor, a pointer and a layout, and of their types.

>>> print(" ".join(as_notation("Sw<3,4,3> o smem_ptr[16b](0x420) o (_8,_64):(_64,_1)").split()))
S<3,3,3> o 16 o (_8,_64):(_64,_1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from layoutalg.errors import LayoutError, NotationError
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.notation.cpp_types import from_cpp
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int

if TYPE_CHECKING:
    from layoutalg.compilers.encoding import Encoding

#: Strings of which the text of another compiler contains at least one, for a quick check.
_FOREIGN = ("#tt", "#triton_", ", #", "Layout(", "Transform(", "transform:", "forward_thread:")

#: The beginning of a call. If it precedes an encoding, the text around the encoding is an expression, not a dump.
_CALL = r"\s*[A-Za-z_]\w*\s*\("

_SWIZZLE = r"Sw?<\s*(?P<b>\d{1,2})\s*,\s*(?P<m>\d{1,2})\s*,\s*(?P<s>-?\d{1,2})\s*>"
#: C++: a pointer, possibly after a swizzle on byte addresses.
_CPP = (
    rf"(?:{_SWIZZLE}\s*(?:_|o\s))?\s*(?<![A-Za-z0-9])(?P<space>[gstr]mem_)?ptr(?:\[|_)(?P<bits>\d{{1,3}})b\]?"
    r"\(\s*(?P<address>0x[0-9a-fA-F]{1,16}|0x[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}|unset|\(nil\)|nil)\s*\)(?P<then>\s*o\b)?"
)
#: The DSL: the text is a tensor, the type of a tensor, or the type of a pointer.
_SPACE = r"(?P<space>(?:[gstrc]|ds)mem|generic)"
_HEAD = rf"(?P<type>[a-z]+(?P<bits>\d{{1,3}})\w*),\s*{_SPACE}(?:,\s*align<\d+>)?(?:,\s*{_SWIZZLE})?"
_DSL = (
    rf"\s*tensor<ptr<{_HEAD}>(?P<then>\s*o\b)(?P<layout>[^\"]*)>\s*",
    rf"\s*(?:!cute\.)?memref<{_HEAD}(?P<then>,)\s*\"(?P<layout>[^\"]*)\"\s*>\s*",
    rf"\s*(?:!cute\.)?ptr<{_HEAD}>\s*",
)
#: The DSL, without a pointer: a tensor of coordinates and its type, and the type of a layout.
_PLAIN = (
    r"\s*tensor<(?P<start>[^<>\"]*?)\so\s(?P<layout>[^\"]*)>\s*",
    r"\s*Arith(?:metic)?Tup(?:le|leIterator|Iter)(?P<start>\([^:]*?\))\s*o\s(?P<layout>[^\"]*)",
    r"\s*(?:!cute\.)?coord_tensor<\s*\"(?P<start>[^\"]*)\",\s*\"(?P<layout>[^\"]*)\"\s*>\s*",
    r"\s*(?:!cute\.)?(?:composed_)?layout<\s*\"(?P<layout>[^\"]*)\"\s*>\s*",
)


@frozen
class Pointer:
    """The pointer of a printed tensor.

    Args:
        bits: width of an element, in bits.
        space: ``smem``, ``gmem``, ``tmem``, ``rmem``, ``dsmem``, ``cmem``, or ``""`` if it is not printed.
        address: address in bytes; None if it is not printed.
        type: name of the element type in the DSL; ``""`` for C++, which does not print it.
        swizzle: the permutation of byte addresses, or None.

    Raises:
        LayoutError: if an argument has another type, or a number is out of range.

    Source: CUTLASS ``include/cute/pointer.hpp``; the CuTe DSL 4.8.1, ``str`` of a pointer.
    """

    bits: int
    space: str
    address: int | None
    type: str
    swizzle: Swizzle | None

    def __init__(
        self, bits: int, space: str = "", address: int | None = None, type: str = "", swizzle: Swizzle | None = None
    ) -> None:
        fix(
            self,
            bits=as_int(bits, "Pointer: bits"),
            space=_text(space, "space"),
            address=None if address is None else as_int(address, "Pointer: address"),
            type=_text(type, "type"),
            swizzle=swizzle,
        )
        if self.bits < 1:
            raise LayoutError(f"Pointer: bits is {self.bits}, which is not positive")
        if self.address is not None and self.address < 0:
            raise LayoutError(f"Pointer: address {self.address} is negative")
        if swizzle is not None and not isinstance(swizzle, Swizzle):
            raise LayoutError(f"Pointer: swizzle is {safe_text(swizzle)}, which is not a Swizzle")

    @property
    def base(self) -> int | None:
        """The address of offset 0 of the layout: the start of the swizzle pattern that contains the pointer's address.

        >>> Pointer(16, "smem", 0x420, swizzle=Swizzle(3, 4, 3)).base
        1024
        """
        return None if self.address is None else self.address - self._pattern_offset

    @property
    def _pattern_offset(self) -> int:
        """The distance from the start of the swizzle pattern to the pointer, in bytes."""
        swizzle = self.swizzle
        if swizzle is None or self.address is None:
            return 0
        return self.address % (1 << (swizzle.bits + swizzle.base + abs(swizzle.shift)))

    def before(self) -> str:
        """Return the notation before the layout: ``""``, or the swizzle on elements and the offset in its pattern.

        Raises:
            NotationError: if the swizzle or the address splits an element.

        >>> Pointer(8, "smem", 0x410, swizzle=Swizzle(3, 4, 3)).before()
        'S<3,4,3> o 16 o'
        """
        swizzle = self.swizzle
        if swizzle is None:
            return ""
        base = swizzle.base + 3 - (self.bits.bit_length() - 1) if swizzle.bits else 0
        aligned = self._pattern_offset * 8 % self.bits == 0
        if self.bits & (self.bits - 1) or base < 0 or not aligned:
            place = "on byte addresses" if aligned else f"at address {self.address}"
            raise NotationError(f"notation: {swizzle} {place} does not move whole elements of {self.bits} bits")
        return f"S<{swizzle.bits},{base},{swizzle.shift}> o {self._pattern_offset * 8 // self.bits} o"


def parse_pointer(text: str) -> Pointer | None:
    """Return the first pointer in a text, or None if there is none.

    Args:
        text: a tensor as C++ or the DSL prints it, or any other notation.

    Raises:
        NotationError: if the operand is not a string, or a pointer was printed without its swizzle.
        LayoutError: if the swizzle is not valid.

    >>> parse_pointer("tensor<ptr<bf16, smem, align<1024>, S<3,4,3>> o (8,64):(64,1)>")
    Pointer(16, 'smem', None, 'bf16', Swizzle(3, 4, 3))
    >>> parse_pointer("Sw<3,4,3> o smem_ptr[16b](0x400) o (_8,_64):(_64,_1)").address
    1024
    """
    if not isinstance(text, str):
        raise NotationError(f"notation: {safe_text(text)} is not a string")
    if (encoding := parse_encoding(text)) is not None:
        return _pointer_of(encoding)
    match = _find_pointer(from_cpp(text))
    return None if match is None else _make_pointer(match)


def parse_encoding(text: str, shape: tuple[int, ...] | None = None) -> Encoding | None:
    """Return the layout that another compiler wrote, or None if the text has none.

    Args:
        text: attributes and types of Triton's dumps, classes of Gluon, transforms of Mosaic GPU, with the extents of
            the tensor; layouts and fragments that TileLang prints.
        shape: extents of the tensor, if they are not in the text.

    Raises:
        NotationError: if the operand is not a string, or if a part of the text is misspelled, missing or not supported;
            the message names the part.
        LayoutError: if the encoding is not a CuTe layout.

    >>> print(parse_encoding("plgpu.SMEM((64, 128), jnp.bfloat16, transforms=(TilingTransform((8, 64)),))"))
    TilingTransform of Mosaic GPU, 64x128xbf16 in shared memory: ((8,8),(64,2)):((64,1024),(1,512))
    >>> parse_encoding("(8,64):(64,1)") is None
    True
    """
    if not isinstance(text, str):
        raise NotationError(f"notation: {safe_text(text)} is not a string")
    span = _find_encoding(text, shape)
    return None if span is None else span[0]


def _find_encoding(text: object, shape: tuple[int, ...] | None = None) -> tuple[Encoding, int, int] | None:
    """Return the encoding of another compiler in a text, and its start and end."""
    if not isinstance(text, str) or not any(sign in text for sign in _FOREIGN):
        return None
    from layoutalg.compilers.encoding import encoding_span  # imported here, since few texts need it

    return encoding_span(text, shape)


def _pointer_of(encoding: Encoding) -> Pointer | None:
    """Return the pointer of an encoding; None for registers, or if the width of an element is unknown."""
    bits, layout = encoding.bits, encoding.layout
    if bits is None or encoding.space == "rmem":
        return None
    swizzle = layout.outer if isinstance(layout, ComposedLayout) else None
    if isinstance(swizzle, Swizzle):
        base = swizzle.base + bits.bit_length() - 4
        swizzle = Swizzle(swizzle.bits, base, swizzle.shift) if base >= 0 else None
    return Pointer(bits, encoding.space, None, encoding.type, swizzle if isinstance(swizzle, Swizzle) else None)


def as_notation(text: str) -> str:
    """Convert every printed tensor in a text to notation.

    The length of the text stays the same, except that a start coordinate that is a number takes two more characters,
    and that the encoding of another compiler is replaced by its layout.

    Raises:
        NotationError: if a swizzle or an address splits an element, or a pointer was printed without its swizzle.

    >>> as_notation("gmem_ptr[32b](0x7f00) o (4,8):(8,1)").strip()
    '(4,8):(8,1)'
    """
    text = _name_unknowns(text)
    if (span := _find_encoding(text)) is not None:
        encoding, start, end = span
        import re  # imported here for the reason given in tokens.py

        if re.match(_CALL, text[:start], re.ASCII):
            return f"{text[:start]}{encoding.layout}{text[end:]}"
        return str(encoding.layout)
    if (plain := _match_whole(_PLAIN, text, ("tensor<", "layout<", "Arith"))) is not None:
        return _extract_layout(plain, _origin(plain.groupdict().get("start") or "0"))
    while (match := _find_pointer(text)) is not None:
        start, end = match.span()
        if "layout" in match.groupdict():
            return _extract_layout(match, _make_pointer(match).before())
        # The match is only the pointer, so the text after it stays.
        text = text[:start] + _make_pointer(match).before().ljust(end - start) + text[end:]
    return text


def _name_unknowns(text: str) -> str:
    """Return a text with a symbol for each number that the DSL prints as ``?``; ``?{div=8}`` is a multiple of 8.

    >>> _name_unknowns("(?,?{div=8}):(?{i64},1)").replace(" ", "")
    '(a,8*b):(c,1)'
    """
    if not isinstance(text, str) or "?" not in text:
        return text
    import re

    used = set(re.findall(r"[A-Za-z]\w*", text))
    names = (name for name in (*"abcdefghijklmnpqrstuvwxyz", *(f"u{i}" for i in range(len(text)))) if name not in used)

    def named(match: Any) -> str:
        divisor = re.search(r"div=(\d{1,10})", match[0])
        return f"{f'{divisor[1]}*' if divisor else ''}{next(names)}".ljust(len(match[0]))

    return re.sub(r"\?(?:\{[^{}]*\})?", named, text)


def _extract_layout(match: Any, before: str) -> str:
    """Return the layout inside a printed tensor, at its position, with the notation that precedes it."""
    padding = " " * (len(match.string) - match.end("layout"))
    return f"{before:{match.start('layout')}}{match['layout']}{padding}"


def _origin(start: str) -> str:
    """Return the notation that moves a layout to a start: "" for 0, else the identity swizzle and the start."""
    if not start.strip("(0, )"):
        return ""
    return f"S<0,0,0>o{start}o" if "(" in start else f"S<0,0,0>o {start} o"


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise LayoutError(f"Pointer: {name} is {safe_text(value)}, which is not a string")
    return value


def _find_pointer(text: str) -> Any:
    """Return the match of the first pointer or printed tensor in a text, or None.

    Raises:
        NotationError: if a pointer was printed without its swizzle.
    """
    if not isinstance(text, str) or ("ptr" not in text and "memref" not in text):
        return None
    import re  # imported here for the reason given in tokens.py

    if "raw_ptr(" in text:
        raise NotationError(
            "notation: raw_ptr, which cute.printf prints for a pointer, does not contain the swizzle; print(tensor) "
            f"prints it; text = {text[:80]!r}",
            text,
        )
    return _match_whole(_DSL, text, ("ptr", "memref")) or re.search(_CPP, text, re.ASCII)


def _match_whole(patterns: tuple[str, ...], text: str, words: tuple[str, ...]) -> Any:
    """Return the match of the first pattern that matches the whole text; None if the text has none of the words."""
    if not isinstance(text, str) or not any(word in text for word in words):
        return None
    import re  # imported here for the reason given in tokens.py

    return next(filter(None, (re.fullmatch(pattern, text, re.ASCII) for pattern in patterns)), None)


def _make_pointer(match: Any) -> Pointer:
    words = match.groupdict()
    address = (words.get("address") or "unset").replace(".", "")
    swizzle = None if words["b"] is None else Swizzle(*(int(words[name]) for name in "bms"))
    space = (words["space"] or "").rstrip("_").replace("generic", "")
    number = None if address == "unset" else 0 if "nil" in address else int(address, 16)
    return Pointer(int(words["bits"]), space, number, words.get("type") or "", swizzle)
