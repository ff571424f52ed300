"""What the builder writes with: templates, sentences with code in them, Markdown, its examples, whole documents.

The Markdown is turned into HTML by markdown-it-py, which the extra ``course`` brings. Law: what an author or a student
writes is text; it never becomes an element.

>>> inline("the stride `<4:1>` & more")
'the stride <code>&lt;4:1&gt;</code> &amp; more'

The pieces of a text hold every example of it, in order.

>>> lines = ["Add:", "```python", ">>> 1 + 1", "2", "", "```", "So."]
>>> pieces(chr(10).join(lines))
['Add:', Example(typed='1 + 1', printed='2', source='>>> 1 + 1\\n2'), 'So.']

The policy of a document that stands alone lets its own script run, and nothing else.

>>> html = standalone("A", "<p>b</p>", "slides", ["sheet.css"], "slides.js")
>>> "default-src 'none'" in html, html.count("<script>"), "http:" in html
(True, 1, False)
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import dataclass
from doctest import DocTestParser
from hashlib import sha256
from html import escape
from pathlib import Path

from descriptors.errors import DescriptorError
from descriptors.show.browser.folder import fill_template, source

#: What a page may do that asks nobody anything.
STILL = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
#: What a page may do that has an engine: run the site's scripts and ask the site, and nothing else.
LIVE = f"{STILL}; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'"


_STRONG, _EMPHASIS = re.compile(r"\*\*([^*]+)\*\*"), re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)")


def web(name: str) -> str:
    """A file of the folder ``web``: a template, a style sheet, a script.

    >>> web("folded.html")[:8]
    '<details'
    """
    return (Path(__file__).parent / "web" / name).read_text(encoding="utf-8")


def part(template: str, /, **places: str) -> str:
    """A template of the course with its places filled in; what is given must be HTML.

    >>> part("folded.html", kind="hint", name="hint 1", text="one")
    '<details class="hint"><summary>hint 1</summary><p>one</p></details>\\n'
    """
    return fill_template(web(template), places)


def inline(text: str) -> str:
    """A sentence with code in backquotes, words in italics and in bold, as HTML; no more of Markdown stands in one.

    >>> inline("2*3 and 3*4 are `2*3`; *so* it is **said**")
    '2*3 and 3*4 are <code>2*3</code>; <em>so</em> it is <strong>said</strong>'
    """
    pieces = escape(text.strip(), quote=False).split("`")
    return "".join(f"<code>{piece}</code>" if k % 2 else _marked(piece) for k, piece in enumerate(pieces))


def _marked(text: str) -> str:
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", text))


def markdown(text: str) -> str:
    """A text in Markdown, with tables, as HTML.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise DescriptorError(
            "course: pages must have markdown-it-py, found none; pip install '.[course]' in a checkout"
        ) from error
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def document(title: str, main: str, header: str = "", footer: str = "", policy: str = STILL) -> str:
    """A whole page around what stands in it.

    >>> document("One & two", "<h1>One</h1>").count("One &amp; two")
    1
    """
    style = source("descriptors.show.browser", "colours.css") + web("course.css")
    return part("page.html", title=escape(title), policy=policy, style=style, header=header, main=main, footer=footer)


def standalone(title: str, body: str, kind: str, styles: Iterable[str], script: str = "") -> str:
    """A whole standalone.

    Args:
        title: what the window is called, as text.
        body: the HTML of its body.
        kind: the class of the body.
        styles: names of style sheets in the folder ``web`` of the lessons.
        script: the name of its script there, if it has one.

    >>> standalone("A & B", "", "card", []).count("A &amp; B")
    1
    """
    text = web(script) if script else ""
    style = source("descriptors.show.browser", "colours.css") + "".join(web(name) for name in styles)
    own = f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'" if text else "'none'"
    policy = f"{STILL}; script-src {own}"
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    head += f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{escape(title)}</title>'
    head += f'<link rel="icon" href="data:,"><style>\n{style}</style>'
    run = f"<script>{text}</script>" if text else ""
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body class="{kind}">\n{body}\n{run}</body></html>\n'


_CODE = re.compile(r"^```python\n(.*?)^```$\n?", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Example:
    """Lines of Python without prompts, what they print (of an error its last line), and both as the text has them."""

    typed: str
    printed: str
    source: str


def pieces(text: str) -> list[str | Example]:
    """A text in Markdown, and its examples, in order.

    >>> error = ["```python", ">>> 0 / 0", "Traceback (most recent call last):", "Error: no", "```"]
    >>> pieces(chr(10).join(error))[0].printed
    'Error: no'
    """
    texts: list[str | Example] = []
    for k, piece in enumerate(_CODE.split(text)):
        if k % 2:
            texts.append(_example(piece))
        elif piece.strip():
            texts.append(piece.strip())
    return texts


def _example(block: str) -> Example:
    parts = DocTestParser().get_examples(block)
    printed = "".join(part.exc_msg or part.want for part in parts)
    typed = "".join(part.source for part in parts)
    return Example(typed.rstrip(), printed.replace("<BLANKLINE>", "").rstrip(), block.strip())
