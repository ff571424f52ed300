r"""Read the files that students hand in: the name, the seed, and the text of each answer.

A file is plain text, Markdown or a notebook. A line with an item is an answer:

    # a remark
    name Ada Lovelace
    seed otter-maple-47
    lab1.1 16, 24, 1, 9
    quiz1.3 none

Students write items in many ways. The separators, a list, a table or bold type do not matter, and the answer may be on
the next line. A number alone, such as ``3.``, is an item if the paper is known: from a line such as ``quiz1``, from the
other lines, from the name of the file, or from the teacher. The last answer to an item counts.

>>> lines = ["**Name:** Ada", "**quiz1.1)** 8:1", "Quiz 1-2:", "", "4:2", "| quiz1.3 | none |", "4. (2,2):(1,4)"]
>>> read_hand_in([FileLine(f"line {k}", text) for k, text in enumerate(lines, 1)]).answers
{'quiz1.1': '8:1', 'quiz1.2': '4:2', 'quiz1.3': 'none', 'quiz1.4': '(2,2):(1,4)'}
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from descriptors.course.judges.answers import plain_characters
from descriptors.errors import DescriptorError, brief
from layoutalg.frozen import frozen
from papers.paper import FORMS

#: The most bytes of a text, and of a notebook, which may contain pictures.
MOST_BYTES, MOST_NOTEBOOK_BYTES = 1 << 16, 1 << 24
#: How a student hands in, for an error message.
HOW = "give a text file or a notebook (.ipynb) with one answer per line, such as lab1.1 16, 24"
#: The first bytes of files that are not text.
_FORMATS = (
    (b"PK\x03\x04", "a Word document or a zip archive"),
    (b"\xd0\xcf\x11\xe0", "a Word document"),
    (b"%PDF", "a PDF document"),
    (b"{\\rtf", "an RTF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
)


class FileLine(NamedTuple):
    """A line of a file, and its place, such as ``line 3`` or ``cell 2, line 1``."""

    place: str
    text: str


def read_lines(path: Path) -> list[FileLine]:
    """Return the lines of a file in UTF-8 or UTF-16; of a notebook, those of its text and code.

    Raises:
        DescriptorError: if the file is neither text nor a notebook, or is too long.
    """
    is_notebook = path.suffix.lower() == ".ipynb"
    most = MOST_NOTEBOOK_BYTES if is_notebook else MOST_BYTES
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise DescriptorError(f"answers: {path.name} cannot be read: {error.strerror}") from error
    kind = next((kind for start, kind in _FORMATS if content.startswith(start)), "")
    if kind or (b"\0" in content and content[:2] not in (b"\xff\xfe", b"\xfe\xff")):
        raise DescriptorError(f"answers: it is {kind or 'not text'}; {HOW}")
    if len(content) > most:
        raise DescriptorError(f"answers: it has more than {most} bytes; {HOW}")
    try:
        text = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise DescriptorError(f"answers: it is not text in UTF-8 or UTF-16; {HOW}") from error
    if is_notebook:
        return list(_notebook_lines(text))
    is_markdown = path.suffix.lower() == ".md"
    return [
        FileLine(f"line {k}", _heading(line) if is_markdown else line) for k, line in enumerate(text.splitlines(), 1)
    ]


def _notebook_lines(text: str) -> Iterator[FileLine]:
    try:
        cells = json.loads(text)["cells"]
        sources = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DescriptorError(f"answers: it is not a notebook; {HOW}") from error
    for number, (kind, source) in enumerate(sources, 1):
        for k, line in enumerate(source.splitlines(), 1):
            text = _heading(line) if kind == "markdown" else line
            if kind == "markdown" or not _CODE.match(line):
                yield FileLine(f"cell {number}, line {k}", text)
        yield FileLine(f"cell {number}", "")


def _heading(line: str) -> str:
    """Return a line of Markdown; a heading with a name, a paper or an item is a line like others."""
    text = re.sub(r"^\s*#+\s*", "", line)
    return text if _ITEM.match(text) or _NAME.match(text) or _titled(text) else line


#: The names of papers as students write them: ``Quiz 1`` is ``quiz1``.
_PAPER = "|".join(re.sub(r"(\d)$", r"\\s*\1", name) for name in FORMS)
#: Signs of lists, tables, emphasis and quotations before and after a label.
_BEFORE = r"^[\s>*_`|+\u2022\u00b7\[({\"'-]*(?:check\(\s*[\"']+)?"
_ITEM = re.compile(
    rf"{_BEFORE}(?:\d{{1,2}}[.)]\s+)?(?P<paper>{_PAPER})(?:\s*[._/-]\s*|\s*[:,]?\s*(?:question|item|q)\s*|\s*[\s:]\s*(?=\d+[).:]))"
    r"\(?(?P<item>\d{1,2})(?![\w]|[.-]\d)(?P<rest>.*)$",
    re.I | re.S,
)
_NUMBER = re.compile(
    rf"{_BEFORE}(?:(?:question|item|task|exercise|q|no\.?)\s*(?P<a>\d{{1,2}})\b[\s:.)]*|\(?(?P<b>\d{{1,2}})[.)\]](?=[\s*]|$)"
    r"|(?P<c>\d{1,2}):(?=\s)|(?<=\|)\s*(?P<d>\d{1,2})\s*\|)(?P<rest>.*)$",
    re.I,
)
_NAME = re.compile(
    rf"{_BEFORE}(?:(?:my |full )?name|student)(?:(?<=name)\s+is\b)?(?:\s*[*_`|\"']*\s*[:=|]|\s)(?P<rest>.+)$", re.I
)
_SEED = re.compile(r"(?:^|\s|\W)seed\b[\s:=*|`\"']*(?P<seed>[\w.-]+)", re.I)
#: Python in a notebook that is not an answer.
_CODE = re.compile(
    r"^\s*(?:import |from |print\(|draw\(|[%!@]|(?:def|for|if|while|with|class|return) |check\(\s*[\"']\d)"
)
#: Lines without content: a fence, the rule or the head of a table.
_EMPTY = re.compile(r"^\s*(?:```\w*|~~~\w*|[-=*_|:+\s]+|\|[^\d]*)$")
#: A line that is meant to be an answer.
_LOOKS_LIKE_ONE = re.compile(r"^\W*(?:[a-z]{3,8})?\s*\d{0,2}\W{0,3}\d{1,2}\b", re.I)


@frozen
class HandIn:
    """The content of a file.

    Args:
        name, seed: the student's name and seed; "" if no line has them.
        answers: the text of each answer by its item, such as ``lab1.3``.
        others: the lines that are not answers.
        unnamed: the first line that begins with a number, if the paper of the numbers is not known.
    """

    name: str
    seed: str
    answers: dict[str, str]
    others: tuple[FileLine, ...] = ()
    unnamed: FileLine | None = None


class _Entry:
    """An answer while it is read.

    Args:
        paper: its paper; "" if only the number is written.
        section: the paper of the lines around it; "" if it is not known.
        item: its number.
        text: the text after the item.
        line: the line of the item.
    """

    def __init__(self, paper: str, section: str, item: int, text: str, line: FileLine) -> None:
        self.paper, self.section, self.item, self.text, self.line = paper, section, item, text, line
        self.is_below = not text

    @property
    def goes_on(self) -> bool:
        """Whether the next line belongs to the answer: it is below its item, or ends in a comma."""
        return self.is_below or self.text.endswith(",")


def _cleaned(rest: str, line: str) -> str:
    """Return an answer without the signs around it."""
    rest = re.sub(r"([\"'])\s*[,;]$", r"\1", rest.rstrip())
    rest = re.sub(r"^(?:=>|->|\u2192|[ \t:.)\]}=|*`,;\"'])*", "", rest)
    if re.match(r"\W*check\(", line):
        rest = rest.rstrip(" \t;").removesuffix(")")
    return " ".join(rest.replace("|", " ").strip(" \t*`\"'").split())


def read_hand_in(lines: Iterable[FileLine], paper: str = "") -> HandIn:
    """Return the content of a file.

    Args:
        lines: its lines.
        paper: the paper of items without one, if the lines do not name it.
    """
    name = seed = ""
    entries: list[_Entry] = []
    others: list[FileLine] = []
    for place, raw_text in lines:
        text = plain_characters(raw_text).strip()
        label, is_remark = re.sub(r"^#+\s*", "", text), text.startswith("#")
        item, number, named = _ITEM.match(label), _NUMBER.match(text), _NAME.match(text)
        last = entries[-1] if entries else None
        goes_on = last is not None and last.goes_on
        rest = _cleaned((item or number or named or {"rest": text})["rest"], label)
        if title := _titled(label):
            paper = title
        elif item and not (is_remark and rest):
            entries.append(
                _Entry("".join(item["paper"].lower().split()), paper, int(item["item"]), rest, FileLine(place, text))
            )
        elif number and not (goes_on and number["c"]):
            digits = next(filter(None, (number[key] for key in "abcd")))
            entries.append(_Entry("", paper, int(digits), rest, FileLine(place, text)))
        elif named and not name:
            name = _SEED.split(rest)[0].strip(" ,;")
            seed = seed or _seed_in(rest)
        elif re.match(rf"{_BEFORE}seed\b", text, re.I) and _seed_in(text):
            seed = seed or _seed_in(text)
        elif not text or _EMPTY.match(text) or (is_remark and not item):
            if last is not None and last.text and not text:
                last.is_below = False
        elif last is not None and goes_on and not is_remark:
            last.text = f"{last.text} {_cleaned(text, text)}".strip()
        else:
            others.append(FileLine(place, text))
    return _collected(unicodedata.normalize("NFC", name), seed, entries, others)


def _seed_in(text: str) -> str:
    match = _SEED.search(text)
    return match["seed"] if match else ""


def _titled(text: str) -> str:
    """Return the paper that a line names as its title, such as ``Quiz 1: the algebra``; "" for another line."""
    plain_text = re.sub(r"^paper\W+", "", text.strip(" \t*_`>|:.-").casefold())
    for name, form in FORMS.items():
        title = form.title.casefold()
        is_title = plain_text.startswith(title) if ":" in title else plain_text == title
        if is_title or "".join(plain_text.split()) == name:
            return name
    return ""


def _collected(name: str, seed: str, entries: Sequence[_Entry], others: list[FileLine]) -> HandIn:
    """Return a hand-in: an item with its paper counts more than a number alone."""
    papers = {entry.paper for entry in entries if entry.paper}
    answers: dict[str, str] = {}
    unnamed: FileLine | None = None
    for is_number in (False, True):
        labeled = set(answers)
        for entry in (entry for entry in entries if (not entry.paper) == is_number):
            paper = entry.paper or entry.section or (min(papers) if len(papers) == 1 else "")
            item_name = f"{paper}.{entry.item}"
            if not paper:
                unnamed = unnamed or entry.line
            elif not 1 <= entry.item <= len(FORMS[paper].slots) or (is_number and item_name in labeled):
                others.append(entry.line)
            elif entry.text or item_name not in answers:
                answers[item_name] = entry.text
    return HandIn(name, seed, {key: answers[key] for key in sorted(answers, key=_order)}, tuple(others), unnamed)


def _order(item_name: str) -> tuple[int, int]:
    paper, _, item = item_name.partition(".")
    return list(FORMS).index(paper), int(item)


def remark_of(hand_in: HandIn) -> str:
    """Return a remark for the teacher on the lines that are not answers; "" if all lines are.

    >>> remark_of(HandIn("", "", {}, (FileLine("line 1", "Dear Prof,"), FileLine("line 4", "lab1.11 4"))))
    "2 lines are not answers, such as line 4: 'lab1.11 4'"
    """
    if hand_in.unnamed:
        place, text = hand_in.unnamed
        return f"{place} does not name its paper: {brief(text, 40)}; give the paper before --grade, such as quiz1"
    if not hand_in.others:
        return ""
    count = len(hand_in.others)
    shown = next((line for line in hand_in.others if _LOOKS_LIKE_ONE.match(line.text)), hand_in.others[0])
    if count == 1:
        return f"{shown.place} is not an answer: {brief(shown.text, 40)}"
    return f"{count} lines are not answers, such as {shown.place}: {brief(shown.text, 40)}"


def paper_in_name(stem: str) -> str:
    """Return the paper in the name of a file; "" if there is none, or more than one.

    >>> paper_in_name("Ada_Quiz-1"), paper_in_name("ada")
    ('quiz1', '')
    """
    words = re.findall(rf"(?<![a-z0-9])(?:{_PAPER.replace(chr(92) + 's', '[ _-]')})(?![a-z0-9])", stem.lower())
    papers = {re.sub(r"[ _-]", "", word) for word in words}
    return papers.pop() if len(papers) == 1 else ""
