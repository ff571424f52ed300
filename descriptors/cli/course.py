"""The command `course`: lessons in the terminal, with exercises, hints and the recorded progress.

The command belongs to `descriptors`, because the lessons need both packages. `layoutalg course` is the same command,
through an entry point of the distribution.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import sleep

import click

from descriptors.course.card import tell_card
from descriptors.course.catalog import exercises, find, find_lesson, lessons
from descriptors.course.grading import attempt, verdict
from descriptors.course.lesson_text import tell_lesson, tell_list, tell_place, tell_receipt
from descriptors.course.progress import Progress, Receipt, read_receipt
from descriptors.course.source import Exercise
from descriptors.course.workbook import ON_A_GPU, judged, workbook
from descriptors.errors import DescriptorError
from layoutalg.cli.console import Status, say
from layoutalg.files import write_whole
from layoutalg.messages import shortened


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("where", required=False)
@click.argument("answer", required=False)
@click.option("--hint", is_flag=True, help="Show the next of the exercise's three hints.")
@click.option("--solution", is_flag=True, help="Show the solution with an explanation, after a first attempt.")
@click.option(
    "--hand-in", metavar="NAME", help="Print a line for the teacher: your name or number, what you solved, a checksum."
)
@click.option(
    "--verify", metavar="LINE", help="For the teacher: check such a line; - checks all lines of standard input."
)
def course(
    where: str | None,
    answer: str | None,
    hint: bool,
    solution: bool,
    hand_in: str | None,
    verify: str | None,
) -> Status:
    """Work through lessons and check your answers. The exit status is 1 for a wrong answer.

    \b
    descriptors course                     list the lessons and what you have solved
    descriptors course 5                   read lesson 5
    descriptors course 5.1                 show its first exercise
    descriptors course 5.1 "(3,2):(8,1)"   answer it
    descriptors course 5.1 --hint          show the next hint
    descriptors course card                show notation, operations and terms
    descriptors course --hand-in "Ada 47"  print a line to hand in, as the course pages do
    descriptors course --verify -          check handed-in lines from standard input
    descriptors course next                show the first unsolved exercise
    descriptors course watch mine.txt      check a file with your multiplication each time you save it

    Your progress is stored in a file; `descriptors course` prints its path.
    """
    try:
        if verify is not None:
            return _verified(verify)
        if hand_in is not None:
            say(str(Receipt(hand_in, _progress().solved())))
            return Status.ANSWER
        return _answered(where, answer, hint, solution)
    except DescriptorError as error:  # both programs run this command, and refuse in the same words
        raise click.ClickException(str(error)) from error


def _answered(where: str | None, answer: str | None, hint: bool, solution: bool) -> Status:
    progress = _progress()
    if where is None and (hint or solution):
        raise DescriptorError("course: --hint and --solution need an exercise, such as 5.1")
    if where is None:
        say(f"{tell_list(lessons(), progress.of)}\n\nwhat you have done: {progress.path}")
        return Status.ANSWER
    if where == "next":
        return _next(progress)
    if where == "watch":
        return _watched(Path(answer or "mine.txt"), progress)
    if "." not in where and (answer is not None or hint or solution):
        raise DescriptorError(
            f"course: an answer, --hint and --solution need an exercise, such as 5.1, but {where[:20]!r} is none"
        )
    if where == "card":
        say(tell_card())
        return Status.ANSWER
    number, _, rest = where.partition(".")
    if not rest:
        say(tell_lesson(find_lesson(number)))
        return Status.ANSWER
    exercise = find(where)
    if answer is None and not hint and not solution:
        say(tell_place(where))
        return Status.ANSWER
    return _worked(exercise, where, answer, hint, solution, progress)


def _worked(
    exercise: Exercise, where: str, answer: str | None, hint: bool, solution: bool, progress: Progress
) -> Status:
    """Print a hint, the solution, or the verdict on an answer."""
    if hint:
        return _hint(exercise, where, progress)
    if solution:
        return _solution(exercise, where, progress)
    return _try(exercise, where, answer or "", progress)


def _next(progress: Progress) -> Status:
    """Return the first exercise that is not solved."""
    where = next((where for where in exercises() if not progress.of(where).get("solved")), None)
    say(f"all {len(exercises())} exercises are solved" if where is None else tell_place(where))
    return Status.ANSWER


def _watched(path: Path, progress: Progress) -> Status:
    """Check a student's file whenever it is saved, until everything is right; create it if it does not exist."""
    if not path.exists():
        write_whole({path: workbook().encode()})
        say(f"wrote {path}: fill in a line and save it")
    before = ""
    while True:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise DescriptorError(f"course: {path} is not UTF-8 text") from error
        if text != before:
            before, checked = text, judged(text)
            say("\n".join(str(one) for one in checked))
            if sys.stdout is not None:
                sys.stdout.flush()  # what reads it through a pipe is told at each save too
            for one in checked:
                if one.verdict == "right":
                    progress.note(one.where, tried=1, solved=1)
            if all(one.verdict == "right" for one in checked):
                say(f"your matrices are multiplied; on a Hopper GPU: {ON_A_GPU}")
                return Status.ANSWER
        sleep(0.3)


def _progress() -> Progress:
    return Progress(Path(click.get_app_dir("layoutalg")) / "course.json")


#: The largest input of ``--verify`` in characters: the lines of ten thousand students.
MOST_HANDED_IN = 1 << 20


def _verified(line: str) -> Status:
    """Print the content of a line, or of each line of the input; an invalid line gives exit status 1."""
    if line == "-" and sys.stdin is None:
        raise DescriptorError("course: --verify - has no input")
    text = (sys.stdin.read(MOST_HANDED_IN + 1) if sys.stdin else "") if line == "-" else line
    if len(text) > MOST_HANDED_IN:
        raise DescriptorError(f"course: the input of --verify is longer than {MOST_HANDED_IN} characters")
    wrong = 0
    for receipt in filter(str.strip, text.splitlines()):
        try:
            say(tell_receipt(read_receipt(receipt), exercises()))
        except DescriptorError as error:
            wrong += 1
            say(shortened(str(error)))
    return Status.DIFFERENCE if wrong else Status.ANSWER


def _hint(exercise: Exercise, where: str, progress: Progress) -> Status:
    seen = progress.of(where).get("hints", 0)
    number = min(seen, 2)
    if seen < 3:
        progress.note(where, hints=1)
    say(f"hint {number + 1} of 3: {exercise.hints[number]}")
    return Status.ANSWER


def _solution(exercise: Exercise, where: str, progress: Progress) -> Status:
    if not progress.of(where).get("tried"):
        raise DescriptorError(f"course: the solution of {where} is shown after an attempt")
    say(f"{exercise.solution}\n{exercise.why}")
    return Status.ANSWER


def _try(exercise: Exercise, where: str, answer: str, progress: Progress) -> Status:
    judgement = verdict(exercise, answer)
    right = judgement == "right"
    say(judgement)
    if attempt(answer, judgement):
        progress.note(where, tried=1, **({"solved": 1} if right else {}))
    return Status.ANSWER if right else Status.DIFFERENCE


#: The commands that the group registers.
commands = [course]
