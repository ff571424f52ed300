"""Proposals for a tile: all that divide it are tried, the cheapest comes first, and every refusal has its reason."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

import pytest

from descriptors import DescriptorError, plan, propose, record, select_rows, tell
from descriptors.cli.command import main
from descriptors.gemm.proposal_text import plan_command
from descriptors.gemm.schedule import read_bytes


def test_every_instruction_that_divides_the_tile_is_proposed_or_refused() -> None:
    proposals = propose("bf16", tile=(128, 192, 32), arch="sm90", a_major="K", b_major="K", top=64)
    legal = {n for row in select_rows("sm90", "f16").shapes if not row.sparse for n in row.n}
    tried = [one.asked.name for one in proposals.plans] + [name.split(",")[0] for name, _ in proposals.refused]
    assert sorted(tried) == sorted(f"m64n{n}k16" for n in legal if 192 % n == 0)
    assert proposals.others == len(legal) - len(tried)


def test_the_one_that_reads_least_is_first() -> None:
    proposals = propose("e4m3", tile=(256, 256, 64), top=64)
    read = [read_bytes(one) for one in proposals.plans]
    assert read == sorted(read) and proposals.plans[0].asked.name == "m256n256k32"
    assert all(one.verify(seed=3).ok for one in proposals.plans[:2])
    assert {reason.split(":")[0] for _, reason in proposals.refused} == {"plan"}


def test_majors_that_are_given_hold_and_others_are_tried_for_the_best() -> None:
    proposals = propose("bf16", tile=(64, 64, 64), arch="sm90", b_major="MN", top=64)
    assert {one.b.transposed for one in proposals.plans} == {1}
    free = propose("bf16", tile=(64, 64, 64), arch="sm90", top=4)
    assert [(one.a.transposed, one.b.transposed) for one in free.plans] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    eight = propose("e4m3", tile=(64, 64, 64), arch="sm90")
    assert any("wgmma has transpose bits for 16-bit types only" in reason for _, reason in eight.refused)


def test_the_command_of_a_proposal_gives_that_plan(capsys: pytest.CaptureFixture[str]) -> None:
    for proposals in (
        propose("bf16", tile=(64, 32, 32), arch="sm90", b_major="MN", top=1),
        propose("e2m1", tile=(128, 128, 128), kind="mxf4", stages=2, top=1),
    ):
        (one,) = proposals.plans
        assert main(shlex.split(plan_command(one))[1:]) == 0
        assert capsys.readouterr().out.startswith(tell(one, proof=one.verify()) + "\nmore: ")


@pytest.mark.parametrize(
    "options",
    [
        {"cluster": (2, 1)},
        {"smem": 100_000},
        {"warpgroups": 1},
        {"warpgroups": 4},
        {"arch": "sm100", "accumulators": 2, "stages": 3},
        {"arch": "sm100", "accumulators": 2, "b_swizzle": "64B", "tile": (128, 32, 64)},
        {"a_source": "registers"},
        {"d_dtype": "f16", "cluster": (1, 2), "smem": 120_000, "warpgroups": 1},
    ],
    ids=str,
)
def test_the_command_of_a_plan_repeats_what_was_asked(
    options: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    dtype = "f16" if "d_dtype" in options else "bf16"
    asked = plan("m64n32k16", dtype, **{"tile": (256, 32, 64), **options})
    assert main([*shlex.split(plan_command(asked))[1:], "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "schema": 1,
        **json.loads(json.dumps(record(asked, proof=asked.verify()))),
    }


def test_a_start_that_would_carry_is_told() -> None:
    """The words are sums: near the end of the window the last one leaves the start's 14 bits."""
    whole = plan("m64n32k16", "bf16", tile=(64, 32, 64), stages=2)
    for base, carries in ((0, False), (0x3A000, False), (0x3E000, True)):
        moved = replace(whole, a=replace(whole.a, base=base, word=whole.a.derivation.word(0, 0, 0, base)))
        assert moved.a.word_at(0, -1, -1) >> 14 & 1 == carries  # a bit that is no part of the start
        text = tell(moved, steps=True)
        assert text.count("carry      none: the last start is") == 2 - carries  # of B there is none
        assert text.count("carry      out of the 14-bit field") == carries


def test_twelve_reasons_are_told_and_the_others_counted() -> None:
    """Refusals that begin with the same reason are one line, in the words of the first."""
    proposals = propose("bf16", tile=(256, 256, 64), arch="sm100", top=1)
    names = [name for name, _ in proposals.refused]
    same = [line for line in tell(proposals).splitlines() if "accumulators need" in line]
    assert same == [f"   {', '.join(dict.fromkeys(names))}: {proposals.refused[0][1]}"]
    for count, more in ((12, 0), (13, 1), (14, 2)):
        refused = tuple((f"m{i}", f"reason {i}; a way") for i in range(count))
        lines = tell(replace(proposals, refused=refused)).splitlines()
        first = lines.index("Refused") + 1
        assert lines[first : first + 12] == [f"   {name}: {reason}" for name, reason in refused[:12]]
        assert [line for line in lines if line.endswith("more (--json has them)")] == (
            [f"   and {more} more (--json has them)"] if more else []
        )


@pytest.mark.parametrize(
    ("tile", "why"),
    [
        ((100, 256, 64), "no sm90 instruction fits the tile 100x256x64; tile M is 100, which is not a multiple of 64"),
        ((64, 20, 64), "tile N is 20, which is not a multiple of 8"),
        ((64, 64, 24), "tile K is 24, which is not a multiple of 16"),
        ((256, 512, 64), "registers per thread, but a thread has at most 255"),
        ((128, 256, 6400), "need. 4915216 bytes of shared memory"),
        ((128, 64), "M x N x K"),
    ],
)
def test_a_tile_that_nothing_fits_is_refused_with_the_reason(tile: tuple[int, ...], why: str) -> None:
    with pytest.raises(DescriptorError, match=why) as error:
        propose("bf16", tile=tile, arch="sm90")
    assert "\n" not in str(error.value)
