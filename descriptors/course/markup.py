"""What pages of lessons are written with: templates, sentences with code in them, Markdown, the document around.

The Markdown is turned into HTML by markdown-it-py, which the extra ``course`` brings. Law: what an author or a student
writes is text; it never becomes an element.

>>> inline("the stride `<4:1>` & more")
'the stride <code>&lt;4:1&gt;</code> &amp; more'
"""

from __future__ import annotations

import re
from html import escape

from descriptors.errors import DescriptorError
from descriptors.show.browser.folder import fill_template, source

#: What a page may do that asks nobody anything.
STILL = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
#: What a page may do that has an engine: run the site's scripts and ask the site, and nothing else.
LIVE = f"{STILL}; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'"


_STRONG, _EMPHASIS = re.compile(r"\*\*([^*]+)\*\*"), re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)")


def part(template: str, /, **places: str) -> str:
    """A template of the course with its places filled in; what is given must be HTML.

    >>> part("folded.html", kind="hint", name="hint 1", text="one")
    '<details class="hint"><summary>hint 1</summary><p>one</p></details>\\n'
    """
    return fill_template(source("descriptors.course", template), places)


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
            "course: pages must have markdown-it-py, found none; pip install 'layoutalg[course]'"
        ) from error
    return str(MarkdownIt("commonmark", {"html": False}).enable("table").render(text))


def document(title: str, main: str, header: str = "", footer: str = "", policy: str = STILL) -> str:
    """A whole page around what stands in it.

    >>> document("One & two", "<h1>One</h1>").count("One &amp; two")
    1
    """
    style = source("descriptors.show.browser", "colours.css") + source("descriptors.course", "course.css")
    return part("page.html", title=escape(title), policy=policy, style=style, header=header, main=main, footer=footer)
