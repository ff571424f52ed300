"""Write the explorer as one HTML file that contains its style, its script and its first answer.

The controls are filled with the values of a state. The presets are worked examples: common tiles, stages, other element
types, a layout that CuTe printed.

Invariants: a page contains the answer to its question, and no text in the answer can end the script element that
contains it. Every control of a template has the value of the state, as text and not as markup. Every preset has an
answer.

>>> import json, re
>>> html = page({"cell": "11,21"})
>>> baked = json.loads(re.search(r'id="baked">(.*?)</script>', html, re.DOTALL)[1])
>>> baked["answer"]["inspector"]["after"], baked["engine"]
(1434, 'none')
>>> controls, state = '<select name="major"></select> <input name="tile">', {"major": "MN", "tile": '"<'}
>>> fill_controls(controls, state, {"major": ["K", "MN"]})
'<select name="major"><option>K</option><option selected>MN</option></select> <input name="tile" value="&quot;&lt;">'
>>> all(question(preset["question"]) for preset in PRESETS)
True
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from html import escape
from typing import Any
from urllib.parse import quote

from descriptors.errors import DescriptorError, LayoutError
from descriptors.show.browser.folder import fill_template
from descriptors.show.browser.folder import source as shared
from descriptors.show.browser.reply import Answers, refusal
from descriptors.show.explorer.answer import answer, stage_of_tab
from descriptors.show.explorer.offline import packed_elements
from descriptors.show.explorer.question import LONGEST, TABS, Question, derivation, question, view
from descriptors.show.pictures.bank_picture import BanksPicture
from descriptors.show.pictures.level_picture import LevelsPicture
from descriptors.show.stages.view import ACCESSES, COLOURS, LEVELS, LYING
from descriptors.smem.derivation.derive import derive
from descriptors.smem.derivation.verdict import judge
from descriptors.smem.emitters.emit import LANGUAGES
from descriptors.smem.operands.explicit import UNITS
from descriptors.smem.operands.operand import ELEMENT_TYPES, SwizzleMode
from descriptors.smem.words.descriptor import MNEMONICS

#: How the questions of a page are answered: not at all, by a server, or by a worker that runs Python.
ENGINES = ("none", "server", "worker")
#: The scripts of a page, in order.
SCRIPTS = ("linked.js", "kept.js", "page.js")
#: The tags of a link preview, whose picture is a file beside the page.
UNFURLED = """\
<meta property="og:url" content="{url}">
<meta property="og:image" content="{url}picture.png">
<meta property="og:image:width" content="1200">
<meta property="og:image:height" content="630">
<meta name="twitter:card" content="summary_large_image">
"""
#: The parts of the first answer.
WHOLE = ("told", "proof", "stage", "inspector", "code", "story", "edited", "pasted", "links")


def page(question_record: object = None, engine: str = "none", url: str = "", home: str = "") -> str:
    """Return an HTML document that shows the answer to a question.

    Args:
        question_record: the question, in the form that ``answer`` accepts.
        engine: how further questions are answered: ``server``, ``worker``, or ``none`` for a frozen page, which
            contains the pictures of all tabs.
        url: the address of the site, for link previews; "" if it is not known.
        home: the address of the documentation, relative to the page; "" if there is none.

    Raises:
        DescriptorError: if the question has no answer.

    >>> "descriptors explore" in page({}, "server")
    True
    """
    body = dict(question_record) if isinstance(question_record, Mapping) else {}
    first_answer = answer({**body, "want": list(WHOLE)})
    if not first_answer["ok"]:
        raise DescriptorError(first_answer["error"]["message"])
    tabs = {} if engine != "none" else {tab: _tab(body, tab) for tab in TABS}
    first = first_state()
    state = _as_state(first_answer["question"], first)
    baked = {
        "answer": first_answer, "question": state, "first": first, "presets": PRESETS, "engine": engine, "tabs": tabs,
        "kept": "" if engine != "none" else _packed_elements(body), "longest": LONGEST,
    }  # fmt: skip
    script = "\n".join([shared("descriptors.show.browser", "asking.js"), *map(source, SCRIPTS)])
    early = source("early.js")
    parts = _first_paint(first_answer) | _lists(first | state) | {"script": script, "early": early, "engine": engine}
    parts |= {"policy": _policy((early, script), engine), "disabled": "disabled" if engine == "none" else ""}
    parts["unfurled"] = _unfurled(url)
    parts["more"] = ' <a href="about.html">More about it.</a>' if engine == "worker" else ""
    parts["more"] += f' <a href="{escape(home)}">Documentation.</a>' if home else ""
    parts["style"] = shared("descriptors.show.browser", "colours.css") + source("page.css")
    parts["baked"] = json.dumps(baked, separators=(",", ":")).replace("<", "\\u003c")
    return fill_template(fill_controls(source("page.html"), first | state, choices()), parts)


def about_page(url: str = "") -> str:
    """Return a document that explains the page of a site, with pictures and links to worked examples.

    Args:
        url: the address of the site; "" if it is not known.

    >>> about_page().count("<img "), "og:image" in about_page("https://example.org")
    (2, True)
    """
    d = derive((128, 128), "bf16", "K", "128B", (64, 16), verify=False)
    pictures = {kind: make(d)._repr_html_() for kind, make in (("banks", BanksPicture), ("levels", LevelsPicture))}
    examples = [
        f'<li><a href="./{state_address(preset["question"])}">{_text(preset["name"])}</a></li>' for preset in PRESETS
    ]
    grades = {arch: judge(derivation(question({"arch": arch}))).evidence for arch in choices()["arch"]}
    return fill_template(
        source("about.html"),
        pictures
        | {
            "about": "See which bytes of shared memory a tensor core reads, and check your descriptor.",
            "unfurled": _unfurled(url),
            "style": shared("descriptors.show.browser", "colours.css"),
            "examples": "\n".join(examples),
            "evidence": escape(
                "Evidence of the read model: " + "; ".join(f"{a}: {g}" for a, g in grades.items()) + "."
            ),
        },
    )


def state_address(state: Mapping[str, Any]) -> str:
    """Return a state as the fragment of the address of the page.

    Args:
        state: the state, as ``Question.state`` returns it.

    >>> state_address({"tile": "128x64", "layout": "8:1"}), state_address({})
    ('#tile=128x64&layout=8%3A1', '')
    """
    parts = [
        f"{key}={quote(json.dumps(value) if isinstance(value, Mapping) else str(value), safe='')}"
        for key, value in state.items()
    ]
    return "#" + "&".join(parts) if parts else ""


def _unfurled(url: str) -> str:
    """Return the tags of a link preview; "" if the address of the page is not known."""
    return UNFURLED.format(url=escape(url.rstrip("/") + "/")) if url else ""


def _packed_elements(body: Mapping[str, Any]) -> str:
    """Return the packed answers about all elements, for a page without an engine."""
    whole_question = question({**body, "want": []})
    return packed_elements(whole_question, view(whole_question))


def _first_paint(first_answer: Mapping[str, Any]) -> dict[str, str]:
    """Return the parts that a page shows before its script runs."""
    picture, summary, edited = first_answer["stage"], first_answer["told"], first_answer["edited"]
    judged = edited or first_answer["proof"]
    refused = judged.get("error", {}).get("message", "")
    verdict = edited["verdict"] if edited else judged.get("headline", refused)
    word = edited["word"] if edited else summary["word"]
    size = {name: picture.get(name, 1) for name in ("width", "height")}
    return {
        "word": escape(word),
        "proof": escape(verdict),
        "tone": "bad" if refused else judged["tone"],
        "scope": "" if edited else escape(judged.get("scope", "")),
        "warnings": escape("\n".join(f"warning: {warning}" for warning in judged.get("warnings", ()))),
        "subtile": ",".join(map(str, summary["subtiles"]["chosen"])),
        "summary": escape(summary["summary"]),
        "headline": escape(f"{verdict} \u00b7 {summary['summary']}" if edited else summary["summary"]),
        "about": escape(
            f"Tensor core descriptor {word}: {verdict}. The page shows which bytes of shared memory it reads, 16 bytes "
            "at a time, with and without the swizzle."
        ),
        "title": escape(picture.get("title", "")),
        "svg": picture.get("svg", ""),
        "inset": picture.get("inset", ""),
        "across": f"--w:{size['width']};--h:{size['height']}",
        "said": escape(picture.get("said", "")),
    }


def _lists(state: Mapping[str, Any]) -> dict[str, str]:
    """Return the lists of the page that are not keys of a question."""
    offered = choices()
    return {
        "presets": preset_options([preset["name"] for preset in PRESETS]),
        "languages": options(offered["language"], offered["language"][0]),
        "levels": checkboxes(offered["levels"], str(state["levels"]).split(",")),
    }


def _as_state(state: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a question in the form of its controls, without names that the first state does not have."""
    return {
        name: ",".join(map(str, value)) if isinstance(value, (list, tuple)) else value
        for name, value in state.items()
        if name in first
    }


def _tab(body: Mapping[str, Any], tab: str) -> Any:
    """Return the picture of a tab, or the error if there is none."""
    try:
        return stage_of_tab(tab, view(question({**body, "tab": tab})))
    except LayoutError as error:
        return {"error": refusal(error)}


def _policy(scripts: Sequence[str], engine: str) -> str:
    """Return the content security policy, which allows only the scripts and the engine of the page."""
    digests = [b64encode(sha256(script.encode()).digest()).decode("ascii") for script in scripts]
    own = " ".join(f"'sha256-{digest}'" for digest in digests)
    directives = ["default-src 'none'", f"script-src {own}", "style-src 'unsafe-inline'", "img-src data: blob:"]
    directives += ["base-uri 'none'", "form-action 'none'"]
    if engine == "server":
        directives.append("connect-src 'self'")
    if engine == "worker":
        directives[1] += " 'self' 'wasm-unsafe-eval'"
        directives += ["worker-src 'self'", "connect-src 'self'"]
    return "; ".join(directives)


def frozen_page(question_record: object) -> dict[str, Any]:
    """Return a page of one state as an answer, with ``html`` or ``error``.

    >>> sorted(frozen_page({"tile": "7x7"}))
    ['error', 'ok']
    """
    try:
        return {"ok": True, "html": page(question_record)}
    except DescriptorError as error:
        return {"ok": False, "error": refusal(error)}


#: The questions that a server or a worker answers.
ANSWERS: Answers = {"answer": answer, "page": frozen_page}


def source(name: str) -> str:
    """Return a web file of the explorer."""
    return shared("descriptors.show.explorer", name)


PRESETS: tuple[dict[str, Any], ...] = (
    {"name": "K-major 128B, 128 × 128 bf16", "question": {}},
    {"name": "MN-major 64B, 128 × 128 bf16", "question": {"major": "MN", "swizzle": "64B", "order": "1,0"}},
    {"name": "64 × 64 tf32 on sm90", "question": {"tile": "64x64", "dtype": "tf32", "mma": "64x8", "arch": "sm90"}},
    {"name": "e4m3, 64B, 128 × 64", "question": {"tile": "128x64", "dtype": "e4m3", "swizzle": "64B", "mma": "64x32"}},
    {"name": "four stages", "question": {"tile": "128x64x4", "stage": 2, "tab": "memory"}},
    {"name": "no swizzle", "question": {"tile": "64x64", "swizzle": "none", "colour": "bank"}},
    {"name": "bank conflicts of eight rows", "question": {"tab": "banks"}},
    {"name": "packed e2m1", "question": {"tile": "128x256", "dtype": "e2m1", "mma": "128x64"}},
    {
        "name": "a layout that CuTe printed",
        "question": {
            "layout": "Sw<3,4,3> o smem_ptr[16b](0x7f2a00000400) o (64,64):(64,1)",
            "unit": "cute", "mma": "64x16", "major": "", "swizzle": "", "arch": "sm90",
        },
    },
    {"name": "any swizzle: S<3,4,4>", "question": {"paste": "S<3,4,4>"}},
    {
        "name": "a tiled copy: ldmatrix.x4",
        "question": {"paste": "make_tiled_copy(ldmatrix.x4, ((4,8),(2,2,2)):((32,1),(16,8,128)), (16,16)) at=5,3"},
    },
    {"name": "a word with a wrong SBO", "question": {"edit": {"stride_byte_offset": "512"}}},
)  # fmt: skip


def choices() -> dict[str, list[str]]:
    """Return the choices of the lists of the page, with the names that the engine uses.

    >>> choices()["arch"]
    ['sm90', 'sm100']
    """
    return {
        "dtype": list(ELEMENT_TYPES),
        "major": ["K", "MN"],
        "swizzle": [str(mode) for mode in SwizzleMode],
        "arch": list(MNEMONICS),
        "operand": ["", "A", "B"],
        "unit": list(UNITS),
        "colour": list(COLOURS),
        "levels": list(LEVELS),
        "access": list(ACCESSES),
        "lying": list(LYING),
        "tab": list(TABS),
        "language": list(LANGUAGES),
    }


def first_state() -> dict[str, Any]:
    """Return the default state of a page: every key, as the texts and numbers of a form."""
    state = asdict(Question())
    state["edit"] = {}
    return {
        name: ("x" if name in ("tile", "mma") else ",").join(map(str, value)) if isinstance(value, tuple) else value
        for name, value in state.items()
    }


def fill_controls(template: str, state: Mapping[str, Any], choices: Mapping[str, Sequence[str]]) -> str:
    """Fill the lists, fields and checkboxes of a template with the values of a state.

    Args:
        template: HTML with ``<select name="x"></select>`` and ``<input name="x" ...>``; ``type="checkbox"`` is a flag.
        state: the value of each name.
        choices: the options of each list that is empty in the template.
    """
    template = re.sub(
        r'(<select name="(\w+)">)(</select>)',
        lambda match: match[1] + options(choices[match[2]], str(state[match[2]])) + match[3],
        template,
    )
    return re.sub(r'<input ([^>]*?)name="(\w+)"([^>]*)>', lambda match: _input(match, state), template)


def options(names: Sequence[str], selected_names: str) -> str:
    """Return the options of a list. A selected value that is not in the list is appended.

    The value "" has the label "either" if the list contains it, else "its own", which is that of the layout.

    >>> options(["", "A"], "B")
    '<option value="">either</option><option>A</option><option selected>B</option>'
    >>> options(["K", "MN"], "")
    '<option>K</option><option>MN</option><option value="" selected>its own</option>'
    """
    listed, nothing = (
        names if selected_names in names else [*names, selected_names],
        "either" if "" in names else "its own",
    )
    return "".join(_option(name, nothing, selected=name == selected_names) for name in listed)


def preset_options(names: Sequence[str]) -> str:
    """Return the options of the list of examples, whose values are their numbers; the first option has no value.

    >>> preset_options(["one"])
    '<option value="">choose…</option><option value="0">one</option>'
    """
    rows = [f'<option value="{number}">{_text(name)}</option>' for number, name in enumerate(names)]
    return "".join(['<option value="">choose…</option>', *rows])


def checkboxes(names: Sequence[str], selected_names: Sequence[str]) -> str:
    """Return a checkbox for each name.

    >>> checkboxes(["tile"], ["tile"])
    '<label><input type="checkbox" value="tile" checked>tile</label>'
    """
    ticks = [(_text(name), " checked" if name in selected_names else "") for name in names]
    return "".join(f'<label><input type="checkbox" value="{name}"{tick}>{name}</label>' for name, tick in ticks)


def _text(value: str) -> str:
    """Escape a value: it contains no markup, and no placeholder of a template."""
    return escape(value).replace("{", "&#123;")


def _option(name: str, nothing: str, *, selected: bool) -> str:
    value = "" if name else ' value=""'
    return f"<option{value}{' selected' if selected else ''}>{_text(name) or nothing}</option>"


def _input(match: re.Match[str], state: Mapping[str, Any]) -> str:
    before, name, after = match.groups()
    if 'type="checkbox"' in before:
        attributes = " checked" if state[name] else ""
    else:
        attributes = f' value="{_text(str(state[name]))}"'
    return f'<input {before}name="{name}"{attributes}{after}>'
