"""A PTX text read: cut into statements, and made a module of functions with their instructions.

All of the text is read: comments and strings are passed over, braces of vectors are told from those of blocks by where
they stand, and directives that end with their line are ended there. A block in braces has registers and labels of its
own, as inline assembly does; those get a suffix, so that in what is returned a name means one thing in all of its
function. The directives of a kernel say how many registers a thread may have: 65,536 a multiprocessor, given in eights,
at most 255 a thread.
Source: PTX ISA 9.1, Syntax; Kernel and Function Directives; Variable Declarations; Performance-Tuning Directives
(.maxnreg, .maxntid, .reqntid, .minnctapersm), setmaxnreg; the CUDA programming guide.

Law: every statement of code is an instruction of some function, with its line.

>>> text = ".version 8.8\\n.target sm_90a\\n.entry k() {\\n.reg .b32 %r<2>;\\nmov.b32 %r0, 1;\\n@%p1 ret;\\n}"
>>> [(one.opcode, one.line) for one in parse(text).functions[0].code]
[('mov.b32', 5), ('ret', 6)]

Law: nothing but comments and white space is lost.

>>> text = ".version 8.8\\n{ .reg .b32 %r<2>; L: mov.b32 %r0, {%r1, 0}; /* ; */ }\\n"
>>> wanted = "".join(re.sub(r"/\\*.*?\\*/", "", text).split())
>>> "".join("".join(one.text.split()) + _END[one.kind] for one in statements(text)) == wanted
True

Law: more threads a CTA never give a thread more registers.

>>> from itertools import pairwise
>>> given = [registers(f".entry k() .maxntid {32 * warps}, 1, 1") for warps in range(1, 33)]
>>> all(a >= b for a, b in pairwise(given)), given[11], given[15], given[31]
(True, 168, 128, 64)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, NamedTuple

from descriptors.check.ptx_operands import Address, Negated, Operand, Other, Pair, Vector, operands
from descriptors.errors import DescriptorError, brief
from layoutalg.frozen import frozen

#: What a text may have at most: in bytes, and in nested blocks.
LIMIT, DEPTH = 32 << 20, 64


class Statement(NamedTuple):
    """One statement.

    Args:
        kind: ``directive``, ``code``, ``label``, ``open`` or ``close`` (the braces of a block).
        text: without what ends it; of ``open`` the head before the brace.
        line: where it begins, from 1.
    """

    kind: str
    text: str
    line: int


_END = {"directive": ";", "code": ";", "label": ":", "open": "{", "close": "}", "line": ""}

# Directives that end with their line. A section of debug data has its own braces, which _section passes over.
_LINE = re.compile(r"\.(version|target|address_size|file|loc)\b[^\n]*?(?=//|/\*|\n|;|$)")
_SKIP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.DOTALL)
_LABEL = re.compile(r"([A-Za-z_$%][\w$%]*)\s*:(?!:)")
_STOP = re.compile(r'[;{}"]|//|/\*')
_FAST = re.compile(r'[^;{}"/]*;')
_SECTION = re.compile(r"\.section\b[^{;]*\{[^}]*\}")


def statements(text: str) -> Iterator[Statement]:
    """The statements of a PTX text, in order.

    Raises:
        DescriptorError: if the text is too long, or a brace, a string or a comment is not closed.

    >>> [one.kind for one in statements(".version 8.8\\n.entry k() { ret; }")]
    ['line', 'open', 'code', 'close']
    """
    if len(text) > LIMIT:
        raise DescriptorError(f"ptx: a text must have at most {LIMIT} bytes, found {len(text)}")
    place, line, depth, counted = 0, 1, 0, 0
    while True:
        if found := _SKIP.match(text, place):
            place = found.end()
        if place >= len(text):
            break
        line, counted = line + text.count("\n", counted, place), place
        kind, body, place = _next(text, place, line)
        depth += {"open": 1, "close": -1}.get(kind, 0)
        if depth < 0 or depth > DEPTH:
            what = "closed must be open" if depth < 0 else f"open must be one of at most {DEPTH} nested"
            raise DescriptorError(f"ptx: a block that is {what}, found a brace too many; line {line}")
        yield Statement(kind, body, line)
    if depth:
        raise DescriptorError(f"ptx: every block must be closed, found {depth} open at the end")


def _next(text: str, place: int, line: int) -> tuple[str, str, int]:
    """The kind and text of the statement that begins here, and where the next may."""
    first = text[place]
    if first in "{};":
        return {"{": "open", "}": "close", ";": "directive"}[first], "", place + 1
    if first == ".":
        if found := _LINE.match(text, place):
            return "line", found[0].strip(), found.end()
        if found := _SECTION.match(text, place):
            return "line", found[0], found.end()
    elif found := _LABEL.match(text, place):
        return "label", found[1], found.end()
    if found := _FAST.match(text, place):
        return ("directive" if first == "." else "code"), found[0][:-1].rstrip(), found.end()
    return _slow(text, place, line)


def _slow(text: str, start: int, line: int) -> tuple[str, str, int]:
    """A statement with braces, strings or comments inside."""
    place, depth, parts, kept = start, 0, [], start
    head = text.startswith(".", start) and re.match(r"(?:\.\w+\s+)*\.(?:entry|func)\b", text[start : start + 200])
    while found := _STOP.search(text, place):
        mark, place = found[0], found.end()
        if mark in ("//", "/*"):
            parts.append(text[kept : found.start()])
            end = text.find("\n" if mark == "//" else "*/", place)
            if end < 0:
                raise DescriptorError(f"ptx: a comment must end before the text does; line {line}")
            place = kept = end + (0 if mark == "//" else 2)
        elif mark == '"':
            place = text.find('"', place) + 1
            if not place:
                raise DescriptorError(f"ptx: a string must be closed; line {line}")
        elif mark == ";" and depth == 0:
            parts.append(text[kept : found.start()])
            return ("directive" if text[start] == "." else "code"), "".join(parts).strip(), place
        elif mark == "{" and head and depth == 0:
            parts.append(text[kept : found.start()])
            return "open", "".join(parts).strip(), place
        elif mark in "{}":
            depth += 1 if mark == "{" else -1
            if depth < 0:
                break
    shown = brief(text[start : start + 40])
    raise DescriptorError(f"ptx: a statement must end with a semicolon, found {shown}; line {line}")


class Instruction(NamedTuple):
    """One instruction.

    Args:
        line: where it stands, from 1.
        opcode: with all qualifiers, as ``mov.b32``.
        operands: in order.
        predicate: the register of ``@p``; "" without one.
        negated: whether it is ``@!p``.
    """

    line: int
    opcode: str
    operands: tuple[Operand, ...]
    predicate: str = ""
    negated: bool = False

    @property
    def qualifiers(self) -> tuple[str, ...]:
        """The parts of the opcode, its name first."""
        return tuple(self.opcode.split("."))


@frozen
class Function:
    """A kernel or a device function.

    Args:
        name: its name.
        line: where it begins.
        entry: whether it is a kernel.
        head: its parameters and directives, up to the brace, as they are written.
        code: its instructions.
        labels: name of a label to the index of the instruction behind it.
        tables: lists of labels of ``.branchtargets``.
        variables: variables declared inside, and their alignment in bytes.
    """

    name: str
    line: int
    entry: bool
    head: str
    code: tuple[Instruction, ...]
    labels: Mapping[str, int]
    tables: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, int]


@frozen
class Module:
    """What a PTX text holds.

    Args:
        version: the number of ``.version``.
        target: the first of ``.target``, as ``sm_90a``.
        functions: those with a body.
        variables: variables of the module, and their alignment in bytes.
    """

    version: str
    target: str
    functions: tuple[Function, ...]
    variables: Mapping[str, int]

    @property
    def arch(self) -> str:
        """``sm90``, ``sm100`` (which stands for all that have tcgen05), or "" for any other target."""
        number = re.match(r"sm_(\d+)", self.target)
        return {9: "sm90", 10: "sm100", 11: "sm100"}.get(int(number[1]) // 10, "") if number else ""


def parse(text: str) -> Module:
    """The module that a PTX text is.

    Raises:
        DescriptorError: if it is no PTX text, or one that is cut off.

    >>> parse(".version 8.8\\n.target sm_100a\\n").arch
    'sm100'
    """
    if not isinstance(text, str):
        raise DescriptorError(f"ptx: a text must be a str, found {brief(text)}")
    reader = _Reader()
    for statement in statements(text):
        reader.take(statement)
    if not reader.version:
        raise DescriptorError(f"ptx: a text must begin with .version, found {brief(text[:40])}")
    return Module(reader.version, reader.target, tuple(reader.functions), reader.variables)


_HEAD = re.compile(r"\.(entry|func)\s*(?:\([^)]*\)\s*)?([\w$%]+)")
_REGISTERS = re.compile(r"\.reg\s+(?:\.v\d\s+)?\.\w+\s+(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\.(?:shared|global|const|local)\b(?:::\w+)?(.*)", re.DOTALL)
_NAMED = re.compile(r"\.[busf]\d+\s+([\w$%]+)")
_ALIGN = re.compile(r"\.align\s+(\d+)")
_OPCODE = re.compile(r"[\w.:]+")
_GUARD = re.compile(r"@\s*(!?)\s*([\w$%]+)\s+")


class _Open:
    """A function whose block is still open: what a :class:`Function` will hold."""

    def __init__(self, name: str, line: int, head: str, *, entry: bool) -> None:
        self.name, self.line, self.head, self.entry = name, line, head, entry
        self.code: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.variables: dict[str, int] = {}

    def closed(self) -> Function:
        """The function, when its block has ended."""
        code = tuple(self.code)
        return Function(self.name, self.line, self.entry, self.head, code, self.labels, self.tables, self.variables)


class _Reader:
    """Statements become functions: what is known of the blocks that are open."""

    def __init__(self) -> None:
        self.version = self.target = ""
        self.functions: list[Function] = []
        self.variables: dict[str, int] = {}
        self.open: _Open | None = None
        self.scopes: list[dict[str, str]] = []
        self.blocks = 0
        self.pending: list[tuple[int, dict[str, str]]] = []  # branches of a block, until its labels are known

    def take(self, one: Statement) -> None:
        """Read one statement."""
        match one.kind:
            case "line":
                words = one.text.split(None, 1)
                if words[0] == ".version" and not self.version:
                    self.version = words[1].strip() if len(words) > 1 else "?"
                elif words[0] == ".target" and len(words) > 1:
                    self.target = self.target or words[1].split(",")[0].strip()
            case "open":
                self._open(one)
            case "close":
                self._close()
            case "label":
                self._label(one)
            case "directive":
                self._directive(one)
            case _:
                self._code(one)

    def _open(self, one: Statement) -> None:
        if not self.version:
            raise DescriptorError(f"ptx: a text must begin with .version, found a block; line {one.line}")
        if self.open is None:
            head = _HEAD.search(one.text)
            if head is None:
                raise DescriptorError(f"ptx: a block must be that of a function, found none; line {one.line}")
            self.open = _Open(head[2], one.line, one.text, entry=head[1] == "entry")
        self.scopes.append({})

    def _close(self) -> None:
        scope = self.scopes.pop()
        if self.open is not None and scope and self.scopes:
            code = self.open.code
            while self.pending and self.pending[-1][1] is scope:
                index = self.pending.pop()[0]
                code[index] = _renamed(code[index], scope)
        if not self.scopes:
            if self.open is not None:
                self.functions.append(self.open.closed())
            self.open, self.pending = None, []

    def _own(self, name: str) -> str:
        """The name that a register or label of the innermost block has in all of its function."""
        if len(self.scopes) < 2:
            return name
        if name not in self.scopes[-1]:
            self.blocks += 1
            self.scopes[-1][name] = f"{name}#{self.blocks}"
        return self.scopes[-1][name]

    def _label(self, one: Statement) -> None:
        if self.open is None:
            raise DescriptorError(f"ptx: a label must stand in a function, found {brief(one.text)}; line {one.line}")
        self.open.labels[self._own(one.text)] = len(self.open.code)
        self.last_label = one.text

    def _directive(self, one: Statement) -> None:
        text = one.text
        if found := _REGISTERS.match(text):
            if len(self.scopes) > 1:
                for name in found[1].split(","):
                    self._own(name.strip().partition("<")[0])
        elif text.startswith(".branchtargets") and self.open is not None:
            self.open.tables[self.last_label] = tuple(n.strip() for n in text[14:].split(","))
        elif (space := _VARIABLE.search(text)) and (named := _NAMED.search(space[1])):
            align = _ALIGN.search(text)
            home = self.variables if self.open is None else self.open.variables
            home[named[1]] = int(align[1]) if align else 1

    def _code(self, one: Statement) -> None:
        if self.open is None:
            shown = brief(one.text)
            raise DescriptorError(f"ptx: an instruction must stand in a function, found {shown}; line {one.line}")
        text, guard = one.text, _GUARD.match(one.text)
        predicate, negated = "", False
        if guard:
            predicate, negated, text = guard[2], bool(guard[1]), text[guard.end() :]
        opcode = _OPCODE.match(text)
        name, rest = (opcode[0], text[opcode.end() :].strip()) if opcode else ("", text)
        done = Instruction(one.line, name, operands(rest), predicate, negated)
        if len(self.scopes) > 1:
            # The names that are declared so far; labels further down are filled in where the block ends.
            for scope in reversed(self.scopes[1:]):
                done = _renamed(done, scope) if scope else done
            if done.opcode.startswith("bra"):
                self.pending.append((len(self.open.code), self.scopes[-1]))
        self.open.code.append(done)


def _renamed(one: Instruction, scope: dict[str, str]) -> Instruction:
    known = scope.get(one.predicate, one.predicate)
    return one._replace(operands=tuple([_in_scope(o, scope) for o in one.operands]), predicate=known)


def _in_scope(operand: Operand, scope: dict[str, str]) -> Any:
    match operand:
        case str():
            found = scope.get(operand)
            if found is None and operand[-1:].isdigit() and (stem := operand.rstrip("0123456789")) in scope:
                return f"{operand}#{scope[stem].rpartition('#')[2]}"  # of a family like %r<4>
            return found or operand
        case Vector(items):
            return Vector(tuple(_in_scope(item, scope) for item in items))
        case Address(base, offset, rest):
            return Address(_in_scope(base, scope) if base else "", offset, tuple(_in_scope(r, scope) for r in rest))
        case Pair(first, second):
            return Pair(_in_scope(first, scope), _in_scope(second, scope))
        case Negated(name):
            return Negated(_in_scope(name, scope))
        case Other() | int():
            return operand


#: What ptxas needs beside the registers of one multiplication or of all that are in flight (C7602, C7512: tried).
REST = 26
#: Registers of a multiprocessor, the most a thread can name, the step in which they are given.
ALL, MOST_REGISTERS, STEP = 65536, 255, 8

_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+(\d{1,6}(?:\s*,\s*\d{1,6}){0,2})")
_SHARED = re.compile(r"\.minnctapersm\s+(\d{1,6})")
_MOST = re.compile(r"\.maxnreg\s+(\d{1,6})")


def registers(head: str) -> int:
    """Registers that a thread may have, by the directives in the head of a kernel.

    >>> [registers(f".entry k() {one}") for one in ("", ".maxnreg 128", ".reqntid 128 .minnctapersm 4")]
    [255, 128, 128]
    """
    found = [MOST_REGISTERS]
    if most := _MOST.search(head):
        found.append(int(most[1]))
    if threads := _THREADS.search(head):
        shared = _SHARED.search(head)
        many = prod(int(n) for n in threads[1].split(",")) * (int(shared[1]) if shared else 1)
        found.append(ALL // max(1, many) // STEP * STEP)
    return min(found)


def allowed(function: Function) -> int:
    """Registers that a thread of a function may come to have: ``setmaxnreg`` gives more while it runs.

    >>>
    >>> body = ".entry k() .maxntid 384 { setmaxnreg.inc.sync.aligned.u32 240; ret; }"
    >>> allowed(parse(f".version 8.8\\n{body}").functions[0])
    240
    """
    given = [one.operands[0] for one in function.code if one.opcode.startswith("setmaxnreg") and one.operands]
    return max([registers(function.head), *(n for n in given if isinstance(n, int) and n <= MOST_REGISTERS)])
