"""A chunk that kills the compiler is asked again, one request at a time; no compiler is needed to see that."""

from __future__ import annotations

from typing import Any

import pytest

from descriptors.oracle import words
from descriptors.oracle.words import WordRequest, descriptor_words
from layoutalg.oracle.service import Reply

GOOD = WordRequest("bf16", "K", "128B", "((8,16),(64,2)):((64,512),(1,8192))", (64, 16))
DEADLY = WordRequest("bf16", "K", "128B", "(128,128):(128,1)", (64, 16))


def test_what_kills_the_compiler_fails_alone_and_the_others_have_their_words(monkeypatch: pytest.MonkeyPatch) -> None:
    batches: list[list[int]] = []

    def compiler(kind: str, chunks: list[list[dict[str, Any]]], **_: Any) -> list[Reply]:
        batches.append([len(chunk) for chunk in chunks])
        replies = []
        for chunk in chunks:
            if any(question["layout"] == DEADLY.layout for question in chunk):
                replies.append(Reply("crashed", "signal 11"))
            else:
                answer = {"status": "ok", "word": "0x10", "steps": {}, "text": ""}
                replies.append(Reply("ok", [answer] * len(chunk)))
        return replies

    monkeypatch.setattr(words, "ask", compiler)
    answers = descriptor_words([GOOD, DEADLY, GOOD, GOOD], batch=3)
    assert [one.status for one in answers] == ["ok", "crashed", "ok", "ok"]
    assert [one.word for one in answers] == [16, None, 16, 16]
    assert answers[1].text == "signal 11"
    assert batches == [[3, 1], [1, 1, 1]]
