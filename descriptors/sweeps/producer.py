"""Who fills a tile with plain stores, and what shared memory takes for them.

A producer is one of three names, or a layout:

- ``"tma"``      tensor copies. The stores measured are then those that would do its work: ``"rows"`` for a K-major
                 tile, ``"columns"`` for an MN-major one.
- ``"rows"``     one warp, by plain stores. The tile is cut into pieces of 16 bytes along K (shorter if 16 bytes do not
                 divide K), counted along K first; lane l moves the pieces l, l + 32, l + 64, ...
- ``"columns"``  the same along MN.
- a layout       (threads, values) to an index into the tile, MN fastest, as CuTe's thread-value layouts.

A thread stores the widest of 16, 8, 4, 2 or 1 bytes at which all of its values lie side by side and aligned. Elements
that share a byte cannot be stored alone, nor can those of the 16-byte containers (e2m1_unpacksmem, e2m3, e3m2).

Law: whoever fills a tile writes every element of it once.

>>> from descriptors.operands.operand import as_element_type
>>> sets = [moves(who, (48, 40), Major.K, as_element_type("bf16")).ravel() for who in ("tma", "rows", "columns")]
>>> all(sorted(one[one >= 0].tolist()) == list(range(48 * 40)) for one in sets)
True
"""

from __future__ import annotations

from math import gcd
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from descriptors.errors import DescriptorError, LayoutError, brief
from descriptors.operands.operand import ElementType, Major
from descriptors.operands.pasted import evaluated
from layoutalg import ComposedLayout, Layout, access, offsets, size

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Producer: TypeAlias = str | Layout | ComposedLayout

_NAMES = ("tma", "rows", "columns")
_MOST_VALUES = 1 << 20  # as many values as a thread-value layout may move
_WARP = 32


class Stores(NamedTuple):
    """What a producer's stores cost: bytes of each, wavefronts of all, and how many of these are conflicts."""

    store_bytes: int
    wavefronts: int
    conflicts: int


def stores(bits: NDArray[np.int64], moves: NDArray[np.int64], element: ElementType) -> Stores | None:
    """The cost of moving a tile to shared memory by plain stores.

    Law: the sum of ``layoutalg.wavefronts`` over the stores of every warp.

    Args:
        bits: the address of every element, (MN, K), in bits.
        moves: index into the tile, MN fastest, of each value of each thread: (threads, values); -1 for none.
        element: the element type.

    Returns:
        None if no plain stores can do it: they would have to split bytes, or containers.

    >>> import numpy as np
    >>> from descriptors.operands.operand import as_element_type
    >>> row_major = (64 * np.arange(8)[:, None] + np.arange(64)) * 16
    >>> a_row_each = np.arange(512).reshape(64, 8).T
    >>> stores(row_major, a_row_each, as_element_type("bf16"))
    Stores(store_bytes=16, wavefronts=64, conflicts=56)
    """
    import numpy as np

    where = bits.reshape(-1, order="F")[moves]
    padded = element.bits != element.storage_bits
    for width in (16,) if padded else (16, 8, 4, 2, 1):
        vector = width * 8 // element.storage_bits
        if not vector or moves.shape[1] % vector:
            continue
        groups = where.reshape(len(where), -1, vector)
        active = moves.reshape(groups.shape) >= 0
        first = groups[..., :1]
        beside = (groups == first + np.arange(vector) * element.storage_bits) & (first % (width * 8) == 0)
        if (beside | ~active).all() and (active.all(axis=2) == active.any(axis=2)).all():
            return _cost(np.where(active[..., 0], first[..., 0] // 8, -1), width)
    return None


def _cost(addresses: NDArray[np.int64], width: int) -> Stores:
    """The wavefronts of (threads, stores) byte addresses, warp by warp; -1 is no store."""
    known: dict[tuple[int | None, ...], tuple[int, int]] = {}
    wavefronts = conflicts = 0
    for first in range(0, len(addresses), _WARP):
        for lanes in addresses[first : first + _WARP].T.tolist():
            # All banks together are 128 bytes wide, so a move by whole multiples changes no bank.
            start = min((one for one in lanes if one >= 0), default=0) // 128 * 128
            pattern = tuple(one - start if one >= 0 else None for one in lanes)
            if pattern not in known:
                one = access(pattern, width, store=True)
                known[pattern] = one.wavefronts, one.conflicts
            wavefronts, conflicts = wavefronts + known[pattern][0], conflicts + known[pattern][1]
    return Stores(width, wavefronts, conflicts)


def moves(producer: Producer, tile: tuple[int, int], major: Major, element: ElementType) -> NDArray[np.int64]:
    """Index into a tile, MN fastest, of each value of each thread: (threads, values); -1 for none.

    Args:
        producer: what ``as_producer`` returned.
        tile: extents (MN, K), in elements.
        major: the contiguous dimension, along which ``"tma"`` is measured.
        element: the element type.

    >>> from descriptors.operands.operand import as_element_type
    >>> moves("columns", (64, 4), Major.MN, as_element_type("bf16"))[9].tolist()
    [72, 73, 74, 75, 76, 77, 78, 79]
    """
    import numpy as np

    if not isinstance(producer, str):
        return offsets(producer).astype(np.int64)
    along = major.contiguous_mode if producer == "tma" else int(producer == "rows")
    index = np.arange(size(tile), dtype=np.int64).reshape(tile, order="F")
    piece = gcd(tile[along], element.per_16_bytes)
    pieces = (index if along else index.T).reshape(-1, piece)
    steps = -(-len(pieces) // _WARP)
    padded = np.full((steps * _WARP, piece), -1, dtype=np.int64)
    padded[: len(pieces)] = pieces
    return padded.reshape(steps, _WARP, piece).transpose(1, 0, 2).reshape(_WARP, -1)


def as_producer(producer: object, tile: tuple[int, int]) -> Producer:
    """The producer whose name, layout or notation this is.

    Args:
        producer: see the top of this module.
        tile: extents (MN, K) that a layout must stay within, in elements.

    Raises:
        DescriptorError: if it is none, or a layout that leaves the tile or moves far too much.
        LayoutError: if the layout's offsets are no integers.

    >>> as_producer("ROWS", (128, 64)), as_producer("(32,8):(1,128)", (128, 64))
    ('rows', Layout((32, 8), (1, 128)))
    """
    if isinstance(producer, str):
        if producer.casefold() in _NAMES:
            return producer.casefold()
        try:
            producer = evaluated(producer)
        except LayoutError as error:
            must = f"{', '.join(_NAMES)} or a layout (threads, values)"
            raise DescriptorError(f"search: producer must be {must}, found {brief(producer)}: {error}") from None
    if not isinstance(producer, (Layout, ComposedLayout)) or len(producer) != 2:
        raise DescriptorError(f"search: producer must have two modes (threads, values), found {brief(producer)}")
    if size(producer) > _MOST_VALUES:
        raise DescriptorError(f"search: producer must move at most {_MOST_VALUES} values, found {size(producer)}")
    moved = offsets(producer)
    low, high = int(moved.min()), int(moved.max())
    if low < 0 or high >= size(tile):
        found = f"{low} to {high}; producer = {producer}, tile = ({tile[0]},{tile[1]})"
        raise DescriptorError(f"search: producer must stay in [0,{size(tile)}), found {found}")
    return producer
