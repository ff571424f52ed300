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
from descriptors.errors import DescriptorError
from papers.class_list import Seeds, class_text
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


def class_files(seeds: Seeds) -> dict[str, str]:
    """Return all papers of a class as files by name: sheets and a table of keys per paper, all keys as CSV, the seeds.

    Raises:
        DescriptorError: as ``paper``, or if two students have the same paper.
    """
    files: dict[str, str] = {}
    every: list[Sheet] = []
    for name in FORMS:
        several = [("", paper(name))] if name in FIXED else [(who, paper(name, seed)) for who, seed in seeds.items()]
        if len({one.items for _, one in several}) < len(several):
            raise DescriptorError(f"class: two students have the same {name}; give other seeds")
        files[f"{name}.html"], files[f"{name}-keys.html"] = sheets(several), keys(several)
        every += several
    return files | {"keys.csv": _csv(every), CLASS_LIST: class_text(seeds)}


#: The file with the seeds, from which the keys and the marks are computed.
CLASS_LIST = "class.txt"


def write_class(folder: Path, seeds: Seeds) -> int:
    """Write the files of a class into a folder, and return their number.

    Raises:
        DescriptorError: as :func:`class_files`, or if the folder has papers with other seeds, which may be printed.
    """
    path = folder / CLASS_LIST
    if path.exists() and path.read_text(encoding="utf-8") != class_text(seeds):
        raise DescriptorError(
            f"class: {path} has other seeds, whose papers may be printed already; give --class {path} to write the "
            "same papers again, or another folder to --into"
        )
    files = class_files(seeds)
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
