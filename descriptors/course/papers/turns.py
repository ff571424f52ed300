"""Items of lesson 8: turns of an access, and the smallest row that frees a column.

Law: the key of a count is what the model of the banks counts.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> make(KINDS[0], Random(1)).exercise.solution
'4'
"""

from __future__ import annotations

from random import Random

from descriptors.course.judges.traces import least_pitch
from descriptors.course.papers.item import Draft, Kind, below, pick
from layoutalg import wavefronts

#: Lanes of a warp, and the bytes that all banks serve in a turn.
LANES, LINE = 32, 128


def column(rng: Random) -> Draft | None:
    """The turns of 32 lanes that go down a column of a row-major tile."""
    count = pick(rng, (4, 8, 16))
    pitch = count * (1 + below(rng, 48))
    right = wavefronts([lane * pitch for lane in range(LANES)], count)
    at_once = LINE // count
    phases = LANES // at_once
    if pitch > 768 or right == phases:
        return None
    words = count // 4
    return Draft(
        ask=(
            f"32 lanes load {count} bytes each from one column of a row-major tile: lane i starts at byte "
            f"{pitch}*i. How many "
            "turns (wavefronts) does shared memory take?"
        ),
        judge="turns",
        operands=((f"(32,{count}):({pitch},1)", "32:1", 1, count),),
        starter="?",
        hints=(
            "There are 32 banks of 4 bytes. Which bank does lane 0 start in, which one lane 1?",
            f"128 bytes are served at a time: the lanes go in {phases} group{'s' * (phases > 1)} of {at_once}.",
            f"Neighbours are {pitch // 4} banks apart, counted modulo 32: after how many lanes is it the "
            "same bank again?",
        ),
        solution=str(right),
        why=f"In each group of {at_once} lanes one bank has to serve {right // phases} words, one after another.",
        slips=(
            (str(phases), "conflicts are not counted, only bytes"),
            (str(LANES), "all lanes are taken to meet in one bank"),
            (str(right * 2), "each group is counted twice"),
            (str(right // phases), "one group of lanes is counted, not the whole warp"),
            (str(right * words), "the words of one lane are taken to meet"),
            (str(max(1, pitch // LINE)), "the lines between lanes are counted"),
            ("1", "lanes are taken never to meet"),
        ),
    )


def padded(rng: Random) -> Draft | None:
    """The smallest pitch of rows with which a column takes no turns beyond those that its bytes need."""
    count = pick(rng, (4, 8, 16))
    width = count * pick(rng, (4, 6, 8, 12, 16, 20, 24, 32, 40, 48))
    need = LANES * count // LINE
    right = least_pitch(LANES, width, count)
    if width > 512 or right == width:
        return None
    return Draft(
        ask=(
            f"A tile of 32 rows has {width} bytes a row. 32 lanes load {count} bytes each, lane i the "
            "first of row i. How many "
            f"bytes from row to row, a multiple of {count} and at least {width}, are the fewest with which this takes "
            f"{need} turn{'s' * (need > 1)}, as few as {LANES * count} bytes can?"
        ),
        judge="pitch",
        operands=(LANES, width, count),
        starter="?",
        hints=(
            f"With {width} bytes from row to row it takes {_turns(width, count)} turns: in which banks do lanes meet?",
            f"Count the pitch in pieces of {count} bytes: a line of 128 bytes has {LINE // count} of them.",
            f"A pitch of an odd number of pieces meets all {LINE // count} pieces of the line before it comes back.",
        ),
        solution=str(right),
        why=(
            f"{right} = {right // count}*{count}, and {right // count} is odd: all banks take part before one "
            "is used again."
        ),
        slips=(
            (str(width), "the rows are left as they are"),
            (str(right - width), "the padding is taken for the pitch"),
            (str(width + LINE), "a whole line is added, which changes no bank"),
            (str(right + count), "one piece more is added"),
            (str(width + 4), "a bank is added, though the lanes load more"),
            (str(right + 2 * count), "the next pitch that would do is taken"),
        ),
    )


def _turns(pitch: int, count: int) -> int:
    return wavefronts([lane * pitch for lane in range(LANES)], count)


#: The kinds of this module.
KINDS = (Kind("turns", 8, 2, column), Kind("padding", 8, 3, padded))
