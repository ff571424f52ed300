"""The first steps on each kind of machine, as a part of the first page: what to click and what to type.

The text is `course/start.md`; names of files in double braces are filled in. Law: a file that was not built is not
linked.

>>> from descriptors.course.source import lessons
>>> ["href" in first_steps(lessons(), built) for built in ((), (WHEEL, "01.ipynb"))]
[False, True]
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from descriptors.course.markup import markdown
from descriptors.course.notebooks import WHEEL
from descriptors.course.source import Lesson, folder
from descriptors.show.browser.folder import fill_template

_MADE_BY = "the file of the package (in a checkout <code>python3 -m pip wheel . --no-deps</code> makes it)"


def first_steps(course: Sequence[Lesson], built: Collection[str]) -> str:
    """The text as HTML.

    Args:
        course: the lessons.
        built: the names of the files beside the page.

    Raises:
        DescriptorError: if markdown-it-py is not installed.
    """
    notebooks = [f"{one.number:02}.ipynb" for one in course]
    linked = ", ".join(_link(name) for name in notebooks if name in built)
    places = {
        "wheel": _link(WHEEL) if WHEEL in built else _MADE_BY,
        "wheelname": WHEEL,
        "notebooks": linked or "the notebook of a lesson",
    }
    text = markdown((folder() / "start.md").read_text(encoding="utf-8"))
    return fill_template(text.replace("<pre>", '<pre tabindex="0">'), places)  # a long line is scrolled by key, too


def _link(name: str) -> str:
    return f'<a href="{name}">{name}</a>'
