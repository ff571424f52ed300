"""Tiled copies: a copy instruction repeated over threads and tiles, and which elements each thread reads and writes.

A copy atom moves values between its threads. ``source`` maps each value to the thread that reads it, ``destination`` to
the thread that holds it after the copy; they differ for ``ldmatrix``. ``layout_tv`` maps threads and values to the
elements of a tile, in the order of the atom's ``reference``. :func:`make_layout_tv` computes it from a layout of
threads and a layout of values: the values of a thread are together, and the threads are arranged over them.

Invariants: over all threads, ``partition_D`` returns every element of the tile once; in the raked product of threads
and values, element ``layout_tv(t, v)`` has thread t and value v.

Source: CUTLASS ``include/cute/atom/copy_atom.hpp`` (TiledCopy: tidfrg_S, tidfrg_D, tile2thrfrg; make_tiled_copy),
``python/CuTeDSL`` (make_layout_tv).

>>> copy = make_tiled_copy_tv(copy_atom(4), Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1)))
>>> mine, offset = copy.partition_S(Layout((64, 64), (64, 1)), 5)
>>> print(mine, offset)
((4,2),8,2):((1,64),512,32) 20
>>> threads, values = Layout((2, 3), (3, 1)), Layout((2, 2), (2, 1))
>>> tiler, tv = make_layout_tv(threads, values)
>>> print(tiler, tv)
(4, 6) ((3,2),(2,2)):((8,2),(4,1))
>>> owner = raked_product(threads, values)
>>> all(owner(tv(t, v)) == t + 6 * v for t in range(6) for v in range(4))
True
"""

from __future__ import annotations

from math import gcd, prod
from typing import Literal

from layoutalg.algebra.coalesce import coalesce
from layoutalg.algebra.coalesce import filter as filter_layout
from layoutalg.algebra.composition import composition
from layoutalg.algebra.divide import zipped_divide
from layoutalg.algebra.inverse import left_inverse, right_inverse
from layoutalg.algebra.make import make_layout
from layoutalg.algebra.products import logical_product, raked_product
from layoutalg.algebra.rearrange import group_modes
from layoutalg.algebra.recast import upcast
from layoutalg.algebra.slicing import slice_and_offset
from layoutalg.analysis.banks import Access, access, accesses
from layoutalg.drawing.shown import Shown
from layoutalg.errors import LayoutError
from layoutalg.fragments.copy_atoms import CopyAtom, copy_atom
from layoutalg.fragments.fragment import Fragment, need_thread_values, owners, thread_number
from layoutalg.fragments.tiled_mma import TiledMma, extent_of, is_tiler
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, Tiler, modes_of, need_layout, need_plain, rank, size, through
from layoutalg.tuples.int_tuple import Coord, check_depth, safe_text, text
from layoutalg.tuples.leaf import as_int, need_int


def make_layout_tv(thr_layout: Layout, val_layout: Layout) -> tuple[tuple[int, ...], Layout]:
    """Return the tile that threads cover with their values, and the element that each value of each thread is.

    Args:
        thr_layout: coordinate of a thread to its number; contains every number from 0 on once.
        val_layout: coordinate of a value to its number; contains every number from 0 on once.

    Returns:
        the extents of the tile, and (thread, value) to an index into it, first mode fastest.

    Raises:
        LayoutError: if a number is missing, or :func:`raked_product` raises it.

    >>> tiler, tv = make_layout_tv(Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1)))
    >>> print(tiler, tv)
    (8, 32) ((8,4),(4,2)):((32,2),(8,1))
    """
    threads, values = need_plain(thr_layout, "make_layout_tv"), need_plain(val_layout, "make_layout_tv")
    for name, numbers in (("thr_layout", threads), ("val_layout", values)):
        count = need_int(size(numbers), "make_layout_tv: a number of threads or values")
        if size(right_inverse(numbers)) != count:
            raise LayoutError(
                f"make_layout_tv: {name} {numbers} does not contain each number from 0 to {count - 1} once"
            )
    owner = raked_product(threads, values)
    return tuple(int(size(mode)) for mode in owner), composition(
        right_inverse(owner), Layout((size(threads), size(values)))
    )


@frozen
class TiledCopy(Shown):
    """A copy atom repeated over threads and over the values of each thread.

    Args:
        atom: the instruction.
        layout_tv: (thread, value) to an index into the tile, in the order of the atom's reference.
        tiler: the tile, mode by mode.

    Raises:
        LayoutError: if an argument has another type, or the atom does not divide the threads and values.
    """

    atom: CopyAtom
    layout_tv: Layout
    tiler: tuple[Tiler, ...]

    def __init__(self, atom: CopyAtom, layout_tv: Layout, tiler: tuple[Tiler, ...]) -> None:
        layout = need_thread_values(layout_tv, "TiledCopy")
        check_depth(tiler, "TiledCopy: tile")
        if not isinstance(atom, CopyAtom) or type(tiler) is not tuple or not all(map(is_tiler, tiler)):
            raise LayoutError(f"TiledCopy: {safe_text(atom)}, {safe_text(tiler)} are not an atom and a tile")
        for whole, part, name in zip(layout, atom.reference, ("threads", "values"), strict=True):
            if size(whole) % size(part):
                few = f"too few {name} for the atom: " if size(whole) < size(part) else ""
                raise LayoutError(
                    f"TiledCopy: {few}the {size(part)} {name} of the atom do not divide the {size(whole)} {name} of "
                    f"the layout; atom = {atom.reference}, layout = {layout}"
                )
        fix(self, atom=atom, layout_tv=layout, tiler=tiler)

    @property
    def size(self) -> int:
        """Number of threads."""
        return int(size(self.layout_tv[0]))

    @property
    def tiler_mn(self) -> tuple[Tiler, ...]:
        """The tile, mode by mode, under CuTe's name."""
        return self.tiler

    @property
    def layout_tv_tiled(self) -> Layout:
        """(thread, value) to an index into the tile in the order of the atom's reference, under CuTe's name."""
        return self.layout_tv

    @property
    def layout_src_tv_tiled(self) -> Layout:
        """(thread, value) to an index into the tile, for the threads that read; indices count the tiler's elements."""
        return self._thread_values(self.atom.source)

    @property
    def layout_dst_tv_tiled(self) -> Layout:
        """(thread, value) to an index into the tile, for the threads that hold the values after the copy."""
        return self._thread_values(self.atom.destination)

    def get_slice(self, thread: int) -> ThrCopy:
        """Return the part of the copy that one thread does, as CuTe's method of this name.

        Raises:
            CoordinateError: if there is no such thread.

        >>> copy = make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1)))
        >>> print(*copy.get_slice(5).partition_S(Layout((64, 64), (64, 1))))
        ((4,2),8,2):((1,64),512,32) 20
        """
        return ThrCopy(self, thread)

    def thrfrg_S(self, layout: AnyLayout) -> AnyLayout:
        """Divide a layout by threads and the values they read: ``(thread, value, Rest, ...)``.

        Raises:
            LayoutError: if the tile does not divide the layout.
        """
        return self._thrfrg(self.atom.source, layout, "thrfrg_S")

    def thrfrg_D(self, layout: AnyLayout) -> AnyLayout:
        """Divide a layout by threads and the values they hold after the copy: ``(thread, value, Rest, ...)``."""
        return self._thrfrg(self.atom.destination, layout, "thrfrg_D")

    def partition_S(self, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
        """Return what a thread reads, ``(value, Rest, ...)``, and its offset.

        Raises:
            LayoutError: if :meth:`thrfrg_S` raises it.
            CoordinateError: if there is no such thread.
        """
        return _of_thread(self.thrfrg_S(layout), as_int(thread, "partition_S: thread"))

    def partition_D(self, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
        """Return what a thread holds after the copy, ``(value, Rest, ...)``, and its offset."""
        return _of_thread(self.thrfrg_D(layout), as_int(thread, "partition_D: thread"))

    def retile(self, layout: AnyLayout) -> AnyLayout:
        """Divide a thread's values, as another partition of the tile orders them, by the values of this copy.

        Args:
            layout: ``(value, Rest, ...)``: the registers of a thread, such as the accumulators of a tiled MMA. The
                values of one thread in a tile of this copy are whole parts of ``value``.

        Returns:
            ``((atom value, atom), Rest, ...)``: the same registers, in the order in which this copy moves them.

        Raises:
            LayoutError: if the values of one part are not the same in each part of the tile, or the tile does not
                divide the layout.

        Source: CUTLASS ``include/cute/atom/copy_atom.hpp`` (TiledCopy::retile).

        >>> from layoutalg.fragments.tiled_mma import make_tiled_mma
        >>> copy = make_tiled_copy_C("stmatrix.x4", make_tiled_mma("wgmma.m64n16k16"))
        >>> print(copy.retile(Layout(((2, 2, 2), 1, 4))))
        ((8,1),1,4):((1,0),0,8)
        """
        need_layout(layout, "retile")
        values = need_int(size(modes_of(layout.shape)[0]), "retile: the number of values of a part")
        inverse = composition(right_inverse(self.layout_tv), Layout(tuple(map(extent_of, self.tiler))))
        parts = upcast(inverse, self.size * values)  # (m, n) to the number of the part, whose shape counts the parts
        order = logical_product(Layout(values), right_inverse(parts))
        by_atom = zipped_divide(order, int(size(self.atom.reference[1])))
        tiler = (values, *(int(size(mode)) for mode in parts))

        def by_copy(plain: Layout) -> Layout:
            tiles = zipped_divide(plain, tiler)
            atoms = composition(tiles[0], by_atom)
            return make_layout(coalesce(atoms, (1, 1)), *list(tiles[1])[1:])

        return through(by_copy, layout)

    def owners(self, element: Coord, side: str = "S") -> tuple[tuple[int, int], ...]:
        """Return each thread and value that has an element of the tile: the inverse of :meth:`fragment`.

        Args:
            element: coordinate in the tile.
            side: S (what threads read) or D (what they hold after the copy).

        Raises:
            LayoutError: for another side, or if the element is not in the tile.

        >>> make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1))).owners((5, 3))
        ((16, 7),)
        """
        return owners(self.fragment(side), element)  # type: ignore[arg-type]

    def accesses(
        self, tensor: AnyLayout, element_bytes: int, *, base: int = 0, store: bool = False
    ) -> tuple[Access, ...]:
        """Return the memory accesses of the warps that copy a tensor, with banks, sectors and the bytes of each lane.

        A thread moves up to 16 bytes of the values of an atom at once. For ``ldmatrix`` and ``stmatrix``, an access
        contains only the threads whose addresses the instruction uses: 8 for each matrix.

        Args:
            tensor: coordinate to offset, in elements; the tile divides it.
            element_bytes: bytes of an element.
            base: byte address of offset 0.
            store: whether the copy writes the tensor instead of reading it.

        Raises:
            LayoutError: if the tile does not divide the tensor, or values that are moved at once do not have adjacent
                addresses.

        Example: 128 threads copy 64 x 64 elements of a row-major matrix. Eight threads copy a row, 16 bytes each.

        >>> copy = make_tiled_copy_tv(8, Layout((16, 8), (8, 1)), Layout((1, 8)))
        >>> print(copy.accesses(Layout((64, 64), (512, 1)), 2)[0])
        32 lanes of 16 bytes
           shared memory  4 wavefronts in 4 phases, 0 of them for bank conflicts
           global memory  16 sectors of 32 bytes, of which 100 % are accessed
        """
        parts = self.thrfrg_D(tensor) if store else self.thrfrg_S(tensor)
        mine, other = (self.atom.source, self.atom.destination)[:: -1 if store else 1]
        lanes = group_modes(parts, 1, rank(parts))
        unit, values = as_int(element_bytes, "accesses: element_bytes"), int(size(mine[1]))
        together = gcd(values, max(1, 16 // max(1, unit)))
        whole = accesses(Layout(cosize(tensor)), lanes, unit, together * unit, base=base, store=store)
        active = min(int(size(mine)), int(size(other))) // values
        if active == int(size(mine[0])):
            return whole
        shortened = [access(one.addresses[:active], one.access_bytes, store=store) for one in whole]
        return tuple(
            Access(part.addresses, part.access_bytes, part.phases, part.phase_wavefronts, every.warp, every.value)
            for part, every in zip(shortened, whole, strict=True)
        )

    def fragment(self, side: Literal["S", "D"]) -> Fragment:
        """Return what each thread reads of a tile (S) or holds after the copy (D), to print or to draw.

        Raises:
            LayoutError: for another side, or if an entry of the tile is None, so that the mode has no extent.

        >>> print(make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1))).fragment("S"))
        S of a tiled copy: 8x32, ((8,4),(4,2)):((32,2),(8,1))
        """
        if side not in ("S", "D"):
            raise LayoutError(f"TiledCopy: {safe_text(side)} is not a side; supported: S (source), D (destination)")
        if any(tiler is None for tiler in self.tiler):
            raise LayoutError(f"TiledCopy: the tile {self.tiler} has a mode without an extent")
        # An index into the tiler becomes a coordinate in the smallest block that contains the tile.
        extents = self._block
        steps = [
            composition(mode, tiler if isinstance(tiler, Layout) else Layout(extent_of(tiler)))
            for mode, tiler in zip(Layout(extents), self.tiler, strict=True)
        ]
        values = self._thread_values(self.atom.destination if side == "D" else self.atom.source)
        lanes = composition(make_layout(*steps), values)
        return Fragment(f"{side} of a tiled copy", (extents[0], prod(extents[1:])), coalesce(lanes, (1, 1)))

    def _drawn(self) -> tuple[Fragment, ...]:
        read, written = self.fragment("S"), self.fragment("D")
        return (read,) if read.layout == written.layout else (read, written)

    def __str__(self) -> str:
        """Return the tile, and what each thread reads and holds after the copy.

        >>> print(make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1))))
        a tiled copy: 32 threads, 8 values each, 4 of them at once; tile (8,32)
           S, D  ((8,4),(4,2)):((32,2),(8,1))
           (thread, value) to an index into the tile, first mode fastest
        """
        threads, values = map(size, self.layout_tv)
        head = f"a tiled copy: {threads} threads, {values} values each, {size(self.atom.reference[1])} of them at once"
        if any(tiler is None for tiler in self.tiler):
            return f"{head}; tile {self.tiler}, {self.layout_tv}"
        sides = self._drawn()
        names = ("S, D",) if len(sides) == 1 else ("S", "D")
        rows = [f"   {name}  {side.layout}" for name, side in zip(names, sides, strict=True)]
        tile, block = tuple(map(extent_of, self.tiler)), self._block
        spread = f", spread over {text(block)}" if block != tile else ""
        last = f"   (thread, value) to an index into {text(block) if spread else 'the tile'}, first mode fastest"
        return "\n".join([f"{head}; tile {text(tile)}{spread}", *rows, last])

    @property
    def _block(self) -> tuple[int, ...]:
        """Extents of the smallest block that contains the tile, whose modes may have gaps."""
        return tuple(int(cosize(tiler)) if isinstance(tiler, Layout) else extent_of(tiler) for tiler in self.tiler)

    def _thread_values(self, target: Layout) -> Layout:
        """Return (thread, (atom value, atom)) to an index into the tile, for one side of the atom."""
        reference = self.atom.reference
        atoms = zipped_divide(self.layout_tv, (int(size(reference[0])), int(size(reference[1]))))
        elements = composition(atoms[0], composition(right_inverse(reference), target))
        pairs = make_layout(make_layout(elements[0], atoms[1][0]), make_layout(elements[1], atoms[1][1]))
        return coalesce(pairs, (1, (1, 1)))

    def _thrfrg(self, target: Layout, layout: AnyLayout, operation: str) -> AnyLayout:
        need_layout(layout, operation)
        thread_values = self._thread_values(target)

        def by_thread(plain: Layout) -> Layout:
            tiles = zipped_divide(plain, self.tiler)
            first_tile = composition(tiles[0], thread_values)
            return make_layout(first_tile[0], first_tile[1], *tiles[1])

        return through(by_thread, layout)


def _of_thread(partition: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
    return slice_and_offset((thread, *(None,) * (len(partition) - 1)), partition)


@frozen
class ThrCopy:
    """The part of a tiled copy that one thread does.

    Args:
        copy: the tiled copy.
        thread: number of the thread.

    Raises:
        LayoutError: if an argument has another type.
        CoordinateError: if there is no such thread.
    """

    copy: TiledCopy
    thread: int

    def __init__(self, copy: TiledCopy, thread: int) -> None:
        if not isinstance(copy, TiledCopy):
            raise LayoutError(f"ThrCopy: {safe_text(copy)} is not a tiled copy")
        fix(self, copy=copy, thread=thread_number(thread, copy.size, "ThrCopy"))

    def partition_S(self, layout: AnyLayout) -> tuple[AnyLayout, int]:
        """Return what the thread reads; see :meth:`TiledCopy.partition_S`."""
        return self.copy.partition_S(layout, self.thread)

    def partition_D(self, layout: AnyLayout) -> tuple[AnyLayout, int]:
        """Return what the thread holds after the copy; see :meth:`TiledCopy.partition_D`."""
        return self.copy.partition_D(layout, self.thread)

    def retile(self, layout: AnyLayout) -> AnyLayout:
        """Divide the thread's registers by the values of the copy; see :meth:`TiledCopy.retile`."""
        return self.copy.retile(layout)


def make_tiled_copy(atom: CopyAtom | int | str, layout_tv: Layout, tiler: tuple[Tiler, ...]) -> TiledCopy:
    """Repeat a copy atom over threads and values.

    Args:
        atom: the instruction, or an argument of :func:`copy_atom`.
        layout_tv: (thread, value) to an index into the tile.
        tiler: the tile, mode by mode.

    Raises:
        LayoutError: if an argument has another type, or the atom does not divide the threads and values.
    """
    return TiledCopy(atom if isinstance(atom, CopyAtom) else copy_atom(atom), layout_tv, tiler)


def make_tiled_copy_tv(atom: CopyAtom | int | str, thr_layout: Layout, val_layout: Layout) -> TiledCopy:
    """Repeat a copy atom over a layout of threads and a layout of values.

    Args:
        atom: the instruction, or an argument of :func:`copy_atom`.
        thr_layout: see :func:`make_layout_tv`.
        val_layout: see :func:`make_layout_tv`.

    Raises:
        LayoutError: if :func:`make_layout_tv` or :func:`make_tiled_copy` raises it.
    """
    tiler, layout_tv = make_layout_tv(thr_layout, val_layout)
    return make_tiled_copy(atom, layout_tv, tiler)


def make_tiled_copy_A(atom: CopyAtom | int | str, tiled_mma: TiledMma) -> TiledCopy:
    """Return the copy that loads the values of A that each thread of a tiled MMA holds.

    >>> from layoutalg.fragments.tiled_mma import make_tiled_mma
    >>> copy = make_tiled_copy_A("ldmatrix.x4", make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1)))
    >>> print(*copy.partition_S(Layout((64, 64), (64, 1)), 5))
    ((8,1),2,4):((1,0),2048,16) 320
    """
    return _of_mma(atom, tiled_mma, "A", (0, 2))


def make_tiled_copy_B(atom: CopyAtom | int | str, tiled_mma: TiledMma) -> TiledCopy:
    """Return the copy that loads the values of B that each thread of a tiled MMA holds."""
    return _of_mma(atom, tiled_mma, "B", (1, 2))


def make_tiled_copy_C(atom: CopyAtom | int | str, tiled_mma: TiledMma) -> TiledCopy:
    """Return the copy that loads (``stmatrix``: stores) the values of C that each thread of a tiled MMA holds."""
    return _of_mma(atom, tiled_mma, "C", (0, 1))


def make_tiled_copy_C_atom(atom: CopyAtom | int | str, tiled_mma: TiledMma) -> TiledCopy:
    """Return the smallest copy of values of C: one atom for the first values of each thread of a tiled MMA.

    Its tile contains only the elements of these values. ``partition_D`` repeats it over the tensor, and ``retile``
    divides a thread's accumulators in their own order, as in CuTe.

    Raises:
        LayoutError: if an argument has another type, a thread has fewer values of C than the atom, or its values do not
            form a tile.

    Source: CUTLASS ``include/cute/atom/copy_atom.hpp`` (make_tiled_copy_C_atom).

    >>> from layoutalg.fragments.tiled_mma import make_tiled_mma
    >>> copy = make_tiled_copy_C_atom("stmatrix.x1", make_tiled_mma("mma.m16n8k16.f16"))
    >>> print(copy.tiler, copy.layout_tv)
    (8, Layout((4, 2), (2, 1))) ((4,8),2):((8,1),32)
    """
    if not isinstance(tiled_mma, TiledMma):
        raise LayoutError(f"make_tiled_copy_C_atom: {safe_text(tiled_mma)} is not a tiled MMA")
    instruction = atom if isinstance(atom, CopyAtom) else copy_atom(atom)
    whole, values = tiled_mma.tv_layout("C"), int(size(instruction.source[1]))
    if size(whole[1]) % values:
        raise LayoutError(
            f"make_tiled_copy_C_atom: a thread has {size(whole[1])} values of C, of which the {values} values of an "
            "atom are not a whole part"
        )
    first = composition(whole, Layout((int(size(whole[0])), values)))
    m, n, _ = tiled_mma.tile_mnk
    return make_tiled_copy(instruction, *_smallest_tile(first, (m, n), "make_tiled_copy_C_atom"))


def make_tiled_copy_S(atom: CopyAtom | int | str, tiled_copy: TiledCopy) -> TiledCopy:
    """Return a copy whose threads have the values that those of another copy read.

    >>> first = make_tiled_copy_tv("ldmatrix.x4", Layout((32, 1)), Layout((1, 8)))
    >>> print(make_tiled_copy_S(8, first).layout_tv)
    ((8,4),((2,4),1)):((4,64),((32,1),0))
    """
    if not isinstance(tiled_copy, TiledCopy):
        raise LayoutError(f"make_tiled_copy_S: {safe_text(tiled_copy)} is not a tiled copy")
    return make_tiled_copy(atom, tiled_copy.layout_src_tv_tiled, tiled_copy.tiler)


def make_tiled_copy_D(atom: CopyAtom | int | str, tiled_copy: TiledCopy) -> TiledCopy:
    """Return a copy whose threads have the values that those of another copy hold afterwards."""
    if not isinstance(tiled_copy, TiledCopy):
        raise LayoutError(f"make_tiled_copy_D: {safe_text(tiled_copy)} is not a tiled copy")
    return make_tiled_copy(atom, tiled_copy.layout_dst_tv_tiled, tiled_copy.tiler)


def make_cotiled_copy(atom: CopyAtom | int | str, atom_layout_tv: Layout, data_layout: Layout) -> TiledCopy:
    """Repeat a copy atom over threads and values that are given by offsets in memory.

    Args:
        atom: the instruction, or an argument of :func:`copy_atom`.
        atom_layout_tv: (thread, value) to an offset of ``data_layout``.
        data_layout: the layout of the data; the tile of the copy contains the elements at these offsets.

    Raises:
        LayoutError: if an argument has another type, the data have no element at an offset, or the elements do not form
            a tile.

    Source: CUTLASS ``include/cute/atom/copy_atom.hpp`` (make_cotiled_copy).

    >>> copy = make_cotiled_copy(8, Layout((32, 8), (8, 1)), Layout((64, 64), (64, 1)))
    >>> print(copy.tiler, copy.layout_tv)
    (4, Layout((8, 8), (8, 1))) ((8,4),8):((4,1),32)
    """
    threads = need_thread_values(atom_layout_tv, "make_cotiled_copy")
    data = need_plain(data_layout, "make_cotiled_copy")
    inside = composition(left_inverse(data), threads)
    missing = [i for i in range(int(size(threads))) if not 0 <= inside(i) < size(data) or data(inside(i)) != threads(i)]
    if missing:
        raise LayoutError(
            f"make_cotiled_copy: the data have no element at offset {threads(missing[0])}; data = {data}, "
            f"threads and values = {threads}"
        )
    return make_tiled_copy(atom, *_smallest_tile(inside, tuple(int(size(mode)) for mode in data), "make_cotiled_copy"))


def _smallest_tile(thread_values: Layout, extents: tuple[int, ...], operation: str) -> tuple[Layout, tuple[Tiler, ...]]:
    """Return the smallest tile with the elements of a thread-value layout, and the layout as indices into it.

    Args:
        thread_values: (thread, value) to an index into ``extents``, first mode fastest.
        extents: the extents of the data.
        operation: the operation that a message begins with.

    Raises:
        LayoutError: if the elements are not all combinations of rows and columns.
    """
    tiler: list[Tiler] = []
    selected: list[Layout] = []
    weight = 1
    for mode, extent in enumerate(extents):
        position = Layout(extents, tuple(int(mode == other) for other in range(len(extents))))
        reached = filter_layout(composition(position, thread_values))
        tiler.append(_as_extent(reached))
        selected.append(composition(Layout(extent, weight), reached))
        weight *= extent
    tile = make_layout(*selected)
    if size(tile) != len({thread_values(i) for i in range(int(size(thread_values)))}):
        raise LayoutError(
            f"{operation}: the elements of threads and values {thread_values} are not a tile of {safe_text(extents)}"
        )
    return composition(left_inverse(tile), thread_values), tuple(tiler)


def _as_extent(tiler: Layout) -> Tiler:
    """Return n for the tiler n:1, and any other tiler as it is."""
    return tiler.shape if type(tiler.shape) is int and tiler.stride == 1 else tiler


def _of_mma(
    atom: CopyAtom | int | str, mma: TiledMma, operand: Literal["A", "B", "C"], modes: tuple[int, int]
) -> TiledCopy:
    if not isinstance(mma, TiledMma):
        raise LayoutError(f"make_tiled_copy_{operand}: {safe_text(mma)} is not a tiled MMA")
    tile = mma.tile_mnk
    return make_tiled_copy(atom, mma.tv_layout(operand), (tile[modes[0]], tile[modes[1]]))
