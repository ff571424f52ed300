"""Lines over banks: which piece lies where, what an access costs, and memories with other banks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from derived import K_128, MN_64, derivations
from hypothesis import given

from descriptors import DescriptorError, derive
from descriptors.show.stages.bank_stage import banks, column, pieces_at, reads
from descriptors.show.stages.view import View
from descriptors.smem.derivation.derivation import Derivation
from layoutalg import Layout, evaluate, wavefronts


@given(derivations())
def test_every_piece_lies_in_one_place_of_the_lines(d: Derivation) -> None:
    view = View(d)
    count = view.anatomy.bytes // 128
    if view.anatomy.bytes % 128 == 0:
        pieces = pieces_at(view, range(count))
        assert len(set(pieces.values())) == len(pieces) == view.anatomy.bytes // 16
        bits = d.element.storage_bits
        assert all(
            d.smem_tile(*at, *(0 for _ in d.tile[2:])) * bits // 8 // 16 == place for place, at in pieces.items()
        )


@pytest.mark.parametrize(("access", "cost"), [("chunk", (8, 1)), ("row", (1, 1)), ("matrices", (32, 4))])
def test_what_is_read_costs_what_the_bank_model_says(access: str, cost: tuple[int, int]) -> None:
    served = reads(View(derive(**K_128), access=access))
    assert tuple(one.wavefronts for one in served) == cost
    assert all(wavefronts(one.addresses, 16) == one.wavefronts for one in served)


def test_an_mn_major_chunk_is_read_across_its_lines_too() -> None:
    before, after = reads(View(derive(**MN_64)))
    assert before.wavefronts > after.wavefronts == 1 or before.wavefronts >= 4


def test_a_layout_of_threads_reads_what_it_names() -> None:
    lanes = evaluate("(32,8):(1,128)")
    assert isinstance(lanes, Layout)
    served = reads(View(derive(**K_128), lanes=lanes, access_bytes=16))
    assert len(served[0].addresses) == 32
    assert served[0].wavefronts > served[1].wavefronts


def test_a_slot_down_the_lines_holds_one_column_without_the_swizzle_and_eight_with_it() -> None:
    said = banks(View(derive(**K_128), slot=3)).said
    assert "Without the swizzle slot 3 holds the columns 3, 3, 3, 3, 3, 3, 3, 3" in said
    assert "With the swizzle slot 3 holds the columns 3, 2, 1, 0, 7, 6, 5, 4" in said


def test_other_banks_cost_otherwise() -> None:
    view = View(derive(**K_128))
    wide = replace(view, banks=64)
    assert [one.wavefronts for one in reads(view)] == [8, 1]
    assert [one.wavefronts for one in reads(wide)] == [4, 1], "two rows stand side by side in a line of 256 bytes"
    assert len(banks(wide).grids[0].cells[0]) == 16  # type: ignore[index]


def test_where_there_is_no_swizzle_there_is_one_panel() -> None:
    assert len(banks(View(derive((64, 64), "bf16", "K", "none", (64, 16)))).grids) == 1


def test_the_numbers_of_a_line_are_the_columns_of_what_lies_there() -> None:
    view = View(derive(**K_128))
    stage = banks(view)
    cells = stage.grids[1].cells
    assert cells is not None
    columns = [line.split()[1:] for line in stage.text.splitlines() if "0x" in line][8:]
    assert columns == [[str(column(view, at)) for at in row if at is not None] for row in cells]


def test_threads_of_elements_below_a_byte_are_refused() -> None:
    d = derive((128, 256), "e2m1", "K", "128B", (128, 64))
    with pytest.raises(DescriptorError, match="elements are smaller than a byte"):
        reads(View(d, lanes=Layout((32, 1))))
