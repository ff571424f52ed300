"""A tensor map: what ``cuTensorMapEncodeTiled`` and ``cuTensorMapEncodeIm2col`` are told, and the 128 bytes they write.

The names and codes are those of CUDA 13.0's ``cuda.h``. The swizzles are numbered a third way, unlike the descriptors
of either architecture. CUDA does not document the bytes. Their fields, and the limits that its manual does not name,
were read off what the driver 580.159.04 answered for 16,848 drawn calls on an H100 and an H200
(``scripts/probe_wgmma tensor_maps``); another driver may write other bytes.

Law: a map comes back from its bytes.

>>> made = tensor_map("BFLOAT16", 0x7F0000000000, (4096, 512), (8192,), (64, 128), swizzle="128B")
>>> TensorMap.decode(made.encode()) == made
True

Law: the copy model, which has codes of its own, lets every byte land where the swizzle of the code's mode says.

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
from descriptors.text import Told
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
#: What a box must be a multiple of along dimension 0, in bytes (ENCODE).
INNER_BYTES = 16
#: Most bytes that one box may bring: all shared memory of a multiprocessor (MEASURED).
MAX_BOX_BYTES = 228 * 1024
#: Bits of a global address (MEASURED).
ADDRESS_BITS = 57


class TmaError(DescriptorError):
    """A tile that no tensor copy can fill, or a tensor map that there cannot be, with the rule that forbids it.

    Attributes:
        rule: where the rule is written.

    >>> print(TmaError("a box must have at most 256 rows, found 512", "a book"))
    tma: a box must have at most 256 rows, found 512 [a book]
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

#: Name and code of each element type. A copy moves bits and interprets none, so a byte is a byte; only TFLOAT32 rounds
#: what is no tf32 number to the nearest one, ties to even (measured on an H200). Source: cuda.h, CUtensorMapDataType;
#: CUTLASS include/cute/arch/copy_sm90_desc.hpp, to_CUtensorMapDataType.
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

#: Codes of data types and swizzles that no tensor map of sm90 has (MEASURED; PTX ISA 9.1 names them for sm_100 on).
SM100_DATA_TYPES = frozenset({13, 14, 15})
SM100_SWIZZLES = frozenset({4})

#: Data types that widen 16 elements to a 16-byte container, and their rules: dimension 0 of the box has exactly so many
#: elements (ENCODE; PTX says the same as 64 and 96 bytes of global memory), and only some swizzles serve (ENCODE).
PADDED = frozenset({14, 15})
PADDED_INNER = 128
PADDED_SWIZZLES = frozenset({SwizzleMode.NONE, SwizzleMode.B128, SwizzleMode.B128_BASE32B})


@frozen
class DataType:
    """A data type of tensor maps.

    Args:
        name: in ``cuda.h``, without what all names begin with.
        code: its value there.
        bits: of an element in global memory.
        stored: what the map's field of formats holds; None where no map with it was ever seen.
        floating: whether what lies outside the tensor can be filled with NaN.
    """

    name: str
    code: int
    bits: int
    stored: int | None
    floating: bool = False

    def __str__(self) -> str:
        return self.name


#: Source: cuda.h, CUtensorMapDataType (names, codes, sizes); the stored formats were read off the driver's bytes.
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
#: Those that the map tells from FLOAT32 and FLOAT32_FTZ by a bit of its own.
_ROUNDED = frozenset({11, 12})

#: Names of the codes of the other enumerations, in order (cuda.h, CUtensorMapInterleave and so on).
INTERLEAVES = ("NONE", "16B", "32B")
SWIZZLE_NAMES = ("NONE", "32B", "64B", "128B", "128B_ATOM_32B", "128B_ATOM_32B_FLIP_8B", "128B_ATOM_64B")
PROMOTIONS = ("NONE", "64B", "128B", "256B")
FILLS = ("NONE", "NAN")

#: Bytes of a row that each swizzle spans, and after how many its pattern begins anew, by its code.
_SPANS = (16, 32, 64, 128, 128, 128, 128)
_PATTERNS = (16, 256, 512, 1024)

#: The range of a corner of an im2col box, and the bits that the map keeps of it, by the rank (IM2COL).
_CORNERS = {3: 16, 4: 8, 5: 5}

#: The fields of a map that the driver writes, lowest first; numbers that cannot be 0 are stored less one.
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
    """What an im2col map takes instead of a box.

    Args:
        lower, upper: corners of the bounding box, offsets from the tensor's own, the fastest of W, H, D first.
        channels: elements along C.
        pixels: along W, H, D and N together.
    """

    lower: tuple[int, ...]
    upper: tuple[int, ...]
    channels: int
    pixels: int


@frozen
class MapRefusal:
    """Why the driver takes a map not.

    Args:
        argument: the one that is at fault, as ``cuda.h`` calls it.
        message: what must hold, and what was found.
        rule: where that is written.
        of_architecture: whether sm_100 has what sm_90 lacks, so that the map may serve there.
    """

    argument: str
    message: str
    rule: str
    of_architecture: bool = False

    def __str__(self) -> str:
        return f"{self.argument}: {self.message} [{self.rule}]"


@frozen
class TensorMap(Told):
    """The arguments of ``cuTensorMapEncodeTiled`` or, with a window for a box, of ``cuTensorMapEncodeIm2col``.

    Args:
        data_type: the type of an element.
        address: of the tensor in global memory.
        extents: of its dimensions, in elements, fastest first: ``globalDim``.
        strides: of all dimensions but the first, in bytes: ``globalStrides``.
        box: extents of a box, in elements; or the window of an im2col map.
        element_strides: from one element that is taken to the next, along each dimension.
        interleave, swizzle, l2_promotion, oob_fill: their codes.

    >>> made = tensor_map("bf16", 0, (4096, 512), (8192,), (64, 128), swizzle="128B")
    >>> made.transaction_bytes, [str(one) for one in made.refusals()]
    (16384, [])
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
        """Bytes of global memory that a row of a box has, rounded down."""
        inner = self.box.channels if isinstance(self.box, Im2colWindow) else next(iter(self.box), 0)
        return inner * self.data_type.bits // 8

    @property
    def slice_bytes(self) -> int:
        """Bytes of a slice of channels, which interleaved dimensions count; 0 without interleave."""
        return 16 * self.interleave

    @property
    def slice_dimension(self) -> int | None:
        """The dimension along which slices of channels follow one another, all but the last; None without interleave.

        A box has one slice, whatever its extent there, or its channels, say: NC/8HWC8 has dimensions W, H, C/8, N.
        """
        return self.rank - 2 if self.interleave else None

    @property
    def steps(self) -> tuple[int, ...]:
        """From an element that a tiled copy takes to the next, along each dimension.

        A stride along dimension 0 is ignored without interleave.
        """
        return self.element_strides if self.interleave else (1, *self.element_strides[1:])

    @property
    def landing_extents(self) -> tuple[int, ...]:
        """How many elements of a box land along each dimension; with interleave the elements of a slice before those.

        An extent that is no multiple of its element stride counts the last one as well (measured on an H100). A box
        of an interleaved tensor has one slice of channels (measured on an H200).
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
        """The same as ``landing_bits`` takes them: slices of an interleaved tensor lie one behind the other."""
        return (prod(self.landing_extents),) if self.interleave else self.landing_extents

    @property
    def transaction_bytes(self) -> int:
        """What a copy of one box adds to the transaction count of its mbarrier."""
        return prod(self.landing_extents) * self.data_type.bits // 8

    @property
    def row_bytes(self) -> int:
        """Bytes of shared memory that a row of a box fills, with the padding of 16-byte containers."""
        bits = 8 if self.data_type.code in PADDED else self.data_type.bits
        return (self.landing_extents or (0,))[0] * bits // 8

    @property
    def row_pitch_bytes(self) -> int:
        """Bytes of shared memory from one row of a box to the next; slices follow one another."""
        return self.row_bytes if self.interleave else row_pitch_bits(8 * self.row_bytes, self.swizzle) // 8

    @property
    def mode(self) -> SwizzleMode | None:
        """The swizzle mode of operands that this swizzle is; None for one that no tensor core reads."""
        return next((mode for mode, (_, code) in SWIZZLES.items() if code == self.swizzle), None)

    def refusals(self, arch: str = "sm90") -> tuple[MapRefusal, ...]:
        """Return why the driver refuses the map for an architecture; () if it accepts the map.

        Law: the verdicts for ``sm90`` are those of the driver 580.159.04 on every recorded call.

        Args:
            arch: where it lacks the data types and swizzles of ``sm100``, a map that has one is refused.

        >>> print(*tensor_map("u8", 8, (64, 64), (64,), (24, 8), swizzle="32B").refusals(), sep="\\n")
        globalAddress: must be a multiple of 16, found 8 [CUDA Driver API, cuTensorMapEncodeTiled]
        boxDim[0]: must be whole 16 bytes, found 24 [CUDA Driver API, cuTensorMapEncodeTiled]
        """
        return tuple(refusal for refusal in _refusals(self) if has_wgmma(arch) or not refusal.of_architecture)

    def encode(self) -> int:
        """The 1024 bits that the driver writes, the first byte lowest.

        Raises:
            TmaError: if the driver takes no such map.
        """
        for refusal in self.refusals():
            raise TmaError(f"{refusal.argument} {refusal.message}", refusal.rule)
        word = IM2COL_MAP if isinstance(self.box, Im2colWindow) else TILED_MAP
        return word.encode(_stored(self))

    def to_bytes(self) -> bytes:
        """The same as 128 bytes, as they lie in memory."""
        return self.encode().to_bytes(128, "little")

    @classmethod
    def decode(cls, number: int) -> TensorMap:
        """The map of 1024 bits.

        Raises:
            DescriptorError: if they are none that this driver writes: a code that names nothing, or a field that does
                not go with the others.
        """
        if as_integer(number, "tensor map: the bytes", maximum=(1 << 1024) - 1) == 0:
            raise DescriptorError("tensor map: all bytes are 0: nobody wrote a map there")
        made = _loaded(number)
        # What the driver works out from its arguments must be what it would have worked out.
        other = made.encode() ^ number
        if other:
            word = IM2COL_MAP if isinstance(made.box, Im2colWindow) else TILED_MAP
            names = [field.name for field in word.fields if field.mask & other]
            where = " and ".join(names) or "bits that belong to no field"
            raise DescriptorError(f"tensor map: no map that the driver 580 writes: {where} must be otherwise")
        return made


def row_pitch_bits(row_bits: int, swizzle: int) -> int:
    """Return the bits of shared memory from one row of a box to the next: the swizzle's span if the row is shorter.

    Args:
        row_bits: what a row fills.
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
    """A tensor map by the driver's arguments; names and codes will do alike.

    Args:
        data_type: ``"BFLOAT16"``, an element type like ``"bf16"``, or the driver's code.
        address: of the tensor in global memory, in bytes.
        extents: ``globalDim``, in elements, fastest first.
        strides: ``globalStrides``, in bytes, of all dimensions but the first.
        box: ``boxDim``, in elements; or the window of an im2col map.
        element_strides: ``elementStrides``; default: 1 along each.
        interleave: ``"NONE"``, ``"16B"``, ``"32B"`` or the code.
        swizzle: a swizzle mode, a name like ``"128B_ATOM_64B"``, or the code.
        l2_promotion: ``"NONE"``, ``"64B"``, ``"128B"``, ``"256B"`` or the code.
        oob_fill: ``"NONE"``, ``"NAN"`` or the code.

    Raises:
        ChoiceError: on a name or code that there is not.
        DescriptorError: if an argument is malformed; what the driver refuses is in `TensorMap.refusals`.

    >>> tensor_map("e4m3", 0, [64], [], [32]).data_type.name
    'UINT8'
    """
    if isinstance(box, Im2colWindow):
        box = _window(box)
    dims = _integers(extents, "extents")
    steps = (1,) * len(dims) if element_strides is None else _integers(element_strides, "element_strides")
    shape = box if isinstance(box, Im2colWindow) else _integers(box, "box")
    pitches = _integers(strides, "strides")
    wanted = {"strides": (pitches, max(len(dims) - 1, 0)), "element_strides": (steps, len(dims))}
    if isinstance(shape, Im2colWindow):
        wanted |= {"lower": (shape.lower, max(len(dims) - 2, 0)), "upper": (shape.upper, max(len(dims) - 2, 0))}
    else:
        wanted["box"] = (shape, len(dims))
    for name, (numbers, count) in wanted.items():
        if len(numbers) != count:
            raise DescriptorError(
                f"tensor map: {name} must have {count} numbers for {len(dims)} dimensions, found {len(numbers)}"
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
    """The map that was given.

    Raises:
        DescriptorError: if it is none.
    """
    if not isinstance(value, TensorMap):
        raise DescriptorError(f"tensor map: must be a TensorMap, as tensor_map makes one, found {brief(value)}")
    return value


def _window(window: Im2colWindow) -> Im2colWindow:
    """The window, its numbers checked; corners may be negative."""
    corners = []
    sides: tuple[tuple[str, object], ...] = (("lower", window.lower), ("upper", window.upper))
    for name, corner in sides:
        if not isinstance(corner, Sequence) or isinstance(corner, str):
            raise DescriptorError(f"tensor map: {name} must be a sequence of integers, found {brief(corner)}")
        corners.append(tuple(as_integer(one, f"tensor map: {name}", minimum=-(1 << 31)) for one in corner))
    counts = [as_integer(one, "tensor map: channels and pixels") for one in (window.channels, window.pixels)]
    return Im2colWindow(corners[0], corners[1], counts[0], counts[1])


def as_data_type(value: object) -> DataType:
    """The data type with this name or code, of ``cuda.h`` or of an operand.

    Raises:
        ChoiceError: if there is none.
    """
    names = {one.name: one for one in _DATA_TYPES} | {str(one.code): one for one in _DATA_TYPES}
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
    """The code that a value is, or names."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    codes = {name: code for code, name in enumerate(names)} | {str(code): code for code in range(len(names))}
    bare = _bare(value, f"{'FLOAT_OOB_FILL' if what == 'oob_fill' else what.upper()}_")
    return choose(f"tensor map: {what}", {"L2_" + name: name for name in names}.get(str(bare), bare), codes)


def _bare(value: object, enumeration: str) -> object:
    """A name of ``cuda.h`` without what all names of its enumeration begin with."""
    if not isinstance(value, str):
        return value
    short = value.strip().removeprefix("CU_TENSOR_MAP_").removeprefix(enumeration)
    return "NAN" if short == "NAN_REQUEST_ZERO_FMA" else short


def _integers(values: object, what: str) -> tuple[int, ...]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise DescriptorError(f"tensor map: {what} must be a sequence of integers, found {brief(values)}")
    return tuple(as_integer(one, f"tensor map: a number of {what}", maximum=(1 << 64) - 1) for one in values)


def _refusals(one: TensorMap) -> Iterator[MapRefusal]:
    rule = IM2COL if isinstance(one.box, Im2colWindow) else ENCODE
    if one.data_type.stored is None:
        yield MapRefusal("tensorDataType", f"{one.data_type} is for sm_100 and later", MEASURED, of_architecture=True)
    least = 3 if isinstance(one.box, Im2colWindow) or one.interleave else 1
    if not least <= one.rank <= MAX_RANK:
        yield MapRefusal("tensorRank", f"must lie in [{least}, {MAX_RANK}], found {one.rank}", rule)
        return
    align = 32 if one.interleave == 2 or one.data_type.code in PADDED else 16
    if one.address % align:
        yield MapRefusal("globalAddress", f"must be a multiple of {align}, found {one.address}", rule)
    if one.address >> ADDRESS_BITS:
        yield MapRefusal("globalAddress", f"must have at most {ADDRESS_BITS} bits, found {one.address:#x}", MEASURED)
    for i, extent in enumerate(one.extents):
        if not 1 <= extent <= 1 << 32:
            yield MapRefusal(f"globalDim[{i}]", f"must lie in [1, 2^32], found {extent}", rule)
    for i, stride in enumerate(one.strides):
        if stride % align or stride >> 40:
            yield MapRefusal(f"globalStrides[{i}]", f"must be a multiple of {align} below 2^40, found {stride}", rule)
    for i, step in enumerate(one.element_strides):
        if not 1 <= step <= 8:
            yield MapRefusal(f"elementStrides[{i}]", f"must lie in [1, 8], found {step}", rule)
    yield from _window_refusals(one, one.box) if isinstance(one.box, Im2colWindow) else _box_refusals(one.box)
    yield from _row_refusals(one, rule)
    if one.swizzle > 3:
        name = SWIZZLE_NAMES[one.swizzle]
        yield MapRefusal("swizzle", f"{name} is for sm_100 and later", MEASURED, of_architecture=True)
    if one.oob_fill and not one.data_type.floating:
        yield MapRefusal("oobFill", f"NaN is for floating-point types, found {one.data_type}", rule)


def _row_refusals(one: TensorMap, rule: str) -> Iterator[MapRefusal]:
    name = "channelsPerPixel" if isinstance(one.box, Im2colWindow) else "boxDim[0]"
    if one.inner_bytes % INNER_BYTES:
        yield MapRefusal(name, f"must be whole {INNER_BYTES} bytes, found {one.inner_bytes}", rule)
    if one.swizzle and not one.interleave and one.inner_bytes > _SPANS[one.swizzle]:
        must = f"must be at most the {_SPANS[one.swizzle]} bytes of the swizzle"
        yield MapRefusal(name, f"{must}, found {one.inner_bytes}", rule)
    if one.data_type.code in PADDED and not isinstance(one.box, Im2colWindow) and one.box[0] != PADDED_INNER:
        yield MapRefusal(name, f"must be {PADDED_INNER} elements of {one.data_type}, found {one.box[0]}", rule)
    if one.data_type.code in PADDED and one.mode not in PADDED_SWIZZLES:
        yield MapRefusal("swizzle", f"{SWIZZLE_NAMES[one.swizzle]} does not go with {one.data_type}", rule)
    if (counted := _box_bytes(one)) > MAX_BOX_BYTES:
        yield MapRefusal("boxDim", f"a box must have at most {MAX_BOX_BYTES} bytes, found {counted}", MEASURED)


def _box_refusals(box: tuple[int, ...]) -> Iterator[MapRefusal]:
    for i, extent in enumerate(box):
        if not 1 <= extent <= MAX_BOX_EXTENT:
            yield MapRefusal(f"boxDim[{i}]", f"must lie in [1, {MAX_BOX_EXTENT}], found {extent}", ENCODE)


def _window_refusals(one: TensorMap, window: Im2colWindow) -> Iterator[MapRefusal]:
    if not 1 <= window.channels <= MAX_BOX_EXTENT:
        yield MapRefusal("channelsPerPixel", f"must lie in [1, {MAX_BOX_EXTENT}], found {window.channels}", IM2COL)
    if not 1 <= window.pixels <= 1024:
        yield MapRefusal("pixelsPerColumn", f"must lie in [1, 1024], found {window.pixels}", IM2COL)
    half = 1 << (_CORNERS[one.rank] - 1)
    for name, corner in (("pixelBoxLowerCorner", window.lower), ("pixelBoxUpperCorner", window.upper)):
        if not all(-half <= offset < half for offset in corner):
            yield MapRefusal(name, f"must lie in [{-half}, {half - 1}], found {corner}", IM2COL)
    # With interleave the channels of a slice are no dimension of their own. The driver counts in 32 bits.
    spatial = one.extents if one.interleave else one.extents[1:]
    for i, (extent, lower, upper) in enumerate(zip(spatial, window.lower, window.upper, strict=False)):
        if lower >= (extent + upper + (1 << 31)) % (1 << 32) - (1 << 31):
            must = f"must leave a pixel of the {extent} along dimension {i}"
            yield MapRefusal("pixelBoxUpperCorner", f"{must}, found {lower} to {upper}", IM2COL)


def _box_bytes(one: TensorMap) -> int:
    """Bytes of a box as the driver counts them: rounded down by each element stride, unlike what lands."""
    if isinstance(one.box, Im2colWindow):
        return one.box.channels * one.box.pixels * one.data_type.bits // 8
    pairs = zip(one.box, one.element_strides, strict=True)
    return prod(extent // max(step, 1) for extent, step in pairs) * one.data_type.bits // 8


def _stored(one: TensorMap) -> dict[str, int]:
    """What the fields hold for a map that the driver takes."""
    values = {
        "global_address": one.address,
        "rank": one.rank - 1,
        "format": one.data_type.stored or 0,
        "interleave": one.interleave,
        "swizzle": one.swizzle,
        "oob_fill": one.oob_fill,
        "round_to_tf32": int(one.data_type.code in _ROUNDED),
        "l2_promotion": one.l2_promotion,
        "box_bytes": _box_bytes(one),
        "pattern_bytes": _PATTERNS[one.swizzle],
    }
    for i, stride in enumerate(one.strides, 1):
        values |= {f"stride_{i}": stride % (1 << 36), f"stride_{i}_high": stride >> 36}
    for i, (extent, step) in enumerate(zip(one.extents, one.element_strides, strict=True)):
        values |= {f"extent_{i}": extent - 1, f"element_stride_{i}": step - 1}
    if not isinstance(one.box, Im2colWindow):
        return values | {f"box_{i}": extent - 1 for i, extent in enumerate(one.box)}
    return values | {
        "im2col": 1,
        "channels": one.box.channels - 1,
        "pixels": one.box.pixels - 1,
        "lower_corner": _packed(one.box.lower, _CORNERS[one.rank]),
        "upper_corner": _packed(one.box.upper, _CORNERS[one.rank]),
    }


def _loaded(number: int) -> TensorMap:
    """The map that the fields say, whatever the others hold."""
    im2col = bool(number >> 64 & 1)
    values: dict[str, Any] = (IM2COL_MAP if im2col else TILED_MAP).decode(number)
    rank = values["rank"] + 1
    if rank > MAX_RANK or (im2col and rank not in _CORNERS):
        raise DescriptorError(f"tensor map: the rank must be at most {MAX_RANK}, of im2col at least 3, found {rank}")
    kind = (values["format"], bool(values["round_to_tf32"]))
    types = [one for one in _DATA_TYPES if (one.stored, one.code in _ROUNDED) == kind]
    if not types or values["interleave"] >= len(INTERLEAVES):
        raise DescriptorError(f"tensor map: format {kind[0]} or interleave {values['interleave']} names nothing")
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
