"""What is said elsewhere of all addresses at once: sums of a word and an offset, accesses that meet in no bank."""

from __future__ import annotations

import pytest

from descriptors import derive, plain
from descriptors.smem.claims.layout_terms import mode_term, swizzle_term
from descriptors.smem.claims.question import Question
from descriptors.smem.claims.solver import ask
from descriptors.smem.claims.terms import BITS
from descriptors.smem.words.descriptor import WORDS
from layoutalg import ComposedLayout, Layout, bank_group


def test_adding_to_a_word_moves_its_start_alone_if_the_sum_fits_the_field(solver: str) -> None:
    """For any word, offset and architecture; beyond the field another bit changes, and no field that says so."""
    for arch in ("sm90", "sm100"):
        start = WORDS[arch]["start_address"]
        assert (start.low, start.bits) == (0, 14)
        premises = (
            "(declare-const w (_ BitVec 64))\n(declare-const x (_ BitVec 64))\n"
            "(define-fun field ((v (_ BitVec 64))) (_ BitVec 64) ((_ zero_extend 50) ((_ extract 13 0) v)))\n"
            "(define-fun rest ((v (_ BitVec 64))) (_ BitVec 50) ((_ extract 63 14) v))\n"
            "(assert (bvult x #x0000000000004000))"
        )
        fits = "(bvult (bvadd (field w) x) #x0000000000004000)"
        moved = "(and (= (rest (bvadd w x)) (rest w)) (= (field (bvadd w x)) (bvadd (field w) x)))"
        one = Question("advance", "QF_BV", premises, f"(and {fits} (not {moved}))", "Does another field change?")
        assert ask(one, solver).outcome == "unsat"
        assert (
            ask(one._replace(denial=f"(and (not {fits}) (= (rest (bvadd w x)) (rest w)))"), solver).outcome == "unsat"
        )
        assert ask(one._replace(denial=f"(not {moved})"), solver).outcome == "sat"


@pytest.mark.parametrize(("swizzle", "ways"), [("none", 1), ("32B", 2), ("64B", 4), ("128B", 8)])
def test_eight_rows_read_in_one_phase_meet_in_no_bank_but_without_their_swizzle(
    solver: str, swizzle: str, ways: int
) -> None:
    """Any base, rows 8*n to 8*n + 7, any piece of 16 bytes along K: whether two lanes need one group of banks."""
    tile = derive((128, 128), "bf16", "K", swizzle, (64, 16)).smem_tile
    one = two_lanes_in_one_group(tile)
    assert [ask(each, solver).outcome for each in (one, one.premises_alone)] == ["unsat", "sat"]
    assert most_lanes_in_one_group(tile) == 1
    assert ask(two_lanes_in_one_group(plain(tile)), solver).outcome == ("unsat" if ways == 1 else "sat")
    assert most_lanes_in_one_group(plain(tile)) == ways


def two_lanes_in_one_group(tile: Layout | ComposedLayout) -> Question:
    (rows, columns) = zip(plain(tile).shape, plain(tile).stride, strict=True)
    offset = BITS.sum("base", mode_term(*rows, "r", BITS), mode_term(*columns, "c", BITS))
    if isinstance(tile, ComposedLayout):
        offset = swizzle_term((tile.outer.bits, tile.outer.base, tile.outer.shift), offset)
    ends, steps = {"base": 1 << 16, "n": 16, "c": 128, "l": 8, "k": 8}, {"base": 512, "c": 8}
    known = ["(define-sort N () (_ BitVec 32))", *(f"(declare-const {name} N)" for name in ends)]
    known.append(f"(define-fun place ((r N)) N {BITS.product(offset, 2)})")
    known.append(f"(define-fun group ((r N)) N {BITS.rest(BITS.part('(place r)', 16), 8)})")
    known += [f"(assert {BITS.below(name, end)})" for name, end in ends.items()]
    known += [f"(assert (= {BITS.rest(name, step)} {BITS.number(0)}))" for name, step in steps.items()]
    row = [BITS.sum(BITS.product("n", 8), name) for name in ("l", "k")]
    meet = f"(and (not (= l k)) (= (group {row[0]}) (group {row[1]})))"
    return Question("banks", "QF_BV", "\n".join(known), meet, "Do two lanes need one group of banks?")


def most_lanes_in_one_group(tile: Layout | ComposedLayout) -> int:
    """By enumeration, at base 0."""
    phases = [[bank_group(2 * tile(8 * n + lane, c)) for lane in range(8)] for n in range(16) for c in range(0, 128, 8)]
    return max(max(map(groups.count, groups)) for groups in phases)
