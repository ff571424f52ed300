"""Element types, majors and swizzle modes of operands in shared memory, and the names by which users write them.

The numeric codes of the swizzle modes are not here, because ``sm90``, ``sm100`` and TMA each have their own. Besides
its own name, a choice is accepted by the names of C++, PyTorch, PTX and CUTLASS's atoms.

Invariant: a swizzle permutes bytes within one row: the bits that it changes are the highest of the offset in a span.

>>> swizzles = {mode: mode.swizzle for mode in SwizzleMode if mode.swizzle is not None}
>>> all(mode.span_bytes == 1 << one.base + one.bits for mode, one in swizzles.items())
True

Invariant: a synonym is never the name of another choice. A synonym with several meanings is refused, and the error
lists all of them.

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


def _synonym_rows() -> Iterable[tuple[tuple[str, ...], str]]:
    """Yield the other names of a choice, and the choice."""
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
    for names, choice in _synonym_rows():
        for name in names:
            if name != choice.casefold():
                choices_of[name] = (*choices_of.get(name, ()), choice)
    return choices_of


#: The choices that each synonym, in lower case, may mean.
SYNONYMS: Mapping[str, tuple[str, ...]] = _table()


def meanings(value: object, choices: Iterable[str]) -> tuple[str, ...]:
    """Return the choices that a value may mean; none if the value is not a synonym.

    >>> meanings("SW128", ["none", "128B"]), meanings("fp8", ["e4m3", "e5m2", "s8"]), meanings("90", ["K", "MN"])
    (('128B',), ('e4m3', 'e5m2'), ())
    """
    allowed = set(choices)
    if not isinstance(value, str):
        return ()
    return tuple(choice for choice in SYNONYMS.get(value.casefold(), ()) if choice in allowed)


_Choice = TypeVar("_Choice")

#: The names of majors, of swizzle modes and of the two operands, as callers write them.
MajorName: TypeAlias = Literal["K", "MN"]
SwizzleName: TypeAlias = Literal["none", "32B", "64B", "128B", "128B_BASE32B"]
Matrix: TypeAlias = Literal["A", "B"]

#: Which matrix of a product an operand is.
MATRICES: Mapping[str, Matrix] = {"A": "A", "B": "B"}

#: Bytes in a row of every swizzle pattern. Address bits from 7 on select the permutation; the base offset counts rows.
LINE_BYTES = 128


@frozen
class ElementType:
    """An element type of a matrix operand.

    Args:
        name: as PTX spells it, without the dot.
        bits: significant bits of one element.
        storage_bits: bits that one element takes up on average in shared memory.

    ``storage_bits`` exceeds ``bits`` if a 16-byte container holds 16 narrow elements (kinds f8f6f4 and mxf8f6f4).
    Counted in 16-byte units, such a tile has the layout of an 8-bit type. A packed e2m1 (kinds mxf4 and mxf4nvf4) has
    two elements per byte.
    Source: PTX ISA 9.1, tcgen05, packing formats of the sub-byte types in shared memory; CUTLASS ``*_unpacksmem_t``
    types (such as ``float_e2m1_unpacksmem_t``), which take 8 bits of a container on average.

    >>> as_element_type("bf16").per_16_bytes
    8
    """

    name: str
    bits: int
    storage_bits: int

    @property
    def per_16_bytes(self) -> int:
        """Number of elements in 16 bytes of shared memory: the T of the canonical forms."""
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
    """The dimension of an operand that is contiguous in shared memory: K, or MN, which is M of A and N of B."""

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
    """A pattern in which the hardware permutes 16-byte (or 32-byte) units within the rows of an operand.

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
        """The permutation of *byte* addresses, or None. Counted in elements, it has another base.

        Source: CUTLASS ``include/cute/atom/mma_traits_sm90_gmma.hpp``, ``mma_traits_sm100.hpp`` (Layout_*_Atom_Bits).

        >>> print(SwizzleMode.B128.swizzle, SwizzleMode.B128_BASE32B.swizzle)
        S<3,4,3> S<2,5,2>
        """
        return _SWIZZLES[self]

    @property
    def period_bytes(self) -> int:
        """Bytes after which the permutation repeats.

        The period has one row for each value of the row bits that the swizzle reads. Without a swizzle it is one unit
        of the address field, 16 bytes.

        >>> SwizzleMode.B128.period_bytes, SwizzleMode.B128_BASE32B.period_bytes, SwizzleMode.NONE.period_bytes
        (1024, 512, 16)
        """
        swizzle = self.swizzle
        return self.span_bytes if swizzle is None else LINE_BYTES << swizzle.bits

    @property
    def alignment_bytes(self) -> int:
        """Required alignment, in bytes, of a tile that uses base offset 0.

        It is the period of the permutation, except for ``128B_BASE32B``. That permutation reads two bits of the row and
        repeats after 512 bytes, but the PTX ISA has one pattern start for all 128-byte swizzling, at multiples of 1024,
        which is also the size of an atom of eight rows. By the bits alone, 512 would suffice; this is not measured.
        Source: PTX ISA 9.1, Table 41 (start of the repeating pattern: 1024, 512 and 256 bytes for 128, 64 and 32 byte
        swizzling). Without a swizzle, the unit of the address field requires 16 bytes.

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


_MAJORS = {str(major): major for major in Major}
_MODES = {str(mode): mode for mode in SwizzleMode}


def choose(what: str, value: object, choices: Mapping[str, _Choice]) -> _Choice:
    """Return the choice that ``value`` is or names.

    A name may be in upper or lower case, or a synonym with one meaning among the choices.

    Raises:
        ChoiceError: if the value is not one of the choices. The error lists them, or those that a synonym may mean.

    >>> choose("derive: major", "mn", {str(major): major for major in Major})
    Major.MN
    """
    if type(value) is str and value in choices:
        return choices[value]
    for name, choice in choices.items():
        # Compare by equality: a value that came from another process is a different object.
        if isinstance(value, type(choice)) and value == choice:
            return choice
        if isinstance(value, str) and value.casefold() == name.casefold():
            return choice
    possible = meanings(value, choices)
    if len(possible) == 1:
        return choices[possible[0]]
    error = ChoiceError(what, value, possible or choices)
    if isinstance(value, str) and (reason := _ELSEWHERE.get(value.casefold())):
        error.args = (f"{what}: {reason}; supported: {', '.join(error.choices)}",)
    raise error


#: Types that only a kind of a later architecture multiplies. s1z4m11, of ti16: a sign, four zeros and a magnitude of
#: 11 bits (PTX ISA 9.4).
LATER_TYPES: Mapping[str, ElementType] = {"s1z4m11": ElementType("s1z4m11", 16, 16)}
#: The names of all element types.
DTYPES = frozenset({*ELEMENT_TYPES, *LATER_TYPES})


def as_element_type(value: object) -> ElementType:
    """Return the element type with this name, or the element type that was passed.

    Raises:
        ChoiceError: if there is no such type.

    >>> as_element_type("e4m3"), as_element_type("s1z4m11").per_16_bytes
    (ElementType(name='e4m3', bits=8, storage_bits=8), 8)
    """
    if isinstance(value, ElementType) and {**ELEMENT_TYPES, **LATER_TYPES}.get(value.name) == value:
        return value
    if isinstance(value, str) and value.casefold() in LATER_TYPES:
        return LATER_TYPES[value.casefold()]
    return choose("operand: dtype", value, ELEMENT_TYPES)


#: Names, in lower case, that are not choices here, with what they stand for.
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
    "96b": "descriptors and the driver do not support the 96B swizzle; it is S<1,4,3> on byte addresses (PTX; not "
    "measured), and only tensormap.replace can select it, on sm_103a and sm_107a, for rows of at most 96 bytes",
}


def as_major(value: object) -> Major:
    """Return the major with this name: ``"K"`` or ``"MN"``.

    Raises:
        ChoiceError: if there is no such major.
    """
    return value if isinstance(value, Major) else choose("operand: major", value, _MAJORS)


def major_of(swizzle: object, major: object, matrix: Matrix | None = None) -> object:
    """Return the major that was passed, or else the major in the name of an atom, such as ``"K_SW128"``.

    Args:
        swizzle: a swizzle mode, its name, or the name of an atom.
        major: a major, its name, or None.
        matrix: the matrix of the operand, if known; it tells M-major from N-major.

    Raises:
        DescriptorError: if the atom has another major than ``major``, or ``major`` is M for B or N for A.

    >>> major_of("MN_SW64", None), major_of("128B", None), major_of("K_SW128", "K")
    ('MN', None, 'K')
    """
    if isinstance(major, str) and (matrix, major.casefold()) in (("A", "n"), ("B", "m")):
        own = "M" if matrix == "A" else "N"
        raise DescriptorError(f"operand: {matrix} can be K-major or {own}-major, not {major}-major")
    start, _, atom = swizzle.upper().partition("_") if isinstance(swizzle, str) else ("", "", "")
    if start not in _MAJORS or not atom:
        return major
    if major is not None and as_major(major) is not _MAJORS[start]:
        raise DescriptorError(f"operand: {swizzle} is a {start}-major atom, but major is {major}")
    return start


def as_swizzle_mode(value: object) -> SwizzleMode:
    """Return the swizzle mode with this name: ``"none"``, ``"32B"``, ``"64B"``, ``"128B"`` or ``"128B_BASE32B"``.

    Raises:
        ChoiceError: if there is no such mode.
    """
    return value if isinstance(value, SwizzleMode) else choose("operand: swizzle", value, _MODES)
