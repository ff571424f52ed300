"""Chain links in memory: tensors, tensor copies in both directions, layouts of shared memory, and descriptors.

Each link states where the elements of the tile are, or what it moves. The rules come from the copy model, the read
model and the layouts of the algebra.

Invariant: the copy of a tile and its layout put every element at the same place.

>>> from descriptors.gemm.places import Contents, Tile
>>> from descriptors.smem.operands.operand import as_element_type
>>> from descriptors.smem.tma.map_notation import parse_tensor_map
>>> tile = Tile(128, 64, as_element_type("bf16"))
>>> copy = TensorCopy(parse_tensor_map("type=bf16 extents=512x256 strides=1024 box=64x128 swizzle=128B"))
>>> home, move = copy.steps(tile)
>>> there = Contents.of(home.space, home.places, home.elements).moved(move)
>>> layout = SharedLayout("S<3,3,3> o 0 o (128,64):(64,1)").memory(tile)
>>> bool((there.at(layout.places) == layout.elements).all())
True
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product as every
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar

from descriptors.errors import DescriptorError
from descriptors.gemm.places import GLOBAL, OPERAND, SHARED, Home, Move, Tile
from descriptors.smem.debug.diff import why_unreadable
from descriptors.smem.debug.warnings import bit_warnings, memory_warnings, read_warnings
from descriptors.smem.derivation.derive import derive
from descriptors.smem.instructions.legality import operand_refusal
from descriptors.smem.instructions.rules import Legality
from descriptors.smem.operands.explicit import Unit, contiguous_major, evaluated, explicit_tile
from descriptors.smem.operands.operand import ElementType, Major, SwizzleMode
from descriptors.smem.operands.swizzled import plain, stored_text
from descriptors.smem.proof.addresses import address_bits
from descriptors.smem.proof.read_model import read_addresses
from descriptors.smem.tma.convolution import Convolution
from descriptors.smem.tma.copy_model import im2col_coordinates, landing_bits
from descriptors.smem.tma.tap_elements import ZERO, tap_elements
from descriptors.smem.tma.tma_plan import check_destination
from descriptors.smem.words.descriptor import assumed_architecture, smem_word, with_version, word_format
from descriptors.smem.words.tensor_map import MEASURED, SWIZZLE_NAMES, Im2colWindow, TensorMap, TmaError
from descriptors.targets import has_tcgen05, has_wgmma, known, shared_bytes
from descriptors.text import DOCUMENTED, extents_text, some, word_text
from layoutalg import ComposedLayout, Layout, LayoutError, offsets, size
from layoutalg.frozen import frozen, replace

if TYPE_CHECKING:
    from descriptors.gemm.places import Numbers


#: The limit of offsets and addresses of a link, so that all sums, in bits, fit 64 bits.
FARTHEST = 1 << 50


class UndecidedLinkError(DescriptorError):
    """Raised for a link whose moves are not known. The rest of the chain is then undecided, not wrong."""


#: How it is known what copies from shared to global memory do.
STORES = "that a TMA store takes what a load puts is the CUDA guide's word, not measured"
#: Alignment of the addresses and sizes of ``cp.async.bulk``, in bytes (PTX ISA 9.1, cp.async.bulk).
BULK_BYTES = 16
#: The largest swizzle code that the copy model supports.
_MODELLED_SWIZZLES = 4


@frozen
class TensorLayout:
    """The tile as a part of a tensor in global memory.

    Args:
        layout: (row, column) of the tile to an offset in elements; or its notation.
        address: address of offset 0, in bytes.
    """

    layout: Layout | ComposedLayout | str
    address: int = 0
    noun: ClassVar[str] = "tensor"
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        return str(self.layout)

    def memory(self, tile: Tile) -> Home:
        """Return where the elements are."""
        table = table_of(self.layout, (tile.rows, tile.columns), "tensor")
        places = table * tile.element.bits + 8 * self.address
        return Home(GLOBAL, tile.all().ravel(), places.ravel())

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield where the elements are."""
        yield self.memory(tile)


@frozen
class BulkCopy:
    """``cp.async.bulk`` from global to shared memory, which copies bytes unchanged.

    Args:
        bytes: number of bytes.
        source, target: address of the first byte in global and in shared memory.
    """

    bytes: int
    source: int = 0
    target: int = 0
    noun: ClassVar[str] = "bulk"
    verbs: ClassVar[tuple[str, str]] = ("puts", "takes")

    def __str__(self) -> str:
        return f"{self.bytes} bytes from {self.source:#x} to {self.target:#x}"

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield what the link moves."""
        import numpy as np

        for field, number in (("bytes", self.bytes), ("from", self.source), ("to", self.target)):
            if number % BULK_BYTES:
                raise DescriptorError(f"bulk: {field} is {number}, which is not a multiple of {BULK_BYTES}")
        limit = shared_bytes(tile.arch or "sm90")
        if not 0 < self.bytes <= limit:
            raise DescriptorError(f"bulk: the number of bytes is {self.bytes}, not 16 to {limit}")
        places = np.arange(0, 8 * self.bytes, tile.element.storage_bits, dtype=np.int64)
        yield Move(GLOBAL, SHARED, places + 8 * self.source, places + 8 * self.target)


@frozen
class ConvolutionTensor:
    """The tile of a convolution by its definition: rows at one tap, and channels. Padding zeros are not in memory.

    Args:
        convolution: the convolution whose activations or filters are in global memory.
        filters: whether the rows are filters instead of output pixels.
        row, tap, channel: row, tap and channel of the first element of the tile.
        address: address of the tensor, in bytes.
        run: number of consecutive rows if the CTAs of a pair have alternating runs; 0 if all rows are consecutive.
    """

    convolution: Convolution
    filters: bool = False
    row: int = 0
    tap: int = 0
    channel: int = 0
    address: int = 0
    run: int = 0
    noun: ClassVar[str] = "convolution"
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        tap = "tap ({},{})".format(*self.convolution.tap(self.tap))
        return f"{'filters' if self.filters else 'pixels'} from {self.row} on at {tap} of {self.convolution}"

    def memory(self, tile: Tile) -> Home:
        """Return where the elements are."""
        import numpy as np

        layer = self.convolution
        local = np.arange(tile.rows)
        indices = self.row + local + (local // self.run * self.run if self.run else 0)
        numbers = tap_elements(layer, self.tap, filters=self.filters)
        rows = np.where(indices < len(numbers), numbers[np.minimum(indices, len(numbers) - 1)], ZERO)
        channels = self.channel + np.arange(tile.columns)
        in_memory = (rows[:, None] != ZERO) & (channels < layer.channels)
        places = (rows[:, None] * layer.channels + channels) * tile.element.bits + 8 * self.address
        return Home(GLOBAL, tile.all()[in_memory], places[in_memory])

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield where the elements are."""
        yield self.memory(tile)


@frozen
class TensorCopy:
    """Tensor copies between global and shared memory: loads if the tile is in global memory, else stores.

    Args:
        map: the tensor map.
        boxes: for each box, its coordinates in the tensor, fastest first, and its address in shared memory, in bytes.
            For an im2col map, the offsets of a tap may follow the coordinates. () for adjacent boxes that cover the
            tile, stored one after the other, with the first dimension of the tensor slowest.
        base: address in shared memory of the first box if ``boxes`` is (), in bytes.
        origin: coordinates of the tile in the tensor, fastest first; () for the first element.
        major: whether dimension 0 of the tensor is the columns (``K``) or the rows (``MN``) of the tile.
    """

    map: TensorMap
    boxes: tuple[tuple[tuple[int, ...], int], ...] = ()
    base: int = 0
    origin: tuple[int, ...] = ()
    major: Major = Major.K
    noun: ClassVar[str] = "tma"
    verbs: ClassVar[tuple[str, str]] = ("puts", "takes")

    def __str__(self) -> str:
        box = "x".join(map(str, self.map.box)) if isinstance(self.map.box, tuple) else "im2col"
        swizzle = f", swizzle {self.map.mode or SWIZZLE_NAMES[self.map.swizzle]}" if self.map.swizzle else ""
        return f"box {box}{f', interleave {self.map.slice_bytes}B' * bool(self.map.interleave)}{swizzle}"

    def text(self, tile: Tile) -> str:
        """Return the link as text, with the address of each box."""
        boxes = self._boxes(tile)
        if len(boxes) == 1:
            return str(self)
        return f"{self}, {len(boxes)} boxes at {some(hex(address) for _, address in boxes)}"

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield what the copies move; if no other link states where the tile is in global memory, also that."""
        self._check(tile)
        places, inside, shared = self._places(tile)
        places, shared = places[inside], shared[inside]
        if len(places) > tile.size:
            raise DescriptorError(
                f"tma: the boxes copy {len(places)} elements, more than the {tile.size} of the tile; use a tile with "
                "all elements that they copy"
            )
        if tile.contents is None:
            yield self._tensor(tile)
        if tile.contents is None or tile.contents.space == GLOBAL:
            yield Move(GLOBAL, SHARED, places, shared)
            return
        yield Move(SHARED, GLOBAL, shared, places)
        if tile.after is None:
            yield self._tensor(tile)._replace(clips=True)

    def remark(self, tile: Tile) -> str:
        """Return how it is known what the copies move; "" if it was measured on a Hopper GPU."""
        if self.map.data_type.stored is None or self.map.swizzle >= _MODELLED_SWIZZLES:
            return DOCUMENTED
        stores = tile.contents is not None and tile.contents.space == SHARED
        if self.map.interleave and (stores or (isinstance(self.map.box, Im2colWindow) and self.map.rank != 4)):
            return "such a copy of an interleaved tensor was not measured"
        return STORES if tile.contents is not None and tile.contents.space == SHARED else ""

    def _check(self, tile: Tile) -> None:
        tensor_map = self.map
        if tensor_map.swizzle > _MODELLED_SWIZZLES:
            raise UndecidedLinkError("where elements land with this swizzle of the tensor map was not measured")
        if tensor_map.data_type.bits != tile.element.bits:
            raise DescriptorError(
                f"tma: the map's elements have {tensor_map.data_type.bits} bits ({tensor_map.data_type}), and those of "
                f"the tile {tile.element.bits} ({tile.element})"
            )
        for refusal in tensor_map.refusals():
            if refusal.rule == MEASURED and "sm_100" in refusal.message and tile.arch and has_tcgen05(tile.arch):
                continue
            raise TmaError(f"{refusal.argument} {refusal.message}", refusal.rule)

    def _boxes(self, tile: Tile) -> tuple[tuple[tuple[int, ...], int], ...]:
        landing, steps = self.map.landing_extents, self.map.steps
        origin = self.origin or (0,) * self.map.rank
        for coordinates in (origin, *(coordinates for coordinates, _ in self.boxes)):
            if len(coordinates) not in self._counts():
                numbers, text = " or ".join(map(str, self._counts())), ",".join(map(str, coordinates))
                raise DescriptorError(f"tma: the coordinates {text} are not {numbers} numbers, as the map's rank needs")
        if self.boxes:
            return self.boxes
        if prod(landing) == tile.size:
            return ((origin, self.base),)
        if prod(landing) > tile.size:
            whole = (prod(landing[1:]), landing[0]) if self.major is Major.K else (landing[0], prod(landing[1:]))
            raise DescriptorError(
                f"tma: the box of {extents_text(landing)} (fastest dimension first) is larger than the tile of "
                f"{tile.rows}x{tile.columns}; a tile of {extents_text(whole)} is the whole box, which all links "
                "then move"
            )
        extents = (tile.columns, tile.rows) if self.major is Major.K else (tile.rows, tile.columns)
        if self.map.rank != 2 or any(whole % part for whole, part in zip(extents, landing, strict=True)):
            zeros = ",".join("0" * self.map.rank)
            raise DescriptorError(
                f"tma: the tile of {tile.rows}x{tile.columns} is not a whole number of boxes of "
                f"{extents_text(landing)} (fastest dimension first); give the coordinates and the address of each box, "
                f"like boxes={zeros}@0;{zeros}@0x4000"
            )
        counts = [whole // part for whole, part in zip(extents, landing, strict=True)]
        pitch = self.map.row_pitch_bytes * prod(landing[1:])
        boxes = []
        for number, (i, j) in enumerate(every(range(counts[0]), range(counts[1]))):
            coordinate = (origin[0] + i * landing[0], origin[1] + j * landing[1] * steps[1])
            boxes.append((coordinate, self.base + number * pitch))
        return tuple(boxes)

    def _places(self, tile: Tile) -> tuple[Numbers, Any, Numbers]:
        """Return for each element of each box its global place, whether the tensor has it, and its shared place."""
        import numpy as np

        boxes, landing = self._boxes(tile), self.map.landing_extents
        for _, address in boxes:
            check_destination(address)
        bits = tile.element.storage_bits
        addresses = [address for _, address in boxes]
        shared = landing_bits(self.map.landing_rows, addresses, bits=bits, swizzle=self.map.swizzle)
        index = np.arange(prod(landing), dtype=np.int64)
        if self.map.interleave:  # all elements of a slice have the same coordinate
            element, index, landing = index % landing[0], index // landing[0], landing[1:]
        else:
            element = np.zeros_like(index)
        if isinstance(self.map.box, Im2colWindow):
            coordinates = self._gathered([box_coordinates for box_coordinates, _ in boxes], self.map.box, index)
        else:
            coordinates = []
            for i, (extent, step) in enumerate(zip(landing, self.map.steps, strict=True)):
                start = np.array([box_coordinates[i] for box_coordinates, _ in boxes], dtype=np.int64)[:, None]
                coordinates.append(start + index // prod(landing[:i]) % extent * step)
        places, inside = self._addresses(coordinates)
        return (places + element * bits).ravel(), inside.ravel(), shared.ravel()

    def _counts(self) -> tuple[int, ...]:
        """Return the allowed lengths of a box's coordinates; an im2col map also allows the offsets of a tap."""
        rank = self.map.rank
        return (rank, 2 * rank - 2) if isinstance(self.map.box, Im2colWindow) else (rank,)

    def _gathered(self, boxes: list[tuple[int, ...]], window: Im2colWindow, index: Numbers) -> list[Any]:
        """Return the coordinates of each element of each im2col box, one array per dimension."""
        import numpy as np

        rank, apart = self.map.rank, self.map.slice_dimension
        channels = 0 if apart is None else apart  # the dimension other than those along which pixels advance
        others = [i for i in range(rank) if i != channels]
        extents, steps = ([of[i] for i in others[:-1]] for of in (self.map.extents, self.map.element_strides))
        starts = np.array([[box_coordinates[i] for i in others] for box_coordinates in boxes], dtype=np.int64)
        pixels = im2col_coordinates(extents, window.lower, window.upper, steps, starts, window.pixels)
        offsets_ = np.array([box_coordinates[rank:] or (0,) * (rank - 2) for box_coordinates in boxes], dtype=np.int64)
        pixels[..., :-1] += offsets_[:, None]
        count = window.channels if apart is None else 1
        first = np.array([box_coordinates[channels] for box_coordinates in boxes], dtype=np.int64)[:, None]
        coordinates = [pixels[:, index // count, i] for i in range(rank - 1)]
        return [*coordinates[:channels], first + index % count, *coordinates[channels:]]

    def _addresses(self, coordinates: list[Any]) -> tuple[Any, Any]:
        """Return the global place of each coordinate, and True if it is inside the tensor."""
        unit = 8 * self.map.slice_bytes or self.map.data_type.bits
        place, inside = coordinates[0] * unit + 8 * self.map.address, coordinates[0] >= 0
        for coordinate, stride in zip(coordinates[1:], self.map.strides, strict=True):
            place = place + coordinate * (8 * stride)
        for coordinate, extent in zip(coordinates, self.map.extents, strict=True):
            inside = inside & (coordinate >= 0) & (coordinate < extent)
        return place, inside

    def _tensor(self, tile: Tile) -> Home:
        """Return where the tile is in a tensor of at most two dimensions, without elements outside the tensor."""
        import numpy as np

        if self.map.rank > 2:
            noun = "convolution" if isinstance(self.map.box, Im2colWindow) else "tensor"
            raise DescriptorError(
                f"tma: the tensor has {self.map.rank} dimensions, and no link says where the tile is in it; add a link "
                f"{noun}, before a load or after a store"
            )
        rows, columns = np.meshgrid(np.arange(tile.rows), np.arange(tile.columns), indexing="ij")
        origin, steps = (*self.origin, 0, 0), (*self.map.steps, 1)
        along = (columns, rows) if self.major is Major.K else (rows, columns)
        coordinates = [along[0] + origin[0], along[1] * steps[1] + origin[1]][: self.map.rank]
        places, inside = self._addresses(coordinates)
        return Home(GLOBAL, tile.all()[inside], places[inside])


@frozen
class SharedLayout:
    """A layout of shared memory.

    Args:
        layout: (row, column) of the tile to an offset; or its notation.
        base: address of offset 0, in bytes.
        unit: the unit of offsets and swizzle.
        swizzle: name of the swizzle mode that is applied to a plain layout; "" for a layout that is stored as written.
    """

    layout: Layout | ComposedLayout | str
    base: int = 0
    unit: Unit = "elements"
    swizzle: str = ""
    noun: ClassVar[str] = "layout"
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        return str(self.layout)

    def text(self, tile: Tile) -> str:
        """Return the stored layout as text, including the swizzle mode that was given separately."""
        if not self.swizzle:
            return str(self)
        return stored_text(replace(self, base=0).tile(tile.element), tile.element)

    def tile(self, element: ElementType) -> Layout | ComposedLayout:
        """Return the layout in elements, with its address included in the offsets."""
        bits = element.storage_bits
        try:
            layout = explicit_tile(self.layout, element, self.swizzle or None, self.unit)[0]
        except DescriptorError:  # a swizzle without a hardware mode, which threads can still use for stores
            layout = evaluated(self.layout) if isinstance(self.layout, str) else self.layout
            if self.swizzle or self.unit != "elements" or not isinstance(layout, ComposedLayout):
                raise
        if self.base * 8 % bits or not self.base:
            return layout
        first = self.base * 8 // bits
        if isinstance(layout, ComposedLayout):  # a swizzle permutes absolute addresses
            return ComposedLayout(layout.outer, layout.offset + first, layout.inner)
        return ComposedLayout(Layout(1 << 30, 1), first, layout)

    def memory(self, tile: Tile) -> Home:
        """Return where the elements are."""
        table = table_of(self.tile(tile.element), (tile.rows, tile.columns), "layout")
        return Home(SHARED, tile.all().ravel(), (table * tile.element.storage_bits).ravel())

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield where the elements are."""
        yield self.memory(tile)


@frozen
class Words:
    """Descriptors: what the instructions read, block by block, as the operand that they multiply.

    Args:
        word: the descriptor of the first block; None to derive descriptor and advance from the layout before it.
        mma: rows and columns of a block.
        advance: (row block, column block) to the number added to the descriptor, in 16-byte units; or its notation, or
            a pair of tuples whose elements are added: one for the row blocks and one for the column blocks.
        major: the contiguous dimension; None for that of the layout before it.
        layout: the layout before it; None if there is none.
        cp: the shape of the ``tcgen05.cp`` that reads with the descriptors; "" for operands.
        sparse: whether a sparse instruction reads the operand.
        legality: ``"off"`` if the instruction was checked before; otherwise an instruction must exist that reads such
            blocks.
    """

    word: int | None
    mma: tuple[int, int]
    advance: Layout | str | tuple[tuple[int, ...], tuple[int, ...]] | None = None
    major: Major | None = None
    layout: SharedLayout | None = None
    cp: str = ""
    sparse: bool = False
    legality: Legality = "lenient"
    noun: ClassVar[str] = "word"
    verbs: ClassVar[tuple[str, str]] = ("reads", "reads")

    def __str__(self) -> str:
        word = "derived" if self.word is None else word_text(self.word)
        return f"{word}, blocks of {self.mma[0]}x{self.mma[1]}"

    def text(self, tile: Tile) -> str:
        """Return the link as text, with the descriptor even if it is derived."""
        if self.word is not None:
            return str(self)
        word = self._words(tile, (tile.rows // self.mma[0], tile.columns // self.mma[1]))[0]
        return f"{word_text(word)}, derived for {tile.arch or 'sm90'}, blocks of {self.mma[0]}x{self.mma[1]}"

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield what the descriptors read, and the operand that this must be."""
        import numpy as np

        try:
            takes = self.places(tile)
        except DescriptorError:
            if not self.unreadable(tile):
                raise
            takes = np.zeros((0, 0, 0), np.int64)  # a descriptor without a meaning moves no element
            yield Move(SHARED, OPERAND, takes.ravel(), takes.ravel())
            yield Home(OPERAND, tile.all().ravel(), tile.all().ravel())
            return
        counts = tile.rows // self.mma[0], tile.columns // self.mma[1]
        blocks = tile.all().reshape(counts[0], self.mma[0], counts[1], self.mma[1]).transpose(2, 0, 1, 3)
        yield Move(SHARED, OPERAND, takes.ravel(), np.ascontiguousarray(blocks).ravel())
        yield Home(OPERAND, tile.all().ravel(), tile.all().ravel())

    def remark(self, tile: Tile) -> str:
        """Return how it is known what the descriptors read; "" if it was measured on a Hopper GPU."""
        arch = self._arch(tile)
        if has_wgmma(arch):
            return DOCUMENTED if self.cp else ""
        return known(arch)

    def _arch(self, tile: Tile) -> str:
        """Return the architecture whose instructions read with the descriptors."""
        return tile.arch or (assumed_architecture(self.word) if self.word is not None else "sm90")

    def warnings(self, tile: Tile) -> tuple[str, ...]:
        """Return the warnings of the given word: version, bits that belong to no field, reads beyond shared memory."""
        if self.word is None:
            return ()
        arch = self._arch(tile)
        if self.unreadable(tile):
            return tuple(map(str, read_warnings(self.word, arch, tile.element, self._major(tile), self.mma)))
        beyond = memory_warnings(int(self.places(tile).max()), tile.element, arch)
        return tuple(map(str, (*bit_warnings(self.word, arch), *beyond)))

    def unreadable(self, tile: Tile) -> str:
        """Return why the given descriptor has no meaning, so that it reads no element; "" if it has one."""
        if self.word is None:
            return ""
        try:
            read_addresses(
                self._typed(tile),
                word_format(self._reader(tile)),
                dtype=tile.element,
                major=self._major(tile),
                shape=self.mma,
            )
        except DescriptorError as error:
            return f"{why_unreadable(error)}; what such a word reads is not documented"
        return ""

    def _typed(self, tile: Tile) -> int:
        """Return the given descriptor with the version that its reader requires."""
        assert self.word is not None
        return with_version(self.word, self._reader(tile))

    def unread(self, tile: Tile) -> str:
        """Return why no instruction reads such blocks; "" if one does, or if this was checked before."""
        if self.cp or self.legality == "off":
            return ""
        arch, mode = self._arch(tile), self._mode(tile)
        refusal = operand_refusal(arch, tile.element, self._major(tile), mode, self.mma, sparse=self.sparse)
        if refusal and not operand_refusal(arch, tile.element, self._major(tile), mode, self.mma, sparse=True):
            return f"{refusal}; a sparse one does: add sparse=1 to the link"
        return refusal

    def _mode(self, tile: Tile) -> SwizzleMode:
        """Return the swizzle mode of the descriptors."""
        first = self._words(tile, (tile.rows // self.mma[0], tile.columns // self.mma[1]))[0]
        mode: SwizzleMode = smem_word(word_format(self._arch(tile))).decode(first)["swizzle"]
        return mode

    def places(self, tile: Tile) -> Any:
        """Return the place that each element of each block is read from: axes (block, row, column), row blocks first.

        Raises:
            DescriptorError: if the tile is not a whole number of blocks, or a descriptor has no meaning.
        """
        import numpy as np

        counts = tile.rows // self.mma[0], tile.columns // self.mma[1]
        if (counts[0] * self.mma[0], counts[1] * self.mma[1]) != (tile.rows, tile.columns):
            raise DescriptorError(
                f"word: the tile of {tile.rows}x{tile.columns} is not a whole number of blocks of "
                f"{self.mma[0]}x{self.mma[1]}"
            )
        words = self._words(tile, counts)
        unit = address_bits(tile.element)
        read = read_addresses(
            words,
            word_format(self._reader(tile)),
            dtype=tile.element,
            major=self._major(tile),
            shape=self.mma,
            in_bits=unit == 1,
        )
        return read.astype(np.int64) * unit

    def _reader(self, tile: Tile) -> str:
        """Return the architecture whose instructions or copies read with the descriptors."""
        return self._copying(tile) if self.cp else self._arch(tile)

    @staticmethod
    def _copying(tile: Tile) -> str:
        """Return the architecture whose copies to tensor memory read with the descriptors."""
        return tile.arch if tile.arch and has_tcgen05(tile.arch) else "sm100"

    def _major(self, tile: Tile) -> Major:
        """Return the contiguous dimension: the given one, that of the layout, or K."""
        if self.major is not None or self.layout is None:
            return self.major or Major.K
        return contiguous_major(plain(self.layout.tile(tile.element)), tile.element)

    def _words(self, tile: Tile, counts: tuple[int, int]) -> list[int]:
        """Return the descriptor of every block, row blocks first."""
        pairs = [(i, k) for k in range(counts[1]) for i in range(counts[0])]
        if self.word is None:
            if self.layout is None:
                raise DescriptorError("word: no number is given, and no layout is before it to derive one from")
            layout = self.layout.tile(tile.element)
            arch: Any = self._copying(tile) if self.cp else tile.arch or "sm90"
            d = derive(
                layout=layout, dtype=tile.element, major=self.major, mma=None if self.cp else self.mma, arch=arch,
                cp=self.cp or None, legality="off", verify=False,
            )  # fmt: skip
            return [d.word(i, k) for i, k in pairs]
        if self.advance is None and len(pairs) > 1:
            raise DescriptorError(
                f"word: the tile has {len(pairs)} blocks, and no advance is given; give (row block, column block) to "
                f"16-byte units, like advance=({counts[0]},{counts[1]}):(512,2), which "
                "`descriptors derive --steps` prints"
            )
        word = self._typed(tile)
        if self.advance is None:
            return [word]
        if isinstance(self.advance, tuple):
            lengths = (len(self.advance[0]), len(self.advance[1]))
            if lengths != counts:
                raise DescriptorError(
                    f"word: the advance has {lengths[0]} and {lengths[1]} numbers, and the tile {counts[0]} and "
                    f"{counts[1]} blocks"
                )
            return [word + self.advance[0][i] + self.advance[1][k] for i, k in pairs]
        if isinstance(self.advance, str):
            _check_two_lists(self.advance, counts)
        steps = table_of(self.advance, counts, "advance")
        return [word + int(steps[pair]) for pair in pairs]


def _check_two_lists(advance: str, counts: tuple[int, int]) -> None:
    """Refuse an advance that is one list of numbers: the row blocks and the column blocks need a list each.

    Raises:
        DescriptorError: naming the form, with the numbers that were given.
    """
    numbers = [number.strip() for number in advance.strip("() ").split(",")]
    if not all(re.fullmatch("-?(0x)?[0-9a-f]+", number, re.ASCII | re.IGNORECASE) for number in numbers):
        return
    lists = [
        ["0"] if count == 1 else [f"{name}{i}" for i in range(count)] for name, count in zip("RK", counts, strict=True)
    ]
    side = 1 if len(numbers) == counts[1] or len(numbers) != counts[0] else 0
    lists[side] = numbers if len(numbers) == counts[side] else lists[side]
    raise DescriptorError(
        f"word: advance={','.join(numbers)} is one list of numbers; two are needed, {counts[0]} for the row blocks and "
        f"{counts[1]} for the column blocks, like advance={';'.join(map(','.join, lists))}"
    )


def table_of(layout: object, extents: tuple[int, int], subject: str) -> Any:
    """Return the offsets of a layout with two modes of the given sizes, as an array.

    Args:
        layout: the layout, or its notation.
        extents: the required sizes of the two modes.
        subject: the subject of messages.

    Raises:
        DescriptorError: if it is not such a layout, or an offset exceeds ``FARTHEST``.

    >>> table_of("(2,(2,2)):(1,(8,4))", (2, 4), "layout").tolist()
    [[0, 8, 4, 12], [1, 9, 5, 13]]
    """
    import numpy as np

    value: Any = evaluated(layout) if isinstance(layout, str) else layout
    modes = [int(size(value, mode=[i])) for i in range(2)] if _has_two_modes(value) else []
    if modes != list(extents):
        mismatch = f"has modes of {modes[0]} and {modes[1]} elements, not" if modes else "does not have two modes,"
        raise DescriptorError(f"{subject}: {value} {mismatch} of {extents[0]} and {extents[1]}")
    table: Any = offsets(value).astype(np.int64).reshape(extents)
    if table.size and int(np.abs(table).max()) > FARTHEST:
        raise DescriptorError(f"{subject}: {value} has offsets above {FARTHEST}")
    return table


def _has_two_modes(value: object) -> bool:
    try:
        return isinstance(value, (Layout, ComposedLayout)) and len(value) == 2
    except (LayoutError, TypeError):
        return False
