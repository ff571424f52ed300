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

from layoutalg.algebra.composition import composition
from layoutalg.algebra.make import make_layout
from layoutalg.algebra.rearrange import append
from layoutalg.analysis.banks import need_offset
from layoutalg.analysis.swizzle_search import AccessPattern
from layoutalg.errors import LayoutError
from layoutalg.fragments.fragment import Fragment, row_pointers
from layoutalg.fragments.fragment_names import fragment as named
from layoutalg.layouts.layout import Layout
from layoutalg.layouts.modes import AnyLayout, need_layout, rank, size
from layoutalg.tuples.int_tuple import safe_text
from layoutalg.tuples.leaf import as_int, need_int

#: Bytes of a row of ``ldmatrix``.
_ROW_BYTES = 16


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


def _matrices(
    fragment: Fragment, tile: AnyLayout, unit: int, access_bytes: int | None, store: bool | None
) -> AccessPattern:
    """The rows that the threads of ``ldmatrix`` point at, whatever the type of the tile's elements."""
    head, count = named(fragment.name).name.split(".")[:2]
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
    down = fragment.shape[0] // 8
    across = int(count[1:]) // down
    lanes = row_pointers(down, across, width)
    along = _contiguous(tile, head)
    hint = _fragment_for(f"{head}.{count}", _shape(tile, head)[:: 1 if along else -1]) if unit == 2 else ""
    spread = _spread(lanes, (8 * down, width * across), tile, along, fragment.name, hint)
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
