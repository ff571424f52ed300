"""Every face of a picture, and each into a file of its kind."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from layoutalg import Layout, LayoutError, Picture, draw
from layoutalg.drawing.picture import image, page
from layoutalg.drawing.tikz import document

PICTURE = draw(Layout((2, 3), (3, 1)))


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (".svg", PICTURE.svg() + "\n"),
        (".SVG", PICTURE.svg() + "\n"),
        (".tex", document(PICTURE.scene())),
        (".txt", PICTURE.text() + "\n"),
        (".html", page(PICTURE.scene(), PICTURE.text())),
    ],
)
def test_a_file_holds_the_face_that_its_name_asks_for(suffix: str, text: str, tmp_path: Path) -> None:
    PICTURE.save(tmp_path / f"a{suffix}")
    PICTURE.save(str(tmp_path / f"b{suffix}"))
    for name in "ab":
        assert (tmp_path / f"{name}{suffix}").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["a.png", "a", "a.svg.gz", "", "."])
def test_another_kind_of_file_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(LayoutError, match=re.escape("does not end in .svg, .tex, .txt or .html")):
        PICTURE.save(name)


def test_a_picture_that_cannot_be_drawn_writes_no_file(tmp_path: Path) -> None:
    with pytest.raises(LayoutError, match="1024 rows of 1024 columns in 1 table, more than 262144 cells; draw"):
        draw(Layout((1024, 1024))).save(tmp_path / "a.svg")
    assert list(tmp_path.iterdir()) == []


def test_a_notebook_gets_an_image_and_plain_text() -> None:
    bundle = PICTURE._repr_mimebundle_()
    assert bundle == {"text/html": image(PICTURE.scene()), "text/plain": str(PICTURE)}
    assert PICTURE._repr_html_() == bundle["text/html"]
    assert "\x1b" not in bundle["text/plain"]
    assert "<svg" not in bundle["text/html"]


def test_a_kind_of_picture_says_what_it_shows() -> None:
    class Nothing(Picture):
        pass

    for face in (Nothing().scene, Nothing().text, Nothing().record, Nothing().svg):
        with pytest.raises(NotImplementedError):
            face()


def test_tikz_is_what_a_document_holds() -> None:
    assert PICTURE.tikz() in document(PICTURE.scene())
