"""Plan the epilogue of a program: how the accumulators go from registers to C in global memory.

There are two ways. From registers, each thread stores its values directly to C. On sm90 these are two neighbors in a
row, so that one store of a warp touches eight rows; on sm100 they are a row, so that it touches 32 rows. Staged, a
warpgroup (sm90) or a warp (sm100, the rows of its own lanes) writes a piece of an accumulator into shared memory, and
TMA stores the piece as a box while the next piece is written. On sm90 a piece has 64 rows; a row has at most 128 bytes.
The staged elements may be narrower than the accumulators. Rows of C must then be multiples of 16 bytes.

A product with small M and N and large K can be split along K. Each part has a matrix of its own, and a second kernel
adds the parts in order, so that the result has the same bits every time.

Invariant: every element of a piece is written once, to the byte from which TMA takes it.

>>> from descriptors.gemm.plan_request import main_loop
>>> loop = main_loop("m64n128k16", "bf16", tile=(128, 128, 64))
>>> made = epilogue_of(loop, 2, c="bf16", store="tma")
>>> made.staged.columns, str(made.staged.swizzle), made.staged.bytes
(64, '128B', 32768)
>>> from descriptors.smem.tma.copy_model import landing_bits
>>> from layoutalg import fragment
>>> written = made.staged.element_bytes(fragment("wgmma.m64n128k16.D"))
>>> elements = offsets(fragment("wgmma.m64n128k16.D").layout)[:, :32]
>>> taken = landing_bits((64, 64), [0], bits=16, swizzle=3)[0] // 8
>>> bool((taken[elements // 64 + 64 * (elements % 64)] == written).all()), len(set(written.ravel().tolist()))
(True, 4096)
>>> made = epilogue_of(main_loop("m128n64k16", "bf16", tile=(128, 64, 64)), 4, c="bf16", rows=32, values=64)
>>> print(made.staged.layout, made.staged.pieces, made.staged.bytes)
S<3,3,3> o 0 o (32,64):(64,1) 8 32768
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import TYPE_CHECKING

from descriptors.errors import Advice, DescriptorError, as_integer, brief
from descriptors.gemm.fragment_model import ldmatrix_bytes
from descriptors.gemm.plan_request import MainLoop
from descriptors.smem.operands.operand import SwizzleMode, choose
from descriptors.text import counted
from layoutalg import ComposedLayout, Fragment, Layout, Swizzle, offsets
from layoutalg.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Bits of an element of C, of a part along K, or of an accumulator, by type.
BITS = {"f32": 32, "s32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8}
#: Data types of the tensor map of C, by the type of C.
MAP_TYPES = {"f32": "FLOAT32", "s32": "INT32", "f16": "FLOAT16", "bf16": "BFLOAT16", "e4m3": "UINT8", "e5m2": "UINT8"}
#: Supported types of C, by the type of the accumulators.
RESULTS = {"f32": ("f32", "bf16", "f16", "e4m3", "e5m2"), "f16": ("f16",), "s32": ("s32",)}
#: Rows of a piece on sm90, as of an instruction, and pieces of each writer: one is stored while the next is written.
ROWS, BUFFERS = 64, 2
#: Number of warps that store on sm100; each reads a quarter of the lanes of tensor memory.
WARPS = 4
#: The largest number of parts along K; with more tiles than a GPU has SMs there is nothing to gain.
MOST_SPLITS = 64
#: Terms that are applied to a sum before it is stored, in this order.
TERMS = {name: name for name in ("row-scales", "alpha-beta", "bias")}
#: The ways in which C can be stored.
STORES = {"registers": "registers", "tma": "tma"}
_BOX_BYTES = 128
_MODES = {128: SwizzleMode.B128, 64: SwizzleMode.B64, 32: SwizzleMode.B32, 16: SwizzleMode.NONE}


@frozen
class Pieces:
    """The buffers of C in shared memory: pieces of accumulators that are copied to global memory.

    Args:
        type: type of a stored element.
        columns: columns of a piece.
        writers: number of warpgroups (sm90) or warps (sm100) that store, each with pieces of its own.
        base: address of the first piece, in bytes.
        rows: rows of a piece: 64 on sm90; on sm100 the rows of a warp.
    """

    type: str
    columns: int
    writers: int
    base: int = 0
    rows: int = ROWS

    @property
    def row_bytes(self) -> int:
        """Size of a row of a piece in bytes: 16, 32, 64 or 128."""
        return self.columns * BITS[self.type] // 8

    @property
    def piece_bytes(self) -> int:
        """Size of a piece in bytes."""
        return self.rows * self.row_bytes

    @property
    def pieces(self) -> int:
        """Number of pieces."""
        return self.writers * BUFFERS

    @property
    def bytes(self) -> int:
        """Size of all pieces in bytes."""
        return self.pieces * self.piece_bytes

    def address(self, writer: int, turn: int) -> int:
        """Return the address of a piece, in bytes.

        Args:
            writer: index of the warpgroup or warp that writes it.
            turn: number of pieces that this writer has written before.
        """
        return self.base + (writer * BUFFERS + turn % BUFFERS) * self.piece_bytes

    @property
    def swizzle(self) -> SwizzleMode:
        """The swizzle mode whose width is that of a row."""
        return _MODES[self.row_bytes]

    @property
    def layout(self) -> Layout | ComposedLayout:
        """The layout of a piece: (row, column) to an offset in elements."""
        plain, swizzle = Layout((self.rows, self.columns), (self.columns, 1)), self.swizzle.swizzle
        if swizzle is None:
            return plain
        base = swizzle.base - (BITS[self.type] // 8).bit_length() + 1
        return ComposedLayout(Swizzle(swizzle.bits, base, swizzle.shift), 0, plain)

    @property
    def matrices(self) -> bool:
        """Whether ``stmatrix.x4`` writes a piece: on sm90, 16-bit elements, at least two core matrices in a row."""
        return self.rows == ROWS and BITS[self.type] == 16 and self.columns >= 16

    def pointer(self, thread: int) -> tuple[int, int]:
        """Return row and column of the address that a thread passes to ``stmatrix.x4``, for the first 16 columns.

        Matrices 0 and 1 are the upper and the lower 8 of a warp's 16 rows, in the order of an accumulator's registers;
        matrices 2 and 3 are those of the next 8 columns.
        """
        return thread % 16 + thread // 32 * 16, thread % 32 // 16 * 8

    def element_bytes(self, of: Fragment | None) -> NDArray[np.int64]:
        """Return the byte offset in a piece of each value of each thread: axes (thread, value of the piece).

        Args:
            of: (thread, value) to row + 64 column of the whole accumulator; None if each thread has a row.
        """
        import numpy as np

        places, width = offsets(self.layout).reshape(self.rows, self.columns), BITS[self.type] // 8
        if of is None:
            return np.asarray(places * width, dtype=np.int64)
        elements = offsets(of.layout)[:, : self.columns // 2]
        if not self.matrices:
            return np.asarray(places[elements % ROWS, elements // ROWS] * width, dtype=np.int64)
        row, column = np.array([self.pointer(thread) for thread in range(of.threads)]).T
        each = [
            ldmatrix_bytes(places[row, first + column] * width, 2).reshape(of.threads, 8)
            for first in range(0, self.columns, 16)
        ]
        return np.concatenate(each, axis=1)


@frozen
class Epilogue:
    """The store of C by a program.

    Args:
        c: the type of C.
        splits: number of parts along K, each with a matrix of its own; 1 if K is not split.
        terms: the terms of ``TERMS`` that are applied to a sum before it is stored.
        staged: the pieces in shared memory; None if C is stored from registers.
    """

    c: str
    splits: int = 1
    terms: tuple[str, ...] = ()
    staged: Pieces | None = None

    @property
    def staged_bytes(self) -> int:
        """Size of the pieces in shared memory in bytes; 0 without pieces."""
        return 0 if self.staged is None else self.staged.bytes

    @property
    def map_arguments(self) -> tuple[tuple[str, str], ...]:
        """Names and values of the ``cuTensorMapEncodeTiled`` arguments for C or its parts along K; () without a map.

        >>> from descriptors.gemm.plan_request import main_loop
        >>> made = epilogue_of(main_loop("m64n64k16", "bf16", tile=(64, 64, 64)), 1, splits=2)
        >>> dict(made.map_arguments)["globalStrides"], dict(made.map_arguments)["boxDim"]
        ('{N * 4, M * N * 4}', '{32, 64, 1}')
        """
        if self.staged is None:
            return ()
        pieces, parts = self.staged, self.splits > 1
        size = BITS[pieces.type] // 8
        scaled = f" * {size}" if size > 1 else ""
        return (
            ("tensorDataType", f"CU_TENSOR_MAP_DATA_TYPE_{MAP_TYPES[pieces.type]}"),
            ("tensorRank", "3" if parts else "2"),
            ("globalAddress", "parts" if parts else "C"),
            ("globalDim", f"{{N, M, {self.splits}}}" if parts else "{N, M}"),
            ("globalStrides", f"{{N{scaled}, M * N{scaled}}}" if parts else f"{{N{scaled}}}"),
            ("boxDim", f"{{{pieces.columns}, {pieces.rows}{', 1' * parts}}}"),
            ("elementStrides", "{1, 1, 1}" if parts else "{1, 1}"),
            ("interleave", "CU_TENSOR_MAP_INTERLEAVE_NONE"),
            ("swizzle", f"CU_TENSOR_MAP_SWIZZLE_{str(pieces.swizzle).upper()}"),
            ("l2Promotion", "CU_TENSOR_MAP_L2_PROMOTION_NONE"),
            ("oobFill", "CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE"),
        )

    def __str__(self) -> str:
        parts = f", {self.splits} parts along K, added in their order" if self.splits > 1 else ""
        parts += f", with {' and '.join(self.terms)}" if self.terms else ""
        if self.staged is None:
            return f"{self.c}, from registers{parts}"
        pieces = self.staged
        return (
            f"{self.c}, through {counted(pieces.pieces, 'piece')} of {pieces.rows}x{pieces.columns} {pieces.type} in "
            f"shared memory, {pieces.swizzle}, stored as boxes{parts}"
        )


def epilogue_of(
    loop: MainLoop,
    writers: int,
    *,
    rows: int = ROWS,
    values: int | None = None,
    c: str | None = None,
    store: str | None = None,
    splits: int = 1,
    terms: Sequence[str] = (),
) -> Epilogue:
    """Return the epilogue for the arguments of ``plan``.

    Args:
        loop: the instruction and the tile.
        writers: number of warpgroups (sm90) or warps (sm100) that store.
        rows: rows of an accumulator that a writer stores at a time.
        values: columns that a writer has in registers at a time; by default those of the instruction.
        c: the type of C; by default that of the accumulators.
        store: ``"registers"`` or ``"tma"``; by default ``"tma"`` if C is narrower than the accumulators or K is split,
            else ``"registers"``.
        splits: number of parts along K.
        terms: the names of the terms.

    Raises:
        DescriptorError: if an argument is not supported, or the arguments are not supported together.

    >>> from descriptors.gemm.plan_request import main_loop
    >>> print(epilogue_of(main_loop("m64n96k16", "bf16", tile=(128, 96, 64)), 2, store="tma"))
    f32, through 4 pieces of 64x32 f32 in shared memory, 128B, stored as boxes
    """
    kind = choose("plan: c_dtype", loop.d if c is None else c, {name: name for name in BITS})
    parts = as_integer(splits, "plan: splits", minimum=1, maximum=MOST_SPLITS)
    if kind not in RESULTS[loop.d]:
        some = ", ".join(RESULTS[loop.d])
        raise DescriptorError(
            f"plan: C is {kind}, which {loop.d} accumulators are not converted to; supported: {some}",
            proposals=[Advice({"c_dtype": name}) for name in RESULTS[loop.d]],
        )
    chosen_terms = _terms(terms, loop.d)
    needed = kind != loop.d or parts > 1
    chosen_store = choose("plan: store", ("tma" if needed else "registers") if store is None else store, STORES)
    if chosen_store == "registers":
        if needed:
            subject = f"C of {kind}" if kind != loop.d else f"{parts} parts along K"
            raise DescriptorError(
                f"plan: {subject} cannot be stored from registers, only through shared memory",
                proposals=[Advice({"store": "tma"})],
            )
        return Epilogue(kind, terms=chosen_terms)
    if parts > 1 and loop.d == "f16":
        raise DescriptorError(
            "plan: the accumulators are f16, and splits needs f32 or s32 accumulators",
            proposals=[Advice({"splits": 1})],
        )
    stored = kind if parts == 1 else loop.d
    m, n, k = loop.extents
    width = n if values is None else values
    row = gcd(width * BITS[stored] // 8, _BOX_BYTES)
    if row < 16:
        wide = 128 // BITS[stored]
        if values is not None and (loop.extents[0], loop.cta_group) == (128, 2):
            wide *= 2  # a thread has only half of a row
        subject = "a row of an accumulator" if values is None else "the part of a row that one load gives a thread"
        raise DescriptorError(
            f"plan: {subject} is {counted(width, 'element')} of {stored}, {width * BITS[stored] // 8} bytes; TMA "
            "stores multiples of 16 bytes",
            proposals=[
                Advice({"instruction": (m, columns, k), "tile": (loop.tile[0], times * columns, loop.tile[2])})
                for columns in (n // wide * wide, -(-n // wide) * wide)
                for times in (loop.blocks[1], -(-loop.tile[1] // max(1, columns)))
                if columns
            ],
        )
    return Epilogue(kind, parts, chosen_terms, Pieces(stored, row * 8 // BITS[stored], writers, rows=rows))


def check_columns(epilogue: Epilogue, filters: int) -> None:
    """Check that TMA can store the rows of C of a convolution.

    Args:
        epilogue: the epilogue.
        filters: number of filters: elements of a row of C.

    Raises:
        DescriptorError: if TMA stores C and a row is not a multiple of 16 bytes.
    """
    if epilogue.staged is None or not filters * BITS[epilogue.staged.type] % 128:
        return
    unit = 128 // BITS[epilogue.staged.type]
    raise DescriptorError(
        f"plan: {filters} filters make a row of C {filters * BITS[epilogue.staged.type] // 8} bytes of "
        f"{epilogue.staged.type}; TMA stores multiples of 16 bytes, such as {-(-filters // unit) * unit} filters",
        proposals=[Advice({"store": "registers"})],
    )


def _terms(terms: Sequence[str], d: str) -> tuple[str, ...]:
    if isinstance(terms, str):
        terms = [name.strip() for name in terms.split(",")]
    if not isinstance(terms, (tuple, list)):
        raise DescriptorError(f"plan: terms is {brief(terms)}, not a list of names; supported: {', '.join(TERMS)}")
    chosen = {choose("plan: terms", name, TERMS) for name in terms}
    if chosen and d != "f32":
        raise DescriptorError(
            f"plan: the accumulators are {d}, and terms need f32 accumulators", proposals=[Advice({"terms": ()})]
        )
    return tuple(name for name in TERMS if name in chosen)
