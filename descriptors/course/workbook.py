"""A student's file: a line for each part of the multiplication that the course builds, and what is right of it.

Law: the solutions of the lessons make a file that multiplies, and the empty file has nothing that is right.

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

#: What writes the same words and steps as a program for a Hopper GPU.
ON_A_GPU = "descriptors plan m64n32k16 bf16 --arch sm90 --tile 64x32x128 --stages 1 --emit cuda"


@frozen
class Line:
    """A line of the file: the exercise that it answers, its name, and ``open``, ``right`` or what is wrong."""

    where: str
    name: str
    verdict: str

    def __str__(self) -> str:
        return f"{self.where:<6}{self.name:<12}{self.verdict}"


def workbook() -> str:
    """The file as it begins: every line with what is to be filled in.

    >>> print(workbook().splitlines()[2])
    a_global = (64,128):(?,?)  # 1.6 your multiplication: A
    """
    head = "# My multiplication: A times B transposed. Replace each ? and save.\n\n"
    lines = [f"{one.line} = {one.starter}  # {where} {one.name}\n" for where, one in exercises().items() if one.line]
    return head + "".join(lines)


def judged(text: str) -> list[Line]:
    """What each line is worth, and in the end whether all of them multiply.

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
