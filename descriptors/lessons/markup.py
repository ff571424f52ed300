"""Markdown as HTML: sentences with code in them by ourselves, whole texts by markdown-it-py, from the extra ``course``.

Law: what a sentence says is text, never a tag.

>>> inline("`a<b` is *small* & **short**")
'<code>a&lt;b</code> is <em>small</em> &amp; <strong>short</strong>'
"""

from __future__ import annotations

import re
from html import escape

from descriptors.errors import DescriptorError

_STRONG, _EMPHASIS = re.compile(r"\*\*([^*]+)\*\*"), re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?!\w)")


def inline(text: str) -> str:
    """A sentence with code in backquotes, words in italics and in bold, as HTML; no more of Markdown stands in one.

    >>> inline("2*3 and 3*4 are `2*3`")
    '2*3 and 3*4 are <code>2*3</code>'
    """
    pieces = escape(text.strip(), quote=False).split("`")
    return "".join(f"<code>{piece}</code>" if k % 2 else _marked(piece) for k, piece in enumerate(pieces))


def _marked(text: str) -> str:
    return _EMPHASIS.sub(r"<em>\1</em>", _STRONG.sub(r"<strong>\1</strong>", text))


def markdown(text: str) -> str:
    """A whole text, with tables, as HTML.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    try:
        from markdown_it import MarkdownIt
    except ImportError as error:
        raise DescriptorError(
            "course: pages must have markdown-it-py, found none; pip install 'layoutalg[course]'"
        ) from error
    return str(MarkdownIt("commonmark").enable("table").render(text))
