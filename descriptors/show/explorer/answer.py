"""Answer a question of the explorer: plain data in, plain data out. An error of the question is an answer too.

Invariant: ``answer`` never raises, and the answer to any question can be written as JSON.

>>> import json
>>> questions = [{}, None, {"tile": "7x7"}, {"swizzle": "128B_BASE32B"}, {"layout": "<script>"}, {"want": ["nothing"]}]
>>> [json.loads(json.dumps(answer(question)))["ok"] for question in questions]
[True, False, False, False, False, False]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from descriptors.answers import tell
from descriptors.errors import ChoiceError, NotCanonicalError
from descriptors.show.browser.reply import REFUSALS, refusal
from descriptors.show.explorer import question as given
from descriptors.show.explorer.highlights import field_elements, walks
from descriptors.show.explorer.inspector import inspect
from descriptors.show.explorer.paste import paste_answer
from descriptors.show.explorer.question import Question, comparison, own_word, question, requested_parts
from descriptors.show.explorer.tile_summary import summary
from descriptors.show.stages.accumulator_stage import registers, tensor_memory
from descriptors.show.stages.atom_stage import atom
from descriptors.show.stages.bank_stage import banks
from descriptors.show.stages.stage import Stage
from descriptors.show.stages.tile_stage import lines, tile
from descriptors.show.stages.view import View
from descriptors.smem.derivation.verdict import judge
from descriptors.smem.emitters.emit import LANGUAGES, emit
from descriptors.text import word_text

#: The function that draws each tab.
STAGES: Mapping[str, Callable[[View], Stage]] = {
    "tile": tile,
    "memory": lines,
    "atom": atom,
    "banks": banks,
    "tensor": tensor_memory,
    "registers": registers,
}


def answer(body: object) -> dict[str, Any]:
    """Return the answer to a question of a page.

    Args:
        body: a record, as ``json.loads`` returns it, with keys of ``question.Question`` and two more. ``known`` is the
            checksum of the picture that the page shows, which is not sent again. ``want`` lists the parts of the
            answer: ``told`` (descriptor, fields, steps, subtiles, commands), ``proof``, ``stage`` (the picture of the
            tab, with its cells), ``inspector``, ``code`` (in every language), ``story`` (the derivation as text),
            ``edited`` (what a changed descriptor reads), ``pasted`` (what the box contains), ``links`` (the elements
            that belong to a descriptor field or to a mode of a layout).

    Returns:
        ``ok``, each part under its name, and ``question``, the state as it was understood. If the question cannot be
        answered, there is an ``error`` with the engine's message instead; if one part cannot, that part has an
        ``error``.

    >>> reply = answer({"tile": "128x64", "want": ["told"]})
    >>> reply["told"]["word"], reply["question"]
    ('0x4000404000010000', {'tile': '128x64'})
    >>> print(answer({"swizzle": "128B_BASE32B"})["error"]["message"].partition(",")[0])
    legality: swizzle is 128B_BASE32B
    """
    try:
        q = question(body)
        assert isinstance(body, Mapping)
        parts = requested_parts(body)
    except REFUSALS as error:
        return {"ok": False, "error": refusal(error)}
    record: dict[str, Any] = {"ok": True, "question": q.state()}
    boxed = _part(lambda: paste_answer(q)) if "pasted" in parts else None
    try:
        view = given.view(q)
    except REFUSALS as error:
        refused = _for_the_page(refusal(error))
        if q.layout.strip() and isinstance(error, NotCanonicalError):
            way_out = "paste the layout into the box at the top to draw it without a descriptor"
            refused |= {"message": f"{refused['message']}; {way_out}", "help": [*refused["help"], way_out]}
        return {"ok": False, "question": q.state(), "error": refused, "pasted": boxed}
    makers = _makers(q, view, str(body.get("known", "")))
    answers_by_part = {part: boxed if part == "pasted" else _part(makers[part]) for part in parts}
    for part in ("told", "edited"):  # no other part can be shown without the descriptor of the tile, or the changed one
        if wrong := (answers_by_part.get(part) or {}).get("error"):
            return {"ok": False, "question": q.state(), "error": _for_the_page(wrong), "pasted": boxed}
    return record | answers_by_part


def _for_the_page(error: dict[str, Any]) -> dict[str, Any]:
    """Return an error without advice about an argument that the page has no control for.

    >>> _for_the_page({"message": "derive: too large; use --capacity none", "help": ["use --capacity none"]})
    {'message': 'derive: too large', 'help': []}
    """
    useless = "use --capacity none"
    ways_out = [way_out for way_out in error["help"] if way_out != useless]
    return error | {"message": error["message"].removesuffix(f"; {useless}"), "help": ways_out}


def _part(make: Callable[[], Any]) -> Any:
    try:
        return make()
    except REFUSALS as error:
        return {"error": refusal(error)}


def _makers(q: Question, view: View, known: str) -> dict[str, Callable[[], Any]]:
    d, base = view.derivation, view.base
    return {
        "told": lambda: summary(q, view),
        "proof": lambda: _proof(view),
        "stage": lambda: stage_of_tab(q.tab, view, known),
        "inspector": lambda: inspect(view),
        "code": lambda: {language: emit(d, language) for language in LANGUAGES},
        "story": lambda: tell(d, steps=True, base=base, report=given.proof(d, base)),
        "edited": lambda: comparison(view),
        "links": lambda: _links(view),
    }


def _links(view: View) -> dict[str, Any]:
    d, a = view.derivation, view.anatomy
    return {"word": word_text(own_word(view)), "fields": field_elements(view), "steps": walks(d), "piece": list(a.unit)}


def _proof(view: View) -> dict[str, Any]:
    verdict = judge(view.derivation, view.base, given.proof(view.derivation, view.base))
    ok = verdict.state == "proved"
    return {"ok": ok, **verdict.record(), "tone": verdict.tone, "headline": verdict.headline, "text": str(verdict)}


def stage_of_tab(tab: str, view: View, known: str = "") -> dict[str, Any]:
    """Return the picture of a tab with its cells, without the SVG if the page already shows it.

    Args:
        tab: the name of the tab.
        view: the tile and the chosen element.
        known: the checksum of the picture that the page shows.

    Raises:
        DescriptorError: if there is no such tab, or it cannot show this tile.
    """
    if tab not in STAGES:
        raise ChoiceError("explore: tab", tab, STAGES)
    return STAGES[tab](view).record(known)
