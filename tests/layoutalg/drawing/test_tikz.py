"""TikZ: ASCII alone, every name defined, every bracket closed; and compiled, where LaTeX is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from each import each
from places import ROOT

from layoutalg import Figure, Picture, Scene
from layoutalg.drawing.tikz import document, tikz

sys.path.append(str(ROOT / "scripts"))  # at the end: the package of attacks has the name of a script
from make_figures import FIGURES


def tikz_of(text: str) -> str:
    figure = Figure()
    figure.text(0, 0, text)
    return tikz(figure.scene("Text", "One.", 0))


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("50% & $1 #2 a_b {c}", r"50\% \& \$1 \#2 a\_b \{c\}"),
        ("S<3,4,3> ~ ^ | \\", r"S\textless{}3,4,3\textgreater{} \textasciitilde{} \textasciicircum{} \textbar{} "),
        ("8 \u00d7 64, 0\u20133 \u2192", r"8 $\times$ 64, 0--3 $\to$"),
        ("\u4e2d", "{?}"),
        ('a "b"', "a ''b''"),
    ],
)
def test_what_latex_would_obey_or_not_know_is_written_in_its_way(text: str, tex: str) -> None:
    assert tex in tikz_of(text)


@each("name", FIGURES)
def test_every_colour_is_defined_and_every_bracket_closed(name: str) -> None:
    text = FIGURES[name]().tikz()
    assert text.isascii()
    defined = set(re.findall(r"\\definecolor\{la-(\w+)\}", text))
    assert set(re.findall(r"\bla-(\w+)", text)) == defined
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert all(line.endswith((";", "}", "]")) or line.startswith("%") for line in text.splitlines())


def test_a_comment_holds_one_line_whatever_the_title() -> None:
    assert tikz(Scene("a\nb \u00d7 1\u202f024\u4e2d", "c", 1, 1, ())).splitlines()[0] == "% a?b x 1024?"


def test_opacity_and_dashes_are_told() -> None:
    figure = Figure()
    figure.lines([(0, 0, 10, 0)], "hair", 1, (4, 2))
    figure.box(0, 0, 8, 8, "c0", "ink", 1, 4, 0.5)
    text = tikz(figure.scene("Lines", "One.", 0))
    assert r"\draw[la-hair,opacity=0.15,line width=0.75pt,dash pattern=on 3pt off 1.5pt]" in text
    assert r"\fill[la-c0,opacity=0.5,rounded corners=3pt]" in text


def compiled(picture: Picture, folder: Path) -> subprocess.CompletedProcess[str]:
    text = document(picture.scene())
    if subprocess.run(["kpsewhich", "standalone.cls"], capture_output=True, check=False).returncode:
        text = text.replace(r"\documentclass[tikz]{standalone}", r"\documentclass{article}\usepackage{tikz}")
    (folder / "picture.tex").write_text(text, encoding="ascii")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "picture.tex"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("name", ["swizzled", "divided", "slices"])
def test_latex_compiles_a_picture(name: str, tmp_path: Path) -> None:
    ended = compiled(FIGURES[name](), tmp_path)
    assert ended.returncode == 0, ended.stdout[-2000:]
    assert (tmp_path / "picture.pdf").stat().st_size > 1000
    assert "Undefined" not in ended.stdout
