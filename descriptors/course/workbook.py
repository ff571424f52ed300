"""Write and judge a student's file, which has a line for each part of the multiplication that the course builds.

Invariant: the file with all solutions is correct, and in the initial file every line is open.

>>> from descriptors.course.catalog import exercises
>>> whole = "\\n".join(f"{one.line} = {one.solution}" for one in exercises().values() if one.line)
>>> {one.verdict for one in judged(whole)}
{'right'}
>>> {one.verdict for one in judged(workbook())}
{'open'}
"""

from __future__ import annotations

from descriptors.course.catalog import exercises
from descriptors.course.grading import attempted, verdict
from descriptors.course.judges.multiplication import lines_of, multiplies
from layoutalg.frozen import frozen

#: The command that writes the same descriptors and steps as a program for a Hopper GPU.
ON_A_GPU = "descriptors plan m64n32k16 bf16 --arch sm90 --tile 64x32x128 --stages 1 --emit cuda"


@frozen
class Line:
    """A line of the file: its exercise, its name, and the verdict: ``open``, ``right`` or the mistake."""

    where: str
    name: str
    verdict: str

    def __str__(self) -> str:
        return f"{self.where:<6}{self.name:<12}{self.verdict}"


def workbook() -> str:
    """Return the initial file, with a ``?`` for each part to fill in.

    >>> print(workbook().splitlines()[2])
    a_global = (64,128):(?,?)  # 1.6 your multiplication: A
    """
    head = "# My multiplication: A times B transposed. Replace each ? and save.\n\n"
    lines = [f"{one.line} = {one.starter}  # {where} {one.name}\n" for where, one in exercises().items() if one.line]
    return head + "".join(lines)


def judged(text: str) -> list[Line]:
    """Return the verdict on each line, and at the end the verdict on the whole multiplication.

    >>> print(judged("a_global = (64,128):(128,1)")[0])
    1.6   a_global    your answer is 128 at index 1, must be 136. Perhaps: the unused elements are left out.
    """
    mine, lines = lines_of(text), []
    for where, one in exercises().items():
        if one.line:
            answer = mine.get(one.line, "?")
            lines.append(Line(where, one.line, verdict(one, answer) if attempted(answer) else "open"))
    last = next(where for where, one in exercises().items() if one.judge == "multiplies")
    whole = all(line.verdict == "right" for line in lines)
    wrong = multiplies(text) if whole else None
    return [*lines, Line(last, "all of it", wrong or "right" if whole else "open")]
