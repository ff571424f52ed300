"""Judges of accesses: the turns that shared memory takes, and tiles that are stored so that they are few."""

from __future__ import annotations

import random
import re

from each import each
from seeds import seed_of_this_run

from descriptors.course.judges.accesses import JUDGES, addresses_of
from layoutalg import Layout, wavefronts

PADDED = ((8, 64), 2, 576, ("8:1", 16, 1))

CASES = [
    ("banks", (64, 200), "16, 18", None),
    ("banks", (64, 200), "16, 50", "but the banks are 0 to 31"),
    ("banks", (64, 200), "16, 17", "200 is not an address of that bank"),
    ("turns", (("(8,8):(8,1)", "8:1", 4, 4), ("1024:1", "32:4", 4, 16)), "2, 4", None),
    ("turns", (("(8,8):(8,1)", "8:1", 4, 4),), "8", "threads 0 and 1 begin in the different banks 0 and 8"),
    ("turns", (("(8,8):(8,1)", "8:1", 4, 4),), "1", "threads 0 and 4 read different words of bank 0"),
    ("turns", (("32:1", "32:0", 4, 4),), "2", "threads 0 and 1 read the same word, which is served once for both"),
    ("turns", (("1024:1", "32:4", 4, 16),), "3", "a turn moves at most 128 bytes, and 32 threads move 16 each"),
    ("turns", (("(8,32):(32,1)", "8:1", 4, 4),), "9", "there are 8 threads, and each needs at most one turn"),
    ("stored", PADDED, "(8,64):(72,1)", None),
    ("stored", PADDED, "S<3,3,3> o 0 o (8,64):(64,1)", None),
    ("stored", PADDED, "((2,4),64):((72,144),1)", None),
    ("stored", PADDED, "(8,64):(64,1)", "takes 8 turns for access 1, must take 1"),
    ("stored", PADDED, "(8,64):(65,1)", "lets thread 1 begin at byte 130, which is not a multiple of 16"),
    ("stored", PADDED, "(8,64):(1,8)", "splits the 16 bytes of thread 0"),
    ("stored", PADDED, "(8,64):(80,1)", "takes 624 places, must take at most 576"),
    ("stored", PADDED, "(8,64):(8,1)", "stores the elements (1, 0) and (0, 8) at the same place, 8"),
    ("stored", PADDED, "(64,8):(1,72)", "has modes of [64, 8] elements, must have [8, 64]"),
]


@each(("judge", "operands", "answer", "words"), CASES)
def test_an_answer_is_judged(judge: str, operands: tuple[object, ...], answer: str, words: str | None) -> None:
    judgement = JUDGES[judge](answer, *operands)
    assert judgement is None if words is None else words in (judgement or "")


def test_the_threads_that_a_hint_names_do_meet_or_do_not() -> None:
    """Of random accesses each number but the right one is refused, with threads that prove it."""
    draw = random.Random(seed_of_this_run())
    named = set()
    for _ in range(60):
        width = draw.choice((4, 8, 16))
        stride = draw.choice((0, 1, 2, 8, 9, 16, 32, 33)) * width // 4
        tile, lanes = f"({draw.choice((8, 32))},64):({stride},1)", "8:1" if draw.random() < 0.3 else "32:1"
        addresses = addresses_of(tile, lanes, 4)
        if any(one % width for one in addresses):
            continue
        right = wavefronts(addresses, width)
        assert JUDGES["turns"](str(right), (tile, lanes, 4, width)) is None
        for said in {0, 1, 2, 3, 8, 33, right - 1, right + 1} - {right}:
            judgement = JUDGES["turns"](str(said), (tile, lanes, 4, width)) or ""
            assert f"says {said} for access 1, but" in judgement
            words = [set(range(one // 4, (one + width) // 4)) for one in addresses]
            if meet := re.search(r"threads ([\d, ]+) and (\d+) read different words of bank (\d+)", judgement):
                who = [*map(int, meet[1].split(", ")), int(meet[2])]
                theirs = [{word for word in words[lane] if word % 32 == int(meet[3])} for lane in who]
                assert len(set.union(*theirs)) == len(who)
                assert all(len(one) == 1 for one in theirs)
                named.add("meet")
            if apart := re.search(r"threads (\d+) and (\d+) begin in the different banks (\d+) and (\d+)", judgement):
                one, other, *begin = map(int, apart.groups())
                assert [addresses[lane] // 4 % 32 for lane in (one, other)] == begin
                assert not {word % 32 for word in words[one]} & {word % 32 for word in words[other]}
                named.add("apart")
    assert named == {"meet", "apart"}


def test_of_all_row_lengths_exactly_the_odd_multiples_of_16_bytes_free_a_column_of_16_bytes() -> None:
    rows = [row for row in range(64, 200) if JUDGES["stored"](f"(8,64):({row},1)", (8, 64), 2, 2000, PADDED[3]) is None]
    assert rows == [row for row in range(64, 200) if row % 16 == 8]
    assert Layout((8, 64), (72, 1))(1, 0) * 2 % 16 == 0
