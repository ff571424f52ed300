"""What CuTe prints of a tensor, as notation: a pointer into memory, maybe a swizzle on byte addresses, and a layout.

A print says more than a layout: where the tensor lies, the width of an element, and for shared memory a swizzle, which
before a pointer permutes *byte addresses*. Rewritten, the swizzle counts elements like the layout behind it, and starts
at the pointer's place in the pattern. Law: ``base`` plus the layout's offset, counted in ``bits``, is the address of
the element; where a print says no address, the tensor is taken to start a pattern, as a slice of one need not. The
pointer's place in the text is filled with blanks, so that positions stay what they were.

What other compilers write (:mod:`layoutalg.compilers.encoding`) is rewritten whole, as the layout that it is.

A tensor of coordinates, as of TMA, has a coordinate where others have a pointer: it is the layout that starts there.
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
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int

if TYPE_CHECKING:
    from layoutalg.compilers.encoding import Encoding

#: What a text has that another compiler wrote, told quickly.
_FOREIGN = ("#tt", "#triton_", ", #", "Layout(", "Transform(", "transform:", "forward_thread:")

#: How a call begins: what stands around an encoding is then an expression, and not the rest of a dump.
_CALL = r"\s*[A-Za-z_]\w*\s*\("

_SWIZZLE = r"Sw?<\s*(?P<b>\d{1,2})\s*,\s*(?P<m>\d{1,2})\s*,\s*(?P<s>-?\d{1,2})\s*>"
#: C++: a pointer, before it a swizzle, on byte addresses.
_CPP = (
    rf"(?:{_SWIZZLE}\s*(?:_|o\s))?\s*(?<![A-Za-z0-9])(?P<space>[gstr]mem_)?ptr(?:\[|_)(?P<bits>\d{{1,3}})b\]?"
    r"\(\s*(?P<address>0x[0-9a-fA-F]{1,16}|0x[0-9a-fA-F]{4}\.[0-9a-fA-F]{4}|unset)\s*\)(?P<then>\s*o\b)?"
)
#: The DSL: a tensor, or the type of one, around the whole text.
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
    r"\s*(?:!cute\.)?coord_tensor<\s*\"(?P<start>[^\"]*)\",\s*\"(?P<layout>[^\"]*)\"\s*>\s*",
    r"\s*(?:!cute\.)?(?:composed_)?layout<\s*\"(?P<layout>[^\"]*)\"\s*>\s*",
)


@frozen
class Pointer:
    """What a print says of a tensor besides its layout.

    Args:
        bits: width of an element.
        space: ``smem``, ``gmem``, ``tmem``, ``rmem``, ``dsmem``, ``cmem``, or ``""`` where it is not said.
        address: in bytes; None where it is not said.
        type: name of the element type in the DSL's spelling, or ``""``, as in C++.
        swizzle: the permutation of byte addresses, or None.

    Raises:
        LayoutError: if one is no such thing.

    Source: as this module.
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
        if self.bits < 1 or (self.address or 0) < 0:
            raise LayoutError(
                f"Pointer: bits must be at least 1, and an address at least 0, found {self.bits}, {address}"
            )
        if swizzle is not None and not isinstance(swizzle, Swizzle):
            raise LayoutError(f"Pointer: swizzle must be a Swizzle, found {safe_text(swizzle)}")

    @property
    def base(self) -> int | None:
        """Address of the layout's offset 0: the pointer's, down to where the pattern of its swizzle starts.

        >>> Pointer(16, "smem", 0x420, swizzle=Swizzle(3, 4, 3)).base
        1024
        """
        return None if self.address is None else self.address - self._within

    @property
    def _within(self) -> int:
        """Bytes from the start of the swizzle's pattern to the pointer."""
        swizzle = self.swizzle
        if swizzle is None or self.address is None:
            return 0
        return self.address % (1 << (swizzle.bits + swizzle.base + abs(swizzle.shift)))

    def before(self) -> str:
        """What stands before the layout in notation: ``""``, or the swizzle on elements and the offset in it.

        Raises:
            NotationError: if the swizzle, or the address, divides an element.

        >>> Pointer(8, "smem", 0x410, swizzle=Swizzle(3, 4, 3)).before()
        'S<3,4,3> o 16 o'
        """
        swizzle = self.swizzle
        if swizzle is None:
            return ""
        base = swizzle.base + 3 - (self.bits.bit_length() - 1) if swizzle.bits else 0
        whole = self._within * 8 % self.bits == 0
        if self.bits & (self.bits - 1) or base < 0 or not whole:
            what = f"{swizzle} at {self.address}" if not whole else f"{swizzle} on byte addresses"
            raise NotationError(
                f"notation: a swizzled pointer must move whole elements of {self.bits} bits, found {what}"
            )
        return f"S<{swizzle.bits},{base},{swizzle.shift}> o {self._within * 8 // self.bits} o"


def parse_pointer(text: str) -> Pointer | None:
    """What the first pointer in a text says, or None if there is none.

    Args:
        text: what C++ or the DSL prints of a tensor, or any other notation.

    Raises:
        NotationError: if it is no text, or the print leaves out the swizzle.
        LayoutError: if its swizzle is none.

    >>> parse_pointer("tensor<ptr<bf16, smem, align<1024>, S<3,4,3>> o (8,64):(64,1)>")
    Pointer(16, 'smem', None, 'bf16', Swizzle(3, 4, 3))
    >>> parse_pointer("Sw<3,4,3> o smem_ptr[16b](0x400) o (_8,_64):(_64,_1)").address
    1024
    """
    if not isinstance(text, str):
        raise NotationError(f"notation: must be a text, found {safe_text(text)}")
    if (encoding := parse_encoding(text)) is not None:
        return _pointer_of(encoding)
    match = _first(text)
    return None if match is None else _pointer(match)


def parse_encoding(text: str, shape: tuple[int, ...] | None = None) -> Encoding | None:
    """The layout that another compiler wrote, or None if the text has none.

    Args:
        text: attributes and types of Triton's dumps, classes of Gluon, transforms of Mosaic GPU, with the extents of
            the tensor; layouts and fragments that TileLang prints.
        shape: extents of the tensor, where the text does not say them.

    Raises:
        NotationError: if something in it is misspelt, missing, or cannot be honoured: the message names it.
        LayoutError: if it is no layout of CuTe, or the text is none.

    >>> print(parse_encoding("plgpu.SMEM((64, 128), jnp.bfloat16, transforms=(TilingTransform((8, 64)),))"))
    TilingTransform of Mosaic GPU, 64x128xbf16 in shared memory: ((8,8),(64,2)):((64,1024),(1,512))
    >>> parse_encoding("(8,64):(64,1)") is None
    True
    """
    if not isinstance(text, str):
        raise NotationError(f"notation: must be a text, found {safe_text(text)}")
    found = _span(text, shape)
    return None if found is None else found[0]


def _span(text: object, shape: tuple[int, ...] | None = None) -> tuple[Encoding, int, int] | None:
    """What another compiler wrote, and its place in the text."""
    if not isinstance(text, str) or not any(sign in text for sign in _FOREIGN):
        return None
    from layoutalg.compilers.encoding import encoding_span  # only where something was pasted

    return encoding_span(text, shape)


def _pointer_of(encoding: Encoding) -> Pointer | None:
    """What an encoding says besides its layout; None where it is of registers, or says no width of an element."""
    bits, layout = encoding.bits, encoding.layout
    if bits is None or encoding.space == "rmem":
        return None
    swizzle = layout.outer if isinstance(layout, ComposedLayout) else None
    if isinstance(swizzle, Swizzle):
        base = swizzle.base + bits.bit_length() - 4
        swizzle = Swizzle(swizzle.bits, base, swizzle.shift) if base >= 0 else None
    return Pointer(bits, encoding.space, None, encoding.type, swizzle if isinstance(swizzle, Swizzle) else None)


def as_notation(text: str) -> str:
    """A text with every printed tensor in it rewritten, of the same length (two more for a start that is a number).

    What another compiler wrote becomes the layout, whatever its length.

    Raises:
        NotationError: if a swizzle, or an address, divides an element; if the print leaves out the swizzle, or numbers.

    >>> as_notation("gmem_ptr[32b](0x7f00) o (4,8):(8,1)").strip()
    '(4,8):(8,1)'
    """
    if (found := _span(text)) is not None:
        encoding, start, end = found
        import re  # as in tokens

        if re.match(_CALL, text[:start], re.ASCII):
            return f"{text[:start]}{encoding.layout}{text[end:]}"
        return str(encoding.layout)
    if (plain := _matched(_PLAIN, text, ("tensor<", "layout<"))) is not None:
        return _inside(plain, _origin(plain.groupdict().get("start") or "0"))
    while (match := _first(text)) is not None:
        start, end = match.span()
        if "layout" in match.groupdict():
            return _inside(match, _pointer(match).before())
        # A pointer alone has the layout (or nothing) behind it still.
        text = text[:start] + _pointer(match).before().ljust(end - start) + text[end:]
    return text


def _inside(match: Any, before: str) -> str:
    """The layout inside a print, at its place, with what stands before it."""
    import re

    if unknown := re.search(r"\?(\{[^}]*\})?", match[0]):
        raise NotationError(
            f"notation: a print must hold numbers known when it was compiled, found {unknown[0]}; "
            f"text = {match.string[:80]!r}",
            match.string,
            unknown.start(),
        )
    behind = " " * (len(match.string) - match.end("layout"))
    return f"{before:{match.start('layout')}}{match['layout']}{behind}"


def _origin(start: str) -> str:
    """What moves a layout to a start: nothing from 0, else the swizzle that moves no bit, and the start."""
    if not start.strip("(0, )"):
        return ""
    return f"S<0,0,0>o{start}o" if "(" in start else f"S<0,0,0>o {start} o"


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise LayoutError(f"Pointer: {name} must be a text, found {safe_text(value)}")
    return value


def _first(text: str) -> Any:
    if not isinstance(text, str) or ("ptr" not in text and "memref" not in text):
        return None
    import re  # as in tokens

    if "raw_ptr(" in text:
        raise NotationError(
            "notation: a tensor must be printed with its swizzle, found raw_ptr, as cute.printf writes a pointer, "
            f"which leaves it out; print(tensor) shows it; text = {text[:80]!r}",
            text,
        )
    return _matched(_DSL, text, ("ptr", "memref")) or re.search(_CPP, text, re.ASCII)


def _matched(patterns: tuple[str, ...], text: str, words: tuple[str, ...]) -> Any:
    """The first pattern that the whole text has, where it has one of the words at all."""
    if not isinstance(text, str) or not any(word in text for word in words):
        return None
    import re  # as in tokens

    return next(filter(None, (re.fullmatch(pattern, text, re.ASCII) for pattern in patterns)), None)


def _pointer(match: Any) -> Pointer:
    words = match.groupdict()
    address = (words.get("address") or "unset").replace(".", "")
    swizzle = None if words["b"] is None else Swizzle(*(int(words[name]) for name in "bms"))
    space = (words["space"] or "").rstrip("_").replace("generic", "")
    number = None if address == "unset" else int(address, 16)
    return Pointer(int(words["bits"]), space, number, words.get("type") or "", swizzle)
