"""HTML documents of the teacher's things: one file each, style and script inside, which may load nothing.

Law: the policy of a document lets its own script run, and nothing else.

>>> made = document("A", "<p>b</p>", "slides", ["sheet.css"], "slides.js")
>>> "default-src 'none'" in made, made.count("<script>"), "http:" in made
(True, 1, False)
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape

from descriptors.course.markup import STILL
from descriptors.show.browser.folder import source

_ROOM = "descriptors.course"


def document(title: str, body: str, kind: str, styles: Iterable[str], script: str = "") -> str:
    """A whole document.

    Args:
        title: what the window is called, as text.
        body: the HTML of its body.
        kind: the class of the body.
        styles: names of style sheets in the folder ``web`` of the lessons.
        script: the name of its script there, if it has one.

    >>> document("A & B", "", "card", []).count("A &amp; B")
    1
    """
    text = source(_ROOM, script) if script else ""
    style = source("descriptors.show.browser", "colours.css") + "".join(source(_ROOM, name) for name in styles)
    own = f"'sha256-{b64encode(sha256(text.encode()).digest()).decode('ascii')}'" if text else "'none'"
    policy = f"{STILL}; script-src {own}"
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    head += f'<meta name="viewport" content="width=device-width,initial-scale=1"><title>{escape(title)}</title>'
    head += f'<link rel="icon" href="data:,"><style>\n{style}</style>'
    run = f"<script>{text}</script>" if text else ""
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body class="{kind}">\n{body}\n{run}</body></html>\n'
