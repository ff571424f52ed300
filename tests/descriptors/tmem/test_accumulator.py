"""Accumulators lie where CUTLASS's own fragments have them; datapaths and fragments are tried with them."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from each import each
from tmem_maps import digest, in_order, rows

from descriptors import DescriptorError
from descriptors.smem.instructions.rules import IllegalError
from descriptors.tmem.accumulator import accumulator, datapath_of
from descriptors.tmem.geometry import DOCUMENTED, NVIDIA
from descriptors.tmem.tmem_fragment import FOURS, FULL, HALF, PAIRS, TmemFragment, spread
from layoutalg import parse_layout, size

_TYPES = {"float": "f32", "half_t": "f16", "int32_t": "s32"}


def accumulators() -> list[Any]:
    """The recorded accumulators, with what makes the same here."""
    params = []
    for row in rows("D"):
        words = row["name"].split()
        if words[1] == "ws":
            m, n = map(int, words[2].split("x"))
            arguments: dict[str, Any] = {"m": m, "n": n, "dtype": _TYPES[words[0]], "ws": True}
        elif words[1] in ("uint32_t", "int32_t"):
            pair = int(words[2][-1])
            m, n = map(int, words[4].split("x"))
            tiles = tuple(map(int, re.findall(r"_(\d)", " ".join(words[5:])))) or (1, 1)
            arguments = {"m": m * pair, "n": n, "dtype": _TYPES[words[0]], "cta_group": pair, "tiles": tiles}
            arguments["interleaved"] = words[3] == "Interleaved"
        else:
            continue  # operands
        params.append(pytest.param(arguments, row, id=row["name"]))
    return params


@each(("arguments", "row"), accumulators())
def test_an_accumulator_lies_where_cutlass_has_it(arguments: dict[str, Any], row: dict[str, Any]) -> None:
    kind = "i8" if arguments["dtype"] == "s32" else "f16"
    fragment = accumulator(**arguments, kind=kind, legality="lenient")
    assert fragment.bits == row["bits"]
    assert digest(in_order(fragment.cells())) == row["sha256"]
    assert size(fragment.layout) == row["count"]
    assert fragment.evidence == NVIDIA


def test_the_recorded_accumulators_are_of_every_arrangement_that_cutlass_has() -> None:
    names = {accumulator(**one.values[0], legality="off").name for one in accumulators()}
    assert {name.split()[1] for name in names} == {"A", "B", "D", "E", "F", "G"}


@pytest.mark.parametrize(("arguments", "row"), accumulators()[:8])
def test_the_layout_is_cutes_text_but_for_modes_of_one(arguments: dict[str, Any], row: dict[str, Any]) -> None:
    theirs = parse_layout(row["cute"])
    assert str(accumulator(**arguments, kind="i8" if arguments["dtype"] == "s32" else "f16").layout) == str(theirs[0])


LEGAL = [
    *((m, n, 1, False, False) for m, n in ((64, 8), (64, 256), (128, 16), (128, 256))),
    *((m, n, 2, False, False) for m, n in ((128, 32), (256, 32), (256, 256))),
    *((m, n, 1, True, False) for m, n in product((32, 64, 128), (64, 128, 256))),
    *((m, n, 2, False, True) for m, n in ((128, 32), (256, 64))),
]


@each(("m", "n", "pair", "ws", "sparse"), LEGAL)
def test_every_element_has_a_cell_of_its_own_and_all_lie_in_the_columns(
    m: int, n: int, pair: int, ws: bool, sparse: bool
) -> None:
    fragment = accumulator(m, n, cta_group=pair, ws=ws, sparse=sparse)
    cells = fragment.cells().reshape(-1, 3)
    assert len(np.unique(cells, axis=0)) == len(cells) == m // pair * n
    assert cells[:, 0].max() < 128 and cells[:, 1].max() + 1 == fragment.columns and not cells[:, 2].any()


def test_the_inverse_of_an_accumulator_gives_its_elements_back() -> None:
    from layoutalg import left_inverse

    for m, n, pair, ws, _ in LEGAL:
        layout = accumulator(m, n, cta_group=pair, ws=ws).layout
        inverse = left_inverse(layout)
        assert all(inverse(layout(i)) == i for i in range(0, size(layout), 7))


def test_two_tiles_of_64_rows_share_their_columns_where_they_are_interleaved() -> None:
    fragment = accumulator(64, 32, tiles=(2, 1))
    assert fragment.cell(0, 0, 1, 0) == (16, 0, 0) and fragment.columns == 32
    apart = accumulator(64, 32, tiles=(2, 1), interleaved=False)
    assert apart.cell(0, 0, 1, 0) == (0, 32, 0) and apart.columns == 64


def test_what_cute_cannot_build_is_only_documented() -> None:
    assert datapath_of(128, 2, False, True) == (HALF, "C")
    assert accumulator(128, 64, cta_group=2, sparse=True).evidence == DOCUMENTED


@each(
    ("arguments", "message"),
    [
        ({"m": 96, "n": 64}, "M is 96, but must be 64 or 128"),
        ({"m": 128, "n": 260}, "N is 260, but must be"),
        ({"m": 32, "n": 64, "legality": "off"}, "no instruction with cta_group 1 has M 32; supported: M 64 or 128"),
        ({"m": 64, "n": 96, "ws": True}, "N is 96, but must be 64, 128 or 256"),
        ({"m": 128, "n": 64, "dtype": "f64"}, "supported: f32, s32, f16"),
        ({"m": 128, "n": 256, "tiles": (3, 1)}, "needs 768 columns, tensor memory has 512"),
        ({"m": 64, "n": 64, "tiles": (3, 1)}, "tiles has 3 along M, which is odd; interleaved tiles are 1 or an even"),
        ({"m": 128, "n": 64, "tiles": 2}, r"tiles is 2, which is not two numbers \(M, N\)"),
        ({"m": 128, "n": 64, "cta_group": 3}, "cta_group is "),
        ({"m": "x", "n": 64}, "M is 'x'"),
    ],
)
def test_what_is_no_accumulator_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        accumulator(**arguments)


def test_the_refusal_of_an_illegal_shape_cites_its_row() -> None:
    with pytest.raises(IllegalError, match=r"Matrix Shape \(Table 39\)"):
        accumulator(128, 24, cta_group=2)


def test_pieces_must_divide_n() -> None:
    with pytest.raises(DescriptorError, match="N is 6, which is not a multiple of 4; arrangement 1x4"):
        spread(FOURS, 6, 32, 32)
    assert [size(spread(path, 8, 32, 32)) for path in (FULL, HALF, PAIRS, FOURS)] == [1024, 512, 512, 256]


def test_a_fragment_says_its_gist_in_one_line() -> None:
    fragment = accumulator(128, 64)
    assert fragment.headline == "accumulator of 128x64 f32, cta_group 1: (128,64):(65536,1), 64 columns"
    assert isinstance(fragment, TmemFragment)
