"""A derivation by hand: the five layouts of a tile and the word of one of its operands, a question each.

The steps ask about the same tile, and each is judged by the tile alone: a slip in one costs nothing in the next.

Law: there is a question for each step and one for the word.

>>> from random import Random
>>> [item.kind for item in derivation(Random(1))]
['1 tile', '2 operands', '3 units', '4 canonical form', '5 advance', '6 word']
"""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

from descriptors.course.judges.tile import derived_tile
from descriptors.course.papers.item import DRAWS, Draft, Item, Kind, below, pick, proved
from descriptors.course.papers.paper_tiles import ALIGNED, Tile, bytes_of, drawn, told
from descriptors.course.papers.paper_words import word_draft
from descriptors.errors import DescriptorError
from descriptors.smem.operands.swizzled import plain
from layoutalg import Layout, tile_to_shape

#: Of each step: its question, three hints, and why its key is right.
STEPS = {
    "smem_tile": (
        "Step 1: the layout (MN, K) of the whole tile in elements",
        "The canonical atom has 8 lines of the swizzle's span; how many elements is that?",
        "Atoms follow one another in memory, along MN first.",
        "Each mode is nested: inside the atom, and from atom to atom.",
        "The atom, repeated by `tile_to_shape`.",
    ),
    "partitioned": (
        "Step 2: the tile cut into what one instruction reads, ((MN, K) of an operand, which operand), in elements",
        "It is the zipped divide of step 1 by the extents of an operand.",
        "Inside the operand the strides are those of the tile.",
        "The second mode says how far away the next operand is, along MN and along K.",
        "`zipped_divide` of step 1.",
    ),
    "recast": (
        "Step 3: the tile cut into operands, as ((MN, K) of an operand, which operand), in units of 16 bytes",
        "How many elements are 16 bytes? The contiguous mode becomes so many times shorter.",
        "All other strides are divided by that number.",
        "The contiguous stride stays 1.",
        "`recast_layout` of step 2 to 128 bits.",
    ),
    "canonical": (
        "Step 4: the first operand as ((inside, further), (inside, further)) along MN and K, in units of 16 bytes",
        "Split each mode of the operand where the atom ends, so that each of the four has one stride.",
        "K-major: 8 lines inside along MN. MN-major: 8 lines inside along K, one span along MN.",
        "Two of the four strides are LBO and SBO divided by 16; a part of extent 1 is written too.",
        "The operand's modes, split where the atom ends.",
    ),
    "advance": (
        "Step 5: the layout from the number (MN, K) of an operand to where it begins, in units of 16 bytes",
        "It is the second mode of step 3.",
        "One step along K is 32 bytes as long as the atom lasts, and more after that.",
        "One step along MN goes over as many atoms as an operand has.",
        "The second mode of step 3.",
    ),
}
NAMES = dict(
    zip(("1 tile", "2 operands", "3 units", "4 canonical form", "5 advance"), ("smem_tile", *[*STEPS][1:]), strict=True)
)
#: What the steps and the word are worth.
MARKS = (2, 2, 2, 3, 2, 4)


def stage_draft(tile: Tile, name: str) -> Draft:
    """The question for one step of a tile."""
    question, *hints, why = STEPS[name]
    derived = derived_tile(*tile)
    right = _plain(getattr(derived, name))
    return Draft(
        ask=f"{question}, without the swizzle, of {told(tile)}.",
        judge="stage",
        operands=(name, *tile),
        starter="?",
        hints=(hints[0], hints[1], hints[2]),
        solution=str(right),
        why=why,
        slips=tuple(_slips(tile, name, right)),
    )


def _slips(tile: Tile, name: str, right: Layout) -> list[tuple[str, str]]:
    derived, each = derived_tile(*tile), bytes_of(tile)
    steps = {one: _plain(getattr(derived, one)) for one in STEPS}
    turned = plain(tile_to_shape(derived.atom, tile[0], (1, 0)))
    found = {
        "smem_tile": (turned, "the atoms are stacked along K first"),
        "partitioned": (steps["smem_tile"], "the tile is not cut"),
        "recast": (steps["partitioned"], "the unit is still the element"),
        "canonical": (_inside(steps["canonical"]), "the steps beyond the atom are left out"),
        "advance": (_scaled(right, 16), "bytes are taken for units of 16 bytes"),
    }[name]
    mn, k = tile[0]
    return [
        (str(found[0]), found[1]),
        (str(_scaled(right, each)), "bytes are taken for the unit"),
        (str(_scaled(right, 2)), "every step is doubled"),
        (f"({mn},{k}):({k},1)", "the tile is taken to be stored row after row"),
        (f"({mn},{k}):(1,{mn})", "the tile is taken to be stored column after column"),
        (str(_turned(right)), "the two modes are exchanged"),
        (str(steps["recast" if name != "recast" else "canonical"]), "it is the layout of another step"),
    ]


def _plain(layout: Any) -> Layout:
    found = plain(layout)
    assert isinstance(found, Layout)
    return found


def _scaled(layout: Layout, factor: int) -> Layout:
    """The same shape with every stride so many times as large."""
    return Layout(layout.shape, _times(layout.stride, factor))


def _times(stride: Any, factor: int) -> Any:
    return tuple(_times(one, factor) for one in stride) if isinstance(stride, tuple) else stride * factor


def _inside(canonical: Layout) -> Layout:
    """The four strides with those beyond the atom as inside it."""
    return Layout(canonical.shape, tuple((inside, inside) for inside, _ in canonical.stride))  # type: ignore


def _turned(layout: Layout) -> Layout:
    return Layout(tuple(reversed(layout.shape)), tuple(reversed(layout.stride)))  # type: ignore[arg-type]


def derivation(rng: Random) -> tuple[Item, ...]:
    """The six questions about one tile that has operands in both directions."""
    for _ in range(DRAWS):
        tile = drawn(rng, pick(rng, ("K", "MN")))
        offsets = derived_tile(*tile).offsets_bytes()
        rows, columns = len(offsets), len(offsets[0])
        place = below(rng, rows), below(rng, columns)
        if rows == 1 or columns == 1 or not sum(place):
            continue
        drafts = [stage_draft(tile, name) for name in STEPS]
        drafts.append(word_draft(tile, ALIGNED * (1 + below(rng, 95)), *place))
        whole: list[Item] = []
        for name, draft, marks in zip((*NAMES, "6 word"), drafts, MARKS, strict=True):
            item = proved(Kind(name, 11, 3, lambda rng: None), draft, marks)
            if item is None:  # seen at once where the tile has too few atoms to mistake their order
                break
            whole.append(item)
        else:
            return tuple(whole)
    raise DescriptorError(f"papers: a tile with operands both ways must be found within {DRAWS} draws, found none")


def _one(rng: Random, name: str) -> Draft:
    return stage_draft(drawn(rng, pick(rng, ("K", "K", "MN"))), name)


#: The kinds of this module: each step by itself.
KINDS = tuple(Kind(name, 11, 3, partial(_one, name=step)) for name, step in NAMES.items())
