"""Every kind of picture of every kind of operand: whole, with words, nothing off the canvas, no texts that touch."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from collisions import outside, overlapping
from drawn import read
from drawn_operands import OPERANDS, fingerprints, pictures
from each import each
from places import ROOT

from descriptors import ChoiceError, DescriptorError, SwizzleMode, decode, derive, diff, picture, tma_plan, verify
from layoutalg import Layout

D = OPERANDS["K 128B"]


@each("name", OPERANDS)
def test_no_text_leaves_its_picture_or_touches_another(name: str) -> None:
    for kind, one in pictures(name).items():
        scene = one.scene()
        assert not outside(scene), (name, kind)
        assert not overlapping(scene), (name, kind)


@each("name", OPERANDS)
def test_every_face_of_a_picture_is_whole(name: str) -> None:
    for kind, one in pictures(name).items():
        svg, text = one.svg(), one.text()
        drawing = read(svg)
        assert drawing.title, kind
        assert len(drawing.description) > 20, kind
        assert one.svg() == svg, kind
        assert one.html().startswith("<!doctype html>"), kind
        assert text.strip(), kind
        assert text.isascii(), kind
        assert one.text(color=True).isascii(), kind
        assert "\x1b" not in text, kind
        assert one.tikz().endswith("\\end{tikzpicture}"), kind
        assert one._repr_html_().count("data:image/svg+xml;base64,") == 1, kind
        assert one.record()["kind"], kind


@each("name", OPERANDS)
def test_every_picture_is_the_one_that_was_looked_at(name: str) -> None:
    """`scripts/make_pictures.py` writes them anew, after a change that was meant."""
    known = json.loads((ROOT / "tests" / "vectors" / "pictures.json").read_text(encoding="utf-8"))
    assert fingerprints(name) == known["pictures"][name]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_every_kind_compiles_as_tikz(tmp_path: Path) -> None:
    bodies = "\n\n".join(one.tikz() for one in (*pictures("K 128B").values(), *pictures("MN 64B").values()))
    source = tmp_path / "all.tex"
    source.write_text(
        "\\documentclass{article}\\usepackage[paperwidth=2000pt,paperheight=2000pt]{geometry}\\usepackage{tikz}"
        f"\\begin{{document}}\n{bodies}\n\\end{{document}}\n"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", source.name],
        cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:]


def test_the_largest_tile_of_shared_memory_is_small_as_a_file() -> None:
    assert len(picture(D, "levels").svg()) < 60_000
    large = derive((512, 512), "e4m3", "K", "128B", (64, 32), capacity=None, verify=False)
    assert len(picture(large, "tile").svg()) < 2_000_000


def test_notebooks_show_story_and_picture_of_every_answer() -> None:
    for answer in (
        D,
        verify(D),
        decode(D.word(0, 0)),
        tma_plan(D),
        diff(1 << 46, D.smem_tile, dtype="bf16", major="K"),
    ):
        html = answer._repr_html_()
        assert html.count("<img ") == 1
        assert "<svg" not in html
        assert "<details>" in html


def test_a_tile_of_too_many_parts_is_told_without_a_picture() -> None:
    large = derive((1 << 16, 64), "bf16", "K", "32B", (64, 16), capacity=None, verify=False)
    assert "<img" not in large._repr_html_()
    with pytest.raises(DescriptorError, match="8192x4 atoms, but at most 16384 are drawn"):
        picture(large).svg()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "shadow"}, "supported: levels, tile"),
        ({"colour": "red", "kind": "tile"}, "supported: order, bank"),
        ({"stage": 1}, r"picture: the tile has no stage 1; supported: 0; tile = S<3,3,3>"),
        ({"stage": -1}, "picture: the stage is "),
        ({"subtile": (2, 0)}, "picture: mn of the subtile is 2, but the maximum is 1"),
        ({"subtile": 3}, r"picture: the subtile is 3, which is not two numbers \(mn, k\)"),
        (
            {"kind": "banks", "access": Layout((32, 8), (1, 128)), "number": 9},
            "the warp makes no access 9; supported: 0",
        ),
        (
            {"kind": "banks", "access": Layout((2, 8), (127, 128))},
            "the access spans 128 lines of 128 bytes .* but at most 32 are drawn",
        ),
        ({"kind": "word", "base": 8}, "the base address 8 is not a multiple of 128 bytes"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_one_line(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(DescriptorError, match=message):
        picture(D, **arguments).scene()  # type: ignore[arg-type]


def test_only_a_derivation_has_kinds_and_only_answers_have_pictures() -> None:
    with pytest.raises(DescriptorError, match="kind is 'levels', but only a derivation has several kinds"):
        picture(SwizzleMode.B64, "levels")
    with pytest.raises(
        DescriptorError, match=r"the operand is 3, which cannot be drawn; supported: .*Decoded, Derivation, "
    ):
        picture(3)  # type: ignore[arg-type]
    assert issubclass(ChoiceError, DescriptorError)
