"""A gallery holds its pictures whole, in one scene and on one page."""

from __future__ import annotations

from drawn_operands import OPERANDS

from descriptors import picture
from descriptors.show.pictures.kinds import Gallery


def test_a_page_holds_every_picture_and_needs_no_other_file() -> None:
    d = OPERANDS["K 128B"]
    gallery = Gallery("A tile", tuple((kind, picture(d, kind)) for kind in ("levels", "banks")))
    page = gallery.html()
    assert page.count("data:image/svg+xml;base64,") == 2
    assert "http" not in page.replace("http://www.w3.org", "")
    assert set(gallery.record()) == {"levels", "banks"}
    heights = [picture(d, kind).scene().height for kind in ("levels", "banks")]
    assert gallery.scene().height >= sum(heights)
    assert "Four nested levels" in gallery.text()
