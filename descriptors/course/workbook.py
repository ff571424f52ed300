"""Write and judge a student's file, which has a line for each part of the multiplication that the course builds.

Invariant: the file with all solutions is correct, and in the initial file every line is open.

>>> from descriptors.course.catalog import exercises
>>> parts = [exercise for exercise in exercises().values() if exercise.line]
>>> solved = "\\n".join(f"{exercise.line} = {exercise.solution}" for exercise in parts)
>>> {line.verdict for line in judged(solved)}
{'right'}
>>> {line.verdict for line in judged(workbook())}
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
    """A line of the file: the number of its exercise, its name, and its verdict (``open``, ``right`` or a mistake)."""

    number: str
    name: str
    verdict: str

    def __str__(self) -> str:
        return f"{self.number:<6}{self.name:<12}{self.verdict}"


def workbook() -> str:
    """Return the initial file, with a ``?`` for each part to fill in.

    >>> print(workbook().splitlines()[2])
    a_global = (64,128):(?,?)  # 1.6 your multiplication: A
    """
    head = "# My multiplication: A times B transposed. Replace each ? and save.\n\n"
    lines = [
        f"{exercise.line} = {exercise.starter}  # {number} {exercise.name}\n"
        for number, exercise in exercises().items()
        if exercise.line
    ]
    return head + "".join(lines)


def judged(text: str) -> list[Line]:
    """Return the verdict on each line, and at the end the verdict on the whole multiplication.

    >>> print(judged("a_global = (64,128):(128,1)")[0])
    1.6   a_global    your answer is 128 at index 1, must be 136. Perhaps: the unused elements are left out.
    """
    values, lines = lines_of(text), []
    for number, exercise in exercises().items():
        if exercise.line:
            answer = values.get(exercise.line, "?")
            lines.append(Line(number, exercise.line, verdict(exercise, answer) if attempted(answer) else "open"))
    last = next(number for number, exercise in exercises().items() if exercise.judge == "multiplies")
    all_right = all(line.verdict == "right" for line in lines)
    mistake = multiplies(text) if all_right else None
    return [*lines, Line(last, "the product", mistake or "right" if all_right else "open")]
