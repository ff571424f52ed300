"""One subtile's word is the word of the whole table, whatever the stages; the table is told and written whole."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import Any

import pytest

from descriptors import Derivation, DescriptorError, FieldError, derive, record
from descriptors.cli.command import main
from descriptors.smem.derivation.subtile_words import subtile_record, tell_subtile, tell_words, words_record
from layoutalg import Layout, size

BF16: dict[str, Any] = {"dtype": "bf16", "mma": (64, 16)}
TILES = {
    "plain": derive((128, 128), major="K", swizzle="128B", **BF16),
    "staged": derive((128, 64, 4), major="MN", swizzle="64B", arch="sm90", **BF16),
    "two modes of stages": derive(
        layout=Layout(((8, 8), (16, 2), 2, 3), ((16, 128), (1, 1024), 6144, 2048)), dtype="u8", mma=(64, 32),
        legality="off",
    ),
}  # fmt: skip


def cell(table: Any, at: tuple[int, ...]) -> Any:
    for index in at:
        table = table[index]
    return table


@pytest.mark.parametrize("d", TILES.values(), ids=TILES)
@pytest.mark.parametrize("base", [0, 0x2000])
def test_a_subtile_alone_is_its_cell_of_the_tables(d: Derivation, base: int) -> None:
    words, offsets, table = d.words(base), d.offsets_bytes(), words_record(d, base)
    for at in product(*(range(size(mode)) for mode in d.advance)):
        mn, k, *stages = at
        stage: Any = tuple(stages) if stages else 0
        assert d.word(mn, k, stage, base) == cell(words, at) == int(cell(table, at), 16)
        assert d.offset_of(mn, k, stage) == cell(offsets, at)
        one = subtile_record(d, at, base)
        assert (int(one["word"], 16), one["offset_bytes"]) == (cell(words, at), cell(offsets, at))
        assert tell_subtile(d, at, base).startswith(one["word"] + "  subtile (")


def test_the_first_stage_is_meant_where_none_is_named() -> None:
    assert TILES["staged"].word(1, 2) == TILES["staged"].words(stage=0)[1][2]


@pytest.mark.parametrize(
    ("at", "message"),
    [((2, 0), "the tile has no subtile 2,0"), ((0, 8), "the tile has no subtile 0,8"),
     ((-1, 0), "the minimum is 0"), ((0, 0, 1), "the tile has no stage"), ((0, True), "is ")],
)  # fmt: skip
def test_a_subtile_that_a_tile_does_not_have_is_refused(at: Any, message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        TILES["plain"].word(*at)


@pytest.mark.parametrize("d", TILES.values(), ids=TILES)
def test_the_table_holds_every_word_once(d: Derivation) -> None:
    texts = re.findall("0x[0-9a-f]{16}", tell_words(d))
    flat = [int(word, 16) for word in texts]
    cells = [cell(d.words(), at) for at in product(*(range(size(mode)) for mode in d.advance))]
    assert sorted(flat) == sorted(cells)
    assert max(map(len, tell_words(d).splitlines())) <= 80


def test_a_word_of_the_table_stands_below_its_mn_and_beside_its_k() -> None:
    d = TILES["plain"]
    head, *rows = [line.split()[-3:] if "mn" in line else line.split() for line in tell_words(d).splitlines()[1:9]]
    for row in rows:
        for mn, word in zip(head[-2:], row[1:], strict=True):
            assert int(word, 16) == d.word(int(mn), int(row[0]))


def test_words_that_no_field_holds_are_none_in_the_record() -> None:
    far = derive((128, 64, 32), major="K", swizzle="128B", capacity=None, verify=False, **BF16)
    assert record(far)["words"] is None
    with pytest.raises(FieldError):
        far.word(0, 0, 31)
    assert far.word(0, 0, 1) >> 14 == far.word(0, 0) >> 14


def test_the_command_gives_one_answer_at_a_time(capsys: pytest.CaptureFixture[str]) -> None:
    line = "derive --dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16".split()
    assert main([*line, "--subtile", "1,4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": 1, "subtile": [1, 4], "base": 0, "offset_bytes": 24576, "word": "0x4000404000010600",
        "evidence": "documented, not measured on a Blackwell GPU", "warnings": [],
    }  # fmt: skip
    assert main([*line, "--subtile", "1,4", "--words"]) == 2
    assert "cannot be combined" in capsys.readouterr().err
    assert main([*line, "--subtile", "1"]) == 2
    assert "subtile (1) does not have the 2 coordinates (mn,k)" in capsys.readouterr().err
