"""What is done to a kernel to make a mutant of it: statements left out, put in, moved, or changed.

A change takes the lines of a kernel, one statement each, and the number of one, and yields the lines of each mutant.
What it puts in declares the registers that it needs, in a block of its own, so that an assembler takes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

Change = Callable[[list[str], int], Iterator[list[str]]]

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STATEMENT = re.compile(r"[^;{}]*(?:\{[^;{}]*\}[^;{}]*)*;|[^;{}]*[{}]")
_LABEL = re.compile(r"\s*([$\w]+:)(?!:)\s*(.*)", re.DOTALL)
_LINE = re.compile(r"\s*(@!?[$%\w]+\s+)?([\w.:]+)\s*(.*?)\s*;")
#: Which operand has which part, by the beginning of an opcode.
_PLACES = {
    "wgmma.mma_async": {"D": 0, "A": 1, "B": 2, "scale-d": 3, "scale-a": 4, "scale-b": 5},
    "tcgen05.mma": {"D": 0, "A": 1, "B": 2, "idesc": 3, "enable": -1},
    "tcgen05.alloc": {"address": 0, "columns": 1},
    "tcgen05.dealloc": {"address": 0, "columns": 1},
    "tcgen05.": {"address": 0},
    "mbarrier.init": {"barrier": 0, "count": 1},
    "mbarrier.try_wait": {"barrier": 1, "parity": 2},
    "mbarrier.arrive": {"barrier": 1, "bytes": 2},
    "cp.async.bulk": {"to": 0, "size": 2, "barrier": -1},
}


def statements(text: str) -> str:
    """A PTX text with one statement, label or brace a line, and without comments."""
    rows: list[str] = []
    for found in _STATEMENT.findall(_COMMENT.sub("", text)):
        one = found
        while label := _LABEL.fullmatch(one):
            rows.append(label[1])
            one = label[2]
        parts = one.strip().split("\n")
        whole = ";" in one and not one.lstrip().startswith(".version")
        rows += (
            [" ".join(part.strip() for part in parts)] if whole else [part.strip() for part in parts if part.strip()]
        )
    return "\n".join(rows) + "\n"


def _parts(line: str) -> tuple[str, str, list[str]]:
    """Guard, opcode and operands of a statement."""
    found = _LINE.fullmatch(line)
    if found is None:
        return "", "", []
    return found[1] or "", found[2], re.findall(r"\s*((?:\{[^}]*\}|\[[^\]]*\]|[^,{\[]+)+)", found[3])


def _written(guard: str, opcode: str, operands: list[str]) -> str:
    return f"{guard}{opcode} {', '.join(one.strip() for one in operands)};"


def _with(line: str, part: str, new: Callable[[str], str | None]) -> tuple[str, str] | None:
    """An operand of a line, and the line with another in its place."""
    guard, opcode, operands = _parts(line)
    places = next((one for begin, one in _PLACES.items() if opcode.startswith(begin)), {})
    place = places.get(part, len(operands))
    if place >= len(operands):
        return None
    old = operands[place].strip()
    value = new(old)
    if value is None or value == old:
        return None
    operands[place] = value
    return old, _written(guard, opcode, operands)


# ------------------------------------------------------------------------------------------------- one line


def without(lines: list[str], number: int) -> Iterator[list[str]]:
    yield [*lines[:number], *lines[number + 1 :]]


def twice(lines: list[str], number: int) -> Iterator[list[str]]:
    yield [*lines[:number], lines[number], *lines[number:]]


def unguarded(lines: list[str], number: int) -> Iterator[list[str]]:
    guard, opcode, operands = _parts(lines[number])
    if guard:
        yield [*lines[:number], _written("", opcode, operands), *lines[number + 1 :]]


def replaced(pattern: str, *values: str) -> Change:
    """The line with what a pattern finds first replaced."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        for value in values:
            line = re.sub(pattern, value, lines[number], count=1)
            if line != lines[number]:
                yield [*lines[:number], line, *lines[number + 1 :]]

    return change


def operand(part: str, *values: str) -> Change:
    """The line with other operands, in which {old} is what was there."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        for value in values:
            if made := _with(lines[number], part, lambda old, value=value: value.format(old=old)):  # type: ignore[misc]
                yield [*lines[:number], made[1], *lines[number + 1 :]]

    return change


def scaled(part: str, numerator: int, denominator: int = 1, more: int = 0) -> Change:
    """The line with a number in it changed: a literal, or what a register holds."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        steps = f"mul.lo.u32 {{new}}, {{old}}, {numerator};", f"shr.u32 {{new}}, {{new}}, {denominator >> 1};"
        held = _with(
            lines[number],
            part,
            lambda old: str(int(old, 0) * numerator // denominator + more) if old[0] in "0123456789" else None,
        )
        if held:
            yield [*lines[:number], held[1], *lines[number + 1 :]]
        else:
            yield from computed(part, "b32", *steps, f"add.u32 {{new}}, {{new}}, {more};")(lines, number)

    return change


def moved(part: str, delta: int) -> Change:
    """The line with an address so many bytes, or columns, on."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        def further(old: str) -> str | None:
            held = re.fullmatch(r"\[\s*([$%\w]+)\s*(?:\+\s*(\w+))?\s*\]", old)
            return f"[{held[1]}+{int(held[2] or '0', 0) + delta}]" if held else None

        if made := _with(lines[number], part, further):
            yield [*lines[:number], made[1], *lines[number + 1 :]]

    return change


def preceded(*new: str) -> Change:
    """The line with others before it, each of them once."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        for one in new:
            yield [*lines[:number], one, *lines[number:]]

    return change


def registers(limit: str, where: str, *new: str) -> Change:
    """The head of a kernel with a limit of its registers, and instructions behind the first line like another."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        place = next(i for i, line in enumerate(lines) if i > number and re.search(where, line))
        head = [*lines[:number], f"{lines[number]} {limit}", *lines[number + 1 : place + 1]]
        yield [*head, *new, *lines[place + 1 :]]

    return change


def followed(*new: str) -> Change:
    """The line with others behind it, each of them once."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        for one in new:
            yield [*lines[: number + 1], one, *lines[number + 1 :]]

    return change


def computed(part: str, kind: str, *steps: str) -> Change:
    """The line with an operand made from what was there: {new} from {old}; of registers and literals alone."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        made = _with(lines[number], part, lambda old: None if old[0] in "{[" else "%mutant")
        if made:
            made_here = [one.format(new="%mutant", old=made[0]) for one in steps]
            block = ["{", f".reg .{kind} %mutant;", *made_here, made[1], "}"]
            yield [*lines[:number], *block, *lines[number + 1 :]]

    return change


def under(*steps: str) -> Change:
    """The line under a guard %mutant that the steps make; they have %at, of 32 bits, too."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        _, opcode, operands = _parts(lines[number])
        line = _written("@%mutant ", opcode, operands).replace(" ;", ";")
        if "@" in lines[number]:
            return
        block = ["{", ".reg .pred %mutant;", ".reg .b32 %at;", *steps, line, "}"]
        yield [*lines[:number], *block, *lines[number + 1 :]]

    return change


one_thread = under("mov.u32 %at, %tid.x;", "setp.eq.u32 %mutant, %at, 0;")
other_ctas = under("mov.u32 %at, %ctaid.x;", "setp.ne.u32 %mutant, %at, 0;")


# ------------------------------------------------------------------------------------------------- lines and lines


def everywhere(where: str, change: Change) -> Change:
    """Every line like this one changed; made once, at the first."""

    def changed(lines: list[str], number: int) -> Iterator[list[str]]:
        places = [i for i, line in enumerate(lines) if re.search(where, line)]
        if number != places[0]:
            return
        made, changes = lines, 0
        for place in reversed(places):
            one = next(change(made, place), None)
            made, changes = (one, changes + 1) if one is not None else (made, changes)
        if changes:
            yield made

    return changed


def gone(where: str) -> Change:
    """A kernel without any line like this one; made once, at the first."""
    return everywhere(where, without)


def first(where: str, change: Change) -> Change:
    """A change of the first line of a kernel that is like this one."""

    def only(lines: list[str], number: int) -> Iterator[list[str]]:
        if number == next(i for i, line in enumerate(lines) if re.search(where, line)):
            yield from change(lines, number)

    return only


def after(pattern: str, change: Change, within: int = 10**6) -> Change:
    """A change of a line that has one like that among the lines before it."""

    def only(lines: list[str], number: int) -> Iterator[list[str]]:
        if any(re.search(pattern, one) for one in lines[max(0, number - within) : number]):
            yield from change(lines, number)

    return only


def before(pattern: str, change: Change) -> Change:
    """A change of a line that has one like that behind it."""

    def only(lines: list[str], number: int) -> Iterator[list[str]]:
        if any(re.search(pattern, one) for one in lines[number + 1 :]):
            yield from change(lines, number)

    return only


def moved_up(pattern: str) -> Change:
    """The line before the last one above it that is like that."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        place = next((i for i in range(number - 1, -1, -1) if re.search(pattern, lines[i])), None)
        if place is not None:
            yield [*lines[:place], lines[number], *lines[place:number], *lines[number + 1 :]]

    return change


def moved_down(pattern: str) -> Change:
    """The line behind the next one that is like that."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        place = next((i for i in range(number + 1, len(lines)) if re.search(pattern, lines[i])), None)
        if place is not None:
            yield [*lines[:number], *lines[number + 1 : place + 1], lines[number], *lines[place + 1 :]]

    return change


# ------------------------------------------------------------------------------------------------- registers


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


def _issued_before(lines: list[str], number: int) -> str:
    """The first register of D of the multiplication before a line."""
    mma = next((one for one in lines[number::-1] if "wgmma.mma_async" in one), "")
    return mma.split("{", 1)[1].split(",", 1)[0].strip() if mma else ""


def early(text: str) -> Change:
    """An instruction before a wait that touches a register of the last multiplication before it."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        register = _issued_before(lines, number)
        if register and "commit_group" in "".join(lines[:number]):
            yield [*lines[:number], text.format(D=register), *lines[number:]]

    return change


def behind(text: str) -> Change:
    """An instruction behind a wait that leaves a group in flight, which touches a register of that group."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        register = _issued_before(lines, number)
        if register and re.search(r"wait_group\S*\s+1;", lines[number]):
            yield [*lines[: number + 1], text.format(D=register), *lines[number + 1 :]]

    return change


def a_missing(lines: list[str], number: int) -> Iterator[list[str]]:
    """Without the first register of A, where A is in registers."""
    parts = lines[number].split("{")
    if len(parts) > 2:
        parts[2] = parts[2].split(",", 1)[1]
        yield [*lines[:number], "{".join(parts), *lines[number + 1 :]]


def used_too_early(lines: list[str], number: int) -> Iterator[list[str]]:
    """A wait behind the next line that has a register of the load before it."""
    load = next((one for one in lines[number::-1] if "tcgen05.ld" in one), "")
    held = set(re.findall(r"[%\w]+", load.split("{", 1)[-1].split("}")[0]))
    for place in range(number + 1, len(lines)):
        if held & set(re.findall(r"[%\w]+", lines[place])):
            yield [*lines[:number], *lines[number + 1 : place + 1], lines[number], *lines[place + 1 :]]
            return


def few(lines: list[str], number: int) -> Iterator[list[str]]:
    """A kernel of wgmma whose threads may have 24 registers."""
    if any("wgmma.mma_async" in line for line in lines):
        yield from preceded(".maxnreg 24")(lines, number)


def needed(lines: list[str], number: int) -> Iterator[list[str]]:
    """Without a ``wait::st``, if a multiplication follows before another."""
    later = (line for line in lines[number + 1 :] if "tcgen05.mma" in line or "wait::st" in line)
    if "tcgen05.mma" in next(later, ""):
        yield from without(lines, number)


def by_thread(lines: list[str], number: int) -> Iterator[list[str]]:
    """A multiplication that only some threads come to."""
    if "@" not in lines[number]:
        made = ["{", ".reg .b32 %at;", ".reg .pred %mutant;", "mov.u32 %at, %tid.x;", "setp.eq.u32 %mutant, %at, 3;"]
        made += ["@%mutant bra MUTANT;", lines[number], "MUTANT:", "}"]
        yield [*lines[:number], *made, *lines[number + 1 :]]


# ------------------------------------------------------------------------------------------------- barriers and words


def wait_gone(lines: list[str], number: int) -> Iterator[list[str]]:
    """Without a wait for an mbarrier, and without the branches of its loop."""
    last = number + 1
    while last < len(lines) and re.match(r"(@!?[%\w]+ )?bra\b", lines[last]) and last < number + 3:
        last += 1
        if not lines[number + 1].startswith("@") or "@!" in lines[number + 1]:
            break
    yield [*lines[:number], *lines[last:]]


def one_try(lines: list[str], number: int) -> Iterator[list[str]]:
    """A wait for an mbarrier that is tried once, and not until it succeeds."""
    for made in wait_gone(lines, number):
        yield [*made[:number], lines[number], *made[number:]]


def all_waits(lines: list[str], number: int) -> Iterator[list[str]]:
    """A kernel that reads its results, without a wait for any mbarrier; made once, at the first."""
    if any("tcgen05.ld" in line for line in lines):
        yield from everywhere(r"mbarrier\.try_wait", wait_gone)(lines, number)


def columns(lines: list[str], number: int) -> Iterator[list[str]]:
    """A kernel that allocates, and frees, half the columns."""
    yield from everywhere(r"tcgen05\.(alloc|dealloc)\.", scaled("columns", 1, 2))(lines, number)


def idesc(low: int, bits: int, value: int) -> Change:
    """An instruction descriptor with another value in a field."""
    mask = 0xFFFFFFFF ^ ((1 << bits) - 1) << low
    steps = f"and.b32 {{new}}, {{old}}, {mask:#x};", f"or.b32 {{new}}, {{new}}, {value << low:#x};"
    return computed("idesc", "b32", *steps)


def idesc_other(low: int) -> Change:
    """An instruction descriptor with another bit."""
    return computed("idesc", "b32", f"xor.b32 {{new}}, {{old}}, {1 << low:#x};")


def _word(lines: list[str]) -> int | None:
    """The constant part of the words of a kernel, if all of them have the same upper half."""
    found = re.findall(r"\b(0x[0-9a-fA-F]{15,16}|\d{19})\b", "\n".join(lines))
    words = {int(one, 0) for one in found}
    return min(words) if words and len({one >> 32 for one in words}) == 1 else None


def field(part: str, low: int, bits: int, new: Callable[[int], int]) -> Change:
    """A shared-memory word with a field changed; the old value is the one of the constants of the kernel."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        word = _word(lines)
        if word is None:
            return
        held, mask = word >> low & (1 << bits) - 1, (1 << bits) - 1
        if new(held) != held:
            steps = (
                f"and.b64 {{new}}, {{old}}, {(1 << 64) - 1 ^ mask << low:#x};",
                f"or.b64 {{new}}, {{new}}, {(new(held) & mask) << low:#x};",
            )
            yield from computed(part, "b64", *steps)(lines, number)

    return change


def added(part: str, delta: int) -> Change:
    """A shared-memory word that is so far from its own."""
    return computed(part, "b64", f"add.s64 {{new}}, {{old}}, {delta};")


def cut(low: int, bits: int) -> Change:
    """A start address that is cut out of an address at another bit: where it is cut by a shift, or by a field."""

    def change(lines: list[str], number: int) -> Iterator[list[str]]:
        guard, opcode, operands = _parts(lines[number])
        operands[2:] = [str(low)] if opcode.startswith("shr") else [str(low), str(bits)]
        yield [*lines[:number], _written(guard, opcode, operands), *lines[number + 1 :]]

    return change
