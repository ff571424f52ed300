"""Banks: lines, words and wavefronts of an access are those of the bank model and of the layout."""

from __future__ import annotations

import pytest
from drawn import read
from drawn_operands import OPERANDS
from each import each

from descriptors import DescriptorError, plain
from descriptors.show.pictures.anatomy import Anatomy
from descriptors.show.pictures.bank_picture import BanksPicture, Lanes, access_views
from layoutalg import Layout, accesses, wavefronts


@each("name", OPERANDS)
def test_the_words_of_banks_and_the_wavefronts_are_the_model_s(name: str) -> None:
    d = OPERANDS[name]
    views = access_views(d)
    assert [view.swizzled for view in views] == ([False, True] if d.swizzle.swizzle else [False])
    for view in views:
        assert view.wavefronts == max(view.words) == wavefronts(view.addresses, 16)
        assert sum(view.words) == 4 * len(set(view.addresses))
    rows = Anatomy(d).addresses()
    expected = [row[0] for row in rows] if d.major.contiguous_mode else list(rows[0])
    assert list(views[-1].addresses) == expected


@each("name", OPERANDS)
def test_a_unit_is_where_the_layout_stores_its_piece(name: str) -> None:
    d = OPERANDS[name]
    for view in access_views(d):
        pieces = Anatomy(d).pieces(swizzled=view.swizzled)
        at = {one // 16: (i, j)[d.major.contiguous_mode] for i, row in enumerate(pieces) for j, one in enumerate(row)}
        for line, row in zip(view.lines, view.units, strict=True):
            assert list(row) == [at.get(8 * line + unit) for unit in range(8)]


def test_an_access_of_threads_is_that_of_the_algebra() -> None:
    d, tv = OPERANDS["K 128B"], Layout((32, 8), (1, 128))
    views = access_views(d, lanes=Lanes(tv, 16))
    for view, tile in zip(views, (plain(d.smem_tile), d.smem_tile), strict=True):
        assert view.access == accesses(tile, tv, 2, 16)[0]
    assert [view.access.wavefronts for view in views] == [32, 4]
    with pytest.raises(DescriptorError, match="e2m1 elements are smaller than a byte"):
        access_views(OPERANDS["four bits, stages"], lanes=Lanes(tv))


def test_bars_are_as_high_as_their_words() -> None:
    picture = BanksPicture(OPERANDS["K 128B"])
    svg = picture.svg()
    record = picture.record()["views"]
    for role, view in zip(("bad", "good"), record, strict=True):
        bars = [part for part in svg.split("<rect ")[1:] if f'class="f-{role}"' in part]
        heights = [float(part.split('height="')[1].split('"')[0]) for part in bars]
        assert heights == [96 * words / 8 for words in view["words"] if words]


def test_the_title_says_both_costs_and_the_text_shows_what_is_read() -> None:
    picture = BanksPicture(OPERANDS["K 128B"])
    assert read(picture.svg()).title == "The same 8 rows of 16 bytes, read at once: 8 wavefronts or 1"
    assert picture.text().count("[0]") == 16
    assert "words per bank: 8 8 8 8 0" in picture.text()
