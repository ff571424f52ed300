"""The judge of the algebra: which law each operation has, and where a refusal is needless."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product as every
from typing import Any

from attacks import laws, tiles
from attacks.laws import need
from attacks.plain import ComposedLayout, Layout, at, image, size
from attacks.tiles import filled, injective


def judge(name: str, result: Any, *operands: Any, **named: Any) -> None:
    """Hold a result against the definition of its operation."""
    if name in _INSIDE and isinstance(operands[0], ComposedLayout):
        first, *others = operands
        same = isinstance(result, ComposedLayout) and (result.outer, result.offset) == (first.outer, first.offset)
        need(same, "what is composed after the layout must stay as it is")
        judge(name, result.inner, first.inner, *others, **named)
        return
    LAWS[name](result, *operands, **named)


LAWS: dict[str, Callable[..., None]] = {
    "coalesce": laws.coalesce,
    "filter": laws.filters,
    "filter_zeros": laws.filters,
    "flatten": laws.grouped,
    "group_modes": laws.grouped,
    "composition": laws.composition,
    "complement": tiles.complement,
    "right_inverse": laws.right_inverse,
    "left_inverse": laws.left_inverse,
    "nullspace": laws.nullspace,
    "max_common_layout": laws.common,
    "max_common_vector": laws.vector,
    "logical_divide": tiles.divide,
    "zipped_divide": tiles.regrouped(tiles.divide, "zipped"),
    "tiled_divide": tiles.regrouped(tiles.divide, "tiled"),
    "flat_divide": tiles.regrouped(tiles.divide, "flat"),
    "logical_product": tiles.product,
    "zipped_product": tiles.regrouped(tiles.product, "zipped"),
    "tiled_product": tiles.regrouped(tiles.product, "tiled"),
    "flat_product": tiles.regrouped(tiles.product, "flat"),
    "blocked_product": tiles.side_by_side(False),
    "raked_product": tiles.side_by_side(True),
    "tile_to_shape": tiles.tile_to_shape,
    "make_ordered_layout": laws.ordered,
    "make_layout_like": laws.like_another,
    "make_identity_layout": laws.identity,
    "make_layout_tv": laws.thread_values,
    "recast_layout": laws.recast,
    "upcast": laws.upcast,
    "downcast": laws.downcast,
    "slice_and_offset": laws.slices,
    "size": laws.sizes,
    "cosize": laws.cosizes,
    "select": laws.selected,
    "append": laws.extended(False),
    "prepend": laws.extended(True),
}
#: Operations on the domain: what is composed after a layout stays.
_INSIDE = frozenset(
    "coalesce filter filter_zeros flatten group_modes logical_divide zipped_divide tiled_divide flat_divide "
    "logical_product zipped_product tiled_product flat_product blocked_product raked_product tile_to_shape select "
    "append prepend".split()
)


def needless(name: str, *operands: Any, **_: Any) -> str:
    """Why an operation should not have refused; "" if it may have."""
    if name == "complement" and _integers(operands[0]):
        layout = operands[0]
        if injective(layout) and min(image(layout)) >= 0 and filled(layout, 1) is not None:
            return "its copies fill an interval"
    if name == "composition" and all(map(_integers, operands)):
        a, b = operands
        places, parts = [at(a, at(b, i)) for i in range(size(b))], [mode_offsets(a, m) for m in b.modes]
        sums = [sum(choice) for choice in every(*reversed(parts))]
        if sums == places and all(map(is_layout, parts)):
            return "a layout is that function"
    if name == "upcast" and _integers(operands[0]) and {x // operands[1] for x in image(operands[0])} == {0}:
        return "all of it lies in one unit"
    return ""


def _integers(layout: Any) -> bool:
    return isinstance(layout, Layout) and all(isinstance(leaf, int) for pair in layout.modes for leaf in pair)


def mode_offsets(a: Layout, one: tuple[int, int]) -> list[int]:
    return [at(a, i * one[1]) for i in range(one[0])]


def is_layout(offsets: list[int]) -> bool:
    """Whether some layout of one mode or more has these offsets, in this order."""
    if len(offsets) == 1:
        return offsets[0] == 0
    run = next((i for i, x in enumerate(offsets) if x != i * offsets[1]), len(offsets))
    for extent in range(run, 1, -1):
        if len(offsets) % extent == 0:
            rest = offsets[::extent]
            if all(x == rest[i // extent] + offsets[i % extent] for i, x in enumerate(offsets)) and is_layout(rest):
                return True
    return False


#: Every operation that is judged.
NAMES = frozenset(LAWS)
