"""Questions of a page in JSON: answered by the function that is named, or refused as a record."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import JSON

from descriptors.show.browser.reply import reply
from descriptors.show.explorer.answer import answer
from descriptors.show.explorer.page import ANSWERS


def test_an_answer_is_that_of_the_function_that_is_named() -> None:
    body = {"tile": "128x64", "want": ["told"]}
    assert json.loads(reply(ANSWERS, "answer", json.dumps(body))) == answer(body)
    assert json.loads(reply(ANSWERS, "page", "{}"))["html"].startswith("<!doctype html>")


@given(JSON)
def test_what_is_asked_arrives_as_it_was_sent(body: object) -> None:
    sent = json.dumps({"asked": body})
    assert reply({"echo": lambda one: {"asked": one}}, "echo", json.dumps(body)) == sent


@pytest.mark.parametrize("text", ["", "{", "[" * 20_000, "nul", '"\x00'])
def test_what_is_no_json_is_refused(text: str) -> None:
    record = json.loads(reply(ANSWERS, "answer", text))
    assert record["ok"] is False and record["error"]["message"].startswith("page: the question is not JSON")


def test_an_error_that_nobody_foresaw_is_told_in_one_line() -> None:
    def missing(body: object) -> dict[str, object]:
        raise ModuleNotFoundError("No module named 'numpy'\nSee elsewhere.")

    error = json.loads(reply({"ask": missing}, "ask", "{}"))["error"]
    message = "page: the question has no answer (ModuleNotFoundError: No module named 'numpy')"
    assert (error["type"], error["message"]) == ("ModuleNotFoundError", message)
    assert json.loads(reply({"ask": lambda asked: {"set": {1}}}, "ask", "{}"))["error"]["type"] == "TypeError"


@given(st.text().filter(lambda path: path not in ANSWERS))
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    assert "no answer has the name" in json.loads(reply(ANSWERS, path, "{}"))["error"]["message"]
