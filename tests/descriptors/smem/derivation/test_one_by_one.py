"""Thousands of tables of words beside their judge: every field and bit spoilt, in one word or in all.

Of words that follow from a right one, solvers decide all values at once (``tests/descriptors/smem/claims``); here are
tables whose words do not.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest
from derived import INSTRUCTION_K, unproved
from seeds import seeds_of
from spoilt import MODES, handing_out, is_wrong, stored_once

from descriptors import DescriptorError, verify
from descriptors.smem.derivation.advance import numbers
from descriptors.smem.derivation.basis import verdict
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.operands.operand import ELEMENT_TYPES, ElementType, Major, SwizzleMode

#: Spoilt tables of each derivation.
EACH = 10

#: Lowest bit and width of each field; written out here once more, as the judge of both sides.
START, LEADING, STRIDE, BASE_OFFSET = (0, 14), (16, 14), (32, 14), (49, 3)


def small_tiles() -> Iterator[Derivation]:
    """Every type, major, swizzle, architecture and order, each with few operands; and operands of 48 bytes of K."""
    for element, major, arch, mode, order in product(
        ELEMENT_TYPES.values(), Major, ("sm90", "sm100"), (*MODES, SwizzleMode.B128_BASE32B), ((0, 1), (1, 0))
    ):
        try:
            yield unproved(
                **small(element, major, mode), dtype=element, major=major, swizzle=mode, order=order, arch=arch
            )
        except DescriptorError:
            assert mode is SwizzleMode.B128_BASE32B or element.storage_bits == 32 or major is Major.MN
    for tile, order in product([(8, 768), (16, 768)], [(0, 1), (1, 0)]):
        yield unproved(tile=tile, dtype="e2m1", major="K", swizzle="128B", mma=(8, 96), order=order, arch="sm103")


def small(element: ElementType, major: Major, mode: SwizzleMode) -> dict[str, Any]:
    """A tile of 16 or so rows, and operands that divide it, of 3 chunks where that can be."""
    span, depth = mode.span_bytes * 8 // element.storage_bits, INSTRUCTION_K[element.storage_bits]
    if major is Major.K:
        return {"mma": (8, depth), "tile": (24, max(span, depth))}
    rows = max(8, element.per_16_bytes)
    return {"mma": (rows, depth), "tile": (max(2 * rows, span), 2 * depth)}


def field_changer(field: tuple[int, int], change: Callable[[int], int]) -> Callable[[int], int]:
    """What changes one field of a word, modulo its width."""
    low, width = field
    mask = (1 << width) - 1
    return lambda word: word & ~(mask << low) | (change(word >> low & mask) & mask) << low


def spoilings(rng: random.Random, arch: str) -> Iterator[Callable[[int], int]]:
    """Ways to spoil a word, the same for every word that it is done to: each field, the codes, and single bits."""
    swizzle = (62, 2) if arch == "sm90" else (61, 3)
    while True:
        field, number = rng.choice([START, LEADING, STRIDE]), rng.choice([8, 64, rng.randrange(1 << 14)])
        for change in (lambda x: x + 1, lambda x: x - 1, lambda x, n=number: n, lambda x: 2 * x):
            yield field_changer(field, change)
        yield lambda word: word & ~(0x3FFF3FFF << 16) | (word >> 16 & 0x3FFF) << 32 | (word >> 32 & 0x3FFF) << 16
        code, lines = rng.randrange(1 << swizzle[1]), rng.randrange(1, 8)
        yield field_changer(swizzle, lambda x, n=code: n)  # type: ignore[misc]
        yield field_changer(BASE_OFFSET, lambda x, n=lines: x + n)  # type: ignore[misc]
        for bit in rng.sample(range(64), 3):
            yield lambda word, bit=bit: word ^ 1 << bit  # type: ignore[misc]


def spoilt_tables(rng: random.Random, d: Derivation, base: int) -> Iterator[Any]:
    """Tables with one word spoilt, or all alike, or two that have changed places."""
    right = numbers(d.words(base))
    ways = spoilings(rng, d.arch)
    for _ in range(EACH):
        words, where = list(right), rng.randrange(len(right))
        if rng.random() < 0.05:
            other = rng.randrange(len(right))
            words[where], words[other] = words[other], words[where]
        else:
            spoil = next(ways)
            words = (
                [spoil(w) for w in words]
                if rng.random() < 0.3
                else [spoil(w) if i == where else w for i, w in enumerate(words)]
            )
        yield nested(d.words(base), iter(words))


def nested(like: Any, words: Iterator[int]) -> Any:
    return tuple(nested(one, words) for one in like) if isinstance(like, tuple) else next(words)


@pytest.mark.parametrize("seed", seeds_of("test_both_proofs_say_the_same_of_thousands_of_spoilt_words"))
def test_both_proofs_say_the_same_of_thousands_of_spoilt_words(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["descriptors.smem.derivation.verify"], "stored_rows", stored_once)
    rng, outcomes = random.Random(seed), Counter[str]()
    for d in small_tiles():
        step = 128 if d.swizzle is not SwizzleMode.NONE and d.crossing is None else d.swizzle.alignment_bytes
        base = step * rng.randrange(64) if rng.random() < 0.5 else 0
        assert verdict(d, base=base).outcome == "equal" and verify(d, bases=(base,)).ok
        for words in spoilt_tables(rng, d, base):
            one = handing_out(d, words)
            outcomes[outcome_of(one, base)] += 1
    # Undecided are words with an absolute LBO where none can be, which the other proof refuses.
    assert set(outcomes) <= {"different", "equal", "error", "open"}, outcomes
    assert outcomes.total() > 3_300 and outcomes["different"] > 1_600 and outcomes["equal"] > 800, outcomes
    assert outcomes["open"] < outcomes.total() // 50, outcomes


def outcome_of(d: Derivation, base: int) -> str:
    """The verdict of the theorem, which that of the enumerating proof must bear out."""
    try:
        holds = verify(d, bases=(base,)).ok
    except DescriptorError:
        try:
            theorem = verdict(d, base=base)
        except DescriptorError:
            return "error"
        assert theorem.outcome == "open", (d.smem_tile, d.words(base), theorem)
        return "open"
    theorem = verdict(d, base=base)
    assert theorem.outcome == ("equal" if holds else "different"), (d.smem_tile, d.words(base), base, theorem)
    assert holds or is_wrong(d, theorem.at, base), (d.smem_tile, d.words(base), base, theorem)
    return theorem.outcome
