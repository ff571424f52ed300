"""Plans of tensor copies: the dimensions of the tensor map, the boxes, the limits of a copy, and the proof of a plan.

The names and codes of the driver are in :mod:`descriptors.smem.words.tensor_map`. The further requirements of a copy
are here, each with its source.

Invariant: the boxes have as many bytes as the tile, and different origins.

>>> from descriptors import derive, tma_plan
>>> for mode in ("none", "32B", "64B", "128B"):
...     plan = tma_plan(derive((128, 128), "bf16", "K", mode, (64, 16)), rank=2)
...     assert len(plan.boxes) * plan.box_bytes == 128 * 128 * 2
...     assert len({box.origin for box in plan.boxes}) == len(plan.boxes)
...     assert sorted(box.offset_bytes for box in plan.boxes) == list(range(0, 128 * 128 * 2, plan.box_bytes))

Invariant: the data types in ``PADDED`` are those that are padded in shared memory, and only sm100 copies them.

>>> from descriptors.smem.operands.operand import ELEMENT_TYPES
>>> from descriptors.smem.words.tensor_map import DATA_TYPES, PADDED, SM100_DATA_TYPES
>>> padded = {name for name, element in ELEMENT_TYPES.items() if element.bits != element.storage_bits}
>>> {DATA_TYPES[name][1] for name in padded} == PADDED
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

#: Required alignment of the shared-memory address of a box, in bytes (GUIDE).
DESTINATION_BYTES = 128


def check_destination(address: int) -> None:
    """Check that a box of a tensor copy can begin at an address of shared memory.

    Raises:
        TmaError: if the address is not a multiple of 128 bytes.

    >>> check_destination(0x80)
    """
    if address % DESTINATION_BYTES:
        raise TmaError(
            f"a box begins at {address:#x} of shared memory, which is not a multiple of {DESTINATION_BYTES} bytes",
            GUIDE,
        )


#: The largest number of elements of a plan that is verified, which needs about a dozen numbers per element.
_MOST_ELEMENTS = 1 << 23


@frozen
class Dimension:
    """A dimension of the tensor map: a dimension of the tensor, or a digit of one.

    Args:
        mode: 0 for MN, 1 for K.
        step: elements of the tensor's dimension from one index to the next.
        extent: number of indices; None for the last digit, which extends to the end of the tensor.
        box: extent of a box along this dimension.
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
        """Return the index along this dimension of an element at a position along MN or K."""
        index = position // self.step
        return index if self.extent is None else index % self.extent


@frozen
class Box:
    """A tensor copy.

    Args:
        stage: number of the stage that it fills, counted along the tile's modes after K; 0 without stages.
        origin: coordinate (MN, K) of its first element in the tile.
        coordinates: the origin along the dimensions of the tensor map, to add to the coordinates of the tile.
        offset_bytes: offset in shared memory from the start of the tile.
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
        dimensions: the dimensions of the tensor map, fastest first.
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
        """The plan in one line."""
        count, box = counted(len(self.boxes), "box"), extents_text(self.box)
        return f"{count} of {box} {self.element}, swizzle {self.swizzle}"

    @property
    def swizzle_name(self) -> str:
        """Name of the swizzle in the driver's header."""
        return SWIZZLES[self.swizzle][0]

    @property
    def swizzle_code(self) -> int:
        """Code of the swizzle in the driver's header; the codes in descriptors differ."""
        return SWIZZLES[self.swizzle][1]

    @property
    def data_type_name(self) -> str:
        """Name of the element type in the driver's header."""
        return DATA_TYPES[self.element.name][0]

    @property
    def data_type_code(self) -> int:
        """Code of the element type in the driver's header."""
        return DATA_TYPES[self.element.name][1]

    @property
    def interleave_name(self) -> str:
        """Name of the interleave in the driver's header, which is none for a matrix."""
        return INTERLEAVE[0]

    @property
    def interleave_code(self) -> int:
        """Code of the interleave in the driver's header."""
        return INTERLEAVE[1]

    @property
    def box(self) -> tuple[int, ...]:
        """Extents of a box in elements, fastest first: ``boxDim``."""
        return tuple(dimension.box for dimension in self.dimensions)

    @property
    def box_bytes(self) -> int:
        """Bytes of shared memory of one box, including the gaps after rows that are shorter than the swizzle's span."""
        return row_pitch_bits(self.box[0] * self.element.storage_bits, self.swizzle_code) // 8 * prod(self.box[1:])

    @property
    def transaction_bytes(self) -> int:
        """Bytes that one box adds to the transaction count of its mbarrier: those of global memory, without padding.

        Source: CuTe DSL ``TensorMap.global_tx_bytes``.
        """
        return prod(self.box) * self.element.bits // 8

    @property
    def alignment_bytes(self) -> int:
        """Required alignment of the tile's shared-memory address, in bytes.

        Source: CUDA C++ Programming Guide (128 bytes for any tensor copy); PTX ISA 9.1, Table 41 (the pattern).
        """
        return max(DESTINATION_BYTES, self.swizzle.alignment_bytes)

    @property
    def origin_multiples(self) -> tuple[int, int]:
        """Numbers that the tile's (MN, K) coordinate in the tensor must be multiples of, in elements.

        Along the contiguous dimension, a copy begins at a multiple of 16 bytes (otherwise an H200 stops with an illegal
        instruction), or of 128 elements for padded types. Along a dimension of several digits, it begins at a multiple
        of the last digit's step.
        """
        inner = PADDED_INNER if self.data_type_code in PADDED else INNER_BYTES * 8 // self.element.storage_bits
        steps = [max(row.step for row in self.dimensions if row.mode == mode) for mode in (0, 1)]
        contiguous = self.major.contiguous_mode
        steps[contiguous] = lcm(steps[contiguous], inner)
        return steps[0], steps[1]

    @property
    def evidence(self) -> str:
        """How the copy model is known for this plan, as text."""
        if self.data_type_code in SM100_DATA_TYPES or self.swizzle_code in SM100_SWIZZLES:
            return DOCUMENTED
        return "measured on a Hopper GPU"

    @property
    def global_alignment_bytes(self) -> int:
        """Required alignment of the tensor's global address and strides, in bytes (``cuTensorMapEncodeTiled``)."""
        return 32 if self.data_type_code in PADDED else 16

    def copied(self, address: int = 0) -> tuple[list[NDArray[Any]], NDArray[Any], NDArray[Any]]:
        """Return where the copy engine writes every element, by the copy model and the coordinates.

        Args:
            address: address of the tile in shared memory, in bytes.

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
        # The element at each position of a box follows from the coordinates, as in the copy engine.
        count = np.arange(prod(self.box), dtype=np.int64)
        at = [np.zeros(landed.shape, dtype=np.int64) for _ in range(2)]
        for i, dimension in enumerate(self.dimensions):
            start = np.array([box.coordinates[i] for box in self.boxes], dtype=np.int64)[:, None]
            local = count // prod(self.box[:i]) % dimension.box
            at[dimension.mode] += (start + local) * dimension.step
        stage = np.broadcast_to(np.array([box.stage for box in self.boxes])[:, None], landed.shape)
        return at, stage, landed

    def verify(self, address: int = 0) -> int:
        """Verify the plan: compare where every copied element lands with the tile's layout.

        Invariant: each element of the tile is copied exactly once, to ``address`` plus its offset in the layout, and no
        two elements to the same address.

        Args:
            address: address of the tile in shared memory, in bytes.

        Returns:
            number of elements compared.

        Raises:
            DescriptorError: if the tile has more than eight million elements.
            TmaError: if the address is not aligned, or an element lands at another address.

        >>> from descriptors import derive
        >>> from descriptors import tma_plan
        >>> tma_plan(derive(tile=(128, 128), dtype="bf16", major="K", swizzle="128B", mma=(64, 16))).verify()
        16384
        """
        import numpy as np

        if size(self.layout) > _MOST_ELEMENTS:
            fact = f"the tile has {size(self.layout)} elements, more than the {_MOST_ELEMENTS} that can be compared"
            raise DescriptorError(f"tma: {fact}; tile = {self.layout}")
        if address % self.alignment_bytes:
            fact = f"the tile's address {address} is not a multiple of {self.alignment_bytes} bytes"
            raise TmaError(f"{fact}; tile = {self.layout}", GUIDE)
        bits = self.element.storage_bits
        places = offsets(self.layout).astype(np.int64) * bits + address * 8
        # Stages are numbered along their modes, the first mode fastest; a tile without stages has one stage.
        places = places.reshape(*places.shape[:2], -1, order="F")
        at, stage, landed = self.copied(address)
        times = np.zeros(places.shape, dtype=np.int64)
        np.add.at(times, (at[0], at[1], stage), 1)
        if not (times == 1).all():
            raise TmaError(f"elements are copied {times.min()} to {times.max()} times, not once", ALGEBRA)
        homes = places[at[0], at[1], stage]
        if not (homes == landed).all():
            box, place = np.argwhere(homes != landed)[0]
            element = f"({at[0][box, place]},{at[1][box, place]})"
            raise TmaError(
                f"element {element} lands at byte {landed[box, place] / 8:g}, but the tile has it at "
                f"{homes[box, place] / 8:g}; tile = {self.layout}",
                ALGEBRA,
            )
        if np.unique(landed).size != landed.size:
            raise TmaError(f"two elements land at the same address; tile = {self.layout}", ALGEBRA)
        return int(landed.size)
