"""What is done to a kernel to make a mutant of it: lines left out, put in, or changed.

A change takes the lines of a kernel and the number of one, and yields the lines of each mutant.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

Change = Callable[[list[str], int], Iterator[list[str]]]


def without(lines: list[str], number: int) -> Iterator[list[str]]:
    yield [*lines[:number], *lines[number + 1 :]]


def replaced(pattern: str, *values: str) -> Change:
    """The line with what a pattern finds first replaced."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        for value in values:
            line = re.sub(pattern, value, lines[number], count=1)
            if line != lines[number]:
                yield [*lines[:number], line, *lines[number + 1 :]]

    return change


def preceded(*new: str) -> Change:
    """The line with others before it."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        for one in new:
            yield [*lines[:number], one, *lines[number:]]

    return change


def last_wait(change: Change) -> Change:
    """Of the waits of a kernel only those that leave nothing in flight: the others guard shared memory alone."""

    def only(lines: list[str], number: int) -> Iterator[list[str]]:
        if re.search(r"wait_group\S*\s+0;", lines[number]):
            yield from change(lines, number)

    return only


def touched(text: str) -> Change:
    """An instruction behind a multiplication that touches its first register of D, or of A."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        groups = re.findall(r"\{([^}]*)\}", lines[number])
        register = (groups[1] if "{A}" in text and len(groups) > 1 else groups[0]).split(",")[0].strip()
        if "{A}" not in text or len(groups) > 1:
            yield [*lines[: number + 1], text.format(D=register, A=register), *lines[number + 1 :]]

    return change


def early(text: str) -> Change:
    """An instruction before a wait that touches a register of the last multiplication before it."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        mma = next((one for one in lines[number::-1] if "wgmma.mma_async" in one), "")
        loops = any("bra" in one for one in lines[:number])
        if mma and (loops or "commit_group" in "".join(lines[:number])):
            register = mma.split("{", 1)[1].split(",", 1)[0].strip()
            yield [*lines[:number], text.format(D=register), *lines[number:]]

    return change


def behind(text: str) -> Change:
    """An instruction behind a wait that leaves a group in flight, which touches a register of that group."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        mma = next((one for one in lines[number::-1] if "wgmma.mma_async" in one), "")
        if mma and re.search(r"wait_group\S*\s+1;", lines[number]):
            register = mma.split("{", 1)[1].split(",", 1)[0].strip()
            yield [*lines[: number + 1], text.format(D=register), *lines[number + 1 :]]

    return change


def a_missing(lines: list[str], number: int) -> Iterator[list[str]]:
    """Without the first register of A, where A is in registers."""
    parts = lines[number].split("{")
    if len(parts) > 2:
        parts[2] = parts[2].split(",", 1)[1]
        yield [*lines[:number], "{".join(parts), *lines[number + 1 :]]


def by_thread(lines: list[str], number: int) -> Iterator[list[str]]:
    """A multiplication that only some threads come to."""
    if "@" not in lines[number]:
        made = ["mov.u32 %r9999, %tid.x;", "setp.eq.u32 %p9999, %r9999, 3;", "@%p9999 bra MUTANT;"]
        yield [*lines[:number], *made, lines[number], "MUTANT:", *lines[number + 1 :]]


def few(lines: list[str], number: int) -> Iterator[list[str]]:
    """A kernel of wgmma whose threads may have 24 registers."""
    if any("wgmma.mma_async" in line for line in lines):
        yield from preceded(".maxnreg 24")(lines, number)


def last_commit(lines: list[str], number: int) -> Iterator[list[str]]:
    """Without the last commit before a load, and nothing else: the only one of a kernel without a loop."""
    found = [i for i, line in enumerate(lines) if "tcgen05.commit" in line]
    if len(found) == 1 and any("tcgen05.ld" in line for line in lines[number:]):
        yield from without(lines, number)


def operand(place: int, delta: int) -> Change:
    """A multiplication that reads a descriptor so far from its own: ``place`` of its 64-bit registers."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        registers = re.findall(r"%rd\d+", lines[number].split("}", 1)[-1])
        if place < len(registers):
            signed = delta - (1 << 64) if delta >> 63 else delta
            made = f"add.s64 %rd9999, {registers[place]}, {signed};"
            line = lines[number].replace(registers[place], "%rd9999")
            yield [*lines[:number], made, line, *lines[number + 1 :]]

    return change


def all_waits(lines: list[str], number: int) -> Iterator[list[str]]:
    """A kernel without a wait for any mbarrier; made once, at the first."""
    found = [i for i, line in enumerate(lines) if "mbarrier.try_wait" in line]
    if number == found[0] and any("tcgen05.ld" in line for line in lines):
        gone = {*found, *(i + 1 for i in found if "bra" in lines[i + 1])}
        yield [line for i, line in enumerate(lines) if i not in gone]


def needed(lines: list[str], number: int) -> Iterator[list[str]]:
    """Without a ``wait::st``, if a multiplication follows before another."""
    after = (line for line in lines[number + 1 :] if "tcgen05.mma" in line or "wait::st" in line)
    if "tcgen05.mma" in next(after, ""):
        yield from without(lines, number)


def all_commits(lines: list[str], number: int) -> Iterator[list[str]]:
    """A kernel that reads its results, without any commit; made once, at the first."""
    found = [i for i, line in enumerate(lines) if "tcgen05.commit" in line]
    if number == found[0] and any("tcgen05.ld" in line for line in lines):
        yield [line for i, line in enumerate(lines) if i not in found]


def idesc(change: Callable[[int], int]) -> Change:
    """The constant of an instruction descriptor, changed where it is made."""

    def changed(lines: list[str], number: int) -> Iterator[list[str]]:
        register = re.search(r"(%r\d+), (?:\[[^\]]*\], \[[^\]]*\], )?!?%p\d+;", lines[number])
        if register is None:
            return
        move = rf"mov\.b32\s+{register[1]}, (-?\d+);"
        made = next((i for i in range(number, -1, -1) if re.search(move, lines[i])), None)
        if made is not None:
            value = int(re.search(move, lines[made])[1])  # type: ignore[index]
            new = change(value & 0xFFFFFFFF)
            if new != value & 0xFFFFFFFF:
                line = re.sub(r"-?\d+;", f"{new - (1 << 32) if new >> 31 else new};", lines[made])
                yield [*lines[:made], line, *lines[made + 1 :]]

    return changed


def field(low: int, bits: int, value: int) -> Callable[[int], int]:
    mask = ((1 << bits) - 1) << low
    return lambda word: word & ~mask | value << low
