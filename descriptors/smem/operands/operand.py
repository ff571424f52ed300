"""What an operand is, before any architecture: its element type, its major, its swizzle mode.

No encodings here: ``sm90`` and ``sm100`` number the same swizzle modes differently, and TMA differently again. Each
choice is also known by the names that people write: those of C++, of PyTorch, of PTX targets, of CUTLASS's atoms.

Law: a swizzle changes places within one row: the bits that it changes are the highest of the offset in a span.

>>> swizzles = {mode: mode.swizzle for mode in SwizzleMode if mode.swizzle is not None}
>>> all(mode.span_bytes == 1 << one.base + one.bits for mode, one in swizzles.items())
True

Law: a synonym is never the name of another choice, and has several meanings only where nobody could tell which one is
meant; it is refused there, with all of them.

>>> meanings("half_t", ("f16", "bf16")), meanings("bf16", ("f16", "bf16"))
(('f16',), ())
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Literal, TypeAlias, TypeVar

from descriptors.errors import ChoiceError, DescriptorError
from layoutalg import SWIZZLE_MODES, Swizzle
from layoutalg.frozen import frozen


def _rows() -> Iterable[tuple[tuple[str, ...], str]]:
    """What a choice is called here, after its other names."""
    yield (("m", "n", "mn-major", "m-major", "n-major", "mn_major"), "MN")
    yield (("k-major", "k_major"), "K")
    yield (("half", "half_t", "float16", "fp16", "__half"), "f16")
    yield (("bfloat16", "bfloat16_t", "__nv_bfloat16"), "bf16")
    yield (("tfloat32", "tfloat32_t", "tfloat"), "tf32")
    yield (("int8", "int8_t", "i8"), "s8")
    yield (("uint8", "uint8_t", "ui8"), "u8")
    yield (("32x128b.warpx4",), "32x128b")
    for width, name in (("8", "e4m3"), ("8", "e5m2"), ("6", "e2m3"), ("6", "e3m2"), ("4", "e2m1")):
        yield ((f"fp{width}", f"float{width}", f"fp{width}_{name}", f"float_{name}_t", f"__nv_fp{width}_{name}"), name)
        yield ((f"fp{width}_{name}fn", f"float{width}_{name}", f"float{width}_{name}fn", f"f{width}{name}fn"), name)
        yield ((f"{name}fn", f"f{width}{name}"), name)
    for width in ("32", "64", "128"):
        yield ((width, f"{width}-byte"), f"{width}B")
        yield (tuple(f"{start}sw{width}" for start in ("", "k_", "mn_")), f"{width}B")
        yield ((f"swizzle_{width}b", f"cu_tensor_map_swizzle_{width}b"), f"{width}B")
    yield (("k_inter", "mn_inter", "inter", "interleave", "swizzle_none", "cu_tensor_map_swizzle_none"), "none")
    yield (("mn_sw128_32b", "sw128_32b"), "128B_BASE32B")


def _table() -> Mapping[str, tuple[str, ...]]:
    choices_of: dict[str, tuple[str, ...]] = {}
    for names, choice in _rows():
        for name in names:
            if name != choice.casefold():
                choices_of[name] = (*choices_of.get(name, ()), choice)
    return choices_of


#: What each other name, in small letters, may mean.
SYNONYMS: Mapping[str, tuple[str, ...]] = _table()


def meanings(value: object, choices: Iterable[str]) -> tuple[str, ...]:
    """The choices that a value may mean: none if it is no other name of one of them.

    >>> meanings("SW128", ["none", "128B"]), meanings("fp8", ["e4m3", "e5m2", "s8"]), meanings("90", ["K", "MN"])
    (('128B',), ('e4m3', 'e5m2'), ())
    """
    allowed = set(choices)
    return tuple(one for one in SYNONYMS.get(value.casefold(), ()) if one in allowed) if isinstance(value, str) else ()


_Choice = TypeVar("_Choice")

#: The names of majors, of swizzle modes and of the two operands, as callers write them.
MajorName: TypeAlias = Literal["K", "MN"]
SwizzleName: TypeAlias = Literal["none", "32B", "64B", "128B", "128B_BASE32B"]
Matrix: TypeAlias = Literal["A", "B"]

#: Which matrix of a product an operand is.
MATRICES: Mapping[str, Matrix] = {"A": "A", "B": "B"}

#: A row of every swizzle pattern: address bits from 7 on select the permutation, and the base offset counts such rows.
LINE_BYTES = 128


@frozen
class ElementType:
    """An element type of a matrix operand.

    Args:
        name: as PTX spells it, without the dot.
        bits: significant bits of one element.
        storage_bits: bits that one element takes up on average in shared memory.

    ``storage_bits`` exceeds ``bits`` where 16 narrow elements fill a 16-byte container (kinds f8f6f4 and mxf8f6f4);
    counted in 16-byte units such a tile is laid out as one of an 8-bit type. A packed e2m1 (kinds mxf4 and mxf4nvf4)
    has two elements a byte.
    Source: PTX ISA 9.1, tcgen05, packing formats of the sub-byte types in shared memory; CUTLASS ``*_unpacksmem_t``
    types (``float_e2m1_unpacksmem_t`` and its kin), whose 8 bits a container holds on average.

    >>> as_element_type("bf16").per_16_bytes
    8
    """

    name: str
    bits: int
    storage_bits: int

    @property
    def per_16_bytes(self) -> int:
        """Elements in 16 bytes of shared memory: the T of the canonical forms."""
        return 128 // self.storage_bits

    def __str__(self) -> str:
        return self.name


#: Every element type by name.
ELEMENT_TYPES: Mapping[str, ElementType] = {
    row.name: row
    for row in (
        ElementType("f16", 16, 16),
        ElementType("bf16", 16, 16),
        ElementType("tf32", 32, 32),
        ElementType("e4m3", 8, 8),
        ElementType("e5m2", 8, 8),
        ElementType("e2m3", 6, 8),
        ElementType("e3m2", 6, 8),
        ElementType("e2m1", 4, 4),
        ElementType("e2m1_unpacksmem", 4, 8),
        ElementType("s8", 8, 8),
        ElementType("u8", 8, 8),
    )
}


class Major(Enum):
    """Which dimension of the operand is contiguous in shared memory: K, or M (of A) and N (of B)."""

    K = "K"
    MN = "MN"

    @property
    def contiguous_mode(self) -> int:
        """Position of the contiguous dimension in an (MN, K) tile.

        >>> Major.K.contiguous_mode
        1
        """
        return 1 if self is Major.K else 0

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return f"Major.{self.name}"


class SwizzleMode(Enum):
    """The five patterns in which the hardware permutes 16-byte (or 32-byte) pieces within rows of an operand.

    Source: PTX ISA 9.1, tcgen05, swizzling modes; CUTLASS ``include/cute/arch/mma_sm100_desc.hpp`` (LayoutType).
    """

    NONE = "none"
    B32 = "32B"
    B64 = "64B"
    B128 = "128B"
    B128_BASE32B = "128B_BASE32B"

    @property
    def span_bytes(self) -> int:
        """Width of the swizzled row in bytes: the contiguous extent of the canonical atom.

        >>> SwizzleMode.B64.span_bytes, SwizzleMode.NONE.span_bytes
        (64, 16)
        """
        return _SPAN_BYTES[self]

    @property
    def swizzle(self) -> Swizzle | None:
        """The permutation of *byte* addresses, or None; in units of n-bit elements its base is smaller or larger.

        Source: CUTLASS ``include/cute/atom/mma_traits_sm90_gmma.hpp``, ``mma_traits_sm100.hpp`` (Layout_*_Atom_Bits).

        >>> print(SwizzleMode.B128.swizzle, SwizzleMode.B128_BASE32B.swizzle)
        S<3,4,3> S<2,5,2>
        """
        return _SWIZZLES[self]

    @property
    def period_bytes(self) -> int:
        """Bytes after which the permutation repeats: moved by so many, every address is permuted alike.

        A row for each value of the row bits that the swizzle reads. Without a swizzle every unit of the address field
        is like the next: 16.

        >>> SwizzleMode.B128.period_bytes, SwizzleMode.B128_BASE32B.period_bytes, SwizzleMode.NONE.period_bytes
        (1024, 512, 16)
        """
        swizzle = self.swizzle
        return self.span_bytes if swizzle is None else LINE_BYTES << swizzle.bits

    @property
    def alignment_bytes(self) -> int:
        """What the address of a tile that uses base offset 0 must be a multiple of.

        That is the period of the permutation, but for ``128B_BASE32B``: its permutation reads two bits of the row and
        repeats after 512 bytes, while the PTX ISA knows but one start of the pattern for all 128-byte swizzling, at
        1024, which is also what an atom of eight rows takes. 512 would do for the bits alone; nobody has measured it.
        Source: PTX ISA 9.1, Table 41 (where the repeating pattern of each mode starts: 1024, 512 and 256 bytes for 128,
        64 and 32 byte swizzling); without a swizzle the address field itself demands 16 bytes.

        >>> SwizzleMode.B128.alignment_bytes, SwizzleMode.B128_BASE32B.alignment_bytes
        (1024, 1024)
        """
        return 1024 if self is SwizzleMode.B128_BASE32B else self.period_bytes

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return f"SwizzleMode.{self.name}"


_SPAN_BYTES = {
    SwizzleMode.NONE: 16,
    SwizzleMode.B32: 32,
    SwizzleMode.B64: 64,
    SwizzleMode.B128: 128,
    SwizzleMode.B128_BASE32B: 128,
}
_SWIZZLES = {mode: SWIZZLE_MODES.get(mode.value) for mode in SwizzleMode}


_MAJORS = {str(one): one for one in Major}
_MODES = {str(one): one for one in SwizzleMode}


def choose(what: str, value: object, choices: Mapping[str, _Choice]) -> _Choice:
    """The choice that ``value`` is, or names (in either case of letters, or by another name that can mean no other).

    Raises:
        ChoiceError: naming every choice, if it is none of them, or those that it may mean.

    >>> choose("derive: major", "mn", {str(major): major for major in Major})
    Major.MN
    """
    if type(value) is str and value in choices:
        return choices[value]
    for name, choice in choices.items():
        # Equal is enough: a value that came from another process is not the very same.
        if isinstance(value, type(choice)) and value == choice:
            return choice
        if isinstance(value, str) and value.casefold() == name.casefold():
            return choice
    possible = meanings(value, choices)
    if len(possible) == 1:
        return choices[possible[0]]
    error = ChoiceError(what, value, possible or choices)
    if isinstance(value, str) and (reason := _ELSEWHERE.get(value.casefold())):
        error.args = (f"{what}: {reason}; here it must be one of {', '.join(error.choices)}",)
    raise error


#: Types that a kind of a later architecture alone multiplies. s1z4m11, of ti16: a sign, four zeros, a magnitude of 11
#: bits (PTX ISA 9.4).
LATER_TYPES: Mapping[str, ElementType] = {"s1z4m11": ElementType("s1z4m11", 16, 16)}
#: The names of all element types.
DTYPES = frozenset({*ELEMENT_TYPES, *LATER_TYPES})


def as_element_type(value: object) -> ElementType:
    """The element type with this name, or the one given.

    Raises:
        ChoiceError: if there is none.

    >>> as_element_type("e4m3"), as_element_type("s1z4m11").per_16_bytes
    (ElementType(name='e4m3', bits=8, storage_bits=8), 8)
    """
    if isinstance(value, ElementType) and {**ELEMENT_TYPES, **LATER_TYPES}.get(value.name) == value:
        return value
    if isinstance(value, str) and value.casefold() in LATER_TYPES:
        return LATER_TYPES[value.casefold()]
    return choose("operand: dtype", value, ELEMENT_TYPES)


#: What exists under these names, in small letters, and is no choice by itself.
_ELSEWHERE = {
    "constexpr": "constexpr is the header for every operand, of descriptors emit constexpr",
    "nvfp4": "nvfp4 is e2m1 with kind mxf4nvf4",
    "nvf4": "nvf4 is e2m1 with kind mxf4nvf4",
    "mxfp4": "mxfp4 is e2m1 with kind mxf4",
    "mxfp6": "mxfp6 is e2m3 or e3m2 with kind mxf8f6f4",
    "mxfp8": "mxfp8 is e4m3 or e5m2 with kind mxf8f6f4",
    "b1": "only wgmma (sm90) reads b1 by descriptors. They are those of the u8 operand with K / 8, since a byte holds "
    "eight elements (measured on an H200): to derive them on sm90, pass u8 and divide K of the tile and of the "
    "instruction by 8. No plan of a b1 product is supported, as u8 is another product",
    "96b": "96B is S<1,4,3> on byte addresses (PTX; not measured), which only tensormap.replace writes into a map, "
    "on sm_103a and sm_107a, for rows of at most 96 bytes; no descriptor and no argument of the driver has it",
}


def as_major(value: object) -> Major:
    """The major with this name: ``"K"`` or ``"MN"``.

    Raises:
        ChoiceError: if there is none.
    """
    return value if isinstance(value, Major) else choose("operand: major", value, _MAJORS)


def major_of(swizzle: object, major: object, matrix: Matrix | None = None) -> object:
    """The major that was given, or the one that the name of an atom says: ``"K_SW128"`` is K-major, ``"MN_SW64"`` not.

    Raises:
        DescriptorError: if an atom of one major is asked for with the other, or M-major for B, or N-major for A.

    >>> major_of("MN_SW64", None), major_of("128B", None), major_of("K_SW128", "K")
    ('MN', None, 'K')
    """
    if isinstance(major, str) and (matrix, major.casefold()) in (("A", "n"), ("B", "m")):
        own = "M" if matrix == "A" else "N"
        raise DescriptorError(f"operand: major of {matrix} must be K or {own}, found {major}")
    start, _, atom = swizzle.upper().partition("_") if isinstance(swizzle, str) else ("", "", "")
    if start not in _MAJORS or not atom:
        return major
    if major is not None and as_major(major) is not _MAJORS[start]:
        raise DescriptorError(f"operand: major of {swizzle} must be {start}, found {major}")
    return start


def as_swizzle_mode(value: object) -> SwizzleMode:
    """The swizzle mode with this name: ``"none"``, ``"32B"``, ``"64B"``, ``"128B"`` or ``"128B_BASE32B"``.

    Raises:
        ChoiceError: if there is none.
    """
    return value if isinstance(value, SwizzleMode) else choose("operand: swizzle", value, _MODES)
