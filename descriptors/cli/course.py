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
@click.argument("number", metavar="[NUMBER]", required=False)
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
    number: str | None,
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
            return _verify(verify)
        if hand_in is not None:
            say(str(Receipt(hand_in, _progress().solved())))
            return Status.ANSWER
        return _answer(number, answer, hint, solution)
    except DescriptorError as error:  # both programs run this command, and refuse in the same words
        raise click.ClickException(str(error)) from error


def _answer(number: str | None, answer: str | None, hint: bool, solution: bool) -> Status:
    progress = _progress()
    if number is None and (hint or solution):
        raise DescriptorError("course: --hint and --solution need an exercise, such as 5.1")
    if number is None:
        say(f"{tell_list(lessons(), progress.of)}\n\nyour progress: {progress.path}")
        return Status.ANSWER
    if number == "next":
        return _next(progress)
    if number == "watch":
        return _watch(Path(answer or "mine.txt"), progress)
    if "." not in number and (answer is not None or hint or solution):
        raise DescriptorError(
            f"course: an answer, --hint and --solution need an exercise, such as 5.1, but {number[:20]!r} is none"
        )
    if number == "card":
        say(tell_card())
        return Status.ANSWER
    lesson, _, rest = number.partition(".")
    if not rest:
        say(tell_lesson(find_lesson(lesson)))
        return Status.ANSWER
    exercise = find(number)
    if answer is None and not hint and not solution:
        say(tell_place(number))
        return Status.ANSWER
    return _work(exercise, number, answer, hint, solution, progress)


def _work(
    exercise: Exercise, number: str, answer: str | None, hint: bool, solution: bool, progress: Progress
) -> Status:
    """Print a hint, the solution, or the verdict on an answer."""
    if hint:
        return _hint(exercise, number, progress)
    if solution:
        return _solution(exercise, number, progress)
    return _try(exercise, number, answer or "", progress)


def _next(progress: Progress) -> Status:
    """Print the first exercise that is not solved."""
    number = next((number for number in exercises() if not progress.of(number).get("solved")), None)
    say(f"all {len(exercises())} exercises are solved" if number is None else tell_place(number))
    return Status.ANSWER


def _watch(path: Path, progress: Progress) -> Status:
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
            before, lines = text, judged(text)
            say("\n".join(str(line) for line in lines))
            if sys.stdout is not None:
                sys.stdout.flush()  # a reader of a pipe gets the verdict at each save too
            for line in lines:
                if line.verdict == "right":
                    progress.note(line.number, tried=1, solved=1)
            if all(line.verdict == "right" for line in lines):
                say(f"your matrices are multiplied; on a Hopper GPU: {ON_A_GPU}")
                return Status.ANSWER
        sleep(0.3)


def _progress() -> Progress:
    return Progress(Path(click.get_app_dir("layoutalg")) / "course.json")


#: The largest input of ``--verify`` in characters: the lines of ten thousand students.
MOST_HANDED_IN = 1 << 20


def _verify(line: str) -> Status:
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


def _hint(exercise: Exercise, number: str, progress: Progress) -> Status:
    seen = progress.of(number).get("hints", 0)
    index = min(seen, 2)
    if seen < 3:
        progress.note(number, hints=1)
    say(f"hint {index + 1} of 3: {exercise.hints[index]}")
    return Status.ANSWER


def _solution(exercise: Exercise, number: str, progress: Progress) -> Status:
    if not progress.of(number).get("tried"):
        raise DescriptorError(f"course: the solution of {number} is shown after an attempt")
    say(f"{exercise.solution}\n{exercise.why}")
    return Status.ANSWER


def _try(exercise: Exercise, number: str, answer: str, progress: Progress) -> Status:
    judgement = verdict(exercise, answer)
    right = judgement == "right"
    say(judgement)
    if attempt(answer, judgement):
        progress.note(number, tried=1, **({"solved": 1} if right else {}))
    return Status.ANSWER if right else Status.DIFFERENCE


#: The commands that the group registers.
commands = [course]
