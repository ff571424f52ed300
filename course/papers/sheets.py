"""Papers for print: sheets for each student without a key, a table of keys for the teacher; files for a whole class.

The pages are HTML that needs no other file and no network. On paper every page of a sheet bears its title, the name of
the student and the seed. Law: no sheet holds a key.

>>> from papers.paper import paper
>>> one = paper("quiz1", 17)
>>> whys = [item.exercise.why for item in one.items]
>>> any(escape(why, quote=False).replace("`", "") in sheets([("Ada", one)]).replace("<code>", "") for why in whys)
False
>>> all(f"<td>{escape(item.exercise.solution)}</td>" in keys([("Ada", one)]) for item in one.items)
True
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from builder.markup import document, inline
from descriptors.errors import DescriptorError, brief
from papers.item import Item
from papers.paper import FIXED, FORMS, Paper, paper
from papers.report import COLUMNS, key_rows

#: A student and the paper that is theirs.
Sheet = tuple[str, Paper]

_STYLE = """
.sheet{width:100%;border:0}.sheet td,.sheet th{border:0;text-align:left;font-weight:400}
.sheet thead p{display:flex;justify-content:space-between;border-bottom:1px solid;margin:0 0 .6rem}
li{margin:.9rem 0;break-inside:avoid}.room{border-bottom:1px solid;height:2rem}code{overflow-wrap:anywhere}
.keys th{white-space:nowrap}@page keys{size:A4 landscape}
@media print{.sheet{break-after:page}.keys{page:keys;font-size:8pt}.keys td{padding:.1rem .3rem}}
"""


def sheets(papers: Iterable[Sheet]) -> str:
    """An HTML document with the questions of each student, and room for answers.

    A table repeats its head on every page on which it goes on: so each page has the title, the name and the seed.
    """
    whole = []
    for student, one in papers:
        seed = f"seed {one.seed}" if one.seed else ""
        who = escape(student) or f"name: {'_' * 40}"
        head = f"<p><b>{escape(one.form.title)}</b> <span>{who}</span> <span>{escape(seed)}</span></p>"
        about = f"<p>{one.marks} marks, {one.form.minutes} minutes. {inline(one.form.about)}</p>"
        items = "".join(f"<li>{_question(item)}</li>" for item in one.items)
        body = f"<tbody><tr><td>{about}<ol>{items}</ol></td></tr></tbody>"
        whole.append(f'<table class="sheet"><thead><tr><th>{head}</th></tr></thead>{body}</table>')
    return document("Papers", f"<style>{_STYLE}</style>{''.join(whole)}")


def _question(item: Item) -> str:
    marks = f" <b>({item.marks} marks)</b>" if item.marks > 1 else ""
    room = '<div class="room"></div>' * (1 if item.level < 2 else 2)
    return f"<p>{inline(item.exercise.ask)}{marks}</p>{room}"


def keys(papers: Sequence[Sheet]) -> str:
    """The teacher's table of one paper: a row for each student, with the key of each item."""
    rows = (
        "<thead><tr><th></th>"
        + "".join(f"<th>{k}</th>" for k in range(1, len(papers[0][1].items) + 1))
        + "</tr></thead>"
    )
    rows += "".join(
        f"<tr><th>{escape(student)} {escape(one.seed)}</th>"
        + "".join(f"<td>{escape(item.exercise.solution)}</td>" for item in one.items)
        + "</tr>"
        for student, one in papers
    )
    title = f"Keys: {papers[0][1].form.title}"
    return document(
        title, f'<style>{_STYLE}</style><div class="keys"><h1>{escape(title)}</h1><table>{rows}</table></div>'
    )


def students(names: str) -> list[tuple[str, str]]:
    """The students of a class with their seeds.

    Args:
        names: how many there are, or a file of a student a line: a name, and after a comma the seed if it is not the
            number of the line.

    Raises:
        DescriptorError: if it is neither, or two have one seed or one name.

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
    for what, values in (("name", [name.casefold() for name, _ in pairs]), ("seed", [seed for _, seed in pairs])):
        twice = next((one for one in values if values.count(one) > 1), None)
        if twice is not None or not values:
            raise DescriptorError(
                f"class: each student must have a {what} of their own, found {twice or 'nobody'} twice"
            )
    return pairs


def class_files(names: str) -> dict[str, str]:
    """Every paper of a class as files by name: sheets and a table of keys for each paper, and all keys as CSV.

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
        files[f"{name}.html"], files[f"{name}-keys.html"] = sheets(several), keys(several)
        every += several
    return files | {"keys.csv": _csv(every)}


def write_class(folder: Path, names: str) -> int:
    """Write the files of a class into a folder, and say how many there are; it raises as :func:`class_files`."""
    files = class_files(names)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return len(files)


def _csv(papers: Iterable[Sheet]) -> str:
    """All keys as a table; a program of tables takes nothing in it for a formula."""
    target = io.StringIO()
    writer = csv.writer(target)
    writer.writerow(COLUMNS)
    writer.writerows([[_cell(one) for one in row] for row in key_rows(papers)])
    return target.getvalue()


def _cell(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text
