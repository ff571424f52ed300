"""Papers for print: a page for each student without a key, and a book of keys for the teacher; files for a whole class.

The pages are HTML that needs no other file and no network. Law: no sheet holds a key or what a wrong answer is told.

>>> from descriptors.course.papers.paper import paper
>>> one = paper("quiz1", 17)
>>> whys = [item.exercise.why for item in one.items]
>>> [all(escape(why, quote=False).replace("`", "") in text for why in whys) for text in
...  (book([("Ada", one)]).replace("<code>", "").replace("</code>", ""), sheets([("Ada", one)]))]
[True, False]
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

from builder.markup import document, inline
from descriptors.course.papers.item import Item
from descriptors.course.papers.paper import FIXED, FORMS, Paper, paper
from descriptors.course.papers.report import COLUMNS, key_rows, record_paper
from descriptors.errors import DescriptorError, brief

#: A student and the paper that is theirs.
Sheet = tuple[str, Paper]

_STYLE = """
header{display:flex;justify-content:space-between;gap:1rem}code{overflow-wrap:anywhere}
li{margin:1.2rem 0;break-inside:avoid}.lines{border-bottom:1px solid;height:2rem}.card{border:1px solid;padding:0 1rem}
table{border-collapse:collapse}td,th{border:1px solid;padding:.2rem .5rem;text-align:left;vertical-align:top}
@media print{article{break-after:page}}
"""


def sheets(papers: Iterable[Sheet]) -> str:
    """An HTML document with a page for each student: the questions with room for answers."""
    return _pages("Papers", papers, lambda one: f"<p>{escape(one.form.about)}</p>", _room)


def book(papers: Iterable[Sheet]) -> str:
    """The teacher's book: of each paper the keys, why they are right, and the mistake behind each wrong answer."""
    return _pages("The book of keys", papers, lambda one: "", lambda one, item: _key(item))


def _pages(
    title: str, papers: Iterable[Sheet], about: Callable[[Paper], str], below: Callable[[Paper, Item], str]
) -> str:
    """The frame of both: a page for each paper, with what stands before its questions and below each."""
    pages = []
    for student, one in papers:
        items = "".join(f"<li>{_question(item)}{below(one, item)}</li>" for item in one.items)
        pages.append(f"<article>{_head(student, one)}{about(one)}<ol>{items}</ol></article>")
    return document(title, f"<style>{_STYLE}</style>{''.join(pages)}")


def _head(student: str, one: Paper) -> str:
    marks = f"{one.marks} marks" + (f", {one.form.minutes} minutes" if one.form.minutes else "")
    seed = f"seed {one.seed}" if one.seed else ""
    return (
        f"<header><h1>{escape(one.form.title)}</h1><p>{escape(student)}<br>{escape(seed)}</p></header><p>{marks}.</p>"
    )


def _question(item: Item) -> str:
    marks = f" <b>({item.marks} marks)</b>" if item.marks > 1 else ""
    return f"<p>{inline(item.exercise.ask)}{marks}</p>"


def _room(one: Paper, item: Item) -> str:
    """Lines to write on; of a card, which is the teacher's, its other side."""
    if one.name == "cards":
        return f'<div class="card">{_key(item)}</div>'
    return '<div class="lines"></div>' * (2 if item.level < 3 else 3)


def _key(item: Item) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(answer)}</code></td><td>{escape(slip)}</td><td>{escape(told)}</td></tr>"
        for (answer, told), slip in zip(item.exercise.wrong, item.slips, strict=True)
    )
    table = f"<table><tr><th>wrong answer</th><th>the mistake</th><th>what it is told</th></tr>{rows}</table>"
    head = f"<p><b>{escape(item.kind)}</b>, lesson {item.lesson}, level {item.level}: "
    return f"{head}<code>{escape(item.exercise.solution)}</code>. {inline(item.exercise.why)}</p>{table}"


def students(names: str) -> list[tuple[str, str]]:
    """The students of a class with their seeds.

    Args:
        names: how many there are, or a file of a student a line: a name, and after a comma the seed if it is not the
            number of the line.

    Raises:
        DescriptorError: if it is neither, or two have one seed.

    >>> students("2")
    [('student 1', '1'), ('student 2', '2')]
    """
    if names.isdecimal() and names.isascii() and len(names) <= 4:
        pairs = [(f"student {k}", str(k)) for k in range(1, int(names) + 1)]
    else:
        try:
            lines = [line.strip() for line in Path(names).read_text(encoding="utf-8-sig").splitlines() if line.strip()]
        except (OSError, UnicodeDecodeError, ValueError) as error:
            raise DescriptorError(
                f"class: it must be a number of students or a file of names, found {brief(names)}"
            ) from error
        parts = [line.partition(",") for line in lines]
        pairs = [(name.strip(), seed.strip() or str(k)) for k, (name, _, seed) in enumerate(parts, 1)]
    if not pairs or len({seed for _, seed in pairs}) < len(pairs):
        raise DescriptorError(
            f"class: there must be students, each with a seed of their own, found {len(pairs)}; {names}"
        )
    return pairs


def class_files(names: str) -> dict[str, str]:
    """Every paper of a class as files by name: sheets and a book of keys for each paper, all keys as CSV and JSON.

    Args:
        names: as in ``students``.

    Raises:
        DescriptorError: as ``students`` and ``paper``, or if two students have the same paper.
    """
    files: dict[str, str] = {}
    every: list[Sheet] = []
    for name in FORMS:
        several = [("", paper(name))] if name in FIXED else [(who, paper(name, seed)) for who, seed in students(names)]
        if len({one.items for _, one in several}) < len(several):
            raise DescriptorError(f"class: students must have different papers, found two alike; paper = {name}")
        files[f"{name}.html"], files[f"{name}-keys.html"] = sheets(several), book(several)
        every += several
    return files | {"keys.csv": _csv(every), "keys.json": _json(every)}


def write_class(folder: Path, names: str) -> int:
    """Write the files of a class into a folder, and say how many there are; it raises as :func:`class_files`."""
    files = class_files(names)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return len(files)


def _csv(papers: Sequence[Sheet]) -> str:
    """The keys as a table. A cell that a spreadsheet would take for a formula begins with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([re.sub(r"^([=+@-])", r"'\1", cell) for cell in row] for row in key_rows(papers))
    return text.getvalue()


def _json(papers: Sequence[Sheet]) -> str:
    rows = [{"student": student, **record_paper(one, keys=True)} for student, one in papers]
    return json.dumps({"schema": 1, "papers": rows}, indent=1) + "\n"
