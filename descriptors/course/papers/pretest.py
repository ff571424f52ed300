"""The pretest, which is the posttest too: eight items that are the same for all, each after one misconception.

Law: the first wrong answer of an item is that of its misconception, and fails.

>>> [item.kind for item in items()][:3]
['leftmost first', 'cosize is not size', 'no composition']
>>> all(item.exercise.wrong[0][1] for item in items())
True
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from descriptors.course.papers.item import Draft, Item, Kind, proved_item
from descriptors.errors import DescriptorError


class Question(NamedTuple):
    """An item of the pretest; its wrong answers come with what they think, the misconception first."""

    name: str
    lesson: int
    ask: str
    judge: str
    operands: tuple[Any, ...]
    right: str
    why: str
    slips: tuple[tuple[str, str], ...]


_QUESTIONS = (
    Question(
        "leftmost first",
        1,
        "The offset of the layout `(4,8):(8,1)` at the index 2.",
        "numbers",
        ("((4,8):(8,1))(2)",),
        "16",
        "An index counts the leftmost mode first: 2 is the coordinate (2,0), and 2*8 = 16.",
        (
            ("2", "the rightmost mode is counted first, as in C"),
            ("9", "the index is taken for (1,1)"),
            ("3", "the index is counted from 1"),
            ("8", "one row is skipped"),
        ),
    ),
    Question(
        "cosize is not size",
        3,
        "How many places of memory must `(4,8):(9,1)` have?",
        "numbers",
        ("cosize((4,8):(9,1))",),
        "35",
        "The last element lies at 3*9 + 7*1 = 34, and offset 0 is a place too.",
        (
            ("32", "as many as there are elements"),
            ("34", "as many as the largest offset says"),
            ("36", "the gap after the last row counts too"),
            ("44", "extents times strides"),
        ),
    ),
    Question(
        "no composition",
        4,
        "The layout that is a(b(i)) for a = `(6,2):(1,7)` and b = `(3,2):(2,3)`. If there is none, answer `none`.",
        "lawful",
        ("composition", "(6,2):(1,7)", "(3,2):(2,3)"),
        "none",
        "The offsets are 0, 2, 4, 3, 5, 8: the last step is 3 where a layout would have 2.",
        (
            ("(3,2):(2,3)", "two layouts always have a composition"),
            ("(3,2):(2,7)", "the second mode moves in a's second"),
            ("6:2", "the first step is taken for all"),
        ),
    ),
    Question(
        "complement",
        5,
        "A complement of `4:2` in 24. If there is none, answer `none`.",
        "lawful",
        ("complement", "4:2", 24),
        "(2,3):(1,8)",
        "Copies start at 0, 1, 8, 9, 16 and 17; their order is free.",
        (
            ("20:1", "the complement is what is not reached"),
            ("6:1", "copies start at neighbouring places"),
            ("6:8", "copies follow one another"),
            ("none", "a layout with gaps has no complement"),
        ),
    ),
    Question(
        "order of tiles",
        6,
        "The tile `(8,64):(64,1)` is repeated to 16 by 128 elements, one behind the other in memory, down "
        "first and then "
        "across. The layout.",
        "tile_to_shape",
        ("(8,64):(64,1)", (16, 128), (0, 1)),
        "((8,2),(64,2)):((64,512),(1,1024))",
        "The tile below starts after one tile, 512; the one on the right after a column of two.",
        (
            ("((8,2),(64,2)):((64,1024),(1,512))", "the order of the tiles does not matter"),
            ("((8,2),(64,2)):((64,512),(1,64))", "a row goes on in the next tile at once"),
            ("(16,128):(128,1)", "tiles change nothing of the memory"),
        ),
    ),
    Question(
        "unit of a swizzle",
        9,
        "`S<3,4,3>` swizzles byte addresses. The swizzle of offsets in bf16 elements (2 bytes) that moves each alike.",
        "in elements",
        ("S<3,4,3>", 2),
        "S<3,3,3>",
        "Bit 4 of an address is bit 3 of an offset in elements of 2 bytes.",
        (
            ("S<3,4,3>", "a swizzle has no unit"),
            ("S<3,5,3>", "the bits move up"),
            ("S<3,2,3>", "the bytes of an element are bits"),
            ("S<2,4,3>", "the number of bits changes"),
        ),
    ),
    Question(
        "absolute address",
        9,
        "A tile begins at the shared-memory address 640 and is written through `S<3,4,3>` by the "
        "hardware. At which address "
        "lies the byte that has offset 16 in the tile?",
        "numbers",
        ("(S<3,4,3>)(656)",),
        "704",
        "The swizzle takes the address: 656 is 1010010000 in binary, bits 9 to 7 are 5, and 001 XOR 101 "
        "is 100 in bits 6 to 4.",
        (
            ("656", "the swizzle starts anew with the tile, whose first row it leaves alone"),
            ("16", "offset and address are one"),
            ("640", "the swizzle clears the piece"),
            ("720", "the swizzle adds"),
        ),
    ),
    Question(
        "no word for all",
        11,
        "A K-major bf16 tile of 128 by 64, 64B swizzle, is read by a descriptor made for the same tile "
        "with 128B swizzle. Its "
        "stride byte offset was 1024 bytes. Which must it be, in bytes?",
        "field",
        ("stride_byte_offset", (128, 64), "bf16", "K", "64B", (64, 16)),
        "512",
        "An atom is 8 lines of the swizzle's span: 8*64 bytes.",
        (
            ("1024", "one word fits any tile"),
            ("32", "the field holds bytes"),
            ("64", "one line is the step"),
            ("16", "it is the LBO that matters"),
        ),
    ),
)


@cache
def items() -> tuple[Item, ...]:
    """The eight items, proved like any other.

    Raises:
        DescriptorError: if one of them is not in order.
    """
    items_of_test = []
    for one in _QUESTIONS:
        starter = "?"
        hints = (
            "Read the question once more.",
            "Try it on the smallest case.",
            f"It is what lesson {one.lesson} is about.",
        )
        draft = Draft(one.ask, one.judge, one.operands, starter, hints, one.right, one.why, one.slips)
        item = proved_item(Kind(one.name, one.lesson, 1, lambda rng: None), draft)
        if item is None or len(item.exercise.wrong) != len(one.slips):
            raise DescriptorError(
                f"papers: every slip of the pretest must fail, found one that does not; item = {one.name}"
            )
        items_of_test.append(item)
    return tuple(items_of_test)
