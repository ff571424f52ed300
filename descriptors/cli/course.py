"""The command `course`: the lessons in the terminal, with exercises, hints, and what was done.

It belongs to `descriptors`, as its lessons need both packages; `layoutalg course` is this command too, through the
entry point that the distribution declares.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from descriptors.errors import DescriptorError
from descriptors.lessons.grading import attempted, grade
from descriptors.lessons.handed import Handed, read
from descriptors.lessons.progress import Progress
from descriptors.lessons.source import Exercise, Lesson, lessons
from descriptors.lessons.teaching.card import tell_card
from descriptors.lessons.telling import tell_exercise, tell_handed, tell_lesson, tell_list
from layoutalg.cli.console import Status, say


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("where", required=False)
@click.argument("answer", required=False)
@click.option("--hint", is_flag=True, help="The next of the exercise's three hints.")
@click.option("--solution", is_flag=True, help="The solution, and why; after a first attempt.")
@click.option(
    "--hand-in", metavar="NAME", help="A line for the teacher: your name or number, what you solved, a checksum."
)
@click.option(
    "--verify", metavar="LINE", help="For the teacher: what such a line says; with - every line of the input."
)
def course(
    where: str | None, answer: str | None, hint: bool, solution: bool, hand_in: str | None, verify: str | None
) -> Status:
    """The course: its lessons, its exercises, and a judge for every answer. Exit status 1 for a wrong answer or line.

    \b
    descriptors course                     the lessons, and what you have solved
    descriptors course 5                   lesson 5
    descriptors course 5.1                 its first exercise
    descriptors course 5.1 "(3,2):(8,1)"   an answer to it
    descriptors course 5.1 --hint          the next hint
    descriptors course card                the notation, every operation, the words
    descriptors course --hand-in "Ada 47"  a line to hand in; pages of the course make it too
    descriptors course --verify -          what each of many lines says

    What you have done is kept in a file of your own; `descriptors course` says where.
    """
    try:
        if verify is not None:
            return _verified(verify)
        if hand_in is not None:
            say(str(Handed(hand_in, _progress().solved())))
            return Status.ANSWER
        return _answered(where, answer, hint, solution)
    except DescriptorError as error:  # both programs run this command, and refuse in the same words
        raise click.ClickException(str(error)) from error


def _answered(where: str | None, answer: str | None, hint: bool, solution: bool) -> Status:
    progress = _progress()
    if where is None:
        say(f"{tell_list(lessons(), progress.of)}\n\nwhat you have done: {progress.path}")
        return Status.ANSWER
    if where == "card":
        say(tell_card())
        return Status.ANSWER
    number, _, rest = where.partition(".")
    lesson = _lesson(number)
    if not rest:
        say(tell_lesson(lesson))
        return Status.ANSWER
    exercise = _exercise(lesson, rest)
    if hint:
        return _hint(exercise, where, progress)
    if solution:
        return _solution(exercise, where, progress)
    if answer is None:
        say(tell_exercise(lesson, int(rest)))
        return Status.ANSWER
    return _try(exercise, where, answer, progress)


def _progress() -> Progress:
    return Progress(Path(click.get_app_dir("layoutalg")) / "course.json")


def _verified(line: str) -> Status:
    """What a line says, or each line of the input; a line that was changed is a difference, and so is none at all."""
    if line == "-" and sys.stdin is None:
        raise DescriptorError("course: --verify - must have an input, found none")
    given = sys.stdin.read().splitlines() if line == "-" else [line]
    known = {f"{lesson.number}.{k + 1}" for lesson in lessons() for k in range(len(lesson.exercises))}
    wrong = 0
    for one in filter(str.strip, given):
        try:
            say(tell_handed(read(one), known))
        except DescriptorError as error:
            wrong += 1
            say(str(error))
    return Status.DIFFERENCE if wrong else Status.ANSWER


def _lesson(number: str) -> Lesson:
    for lesson in lessons():
        if number == str(lesson.number):
            return lesson
    raise DescriptorError(
        f"course: the lesson must be one of {', '.join(str(one.number) for one in lessons())}, found {number[:20]}"
    )


def _exercise(lesson: Lesson, number: str) -> Exercise:
    count = len(lesson.exercises)
    if number not in {str(k + 1) for k in range(count)}:
        raise DescriptorError(f"course: lesson {lesson.number} has exercises 1 to {count}, found {number[:20]}")
    return lesson.exercises[int(number) - 1]


def _hint(exercise: Exercise, where: str, progress: Progress) -> Status:
    seen = progress.of(where).get("hints", 0)
    shown = min(seen, 2)
    if seen < 3:
        progress.note(where, hints=1)
    say(f"hint {shown + 1} of 3: {exercise.hints[shown]}")
    return Status.ANSWER


def _solution(exercise: Exercise, where: str, progress: Progress) -> Status:
    if not progress.of(where).get("tried"):
        raise DescriptorError(f"course: the solution comes after an attempt, found none of {where}")
    say(f"{exercise.solution}\n{exercise.why}")
    return Status.ANSWER


def _try(exercise: Exercise, where: str, answer: str, progress: Progress) -> Status:
    wrong = grade(exercise, answer)
    if attempted(answer):
        progress.note(where, tried=1, **({} if wrong else {"solved": 1}))
    say(f"your answer {wrong}" if wrong else "right")
    return Status.DIFFERENCE if wrong else Status.ANSWER


#: The commands that the group registers.
commands = [course]
