"""Tiled MMAs: an instruction repeated over threads and tiles, and which elements of A, B and C each thread holds.

An atom multiplies M x N x K: element (m, n) of C is the sum over k of row m of A times row n of B. Atoms are repeated
along M, N and K, each with its own threads (``atom_layout``). Together they cover a tile, and tiles are repeated until
the operand is covered. A mode of an operand therefore has three parts:

* the position inside an atom, where the instruction determines which (thread, value) holds an element;
* ``ThrM``, ``ThrN``, ``ThrK``: the atom in the tile, which is the group of threads;
* ``RestM``, ``RestN``, ``RestK``: the tile, and the part of a tile whose ``permutation`` extends beyond the atoms.
  Each thread has these as values.

Invariant: all threads at one position along the mode that an operand lacks hold the whole operand together, and each
element as often as in the layout of the atom: once, except for an operand in shared memory, all of which every thread
has.

Source: CUTLASS ``include/cute/atom/mma_atom.hpp`` (TiledMMA: thrfrg_A, thrfrg_B, thrfrg_C, get_slice),
``include/cute/atom/mma_traits_sm80.hpp``, ``mma_traits_sm90_gmma.hpp``, ``mma_traits_sm100.hpp`` (MMA_Traits).

>>> mma = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1))
>>> print(mma.thr_layout_vmnk, mma.tile_mnk)
(32,2,2,1):(1,32,64,0) (32, 16, 16)
>>> mine, offset = mma.partition_C(Layout((64, 64), (64, 1)), 37)
>>> print(mine, offset)
((2,2),2,4):((1,512),2048,16) 1090
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from layoutalg.algebra.composition import composition
from layoutalg.algebra.divide import logical_divide, zipped_divide
from layoutalg.algebra.inverse import right_inverse
from layoutalg.algebra.make import make_layout
from layoutalg.algebra.products import tiled_product
from layoutalg.algebra.slicing import slice_and_offset
from layoutalg.drawing.shown import Shown
from layoutalg.errors import LayoutError
from layoutalg.fragments.families import TCGEN05_TYPES, mma, need_type, numbers
from layoutalg.fragments.fragment import Fragment, need_thread_values, owners, thread_number
from layoutalg.fragments.fragment_names import fragment, mma_words
from layoutalg.frozen import fix, frozen
from layoutalg.layouts.layout import Layout, need_integer_strides
from layoutalg.layouts.modes import AnyLayout, Tiler, idx2crd, need_layout, need_plain, rank, size, through
from layoutalg.tuples.int_tuple import Coord, Shape, check_depth, product, safe_text
from layoutalg.tuples.leaf import as_int, need_int


@frozen
class MmaAtom:
    """An MMA instruction: its shape, and which thread holds which elements of A, B and C.

    Args:
        shape_mnk: M, N and K.
        a: (thread, value) to the index of an element of A, M x K, first mode fastest.
        b: (thread, value) to the index of an element of B, N x K.
        c: (thread, value) to the index of an element of C, M x N.
        scales: the layouts of the scale factors of A and of B, one factor for each k; None without scale factors.

    Raises:
        LayoutError: if an argument has another type or an extent is not positive.

    >>> print(mma_atom("mma.m16n8k8.tf32").b)
    ((4,8),2):((8,1),32)
    """

    shape_mnk: tuple[int, int, int]
    a: Layout
    b: Layout
    c: Layout
    scales: tuple[Layout, Layout] | None = None

    def __init__(
        self,
        shape_mnk: tuple[int, int, int],
        a: Layout,
        b: Layout,
        c: Layout,
        scales: tuple[Layout, Layout] | None = None,
    ) -> None:
        if type(shape_mnk) is not tuple or len(shape_mnk) != 3:
            raise LayoutError(f"MmaAtom: {safe_text(shape_mnk)} is not a shape (M, N, K)")
        extents = tuple([as_int(extent, "MmaAtom: an extent") for extent in shape_mnk])
        if min(extents) < 1:
            raise LayoutError(f"MmaAtom: the extents {extents} are not positive")
        layouts = [need_thread_values(layout, "MmaAtom") for layout in (a, b, c)]
        if scales is not None:
            if type(scales) is not tuple or len(scales) != 2:
                raise LayoutError(f"MmaAtom: the scales {safe_text(scales)} are not two layouts, of A and of B")
            scales = (need_thread_values(scales[0], "MmaAtom"), need_thread_values(scales[1], "MmaAtom"))
        fix(self, shape_mnk=extents, a=layouts[0], b=layouts[1], c=layouts[2], scales=scales)

    @property
    def threads(self) -> int:
        """Number of threads that issue the instruction together."""
        return int(size(self.c[0]))

    @property
    def instruction(self) -> str:
        """The shape as PTX writes it, such as ``m16n8k16``."""
        return "".join(f"{letter}{extent}" for letter, extent in zip("mnk", self.shape_mnk, strict=True))

    def __str__(self) -> str:
        """Return the number of threads, and the thread-value layout of each operand.

        >>> print(mma_atom("mma.m16n8k16.f16"))
        an MMA atom m16n8k16: 32 threads
           A  16x16  ((4,8),(2,2,2)):((32,1),(16,8,128))
           B  8x16   ((4,8),(2,2)):((16,1),(8,64))
           C  16x8   ((4,8),(2,2)):((32,1),(16,8))
           (thread, value) to an index into the operand's tile, first mode fastest
        """
        m, n, k = self.shape_mnk
        operands = [("A", f"{m}x{k}", self.a), ("B", f"{n}x{k}", self.b), ("C", f"{m}x{n}", self.c)]
        width = max(len(extents) for _, extents, _ in operands)
        head = f"an MMA atom {self.instruction}: {self.threads} thread{'s' * (self.threads != 1)}"
        rows = [f"   {operand}  {extents:<{width}}  {layout}" for operand, extents, layout in operands]
        return "\n".join([head, *rows, "   (thread, value) to an index into the operand's tile, first mode fastest"])


def mma_atom(name: str, a_source: Literal["smem", "rmem"] = "smem", cta_group: Literal[1, 2] = 1) -> MmaAtom:
    """Return the atom of an instruction, by the name of its fragments without the operand.

    Args:
        name: ``mma.m16n8k16.f16``, ``mma.sp.m16n8k64.e4m3``, ``wgmma.m64n128k16``, ``tcgen05.m128n256k16``; the type as
            in :func:`layoutalg.fragment`. For ``mma.sync`` also all words of PTX; ``block_scale`` adds the scale
            factors. For a sparse instruction, the thread that stores an element of A also has its zeros.
        a_source: where A of ``wgmma`` is stored. If it is in shared memory, every thread has all of A, as of B.
        cta_group: number of CTAs that share a ``tcgen05`` instruction, whose threads are CTAs. A single CTA has
            everything; each CTA of a pair has half of M of A and C, and half of N of B.

    Raises:
        LayoutError: if there is no such instruction.

    >>> print(mma_atom("wgmma.m64n8k16").a)
    (128,(64,16)):(0,(1,64))
    >>> print(mma_atom("tcgen05.m256n64k16", cta_group=2).b)
    (2,(32,16)):(32,(1,64))
    >>> print(mma_atom("mma.m16n8k64.block_scale.e2m1").scales[0])
    ((2,2,8),64):((8,0,1),16)
    """
    sources = isinstance(a_source, str) and a_source in ("smem", "rmem")
    if isinstance(name, str) and name.strip().startswith("mma.") and sources:
        return _of_warp(name.strip())
    head, shape, dtype, *surplus = [*name.strip().split("."), "", ""] if isinstance(name, str) else [""] * 3
    end = f".{dtype}" if dtype else ""
    known = head in ("wgmma", "tcgen05") and not any(surplus)
    if not known or not sources:
        raise LayoutError(
            f"mma_atom: {safe_text(name)} with A in {safe_text(a_source)} is not an instruction; supported: mma as in "
            "mma.m16n8k16.f16, wgmma as in wgmma.m64n128k16, tcgen05 as in tcgen05.m128n256k16, with A in smem or rmem"
        )
    if head == "tcgen05":
        return _by_ctas(shape, dtype, cta_group)
    c = fragment(f"{head}.{shape}.C").layout
    a = fragment(f"{head}.{shape}.A{end}").layout
    m, n, k = numbers(shape)
    return MmaAtom((m, n, k), a if a_source == "rmem" else _whole(m, k), _whole(n, k), c)


def _of_warp(name: str) -> MmaAtom:
    """Return the atom of ``mma.sync``."""
    words = name.split(".")[1:]
    sparse, shape, types, rest = mma_words(words)
    dtypes = [word for word in rest if not word.endswith("X")]  # without the scale vector
    if len(dtypes) > (not types):
        raise LayoutError(f"mma_atom: {safe_text(name)} is not an instruction such as mma.m16n8k16.f16")
    type_of = {**dict.fromkeys("AB", "".join(dtypes)), **types}
    a, b, c = (mma(shape, operand, type_of.get(operand, ""), sparse=sparse, zeros=True)[1] for operand in "ABC")
    scales = (
        (mma(shape, "SFA", "", sparse=sparse)[1], mma(shape, "SFB", "", sparse=sparse)[1])
        if "block_scale" in words
        else None
    )
    m, n, k = numbers(shape)
    return MmaAtom((m, n, k), a, b, c, scales)


def _whole(rows: int, columns: int) -> Layout:
    """Return the layout of an operand in shared memory, all of which each thread of a warpgroup has."""
    return Layout((128, (rows, columns)), (0, (1, rows)))


def _by_ctas(shape: str, dtype: str, ctas: int) -> MmaAtom:
    """Return the atom of ``tcgen05.mma``, whose threads are the CTAs that share the instruction."""
    m, n, k = numbers(shape)
    legal = as_int(ctas, "mma_atom: cta_group") in (1, 2) and m in (64 * ctas, 128 * ctas) and k in TCGEN05_TYPES
    if not legal or n % (8 * ctas) or not 8 <= n <= 256:
        raise LayoutError(
            f"mma_atom: {shape} with cta_group {safe_text(ctas)} is not a shape of tcgen05; supported: M 64 or 128 "
            "(128 or 256 with cta_group 2), N = 8, 16, ..., 256 (16, 32, ..., 256 with cta_group 2), K 8, 16, 32 or 64"
        )
    need_type(dtype, TCGEN05_TYPES[k], f"tcgen05.{shape}")
    a, b, c = [
        Layout((ctas, (rows // ctas, columns)), (rows // ctas if ctas == 2 else 0, (1, rows)))
        for rows, columns in ((m, k), (n, k), (m, n))
    ]
    return MmaAtom((m, n, k), a, b, c)


#: The operands of a tiled MMA; SFA and SFB only if its atom has scale factors.
MmaOperand: TypeAlias = Literal["A", "B", "C", "SFA", "SFB"]
#: By operand: the positions of its two modes in (M, N, K), and the position of the mode that it lacks.
_MODES = {"A": (0, 2, 1), "B": (1, 2, 0), "C": (0, 1, 2), "SFA": (0, 2, 1), "SFB": (1, 2, 0)}


@frozen
class TiledMma(Shown):
    """An MMA atom repeated over threads and over the values of each thread.

    Args:
        atom: the instruction.
        atom_layout: (M, N, K) position of an atom to the number of its group of threads.
        permutation: for each of M, N and K the extent of the tile and the order of its elements; None for the extent
            of the atoms.

    Raises:
        LayoutError: if an argument has another type, or two atoms have the same threads.

    >>> make_tiled_mma("mma.m16n8k16.f16") == TiledMma(mma_atom("mma.m16n8k16.f16"), Layout((1, 1, 1)), (None,) * 3)
    True
    """

    atom: MmaAtom
    atom_layout: Layout
    permutation: tuple[Tiler, Tiler, Tiler]

    def __init__(self, atom: MmaAtom, atom_layout: Layout, permutation: tuple[Tiler, Tiler, Tiler]) -> None:
        layout = need_integer_strides(need_plain(atom_layout, "TiledMma"), "TiledMma")
        check_depth(permutation, "TiledMma: permutation")
        whole = type(permutation) is tuple and len(permutation) == 3
        if not isinstance(atom, MmaAtom) or len(layout) != 3 or not whole or not all(map(is_tiler, permutation)):
            raise LayoutError(
                f"TiledMma: {safe_text(atom)}, {layout}, {safe_text(permutation)} are not an atom, its layout along M, "
                "N and K, and a tile of these three"
            )
        if size(right_inverse(layout)) != size(layout):
            raise LayoutError(
                f"TiledMma: the atom layout {layout} does not contain each number from 0 to {size(layout) - 1} once"
            )
        fix(self, atom=atom, atom_layout=layout, permutation=permutation)

    @property
    def thr_layout_vmnk(self) -> Layout:
        """Layout from (thread in the atom, position of the atom along M, N, K) to the number of a thread."""
        return tiled_product(Layout(self.atom.threads), self.atom_layout)

    @property
    def tile_mnk(self) -> tuple[int, int, int]:
        """Extents of M, N and K that all threads cover at once."""
        m, n, k = [extent_of(self._tiler(mode)) for mode in range(3)]
        return m, n, k

    @property
    def size(self) -> int:
        """Number of threads."""
        return int(size(self.thr_layout_vmnk))

    @property
    def shape_mnk(self) -> tuple[int, int, int]:
        """M, N and K of the atom."""
        return self.atom.shape_mnk

    @property
    def permutation_mnk(self) -> tuple[Tiler, Tiler, Tiler]:
        """The extents and orders of the tile, under CuTe's name."""
        return self.permutation

    @property
    def tv_layout_A_tiled(self) -> Layout:
        """(thread, value) to an index into the tile of A, under CuTe's name; see :meth:`tv_layout`."""
        return self.tv_layout("A")

    @property
    def tv_layout_B_tiled(self) -> Layout:
        """(thread, value) to an index into the tile of B, under CuTe's name."""
        return self.tv_layout("B")

    @property
    def tv_layout_C_tiled(self) -> Layout:
        """(thread, value) to an index into the tile of C, under CuTe's name."""
        return self.tv_layout("C")

    def get_tile_size(self, mode: int) -> int:
        """Return the extent of the tile along M (0), N (1) or K (2).

        Raises:
            LayoutError: for another mode.
        """
        number = as_int(mode, "get_tile_size: mode")
        if number not in (0, 1, 2):
            raise LayoutError(f"get_tile_size: mode {number} is not 0 (M), 1 (N) or 2 (K)")
        return self.tile_mnk[number]

    def get_slice(self, thread: int) -> ThrMma:
        """Return the part of the MMA that one thread does, as CuTe's method of this name.

        Raises:
            CoordinateError: if there is no such thread.

        >>> mma = make_tiled_mma("mma.m16n8k16.f16", (2, 2, 1))
        >>> print(*mma.get_slice(37).partition_C(Layout((64, 64), (64, 1))))
        ((2,2),2,4):((1,512),2048,16) 1090
        """
        return ThrMma(self, thread)

    def partition_shape_A(self, shape_mk: Shape) -> Shape:
        """Return the shape of a thread's part of an A of this shape, ``(value, RestM, RestK)``.

        >>> make_tiled_mma("mma.m16n8k16.f16", (2, 1, 1)).partition_shape_A((64, 32))
        ((2, 2, 2), 2, 2)
        """
        return self._partition_shape("A", shape_mk)

    def partition_shape_B(self, shape_nk: Shape) -> Shape:
        """Return the shape of a thread's part of a B of this shape, ``(value, RestN, RestK)``."""
        return self._partition_shape("B", shape_nk)

    def partition_shape_C(self, shape_mn: Shape) -> Shape:
        """Return the shape of a thread's part of a C of this shape, ``(value, RestM, RestN)``."""
        return self._partition_shape("C", shape_mn)

    def owners(self, element: Coord, operand: MmaOperand = "C") -> tuple[tuple[int, int], ...]:
        """Return each thread and value that has an element of the tile of an operand.

        Args:
            element: (row, column): M and K for A, N and K for B, M and N for C.
            operand: A, B, C, SFA or SFB.

        Raises:
            LayoutError: if there is no such operand or element.

        >>> make_tiled_mma("mma.m16n8k16.f16", (2, 1, 1)).owners((21, 3))
        ((53, 1),)
        """
        return owners(self.fragment(operand), element)

    def fragment(self, operand: MmaOperand) -> Fragment:
        """Return what each thread holds of an operand's tile; ``draw(mma.fragment("A"))`` draws it.

        Raises:
            LayoutError: if the MMA has no such operand.

        >>> print(make_tiled_mma("mma.m16n8k16.f16", (2, 1, 1)).fragment("C"))
        C of m16n8k16: 32x8, ((4,8,2),((2,2),(1,1))):((64,1,16),((32,8),(0,0)))
        """
        i, j, _ = _MODES[self._operand(operand)]
        shape = (self.tile_mnk[i], self.tile_mnk[j])
        return Fragment(f"{operand} of {self.atom.instruction}", shape, self.tv_layout(operand))

    @property
    def operands(self) -> tuple[MmaOperand, ...]:
        """The operands in registers or shared memory: A, B, C, and SFA and SFB of an atom with scale factors."""
        return ("A", "B", "C") if self.atom.scales is None else ("A", "B", "C", "SFA", "SFB")

    def _drawn(self) -> tuple[Fragment, ...]:
        return tuple(self.fragment(operand) for operand in self.operands)

    def __str__(self) -> str:
        """Return the tile, and what each thread holds of each operand.

        >>> print(make_tiled_mma("mma.m16n8k16.f16", (2, 1, 1)))
        m16n8k16, 2x1x1 of them: 64 threads, a tile of 32x8x16
           A  32x16  ((4,8,2),((2,2,2),(1,1))):((64,1,16),((32,8,256),(0,0)))
           B  8x16   ((4,8,2),((2,2),(1,1))):((16,1,0),((8,64),(0,0)))
           C  32x8   ((4,8,2),((2,2),(1,1))):((64,1,16),((32,8),(0,0)))
           (thread, value) to an index into the operand's tile, first mode fastest
        """
        atoms, tile = ("x".join(map(str, map(size, modes))) for modes in (self.atom_layout, self.tile_mnk))
        fragments = zip(self.operands, self._drawn(), strict=True)
        rows = [(operand, fragment.extents, fragment.layout) for operand, fragment in fragments]
        longest = max(map(len, self.operands))
        width = max(len(extents) for _, extents, _ in rows)
        return "\n".join(
            [
                f"{self.atom.instruction}, {atoms} of them: {size(self.thr_layout_vmnk)} threads, a tile of {tile}",
                *(f"   {operand:<{longest}}  {extents:<{width}}  {layout}" for operand, extents, layout in rows),
                "   (thread, value) to an index into the operand's tile, first mode fastest",
            ]
        )

    def _operand(self, operand: object) -> str:
        if operand not in self.operands:
            scaled = "" if self.atom.scales else "; only an atom with block_scale has scale factors"
            raise LayoutError(
                f"TiledMma: {safe_text(operand)} is not an operand; supported: {', '.join(self.operands)}{scaled}"
            )
        return str(operand)

    def thrfrg_A(self, layout: AnyLayout) -> AnyLayout:
        """Divide a layout (M, K) by threads and values: ``((thread, (ThrM, ThrK)), (value, (RestM, RestK)))``.

        Raises:
            LayoutError: if the tile does not divide the layout.
        """
        return self._thrfrg("A", layout)

    def thrfrg_B(self, layout: AnyLayout) -> AnyLayout:
        """Divide a layout (N, K) by threads and values, see :meth:`thrfrg_A`."""
        return self._thrfrg("B", layout)

    def thrfrg_C(self, layout: AnyLayout) -> AnyLayout:
        """Divide a layout (M, N) by threads and values, see :meth:`thrfrg_A`."""
        return self._thrfrg("C", layout)

    def partition_A(self, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
        """Return what a thread holds of A, ``(value, RestM, RestK)``, and its offset.

        Raises:
            LayoutError: if :meth:`thrfrg_A` raises it, or there is no such thread.

        >>> mine, offset = make_tiled_mma("mma.m16n8k16.f16").partition_A(Layout((16, 32), (32, 1)), 5)
        >>> print(mine, offset)
        ((2,2,2),1,2):((1,256,8),0,16) 34
        """
        return self._partition("A", layout, thread)

    def partition_B(self, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
        """Return what a thread holds of B, ``(value, RestN, RestK)``, and its offset."""
        return self._partition("B", layout, thread)

    def partition_C(self, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
        """Return what a thread holds of C, ``(value, RestM, RestN)``, and its offset."""
        return self._partition("C", layout, thread)

    def tv_layout(self, operand: MmaOperand) -> Layout:
        """Return (number of a thread, value) to an index into the tile of an operand, first mode fastest.

        >>> print(make_tiled_mma("mma.m16n8k16.f16", (2, 1, 1)).tv_layout("C"))
        ((4,8,2),((2,2),(1,1))):((64,1,16),((32,8),(0,0)))
        """
        i, j, lacking = _MODES[self._operand(operand)]
        (thread, groups), values = self._by_thread(operand, Layout((self.tile_mnk[i], self.tile_mnk[j])))
        vmnk = self.thr_layout_vmnk
        # Threads that differ only along the mode that the operand lacks hold the same elements: a stride of 0.
        position = {i: groups[0], j: groups[1], lacking: Layout(size(vmnk[1 + lacking]), 0)}
        by_vmnk = make_layout(thread, position[0], position[1], position[2])
        return make_layout(composition(by_vmnk, right_inverse(vmnk)), values)

    def _partition_shape(self, operand: str, shape: Shape) -> Shape:
        """Return the shape of a thread's part of an operand. A mode that the tile does not divide is rounded up."""
        if type(shape) is not tuple or len(shape) < 2:
            raise LayoutError(f"partition_shape_{operand}: {safe_text(shape)} has fewer than two modes")
        i, j, _ = _MODES[operand]
        counts = []
        for mode, extent in zip((i, j), shape[:2], strict=True):
            step = self.atom.shape_mnk[mode] * int(size(self.atom_layout[mode]))
            tile = extent_of(self._tiler(mode))
            length = need_int(product(extent), f"partition_shape_{operand}: an extent")
            counts.append(-(-length // tile) * (tile // step))
        atom = {"A": self.atom.a, "B": self.atom.b, "C": self.atom.c}[operand]
        return (atom.shape[1], *counts, *shape[2:])  # type: ignore[index]

    def _tiler(self, mode: int) -> Tiler:
        """Return the tile along one of M, N and K: the entry of the permutation, or the extent of all atoms."""
        tiler = self.permutation[mode]
        return self.atom.shape_mnk[mode] * int(size(self.atom_layout[mode])) if tiler is None else tiler

    def _thrfrg(self, operand: str, layout: AnyLayout) -> AnyLayout:
        need_layout(layout, f"thrfrg_{operand}")
        if rank(layout) < 2:
            raise LayoutError(f"thrfrg_{operand}: the layout {layout} has fewer than two modes")
        return through(lambda plain: self._by_thread(operand, plain), layout)

    def _by_thread(self, operand: str, plain: Layout) -> Layout:
        """Return a plain operand as ``((thread, groups), (value, rest))``; groups and rest have the operand's modes."""
        i, j, _ = _MODES[operand]
        atom_layouts = (self.atom.a, self.atom.b, self.atom.c, *(self.atom.scales or ()))
        thread_values = dict(zip(self.operands, atom_layouts, strict=True))[operand]
        extents = self.atom.shape_mnk
        tiles = logical_divide(plain, (self._tiler(i), self._tiler(j)))
        elements, atoms = zipped_divide(tiles, (extents[i], extents[j]))
        thread, value = composition(elements, thread_values)
        groups, rest = zipped_divide(atoms, (int(size(self.atom_layout[i])), int(size(self.atom_layout[j]))))
        return make_layout(make_layout(thread, groups), make_layout(value, rest))

    def _partition(self, operand: str, layout: AnyLayout, thread: int) -> tuple[AnyLayout, int]:
        """Return what a thread holds of an operand: the slice at its position in the atom and its group."""
        i, j, _ = _MODES[operand]
        threads, number = self.thr_layout_vmnk, as_int(thread, f"partition_{operand}: thread")
        if not 0 <= number < size(threads):
            raise LayoutError(f"partition_{operand}: thread {number} is not in [0,{size(threads)})")
        vmnk: Any = idx2crd(right_inverse(threads)(number), tuple(int(size(mode)) for mode in threads))
        fragments = self._thrfrg(operand, layout)
        shape: Any = fragments.shape  # ((thread, (ThrM, ThrN)), (value, (RestM, RestN, ...)))
        rest = (None,) * len(shape[1][1])
        return slice_and_offset(((vmnk[0], (vmnk[1 + i], vmnk[1 + j])), (None, rest)), fragments)


@frozen
class ThrMma:
    """The part of a tiled MMA that one thread does.

    Args:
        mma: the tiled MMA.
        thread: number of the thread.

    Raises:
        LayoutError: if an argument has another type.
        CoordinateError: if there is no such thread.
    """

    mma: TiledMma
    thread: int

    def __init__(self, mma: TiledMma, thread: int) -> None:
        if not isinstance(mma, TiledMma):
            raise LayoutError(f"ThrMma: {safe_text(mma)} is not a tiled MMA")
        fix(self, mma=mma, thread=thread_number(thread, mma.size, "ThrMma"))

    def partition_A(self, layout: AnyLayout) -> tuple[AnyLayout, int]:
        """Return what the thread holds of A; see :meth:`TiledMma.partition_A`."""
        return self.mma.partition_A(layout, self.thread)

    def partition_B(self, layout: AnyLayout) -> tuple[AnyLayout, int]:
        """Return what the thread holds of B."""
        return self.mma.partition_B(layout, self.thread)

    def partition_C(self, layout: AnyLayout) -> tuple[AnyLayout, int]:
        """Return what the thread holds of C."""
        return self.mma.partition_C(layout, self.thread)


def is_tiler(tiler: object) -> bool:
    """Return whether a value can tile one mode: a number, a shape, a layout, or None for the undivided mode.

    >>> is_tiler(8), is_tiler(Layout(8)), is_tiler("8")
    (True, True, False)
    """
    return tiler is None or isinstance(tiler, (int, Layout)) or (type(tiler) is tuple and _is_shape(tiler))


def _is_shape(tiler: tuple[object, ...]) -> bool:
    return all(isinstance(mode, int) or (type(mode) is tuple and _is_shape(mode)) for mode in tiler)


def extent_of(tiler: Tiler) -> int:
    """Return the extent of a tiler of one mode."""
    return need_int(size(tiler) if isinstance(tiler, Layout) else product(tiler), "TiledMma: a tile")  # type: ignore[arg-type]


def make_tiled_mma(
    atom: MmaAtom | str,
    atom_layout_mnk: Layout | Shape = (1, 1, 1),
    permutation_mnk: tuple[Tiler, Tiler, Tiler] | None = None,
) -> TiledMma:
    """Repeat an MMA atom over threads and values.

    Args:
        atom: the instruction, or its name as for :func:`mma_atom`.
        atom_layout_mnk: number of atoms along M, N and K as a shape, or a layout to the number of their group of
            threads.
        permutation_mnk: the tile along M, N and K; None for a mode whose tile has the extent of the atoms. Default:
            None for all three.

    Raises:
        LayoutError: if an argument has another type, or two atoms have the same threads.

    >>> print(make_tiled_mma("wgmma.m64n128k16", (2, 1, 1)).thr_layout_vmnk)
    (128,2,1,1):(1,128,0,0)
    """
    instruction = mma_atom(atom) if isinstance(atom, str) else atom
    layout = atom_layout_mnk if isinstance(atom_layout_mnk, Layout) else Layout(atom_layout_mnk)
    return TiledMma(instruction, layout, (None, None, None) if permutation_mnk is None else permutation_mnk)
