"""A wrong word is no answer anywhere: the proof stands between it and whoever asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from derived import K_128

from descriptors import ProofError, derive
from descriptors.cli.command import main
from descriptors.smem.derivation.verify import verify
from descriptors.smem.words.descriptor import SmemDescriptor
from descriptors.sweep.search import survey


@pytest.fixture
def wrong_words(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every derivation gives words whose start is 32 bytes off."""
    honest = SmemDescriptor.encode
    monkeypatch.setattr(SmemDescriptor, "encode", lambda word: honest(word) ^ 2)
    yield


@pytest.mark.usefixtures("wrong_words")
def test_a_derivation_whose_words_are_wrong_is_an_error_with_the_report() -> None:
    with pytest.raises(ProofError, match="derive: the words do not read the tile, ") as caught:
        derive(**K_128)
    report: Any = caught.value.proof
    assert not report.ok
    assert str(report) in str(caught.value)
    assert report == verify(derive(**K_128, verify=False))


@pytest.mark.usefixtures("wrong_words")
def test_a_wrong_word_is_no_answer_of_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    options = "--dtype bf16 --major K --swizzle 128B --tile 128x128 --mma 64x16".split()
    assert main(["derive", *options]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("descriptors derive: error: the words do not read the tile, ")
    assert "0x" not in captured.out


@pytest.mark.usefixtures("wrong_words")
def test_a_search_finds_nothing_whose_words_are_wrong() -> None:
    outcome = survey((128, 64), "bf16", (64, 16), major="K")
    assert outcome.findings == ()
    disproved = [
        one for one in outcome.refusals if one.reason.startswith("search: the descriptors do not read the tile; ")
    ]
    assert disproved and all("are read from elsewhere" in one.reason for one in disproved)
