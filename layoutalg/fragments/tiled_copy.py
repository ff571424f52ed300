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
from layoutalg.algebra.composition import composition
from layoutalg.algebra.divide import zipped_divide
from layoutalg.algebra.inverse import right_inverse
from layoutalg.algebra.make import make_layout
from layoutalg.algebra.products import raked_product
from layoutalg.algebra.rearrange import group_modes
from layoutalg.algebra.slicing import slice_and_offset
from layoutalg.analysis.banks import Access, access, accesses
from layoutalg.drawing.shown import Shown
from layoutalg.errors import LayoutError
from layoutalg.fragments.families import BYTE_MATRICES
from layoutalg.fragments.fragment import Fragment, need_thread_values, row_pointers
from layoutalg.fragments.fragment_names import fragment
from layoutalg.fragments.tiled_mma import TiledMma, extent_of, is_tiler
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.cosize import cosize
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, Tiler, need_layout, need_plain, rank, size, through
from layoutalg.tuples.int_tuple import check_depth, safe_text, text
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
class CopyAtom:
    """A copy instruction: which thread reads each value, and which thread holds it after the copy.

    Args:
        source: (thread, value) to the number of a value, in elements, for the threads that read.
        destination: the same for the threads that hold the values after the copy.
        reference: ``source`` or ``destination``, whichever the thread-value layout of a tiled copy refers to.

    Raises:
        LayoutError: if an argument is not a thread-value layout.

    >>> print(copy_atom("ldmatrix.x4").destination)
    (32,(2,4)):(2,(1,64))
    """

    source: Layout
    destination: Layout
    reference: Layout

    def __init__(self, source: Layout, destination: Layout, reference: Layout) -> None:
        layouts = [need_thread_values(layout, "CopyAtom") for layout in (source, destination, reference)]
        fix(self, source=layouts[0], destination=layouts[1], reference=layouts[2])


def copy_atom(what: int | str, element_bits: int = 16) -> CopyAtom:
    """Return the atom of a copy.

    Args:
        what: the number of elements that a thread moves alone (8 for 128 bits of f16); or an instruction such as
            ``ldmatrix.x4``, ``stmatrix.x2`` or ``ldmatrix.m16n16.x1.trans.b8``.
        element_bits: bits of an element that ``ldmatrix`` and ``stmatrix`` move: 16 with ``.trans``; ignored for
            matrices of bytes, whose elements have 8.

    Raises:
        LayoutError: if ``what`` is neither, or the instruction does not move such elements.

    >>> print(copy_atom("ldmatrix.x2").source)
    ((8,2,2),8):((8,64,0),1)
    """
    if not isinstance(what, str):
        alone = Layout((1, as_int(what, "copy_atom: values")), (0, 1))
        return CopyAtom(alone, alone, alone)
    head, element_bits = what.split(".")[0], as_int(element_bits, "copy_atom: element_bits")
    if head not in ("ldmatrix", "stmatrix") or element_bits not in (8, 16, 32):
        raise LayoutError(
            f"copy_atom: {safe_text(what)} with {safe_text(element_bits)}-bit elements is not a copy; supported: a "
            "number of elements, and ldmatrix or stmatrix with elements of 8, 16 or 32 bits"
        )
    words = fragment(what).name.split(".")
    of_bytes = (head, words[1]) in BYTE_MATRICES
    name = what if of_bytes else what + {8: ".b8", 16: "", 32: ".f32"}[element_bits]
    height, width = BYTE_MATRICES[head, words[1]][0] if of_bytes else 8, 16 if of_bytes else 128 // element_bits
    count = int(words[2 if of_bytes else 1][1:])
    matrices = fragment(f"{name}.{height * count}x{width}")
    # Values are numbered along the rows whose addresses threads provide; further threads repeat these addresses.
    along = Layout((height * count, width), (width, 1))
    rows = composition(along, row_pointers(count, 1, width, height))
    if height * count < 32:
        rows = make_layout(make_layout(*rows[0], Layout(32 // (height * count), 0)), rows[1])
    registers = coalesce(composition(along, matrices.layout), (1, 1))
    return CopyAtom(rows, registers, registers) if head == "ldmatrix" else CopyAtom(registers, rows, registers)


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
        if any(size(whole) % size(part) for whole, part in zip(layout, atom.reference, strict=True)):
            raise LayoutError(
                f"TiledCopy: the threads and values of the atom, {atom.reference}, do not divide those of the layout, "
                f"{layout}"
            )
        fix(self, atom=atom, layout_tv=layout, tiler=tiler)

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
        extents = [extent_of(tiler) for tiler in self.tiler]
        tile = Layout(tuple(extents))
        lanes = need_plain(self.thrfrg_D(tile) if side == "D" else self.thrfrg_S(tile), "TiledCopy")
        thread_values = coalesce(make_layout(lanes[0], lanes[1]), (1, 1))
        return Fragment(f"{side} of a tiled copy", (extents[0], prod(extents[1:])), thread_values)

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
        last = "   (thread, value) to an index into the tile, first mode fastest"
        return "\n".join([f"{head}; tile {text(tuple(map(extent_of, self.tiler)))}", *rows, last])

    def _thrfrg(self, target: Layout, layout: AnyLayout, operation: str) -> AnyLayout:
        need_layout(layout, operation)
        reference = self.atom.reference
        atoms = zipped_divide(self.layout_tv, (int(size(reference[0])), int(size(reference[1]))))
        elements = composition(atoms[0], composition(right_inverse(reference), target))
        pairs = make_layout(make_layout(elements[0], atoms[1][0]), make_layout(elements[1], atoms[1][1]))
        thread_values = coalesce(pairs, (1, (1, 1)))

        def by_thread(plain: Layout) -> Layout:
            tiles = zipped_divide(plain, self.tiler)
            first_tile = composition(tiles[0], thread_values)
            return make_layout(first_tile[0], first_tile[1], *tiles[1])

        return through(by_thread, layout)


def _of_thread(partition: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
    return slice_and_offset((thread, *(None,) * (len(partition) - 1)), partition)


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


def _of_mma(
    atom: CopyAtom | int | str, mma: TiledMma, operand: Literal["A", "B", "C"], modes: tuple[int, int]
) -> TiledCopy:
    if not isinstance(mma, TiledMma):
        raise LayoutError(f"make_tiled_copy_{operand}: {safe_text(mma)} is not a tiled MMA")
    tile = mma.tile_mnk
    return make_tiled_copy(atom, mma.tv_layout(operand), (tile[modes[0]], tile[modes[1]]))
