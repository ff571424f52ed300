"""The page as one file: its first answer baked in, its style and script inside, nothing loaded from elsewhere.

Law: a page holds the answer to its question, and no text of it can end the script that holds it.

>>> import json, re
>>> made = page({"cell": "11,21"})
>>> held = json.loads(re.search(r'id="baked">(.*?)</script>', made, re.DOTALL)[1])
>>> held["answer"]["inspector"]["after"], held["engine"]
(1434, 'none')
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from hashlib import sha256
from html import escape
from typing import Any

from descriptors.browser.folder import source as shared
from descriptors.browser.reply import Answers
from descriptors.browser.template import filled
from descriptors.errors import DescriptorError, LayoutError
from descriptors.explorer.answer import answer, stage
from descriptors.explorer.controls import boxes, numbered, options, valued
from descriptors.explorer.parts.asked import view
from descriptors.explorer.parts.kept import kept
from descriptors.explorer.parts.question import LONGEST, TABS, question
from descriptors.explorer.presets import PRESETS, choices, first_state

#: Who answers a page's questions: nobody, a server, a worker with Python in it.
ENGINES = ("none", "server", "worker")
#: The scripts of a page, one after the other.
SCRIPTS = ("linked.js", "kept.js", "page.js")
#: All that a page shows at once.
WHOLE = ("told", "proof", "stage", "inspector", "code", "story", "edited", "pasted", "links")


def page(asked: object = None, engine: str = "none") -> str:
    """An HTML document that shows the answer to a question.

    Args:
        asked: the question, as ``answer`` takes it.
        engine: who answers further ones: ``none`` for a frozen page, which has the pictures of all tabs; ``server``, or
            ``worker``.

    Raises:
        DescriptorError: if the question has no answer.

    >>> "descriptors explore" in page({}, "server")
    True
    """
    given = dict(asked) if isinstance(asked, Mapping) else {}
    found = answer({**given, "want": list(WHOLE)})
    if not found["ok"]:
        raise DescriptorError(found["error"]["message"])
    tabs = {} if engine != "none" else {tab: _tab(given, tab) for tab in TABS}
    first = first_state()
    state = _as_state(found["question"], first)
    held = {
        "answer": found, "question": state, "first": first, "presets": PRESETS, "engine": engine, "tabs": tabs,
        "kept": "" if engine != "none" else _kept(given), "longest": LONGEST,
    }  # fmt: skip
    script = "\n".join([shared("descriptors.browser", "asking.js"), *map(source, SCRIPTS)])
    parts = _first_paint(found) | _lists(first | state) | {"policy": _policy(script, engine), "script": script}
    parts["style"] = shared("descriptors.browser", "colours.css") + source("page.css")
    parts["baked"] = json.dumps(held, separators=(",", ":")).replace("<", "\\u003c")
    return filled(valued(source("page.html"), first | state, choices()), parts)


def _kept(given: Mapping[str, Any]) -> str:
    """Every element of the state, for a page that nobody answers."""
    asked = question({**given, "want": []})
    return kept(asked, view(asked))


def _first_paint(found: Mapping[str, Any]) -> dict[str, str]:
    """What a page shows before its script has run."""
    drawn = found["stage"]
    return {
        "word": escape(found["told"]["word"]),
        "proof": escape(found["proof"].get("headline", "")),
        "title": escape(drawn.get("title", "")),
        "svg": drawn.get("svg", ""),
        "across": f"max-width:{1.6 * drawn['width']:.0f}px" if "width" in drawn else "",
        "said": escape(drawn.get("said", "")),
    }


def _lists(state: Mapping[str, Any]) -> dict[str, str]:
    """The lists of the page that are no keys of a question."""
    offered = choices()
    return {
        "presets": numbered([one["name"] for one in PRESETS]),
        "languages": options(offered["language"], offered["language"][0]),
        "levels": boxes(offered["levels"], str(state["levels"]).split(",")),
    }


def frozen(asked: object) -> dict[str, Any]:
    """A page of one state, as an answer: ``html``, or the ``error``.

    >>> sorted(frozen({"tile": "7x7"}))
    ['error', 'ok']
    """
    try:
        return {"ok": True, "html": page(asked)}
    except DescriptorError as error:
        return {"ok": False, "error": {"type": type(error).__name__, "message": str(error)}}


#: What a page may ask, of a server or of a worker.
ANSWERS: Answers = {"answer": answer, "page": frozen}


def source(name: str) -> str:
    """A file of the page."""
    return shared("descriptors.explorer", name)


def _as_state(found: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """What of a question differs from the first state, in the form of its controls."""
    return {
        name: ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value
        for name, value in found.items()
        if name in first
    }


def _tab(given: Mapping[str, Any], tab: str) -> Any:
    """The picture of a tab, or why there is none."""
    try:
        return stage(tab, view(question({**given, "tab": tab})))
    except LayoutError as error:
        return {"error": {"type": type(error).__name__, "message": str(error)}}


def _policy(script: str, engine: str) -> str:
    """What the page may do: run its own script, and ask its own engine; nothing else."""
    own = f"'sha256-{b64encode(sha256(script.encode()).digest()).decode('ascii')}'"
    told = ["default-src 'none'", f"script-src {own}", "style-src 'unsafe-inline'", "img-src data: blob:"]
    told += ["base-uri 'none'", "form-action 'none'"]
    if engine == "server":
        told.append("connect-src 'self'")
    if engine == "worker":
        told[1] += " 'self' 'wasm-unsafe-eval'"
        told += ["worker-src 'self'", "connect-src 'self'"]
    return "; ".join(told)
