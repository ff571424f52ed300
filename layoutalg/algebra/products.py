"""The products, which repeat a block: a layout of copies of another layout.

Definition: ``logical_product(A, B) = (A, composition(complement(A, N), B))``. Mode 0 is the block, and mode 1 iterates
over the copies, which are at the offsets that A leaves free, in the order of B. N is size(A) * cosize(B). If A is
padded, N is as many periods as needed for cosize(B) copies.

Invariant: no two copies overlap. The complement guarantees this if all strides of B have the same sign. If they have
both signs, the layout of copies extends below and above zero, as B does, and an overlap is an error: ``2:3`` by
``(2,2):(-2,1)`` would use offset 1 twice.

``blocked_product`` and ``raked_product`` pair the modes of block and copies, so that the result has the rank of the
block. The blocked product keeps each block together, and the raked product interleaves the blocks.
Proof that copies do not overlap, and that a tile of compact atoms has no gaps: ``logical_product_law`` and
``tile_to_shape_fills`` in ``proofs/Divide.v``.
Source: CUTLASS ``include/cute/layout.hpp``, CuTe documentation "Layout Algebra", product.

>>> from layoutalg import Layout
>>> p = logical_product(Layout((2, 2), (4, 1)), Layout(6, 1))
>>> print(p, len({p(i) for i in range(24)}))
((2,2),(2,3)):((4,1),(2,8)) 24
"""

from __future__ import annotations

from layoutalg.algebra.coalesce import coalesce_plain
from layoutalg.algebra.complement import room
from layoutalg.algebra.divide import as_tile, by_mode, unpack, with_cause, zip_modes
from layoutalg.algebra.make import ordered_layout
from layoutalg.errors import LayoutError, NotDivisibleError, NotInjectiveError, UndecidedError
from layoutalg.layouts.flat import axes, compact_size, scaled_by
from layoutalg.layouts.layout import Layout, need_readable, trusted, valid_shape
from layoutalg.layouts.modes import LayoutKind, Tiler, modes_of, need_layout, need_plain, through
from layoutalg.layouts.plain_composition import compose_plain
from layoutalg.tuples.int_tuple import Index, Shape, check_depth, flatten_tuple, product, safe_text
from layoutalg.tuples.leaf import as_flag, as_int, ceil_div, divides, has_symbols, surely_less
from layoutalg.tuples.scaled_basis import ScaledBasis, is_zero

#: The most offsets that are compared if the strides of a tiler have both signs.
_MOST_COMPARED = 1 << 18


def logical_product(block: LayoutKind, tiler: Tiler) -> LayoutKind:
    """Return a layout and its copies as ``(block, copies)``.

    Args:
        block: a layout; for a composed layout, the inner layout is repeated.
        tiler: a layout or an integer n (for ``n:1``), which gives the number and the order of the copies. A tuple of
            tilers repeats mode by mode; ``None`` in the tuple and modes beyond the tuple leave a mode as it is.

    Raises:
        NotInjectiveError: if the block maps two coordinates to one offset, or two copies overlap.
        NotDivisibleError: if the copies do not form a layout.
        LayoutError: if a tiler has more modes than the block, or has another type.
        UndecidedError: if the strides of the tiler have both signs, and deciding whether copies overlap needs more than
            a quarter of a million offsets or depends on symbols.

    >>> print(logical_product(Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))))
    ((2,5),(3,4)):((5,1),(10,30))
    """
    need_layout(block, "logical_product")
    check_depth(tiler, "logical_product: the tiler")
    return through(lambda plain: need_readable(_product(plain, tiler), "logical_product"), block)


def _product(block: Layout, tiler: Tiler) -> Layout:
    if tiler is None:
        return block
    if type(tiler) is tuple:
        return by_mode(block, tiler, _product, "logical_product")
    tile = as_tile(tiler, "logical_product")
    period = compact_size(block)
    if period is not None:  # the most frequent case: the block is compact, so the copies are consecutive
        strides = scaled_by(tile.shape, tile.stride, period)
        if strides is not None:
            return trusted((block.shape, tile.shape), (block.stride, strides))
    try:
        copies = compose_plain(room(block, tile), tile)
    except (NotDivisibleError, NotInjectiveError) as error:
        fact = "logical_product: the copies do not form a layout"
        raise type(error)(with_cause(fact, error, f"block = {block}, tiler = {tile}")) from error
    result = trusted((block.shape, copies.shape), (block.stride, copies.stride))
    if _may_overlap(tile):
        _need_apart(result, block, tile)
    return result


def _may_overlap(tile: Layout) -> bool:
    """Check if the strides of a tiler have both signs, or are basis strides, so that copies may overlap."""
    strides = flatten_tuple(tile.stride)
    try:
        if not strides or min(strides) >= 0 or max(strides) <= 0:
            return False
    except (TypeError, UndecidedError):
        pass  # basis strides and symbols cannot be compared here; the code below examines each of them
    steps = [d for s, d in zip(flatten_tuple(tile.shape), strides, strict=True) if s != 1 and not is_zero(d)]
    if any(isinstance(d, ScaledBasis) for d in steps):
        return True
    return any(not surely_less(0, d) for d in steps) and any(not surely_less(d, 0) for d in steps)


def _need_apart(result: Layout, block: Layout, tile: Layout) -> None:
    """Check that copies do not overlap. A tiler may repeat a copy at the same offset.

    Reversing a mode only adds a constant to the offsets, so a layout is injective exactly if it is injective with the
    absolute values of its strides. The theorem of the complement decides most cases.

    Raises:
        NotInjectiveError: if two copies overlap.
        UndecidedError: if there are symbols, or too many offsets to compare.
    """
    if _is_spread(result):
        return
    if has_symbols(flatten_tuple((result.shape, result.stride))) or product(result.shape) > _MOST_COMPARED:
        raise UndecidedError(
            f"logical_product: cannot decide whether two copies overlap; block = {block}, tiler = {tile}"
        )
    owner: dict[int, tuple[int, int]] = {}
    for copy in range(product(tile.shape)):
        for element in range(product(block.shape)):
            offset = result(element, copy)
            mine = (block(element), tile(copy))
            if owner.setdefault(offset, mine) != mine:
                raise NotInjectiveError(
                    f"logical_product: two copies overlap at offset {offset}; block = {block}, tiler = {tile}"
                )


def _is_spread(layout: Layout) -> bool:
    """Check if each stride, sorted by size, is at least the period of the modes below it, which implies injectivity."""
    for modes in axes(layout, "logical_product").values():
        period = 1
        try:
            for d, s in sorted((abs(d), s) for s, d, _ in modes if d != 0):
                if d < period:
                    return False
                period = d * s
        except UndecidedError:
            return False
    return True


def zipped_product(block: LayoutKind, tiler: Tiler) -> LayoutKind:
    """Return a layout and its copies as ``((block), (copies))``; with a tuple of tilers, first the blocks of all modes.

    Raises:
        LayoutError: as :func:`logical_product`; or if a tuple of tilers has ``None`` for a mode that is not a pair.

    >>> print(zipped_product(Layout((2, 5), (5, 1)), (3, 4)))
    ((2,5),(3,4)):((5,1),(1,5))
    """
    need_layout(block, "zipped_product")
    check_depth(tiler, "zipped_product: the tiler")
    return through(
        lambda plain: need_readable(zip_modes(_product(plain, tiler), tiler, "zipped_product"), "zipped_product"), block
    )


def tiled_product(block: LayoutKind, tiler: Tiler) -> LayoutKind:
    """Return a :func:`zipped_product` with each mode over the copies at the top: ``((block), copies, copies, ...)``.

    >>> print(tiled_product(Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))))
    ((2,5),3,4):((5,1),10,30)
    """
    need_layout(block, "tiled_product")
    check_depth(tiler, "tiled_product: the tiler")
    return through(
        lambda plain: need_readable(
            unpack(zip_modes(_product(plain, tiler), tiler, "tiled_product"), 1), "tiled_product"
        ),
        block,
    )


def flat_product(block: LayoutKind, tiler: Tiler) -> LayoutKind:
    """Return a :func:`zipped_product` with all modes at the top: ``(block, block, ..., copies, copies, ...)``.

    >>> print(flat_product(Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))))
    (2,5,3,4):(5,1,10,30)
    """
    need_layout(block, "flat_product")
    check_depth(tiler, "flat_product: the tiler")
    return through(
        lambda plain: need_readable(
            unpack(zip_modes(_product(plain, tiler), tiler, "flat_product"), 0, 1), "flat_product"
        ),
        block,
    )


def blocked_product(block: LayoutKind, tiler: Layout) -> LayoutKind:
    """Repeat a block side by side: mode i is ``(block_i, copies_i)``.

    Args:
        block: a layout; for a composed layout, the inner layout is repeated.
        tiler: a plain layout that gives the number of copies along each mode, and their order. If block and tiler have
            different ranks, the lower one is padded with modes of extent 1. If the block has an integer shape and the
            tiler is a tuple of one mode, that mode keeps its parentheses in the result, as in the CuTe DSL.

    Raises:
        LayoutError: as :func:`logical_product`.

    >>> print(blocked_product(Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))))
    ((2,3),(5,4)):((5,10),(1,30))
    >>> print(blocked_product(Layout(5), Layout((3,), (1,))), blocked_product(Layout((5,), (1,)), Layout((3,), (1,))))
    ((5,(3))):((1,(5))) ((5,3)):((1,5))
    """
    need_layout(block, "blocked_product")
    tile = need_plain(tiler, "blocked_product")
    return through(lambda plain: need_readable(_blocked(plain, tile), "blocked_product"), block)


def _blocked(block: Layout, tiler: Layout) -> Layout:
    if type(block.shape) is not tuple and type(tiler.shape) is tuple and len(tiler.shape) == 1:
        copies = _product(block, tiler)[1]
        return trusted(((block.shape, copies.shape),), ((block.stride, copies.stride),))
    block, copies = _with_copies(block, tiler)
    shape = zip(modes_of(block.shape), modes_of(copies.shape), strict=True)
    stride = zip(modes_of(block.stride), modes_of(copies.stride), strict=True)
    return trusted(tuple(shape), tuple(stride))


def raked_product(block: LayoutKind, tiler: Layout) -> LayoutKind:
    """Repeat a block with the copies interleaved: mode i is ``(copies_i, block_i)``, coalesced.

    Raises:
        LayoutError: as :func:`logical_product`.

    >>> print(raked_product(Layout((2, 5), (5, 1)), Layout((3, 4), (1, 3))))
    ((3,2),(4,5)):((10,5),(30,1))
    """
    need_layout(block, "raked_product")
    tile = need_plain(tiler, "raked_product")
    return through(lambda plain: need_readable(_raked(plain, tile), "raked_product"), block)


def _raked(block: Layout, tiler: Layout) -> Layout:
    block, copies = _with_copies(block, tiler)
    pairs = zip(*(modes_of(part) for part in (copies.shape, block.shape, copies.stride, block.stride)), strict=True)
    modes = [coalesce_plain(trusted((a, b), (c, d))) for a, b, c, d in pairs]
    return trusted(tuple([mode.shape for mode in modes]), tuple([mode.stride for mode in modes]))


def _with_copies(block: Layout, tiler: Layout) -> tuple[Layout, Layout]:
    """Return a block and its copies, both with the larger rank of block and tiler."""
    rank = max(len(block), len(tiler))
    block = _padded(block, rank)
    return block, _product(block, _padded(tiler, rank))[1]


def _padded(layout: Layout, rank: int) -> Layout:
    """Append modes 1:0 to a layout up to this rank; the shape of the result is a tuple."""
    if type(layout.shape) is tuple and len(layout.shape) == rank:
        return layout
    shape, stride = modes_of(layout.shape), modes_of(layout.stride)
    more = rank - len(shape)
    return trusted(shape + (1,) * more, stride + (0,) * more)


def tile_to_shape(
    atom: LayoutKind, target_shape: Shape, order: Index | None = None, *, round_up: bool = False
) -> LayoutKind:
    """Fill a shape with copies of an atom, as a shared-memory tile is built from a swizzle atom.

    Args:
        atom: a layout; for a composed layout, the inner layout is repeated, and the swizzle stays.
        target_shape: extents of the result, with at least the rank of the atom; for a nested mode, its size counts.
        order: the order of the modes along which copies are placed, a permutation of the numbers of the modes:
            ``(0,1)`` fills mode 0 first, then mode 1. Default: the order of the modes.
        round_up: whether the result may be larger than the shape, with whole atoms that cover it, as CuTe IR does.

    Raises:
        NotDivisibleError: if the atom does not divide the shape and ``round_up`` is false.
        LayoutError: if the rank of the shape is too small, the order does not fit, or as :func:`blocked_product`.

    >>> print(tile_to_shape(Layout((8, 64), (64, 1)), (128, 128), (0, 1)))
    ((8,16),(64,2)):((64,512),(1,8192))
    >>> print(tile_to_shape(Layout((3, 3)), (5, 8), round_up=True))
    ((3,2),(3,3)):((1,9),(3,18))
    """
    need_layout(atom, "tile_to_shape")
    target = valid_shape(target_shape)
    extents = [product(mode) for mode in modes_of(target)]
    if order is None:
        order = tuple(range(len(extents)))
    if round_up is not False:
        as_flag(round_up, "tile_to_shape: round_up")
    return through(lambda plain: need_readable(_tiled_to_shape(plain, extents, order, round_up), "tile_to_shape"), atom)


def _tiled_to_shape(atom: Layout, extents: list[int], order: Index, round_up: bool) -> Layout:
    if len(atom) > len(extents):
        raise LayoutError(
            f"tile_to_shape: the shape has rank {len(extents)}, less than the atom, which has rank {len(atom)}; "
            f"atom = {atom}"
        )
    padded = _padded(atom, len(extents))
    counts = []
    for mode, (part, extent) in enumerate(zip(modes_of(padded.shape), extents, strict=True)):
        part = product(part)
        if not round_up and not divides(part, extent):
            raise NotDivisibleError(
                f"tile_to_shape: mode {mode} of the shape has size {extent}, which is not a multiple of the atom's "
                f"{part}; atom = {atom}; pass round_up=True to cover the shape with whole atoms"
            )
        counts.append(ceil_div(extent, part))
    if type(order) is not tuple:
        order = (order,)
    if len(order) != len(counts):
        raise LayoutError(
            f"tile_to_shape: order {safe_text(order)} has rank {len(order)}, but the shape has rank {len(counts)}; "
            f"atom = {atom}"
        )
    if order != tuple(range(len(counts))):
        _need_permutation([as_int(number, "tile_to_shape: an order") for number in order], atom)
    return _blocked(atom if len(extents) == 1 else padded, ordered_layout(tuple(counts), order))


def _need_permutation(order: list[int], atom: Layout) -> None:
    """Check that an order consists of the numbers from 0 to its rank - 1.

    Raises:
        LayoutError: otherwise; for distinct numbers, the message gives the permutation in the same order.
    """
    ranks = sorted(order)
    if ranks == list(range(len(order))):
        return
    help_note = ""
    if len({*order}) == len(order):
        help_note = f"; give the order as {safe_text(tuple(map(ranks.index, order)))}, which counts the modes from 0"
    raise LayoutError(
        f"tile_to_shape: order {safe_text(tuple(order))} is not a permutation of the numbers of the modes, 0 to "
        f"{len(order) - 1}; atom = {atom}{help_note}"
    )
