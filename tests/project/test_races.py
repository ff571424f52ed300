"""What Hopper GPUs did without one step of the protocol of `wgmma`, and that the checker knows each of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from places import ROOT

from probes.races import LEFT_OUT

RECORDS = {
    gpu: json.loads((ROOT / "tests" / "vectors" / "hopper" / gpu / "races.json").read_text(encoding="utf-8"))
    for gpu in ("h100", "h200")
}


def row(gpu: str, name: str) -> dict[str, Any]:
    """What was counted of one kernel."""
    (found,) = [one for one in RECORDS[gpu]["kernels"] if one["left_out"] == LEFT_OUT[name]]
    return found


@pytest.mark.parametrize("gpu", RECORDS)
def test_the_whole_protocol_was_never_wrong(gpu: str) -> None:
    assert row(gpu, "nothing")["rounds"] > 10_000_000
    assert row(gpu, "nothing")["wrong_accumulators"] == 0
    assert [one["left_out"] for one in RECORDS[gpu]["kernels"]] == list(LEFT_OUT.values())


@pytest.mark.parametrize("gpu", RECORDS)
def test_a_missing_proxy_fence_is_a_rare_race_and_half_a_wait_is_wrong_every_time(gpu: str) -> None:
    fence = row(gpu, "proxy_fence")
    assert 0 < fence["wrong_rounds"] < fence["rounds"] // 100
    assert fence["assembler"] == []
    waited = row(gpu, "wait_for_one")
    assert waited["wrong_rounds"] == waited["rounds"]
    assert waited["assembler"] == []


@pytest.mark.parametrize("gpu", RECORDS)
def test_what_the_assembler_mends_was_right_and_a_missing_commit_was_too(gpu: str) -> None:
    assert (row(gpu, "wait")["assembler"], row(gpu, "fence")["assembler"]) == (["C7517"], ["C7519"])
    assert {row(gpu, name)["wrong_rounds"] for name in ("wait", "fence", "commit")} == {0}


@pytest.mark.parametrize("gpu", RECORDS)
def test_copies_of_a_thread_were_right_without_fence_and_a_stage_that_is_written_early_is_not(gpu: str) -> None:
    copies = ("copy_nothing", "copy_proxy_fence", "copy_rendezvous")
    assert {row(gpu, name)["wrong_rounds"] for name in copies} == {0}
    assert row(gpu, "stage")["wrong_rounds"] > row(gpu, "stage")["rounds"] // 10
