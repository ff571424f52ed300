"""One question, one answer: every preset, every tab, every refusal, whatever is sent."""

from __future__ import annotations

import json
from typing import Any
from xml.etree import ElementTree

import pytest
from each import each
from hypothesis import given
from hypothesis import strategies as st
from records import JSON

from descriptors import derive, emit, proved, tell, verify
from descriptors.show.explorer.answer import STAGES, answer
from descriptors.show.explorer.page import PRESETS, choices, first_state
from descriptors.show.explorer.question import PARTS, TABS, derivation, question

EVERYTHING = list(PARTS)


@each("tab", TABS)
@each("preset", PRESETS, ids=lambda preset: preset["name"])
def test_every_preset_has_an_answer_in_every_tab(preset: dict[str, Any], tab: str) -> None:
    reply = answer({**preset["question"], "tab": tab, "want": EVERYTHING})
    assert reply["ok"], reply
    json.dumps(reply)
    for part in EVERYTHING:
        value = reply[part]
        if isinstance(value, dict) and "error" in value:
            assert (part, tab, reply["told"]["word"][:3]) == ("stage", "tensor", "0x4"), value
            assert "sm90" in value["error"]["message"]
        elif part == "stage":
            ElementTree.fromstring(value["svg"])
    assert reply["proof"]["ok"]


def test_the_answer_is_what_the_engine_says() -> None:
    d = derive(tile=(128, 64), dtype="e4m3", major="K", swizzle="64B", mma=(64, 32), arch="sm90")
    body = {"tile": "128x64", "dtype": "e4m3", "swizzle": "64B", "mma": "64x32", "arch": "sm90", "want": EVERYTHING}
    reply = answer(body)
    assert reply["told"]["word"] == f"0x{d.descriptor.encode():016x}"
    assert reply["told"]["subtiles"]["starts"] == [list(row) for row in d.offsets_bytes()]
    proof = proved(d, walk=True)
    assert reply["proof"]["headline"] == tell(proof).splitlines()[0] and proof.report == verify(d)
    assert "by theorem for every tile" in reply["proof"]["text"]
    assert reply["code"] == {language: emit(d, language) for language in choices()["language"]}
    assert reply["story"] == tell(d, steps=True, report=proof)
    layouts = (d.smem_tile, d.partitioned, d.recast, d.canonical, d.advance)
    for step, layout in zip(reply["told"]["steps"], layouts, strict=True):
        assert any(str(layout) in line for line in step["lines"])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"swizzle": "128B_BASE32B"}, "legality: swizzle is 128B_BASE32B, but must be none, 32B, 64B or 128B"),
        ({"tile": "100x64"}, "tile MN is 100, which is not a multiple of"),
        ({"tile": "99999999x99999999"}, "a CTA has 232448 bytes"),
        ({"dtype": "bf17"}, "did you mean bf16?"),
        ({"cell": "128,0"}, "the cell is (128,0), which is not an element of the 128x128 tile"),
        ({"layout": "<script>alert(1)</script>"}, "notation"),
        (
            {"layout": "(64,16):(64,1)", "major": "", "swizzle": "", "mma": "48x16"},
            "tile MN is 64, which is not a multiple of",
        ),
        ({"mma": ""}, "mma is missing"),
        ({"lanes": "4", "tab": "banks"}, "lanes"),
    ],
)
def test_an_impossible_choice_is_answered_in_the_engines_own_sentence(body: dict[str, Any], message: str) -> None:
    reply = answer(body)
    assert not reply["ok"]
    assert message in reply["error"]["message"]


@given(st.dictionaries(st.sampled_from([*question({}).__slots__, "want", "other"]), JSON, max_size=4))
def test_whatever_is_asked_the_answer_is_a_record(body: dict[str, Any]) -> None:
    reply = answer(body)
    assert json.loads(json.dumps(reply))["ok"] in (True, False)
    assert reply["ok"] or reply["error"]["message"]


@pytest.mark.parametrize(
    "text",
    ["(" * 15_000, "1" * 15_000, "((2," * 3000, "S<3,3,3> o " * 1000, "composition(" * 900, "(9999999999,9):(1,1)"],
    ids=lambda text: text[:12],
)
def test_texts_that_are_too_deep_or_too_large_are_refused(text: str) -> None:
    assert not answer({"layout": text})["ok"]
    assert (
        not answer({"lanes": text, "tab": "banks"})["ok"] or "error" in answer({"lanes": text, "tab": "banks"})["stage"]
    )
    assert answer({"paste": text, "want": ["pasted"]})["pasted"]["error"]["message"]


def test_the_texts_of_a_question_are_text_in_its_picture() -> None:
    reply = answer({"layout": "(64,16):(64,1) <b>&", "want": ["stage"]})
    assert not reply["ok"], "no layout has such signs, and the message holds them as they are"
    assert "<b>&" in reply["error"]["message"] or "notation" in reply["error"]["message"]


def test_one_operand_is_derived_once() -> None:
    assert derivation(question({"cell": "3,4"})) is derivation(question({"tab": "atom"}))


def test_a_stage_is_shown_whose_word_is_its_own() -> None:
    d = derive((128, 64, 4), "bf16", "K", "128B", (64, 16))
    reply = answer({"tile": "128x64x4", "stage": 2, "cell": "70,21", "want": ["told"]})
    assert reply["told"]["word"] == f"0x{d.word(1, 1, stage=2):016x}"
    assert reply["told"]["stages"] == 4


def test_tabs_are_all_drawn_and_the_first_state_is_a_question() -> None:
    assert set(STAGES) == set(TABS) == set(choices()["tab"])
    assert question(first_state()) == question({})


def test_a_drawing_that_the_page_knows_is_not_sent_again() -> None:
    first = answer({"want": ["stage"]})["stage"]
    again = answer({"cell": "70,21", "known": first["picture"], "want": ["stage"]})["stage"]
    assert "svg" not in again and again["marks"] != first["marks"]
    other = answer({"swizzle": "64B", "known": first["picture"], "want": ["stage"]})["stage"]
    assert other["svg"] != first["svg"] and other["picture"] != first["picture"]


def test_a_layout_that_no_word_describes_is_drawn_by_the_box() -> None:
    layout = "S<2,3,4> o 0 o (64,64):(64,1)"
    assert answer({"layout": layout})["error"]["message"].endswith("to draw it without a descriptor")
    assert answer({"paste": layout, "want": ["pasted"]})["pasted"]["picture"]["grids"]
