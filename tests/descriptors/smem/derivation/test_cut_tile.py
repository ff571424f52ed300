"""A tile cut at its operands: what is added to the first word, and where a tile cannot be cut."""

from __future__ import annotations

import dataclasses
import random
from itertools import product

import pytest
from derived import K_128, unproved
from seeds import seeds_of
from spoilt import right

from descriptors import derive, proved
from descriptors.smem.derivation.advance import numbers
from descriptors.smem.derivation.basis import cut_tile, verdict
from descriptors.smem.derivation.verify import verify
from layoutalg import ComposedLayout, Layout, Swizzle


@pytest.mark.parametrize("seed", seeds_of("test_what_is_added_to_the_first_word_gives_every_word"))
def test_what_is_added_to_the_first_word_gives_every_word(seed: int) -> None:
    rng = random.Random(seed)
    crossing = derive((128, 1536, 2), "e2m1", "K", "128B", (128, 96), arch="sm103", cta_group=2, capacity=None)
    for d in [*(right(rng) for _ in range(60)), crossing]:
        words, tile = numbers(d.words()), cut_tile(d)
        assert words == [words[0] + sum(more) for more in product(*(mode.added for mode in tile.modes))]
        assert tile.operands == len(words)


def test_a_tile_that_ends_inside_an_operand_is_not_cut() -> None:
    """Rows of 6 atoms, then two of them: an operand of 4 atoms begins in one digit and ends in the next."""
    d = unproved(tile=(96, 64), dtype="bf16", major="K", swizzle="128B", mma=(32, 16))
    rows = Layout(((8, (6, 2)), (64, 1)), ((64, (512, 4096)), (1, 0)))
    other = dataclasses.replace(d, smem_tile=ComposedLayout(Swizzle(3, 3, 3), 0, rows))
    assert cut_tile(other).modes[0].head is None
    theorem = verdict(other)
    assert theorem.outcome == "different" and not verify(other).ok


@pytest.mark.parametrize("lines", [(256, 2), (128, 2)])
def test_a_tile_whose_lines_are_none_is_not_cut_where_operands_cross_atoms(lines: tuple[int, int]) -> None:
    """Pieces that do not follow one another, and lines that end early: there is no line for a word to name."""
    d = unproved(tile=(8, 768), dtype="e2m1", major="K", swizzle="128B", mma=(8, 96), arch="sm103")
    length, step = lines
    row = Layout((8, (length, 768 // length)), (256, (step, 2048)))
    other = dataclasses.replace(d, smem_tile=ComposedLayout(Swizzle(3, 5, 3), 0, row))
    assert d.crossing is not None and cut_tile(d).modes[1].head == ((96, 1),)
    assert cut_tile(other).modes[1].head is None
    assert verdict(other).outcome != "equal" and not verify(other).ok


def test_a_broadcast_tile_of_any_size_is_proved_without_a_table_of_its_words() -> None:
    d = derive(
        layout=f"S<3,3,3> o 0 o (64,64,{1 << 30}):(64,1,0)", dtype="bf16", mma=(64, 16), verify=False, capacity=None
    )
    assert cut_tile(d).operands == 4 << 30 and verdict(d).outcome == "equal"


def test_a_tile_fits_the_window_up_to_its_last_byte() -> None:
    tile = cut_tile(unproved(**K_128))
    assert tile.fits(16, 2**18 - 2**15) and not tile.fits(16, 2**18 - 2**15 + 16)
    assert proved(unproved(**K_128, capacity=None), base=2**18 - 2**15).ok
    below = tile._replace(low=-64)
    assert below.fits(16, 128) and not below.fits(16, 112)
