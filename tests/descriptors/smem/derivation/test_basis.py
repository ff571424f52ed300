"""The theorem beside its judge, the comparison of every element: on right words and on spoilt ones."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from derived import K_128, MN_64, unproved
from seeds import seeds_of
from spoilt import handing_out, is_wrong, right, spoilt

from descriptors import DescriptorError, ProofError, derive, derive_symbolic, proved, verify
from descriptors.smem.derivation.basis import verdict, verdict_for_all
from descriptors.smem.derivation.derivation import Derivation
from descriptors.smem.words import descriptor
from descriptors.smem.words.bitfield import Word
from layoutalg import ComposedLayout, Layout, Swizzle

#: Derivations of one run, and spoilt ones of each; a run has four seconds. ``scripts/test --fresh`` draws others.
RIGHT, SPOILT = 80, 12


@pytest.mark.parametrize("seed", seeds_of("test_the_theorem_says_what_the_comparison_of_every_element_says"))
def test_the_theorem_says_what_the_comparison_of_every_element_says(seed: int) -> None:
    rng, counts = random.Random(seed), Counter[str]()
    for _ in range(RIGHT):
        d = right(rng)
        assert verdict(d).outcome == "equal" and verify(d).ok, d.smem_tile
        for one in spoilt(rng, d, SPOILT):
            try:
                holds = verify(one).ok
            except DescriptorError:
                continue  # beyond the window: not compared
            theorem = verdict(one)
            counts[f"{theorem.outcome} {holds}"] += 1
            if theorem.outcome == "different":
                assert not holds and is_wrong(one, theorem.at), (one.smem_tile, one.descriptor, theorem)
            else:
                assert holds or theorem.outcome == "open", (one.smem_tile, one.descriptor)
    assert counts["open False"] <= counts.total() // 100  # a spoilt word is refuted, not left to be compared
    assert counts["different False"] > 6 * RIGHT and counts["equal True"] > RIGHT / 3, counts


@pytest.mark.parametrize("bit", [0, 1, 13, 32, 45, 49, 62])
def test_one_wrong_bit_in_one_word_is_refuted_at_an_element_that_it_reads(bit: int) -> None:
    theorem, wrong = told_of(1 << bit)
    assert theorem.outcome == "different" and is_wrong(wrong, theorem.at)
    assert (theorem.at[0] // 64, theorem.at[1] // 16) == (1, 2)
    report = verify(wrong)
    assert not report.ok and {one.subtile for one in report.mismatches} == {(1, 2)}
    with pytest.raises(ProofError, match=r"disproved: \d+ of 16384 elements in 16 subtiles"):
        proved(wrong)


@pytest.mark.parametrize("bit", [14, 15, 16, 29, 30, 31, 53, 60])
def test_one_bit_that_nobody_reads_changes_nothing(bit: int) -> None:
    theorem, other = told_of(1 << bit)
    assert theorem.outcome == "equal" and verify(other).ok and proved(other).ok


@pytest.mark.parametrize("bit", [46, 47, 61])
def test_a_word_without_a_meaning_is_an_error_in_both_proofs(bit: int) -> None:
    for judge in (verdict, verify):
        with pytest.raises(DescriptorError):
            told_of(1 << bit, judge)


def told_of(bits: int, judge: Callable[[Derivation], Any] = verdict) -> tuple[Any, Derivation]:
    """A verdict on a tile of 2 x 8 words with some bits of one word changed."""
    d = unproved(**K_128)
    words = [list(row) for row in d.words()]
    words[1][2] ^= bits
    other = handing_out(d, tuple(map(tuple, words)))
    return judge(other), other


@pytest.mark.parametrize("name", ["leading_byte_offset", "stride_byte_offset", "swizzle"])
def test_words_with_a_field_in_another_place_are_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What writes the words and what reads them again share no position of a field."""
    d = unproved(**MN_64, arch="sm90")
    fields = [dataclasses.replace(f, low=f.low - (f.name == name)) for f in d.descriptor.word.fields]
    monkeypatch.setitem(descriptor.WORDS, "sm90", Word("sm90 moved", 64, tuple(fields)))  # type: ignore[arg-type]
    theorem = verdict(d)
    assert theorem.outcome == "different" and is_wrong(d, theorem.at) and not verify(d).ok


@pytest.mark.parametrize("tile", [(128, 768), (128, 1536), (256, 768), (128, 768, 3)])
def test_operands_that_cross_atoms_are_proved_piece_by_piece(tile: tuple[int, ...]) -> None:
    d = derive(tile, "e2m1", "K", "128B", (128, 96), arch="sm103", cta_group=2, capacity=None)
    assert d.crossing is not None and verdict(d).outcome == "equal"
    for change in ({"leading_byte_offset": 1024}, {"start_address": 16}, {"stride_byte_offset": 2048}):
        wrong = dataclasses.replace(d, descriptor=dataclasses.replace(d.descriptor, **change))
        theorem = verdict(wrong)
        assert theorem.outcome == "different" and is_wrong(wrong, theorem.at)
        assert not verify(wrong).ok


def test_a_swizzle_that_has_become_strides_is_decided_bit_by_bit() -> None:
    """Eight pieces of the 128B atom on its diagonal: the tile is plain, the words read it swizzled."""
    text = "S<3,3,3> o 0 o (8,8):(64,1)"
    d = derive(layout=text, dtype="bf16", mma=(8, 8), legality="off", verify=False)
    for stride, outcome in ((72, "equal"), (64, "different"), (80, "different")):
        one = dataclasses.replace(d, smem_tile=Layout((8, 8), (stride, 1)))
        assert (verdict(one).outcome, verify(one).ok) == (outcome, outcome == "equal")


def test_words_that_do_not_stand_for_the_operands_are_an_error() -> None:
    d = unproved(**K_128)
    with pytest.raises(DescriptorError, match="there is not one word per operand"):
        verdict(dataclasses.replace(d, advance=Layout((2, (4, 4)), (512, (2, 1024)))))


def test_a_family_whose_operands_end_inside_a_piece_is_not_proved() -> None:
    one = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16), order=(1, 0))
    assert verdict_for_all(one)
    assert not verdict_for_all(dataclasses.replace(one, mma=(12, 16)))


def test_what_ends_inside_a_piece_is_left_open() -> None:
    d = dataclasses.replace(
        unproved(**K_128), mma=(12, 16), smem_tile=Layout((12, 16), (64, 1)), advance=Layout((1, 1))
    )
    assert verdict(d).outcome == "open"


@pytest.mark.parametrize("arguments", [K_128, MN_64])
def test_the_proof_of_a_tile_costs_the_same_at_any_size(arguments: dict[str, object]) -> None:
    """Counted in calls of Python functions, which no other work on the machine changes."""
    for within in ((128, 128), (128, 256), (256, 256)), ((512, 512), (1024, 1024), (2048, 2048)):
        tiles = [unproved(**{**arguments, "tile": tile}, capacity=None) for tile in within]
        assert len({calls(one) for one in tiles}) == 1  # with the words that are handed out, and beyond the window


def calls(d: Derivation) -> int:
    import sys

    verdict(d)  # what is looked up once is known
    number = [0]

    def count(frame: object, event: str, argument: object) -> None:
        number[0] += event == "call"

    sys.setprofile(count)
    try:
        assert verdict(d).outcome == "equal"
    finally:
        sys.setprofile(None)
    return number[0]


def test_a_family_with_a_wrong_formula_is_not_proved() -> None:
    family = derive_symbolic(("64*m", "64*k", "s"), "bf16", "K", "128B", (64, 16), order=(0, 1, 2))
    assert verdict_for_all(family)
    match = dataclasses.replace(family.match, stride_byte_offset=2048)
    assert not verdict_for_all(dataclasses.replace(family, match=match))
    other_way = derive_symbolic(("64*m", "64*k", "s"), "bf16", "K", "128B", (64, 16), order=(1, 0, 2))
    assert not verdict_for_all(dataclasses.replace(family, advance=other_way.advance))
    assert not verdict_for_all(dataclasses.replace(family, smem_tile=other_way.smem_tile))


def test_a_tile_with_another_swizzle_than_its_words_is_refuted() -> None:
    d = unproved(**K_128)
    rows = d.smem_tile.inner if isinstance(d.smem_tile, ComposedLayout) else d.smem_tile
    wrong = dataclasses.replace(d, smem_tile=ComposedLayout(Swizzle(2, 3, 3), 0, rows))
    theorem = verdict(wrong)
    assert theorem.outcome == "different" and is_wrong(wrong, theorem.at)
