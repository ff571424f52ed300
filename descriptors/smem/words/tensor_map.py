"""Tensor maps: the arguments of ``cuTensorMapEncodeTiled`` and ``cuTensorMapEncodeIm2col``, and the 128 bytes of a map.

The names and codes are those of CUDA 13.0's ``cuda.h``. The codes of the swizzles differ from those of the descriptors
of both architectures. CUDA does not document the bytes. Their fields, and the limits that the manual does not state,
were inferred from the answers of driver 580.159.04 to 16,848 random calls on an H100 and an H200
(``scripts/probe_wgmma tensor_maps``). Another driver may write other bytes.

Invariant: decoding the bytes of a map returns the map.

>>> map_ = tensor_map("BFLOAT16", 0x7F0000000000, (4096, 512), (8192,), (64, 128), swizzle="128B")
>>> TensorMap.decode(map_.encode()) == map_
True

Invariant: the copy model, which has its own codes, permutes bytes with the swizzle of the code's mode.

>>> from descriptors.smem.tma.copy_model import landing_bits
>>> for mode, (_, code) in SWIZZLES.items():
...     landed = landing_bits((1024,), [0], bits=8, swizzle=code)[0] // 8
...     assert landed.tolist() == [mode.swizzle(i) if mode.swizzle else i for i in range(1024)], mode
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from descriptors.errors import DescriptorError, as_integer, brief
from descriptors.smem.operands.operand import SwizzleMode, choose
from descriptors.smem.words.bitfield import Field, Word
from descriptors.targets import has_wgmma
from descriptors.text import Told, counted
from layoutalg.frozen import frozen

#: Sources of the rules.
ENCODE = "CUDA Driver API, cuTensorMapEncodeTiled"
IM2COL = "CUDA Driver API, cuTensorMapEncodeIm2col"
GUIDE = "CUDA C++ Programming Guide, tensor memory access"
MEASURED = "measured: the driver of an H200 refuses such a tensor map"

#: Largest extent of a box along any dimension, in elements (ENCODE).
MAX_BOX_EXTENT = 256
#: Most dimensions of a tensor map (ENCODE).
MAX_RANK = 5
#: A row of a box along dimension 0 is a multiple of this number of bytes (ENCODE).
INNER_BYTES = 16
#: Most bytes of a box: all shared memory of a multiprocessor (MEASURED).
MAX_BOX_BYTES = 228 * 1024
#: Bits of a global address (MEASURED).
ADDRESS_BITS = 57


class TmaError(DescriptorError):
    """Raised for a tile that no tensor copy can fill, or for an invalid tensor map.

    Attributes:
        rule: the document that states the violated rule.

    >>> print(TmaError("the box has 512 rows, more than 256", "a book"))
    tma: the box has 512 rows, more than 256 [a book]
    """

    def __init__(self, message: str, rule: str) -> None:
        self.rule = rule
        super().__init__(f"tma: {message} [{rule}]")


#: Name and code of each swizzle. Source: cuda.h, CUtensorMapSwizzle; the last exists since CUDA 12.8.
SWIZZLES: Mapping[SwizzleMode, tuple[str, int]] = {
    SwizzleMode.NONE: ("CU_TENSOR_MAP_SWIZZLE_NONE", 0),
    SwizzleMode.B32: ("CU_TENSOR_MAP_SWIZZLE_32B", 1),
    SwizzleMode.B64: ("CU_TENSOR_MAP_SWIZZLE_64B", 2),
    SwizzleMode.B128: ("CU_TENSOR_MAP_SWIZZLE_128B", 3),
    SwizzleMode.B128_BASE32B: ("CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B", 4),
}

INTERLEAVE = ("CU_TENSOR_MAP_INTERLEAVE_NONE", 0)

_BYTE = ("CU_TENSOR_MAP_DATA_TYPE_UINT8", 0)
_SIX_PADDED = ("CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B", 15)

#: Name and code of each element type. A copy does not interpret the bits, so all 8-bit types have one code. Only
#: TFLOAT32 rounds values to the nearest tf32 number, ties to even (measured on an H200). Source: cuda.h,
#: CUtensorMapDataType; CUTLASS include/cute/arch/copy_sm90_desc.hpp, to_CUtensorMapDataType.
DATA_TYPES: Mapping[str, tuple[str, int]] = {
    "s1z4m11": ("CU_TENSOR_MAP_DATA_TYPE_UINT16", 1),
    "f16": ("CU_TENSOR_MAP_DATA_TYPE_FLOAT16", 6),
    "bf16": ("CU_TENSOR_MAP_DATA_TYPE_BFLOAT16", 9),
    "tf32": ("CU_TENSOR_MAP_DATA_TYPE_TFLOAT32", 11),
    "e4m3": _BYTE,
    "e5m2": _BYTE,
    "s8": _BYTE,
    "u8": _BYTE,
    "e2m1": ("CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B", 13),
    "e2m1_unpacksmem": ("CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B", 14),
    "e2m3": _SIX_PADDED,
    "e3m2": _SIX_PADDED,
}

#: Codes of data types and swizzles that sm90 does not support (MEASURED; PTX ISA 9.1 has them from sm_100 on).
SM100_DATA_TYPES = frozenset({13, 14, 15})
SM100_SWIZZLES = frozenset({4})

#: Data types that put 16 elements in a 16-byte container, and their rules: the number of elements along dimension 0 of
#: the box is fixed (ENCODE; PTX states it as 64 and 96 bytes of global memory), and so are the swizzles (ENCODE).
PADDED = frozenset({14, 15})
PADDED_INNER = 128
PADDED_SWIZZLES = frozenset({SwizzleMode.NONE, SwizzleMode.B128, SwizzleMode.B128_BASE32B})


@frozen
class DataType:
    """A data type of tensor maps.

    Args:
        name: name in ``cuda.h``, without the common prefix.
        code: value in ``cuda.h``.
        bits: bits of an element in global memory.
        stored: value of the map's format field; None if no map with this type was recorded.
        floating: whether elements outside the tensor can be filled with NaN.
    """

    name: str
    code: int
    bits: int
    stored: int | None
    floating: bool = False

    def __str__(self) -> str:
        return self.name


#: Source: cuda.h, CUtensorMapDataType (names, codes, sizes); the driver's bytes (stored formats).
_DATA_TYPES = (
    DataType("UINT8", 0, 8, 0),
    DataType("UINT16", 1, 16, 1),
    DataType("UINT32", 2, 32, 2),
    DataType("INT32", 3, 32, 3),
    DataType("UINT64", 4, 64, 4),
    DataType("INT64", 5, 64, 5),
    DataType("FLOAT16", 6, 16, 6, True),
    DataType("FLOAT32", 7, 32, 7, True),
    DataType("FLOAT64", 8, 64, 9, True),
    DataType("BFLOAT16", 9, 16, 10, True),
    DataType("FLOAT32_FTZ", 10, 32, 8, True),
    DataType("TFLOAT32", 11, 32, 7, True),
    DataType("TFLOAT32_FTZ", 12, 32, 8, True),
    DataType("16U4_ALIGN8B", 13, 4, None),
    DataType("16U4_ALIGN16B", 14, 4, None),
    DataType("16U6_ALIGN16B", 15, 6, None),
)
#: The types that a separate bit distinguishes from FLOAT32 and FLOAT32_FTZ.
_ROUNDED = frozenset({11, 12})

#: Names of the codes of the other enumerations, in order (cuda.h, CUtensorMapInterleave and so on).
INTERLEAVES = ("NONE", "16B", "32B")
SWIZZLE_NAMES = ("NONE", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")
PROMOTIONS = ("NONE", "64B", "128B", "256B")
FILLS = ("NONE", "NAN")

#: Width of a swizzled row and period of the pattern, in bytes, by the code of the swizzle.
_SPANS = (16, 32, 64, 128, 128, 128, 128)
_PATTERNS = (16, 256, 512, 1024)

#: Bits of a corner of an im2col box in the map, by the rank (IM2COL).
_CORNERS = {3: 16, 4: 8, 5: 5}

#: The fields of a map that the driver writes, lowest first. Numbers that cannot be 0 are stored minus 1.
_COMMON = (
    Field("global_address", 0, 64),
    Field("im2col", 64, 1),
    Field("rank", 68, 3),
    Field("format", 71, 4),
    Field("interleave", 75, 2),
    Field("swizzle", 77, 2),
    Field("oob_fill", 79, 1),
    Field("round_to_tf32", 80, 1),
    Field("l2_promotion", 81, 2),
    *(Field(f"stride_{i}", 96 + 32 * (i - 1), 32, unit=16) for i in range(1, MAX_RANK)),
    *(Field(f"stride_{i}_high", 224 + 4 * (i - 1), 4) for i in range(1, MAX_RANK)),
    *(Field(f"extent_{i}", 256 + 32 * i, 32) for i in range(MAX_RANK)),
    *(Field(f"element_stride_{i}", 416 + 3 * i, 3) for i in range(MAX_RANK)),
)
_DERIVED = (Field("box_bytes", 512, 32), Field("pattern_bytes", 576, 32))
TILED_MAP = Word(
    "tiled tensor map", 1024, (*_COMMON, *(Field(f"box_{i}", 440 + 8 * i, 8) for i in range(MAX_RANK)), *_DERIVED)
)
IM2COL_MAP = Word(
    "im2col tensor map",
    1024,
    (
        *_COMMON,
        Field("channels", 440, 8),
        Field("lower_corner", 448, 16),
        Field("upper_corner", 464, 16),
        Field("pixels", 480, 10),
        *_DERIVED,
    ),
)


@frozen
class Im2colWindow:
    """The arguments of an im2col map that replace the box.

    Args:
        lower, upper: corners of the bounding box, as offsets from those of the tensor, the fastest of W, H, D first.
        channels: number of elements along C.
        pixels: number of pixels along W, H, D and N together.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


@frozen
class MapRefusal:
    """A reason why the driver rejects a tensor map.

    Args:
        argument: the invalid argument, by its name in ``cuda.h``.
        message: the fact, a sentence whose subject is the argument.
        rule: the document that states the violated rule.
        of_architecture: whether the map needs sm_100 or later, so that the reason applies to sm_90 only.
    """

    argument: str
    message: str
    rule: str
    of_architecture: bool = False

    def __str__(self) -> str:
        return f"{self.argument} {self.message} [{self.rule}]"


@frozen
class TensorMap(Told):
    """The arguments of ``cuTensorMapEncodeTiled`` or, with a window as box, of ``cuTensorMapEncodeIm2col``.

    Args:
        data_type: the type of an element.
        address: address of the tensor in global memory, in bytes.
        extents: extents of the dimensions, in elements, fastest first: ``globalDim``.
        strides: strides of all dimensions but the first, in bytes: ``globalStrides``.
        box: extents of a box, in elements; or the window of an im2col map.
        element_strides: distance of copied elements along each dimension, in elements.
        interleave, swizzle, l2_promotion, oob_fill: their codes.

    >>> map_ = tensor_map("bf16", 0, (4096, 512), (8192,), (64, 128), swizzle="128B")
    >>> map_.transaction_bytes, map_.refusals()
    (16384, ())
    """

    data_type: DataType
    address: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...] | Im2colWindow
    element_strides: tuple[int, ...]
    interleave: int = 0
    swizzle: int = 0
    l2_promotion: int = 0
    oob_fill: int = 0

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.extents)

    @property
    def inner_bytes(self) -> int:
        """Bytes of global memory in a row of a box, rounded down."""
        inner = self.box.channels if isinstance(self.box, Im2colWindow) else next(iter(self.box), 0)
        return inner * self.data_type.bits // 8

    @property
    def slice_bytes(self) -> int:
        """Bytes of a slice of channels, the unit of an interleaved tensor; 0 without interleave."""
        return 16 * self.interleave

    @property
    def slice_dimension(self) -> int | None:
        """The dimension that counts slices of channels, the last but one; None without interleave.

        A box has one slice, for all values of its extent in this dimension and of its channels. The layout NC/8HWC8 has
        dimensions W, H, C/8, N.
        """
        return self.rank - 2 if self.interleave else None

    @property
    def steps(self) -> tuple[int, ...]:
        """The element strides that a tiled copy uses; that of dimension 0 is ignored without interleave."""
        return self.element_strides if self.interleave else (1, *self.element_strides[1:])

    @property
    def landing_extents(self) -> tuple[int, ...]:
        """Number of elements that a copy of a box writes along each dimension.

        With interleave, the elements of a slice come first. The extent divided by the element stride is rounded up
        (measured on an H100). A box of an interleaved tensor has one slice of channels (measured on an H200).
        """
        if isinstance(self.box, Im2colWindow):
            return (self.slice_bytes * 8 // self.data_type.bits or self.box.channels, self.box.pixels)
        extents = [-(-extent // step) for extent, step in zip(self.box, self.steps, strict=False)]
        if self.slice_dimension is None:
            return tuple(extents)
        extents[self.slice_dimension] = 1
        return (self.slice_bytes * 8 // self.data_type.bits, *extents)

    @property
    def landing_rows(self) -> tuple[int, ...]:
        """The landing extents as an argument of ``landing_bits``; slices of an interleaved tensor are contiguous."""
        return (prod(self.landing_extents),) if self.interleave else self.landing_extents

    @property
    def transaction_bytes(self) -> int:
        """Bytes that a copy of one box adds to the transaction count of its mbarrier."""
        return prod(self.landing_extents) * self.data_type.bits // 8

    @property
    def row_bytes(self) -> int:
        """Bytes of shared memory of a row of a box, including the padding of 16-byte containers."""
        bits = 8 if self.data_type.code in PADDED else self.data_type.bits
        return (self.landing_extents or (0,))[0] * bits // 8

    @property
    def row_pitch_bytes(self) -> int:
        """Bytes of shared memory from one row of a box to the next; slices are contiguous."""
        return self.row_bytes if self.interleave else row_pitch_bits(8 * self.row_bytes, self.swizzle) // 8

    @property
    def mode(self) -> SwizzleMode | None:
        """The swizzle mode of operands with this swizzle; None for a swizzle that no tensor core reads."""
        return next((mode for mode, (_, code) in SWIZZLES.items() if code == self.swizzle), None)

    def refusals(self, arch: str = "sm90") -> tuple[MapRefusal, ...]:
        r"""Return why the driver rejects the map for an architecture; () if it accepts the map.

        Invariant: the results for ``sm90`` are those of driver 580.159.04 for every recorded call.

        Args:
            arch: the architecture; ``sm90`` lacks some data types and swizzles of ``sm100``.

        >>> print(*tensor_map("u8", 8, (64, 64), (64,), (24, 8), swizzle="32B").refusals(), sep="\n")
        globalAddress is 8, which is not a multiple of 16 [CUDA Driver API, cuTensorMapEncodeTiled]
        boxDim[0] is 24 bytes, which is not a multiple of 16 [CUDA Driver API, cuTensorMapEncodeTiled]
        """
        return tuple(refusal for refusal in _refusals(self) if has_wgmma(arch) or not refusal.of_architecture)

    def encode(self) -> int:
        """Return the 1024 bits that the driver writes, with the first byte lowest.

        Raises:
            TmaError: if the driver rejects the map.
        """
        for refusal in self.refusals():
            raise TmaError(f"{refusal.argument} {refusal.message}", refusal.rule)
        word = IM2COL_MAP if isinstance(self.box, Im2colWindow) else TILED_MAP
        return word.encode(_field_values(self))

    def to_bytes(self) -> bytes:
        """Return the 128 bytes that the driver writes."""
        return self.encode().to_bytes(128, "little")

    @classmethod
    def decode(cls, number: int) -> TensorMap:
        """Return the map with these 1024 bits.

        Raises:
            DescriptorError: if this driver does not write such bits: a code has no meaning, or a field contradicts the
                others.
        """
        if as_integer(number, "tensor map: the bytes", maximum=(1 << 1024) - 1) == 0:
            raise DescriptorError("tensor map: all bytes are 0, so no map was written there")
        map_ = _loaded(number)
        # The fields that the driver computes from its arguments must have the computed values.
        differing = map_.encode() ^ number
        if differing:
            word = IM2COL_MAP if isinstance(map_.box, Im2colWindow) else TILED_MAP
            names = [field.name for field in word.fields if field.mask & differing]
            where = " and ".join(names) or "bits that belong to no field"
            raise DescriptorError(f"tensor map: driver 580 does not write these bytes: it writes other {where}")
        return map_


def row_pitch_bits(row_bits: int, swizzle: int) -> int:
    """Return the bits of shared memory from one row of a box to the next: the swizzle's span if the row is shorter.

    Args:
        row_bits: bits of a row.
        swizzle: the code of the swizzle.

    Measured on an H200 for swizzles 32B, 64B and 128B; the copy does not write the bytes between the rows.

    >>> [row_pitch_bits(8 * 48, swizzle) // 8 for swizzle in (0, 2)]
    [48, 64]
    """
    return max(row_bits, 8 * _SPANS[swizzle]) if swizzle else row_bits


def tensor_map(
    data_type: object,
    address: int,
    extents: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int] | Im2colWindow,
    element_strides: Sequence[int] | None = None,
    *,
    interleave: object = 0,
    swizzle: object = 0,
    l2_promotion: object = 0,
    oob_fill: object = 0,
) -> TensorMap:
    """Construct a tensor map from the driver's arguments, given as names or codes.

    Args:
        data_type: ``"BFLOAT16"``, an element type like ``"bf16"``, or the driver's code.
        address: address of the tensor in global memory, in bytes.
        extents: ``globalDim``, in elements, fastest first.
        strides: ``globalStrides``, in bytes, of all dimensions but the first.
        box: ``boxDim``, in elements; or the window of an im2col map.
        element_strides: ``elementStrides``; the default is 1 along each dimension.
        interleave: ``"NONE"``, ``"16B"``, ``"32B"`` or the code.
        swizzle: a swizzle mode, a name like ``"128B_ATOM_64B"``, or the code.
        l2_promotion: ``"NONE"``, ``"64B"``, ``"128B"``, ``"256B"`` or the code.
        oob_fill: ``"NONE"``, ``"NAN"`` or the code.

    Raises:
        ChoiceError: for an unknown name or code.
        DescriptorError: if an argument is malformed. `TensorMap.refusals` returns what the driver rejects.

    >>> tensor_map("e4m3", 0, [64], [], [32]).data_type.name
    'UINT8'
    """
    if isinstance(box, Im2colWindow):
        box = _window(box)
    dims = _integers(extents, "extents")
    steps = (1,) * len(dims) if element_strides is None else _integers(element_strides, "element_strides")
    shape = box if isinstance(box, Im2colWindow) else _integers(box, "box")
    pitches = _integers(strides, "strides")
    lists = {"strides": (pitches, max(len(dims) - 1, 0)), "element_strides": (steps, len(dims))}
    if isinstance(shape, Im2colWindow):
        lists |= {"lower": (shape.lower, max(len(dims) - 2, 0)), "upper": (shape.upper, max(len(dims) - 2, 0))}
    else:
        lists["box"] = (shape, len(dims))
    for name, (numbers, count) in lists.items():
        if len(numbers) != count:
            raise DescriptorError(
                f"tensor map: {name} has {counted(len(numbers), 'number')}, but a map of {len(dims)} dimensions has "
                f"{count}"
            )
    return TensorMap(
        as_data_type(data_type),
        as_integer(address, "tensor map: address", maximum=(1 << 64) - 1),
        dims,
        pitches,
        shape,
        steps,
        _code("interleave", interleave, INTERLEAVES),
        _swizzle_code(swizzle),
        _code("l2_promotion", l2_promotion, PROMOTIONS),
        _code("oob_fill", oob_fill, FILLS),
    )


def as_tensor_map(value: object) -> TensorMap:
    """Return the value if it is a tensor map.

    Raises:
        DescriptorError: if it is not.
    """
    if not isinstance(value, TensorMap):
        raise DescriptorError(f"tensor map: {brief(value)} is not a TensorMap; tensor_map constructs one")
    return value


def _window(window: Im2colWindow) -> Im2colWindow:
    """Check the numbers of a window, whose corners may be negative."""
    corners = []
    sides: tuple[tuple[str, object], ...] = (("lower", window.lower), ("upper", window.upper))
    for name, corner in sides:
        if not isinstance(corner, Sequence) or isinstance(corner, str):
            raise DescriptorError(f"tensor map: {name} is {brief(corner)}, which is not a sequence of integers")
        corners.append(tuple(as_integer(offset, f"tensor map: {name}", minimum=-(1 << 31)) for offset in corner))
    counts = [as_integer(count, "tensor map: channels and pixels") for count in (window.channels, window.pixels)]
    return Im2colWindow(corners[0], corners[1], counts[0], counts[1])


def as_data_type(value: object) -> DataType:
    """Return the data type with this name or code in ``cuda.h``, or of an element type.

    Raises:
        ChoiceError: if there is no such type.
    """
    names = {row.name: row for row in _DATA_TYPES} | {str(row.code): row for row in _DATA_TYPES}
    operands = {name: names[str(code)] for name, (_, code) in DATA_TYPES.items()}
    known = str(value) if isinstance(value, int) and not isinstance(value, bool) else _bare(value, "DATA_TYPE_")
    return choose("tensor map: data type", known, names | operands | {"f32": names["FLOAT32"]})


def _swizzle_code(value: object) -> int:
    if isinstance(value, SwizzleMode):
        return SWIZZLES[value][1]
    if isinstance(value, str) and value.casefold() == str(SwizzleMode.B128_BASE32B).casefold():
        return SWIZZLES[SwizzleMode.B128_BASE32B][1]
    return _code("swizzle", value, SWIZZLE_NAMES)


def _code(what: str, value: object, names: Sequence[str]) -> int:
    """Return the code that a value is or names."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    codes = {name: code for code, name in enumerate(names)} | {str(code): code for code in range(len(names))}
    bare = _bare(value, f"{'FLOAT_OOB_FILL' if what == 'oob_fill' else what.upper()}_")
    return choose(f"tensor map: {what}", {"L2_" + name: name for name in names}.get(str(bare), bare), codes)


def _bare(value: object, enumeration: str) -> object:
    """Return a name of ``cuda.h`` without the common prefix of its enumeration."""
    if not isinstance(value, str):
        return value
    short = value.strip().removeprefix("CU_TENSOR_MAP_").removeprefix(enumeration)
    return "NAN" if short == "NAN_REQUEST_ZERO_FMA" else short


def _integers(values: object, what: str) -> tuple[int, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise DescriptorError(f"tensor map: {what} is {brief(values)}, which is not a sequence of integers")
    return tuple(as_integer(number, f"tensor map: a number of {what}", maximum=(1 << 64) - 1) for number in values)


def _refusals(map_: TensorMap) -> Iterator[MapRefusal]:
    rule = IM2COL if isinstance(map_.box, Im2colWindow) else ENCODE
    if map_.data_type.stored is None:
        message = f"is {map_.data_type}, which needs sm_100 or later"
        yield MapRefusal("tensorDataType", message, MEASURED, of_architecture=True)
    least = 3 if isinstance(map_.box, Im2colWindow) or map_.interleave else 1
    if not least <= map_.rank <= MAX_RANK:
        yield MapRefusal("tensorRank", f"is {map_.rank}, which is not in [{least}, {MAX_RANK}]", rule)
        return
    align = 32 if map_.interleave == 2 or map_.data_type.code in PADDED else 16
    if map_.address % align:
        yield MapRefusal("globalAddress", f"is {map_.address}, which is not a multiple of {align}", rule)
    if map_.address >> ADDRESS_BITS:
        yield MapRefusal("globalAddress", f"is {map_.address:#x}, which has more than {ADDRESS_BITS} bits", MEASURED)
    for i, extent in enumerate(map_.extents):
        if not 1 <= extent <= 1 << 32:
            yield MapRefusal(f"globalDim[{i}]", f"is {extent}, which is not in [1, 2^32]", rule)
    for i, stride in enumerate(map_.strides):
        if stride % align or stride >> 40:
            message = f"is {stride}, but it must be a multiple of {align} and less than 2^40"
            yield MapRefusal(f"globalStrides[{i}]", message, rule)
    for i, step in enumerate(map_.element_strides):
        if not 1 <= step <= 8:
            yield MapRefusal(f"elementStrides[{i}]", f"is {step}, which is not in [1, 8]", rule)
    yield from _window_refusals(map_, map_.box) if isinstance(map_.box, Im2colWindow) else _box_refusals(map_.box)
    yield from _row_refusals(map_, rule)
    if map_.swizzle > 3:
        message = f"is {SWIZZLE_NAMES[map_.swizzle]}, which needs sm_100 or later"
        yield MapRefusal("swizzle", message, MEASURED, of_architecture=True)
    if map_.oob_fill and not map_.data_type.floating:
        message = f"is NAN, which is for floating-point types only, and the type is {map_.data_type}"
        yield MapRefusal("oobFill", message, rule)


def _row_refusals(map_: TensorMap, rule: str) -> Iterator[MapRefusal]:
    name = "channelsPerPixel" if isinstance(map_.box, Im2colWindow) else "boxDim[0]"
    if map_.inner_bytes % INNER_BYTES:
        yield MapRefusal(name, f"is {map_.inner_bytes} bytes, which is not a multiple of {INNER_BYTES}", rule)
    if map_.swizzle and not map_.interleave and map_.inner_bytes > _SPANS[map_.swizzle]:
        message = f"is {map_.inner_bytes} bytes, wider than the {_SPANS[map_.swizzle]} bytes of the swizzle"
        yield MapRefusal(name, message, rule)
    if map_.data_type.code in PADDED and not isinstance(map_.box, Im2colWindow) and map_.box[0] != PADDED_INNER:
        message = f"is {map_.box[0]}, but a box of {map_.data_type} has {PADDED_INNER} elements there"
        yield MapRefusal(name, message, rule)
    if map_.data_type.code in PADDED and map_.mode not in PADDED_SWIZZLES:
        message = f"is {SWIZZLE_NAMES[map_.swizzle]}, which is not supported with {map_.data_type}"
        yield MapRefusal("swizzle", message, rule)
    if (box_bytes := _box_bytes(map_)) > MAX_BOX_BYTES:
        yield MapRefusal("boxDim", f"gives a box of {box_bytes} bytes, more than {MAX_BOX_BYTES}", MEASURED)


def _box_refusals(box: tuple[int, ...]) -> Iterator[MapRefusal]:
    for i, extent in enumerate(box):
        if not 1 <= extent <= MAX_BOX_EXTENT:
            yield MapRefusal(f"boxDim[{i}]", f"is {extent}, which is not in [1, {MAX_BOX_EXTENT}]", ENCODE)


def _window_refusals(map_: TensorMap, window: Im2colWindow) -> Iterator[MapRefusal]:
    if not 1 <= window.channels <= MAX_BOX_EXTENT:
        message = f"is {window.channels}, which is not in [1, {MAX_BOX_EXTENT}]"
        yield MapRefusal("channelsPerPixel", message, IM2COL)
    if not 1 <= window.pixels <= 1024:
        yield MapRefusal("pixelsPerColumn", f"is {window.pixels}, which is not in [1, 1024]", IM2COL)
    half = 1 << (_CORNERS[map_.rank] - 1)
    for name, corner in (("pixelBoxLowerCorner", window.lower), ("pixelBoxUpperCorner", window.upper)):
        if not all(-half <= offset < half for offset in corner):
            yield MapRefusal(name, f"is {corner}, which is not in [{-half}, {half - 1}]", IM2COL)
    # With interleave, the channels of a slice are not a dimension. The driver computes in 32 bits.
    spatial = map_.extents if map_.interleave else map_.extents[1:]
    for i, (extent, lower, upper) in enumerate(zip(spatial, window.lower, window.upper, strict=False)):
        if lower >= (extent + upper + (1 << 31)) % (1 << 32) - (1 << 31):
            message = f"leaves no pixel of the {extent} along dimension {i}, with corners {lower} and {upper}"
            yield MapRefusal("pixelBoxUpperCorner", message, IM2COL)


def _box_bytes(map_: TensorMap) -> int:
    """Return the bytes of a box as the driver counts them: each extent divided by its element stride, rounded down."""
    if isinstance(map_.box, Im2colWindow):
        return map_.box.channels * map_.box.pixels * map_.data_type.bits // 8
    pairs = zip(map_.box, map_.element_strides, strict=True)
    return prod(extent // max(step, 1) for extent, step in pairs) * map_.data_type.bits // 8


def _field_values(map_: TensorMap) -> dict[str, int]:
    """Return the value of every field for a map that the driver accepts."""
    values = {
        "global_address": map_.address,
        "rank": map_.rank - 1,
        "format": map_.data_type.stored or 0,
        "interleave": map_.interleave,
        "swizzle": map_.swizzle,
        "oob_fill": map_.oob_fill,
        "round_to_tf32": int(map_.data_type.code in _ROUNDED),
        "l2_promotion": map_.l2_promotion,
        "box_bytes": _box_bytes(map_),
        "pattern_bytes": _PATTERNS[map_.swizzle],
    }
    for i, stride in enumerate(map_.strides, 1):
        values |= {f"stride_{i}": stride % (1 << 36), f"stride_{i}_high": stride >> 36}
    for i, (extent, step) in enumerate(zip(map_.extents, map_.element_strides, strict=True)):
        values |= {f"extent_{i}": extent - 1, f"element_stride_{i}": step - 1}
    if not isinstance(map_.box, Im2colWindow):
        return values | {f"box_{i}": extent - 1 for i, extent in enumerate(map_.box)}
    return values | {
        "im2col": 1,
        "channels": map_.box.channels - 1,
        "pixels": map_.box.pixels - 1,
        "lower_corner": _packed(map_.box.lower, _CORNERS[map_.rank]),
        "upper_corner": _packed(map_.box.upper, _CORNERS[map_.rank]),
    }


def _loaded(number: int) -> TensorMap:
    """Return the map for the argument fields of 1024 bits, without a check of the computed fields."""
    im2col = bool(number >> 64 & 1)
    values: dict[str, Any] = (IM2COL_MAP if im2col else TILED_MAP).decode(number)
    rank = values["rank"] + 1
    if rank > MAX_RANK or (im2col and rank not in _CORNERS):
        kind, least = ("im2col", 3) if im2col else ("tiled", 1)
        raise DescriptorError(
            f"tensor map: the rank of the {kind} map is {rank}, which is not in [{least}, {MAX_RANK}]"
        )
    format_ = (values["format"], bool(values["round_to_tf32"]))
    types = [row for row in _DATA_TYPES if (row.stored, row.code in _ROUNDED) == format_]
    if not types or values["interleave"] >= len(INTERLEAVES):
        what = f"format {format_[0]}" if not types else f"interleave {values['interleave']}"
        raise DescriptorError(f"tensor map: {what} has no meaning")
    box: tuple[int, ...] | Im2colWindow = tuple(values[f"box_{i}"] + 1 for i in range(rank)) if not im2col else ()
    if im2col:
        bits = _CORNERS[rank]
        corners = [_unpacked(values[name], bits, rank - 2) for name in ("lower_corner", "upper_corner")]
        box = Im2colWindow(corners[0], corners[1], values["channels"] + 1, values["pixels"] + 1)
    return TensorMap(
        types[0],
        values["global_address"],
        tuple(values[f"extent_{i}"] + 1 for i in range(rank)),
        tuple(values[f"stride_{i}"] + (values[f"stride_{i}_high"] << 36) for i in range(1, rank)),
        box,
        tuple(values[f"element_stride_{i}"] + 1 for i in range(rank)),
        values["interleave"],
        values["swizzle"],
        values["l2_promotion"],
        values["oob_fill"],
    )


def _packed(corner: Sequence[int], bits: int) -> int:
    return sum((offset % (1 << bits)) << bits * i for i, offset in enumerate(corner))


def _unpacked(number: int, bits: int, count: int) -> tuple[int, ...]:
    half = 1 << (bits - 1)
    return tuple(((number >> bits * i) + half) % (1 << bits) - half for i in range(count))
