"""What a derivation gives: tables of offsets and words, stage by stage, and a value."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import product
from operator import mul
from typing import Any

import pytest
from derived import derive_or_none, tiles
from each import each
from hypothesis import given

from descriptors import DescriptorError, derive, proved, tell
from descriptors.answers import record
from descriptors.show.explorer.answer import answer
from descriptors.smem.derivation.verdict import judge
from descriptors.smem.operands.swizzled import plain
from layoutalg import Layout, size

GOOD: dict[str, Any] = {"tile": (128, 128), "dtype": "bf16", "major": "K", "swizzle": "128B", "mma": (64, 16)}


@given(arguments=tiles())
def test_only_the_start_address_differs_between_subtiles(arguments: dict[str, Any]) -> None:
    d = derive_or_none(arguments)
    if d is None:
        return
    first = d.descriptor.encode()
    for row, words in zip(d.offsets_bytes(), d.words(), strict=True):
        assert [word - first for word in words] == [offset // 16 for offset in row]


def test_equal_derivations_are_equal_and_frozen() -> None:
    assert derive(**GOOD) == derive(**GOOD)
    assert hash(derive(**GOOD)) == hash(derive(**GOOD))
    with pytest.raises(dataclasses.FrozenInstanceError):
        derive(**GOOD).tile = (1, 1)  # type: ignore[misc]


@pytest.mark.parametrize("stages", [(3,), (2, 3)])
def test_a_chosen_stage_has_the_table_of_a_tile_without_stages(stages: tuple[int, ...]) -> None:
    steps = (8192, 16384)[-len(stages) :]
    text = ",".join(map(str, stages)), ",".join(map(str, steps))
    d = derive(layout=f"S<3,3,3> o 0 o (128,64,{text[0]}):(64,1,{text[1]})", dtype="bf16", mma=(64, 16))
    whole: Any = d.words(0x400)
    for number, at in enumerate(product(*map(range, reversed(stages)))):
        at = at[::-1]  # the first mode runs fastest

        def of(cell: Any, at: tuple[int, ...] = at) -> Any:
            for i in at:
                cell = cell[i]
            return cell

        of_stage = d.words(0x400, stage=at)
        assert of_stage == tuple(tuple(of(cell) for cell in row) for row in whole) == d.words(0x400, stage=number)
        assert d.offsets_bytes(stage=at)[1][2] == 8192 + 64 + 2 * sum(map(mul, at, steps))


STAGES = [
    ((), 0),
    ((), ()),
    ((3,), 3),
    ((3,), -1),
    ((3,), "1"),
    ((3,), True),
    ((3,), 1.5),
    ((2, 3), (0,)),
    ((2, 3), (2, 0)),
    ((2, 3), 6),
]


@each(("stages", "stage"), STAGES)
def test_a_stage_that_a_tile_does_not_have_is_refused(stages: tuple[int, ...], stage: Any) -> None:
    rows = Layout((64, 64, *stages), (64, 1, 4096, 8192)[: 2 + len(stages)])
    d = derive(layout=rows, dtype="bf16", swizzle="128B", mma=(64, 16))
    with pytest.raises(
        DescriptorError,
        match=r"derive: (a stage is .*, (but the minimum is 0|which is not an integer)|the tile has no stage )",
    ):
        d.words(stage=stage)


def test_every_word_decodes_to_the_descriptor_of_its_subtile() -> None:
    for arch in ("sm90", "sm100"):
        d = derive(**{**GOOD, "arch": arch})
        first = d.descriptor_at(0x1080)
        for words, row in zip(d.words(0x1080), d.offsets_bytes(), strict=True):
            for word, offset in zip(words, row, strict=True):
                assert word == first.at(first.start_address + offset).encode()
                assert d.descriptor.word.decode(word)["start_address"] == 0x1080 + offset
                assert d.descriptor.word.decode(word)["base_offset"] == first.base_offset == 1


@pytest.mark.parametrize(
    ("layout", "shared"),
    [
        ("((8,8),(8,2)):((8,0),(1,64))", 1024),  # all groups of 8 rows are one
        ("((8,8),(8,2)):((8,64),(1,64))", 1024 - 2 * 64),  # a piece of K begins where the next 8 rows do
        ("((8,8),(8,2)):((8,64),(1,512))", 0),
        ("((8,8),(8,2)):((8,128),(1,64))", 0),
        ("S<3,3,3> o 0 o ((8,8),(64,1)):((64,512),(1,0))", 0),
    ],
)
def test_elements_that_share_an_address_are_a_warning_on_all_faces(layout: str, shared: int) -> None:
    d = derive(layout=layout, dtype="bf16", mma=(64, 16), arch="sm90", major="K")
    offsets = Counter(plain(d.smem_tile)(i) for i in range(size(d.smem_tile)))
    assert sum(count for count in offsets.values() if count > 1) == shared
    warnings = d.warnings_at(0)
    assert [f"{shared} elements share an address with another one" in one for one in warnings] == [True] * bool(shared)
    proof = proved(d, walk=True)
    assert proof.warnings == judge(d, 0, proof).warnings == warnings
    assert tuple(record(d, report=proof)["verdict"]["warnings"]) == warnings and all(one in tell(d) for one in warnings)
    asked = {"layout": layout, "dtype": "bf16", "mma": "64x16", "arch": "sm90", "major": "K"}
    page = answer({**asked, "swizzle": str(d.swizzle), "want": ["proof"]})
    assert tuple(page["proof"]["warnings"]) == warnings
