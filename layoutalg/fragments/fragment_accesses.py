"""Shared-memory accesses with which the threads of a fragment load or store a whole tile.

The tile is divided into pieces of the fragment's shape, and the threads of the fragment move one piece after another.
``ldmatrix`` and ``stmatrix`` access rows of 16 bytes along the contiguous mode of the tile. Eight threads access the
eight rows of a matrix, so that one phase of the access is one matrix. Threads of any other fragment load or store their
own values one by one.

Invariant: over all threads and values, every element of the tile is accessed once.

Source: PTX ISA 9.1, ldmatrix: thread addresses.

>>> from layoutalg.fragments.fragment_names import fragment
>>> tile = Layout((64, 64), (64, 1))
>>> pattern = moves(fragment("ldmatrix.x4"), tile, 2)
>>> print(pattern.lanes, pattern.access_bytes, pattern.store)
((8,2,2),(8,4,4)):((1,8,512),(64,16,1024)) 16 False
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from layoutalg.algebra.composition import composition
from layoutalg.algebra.make import make_layout
from layoutalg.algebra.rearrange import append
from layoutalg.analysis.banks import Access, need_offset
from layoutalg.analysis.banks import accesses as of_layout
from layoutalg.analysis.swizzle_search import AccessPattern, Lanes
from layoutalg.analysis.swizzle_search import find_swizzle as search
from layoutalg.errors import LayoutError, brief
from layoutalg.fragments.families import BYTE_MATRICES
from layoutalg.fragments.fragment import Fragment, row_pointers
from layoutalg.fragments.fragment_names import fragment as fragment_of
from layoutalg.fragments.fragment_names import is_name
from layoutalg.layouts.composed import ComposedLayout
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, need_layout, rank, size
from layoutalg.layouts.swizzle import Swizzle
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int, need_int

#: Bytes of a row of ``ldmatrix``.
_ROW_BYTES = 16


#: The name of a fragment or a layout, optionally followed by the bytes of a move and its direction.
_ACCESS = re.compile(r"(.*?)(?:@\s*(\d{1,3})\s*[bB])?(?:\s*,\s*(load|store))?\s*", re.DOTALL)


def split_access(text: str) -> tuple[str, int | None, bool | None]:
    """Return the lanes of an access as text, the bytes of a move, and whether it is a store; None for a missing part.

    >>> split_access("ldmatrix.x4"), split_access("(8,8):(1,8)@16B,store")
    (('ldmatrix.x4', None, None), ('(8,8):(1,8)', 16, True))
    """
    match = _ACCESS.fullmatch(text)
    lanes, width, direction = match.groups() if match else (text, None, None)
    return lanes, int(width) if width else None, None if direction is None else direction == "store"


def moves_of_name(
    text: str, tile: AnyLayout, element_bytes: int, access_bytes: int | None = None, store: bool = False
) -> AccessPattern:
    """Return :func:`moves` of a fragment by its name, with the width and direction in the text, if any.

    Args:
        text: a name, optionally followed by ``@16B`` and ``,load``.
        tile: see :func:`moves`.
        element_bytes: see :func:`moves`.
        access_bytes: the width if the text has none; ignored for ``ldmatrix`` and ``stmatrix``.
        store: the direction if the text has none; ignored for ``ldmatrix`` and ``stmatrix``.

    Raises:
        LayoutError: if there is no such fragment, or :func:`moves` raises it.

    >>> print(moves_of_name("mma.m16n8k16.C@8B,load", Layout((16, 8), (8, 1)), 4).store)
    False
    """
    name, width, direction = split_access(text)
    fragment = fragment_of(name)
    if not fragment.name.split(".")[0].endswith("matrix"):
        width = access_bytes if width is None else width
        direction = (True if store else None) if direction is None else direction
    return moves(fragment, tile, element_bytes, width, direction)


def accesses(
    layout: AnyLayout,
    thread_values: AnyLayout | Fragment | str,
    element_bytes: int,
    access_bytes: int | None = None,
    banks: int = 32,
    bank_bytes: int = 4,
    *,
    base: int = 0,
    store: bool = False,
) -> tuple[Access, ...]:
    """Return every access that the threads make to move their values of a tile, warp by warp.

    Thread t moves the element at ``layout(thread_values(t, v))`` for each value v, ``access_bytes`` at a time.

    Args:
        layout: the tile in shared memory: coordinate to offset, in elements.
        thread_values: (threads, values) to an index into the tile, as CuTe's thread-value layouts; or a fragment that
            moves the whole tile; or the name of a fragment (``layoutalg atoms``), optionally followed, as in the
            command, by the bytes and the direction of an access: ``"mma.m16n8k16.C@8B,load"``.
        element_bytes: bytes of an element.
        access_bytes: bytes of one load or store of a thread; default: one element. If it is more, the values that one
            access moves must have adjacent addresses.
        banks: number of banks.
        bank_bytes: width of a bank, in bytes.
        base: byte address of offset 0.
        store: whether the accesses are stores. Without it, fragments of an instruction's C, D or ``stmatrix`` are, too.

    Raises:
        LayoutError: if the thread-value map does not have two modes or leaves the tile, the values of one access are
            not adjacent, or an address is not aligned.

    Example: a row-major 64 x 64 tile of 2-byte elements. Each thread of a warp stores 8 elements, first with 8 lanes
    per row, then with one row per lane; then the same with a swizzle.

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> tile = Layout((64, 64), (64, 1))
    >>> by_row = Layout(((8, 4), 8), ((512, 1), 64))
    >>> by_column = Layout((32, 8), (1, 64))
    >>> [sum(a.wavefronts for a in accesses(tile, tv, 2, 16, store=True)) for tv in (by_row, by_column)]
    [4, 32]
    >>> swizzled = ComposedLayout(Swizzle(3, 3, 3), 0, tile)
    >>> [sum(a.wavefronts for a in accesses(swizzled, tv, 2, 16, store=True)) for tv in (by_row, by_column)]
    [4, 4]
    >>> [sum(a.conflicts for a in accesses(layout, "ldmatrix.x4", 2)) for layout in (tile, swizzled)]
    [448, 0]
    """
    lanes = _pattern(thread_values, layout, element_bytes, access_bytes, store, "banks")
    if isinstance(lanes, AccessPattern):
        access_bytes, store, lanes = lanes.access_bytes, lanes.store, lanes.lanes
    return of_layout(layout, lanes, element_bytes, access_bytes, banks, bank_bytes, base=base, store=store)


def find_swizzle(
    layout: AnyLayout | None,
    accesses: Lanes | AccessPattern | Fragment | str | Iterable[Lanes | AccessPattern | Fragment | str],
    element_bytes: int = 1,
    access_bytes: int | None = None,
    banks: int = 32,
    bank_bytes: int = 4,
    *,
    store: bool = False,
    candidates: Iterable[Swizzle] | None = None,
) -> Swizzle:
    """Return the smallest swizzle of byte addresses with which the accesses to a tile have no bank conflict.

    The swizzle permutes the bytes of the tile and keeps the bytes of one access adjacent: its base is at least log2 of
    their number. It has 0 bits if no swizzle is needed. For offsets in elements of ``2**k`` bytes, the same swizzle is
    ``Swizzle(bits, base - k, shift)``.

    Invariant: with every address a replaced by ``swizzle(a)``, ``banks.access(...).conflicts == 0`` for each access,
    and no smaller swizzle has this property.

    Args:
        layout: the tile: coordinate to offset, in elements. None if all accesses are given by addresses.
        accesses: one access or several: layouts or sequences of byte addresses, as ``lanes`` of :class:`AccessPattern`;
            such patterns, if accesses differ in bytes or some are stores; fragments that move the whole tile, or their
            names, see :func:`accesses`.
        element_bytes: bytes of an element.
        access_bytes: bytes of one load or store of a lane, for accesses that are not patterns; default: one element.
        banks: number of banks.
        bank_bytes: width of a bank, in bytes.
        store: whether the accesses that are not patterns are stores.
        candidates: the swizzles to choose from, on byte addresses, in order of preference. A candidate that separates
            the bytes of an access or leaves the tile is skipped. Default: all whose fields are within the bits of the
            tile's addresses, in the order of ``every_swizzle``.

    Raises:
        NoSwizzleError: if there is none; the best swizzle is an attribute of the error.
        LayoutError: for a malformed access, as in ``layoutalg.analysis.banks``.

    Example: eight lanes read 16 bytes each, down a column of a tile with 8 rows of 64, 32 or 16 half-precision numbers.
    The results are the swizzles that the hardware calls 128B, 64B and 32B.

    >>> column = Layout((8, 8), (1, 8))
    >>> print(*[find_swizzle(Layout((8, n), (n, 1)), column, 2, 16) for n in (64, 32, 16)])
    S<3,4,3> S<2,4,3> S<1,4,3>
    >>> print(find_swizzle(Layout((64, 64), (64, 1)), ["ldmatrix.x4", "stmatrix.x4"], 2))
    S<3,4,3>
    """
    patterns: Any = [accesses] if isinstance(accesses, (str, Fragment)) else accesses
    if isinstance(patterns, Iterable) and not isinstance(patterns, (Layout, ComposedLayout)):
        patterns = [
            _pattern(pattern, layout, element_bytes, access_bytes, store, "find_swizzle") for pattern in patterns
        ]
    return search(layout, patterns, element_bytes, access_bytes, banks, bank_bytes, store=store, candidates=candidates)


def _pattern(
    access: Any, tile: AnyLayout | None, element_bytes: int, access_bytes: int | None, store: bool, operation: str
) -> Any:
    """Return the accesses of a fragment or of the name of one; return anything else unchanged."""
    if isinstance(access, Fragment) and not is_name(access.name):  # of a tiled copy or MMA
        return moves(access, need_layout(tile, operation), element_bytes, access_bytes, store)
    if not isinstance(access, (str, Fragment)):
        return access
    text = access.name if isinstance(access, Fragment) else access
    if not is_name(split_access(text)[0]):
        raise LayoutError(
            f"{operation}: {brief(text)} is not a layout or the name of a fragment; `layoutalg atoms` lists the names; "
            "evaluate() makes a layout of its text"
        )
    return moves_of_name(text, need_layout(tile, operation), element_bytes, access_bytes, store)


def moves(
    fragment: Fragment,
    tile: AnyLayout,
    element_bytes: int,
    access_bytes: int | None = None,
    store: bool | None = None,
) -> AccessPattern:
    """Return the accesses that move a tile between shared memory and the registers of a fragment.

    Args:
        fragment: any fragment except those of ``tcgen05.ld``, ``tcgen05.st`` and scale factors.
        tile: (rows, columns) to offset, in elements. Rows and columns are multiples of the fragment's.
        element_bytes: bytes of an element.
        access_bytes: bytes that a thread moves at once; default: one element, or 16 for ``ldmatrix`` and ``stmatrix``.
        store: whether the registers are stored; default: true for ``stmatrix``, C and D.

    Raises:
        LayoutError: if the tile is not a multiple of the fragment's shape, if the instruction has another width or
            direction, or if the fragment is not of a tile in shared memory.

    >>> from layoutalg.fragments.fragment_names import fragment
    >>> moves(fragment("mma.m16n8k16.C"), Layout((16, 8), (8, 1)), 4, 8).store
    True
    """
    need_layout(tile, "moves")
    if not isinstance(fragment, Fragment):
        raise LayoutError(f"moves: {safe_text(fragment)} is not a fragment")
    unit = as_int(element_bytes, "moves: element_bytes")
    head, *words = fragment.name.split(".")
    if head.endswith("matrix"):
        return _matrices(fragment, tile, unit, access_bytes, store)
    operand = words[1] if len(words) > 1 else ""
    if head == "tcgen05" or operand.startswith("SF"):
        contents = "tensor memory" if head == "tcgen05" else "scale factors"
        raise LayoutError(f"moves: {fragment.name} is a fragment of {contents}, not of a tile in shared memory")
    lanes = _spread(fragment.layout, fragment.shape, tile, 1, fragment.name)
    width = unit if access_bytes is None else access_bytes
    return AccessPattern(lanes, width, operand in ("C", "D") if store is None else store)


def transfers(
    fragment: Fragment, tile: AnyLayout, element_bytes: int, access_bytes: int | None, store: bool
) -> AccessPattern:
    """Return the accesses of a fragment that does not belong to an instruction: a compiler's encoding or a tiled copy.

    Args:
        fragment: see :func:`moves`.
        tile: see :func:`moves`.
        element_bytes: see :func:`moves`.
        access_bytes: bytes that a thread moves at once; default: as many adjacent bytes as possible, up to 16.
        store: see :func:`moves`.

    Raises:
        LayoutError: if :func:`moves` raises it.

    >>> by_row = Fragment("by row", (8, 64), Layout(((8, 8), 8), ((64, 1), 8)))
    >>> transfers(by_row, Layout((8, 64), (64, 1)), 2, None, False).access_bytes
    16
    """
    pattern = moves(fragment, tile, element_bytes, access_bytes, store)
    if access_bytes is not None:
        return pattern
    for width in (16, 8, 4, 2):
        if width > element_bytes and _side_by_side(pattern.lanes, tile, element_bytes, width):
            return AccessPattern(pattern.lanes, width, store)
    return pattern


def _side_by_side(lanes: Lanes, tile: AnyLayout, element_bytes: int, width: int) -> bool:
    """Return whether the values that each thread moves with ``width`` bytes have adjacent addresses."""
    try:
        of_layout(tile, lanes, element_bytes, width)  # type: ignore[arg-type]  # a fragment's are a layout
    except LayoutError:
        return False
    return True


def _matrices(
    fragment: Fragment, tile: AnyLayout, unit: int, access_bytes: int | None, store: bool | None
) -> AccessPattern:
    """Return the rows whose addresses the threads of ``ldmatrix`` provide, for elements of any type."""
    head, *words = fragment_of(fragment.name).name.split(".")
    matrix = words.pop(0) if (head, words[0]) in BYTE_MATRICES else ""
    count, height = words[0], BYTE_MATRICES[head, matrix][0] if matrix else 8
    stores = head == "stmatrix"
    access_bytes = _ROW_BYTES if access_bytes is None else as_int(access_bytes, "moves: access_bytes")
    if store not in (None, stores) or access_bytes != _ROW_BYTES:
        raise LayoutError(
            f"moves: {head} {'stores' if stores else 'loads'} rows of 16 bytes, and the access is a "
            f"{'store' if (stores if store is None else store) else 'load'} of {access_bytes}"
        )
    if not 1 <= unit <= _ROW_BYTES or _ROW_BYTES % unit:
        raise LayoutError(f"moves: {head} moves elements of 1, 2, 4, 8 or 16 bytes, not of {unit}")
    width = _ROW_BYTES // unit
    down = fragment.shape[0] // height
    across = int(count[1:]) // down
    lanes = row_pointers(down, across, width, height)
    along = _contiguous(tile, head)
    hint = (
        _fragment_for(f"{head}.{count}", _shape(tile, head)[:: 1 if along else -1]) if unit == 2 and not matrix else ""
    )
    spread = _spread(lanes, (height * down, width * across), tile, along, fragment.name, hint)
    return AccessPattern(spread, _ROW_BYTES, stores)


def _fragment_for(name: str, extents: tuple[int, ...]) -> str:
    """Return a hint at other arrangements of an instruction's 8 x 8 matrices that fill a tile, or an empty text."""
    count = int(name.rpartition("x")[2])
    shapes = [(8 * down, 8 * count // down) for down in (1, 2, 4) if not count % down]
    shapes_that_fill = [f"{name}.{r}x{c}" for r, c in shapes if not extents[0] % r and not extents[1] % c]
    return f" ({' and '.join(shapes_that_fill)} would fill it)" if shapes_that_fill else ""


def _contiguous(tile: AnyLayout, name: str) -> int:
    """Return the contiguous mode of a tile: 0 if only mode 0 is contiguous, else 1."""
    steps = []
    for coordinate in ((1, 0), (0, 1)):
        inside = all(extent > step for extent, step in zip(_shape(tile, name), coordinate, strict=True))
        steps.append(need_offset(tile(coordinate), tile) - need_offset(tile((0, 0)), tile) if inside else 0)
    return 0 if steps[0] == 1 and steps[1] != 1 else 1


def _shape(tile: AnyLayout, name: str) -> tuple[int, int]:
    """Return the number of rows and columns of a tile."""
    if rank(tile) != 2:
        modes = f"{rank(tile)} mode{'s' * (rank(tile) != 1)}"
        raise LayoutError(f"moves: the tile has {modes}, not two (rows, columns); tile = {tile}")
    rows, columns = [need_int(size(tile, mode=[i]), f"moves: an extent of the tile of {name}") for i in (0, 1)]
    return rows, columns


def _spread(lanes: Layout, shape: tuple[int, int], tile: AnyLayout, along: int, name: str, hint: str = "") -> Layout:
    """Repeat the thread-value layout of one piece over the whole tile; columns of a piece run along mode ``along``."""
    extents = _shape(tile, name)
    rows, columns = extents if along else (extents[1], extents[0])
    if rows % shape[0] or columns % shape[1]:
        piece = shape if along else (shape[1], shape[0])
        raise LayoutError(
            f"moves: the tile is {extents[0]}x{extents[1]}, which is not a multiple of the {piece[0]}x{piece[1]} of "
            f"{name}{hint}; tile = {tile}"
        )
    steps = (1, extents[0]) if along else (extents[0], 1)
    piece_lanes = composition(Layout(shape, steps), lanes)
    values = piece_lanes[1]
    for count, stride in ((rows // shape[0], shape[0] * steps[0]), (columns // shape[1], shape[1] * steps[1])):
        values = append(values, Layout(count, stride)) if count > 1 else values
    return make_layout(piece_lanes[0], values)
