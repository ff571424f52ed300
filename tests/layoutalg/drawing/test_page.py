"""What a notebook shows and what a page holds: the picture whole, its words escaped."""

from __future__ import annotations

import re
from base64 import b64decode
from html.parser import HTMLParser

from drawn import read

from layoutalg import Layout, Scene, draw
from layoutalg.drawing.picture import image, page
from layoutalg.drawing.svg import svg


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_image_of_a_notebook_is_the_picture_in_its_own_address() -> None:
    picture = draw(Layout((2, 3)), title='a "title" & <more>')
    parser = _Tags()
    parser.feed(image(picture.scene()))
    ((tag, attributes),) = parser.found
    assert tag == "img"
    assert (attributes["alt"] or "").startswith('a "title" & <more>. A table of 2 rows and 3 columns')
    address = attributes["src"] or ""
    assert address.startswith("data:image/svg+xml;base64,")
    picture_text = b64decode(address.partition(",")[2]).decode()
    assert picture_text == svg(picture.scene())
    assert read(picture_text).title == 'a "title" & <more>'


def test_a_page_is_one_document_that_asks_for_nothing_elsewhere() -> None:
    text = page(Scene("<b>", "c", 10, 10, ()), "1 < 2")
    assert "<title>&lt;b&gt;</title>" in text
    assert "<pre>1 &lt; 2</pre>" in text
    assert not re.findall(r'(?:src|href)="(?!data:)', text)
    assert text.count("<svg") == 1
    assert "<details>" not in page(Scene("a", "b", 1, 1, ()))
