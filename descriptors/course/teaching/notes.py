"""The teacher's text of a lesson taken apart, and the wrong answers that a teacher should expect.

Law: the text is its steps, the slips and the way on paper, in this order.

>>> from descriptors.course.source import lessons
>>> steps, expected, paper = script(lessons()[1])
>>> steps[1].partition(",")[0], paper
('3 min: before anyone computes it', 'print the figure, the exercises are one line each.')
"""

from __future__ import annotations

import re

from descriptors.course.grading import grade
from descriptors.course.source import Lesson

_EXERCISES = re.compile(r"(\d+) min: (?:in pairs|everybody|exercises?)\b")
_WITHOUT, _SLIPS = "Without machines:", "Expected slips:"


def script(lesson: Lesson) -> tuple[list[str], str, str]:
    """The teacher's text of a lesson taken apart: the steps of its minutes, the expected slips, the way on paper.

    >>> from descriptors.course.source import lessons
    >>> len(script(lessons()[1])[0])
    4
    """
    text = " ".join(lesson.teacher.split())
    text, _, paper = text.partition(_WITHOUT)
    text, _, slips = text.partition(_SLIPS)
    return re.split(r"(?<=\.) (?=\d+ min:)", text.strip()), slips.strip(), paper.strip()


def exercise_minutes(lesson: Lesson) -> int:
    """How many of the minutes of a lesson are for exercises, as its steps say.

    >>> from descriptors.course.source import lessons
    >>> exercise_minutes(lessons()[1])
    12
    """
    return sum(int(count) for count in _EXERCISES.findall(" ".join(lesson.teacher.split())))


def slips(lesson: Lesson) -> list[tuple[str, str, str, str]]:
    """Three wrong answers to expect, of as many exercises: which one, the answer, what is wrong, what to ask.

    What is wrong is what the judge says; what to ask is the first hint.

    >>> from descriptors.course.source import lessons
    >>> slips(lessons()[5])[0][:2]
    ('5.1', '6:1')
    """
    return [
        (f"{lesson.number}.{number}", one.wrong[0][0], f"your answer {grade(one, one.wrong[0][0])}", one.hints[0])
        for number, one in enumerate(lesson.exercises[:3], 1)
    ]
