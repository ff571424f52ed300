"""One thread of a PTX function, executed: the judge of what is folded, which shares no line with it.

It has a reader of its own for the texts of ``ptx_programs``: a statement ends with a semicolon, a label with a colon, a
brace that stands where a statement may begin opens or closes a block. Registers are Python integers of the width that
they are declared with, and begin with random bits, so that nobody may rely on one that was not written. What a single
thread cannot know, as a value from memory, from a call, from a barrier or from floating point, is random, too.
Source: PTX ISA 9.1, chapter Instruction Set: the pseudocode and the text of each instruction.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

_WORD = re.compile(r"[%A-Za-z_$][\w$%.]*")


class Line(NamedTuple):
    """One instruction: its guard, its opcode, its operands as texts, and the scopes that it stands in."""

    guard: str
    opcode: str
    operands: list[str]
    scopes: list[dict[str, object]]


class Program:
    """A function body, read: instructions in order, labels, and what is declared where."""

    def __init__(self, body: str) -> None:
        self.lines: list[Line] = []
        self.scopes: list[dict[str, object]] = [{}]
        self.variables: dict[str, int] = {}
        for piece in self._pieces(body):
            self._take(piece)

    @staticmethod
    def _pieces(body: str) -> Iterator[str]:
        place = 0
        while place < len(body):
            while place < len(body) and body[place].isspace():
                place += 1
            if place == len(body):
                return
            if body[place] in "{}":
                yield body[place]
                place += 1
            elif label := re.compile(r"([A-Za-z_$][\w$]*):(?!:)").match(body, place):
                yield label[0]
                place = label.end()
            else:
                end = body.index(";", place)
                yield body[place:end].strip()
                place = end + 1

    def _take(self, piece: str) -> None:
        if piece == "{":
            self.scopes = [*self.scopes, {}]
        elif piece == "}":
            self.scopes = self.scopes[:-1]
        elif piece.endswith(":"):
            self.scopes[-1]["label " + piece[:-1]] = len(self.lines)
        elif piece.startswith(".reg"):
            kind, names = piece[4:].split(None, 1)
            for name in names.split(","):
                self._declare(name.strip(), kind[1:])
        elif piece.startswith(".shared"):
            align, name = re.search(r"\.align (\d+) \.b8 (\w+)", piece).groups()  # type: ignore[union-attr]
            self.variables[name] = int(align)
        else:
            guard = ""
            if piece[0] == "@":
                guard, piece = piece[1:].split(None, 1)
            opcode, _, rest = piece.partition(" ")
            # A copy of each scope as it is now: what is declared further down is not seen; labels are, wherever.
            seen = [dict(scope) for scope in self.scopes]
            for copy, scope in zip(seen, self.scopes, strict=True):
                copy["labels"] = scope
            self.lines.append(Line(guard, opcode, _commas(rest), seen))

    def _declare(self, name: str, kind: str) -> None:
        width = 1 if kind == "pred" else int(kind[1:])
        family = re.fullmatch(r"(.*)<(\d+)>", name)
        for one in [f"{family[1]}{n}" for n in range(int(family[2]))] if family else [name]:
            self.scopes[-1][one] = [width, 0]


def _commas(text: str) -> list[str]:
    depth, found = 0, [""]
    for mark in text:
        depth += (mark in "{[(") - (mark in "}])")
        if mark == "," and depth == 0:
            found.append("")
        else:
            found[-1] += mark
    return [one.strip() for one in found if one.strip()]


def signed(value: int, width: int) -> int:
    """The number that some bits are in two's complement."""
    value &= (1 << width) - 1
    return value - (1 << width) if value & 1 << (width - 1) else value


class Thread:
    """A run of a program.

    Args:
        program: the program.
        draw: where random bits come from.
        seen: for each exchange between threads, what threads brought to it so far.
        addresses: those of the variables, drawn by the first thread: others of its block have them too.
    """

    def __init__(
        self, program: Program, draw: random.Random, seen: dict[int, list[int]], addresses: dict[str, int]
    ) -> None:
        self.program, self.draw, self.seen = program, draw, seen
        self.memory: dict[int, int] = {}
        self.window = draw.getrandbits(64)
        self.addresses = addresses
        for name, align in program.variables.items():
            addresses.setdefault(name, draw.randrange(1 << 31) // align * align)
        cells = {id(cell): cell for line in program.lines for scope in line.scopes for cell in scope.values()}
        for cell in cells.values():
            if isinstance(cell, list):
                cell[1] = draw.getrandbits(cell[0])

        # Another warp may have allocated before this thread reads.
        for line in program.lines:
            if line.opcode.startswith("tcgen05.alloc"):
                self._allocate(line)

    def _allocate(self, line: Line) -> None:
        self.memory[self._place(line.operands[0], line)] = self.draw.randrange(128) << 16 | self.draw.randrange(512)

    def run(self, steps: int, watch: Callable[[int, Thread], None]) -> None:
        """Execute at most so many instructions; ``watch`` is told the number of each before it is executed."""
        at = 0
        while 0 <= at < len(self.program.lines) and steps:
            steps -= 1
            line = self.program.lines[at]
            watch(at, self)
            if line.guard and not self._holds(line.guard, line):
                at += 1
                continue
            name = line.opcode.partition(".")[0]
            if name in ("ret", "exit"):
                return
            here, at = at, self._label(line.operands[-1], line) if name == "bra" else at + 1
            if name != "bra":
                self._execute(line, here)

    def cell(self, name: str, line: Line) -> list[int] | None:
        """The register that a name means at a line; None for none."""
        for scope in reversed(line.scopes):
            if isinstance(found := scope.get(name), list):
                return found
        return None

    def _label(self, name: str, line: Line) -> int:
        for scope in reversed(line.scopes):
            found = scope["labels"].get("label " + name)  # type: ignore[attr-defined]
            if found is not None:
                return int(found)
        raise KeyError(name)

    def _holds(self, guard: str, line: Line) -> bool:
        return bool(self.read(guard, 1, line))

    def read(self, text: str, width: int, line: Line) -> int:
        """The low bits of an operand."""
        if text.startswith("!"):
            return 1 - self.read(text[1:], 1, line)
        cell = self.cell(text, line)
        if cell is not None:
            return cell[1] & (1 << width) - 1
        if text in self.addresses:
            return self.addresses[text] & (1 << width) - 1
        if text == "%laneid":
            return self.draw.randrange(32)
        if text.startswith("%tid"):
            return self.draw.randrange(1024)
        value = int(text, 0) if not text.startswith("0f") else int(text[2:], 16)
        return value & (1 << width) - 1

    def _write(self, text: str, value: int, line: Line) -> None:
        cell = self.cell(text, line)
        if cell is not None:
            cell[1] = value & (1 << cell[0]) - 1

    def _random(self, text: str, line: Line) -> None:
        """Every register that is named gets random bits."""
        for name in _WORD.findall(text):
            self._write(name, self.draw.choice((0, 1, self.draw.getrandbits(64))), line)

    def _place(self, text: str, line: Line) -> int:
        base, _, offset = text.strip("[]").partition("+")
        return (self.read(base, 64, line) + int(offset or 0)) & 0xFFFFFFFF

    def _execute(self, line: Line, number: int) -> None:
        words, read = line.opcode.split("."), line.operands
        name, kind = words[0], words[-1]
        if name == "call":
            if read and read[0].startswith("("):
                self._random(read[0], line)
        elif name in ("st", "tcgen05", "bar", "barrier", "red", "nanosleep") and "red" not in words[1:]:
            if line.opcode.startswith("tcgen05.alloc"):
                self._allocate(line)
            elif line.opcode.startswith("tcgen05.ld"):
                self._random(read[0], line)
            elif name == "st" and "shared" in words:
                self.memory[self._place(read[0], line)] = self.read(read[1], 32, line)
        elif line.opcode == "ld.shared.b32":
            place = self._place(read[1], line)
            self._write(read[0], self.memory.get(place, self.draw.getrandbits(32)), line)
        elif name == "shfl":
            brought = self.seen.setdefault(number, [])
            brought.append(self.read(read[1], 32, line))
            first, _, second = read[0].partition("|")
            self._write(first, self.draw.choice(brought), line)
            self._write(second, self.draw.getrandbits(1), line)
        elif name == "cvta":
            step = -self.window if "to" in words else self.window
            self._write(read[0], self.read(read[1], 64, line) + step, line)
        elif name == "mov" and "{" in read[0] + read[1]:
            self._pack(read, int(kind[1:]), line)
        elif name == "setp":
            self._setp(words, read, line)
        elif (value := self._value(words, read, line)) is None:
            self._random(read[0], line)
        else:
            self._write(read[0], value, line)

    def results(self, values: list[int]) -> list[int] | None:
        """Return what the only line writes if its operands are registers with these values; None if it is random.

        Args:
            values: bits of the registers ``%a0``, ``%a1`` and so on.
        """
        (line,) = self.program.lines
        for place, value in enumerate(values):
            self._write(f"%a{place}", value, line)
        words = line.opcode.split(".")
        if words[0] != "setp" and self._value(words, line.operands, line) is None:
            return None
        self._execute(line, 0)
        return [self.read(text, 64, line) for text in line.operands[0].split("|")]

    def _pack(self, read: list[str], width: int, line: Line) -> None:
        parts = [one.strip() for one in (read[0] if "{" in read[0] else read[1]).strip("{}").split(",")]
        part = width // len(parts)
        if "{" in read[0]:
            value = self.read(read[1], width, line)
            for n, one in enumerate(parts):
                self._write(one, value >> n * part & (1 << part) - 1, line)
        else:
            self._write(read[0], sum(self.read(one, part, line) << n * part for n, one in enumerate(parts)), line)

    def _setp(self, words: list[str], read: list[str], line: Line) -> None:
        kind, how = words[-1], words[1]
        width = int(kind[1:])
        a, b = self.read(read[1], width, line), self.read(read[2], width, line)
        if kind[0] == "f":
            self._random(read[0], line)
            return
        if kind[0] == "s":
            a, b = signed(a, width), signed(b, width)
        test = {
            "eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b,
            "lo": a < b, "ls": a <= b, "hi": a > b, "hs": a >= b,
        }[how]  # fmt: skip
        other = self.read(read[3], 1, line) if len(read) > 3 else 0
        join = words[2] if len(words) == 4 else ""
        results = []
        for one in (int(test), int(not test)):
            results.append({"and": one & other, "or": one | other, "xor": one ^ other, "": one}[join])
        for text, value in zip(read[0].split("|"), results, strict=False):
            self._write(text, value, line)

    def _value(self, words: list[str], read: list[str], line: Line) -> int | None:
        """What an instruction with one result computes; None where that is not for one thread, or floating point."""
        name, kind, mods = words[0], words[-1], words[1:-1]
        if kind[0] == "f" and name not in ("mov", "selp"):
            return None
        if name == "cvt":
            return self._convert(words, read, line)
        if kind != "pred" and not kind[1:].isdigit():
            return self._permute(mods + [kind], read, line) if name == "prmt" else None
        width = 1 if kind == "pred" else int(kind[1:])
        is_signed = kind[0] == "s"

        def u(n: int, w: int = 0) -> int:
            return self.read(read[n], w or width, line)

        def s(n: int) -> int:
            return signed(u(n), width) if is_signed else u(n)

        full = (1 << width) - 1
        if name in ("add", "sub") and mods in ([], ["sat"]):
            made = s(1) + s(2) if name == "add" else s(1) - s(2)
            if mods:
                return min(max(made, -(1 << 31)), (1 << 31) - 1)
            return made & full
        if name in ("mul", "mad") and mods and mods[0] in ("lo", "hi", "wide"):
            made = s(1) * s(2)
            out = {"lo": made & full, "hi": made >> width, "wide": made}[mods[0]]
            more = u(3, 2 * width if mods[0] == "wide" else 0) if name == "mad" else 0
            if len(mods) > 1:
                return None
            return (out + more) & (full if mods[0] != "wide" else (1 << 2 * width) - 1)
        if name in ("div", "rem"):
            a, b = s(1), s(2)
            if b == 0 or (is_signed and b == -1 and a == -1 << width - 1):
                return None
            quotient = abs(a) // abs(b)
            quotient = -quotient if (a < 0) != (b < 0) else quotient
            return (quotient if name == "div" else a - b * quotient) & full
        if name in ("min", "max"):
            return (min if name == "min" else max)(s(1), s(2)) & full
        simple: dict[str, Callable[[], int]] = {
            "neg": lambda: -u(1),
            "abs": lambda: abs(s(1)),
            "and": lambda: u(1) & u(2),
            "or": lambda: u(1) | u(2),
            "xor": lambda: u(1) ^ u(2),
            "not": lambda: ~u(1),
            "cnot": lambda: int(u(1) == 0),
            "mov": lambda: u(1),
            "selp": lambda: u(1) if self.read(read[3], 1, line) else u(2),
            "shl": lambda: u(1) << min(u(2, 32), width),
            "shr": lambda: s(1) >> min(u(2, 32), width),
            "popc": lambda: bin(u(1)).count("1"),
            "clz": lambda: next((n for n in range(width) if u(1) >> (width - 1 - n) & 1), width),
            "brev": lambda: sum((u(1) >> n & 1) << (width - 1 - n) for n in range(width)),
        }
        if name in simple and not mods:
            return simple[name]() & ((1 << 64) - 1 if name in ("popc", "clz") else full)
        if name == "bfind":
            a = ~u(1) & full if s(1) < 0 else u(1)
            place = next((n for n in reversed(range(width)) if a >> n & 1), -1)
            return (width - 1 - place if mods and place >= 0 else place) & 0xFFFFFFFF
        if name in ("bfe", "bfi"):
            return self._field(name, kind, width, read, line)
        if name == "shf":
            return self._funnel(mods, read, line)
        if name == "lop3" and not mods:
            a, b, c, table = u(1), u(2), u(3), u(4)
            bits = [(table >> ((a >> n & 1) << 2 | (b >> n & 1) << 1 | (c >> n & 1)) & 1) << n for n in range(32)]
            return sum(bits)
        if name == "prmt":
            return self._permute(mods, read, line)
        return None

    def _convert(self, words: list[str], read: list[str], line: Line) -> int | None:
        sat, words = "sat" in words, [one for one in words if one != "sat"]
        if len(words) != 3 or words[1][0] not in "us" or words[2][0] not in "us":
            return None
        to, of = int(words[1][1:]), int(words[-1][1:])
        value = self.read(read[1], of, line)
        value = signed(value, of) if words[-1][0] == "s" else value
        if sat:
            least, most = (-(1 << to - 1), (1 << to - 1) - 1) if words[1][0] == "s" else (0, (1 << to) - 1)
            return min(max(value, least), most)
        return signed(value, to) if words[1][0] == "s" else value & (1 << to) - 1

    def _field(self, name: str, kind: str, width: int, read: list[str], line: Line) -> int | None:
        msb = width - 1
        position, length = (self.read(text, 32, line) for text in read[-2:])
        if position > 255 or length > 255:  # the manual restricts both
            return None
        if name == "bfe":
            a = self.read(read[1], width, line)
            fill = 0 if kind[0] == "u" or length == 0 else a >> min(position + length - 1, msb) & 1
            bits = [a >> position + i & 1 if i < length and position + i <= msb else fill for i in range(width)]
            return sum(bit << i for i, bit in enumerate(bits))
        a, made = self.read(read[1], width, line), self.read(read[2], width, line)
        i = 0
        while i < length and position + i <= msb:
            made = made & ~(1 << position + i) | (a >> i & 1) << position + i
            i += 1
        return made

    def _funnel(self, mods: list[str], read: list[str], line: Line) -> int:
        a, b, c = (self.read(read[n], 32, line) for n in (1, 2, 3))
        n = c & 31 if mods[1] == "wrap" else min(c, 32)
        return (b << n | a >> 32 - n if mods[0] == "l" else b << 32 - n | a >> n) & 0xFFFFFFFF

    def _permute(self, mods: list[str], read: list[str], line: Line) -> int:
        a, b, c = (self.read(read[n], 32, line) for n in (1, 2, 3))
        data = [(b << 32 | a) >> 8 * n & 255 for n in range(8)]
        mode = mods[-1] if mods and mods[-1] != "b32" else ""
        if mode:
            k = c & 3
            chosen = {
                "f4e": [k, k + 1, k + 2, k + 3],
                "b4e": [k, k - 1 & 7, k - 2 & 7, k - 3 & 7],
                "rc8": [k] * 4,
                "ecl": [max(k, n) for n in range(4)],
                "ecr": [min(k, n) for n in range(4)],
                "rc16": [0, 1, 0, 1] if k & 1 == 0 else [2, 3, 2, 3],
            }[mode]
            return sum(data[one] << 8 * n for n, one in enumerate(chosen))
        made = 0
        for n in range(4):
            nibble = c >> 4 * n & 15
            byte = data[nibble & 7]
            made |= (255 * (byte >> 7) if nibble & 8 else byte) << 8 * n
        return made
