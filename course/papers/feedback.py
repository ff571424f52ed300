"""Feedback as Markdown files: a page for each student, and an overview for the teacher.

A page of a student has each question with the answer, the judgement, the likely mistake, a hint and the lesson to read
again. It does not have the keys.

>>> from papers.paper import paper
>>> from papers.submission import Handed, read
>>> item = paper("lab1", 17).items[0]
>>> handed = Handed((read(f"name Ada\\nseed 17\\nlab1.1 {item.exercise.wrong[0][0]}"),), ())
>>> pages = feedback_pages(handed)
>>> list(pages), item.exercise.solution in pages["Ada.md"], item.exercise.hints[0] in pages["Ada.md"]
(['overview.md', 'Ada.md'], False, True)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from descriptors.course.catalog import lessons
from descriptors.show.browser.folder import write
from layoutalg.files import PAGE_MARK
from papers.report import number, unread_lines
from papers.statistics import rows
from papers.submission import Handed, Mark, Submission

#: The page for the teacher.
OVERVIEW = "overview.md"


def write_feedback(folder: Path, handed: Handed) -> int:
    """Write the pages into a folder, and return their number.

    Raises:
        DescriptorError: if a page cannot be written, or a file of that name exists that this program did not write.
    """
    pages = {name: text.encode() for name, text in feedback_pages(handed).items()}
    return len(write(folder, pages, "--feedback", "feedback"))


def feedback_pages(handed: Handed) -> dict[str, str]:
    """Return the pages by the names of their files."""
    pages = {OVERVIEW: overview(handed)}
    names_used = {OVERVIEW.casefold()}
    for submission in handed.submissions:
        stem = re.sub(r"[^\w .-]", "_", submission.name).strip(" .")[:80] or "student"
        names = (f"{stem}{suffix}.md" for suffix in ("", *(f" {k}" for k in range(2, len(names_used) + 3))))
        name = next(name for name in names if name.casefold() not in names_used)
        names_used.add(name.casefold())
        pages[name] = student_page(submission)
    return pages


def student_page(submission: Submission) -> str:
    """Return the page of a student."""
    parts = [_head(f"Feedback for {submission.name}")]
    again: dict[int, int] = {}
    for paper, marks in submission.marks:
        passed = {True: ", passed", False: ", not passed", None: ""}[submission.passed(paper.name)]
        earned = number(submission.earned(paper.name))
        parts.append(f"## {paper.form.title}: {earned} of {paper.marks} marks{passed}")
        parts += [_item(mark) for mark in marks]
        for mark in marks:
            if not mark.right:
                again[mark.item.lesson] = again.get(mark.item.lesson, 0) + 1
    if again:
        lines = [f"- {_lesson(k)}: {count} item{'s' * (count > 1)}" for k, count in sorted(again.items())]
        parts.append("\n".join(["## Lessons to read again", "", *lines]))
    return "\n\n".join(parts) + "\n"


def _item(mark: Mark) -> str:
    verdict = "right" if mark.right else "missing" if not mark.answer else "wrong" if mark.is_read else "not read"
    if 0 < mark.earned < mark.item.marks:
        verdict = "partly right"
    lines = [f"### {mark.where}: {verdict}, {number(mark.earned)} of {mark.item.marks}", "", mark.item.exercise.ask, ""]
    if mark.answer:
        lines.append(f"- Your answer: {_code(mark.answer)}")
    if mark.right:
        return "\n".join(lines)
    if mark.answer:
        lines.append(f"- It {_text(mark.judgement or '')}")
    if not mark.is_read:
        lines.append("- Your teacher has a list of the answers that could not be read.")
    if mark.slip:
        lines.append(f"- Perhaps: {_text(mark.slip)}")
    lines.append(f"- Hint: {mark.item.exercise.hints[0]}")
    lines.append(f"- Read again: {_lesson(mark.item.lesson)}")
    return "\n".join(lines)


def overview(handed: Handed) -> str:
    """Return the page for the teacher: items from the hardest to the easiest, common mistakes, marks."""
    students = [
        (student.name, f"{paper.name} {number(student.earned(paper.name))} of {paper.marks}", str(len(student.unread)))
        for student in handed.submissions
        for paper, _ in student.marks
    ]
    counted = rows(handed.submissions)
    items = [
        (row.paper, row.kind, str(row.lesson), f"{row.right} of {row.students}", str(row.missing), str(row.unread))
        for row in sorted(counted, key=lambda row: row.right / row.students)
    ]
    slips = sorted(((count, row, slip) for row in counted for slip, count in row.slips), key=lambda slip: -slip[0])
    parts = [
        _head("Overview for the teacher"),
        _table("Items, the hardest first", ("paper", "item", "lesson", "right", "missing", "not read"), items),
        _table(
            "Common mistakes",
            ("students", "paper", "item", "mistake"),
            [(str(count), row.paper, row.kind, slip) for count, row, slip in slips],
        ),
        _table("Students", ("student", "marks", "not read"), students),
        _list("Answers that could not be read", unread_lines(handed.submissions)),
        _list("To look at", handed.remarks),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(title: str) -> str:
    """Return a heading, and the mark by which a later run knows that it may replace the file."""
    return f"# {_text(title)}\n\n{PAGE_MARK.decode()}"


def _table(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows_ = [heads, ["---"] * len(heads), *lines]
    cells = ["| " + " | ".join(_text(cell).replace("|", "\\|") for cell in row) + " |" for row in rows_]
    return "\n".join([f"## {title}", "", *cells]) if lines else ""


def _list(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"## {title}", "", *(f"- {_text(line.strip())}" for line in lines)]) if lines else ""


def _lesson(number_: int) -> str:
    lesson = next(lesson for lesson in lessons() if lesson.number == number_)
    return f"lesson {lesson.number}, {lesson.title}"


def _code(text: str) -> str:
    """Return a text as code; a student can write backticks."""
    return f"`` {text[:200]} ``" if "`" in text else f"`{text[:200]}`"


def _text(text: str) -> str:
    """Return a text in which nothing becomes an HTML element."""
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\<", text)
