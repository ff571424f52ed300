"""The search: every finding proved, every cost counted again another way, and the order is that of the costs."""

from __future__ import annotations

import shlex
from typing import Any

import numpy as np
import pytest
from each import each

from descriptors import TmaError, derive, tma_plan
from descriptors.cli.command import main
from descriptors.errors import ChoiceError, DescriptorError
from descriptors.smem.derivation.verify import verify
from descriptors.smem.operands.operand import Major, SwizzleMode
from descriptors.sweep.finding import Finding
from descriptors.sweep.search import search, survey
from descriptors.sweep.survey_text import derive_command, findings_table
from layoutalg import Layout, wavefronts

CASES = [
    {"tile": (128, 64), "dtype": "bf16", "mma": (64, 16)},
    {"tile": (64, 32), "dtype": "tf32", "mma": (64, 8), "arch": "sm90"},
    {"tile": (128, 64), "dtype": "e4m3", "mma": (128, 32), "stages": 3},
    {"tile": (64, 128), "dtype": "e2m1", "mma": (64, 64)},
    {"tile": (24, 32), "dtype": "f16", "mma": (24, 16), "operand": "B"},
]
PRODUCERS = ["tma", "rows", "columns"]


def plain_wavefronts(finding: Finding, producer: str) -> int:
    """Counted element by element: which bytes each lane has, as few stores as 16 bytes in a row allow."""
    d = finding.derivation
    (mn, k), bits = d.tile, d.element.storage_bits
    per = 128 // bits
    along_k = producer == "rows" or (producer == "tma" and d.major is Major.K)
    step = per if (k if along_k else mn) % per == 0 else 8  # the only other case here: 24 elements of 16 bits
    if along_k:
        pieces = [[(i, j + v) for v in range(step)] for i in range(mn) for j in range(0, k, step)]
    else:
        pieces = [[(i + v, j) for v in range(step)] for j in range(k) for i in range(0, mn, step)]
    total = 0
    for first in range(0, len(pieces), 32):
        places = [[d.smem_tile(*at) * bits // 8 for at in piece] for piece in pieces[first : first + 32]]
        if along_k == (d.major is Major.K):
            total += wavefronts([place[0] for place in places], step * bits // 8, store=True)
        else:
            total += sum(wavefronts([place[v] for place in places], bits // 8, store=True) for v in range(step))
    return total


@each("producer", PRODUCERS)
@each("case", CASES, ids=lambda case: f"{case['dtype']}-{case['tile'][0]}")
def test_wavefronts_are_those_of_the_explicit_addresses(case: dict[str, object], producer: str) -> None:
    for one in search(**case, producer=producer):  # type: ignore[arg-type]
        crossed = producer != "tma" and (producer == "rows") != (one.major is Major.K)
        if crossed and one.derivation.element.storage_bits < 8:
            assert (one.wavefronts, one.conflicts, one.store_bytes) == (None, None, None)
            assert "whole bytes" in one.stores_refused
            continue
        assert one.wavefronts == plain_wavefronts(one, producer)
        assert one.conflicts is not None and one.stores_refused == ""
        assert one.wavefronts - one.conflicts >= one.stage_bytes // 128  # a wavefront moves at most 128 bytes


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['dtype']}-{case['tile'][0]}")
def test_every_finding_is_proved_and_its_boxes_are_those_of_the_plan(case: dict[str, object]) -> None:
    outcome = survey(**case)  # type: ignore[arg-type]
    assert outcome.findings
    for one in outcome.findings:
        assert one.proof.ok and one.proof.elements == np.prod(one.derivation.tile)
        assert verify(one.derivation, bases=one.proof.bases) == one.proof
        assert len(one.proof.bases) == one.stages
        try:
            plan = tma_plan(one.derivation, rank=2)
        except TmaError as error:
            assert (one.boxes, one.plan_refused) == (None, str(error))
        else:
            assert (one.boxes, one.plan_refused) == (len(plan.boxes), "")
            assert plan.verify() == one.proof.elements


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['dtype']}-{case['tile'][0]}")
def test_found_and_refused_together_are_all_candidates_and_agree_with_derive(case: dict[str, object]) -> None:
    outcome = survey(**case)  # type: ignore[arg-type]
    kept = [(one.major, one.swizzle, order) for one in outcome.findings for order in one.orders]
    lost = [(one.major, one.swizzle, order) for one in outcome.refusals for order in one.orders]
    every = [(major, mode, order) for major in Major for mode in SwizzleMode for order in ((0, 1), (1, 0))]
    assert sorted(map(str, kept + lost)) == sorted(map(str, every))
    arguments = {name: value for name, value in case.items() if name != "stages"}
    for major, mode, order in kept:
        assert derive(major=major, swizzle=mode, order=order, **arguments).descriptor  # type: ignore[arg-type]
    reasons = {(one.major, one.swizzle, order): one.reason for one in outcome.refusals for order in one.orders}
    for major, mode, order in lost:
        with pytest.raises(DescriptorError) as error:
            derive(major=major, swizzle=mode, order=order, **arguments)  # type: ignore[arg-type]
        assert error.value.args[0] == reasons[major, mode, order]


def test_two_orders_are_one_finding_exactly_where_they_store_every_element_at_the_same_place() -> None:
    for one in search(tile=(128, 64), dtype="bf16", mma=(64, 16)):
        places = []
        for order in ((0, 1), (1, 0)):
            tile = derive(tile=(128, 64), dtype="bf16", major=one.major, swizzle=one.swizzle, mma=(64, 16), order=order)
            places.append([tile.smem_tile(i, j) for i in range(128) for j in range(64)])
        assert (len(one.orders) == 2) == (places[0] == places[1])


def test_a_start_carries_exactly_from_the_first_stage_that_lies_past_the_window() -> None:
    for stages in (15, 16, 17, 40):
        for one in search(tile=(128, 64), dtype="bf16", mma=(64, 16), stages=stages, major="K"):
            starts = [start for row in one.derivation.offsets_bytes() for start in row]
            highest = (stages - 1) * 16384 + max(starts)
            assert one.carries == (highest >= 1 << 18) == (stages > 16)
            assert len(one.proof.bases) == min(stages, 16)


def test_a_stage_of_atoms_is_always_a_multiple_of_the_alignment() -> None:
    for tile, reads, dtype in (((24, 16), (8, 16), "bf16"), ((32, 8), (32, 8), "tf32"), ((8, 32), (8, 32), "e4m3")):
        findings = search(tile=tile, dtype=dtype, mma=reads, legality="off", stages=3)
        assert findings and all(one.stage_bytes % one.alignment_bytes == 0 for one in findings)


@pytest.mark.parametrize("producer", ["rows", "columns"])
def test_a_padded_tile_is_rounded_up_to_atoms_and_operands_and_its_own_elements_alone_are_stored(producer: str) -> None:
    tile, reads = (96, 48), (64, 16)
    padded = survey(tile=tile, dtype="bf16", mma=reads, stages=2, producer=producer, pad=True)
    assert not survey(tile=tile, dtype="bf16", mma=reads).findings  # 64 does not divide 96
    assert {one.swizzle for one in padded.refusals} == {SwizzleMode.B128_BASE32B}
    extents = set()
    for one in padded.findings:
        mn, k = one.derivation.tile
        extents.add((mn, k))
        atom = (
            [one.derivation.swizzle.span_bytes // 2, 8] if one.major is Major.MN else [8, one.swizzle.span_bytes // 2]
        )
        for extent, whole, unit, read in zip((mn, k), tile, atom, reads, strict=True):
            legal = [n for n in range(whole, 1000) if n % unit == 0 and n % read == 0]
            assert extent == legal[0]
        assert one.stage_bytes == mn * k * 2 and one.total_bytes == 2 * one.stage_bytes
        assert one.padding_bytes == 2 * (one.stage_bytes - 96 * 48 * 2)
        assert one.waste_bytes == one.padding_bytes + one.alignment_bytes - 16
        if (producer == "rows") == (one.major is Major.K):
            assert one.wavefronts is not None and one.conflicts is not None
            assert one.wavefronts - one.conflicts == 96 * 48 * 2 // 128
    assert extents == {(128, 64), (128, 48)}


def test_padding_changes_nothing_that_needs_none() -> None:
    plain = search(tile=(128, 64), dtype="bf16", mma=(64, 16))
    assert search(tile=(128, 64), dtype="bf16", mma=(64, 16), pad=True) == plain


def test_what_has_no_tma_boxes_is_ranked_after_what_has() -> None:
    findings = search(tile=(64, 128), dtype="e2m3", mma=(64, 32))
    assert [one.boxes is None for one in findings] == sorted(one.boxes is None for one in findings)
    assert {one.boxes is None for one in findings} == {True, False}
    assert all(bool(one.plan_refused) == (one.boxes is None) for one in findings)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"stages": 4},
        {"stages": 16},
        {"stages": 17},
        {"operand": "A", "legality": "lenient", "cta_group": 1},
        {"tile": (96, 48), "pad": True},
    ],
)
def test_the_command_derives_the_same_words_again(
    changes: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = {"tile": (128, 64), "dtype": "bf16", "mma": (64, 16), **changes}
    outcome = survey(**arguments)  # type: ignore[arg-type]
    for one in outcome.findings[:4]:
        words = shlex.split(derive_command(one, outcome.asked))
        assert words[0] == "descriptors" and main(words[1:]) == 0
        printed = capsys.readouterr().out
        assert f"{one.word:#018x}" in printed and "proved" in printed


def test_a_search_that_finds_nothing_says_why_for_each_candidate() -> None:
    outcome = survey(tile=(128, 64), dtype="bf16", mma=(64, 24))
    assert outcome.findings == () and sum(len(one.orders) for one in outcome.refusals) == 20
    assert all("legality" in one.reason for one in outcome.refusals)


@each(
    ("changes", "message"),
    [
        ({"tile": (128, 64, 2)}, "search: tile is 128x64x2, which is not MNxK of one stage"),
        ({"tile": (0, 64)}, "search: tile extent 0 is 0, but the minimum is 1"),
        ({"tile": "128x64"}, "search: tile is '128x64', which is not MNxK of one stage"),
        ({"dtype": "bf17"}, "operand: dtype is "),
        (
            {"mma": None, "tile": (100, 64)},
            "search: tile MN is 100, which is not a multiple of the MN of any sm100 instruction; use mma=(64, 16), "
            "pad=True",
        ),
        ({"mma": (64,)}, "derive: mma (64,) is not (MN, K)"),
        ({"arch": "sm80"}, "derive: arch is "),
        ({"major": "L"}, "operand: major is "),
        ({"operand": "C"}, "supported: A, B"),
        ({"stages": 0}, "search: stages is 0, but the minimum is 1"),
        ({"stages": 10**30}, "search: stages is"),
        ({"smem": True}, "search: smem is True, which is not an integer"),
        ({"kind": "f17"}, "f17"),
        ({"cta_group": 3}, "search: cta_group is 3, but the maximum is 2"),
        ({"sparse": 1}, "search: sparse is 1, which is neither"),
        ({"pad": None}, "search: pad is None, which is neither"),
        ({"legality": "loose"}, "legality is "),
        ({"producer": "dma"}, "search: producer is 'dma', which is not a name or a layout of modes"),
        ({"producer": 7}, "search: producer 7 does not have two modes (threads, values)"),
        ({"producer": "(32,8,2):(1,32,256)"}, "does not have two modes (threads, values)"),
        ({"producer": "(32,8):(1,8192)"}, "search: producer has offsets 0 to 57375, outside of the tile's [0,8192)"),
        ({"producer": "(32,8):(-1,32)"}, "search: producer has offsets -"),
        ({"producer": Layout((1 << 40, 2), (0, 0))}, "search: producer moves "),
    ],
)
def test_bad_arguments_are_refused_in_one_typed_line(changes: dict[str, object], message: str) -> None:
    arguments = {"tile": (128, 64), "dtype": "bf16", "mma": (64, 16), **changes}
    with pytest.raises(DescriptorError) as error:
        search(**arguments)  # type: ignore[arg-type]
    assert message in str(error.value) and "\n" not in str(error.value)
    assert isinstance(error.value, ChoiceError) == ("supported: " in str(error.value))


def test_a_tile_beyond_the_address_window_is_refused_and_not_measured() -> None:
    outcome = survey(tile=(1 << 40, 64), dtype="bf16", mma=(64, 16), major="K")
    assert not outcome.findings and all(one.reason for one in outcome.refusals)


def test_a_table_of_nothing_is_its_heading() -> None:
    assert len(findings_table(())) == 1


@each(
    ("tile", "dtype", "arch", "options", "reads"),
    [
        ((192, 64), "bf16", "sm90", {}, (64, 16)),
        ((24, 128), "s8", "sm90", {}, (24, 32)),
        ((40, 128), "s8", "sm90", {}, (8, 32)),  # integers have no N 40
        ((384, 256), "e2m1", "sm100", {}, (128, 64)),
        ((192, 64), "tf32", "sm100", {"operand": "B"}, (192, 8)),
        ((128, 64), "bf16", "sm90", {"operand": "B", "sparse": True}, (128, 32)),
    ],
)
def test_without_an_instruction_the_most_that_one_reads_is_assumed(
    tile: Any, dtype: str, arch: Any, options: dict[str, Any], reads: tuple[int, int]
) -> None:
    found = survey(tile, dtype, arch=arch, **options)
    assert found.asked.mma == reads and found.findings
    assert found.findings == survey(tile, dtype, reads, arch, **options).findings


def test_the_default_shared_memory_is_that_of_the_architecture() -> None:
    stages = {arch: survey((128, 64), "bf16", (128, 16), arch, stages=16).findings[0] for arch in ("sm100", "sm107")}
    assert [finding.fits for finding in stages.values()] == [False, True]
    assert "--capacity" not in derive_command(stages["sm107"], survey((128, 64), "bf16", (128, 16), "sm107").asked)
