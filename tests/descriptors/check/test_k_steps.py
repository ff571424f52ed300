"""Steps of an accumulation against the model of reading: every address, of every element, of every instruction.

The judge knows no canonical form. It reads each instruction's operand and asks of all addresses together whether a tile
can lie so: none is read twice, a line of the swizzle holds one row of MN (K-major) or one row of K (MN-major), and what
is read of a row of MN is whole K blocks.
"""

from __future__ import annotations

import random
from itertools import product
from typing import Literal

import pytest
from seeds import seed_of_this_run

from descriptors import derive
from descriptors.check.k_steps import lines_of, wrong_steps
from descriptors.check.ptx.kernel_words import START_FREE, SmemOperand
from descriptors.check.ptx.known_bits import Known
from descriptors.smem.proof.read_model import read_rows

Swizzle = Literal["none", "32B", "64B", "128B"]
Major = Literal["K", "MN"]
SPANS = {"none": 16, "32B": 32, "64B": 64, "128B": 128}
CASES = list(product(("K", "MN"), SPANS, (8, 16, 64, 128), ((0, 1), (1, 0))))


def a_tile_can_lie_so(word: int, starts: list[int], *, major: Major, span: int, mn: int) -> bool:
    holders: dict[int, set[tuple[int, ...]]] = {}
    addresses: set[int] = set()
    pieces: dict[int, set[int]] = {}
    for number, start in enumerate(starts):
        rows = read_rows(word + start // 16, "sm90", dtype="bf16", major=major, shape=(mn, 16))
        for i, row in enumerate(rows):
            for k, address in enumerate(row):
                if address in addresses:
                    return False
                addresses.add(address)
                holders.setdefault(address // span, set()).add((i,) if major == "K" else (number, k))
                pieces.setdefault(address // span, set()).add(address // 16)
    if span > 16 and any(len(held) > 1 for held in holders.values()):
        return False
    blocks = major == "MN" or span == 16 or all((one - starts[0]) % 32 == 0 for one in starts)
    return blocks and (span == 16 or major == "MN" or all(one % span + 32 <= span for one in starts))


@pytest.mark.parametrize(("major", "swizzle", "mn", "order"), CASES)
def test_a_step_is_taken_exactly_if_a_tile_can_lie_so(
    major: Major, swizzle: Swizzle, mn: int, order: tuple[int, int]
) -> None:
    span = SPANS[swizzle]
    if major == "MN" and mn * 2 < span:
        mn = span // 2
    tile = derive((max(mn, 64), 128), "bf16", major, swizzle, (mn, 16), order, "sm90", legality="off")
    word = tile.descriptor.encode()
    one = SmemOperand("B", "sm90", "bf16", major, (mn, 16), Known(word, START_FREE))
    lines = lines_of(one)
    assert lines is not None
    draw = random.Random(f"{seed_of_this_run()} {major} {swizzle} {mn} {order}")
    right = tile.offsets_bytes()[0]
    assert not wrong_steps(lines, right, 0) and a_tile_can_lie_so(word, list(right), major=major, span=span, mn=mn)
    grid = [16 * n for n in range(1, 9)] + [span * n for n in range(1, 40)] + [8 * span * n for n in range(1, 20)]
    for _ in range(60):
        starts = [0, *draw.sample([*dict.fromkeys([*grid, *right[1:]])], draw.choice((1, 1, 2, 3)))]
        faults = [fault for fault in wrong_steps(lines, starts, 0) if fault.kind != "word-suspect"]
        assert bool(faults) is not a_tile_can_lie_so(word, starts, major=major, span=span, mn=mn), (starts, faults)


@pytest.mark.parametrize("swizzle", ["32B", "64B", "128B"])
@pytest.mark.parametrize("major", ["K", "MN"])
def test_every_step_that_a_derivation_makes_is_taken(major: Major, swizzle: Swizzle) -> None:
    for order, mn, whole in product(((0, 1), (1, 0)), (64, 128), (64, 128, 192)):
        tile = derive((128, whole, 2), "bf16", major, swizzle, (mn, 16), (*order, 2), "sm90")
        for row in tile.offsets_bytes(stage=1):
            one = SmemOperand("A", "sm90", "bf16", major, (mn, 16), Known(tile.descriptor.encode(), START_FREE))
            lines = lines_of(one)
            assert lines is not None and wrong_steps(lines, [start - row[0] for start in row], 0) == []
