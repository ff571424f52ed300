"""SVG: well-formed, its words escaped, its colours light and dark, its numbers short."""

from __future__ import annotations

import re

import pytest
from drawn import read
from hypothesis import given
from hypothesis import strategies as st

from layoutalg import Figure
from layoutalg.drawing.shapes import Arrow, Scene, Text
from layoutalg.drawing.svg import head_of, svg


def everything() -> Scene:
    figure = Figure()
    figure.heading(0, 0, "Every shape", "Once.")
    figure.cells(0, 40, 10.5, 7.25, [["c0", "c1"], ["c0", "c0"]], opacity=0.5)
    figure.lines([(0, 0, 10, 10), (0, 0, 0, 10), (0, 0, 10, 0)], "rule", 0.8, (4, 2))
    figure.border(0, 40, 21, 14.5, "tile")
    figure.box(50, 40, 20, 10, "faint", "rule", 0.8, 3, 0.5)
    figure.box(50, 60, 20, 10, None, "atom")
    figure.area([(0, 0), (10, 0), (5, 5)], "beam")
    figure.arrow([(0, 80), (20, 80), (20, 100)])
    figure.text(10, 90, "turned", turn=-90)
    figure.texts([(0, 100, "a"), (10, 100, "b"), (0, 110, "c")], "muted", 9, "end", mono=True, bold=True)
    return figure.scene("Every shape", "Each of them once.")


@given(st.text(), st.text())
def test_any_words_make_well_formed_xml(title: str, text: str) -> None:
    picture = read(svg(Scene(title, text, 10, 10, (Text("ink", 10, ((0, 5, text),)),))))
    allowed = re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)
    assert picture.texts[0][2].split() == allowed.split()


def test_every_shape_has_its_element_and_every_class_its_two_colours() -> None:
    source = svg(everything())
    picture = read(source)
    assert [word for _, _, word, _ in picture.texts] == ["Every shape", "Once.", "turned", "a", "b", "c"]
    style, body = source.split("<style>")[1].split("</style>")
    classes = {name for names in re.findall(r'class="([^"]*)"', body) for name in names.split()}
    for name in classes - {"m", "b"}:
        assert len(re.findall(rf"\.la \.{name}{{", style)) == 2, name
    plain, both = style.split("@supports (color:light-dark(#000,#fff))")
    assert "light-dark" not in plain
    assert "var(" not in style
    assert both.count("light-dark(") == len(classes - {"m", "b"})
    assert "svg:root{color-scheme:light dark}" in both


def test_a_span_says_its_line_only_where_that_changes() -> None:
    (spans,) = re.findall(r"<text[^>]*>(<tspan.*?)</text>", svg(everything()))
    assert spans.count(" y=") == 2
    assert spans.count(" x=") == 3


def test_numbers_have_at_most_two_digits_after_the_point() -> None:
    body = svg(everything()).split("</style>")[1]
    assert not re.findall(r"\d\.\d{3,}", body)
    assert not re.findall(r"-0[^.\d]|\d\.0\D|\b0\.\d", body)


def test_the_size_is_that_of_the_column_up_to_its_own() -> None:
    scene = everything()
    source = svg(scene)
    assert f'viewBox="0 0 {scene.width} {scene.height}" width="{scene.width}" height="{scene.height}" ' in source


def test_two_pictures_in_one_page_have_words_of_their_own() -> None:
    one, other = (svg(Scene("Same", "Words.", 10, 10, (Text("ink", 10, ((0, 5, text),)),))) for text in "ab")
    assert set(re.findall(r' id="(\w+)"', one)).isdisjoint(re.findall(r' id="(\w+)"', other))
    assert svg(everything()) == svg(everything())


@pytest.mark.parametrize("end", [(10, 0), (0, 10), (-6, 8), (0, 0)])
def test_the_head_of_an_arrow_lies_behind_its_tip(end: tuple[float, float]) -> None:
    neck, barbs = head_of(Arrow("ink", ((0, 0), end), head=5))
    for x, y in (neck, *barbs):
        assert (x - end[0]) * end[0] + (y - end[1]) * end[1] <= 0


def test_what_is_no_shape_is_a_bug_and_no_empty_picture() -> None:
    with pytest.raises(TypeError, match="str"):
        svg(Scene("A", "B.", 1, 1, ("shape",)))  # type: ignore[arg-type]
