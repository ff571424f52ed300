"""The last branch of each decision of the descriptors, limits exactly at the limit, and what a wrong word would do."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from derived import K_128

from descriptors import ChoiceError, DescriptorError, ProofError, derive
from descriptors.cli.command import main
from descriptors.smem.debug.diff import diff
from descriptors.smem.derivation.symbolic import symbolic_extents
from descriptors.smem.derivation.verify import verify
from descriptors.smem.operands.explicit import tile_of_partition
from descriptors.smem.proof.read_model import read_addresses
from descriptors.smem.words.descriptor import SmemDescriptor
from descriptors.sweep import atlas
from descriptors.sweep.search import survey
from layoutalg import ComposedLayout, Layout, Swizzle, UndecidedError, offsets, size

# A wrong word is never told: the proof stands between


@pytest.fixture
def wrong_words(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every derivation gives words whose start is 32 bytes off."""
    honest = SmemDescriptor.encode
    monkeypatch.setattr(SmemDescriptor, "encode", lambda word: honest(word) ^ 2)
    yield


@pytest.mark.usefixtures("wrong_words")
def test_a_derivation_whose_words_are_wrong_is_an_error_with_the_report() -> None:
    with pytest.raises(ProofError, match="derive: the words must read the tile, ") as caught:
        derive(**K_128)
    report: Any = caught.value.proof
    assert not report.ok
    assert str(report) in str(caught.value)
    assert report == verify(derive(**K_128, verify=False))


@pytest.mark.usefixtures("wrong_words")
def test_a_wrong_word_is_no_answer_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    options = "--dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16".split()
    assert main(["derive", *options]) == 2
    told = capsys.readouterr()
    assert told.err.startswith("descriptors: derive: the words must read the tile, ")
    assert "0x" not in told.out


@pytest.mark.usefixtures("wrong_words")
def test_a_search_finds_nothing_whose_words_are_wrong() -> None:
    found = survey((128, 64), "bf16", (64, 16), major="K")
    assert found.findings == ()
    disproved = [one for one in found.refusals if one.reason.startswith("search: the words must read the tile, ")]
    assert disproved and all("are read from elsewhere" in one.reason for one in disproved)


# Which mismatches are shown


def first_of_runs(stored: np.ndarray, fetched: np.ndarray, along: int) -> list[tuple[int, int]]:
    """Element by element: wrong, and not off by as much as the one before it."""
    off = fetched.astype(np.int64) - stored
    found = []
    for i, k in np.ndindex(*off.shape):
        before = (i - 1, k) if along == 0 else (i, k - 1)
        if off[i, k] and not (min(before) >= 0 and off[before] == off[i, k]):
            found.append((i, k))
    return found


@pytest.mark.parametrize(
    ("layout", "major", "shown"),
    [
        ("(64,2):(1,64)", "MN", [(i, 1) for i in range(0, 64, 8)]),
        ("(2,64):(64,1)", "K", [(1, k) for k in range(0, 64, 8)]),
    ],
)
def test_the_first_element_of_each_run_is_shown(layout: str, major: Any, shown: list[tuple[int, int]]) -> None:
    found = diff(1 << 62, layout, arch="sm90", dtype="bf16", major=major)
    stored = 2 * offsets(found.layout).astype(np.int64)
    fetched = read_addresses(1 << 62, arch="sm90", dtype="bf16", major=major, shape=found.shape)
    assert [one.coordinate for one in found.mismatches] == first_of_runs(stored, fetched, "MN K".split().index(major))[
        :8
    ]
    assert [one.coordinate for one in found.mismatches] == shown


# Partitions


@pytest.mark.parametrize("rest", [(), (2,), (2, 4), (2, 4, 3)])
@pytest.mark.parametrize("swizzled", [False, True])
def test_the_tile_of_a_partition_keeps_both_modes(rest: tuple[int, ...], swizzled: bool) -> None:
    steps = (4096, 16, 8192)[: len(rest)]
    parts: Any = Layout(((64, 16), *rest), ((64, 1), *steps))
    given = ComposedLayout(Swizzle(3, 3, 3), 0, parts) if swizzled else parts
    tile, operand = tile_of_partition(given)
    assert operand == (64, 16)
    assert size(tile) == size(parts)
    counts = (*rest, 1, 1, 1)[:3]
    for i, j, subtile in [(0, 0, (0, 0, 0)), (5, 3, (0, 0, 0)), (63, 15, tuple(n - 1 for n in counts))]:
        whole = (i + 64 * subtile[0], j + 16 * subtile[1], *subtile[2 : len(rest)])
        assert tile(*whole) == given(((i, j), *subtile[: len(rest)]))


def test_extents_that_are_not_positive_for_all_values_are_not_decided() -> None:
    with pytest.raises(UndecidedError, match="cannot decide whether m-4 is less than 1"):
        symbolic_extents(("m-4", 64))
    with pytest.raises(DescriptorError, match="derive: tile extent 1 must be a positive number or expression"):
        symbolic_extents((64, 0))


def test_a_layout_after_a_layout_is_a_tile_where_the_algebra_makes_one_of_them() -> None:
    after = ComposedLayout(Layout((8, 8, 8, 2), (8, 64, 1, 512)), 0, Layout(((8, 8), (8, 2))))
    d = derive(layout=after, dtype="bf16", mma=(64, 16), legality="off")
    assert d.smem_tile == Layout(((8, 8), (8, 2)), ((8, 64), (1, 512)))
    with pytest.raises(DescriptorError, match="derive: a layout must be plain, or a swizzle after a plain one; compo"):
        derive(layout=ComposedLayout(Layout((6, 2), (1, 7)), 0, Layout((3, 2), (2, 3))), dtype="bf16", mma=(3, 2))


def test_a_field_that_a_decoded_word_does_not_have_is_a_choice_error() -> None:
    from descriptors import decode_idesc

    with pytest.raises(ChoiceError, match="decode_idesc: a field must be one of "):
        decode_idesc(0x08200490, "f16")["nothing"]


# Limits


@pytest.mark.parametrize(("digits", "complaint"), [(16, "tile extents|must fit|at most"), (17, "must be numbers like")])
def test_an_extent_has_sixteen_digits_at_most(digits: int, complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = "--dtype bf16 --major K --swizzle 128B --mma 64x16".split()
    assert main(["derive", *options, "--tile", f"{'9' * digits}x64"]) == 2
    told = capsys.readouterr().err
    assert ("must be numbers like" in told) == (digits == 17)
    assert told.count("\n") == 1


# A run that is interrupted


def test_a_worker_leaves_an_interrupt_to_the_process_that_gave_the_work() -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        atlas._begin_worker()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_every_worker_is_started_to_leave_interrupts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []

    class Workers(ThreadPoolExecutor):
        def __init__(self, count: int, initializer: Any = None) -> None:
            started.append((count, initializer))
            super().__init__(count)

    monkeypatch.setattr(atlas, "ProcessPoolExecutor", Workers)
    assert atlas.atlas([{**K_128, "arch": "sm100"}], tmp_path / "rows.jsonl", workers=2).ok
    assert started == [(2, atlas._begin_worker)]


def test_progress_counts_the_rows_that_were_there_too(tmp_path: Path) -> None:
    point = {**K_128, "arch": "sm100"}
    told: list[int] = []
    atlas.atlas([point], tmp_path / "rows.jsonl", progress=told.append)
    atlas.atlas([point, {**point, "swizzle": "64B"}], tmp_path / "rows.jsonl", progress=told.append)
    assert told == [1, 1, 1]
