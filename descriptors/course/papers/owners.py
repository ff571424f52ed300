"""Items of lesson 7: who holds an element of a tile, and a sharing out that holds each once.

Law: the thread and the value of the key hold the element that is asked for.

>>> from random import Random
>>> from descriptors.course.papers.item import make
>>> make(KINDS[0], Random(1)).exercise.solution
'11, 7'
"""

from __future__ import annotations

from random import Random

from descriptors.course.papers.item import Draft, Kind, below, pick
from layoutalg import Layout


def holder(rng: Random) -> Draft | None:
    """The thread and the value of one element."""
    t0, t1, v0, v1 = pick(rng, (2, 4)), pick(rng, (2, 4, 8)), pick(rng, (2, 4)), pick(rng, (2, 3))
    rows, columns = v0 * t0, t1 * v1
    shared = Layout(((t0, t1), (v0, v1)), ((v0, rows), (1, rows * t1)))
    row, column = below(rng, rows), below(rng, columns)
    thread, value = row // v0 + t0 * (column % t1), row % v0 + v0 * (column // t1)
    element = row + rows * column
    if thread == value or not row % v0 or thread in (row, column) or value in (row, column):
        return None
    return Draft(
        ask=(
            f"A tile of {rows} by {columns} elements is counted column after column, so that element (i, "
            "j) has the number "
            f"i + {rows}*j. `{shared}` leads from (thread, value) to that number. Which thread holds element ({row}, "
            f"{column}), and as which of its values? Two numbers."
        ),
        judge="owner",
        operands=(str(shared), (rows, columns), row, column),
        starter="?, ?",
        hints=(
            f"The number of the element is {row} + {rows}*{column} = {element}.",
            f"A thread's first {v0} values are neighbours in a column: row {row} is value {row % v0} of them.",
            f"Down the rows there are {t0} threads; the next column belongs to thread {t0} and so on.",
        ),
        solution=f"{thread}, {value}",
        why=(
            f"({thread % t0},{thread // t0}) of the thread and ({value % v0},{value // v0}) of the value give "
            f"{element}."
        ),
        slips=(
            (f"{value}, {thread}", "thread and value are exchanged"),
            (f"{row // v0 * t1 + column % t1}, {value}", "the threads are counted across first"),
            (f"{thread}, {row % v0 * v1 + column // t1}", "the values are counted across first"),
            (f"{row % (t0 * t1)}, {column % (v0 * v1)}", "row and column are taken for thread and value"),
            (f"{element % (t0 * t1)}, {element // (t0 * t1)}", "the threads are taken to hold neighbours one by one"),
            (f"{thread}, {row % v0}", "the second group of values is left out"),
        ),
    )


def shares(rng: Random) -> Draft | None:
    """A layout (thread, value) in which each thread has runs of neighbours."""
    threads, run, runs = pick(rng, (4, 8, 16, 32)), pick(rng, (2, 4, 8)), pick(rng, (1, 2, 3, 4))
    values, total = run * runs, threads * run * runs
    if total > 256:
        return None
    near = f"({threads},({run},{runs})):({run},(1,{threads * run}))"
    alone = f"({threads},{run}):({run},1)"
    piece = f"`{run}` neighbours" if runs == 1 else f"{runs} pieces of `{run}` neighbours each"
    return Draft(
        ask=(
            f"{threads} threads hold the elements 0 to {total - 1}, each once, {values} a thread, in "
            f"{piece}; a piece starts "
            f"at a multiple of {run}. A layout from (thread, value) to the element that does this."
        ),
        judge="shared out",
        operands=(f"{total}:1", threads, values, run),
        starter=f"({threads},?):(?,?)",
        hints=(
            "Begin with the values of thread 0: which are the first of them?",
            f"The next thread starts {run} or {values} elements later; both can be made right.",
            f"A mode of values may be nested: ({run},{runs}).",
        ),
        solution=alone if runs == 1 else near,
        why="Inside a piece the step is 1; the steps of threads and pieces may be exchanged.",
        slips=(
            (f"({threads},{values}):(1,{threads})", "neighbours go to different threads"),
            (f"({values},{threads}):(1,{values})", "values are written first"),
            (f"({threads},{values}):({run},1)", "threads with several pieces overlap"),
            (f"({threads},({run},{runs})):({run},(1,{run}))", "the second piece is that of the next thread"),
            (f"({threads},{values}):({values * 2},1)", "there are holes between threads"),
            (f"({threads},{run}):({run},1)", "only the first piece is written"),
            (f"({threads},{values}):(0,1)", "all threads hold the same"),
        ),
    )


#: The kinds of this module.
KINDS = (Kind("holder", 7, 2, holder), Kind("shares", 7, 3, shares))
