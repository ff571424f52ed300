"""Chain links at registers: fragments, ldmatrix and stmatrix, loads and stores of threads, conversions.

A fragment that is smaller than the tile is repeated over it. Blocked (the default), each group of threads has a
contiguous part of the tile, and the groups are ordered with rows fastest. The pieces of a part follow one another, rows
fastest, and are the next values of the group's threads. Raked, the pieces of all groups are adjacent, and this pattern
is repeated, as in a TiledMMA.

Invariant: every element of the tile is one value of one thread.

>>> from descriptors.gemm.places import Tile
>>> from descriptors.smem.operands.operand import as_element_type
>>> home = FragmentLink("mma.m16n8k16.C", (4, 1)).registers(Tile(128, 64, as_element_type("tf32")))
>>> len(set(home.places.tolist())) == 128 * 64 == len(set(home.elements.tolist()))
True
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from descriptors.errors import DescriptorError
from descriptors.gemm.memory_links import table_of
from descriptors.gemm.places import GLOBAL, REGISTERS, SHARED, THREAD_BITS, VALUE_BITS, Home, Move, Tile
from descriptors.smem.operands.explicit import evaluated
from descriptors.smem.operands.operand import ElementType
from descriptors.text import DOCUMENTED
from layoutalg import Fragment, Layout, fragment, make_layout_tv, offsets, size
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    from descriptors.gemm.places import Numbers

_WARP = 32
#: The largest number of values of all threads; more than any tile needs.
MOST_VALUES = 1 << 22
#: Parts of the names of fragments that were not measured.
_NVIDIA = {"e2m1", "e2m3", "e3m2", "SFA", "SFB"}
#: Fragments whose 4-bit elements have a byte each, and the bit of the byte at which the element begins. ``ldmatrix``
#: leaves elements in the lowest bits, and CUTLASS shifts them (``fp4_shift_A``).
_SHIFTED = {f"mma.{shape}.{operand}.e2m1" for shape in ("m16n8k32", "sp.m16n8k64") for operand in "AB"}
E2M1_BIT = 2
#: Size of a row of ``ldmatrix`` and ``stmatrix``, in bits.
_ROW_BITS = 128


def register_places(threads: Any, values: Any) -> Any:
    """Return the places of values of threads."""
    return (threads << VALUE_BITS) + values


def repeated(
    piece: tuple[int, int], groups: tuple[int, int] | None, tile: Tile, threads: int, subject: str, raked: bool = False
) -> Numbers:
    """Return row and column of the first element of each piece of each group of threads: axes (group, piece, 2).

    Args:
        piece: rows and columns of a piece.
        groups: number of groups along the rows and the columns; None for all groups that already have elements in
            registers, along the rows.
        tile: the tile that the pieces cover.
        threads: number of threads of a group.
        subject: the subject of messages.
        raked: whether the pieces of all groups are adjacent, as in a TiledMMA; otherwise each group has a contiguous
            part.

    Raises:
        DescriptorError: if the pieces of all groups do not cover the tile.
    """
    import numpy as np

    if groups is None:
        groups = (1, 1)
        if tile.contents is not None and tile.contents.space == REGISTERS and len(tile.contents.places):
            last = int(tile.contents.places[-1]) & (1 << THREAD_BITS) - 1
            groups = (max(1, (last >> VALUE_BITS) // threads + 1), 1)
    part = (tile.rows // groups[0], tile.columns // groups[1])
    if (
        (part[0] * groups[0], part[1] * groups[1]) != (tile.rows, tile.columns)
        or part[0] % piece[0]
        or part[1] % piece[1]
    ):
        name = "warps" if threads == _WARP else "warpgroups"
        other = "give the layout (thread, value) to row + rows * column"
        if "matrix" in subject:
            other = "append the rows and elements that the matrices cover together, like ldmatrix.x4.16x16"
        raise DescriptorError(
            f"{subject}: pieces of {piece[0]}x{piece[1]} in {groups[0]}x{groups[1]} {name} do not cover the tile of "
            f"{tile.rows}x{tile.columns}; set {name}=RxC, or {other}"
        )
    counts = (part[0] // piece[0], part[1] // piece[1])
    apart, step = (piece, (piece[0] * groups[0], piece[1] * groups[1])) if raked else (part, piece)
    group = np.stack(np.divmod(np.arange(groups[0] * groups[1]), groups[0])[::-1], -1) * np.array(apart)
    each = np.stack(np.divmod(np.arange(counts[0] * counts[1]), counts[0])[::-1], -1) * np.array(step)
    origins: Numbers = (group[:, None] + each[None]).astype(np.int64)
    return origins


@frozen
class FragmentLink:
    """The tile in registers, as a named fragment or a layout.

    Args:
        fragment: a name from ``layoutalg atoms``, or (thread, value) to ``row + rows * column``, or its notation.
        groups: number of groups of threads along rows and columns, if a named fragment is smaller than the tile.
        raked: whether the pieces of all groups are adjacent, as in a TiledMMA; otherwise each group has a contiguous
            part.
    """

    fragment: Fragment | Layout | str
    groups: tuple[int, int] | None = None
    raked: bool = False
    noun: ClassVar[str] = "fragment"
    verbs: ClassVar[tuple[str, str]] = ("has", "has")

    def __str__(self) -> str:
        return self.fragment.name if isinstance(self.fragment, Fragment) else str(self.fragment)

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield where the elements are."""
        yield self.registers(tile)

    def remark(self, tile: Tile) -> str:
        """Return how the fragment is known; "" if it was measured on a Hopper GPU."""
        words = set(str(self).split("."))
        return "fragments of 4 and 6 bits and of scale factors are NVIDIA's code" if words & _NVIDIA else ""

    def registers(self, tile: Tile) -> Home:
        """Return where the elements are."""
        fragment = self._fragment()
        if isinstance(fragment, Fragment):
            elements = tile_elements(
                fragment, tile, repeated(fragment.shape, self.groups, tile, fragment.threads, self.noun, self.raked)
            )
            if fragment.name in _SHIFTED and tile.element.bits == 4:
                home = registers_of(elements)
                return home._replace(places=home.places + (E2M1_BIT << THREAD_BITS))
        else:
            index = thread_values(fragment)
            if index.size and int(index.max()) >= tile.size:
                raise DescriptorError(
                    f"fragment: {fragment} has elements outside the tile of {tile.rows}x{tile.columns}"
                )
            elements = tile.numbers(index % tile.rows, index // tile.rows)
        return registers_of(elements)

    def _fragment(self) -> Fragment | Layout:
        if not isinstance(self.fragment, str):
            return self.fragment
        head = self.fragment.strip().partition(".")[0]
        if head in ("wgmma", "mma", "ldmatrix", "stmatrix"):
            return fragment(self.fragment)
        value = evaluated(self.fragment)
        if not isinstance(value, Layout) or len(value) != 2:
            raise DescriptorError(
                f"fragment: {self.fragment} is neither a fragment's name nor a layout (thread, value) to row + rows * "
                "column"
            )
        return value


def registers_of(elements: Numbers) -> Home:
    """Return the home of elements given as an array (thread, value)."""
    import numpy as np

    threads, values = np.meshgrid(*(np.arange(extent, dtype=np.int64) for extent in elements.shape), indexing="ij")
    return Home(REGISTERS, elements.ravel(), register_places(threads, values).ravel())


def thread_values(layout: Layout) -> Numbers:
    """Return the offsets of a thread-value layout: axes (thread, value)."""
    import numpy as np

    if size(layout) > MOST_VALUES:
        raise DescriptorError(f"fragment: {layout} has {size(layout)} values, more than {MOST_VALUES}")
    table: Numbers = offsets(layout).astype(np.int64).reshape(int(size(layout, mode=[0])), -1)
    return table


def tile_elements(fragment_of_tile: Fragment, tile: Tile, origins: Numbers) -> Numbers:
    """Return the element of every value of every thread for pieces with the given origins: axes (thread, value)."""
    import numpy as np

    index = thread_values(fragment_of_tile.layout)
    rows = origins[:, None, :, None, 0] + (index % fragment_of_tile.shape[0])[None, :, None]
    columns = origins[:, None, :, None, 1] + (index // fragment_of_tile.shape[0])[None, :, None]
    elements = tile.numbers(rows, columns)
    return np.ascontiguousarray(elements).reshape(len(origins) * len(index), -1)


def tiled_fragment(threads: Layout | str, values: Layout | str) -> Fragment:
    """Return the fragment of a tiled copy from a layout of threads and a layout of values.

    >>> print(tiled_fragment("(4,8):(8,1)", "(1,8)"))
    tiled copy: 4x64, ((8,4),8):((32,1),4)
    """
    parsed = [evaluated(layout) if isinstance(layout, str) else layout for layout in (threads, values)]
    plain = [layout if isinstance(layout, Layout) else Layout(layout) for layout in parsed]
    if size(plain[0]) * size(plain[1]) > 1 << 16:
        raise DescriptorError(f"copy: threads {plain[0]} with values {plain[1]} have more than 65536 elements")
    tiler, tv = make_layout_tv(plain[0], plain[1])
    return Fragment("tiled copy", (tiler[0], int(size(tv)) // tiler[0]), tv)


@frozen
class ThreadCopy:
    """Ordinary loads or stores, value by value, from the layout before the link or to the layout after it.

    Args:
        direction: ``load`` or ``store``.
        held: the elements that each thread moves; None for a store of all values that the threads have.
    """

    direction: str
    held: FragmentLink | None = None
    noun: ClassVar[str] = "copy"
    verbs: ClassVar[tuple[str, str]] = ("moves", "takes")

    def __str__(self) -> str:
        return f"{self.direction} {'what each thread holds' if self.held is None else self.held}"

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield what a store expects in registers, then what the link moves."""
        if self.direction == "load":
            if self.held is None or tile.before is None:
                missing = "no layout or tensor is before it" if self.held else "no fragment says what each thread loads"
                raise DescriptorError(f"load: {missing}")
            home = self.held.registers(tile)
            yield Move(tile.before.space, REGISTERS, places_of(tile.before, home, tile), home.places)
            return
        after = tile.after or _row_major(tile)
        home = self.held.registers(tile) if self.held else _register_contents(tile)
        if self.held:
            yield home
        yield Move(REGISTERS, after.space, home.places, places_of(after, home, tile))
        if tile.after is None:
            yield after


def _row_major(tile: Tile) -> Home:
    """Return the tile as rows of global memory, the default destination of a store."""
    return Home(GLOBAL, tile.all().ravel(), tile.all().ravel() * tile.element.bits)


def _register_contents(tile: Tile) -> Home:
    """Return the elements that are in registers before a link.

    Raises:
        DescriptorError: if no link before it leaves elements in registers.
    """
    if tile.contents is None or tile.contents.space != REGISTERS:
        raise DescriptorError("no link before it leaves elements in registers; add a fragment or a load")
    return Home(REGISTERS, tile.contents.elements, tile.contents.places)


def places_of(memory: Home, registers: Home, tile: Tile) -> Numbers:
    """Return the place in memory of each element that is in registers."""
    import numpy as np

    table = np.full(tile.size, -1, dtype=np.int64)
    table[memory.elements] = memory.places
    return table[registers.elements]


class _Matrices(NamedTuple):
    """The matrices of one ``ldmatrix`` or ``stmatrix`` and their arrangement in the tile.

    Args:
        held: (thread, value) to a row of 16 bytes of all matrices, one below the other, and an element of the row.
        height, width: rows of a matrix, and elements of a row.
        down, across: number of matrices along the rows and the columns of the tile.
    """

    held: Fragment
    height: int
    width: int
    down: int
    across: int


@frozen
class MatrixMove:
    """``ldmatrix`` or ``stmatrix``: threads pass addresses of rows of 16 bytes, and registers have parts of them.

    Args:
        name: a name from ``layoutalg atoms``. The matrices are ordered first down, then across the tile.
        groups: number of warps along rows and columns.
        pointers: (thread, instruction) to the address of the row that the thread passes, in elements from the start of
            the layout; None for the addresses in the layout before a load or after a store.
        raked: as for a fragment.
    """

    name: str
    groups: tuple[int, int] | None = None
    pointers: Layout | str | None = None
    raked: bool = False
    noun: ClassVar[str] = "ldmatrix"
    verbs: ClassVar[tuple[str, str]] = ("leaves", "takes")

    def __str__(self) -> str:
        return self.name

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield what a store expects in registers, then what the link moves."""
        store = self.name.startswith("stmatrix")
        memory = tile.after if store else tile.before
        if memory is None or memory.space != SHARED:
            raise DescriptorError(f"{self.name}: no layout of shared memory is {'after' if store else 'before'} it")
        matrices, bits = self._matrices(tile.element), tile.element.storage_bits
        places = places_of(memory, Home(REGISTERS, tile.all().ravel(), tile.all().ravel()), tile)
        table = places.reshape(tile.rows, tile.columns)
        along = tile.columns > 1 and bool(table[0, 1] - table[0, 0] == bits)
        piece = (matrices.height * matrices.down, matrices.width * matrices.across)
        if not along:
            piece = (matrices.width * matrices.down, matrices.height * matrices.across)
        origins = repeated(piece, self.groups, tile, _WARP, self.name, self.raked)
        rows, columns = self._coordinates(matrices, origins, along)
        pointers = self._pointers(matrices, table, rows, columns)
        index = thread_values(matrices.held.layout)
        line, place = index % matrices.held.shape[0], index // matrices.held.shape[0]
        # Axes (group, thread, instruction, value), the order in which values are counted.
        elements = tile.numbers(rows, columns)[:, :, line, place].transpose(0, 2, 1, 3)
        addresses = (pointers[:, :, line] + place * bits).transpose(0, 2, 1, 3)
        home = registers_of(elements.reshape(len(origins) * _WARP, -1))
        if store:
            yield home
            yield Move(REGISTERS, SHARED, home.places, addresses.ravel())
        else:
            yield Move(SHARED, REGISTERS, addresses.ravel(), home.places)

    def remark(self, tile: Tile) -> str:
        """Return how it is known what the link moves; "" if it was measured on a Hopper GPU."""
        return DOCUMENTED if self.name.split(".")[1].startswith("m") and "m8n8" not in self.name else ""

    def _matrices(self, element: ElementType) -> _Matrices:
        matrices = fragment(self.name)
        words = matrices.name.split(".")
        of_bytes = words[1] in ("m16n16", "m8n16", "m16n8")
        height, width = 16 if words[1] == "m16n16" else 8, _ROW_BITS // element.storage_bits
        if of_bytes and element.storage_bits != 8:
            note = "; 4-bit elements with a byte each are e2m1_unpacksmem" if element.bits == 4 else ""
            raise DescriptorError(f"{self.name}: {element} elements do not have 8 bits{note}")
        count = int(words[2 if of_bytes else 1][1:])
        down, across = matrices.shape[0] // height, count // (matrices.shape[0] // height)
        bare = ".".join(word for word in words if not (word[0].isdigit() and word.replace("x", "").isdigit()))
        types = {8: ".b8", 16: "", 32: ".f32"}
        has_type = of_bytes or any(
            word in bare.split(".") for word in ("b8", "e4m3", "e5m2", "s8", "u8", "tf32", "f32")
        )
        name = bare if has_type else bare + types[element.storage_bits]
        return _Matrices(fragment(f"{name}.{height * count}x{width}"), height, width, down, across)

    @staticmethod
    def _coordinates(m: _Matrices, origins: Numbers, along: bool) -> tuple[Numbers, Numbers]:
        """Return row and column in the tile: axes (group, instruction, row of all matrices, element of the row)."""
        import numpy as np

        line, place = np.meshgrid(np.arange(m.height * m.down * m.across), np.arange(m.width), indexing="ij")
        matrix, inside = np.divmod(line, m.height)
        across, down = np.divmod(matrix, m.down)
        row, column = (inside, place) if along else (place, inside)
        extents = (m.height, m.width) if along else (m.width, m.height)
        rows = origins[:, :, None, None, 0] + down * extents[0] + row
        columns = origins[:, :, None, None, 1] + across * extents[1] + column
        return rows, columns

    def _pointers(self, m: _Matrices, table: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
        """Return the address that is passed for every row of the matrices, in bits: axes (group, instruction, row)."""
        import numpy as np

        bits = _ROW_BITS // m.width
        if self.pointers is None:
            pointers = table[rows[..., 0], columns[..., 0]]
        else:
            groups, instructions, lines = rows.shape[:3]
            offered = table_of(self.pointers, (groups * _WARP, instructions), f"{self.name}: pointers")
            pointers = offered.reshape(groups, _WARP, instructions).transpose(0, 2, 1)[:, :, :lines] * bits
            pointers = pointers + int(table.min())
        if (pointers % _ROW_BITS).any():
            group, instruction, line = (int(x) for x in np.argwhere(pointers % _ROW_BITS)[0])
            raise DescriptorError(
                f"{self.name}: the address {int(pointers[group, instruction, line]) // 8:#x} of thread "
                f"{group * _WARP + line}, instruction {instruction}, is not a multiple of 16 bytes"
            )
        return np.asarray(pointers, dtype=np.int64)


@frozen
class Conversion:
    """A conversion of registers to another type. The values keep their numbers.

    Args:
        element: the type after the conversion.
    """

    element: ElementType
    noun: ClassVar[str] = "convert"
    verbs: ClassVar[tuple[str, str]] = ("leaves", "takes")

    def __str__(self) -> str:
        return f"to {self.element}"

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield nothing, because a conversion does not move elements."""
        return iter(())


@frozen
class Shift:
    """A left shift of narrow elements in their bytes, as ``shl.b32`` does after ``ldmatrix``.

    Args:
        bits: number of bits of the shift.
    """

    bits: int
    noun: ClassVar[str] = "shift"
    verbs: ClassVar[tuple[str, str]] = ("leaves", "takes")

    def __str__(self) -> str:
        return f"by {self.bits}"

    def steps(self, tile: Tile) -> Iterator[Home | Move]:
        """Yield the move of each element in registers to higher bits of its byte."""
        contents = _register_contents(tile)
        free = tile.element.storage_bits - tile.element.bits
        if not 0 <= self.bits <= free:
            raise DescriptorError(
                f"shift: {self.bits} is not from 0 to {free}, the free bits of {tile.element} elements"
            )
        yield Move(REGISTERS, REGISTERS, contents.places, contents.places + (self.bits << THREAD_BITS))
