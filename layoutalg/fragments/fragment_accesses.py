"""How a fragment goes through shared memory: the accesses of its threads to a whole tile.

A tile is cut into pieces of the fragment's shape, and every piece is moved by one group of threads. ``ldmatrix`` and
``stmatrix`` access rows of 16 bytes, which lie along the contiguous mode of the tile: thread t of each eight at one
row, so that a phase is one matrix. Any other fragment is loaded or stored by its own threads, value by value.

Law: over all threads and values, every element of the tile is accessed once.
Source: PTX ISA 9.1, ldmatrix: thread addresses.

>>> from layoutalg.fragments.fragment_names import fragment
>>> tile = Layout((64, 64), (64, 1))
>>> found = moves(fragment("ldmatrix.x4"), tile, 2)
>>> print(found.lanes, found.access_bytes, found.store)
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


#: The bytes of a move and its direction, behind the name of a fragment or a layout.
_SAYS = re.compile(r"(.*?)(?:@\s*(\d{1,3})\s*[bB])?(?:\s*,\s*(load|store))?\s*", re.DOTALL)


def said(text: str) -> tuple[str, int | None, bool | None]:
    """The lanes of an access as they are written, and what stands behind them: bytes, and whether it is a store.

    >>> said("ldmatrix.x4"), said("(8,8):(1,8)@16B,store")
    (('ldmatrix.x4', None, None), ('(8,8):(1,8)', 16, True))
    """
    match = _SAYS.fullmatch(text)
    lanes, width, direction = match.groups() if match else (text, None, None)
    return lanes, int(width) if width else None, None if direction is None else direction == "store"


def named(
    text: str, tile: AnyLayout, element_bytes: int, access_bytes: int | None = None, store: bool = False
) -> AccessPattern:
    """The access of a fragment by its name, with its width and its direction where the text says them.

    Args:
        text: a name, and behind it maybe ``@16B`` and ``,load``.
        tile, element_bytes: as :func:`moves` has them.
        access_bytes, store: of a fragment that does not say it; ``ldmatrix`` and ``stmatrix`` always do.

    Raises:
        LayoutError: if there is no such fragment, and as :func:`moves`.

    >>> print(named("mma.m16n8k16.C@8B,load", Layout((16, 8), (8, 1)), 4).store)
    False
    """
    name, width, direction = said(text)
    one = fragment_of(name)
    if not one.name.split(".")[0].endswith("matrix"):
        width = access_bytes if width is None else width
        direction = (True if store else None) if direction is None else direction
    return moves(one, tile, element_bytes, width, direction)


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
    """Every access that the threads make to move their values of a tile, warp by warp.

    Thread t moves the element at ``layout(thread_values(t, v))`` for each value v, ``access_bytes`` at a time.

    Args:
        layout: the tile in shared memory: coordinate to offset, in elements.
        thread_values: (threads, values) to an index into the tile, as CuTe's thread-value layouts; or a fragment that
            moves the whole tile, or its name (``layoutalg atoms``), behind which may stand, as in the command, the
            bytes of an access and its direction: ``"mma.m16n8k16.C@8B,load"``.
        element_bytes: bytes of an element.
        access_bytes: bytes of one load or store of a thread; default: one element. More needs as many values in a row
            to lie in a row.
        banks, bank_bytes, store: as for :func:`wavefronts`; without ``store``, a fragment of C, of D and of
            ``stmatrix`` is stored.
        base: byte address of offset 0.

    Raises:
        LayoutError: if the thread-value map has not two modes or leaves the tile, values of one access do not lie side
            by side, or an address is not aligned.

    A 64 x 64 tile of 2-byte elements, row-major. Each thread of a warp stores 8 elements: lanes 8 to a row; then one
    row a lane, and so again with a swizzle:

    >>> from layoutalg import ComposedLayout, Layout, Swizzle
    >>> tile = Layout((64, 64), (64, 1))
    >>> by_row = Layout(((8, 4), 8), ((512, 1), 64))
    >>> by_column = Layout((32, 8), (1, 64))
    >>> [sum(a.wavefronts for a in accesses(tile, tv, 2, 16, store=True)) for tv in (by_row, by_column)]
    [4, 32]
    >>> swizzled = ComposedLayout(Swizzle(3, 3, 3), 0, tile)
    >>> [sum(a.wavefronts for a in accesses(swizzled, tv, 2, 16, store=True)) for tv in (by_row, by_column)]
    [4, 4]
    >>> [sum(one.conflicts for one in accesses(one, "ldmatrix.x4", 2)) for one in (tile, swizzled)]
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
    """The smallest swizzle of byte addresses with which the accesses to a tile have no bank conflict.

    Law: with every address a replaced by ``swizzle(a)``, ``banks.access(...).conflicts == 0`` for each access, and no
    smaller swizzle does that. The swizzle permutes the tile's bytes among themselves and leaves those of one access
    side by side (its base is at least log2 of their number). Where none is needed, it has 0 bits. For offsets in
    elements of ``2**k`` bytes the same swizzle is ``Swizzle(bits, base - k, shift)``.

    Args:
        layout: the tile: coordinate to offset, in elements. None if all accesses are given by addresses.
        accesses: one access or several: layouts or sequences of byte addresses, as ``lanes`` of :class:`AccessPattern`;
            such patterns themselves, where accesses differ in bytes or some are stores; fragments that move the whole
            tile, or their names, as :func:`accesses` has them.
        element_bytes: bytes of an element.
        access_bytes: bytes of one load or store of a lane, of accesses that are no patterns; default: one element.
        banks: number of banks.
        bank_bytes: width of a bank, in bytes.
        store: whether the accesses that are no patterns are stores.
        candidates: the swizzles to choose from, on byte addresses, in order of preference; one that tears an access or
            leaves the tile is passed over. Default: all whose fields lie within the bits of the tile's addresses, in
            the order of ``every_swizzle``.

    Raises:
        NoSwizzleError: if none will do; the best one is an attribute of the error.
        LayoutError: for a malformed access, as in ``layoutalg.analysis.banks``.

    Eight lanes read 16 bytes each, down a column of a tile of 8 rows of 64, 32 or 16 half-precision numbers. The
    swizzles found are those that the hardware calls 128B, 64B and 32B:

    >>> column = Layout((8, 8), (1, 8))
    >>> print(*[find_swizzle(Layout((8, n), (n, 1)), column, 2, 16) for n in (64, 32, 16)])
    S<3,4,3> S<2,4,3> S<1,4,3>
    >>> print(find_swizzle(Layout((64, 64), (64, 1)), ["ldmatrix.x4", "stmatrix.x4"], 2))
    S<3,4,3>
    """
    patterns: Any = [accesses] if isinstance(accesses, (str, Fragment)) else accesses
    if isinstance(patterns, Iterable) and not isinstance(patterns, (Layout, ComposedLayout)):
        patterns = [_pattern(one, layout, element_bytes, access_bytes, store, "find_swizzle") for one in patterns]
    return search(layout, patterns, element_bytes, access_bytes, banks, bank_bytes, store=store, candidates=candidates)


def _pattern(
    one: Any, tile: AnyLayout | None, element_bytes: int, access_bytes: int | None, store: bool, operation: str
) -> Any:
    """The accesses of a fragment or of its name; anything else as it is."""
    if isinstance(one, Fragment) and not is_name(one.name):  # of a tiled copy or MMA
        return moves(one, need_layout(tile, operation), element_bytes, access_bytes, store)
    if not isinstance(one, (str, Fragment)):
        return one
    text = one.name if isinstance(one, Fragment) else one
    if not is_name(said(text)[0]):
        raise LayoutError(
            f"{operation}: an access must be a layout or the name of a fragment (`layoutalg atoms` lists them), found "
            f"{brief(text)}; evaluate() makes a layout of its text"
        )
    return named(text, need_layout(tile, operation), element_bytes, access_bytes, store)


def moves(
    fragment: Fragment,
    tile: AnyLayout,
    element_bytes: int,
    access_bytes: int | None = None,
    store: bool | None = None,
) -> AccessPattern:
    """The accesses that move a tile between shared memory and the registers of a fragment.

    Args:
        fragment: any but those of ``tcgen05.ld`` and ``tcgen05.st``, and of scale factors.
        tile: (rows, columns) to offset, in elements: a multiple of the fragment's shape.
        element_bytes: bytes of an element.
        access_bytes: bytes that a thread moves at once; default: one element, and 16 for ``ldmatrix`` and ``stmatrix``.
        store: whether the registers are stored; default: for ``stmatrix``, C and D.

    Raises:
        LayoutError: if the tile is not such a multiple; if the instruction has another width or direction, or does not
            move shared memory.

    >>> from layoutalg.fragments.fragment_names import fragment
    >>> moves(fragment("mma.m16n8k16.C"), Layout((16, 8), (8, 1)), 4, 8).store
    True
    """
    need_layout(tile, "moves")
    if not isinstance(fragment, Fragment):
        raise LayoutError(f"moves: must be a fragment, found {safe_text(fragment)}")
    unit = as_int(element_bytes, "moves: element_bytes")
    head, *words = fragment.name.split(".")
    if head.endswith("matrix"):
        return _matrices(fragment, tile, unit, access_bytes, store)
    operand = words[1] if len(words) > 1 else ""
    if head == "tcgen05" or operand.startswith("SF"):
        what = "tensor memory" if head == "tcgen05" else "scale factors"
        raise LayoutError(f"moves: a fragment must be of a tile in shared memory, found {what}; name = {fragment.name}")
    lanes = _spread(fragment.layout, fragment.shape, tile, 1, fragment.name)
    width = unit if access_bytes is None else access_bytes
    return AccessPattern(lanes, width, operand in ("C", "D") if store is None else store)


def transfers(
    fragment: Fragment, tile: AnyLayout, element_bytes: int, access_bytes: int | None, store: bool
) -> AccessPattern:
    """The accesses of a fragment that is of no instruction: what a compiler's encoding or a tiled copy holds of a tile.

    Args:
        fragment, tile, element_bytes, store: as :func:`moves` has them.
        access_bytes: bytes that a thread moves at once; default: all that lie side by side, up to 16.

    Raises:
        LayoutError: as :func:`moves`.

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
    """Whether values of so many bytes lie together, for every thread."""
    try:
        of_layout(tile, lanes, element_bytes, width)  # type: ignore[arg-type]  # a fragment's are a layout
    except LayoutError:
        return False
    return True


def _matrices(
    fragment: Fragment, tile: AnyLayout, unit: int, access_bytes: int | None, store: bool | None
) -> AccessPattern:
    """The rows that the threads of ``ldmatrix`` point at, whatever the type of the tile's elements."""
    head, *words = fragment_of(fragment.name).name.split(".")
    matrix = words.pop(0) if (head, words[0]) in BYTE_MATRICES else ""
    count, height = words[0], BYTE_MATRICES[head, matrix][0] if matrix else 8
    stores = head == "stmatrix"
    access_bytes = _ROW_BYTES if access_bytes is None else as_int(access_bytes, "moves: access_bytes")
    if store not in (None, stores) or access_bytes != _ROW_BYTES:
        raise LayoutError(
            f"moves: {head} must {'store' if stores else 'load'} rows of 16 bytes, found a "
            f"{'store' if (stores if store is None else store) else 'load'} of {access_bytes}"
        )
    if not 1 <= unit <= _ROW_BYTES or _ROW_BYTES % unit:
        raise LayoutError(f"moves: an element of {head} must have 1, 2, 4, 8 or 16 bytes, found {unit}")
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
    """How else the matrices of an instruction could lie, of 8 x 8 elements each, so that they fill a tile."""
    count = int(name.rpartition("x")[2])
    shapes = [(8 * down, 8 * count // down) for down in (1, 2, 4) if not count % down]
    shapes_that_fill = [f"{name}.{r}x{c}" for r, c in shapes if not extents[0] % r and not extents[1] % c]
    return f" ({' and '.join(shapes_that_fill)} would fill it)" if shapes_that_fill else ""


def _contiguous(tile: AnyLayout, name: str) -> int:
    """Which mode of a tile is contiguous: 0 if only that one is, else 1."""
    _shape(tile, name)
    steps = []
    for there in ((1, 0), (0, 1)):
        inside = all(extent > step for extent, step in zip(_shape(tile, name), there, strict=True))
        steps.append(need_offset(tile(there), tile) - need_offset(tile((0, 0)), tile) if inside else 0)
    return 0 if steps[0] == 1 and steps[1] != 1 else 1


def _shape(tile: AnyLayout, name: str) -> tuple[int, int]:
    """Rows and columns of a tile."""
    if rank(tile) != 2:
        raise LayoutError(f"moves: the tile must have two modes (rows, columns), found {rank(tile)}; tile = {tile}")
    rows, columns = [need_int(size(tile, mode=[i]), f"moves: an extent of the tile of {name}") for i in (0, 1)]
    return rows, columns


def _spread(lanes: Layout, shape: tuple[int, int], tile: AnyLayout, along: int, name: str, hint: str = "") -> Layout:
    """A thread-value layout of one piece as that of the whole tile, whose mode ``along`` the piece's columns run."""
    extents = _shape(tile, name)
    rows, columns = extents if along else (extents[1], extents[0])
    if rows % shape[0] or columns % shape[1]:
        piece = shape if along else (shape[1], shape[0])
        raise LayoutError(
            f"moves: the tile must be a multiple of the {piece[0]}x{piece[1]} of {name}, found "
            f"{extents[0]}x{extents[1]}{hint}; tile = {tile}"
        )
    steps = (1, extents[0]) if along else (extents[0], 1)
    piece_lanes = composition(Layout(shape, steps), lanes)
    values = piece_lanes[1]
    for count, stride in ((rows // shape[0], shape[0] * steps[0]), (columns // shape[1], shape[1] * steps[1])):
        values = append(values, Layout(count, stride)) if count > 1 else values
    return make_layout(piece_lanes[0], values)
