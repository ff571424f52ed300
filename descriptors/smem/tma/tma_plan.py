"""What a plan of tensor copies holds: the tensor map's dimensions, the boxes, and their proof; and what copies demand.

What the driver calls things is in :mod:`descriptors.smem.words.tensor_map`; what a copy of such a map demands beyond
it is here, each with its source.

Law: the boxes hold as many bytes as the tile, and begin at places of their own.

>>> from descriptors import derive, tma_plan
>>> for mode in ("none", "32B", "64B", "128B"):
...     plan = tma_plan(derive((128, 128), "bf16", "K", mode, (64, 16)), rank=2)
...     assert len(plan.boxes) * plan.box_bytes == 128 * 128 * 2
...     assert len({box.origin for box in plan.boxes}) == len(plan.boxes)
...     assert sorted(box.offset_bytes for box in plan.boxes) == list(range(0, 128 * 128 * 2, plan.box_bytes))

Law: the types with a rule of their own are those that are padded in shared memory, and sm100 alone copies them.

>>> from descriptors.smem.operands.operand import ELEMENT_TYPES
>>> from descriptors.smem.words.tensor_map import DATA_TYPES, PADDED, SM100_DATA_TYPES
>>> {DATA_TYPES[name][1] for name, one in ELEMENT_TYPES.items() if one.bits != one.storage_bits} == PADDED
True
>>> PADDED < SM100_DATA_TYPES
True
"""

from __future__ import annotations

from math import lcm, prod
from typing import TYPE_CHECKING, Any

from descriptors.errors import DescriptorError
from descriptors.smem.operands.operand import ElementType, Major, SwizzleMode
from descriptors.smem.tma.copy_model import landing_bits
from descriptors.smem.words.tensor_map import (
    DATA_TYPES,
    GUIDE,
    INNER_BYTES,
    INTERLEAVE,
    PADDED,
    PADDED_INNER,
    SM100_DATA_TYPES,
    SM100_SWIZZLES,
    SWIZZLES,
    TmaError,
    row_pitch_bits,
)
from descriptors.text import DOCUMENTED, Told, counted, extents_text
from layoutalg import ComposedLayout, Layout, offsets, size
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from numpy.typing import NDArray


#: Sources of the rules.
COPY = "PTX ISA 9.1, restrictions on tensor copy instructions"
ALGEBRA = "a tensor copy writes a dense box, each element once"

#: What the shared-memory address of every box must be a multiple of, in bytes (GUIDE).
DESTINATION_BYTES = 128


def check_destination(address: int) -> None:
    """Refuse an address of shared memory at which no box of a tensor copy begins.

    Raises:
        TmaError: if it is not a multiple of 128 bytes.

    >>> check_destination(0x80)
    """
    if address % DESTINATION_BYTES:
        must = f"a box must begin at a multiple of {DESTINATION_BYTES} bytes of shared memory"
        raise TmaError(f"{must}, found {address:#x}", GUIDE)


#: The most elements of a plan that is proved: they are held in memory, a dozen numbers each.
_MOST_ELEMENTS = 1 << 23


@frozen
class Dimension:
    """One dimension of the tensor map: a dimension of the tensor, or a digit of one.

    Args:
        mode: 0 for MN, 1 for K.
        step: elements of that dimension from one index to the next; its stride is as many times the tensor's.
        extent: how many indices it has; None for the last digit, which goes on to the end of the tensor.
        box: extent of a box along it.
    """

    mode: int
    step: int
    extent: int | None
    box: int

    @property
    def name(self) -> str:
        """``K``, or ``K/64`` for the digit that counts every 64th element.

        >>> Dimension(1, 64, None, 2).name
        'K/64'
        """
        return ("MN", "K")[self.mode] + (f"/{self.step}" if self.step > 1 else "")

    def index(self, position: int) -> int:
        """The index along this dimension of an element at a position along MN or K."""
        index = position // self.step
        return index if self.extent is None else index % self.extent


@frozen
class Box:
    """One tensor copy.

    Args:
        stage: number of the stage that it fills, counted along the tile's modes after K; 0 where there are none.
        origin: (MN, K) of its first element in the tile.
        coordinates: the same along the dimensions of the tensor map, to be added to the tile's own.
        offset_bytes: its place in shared memory, from the start of the tile.
    """

    stage: int
    origin: tuple[int, int]
    coordinates: tuple[int, ...]
    offset_bytes: int


@frozen
class TmaPlan(Told):
    """The tensor map and the copies that fill a shared-memory tile.

    Args:
        layout: the tile, in elements.
        element: the element type.
        major: the contiguous dimension.
        swizzle: the swizzle mode.
        dimensions: of the tensor map, fastest first.
        boxes: the copies, stage by stage, each stage in the order of shared memory.
    """

    layout: Layout | ComposedLayout
    element: ElementType
    major: Major
    swizzle: SwizzleMode
    dimensions: tuple[Dimension, ...]
    boxes: tuple[Box, ...]

    @property
    def headline(self) -> str:
        """The answer in one line."""
        count, box = counted(len(self.boxes), "box"), extents_text(self.box)
        return f"{count} of {box} {self.element}, swizzle {self.swizzle}"

    @property
    def swizzle_name(self) -> str:
        """Name of the swizzle in the driver's header."""
        return SWIZZLES[self.swizzle][0]

    @property
    def swizzle_code(self) -> int:
        """Its value there; descriptors number the same swizzles in two other ways."""
        return SWIZZLES[self.swizzle][1]

    @property
    def data_type_name(self) -> str:
        """Name of the element type in the driver's header."""
        return DATA_TYPES[self.element.name][0]

    @property
    def data_type_code(self) -> int:
        """Its value there."""
        return DATA_TYPES[self.element.name][1]

    @property
    def interleave_name(self) -> str:
        """Name of the interleave in the driver's header: none, for a matrix."""
        return INTERLEAVE[0]

    @property
    def interleave_code(self) -> int:
        """Its value there."""
        return INTERLEAVE[1]

    @property
    def box(self) -> tuple[int, ...]:
        """Extents of a box in elements, fastest first: ``boxDim``."""
        return tuple(dimension.box for dimension in self.dimensions)

    @property
    def box_bytes(self) -> int:
        """Shared memory that one box takes up, with what lies between rows shorter than the span of the swizzle."""
        return row_pitch_bits(self.box[0] * self.element.storage_bits, self.swizzle_code) // 8 * prod(self.box[1:])

    @property
    def transaction_bytes(self) -> int:
        """What one box adds to the transaction count of its mbarrier: bytes of global memory, without any padding.

        Source: CuTe DSL ``TensorMap.global_tx_bytes``.
        """
        return prod(self.box) * self.element.bits // 8

    @property
    def alignment_bytes(self) -> int:
        """What the tile's shared-memory address must be a multiple of.

        Source: CUDA C++ Programming Guide (128 bytes for any tensor copy); PTX ISA 9.1, Table 41 (the pattern).
        """
        return max(DESTINATION_BYTES, self.swizzle.alignment_bytes)

    @property
    def origin_multiples(self) -> tuple[int, int]:
        """What the tile's own (MN, K) coordinate in the tensor must be multiples of, in elements.

        Along the contiguous dimension a copy begins at a whole 16 bytes (an H200 stops with an illegal instruction
        otherwise), of padded types at a whole 128 elements; a dimension of several digits at its last one.
        """
        inner = PADDED_INNER if self.data_type_code in PADDED else INNER_BYTES * 8 // self.element.storage_bits
        steps = [max(one.step for one in self.dimensions if one.mode == mode) for mode in (0, 1)]
        contiguous = self.major.contiguous_mode
        steps[contiguous] = lcm(steps[contiguous], inner)
        return steps[0], steps[1]

    @property
    def evidence(self) -> str:
        """How the model of the copy is known for this plan, in words fit for a report."""
        if self.data_type_code in SM100_DATA_TYPES or self.swizzle_code in SM100_SWIZZLES:
            return DOCUMENTED
        return "measured on a Hopper GPU"

    @property
    def global_alignment_bytes(self) -> int:
        """What the tensor's global address and strides must be multiples of (``cuTensorMapEncodeTiled``)."""
        return 32 if self.data_type_code in PADDED else 16

    def copied(self, address: int = 0) -> tuple[list[NDArray[Any]], NDArray[Any], NDArray[Any]]:
        """Where the copy engine puts every element, by the copy model and the coordinates alone.

        Args:
            address: of the tile in shared memory, in bytes.

        Returns:
            MN and K of each element, its stage, and the address of its first bit; axes (box, element of the box).

        >>> from descriptors import derive, tma_plan
        >>> (mn, k), _, landed = tma_plan(derive((128, 128), "bf16", "K", "128B", (64, 16)), rank=2).copied()
        >>> int(mn[1, 64]), int(k[1, 64]), int(landed[1, 64]) // 8
        (1, 64, 16528)
        """
        import numpy as np

        destinations = [address + box.offset_bytes for box in self.boxes]
        landed = landing_bits(self.box, destinations, bits=self.element.storage_bits, swizzle=self.swizzle_code)
        # Which element each place of a box holds follows from the coordinates alone, as it does for the engine.
        count = np.arange(prod(self.box), dtype=np.int64)
        at = [np.zeros(landed.shape, dtype=np.int64) for _ in range(2)]
        for i, dimension in enumerate(self.dimensions):
            start = np.array([box.coordinates[i] for box in self.boxes], dtype=np.int64)[:, None]
            local = count // prod(self.box[:i]) % dimension.box
            at[dimension.mode] += (start + local) * dimension.step
        stage = np.broadcast_to(np.array([box.stage for box in self.boxes])[:, None], landed.shape)
        return at, stage, landed

    def verify(self, address: int = 0) -> int:
        """Prove the plan: follow every element of every copy to shared memory, and compare with the tile's layout.

        Law: each element of the tile is copied exactly once, to ``address`` plus its offset by the layout, and no two
        to one place.

        Args:
            address: of the tile in shared memory, in bytes.

        Returns:
            number of elements compared.

        Raises:
            DescriptorError: if the tile has more than eight million elements.
            TmaError: if the address is not aligned, or an element goes astray.

        >>> from descriptors import derive
        >>> from descriptors import tma_plan
        >>> tma_plan(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))).verify()
        16384
        """
        import numpy as np

        if size(self.layout) > _MOST_ELEMENTS:
            must = f"a tile must have at most {_MOST_ELEMENTS} elements to be compared"
            raise DescriptorError(f"tma: {must}, found {size(self.layout)}; tile = {self.layout}")
        if address % self.alignment_bytes:
            must = f"the tile's address must be a multiple of {self.alignment_bytes}"
            raise TmaError(f"{must}, found {address}; tile = {self.layout}", GUIDE)
        bits = self.element.storage_bits
        places = offsets(self.layout).astype(np.int64) * bits + address * 8
        # Stages are numbered along their modes, the first fastest; a tile without stages has one.
        places = places.reshape(*places.shape[:2], -1, order="F")
        at, stage, landed = self.copied(address)
        times = np.zeros(places.shape, dtype=np.int64)
        np.add.at(times, (at[0], at[1], stage), 1)
        if not (times == 1).all():
            raise TmaError(f"every element must be copied once, found {times.min()} to {times.max()} times", ALGEBRA)
        homes = places[at[0], at[1], stage]
        if not (homes == landed).all():
            box, place = np.argwhere(homes != landed)[0]
            element = f"({at[0][box, place]},{at[1][box, place]})"
            raise TmaError(
                f"element {element} must land at byte {homes[box, place] / 8:g}, lands at "
                f"{landed[box, place] / 8:g}; tile = {self.layout}",
                ALGEBRA,
            )
        if np.unique(landed).size != landed.size:
            raise TmaError(f"no two elements may share a place; tile = {self.layout}", ALGEBRA)
        return int(landed.size)
