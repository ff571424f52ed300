"""Tiled copies: a copy instruction repeated over threads and tiles, and which elements each thread reads and writes.

A copy atom moves values between its threads: ``source`` says which thread reads which value, ``destination`` which
one has it afterwards; for ``ldmatrix`` they differ. ``layout_tv`` says which thread holds which element of a tile, in
the order of the atom's ``reference``; :func:`make_layout_tv` makes one of a layout of threads and one of values, the
values of a thread together and the threads over them. Laws: over all threads, partition_D gives every element of the
tile once; with threads and values raked over one another, element ``layout_tv(t, v)`` has thread t and value v.
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
    """The tile that threads cover with their values, and which element each value of each thread is.

    Args:
        thr_layout: coordinate of a thread to its number; every number from 0 on once.
        val_layout: coordinate of a value to its number, likewise.

    Returns:
        the extents of the tile, and (thread, value) to an index into it, first mode fastest.

    Raises:
        LayoutError: if a number is missing, or as :func:`raked_product`.

    >>> tiler, tv = make_layout_tv(Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1)))
    >>> print(tiler, tv)
    (8, 32) ((8,4),(4,2)):((32,2),(8,1))
    """
    threads, values = need_plain(thr_layout, "make_layout_tv"), need_plain(val_layout, "make_layout_tv")
    for one in (threads, values):
        if size(right_inverse(one)) != need_int(size(one), "make_layout_tv: a number of threads or values"):
            raise LayoutError(
                f"make_layout_tv: threads and values must have the numbers from 0 on, each once, found {threads} and "
                f"{values}"
            )
    owner = raked_product(threads, values)
    return tuple(int(size(mode)) for mode in owner), composition(
        right_inverse(owner), Layout((size(threads), size(values)))
    )


@frozen
class CopyAtom:
    """One copy instruction: which thread reads each value, and which one has it afterwards.

    Args:
        source, destination: (thread, value) to the number of a value, in elements.
        reference: the one of the two that a tiled copy's thread-value layout speaks of.

    Raises:
        LayoutError: if one of them is something else.

    >>> print(copy_atom("ldmatrix.x4").destination)
    (32,(2,4)):(2,(1,64))
    """

    source: Layout
    destination: Layout
    reference: Layout

    def __init__(self, source: Layout, destination: Layout, reference: Layout) -> None:
        layouts = [need_thread_values(one, "CopyAtom") for one in (source, destination, reference)]
        fix(self, source=layouts[0], destination=layouts[1], reference=layouts[2])


def copy_atom(what: int | str, element_bits: int = 16) -> CopyAtom:
    """The atom of a copy.

    Args:
        what: how many elements a thread moves by itself (128 bits of f16: 8); or ``ldmatrix.x4``, ``stmatrix.x2``,
            ``ldmatrix.m16n16.x1.trans.b8``.
        element_bits: bits of an element that ``ldmatrix`` and ``stmatrix`` move: 16 with ``.trans``; of matrices of
            bytes it is 8, whatever is said.

    Raises:
        LayoutError: if it is neither.

    >>> print(copy_atom("ldmatrix.x2").source)
    ((8,2,2),8):((8,64,0),1)
    """
    if not isinstance(what, str):
        alone = Layout((1, as_int(what, "copy_atom: values")), (0, 1))
        return CopyAtom(alone, alone, alone)
    head, element_bits = what.split(".")[0], as_int(element_bits, "copy_atom: element_bits")
    if head not in ("ldmatrix", "stmatrix") or element_bits not in (8, 16, 32):
        raise LayoutError(
            "copy_atom: must be a number of elements, or ldmatrix or stmatrix of elements of 8, 16 or 32 bits, found "
            f"{safe_text(what)} of {safe_text(element_bits)}"
        )
    words = fragment(what).name.split(".")
    of_bytes = (head, words[1]) in BYTE_MATRICES
    name = what if of_bytes else what + {8: ".b8", 16: "", 32: ".f32"}[element_bits]
    height, width = BYTE_MATRICES[head, words[1]][0] if of_bytes else 8, 16 if of_bytes else 128 // element_bits
    count = int(words[2 if of_bytes else 1][1:])
    matrices = fragment(f"{name}.{height * count}x{width}")
    # Values are numbered along the rows that threads point at; threads beyond them point at the same again.
    along = Layout((height * count, width), (width, 1))
    rows = composition(along, row_pointers(count, 1, width, height))
    if height * count < 32:
        rows = make_layout(make_layout(*rows[0], Layout(32 // (height * count), 0)), rows[1])
    registers = coalesce(composition(along, matrices.layout), (1, 1))
    return CopyAtom(rows, registers, registers) if head == "ldmatrix" else CopyAtom(registers, rows, registers)


@frozen
class TiledCopy(Shown):
    """A copy atom repeated over threads, and over the values of each thread.

    Args:
        atom: the instruction.
        layout_tv: (thread, value) to an index into the tile, in the order of the atom's reference.
        tiler: the tile, mode by mode.

    Raises:
        LayoutError: if one is something else, or the atom does not divide the threads and values.
    """

    atom: CopyAtom
    layout_tv: Layout
    tiler: tuple[Tiler, ...]

    def __init__(self, atom: CopyAtom, layout_tv: Layout, tiler: tuple[Tiler, ...]) -> None:
        layout = need_thread_values(layout_tv, "TiledCopy")
        check_depth(tiler, "TiledCopy: tile")
        if not isinstance(atom, CopyAtom) or type(tiler) is not tuple or not all(map(is_tiler, tiler)):
            raise LayoutError(f"TiledCopy: must be an atom and a tile, found {safe_text(atom)}, {safe_text(tiler)}")
        if any(size(whole) % size(part) for whole, part in zip(layout, atom.reference, strict=True)):
            raise LayoutError(
                f"TiledCopy: the atom's threads and values must divide those of the layout, found {atom.reference} and "
                f"{layout}"
            )
        fix(self, atom=atom, layout_tv=layout, tiler=tiler)

    def thrfrg_S(self, layout: AnyLayout) -> AnyLayout:
        """A layout by threads and what they read of it: ``(thread, value, Rest, ...)``.

        Raises:
            LayoutError: if the tile does not divide the layout.
        """
        return self._thrfrg(self.atom.source, layout, "thrfrg_S")

    def thrfrg_D(self, layout: AnyLayout) -> AnyLayout:
        """A layout by threads and what they have of it afterwards: ``(thread, value, Rest, ...)``."""
        return self._thrfrg(self.atom.destination, layout, "thrfrg_D")

    def partition_S(self, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
        """What a thread reads, ``(value, Rest, ...)``, and its offset.

        Raises:
            LayoutError: as :meth:`thrfrg_S`; CoordinateError if there is no such thread.
        """
        return _of_thread(self.thrfrg_S(layout), as_int(thread, "partition_S: thread"))

    def partition_D(self, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
        """What a thread has afterwards, ``(value, Rest, ...)``, and its offset."""
        return _of_thread(self.thrfrg_D(layout), as_int(thread, "partition_D: thread"))

    def accesses(
        self, tensor: AnyLayout, element_bytes: int, *, base: int = 0, store: bool = False
    ) -> tuple[Access, ...]:
        """What its warps ask of memory to copy a tensor, access by access: banks, sectors, the bytes of each lane.

        A thread moves as many of an atom's values at once as 16 bytes hold. Of ``ldmatrix`` and ``stmatrix`` only the
        threads count whose addresses are read: 8 for each matrix.

        Args:
            tensor: coordinate to offset, in elements; the tile divides it.
            element_bytes: bytes of an element.
            base: byte address of offset 0.
            store: whether the tensor is what is written, not what is read.

        Raises:
            LayoutError: if the tile does not divide the tensor, or values that are moved at once do not lie side by
                side.

        128 threads copy 64 x 64 of a row-major matrix, eight of them a row of 16 bytes each:

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
        served = [access(one.addresses[:active], one.access_bytes, store=store) for one in whole]
        return tuple(
            Access(one.addresses, one.access_bytes, one.phases, one.phase_wavefronts, was.warp, was.value)
            for one, was in zip(served, whole, strict=True)
        )

    def fragment(self, side: Literal["S", "D"]) -> Fragment:
        """What each thread reads of a tile (S), or has of it afterwards (D): ``draw(copy.fragment("S"))`` shows it.

        Raises:
            LayoutError: for another side; if the tile leaves a mode as it is, so that it has no extent.

        >>> print(make_tiled_copy_tv(4, Layout((4, 8), (8, 1)), Layout((2, 4), (4, 1))).fragment("S"))
        S of a tiled copy: 8x32, ((8,4),(4,2)):((32,2),(8,1))
        """
        if side not in ("S", "D"):
            raise LayoutError(
                f"TiledCopy: a side must be S, what is read, or D, what is written, found {safe_text(side)}"
            )
        if any(tiler is None for tiler in self.tiler):
            raise LayoutError(f"TiledCopy: a tile must have an extent along each mode, found {self.tiler}")
        extents = [extent_of(tiler) for tiler in self.tiler]
        tile = Layout(tuple(extents))
        lanes = need_plain(self.thrfrg_D(tile) if side == "D" else self.thrfrg_S(tile), "TiledCopy")
        thread_values = coalesce(make_layout(lanes[0], lanes[1]), (1, 1))
        return Fragment(f"{side} of a tiled copy", (extents[0], prod(extents[1:])), thread_values)

    def _drawn(self) -> tuple[Fragment, ...]:
        read, written = self.fragment("S"), self.fragment("D")
        return (read,) if read.layout == written.layout else (read, written)

    def __str__(self) -> str:
        """Its tile, and what each thread reads and has afterwards.

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
        rows = [f"   {name}  {one.layout}" for name, one in zip(names, sides, strict=True)]
        last = "   (thread, value) to an index into the tile, first mode fastest"
        return "\n".join([f"{head}; tile {text(tuple(map(extent_of, self.tiler)))}", *rows, last])

    def _thrfrg(self, target: Layout, layout: AnyLayout, operation: str) -> AnyLayout:
        need_layout(layout, operation)
        reference = self.atom.reference
        atoms = zipped_divide(self.layout_tv, (int(size(reference[0])), int(size(reference[1]))))
        elements = composition(atoms[0], composition(right_inverse(reference), target))
        pairs = make_layout(make_layout(elements[0], atoms[1][0]), make_layout(elements[1], atoms[1][1]))
        where = coalesce(pairs, (1, (1, 1)))

        def by_thread(plain: Layout) -> Layout:
            tiles = zipped_divide(plain, self.tiler)
            mine = composition(tiles[0], where)
            return make_layout(mine[0], mine[1], *tiles[1])

        return through(by_thread, layout)


def _of_thread(partition: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
    return slice_and_offset((thread, *(None,) * (len(partition) - 1)), partition)


def make_tiled_copy(atom: CopyAtom | int | str, layout_tv: Layout, tiler: tuple[Tiler, ...]) -> TiledCopy:
    """A copy atom repeated over threads.

    Args:
        atom: the instruction, or what :func:`copy_atom` takes.
        layout_tv: (thread, value) to an index into the tile.
        tiler: the tile, mode by mode.

    Raises:
        LayoutError: if one is something else, or the atom does not divide the threads and values.
    """
    return TiledCopy(atom if isinstance(atom, CopyAtom) else copy_atom(atom), layout_tv, tiler)


def make_tiled_copy_tv(atom: CopyAtom | int | str, thr_layout: Layout, val_layout: Layout) -> TiledCopy:
    """A copy whose threads and values tile as two layouts say.

    Args:
        atom: the instruction, or what :func:`copy_atom` takes.
        thr_layout, val_layout: as for :func:`make_layout_tv`.

    Raises:
        LayoutError: as both.
    """
    tiler, layout_tv = make_layout_tv(thr_layout, val_layout)
    return make_tiled_copy(atom, layout_tv, tiler)


def make_tiled_copy_A(atom: CopyAtom | int | str, tiled_mma: TiledMma) -> TiledCopy:
    """The copy that brings each thread what a tiled MMA wants of A.

    >>> from layoutalg.fragments.tiled_mma import make_tiled_mma
    >>> copy = make_tiled_copy_A("ldmatrix.x4", make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1)))
    >>> print(*copy.partition_S(Layout((64, 64), (64, 1)), 5))
    ((8,1),2,4):((1,0),2048,16) 320
    """
    return _of_mma(atom, tiled_mma, "A", (0, 2))


def make_tiled_copy_B(atom: CopyAtom | int | str, tiled_mma: TiledMma) -> TiledCopy:
    """The same of B."""
    return _of_mma(atom, tiled_mma, "B", (1, 2))


def make_tiled_copy_C(atom: CopyAtom | int | str, tiled_mma: TiledMma) -> TiledCopy:
    """The same of C; with ``stmatrix``, the copy that stores what it has."""
    return _of_mma(atom, tiled_mma, "C", (0, 1))


def _of_mma(
    atom: CopyAtom | int | str, mma: TiledMma, operand: Literal["A", "B", "C"], modes: tuple[int, int]
) -> TiledCopy:
    if not isinstance(mma, TiledMma):
        raise LayoutError(f"make_tiled_copy_{operand}: must be given a tiled MMA, found {safe_text(mma)}")
    tile = mma.tile_mnk
    return make_tiled_copy(atom, mma.tv_layout(operand), (tile[modes[0]], tile[modes[1]]))
