r"""Parse PTX text into statements, and into a module of functions with their instructions.

Comments and strings are skipped. Braces of vectors and of blocks are distinguished by their position. Directives
without a semicolon end with their line. A block in braces has its own registers and labels, as inline assembly does.
These names get a suffix, so that a name has one meaning in its function. The directives of a kernel limit the registers
of a thread: 65,536 per multiprocessor, allocated in steps of 8, at most 255 per thread.
Source: PTX ISA 9.1, Syntax; Kernel and Function Directives; Variable Declarations; Performance-Tuning Directives
(.maxnreg, .maxntid, .reqntid, .minnctapersm), setmaxnreg; the CUDA programming guide.

Invariant: each code statement is an instruction of a function, with its line.

>>> text = ".version 8.8\n.target sm_90a\n.entry k() {\n.reg .b32 %r<2>;\nmov.b32 %r0, 1;\n@%p1 ret;\n}"
>>> [(instruction.opcode, instruction.line) for instruction in parse(text).functions[0].code]
[('mov.b32', 5), ('ret', 6)]

Invariant: statements contain the whole text except comments and white space.

>>> text = ".version 8.8\n{ .reg .b32 %r<2>; L: mov.b32 %r0, {%r1, 0}; /* ; */ }\n"
>>> expected = "".join(re.sub(r"/\*.*?\*/", "", text).split())
>>> "".join("".join(row.text.split()) + _END[row.kind] for row in statements(text)) == expected
True

Invariant: with more threads per CTA, a thread never has more registers.

>>> from itertools import pairwise
>>> limits = [registers(f".entry k() .maxntid {32 * warps}, 1, 1") for warps in range(1, 33)]
>>> all(a >= b for a, b in pairwise(limits)), limits[11], limits[15], limits[31]
(True, 168, 128, 64)
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import prod
from types import MappingProxyType
from typing import Any, NamedTuple

from descriptors.check.ptx.ptx_operands import (
    WORD,
    Address,
    Negated,
    Operand,
    Other,
    Pair,
    Vector,
    names,
    number,
    operands,
)
from descriptors.errors import ChoiceError, DescriptorError, brief
from descriptors.targets import generation
from layoutalg.frozen import frozen

#: Largest number of bytes of a text, of nested blocks, and of characters of a name.
LIMIT, DEPTH, NAME_LETTERS = 32 << 20, 64, 1 << 16


class Statement(NamedTuple):
    """A statement.

    Args:
        kind: ``directive``, ``code``, ``label``, ``line`` (a directive without semicolon), ``open`` or ``close`` (the
            braces of a block).
        text: the text without its terminator; for ``open``, the head before the brace.
        line: its first line, from 1.
    """

    kind: str
    text: str
    line: int


_END = {"directive": ";", "code": ";", "label": ":", "open": "{", "close": "}", "line": ""}

# Directives without a semicolon: the expected operands of each, or else the rest of its line.
_LINE = re.compile(
    r"""\.(?:version\s+\d+\.\d+
    |target\s+\w+(?:\s*,\s*\w+)*
    |address_size\s+\d+
    |file\s+\d+\s*"(?:[^"\\\n]|\\.)*"(?:\s*,\s*\d+\s*,\s*\d+)?
    |loc\s+\d+\s+\d+\s+\d+(?:\s*,\s*function_name\s+[\w$]+(?:\s*\+\s*\d+)?\s*,\s*inlined_at\s+\d+\s+\d+\s+\d+)?
    )(?![\w.]) | \.(?:version|target|address_size|file|loc)\b[^\n]*?(?=//|/\*|\n|;|$)""",
    re.VERBOSE,
)
# For the assembler, \r is white space, and only \n ends a comment.
_SKIP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/|\#[ \t]*(?:line\b|\d)[^\n]*)+", re.DOTALL)
_LABEL = re.compile(r"([A-Za-z_$%][\w$%]*)\s*:(?!:)")
_STOP = re.compile(r'[;{}"]|//|/\*')
_STRING = re.compile(r'(?:[^"\\]|\\.)*"', re.DOTALL)
_LONG_NAME = re.compile(rf"(?<![\w$%])[\w$%]{{{NAME_LETTERS + 1}}}")
_FAST = re.compile(r'[^;{}"/]*;')
# The pattern of most statements: code, possibly with vectors, without a label, a string or a comment.
_PLAIN = r'[^;{}"/:]*+(?:::[^;{}"/:]*+)*+'
_CODE = re.compile(rf"\s*+([\w%$@]{_PLAIN}(?:\{{{_PLAIN}\}}{_PLAIN})*+);")
# A section of debug data has its own braces.
_SECTION = re.compile(r"\.section\b[^{;]*\{[^}]*\}")


def statements(text: str) -> Iterator[Statement]:
    r"""Yield the statements of a PTX text, in order.

    Raises:
        DescriptorError: if the text is too long, or a brace, a string or a comment is not closed.

    >>> [statement.kind for statement in statements(".version 8.8\n.entry k() { ret; }")]
    ['line', 'open', 'code', 'close']
    """
    if len(text) > LIMIT:
        raise DescriptorError(f"ptx: the text has {len(text)} bytes, which is more than {LIMIT}")
    if match := _LONG_NAME.search(text):
        line = text.count("\n", 0, match.start()) + 1
        name = brief(match[0])
        raise DescriptorError(f"ptx: the name {name} has more than {NAME_LETTERS} characters; line {line}")
    place, line, opened, counted = 0, 1, list[int](), 0
    while True:
        if match := _CODE.match(text, place):
            start, place = match.start(1), match.end()
            line, counted = line + text.count("\n", counted, start), start
            yield Statement("code", match[1], line)
            continue
        if match := _SKIP.match(text, place):
            place = match.end()
        if place >= len(text):
            break
        line, counted = line + text.count("\n", counted, place), place
        kind, body, place = _next_statement(text, place, line)
        if kind == "close" and not opened:
            raise DescriptorError(f"ptx: a '}}' closes no block; line {line}")
        if kind == "open":
            opened.append(line)
        elif kind == "close":
            opened.pop()
        if len(opened) > DEPTH:
            raise DescriptorError(f"ptx: more than {DEPTH} blocks are nested; line {line}")
        yield Statement(kind, body, line)
    if opened:
        places = f"opened in line {opened[0]}" if len(opened) == 1 else f"the first is opened in line {opened[0]}"
        raise DescriptorError(f"ptx: {len(opened)} '{{' {'is' if len(opened) == 1 else 'are'} not closed ({places})")


def _next_statement(text: str, place: int, line: int) -> tuple[str, str, int]:
    """Return the kind and text of the statement at a place, and the place after it."""
    first = text[place]
    if first in "{};":
        return {"{": "open", "}": "close", ";": "directive"}[first], "", place + 1
    if first == ".":
        if match := _LINE.match(text, place):
            return "line", match[0].strip(), match.end()
        if match := _SECTION.match(text, place):
            return "line", match[0], match.end()
    elif match := _LABEL.match(text, place):
        return "label", match[1], match.end()
    if match := _FAST.match(text, place):
        return ("directive" if first == "." else "code"), match[0][:-1].rstrip(), match.end()
    return _scan_statement(text, place, line)


def _scan_statement(text: str, start: int, line: int) -> tuple[str, str, int]:
    """Return a statement that contains braces, strings or comments, and the place after it."""
    place, depth, parts, copied_to = start, 0, [], start
    head = text.startswith(".", start) and re.match(r"(?:\.\w+\s+)*\.(?:entry|func)\b", text[start : start + 200])
    while match := _STOP.search(text, place):
        mark, place = match[0], match.end()
        if mark in ("//", "/*"):
            parts.append(text[copied_to : match.start()])
            end = text.find("\n" if mark == "//" else "*/", place)
            if end < 0:
                raise DescriptorError(f"ptx: a comment is not closed; line {line}")
            place = copied_to = end + (0 if mark == "//" else 2)
        elif mark == '"':
            string = _STRING.match(text, place)
            if string is None:
                raise DescriptorError(f"ptx: a string is not closed; line {line}")
            place = string.end()
        elif mark == ";" and depth == 0:
            parts.append(text[copied_to : match.start()])
            return ("directive" if text[start] == "." else "code"), "".join(parts).strip(), place
        elif mark == "{" and head and depth == 0:
            parts.append(text[copied_to : match.start()])
            return "open", "".join(parts).strip(), place
        elif mark in "{}":
            depth += 1 if mark == "{" else -1
            if depth < 0:
                break
    shown = brief(text[start : start + 40])
    raise DescriptorError(f"ptx: the statement {shown} does not end with a semicolon; line {line}")


class Instruction(NamedTuple):
    """An instruction.

    Args:
        line: its line, from 1.
        opcode: the opcode with all qualifiers, such as ``mov.b32``.
        operands: the operands in order.
        predicate: the register of the guard ``@p``; "" without one.
        negated: whether the guard is ``@!p``.
    """

    line: int
    opcode: str
    operands: tuple[Operand, ...]
    predicate: str = ""
    negated: bool = False

    @property
    def qualifiers(self) -> tuple[str, ...]:
        """The parts of the opcode, its name first."""
        return _qualifiers(self.opcode)


@lru_cache(maxsize=4096)
def _qualifiers(opcode: str) -> tuple[str, ...]:
    return tuple(opcode.split("."))


# Instructions without a result whose first operand may be a register. Other instructions write their first operand,
# unless it is an address; an unrecorded result would leave a stale value in the register.
_NO_RESULT = frozenset(
    "bar barrier bra brx ret exit trap brkpt nanosleep pmevent setmaxnreg stackrestore griddepcontrol fence membar st"
    " red prefetch prefetchu discard applypriority cp stmatrix tensormap".split()
)


@lru_cache(maxsize=4096)
def results(opcode: str) -> int:
    """Return how many of the first operands an instruction writes; -1 for a call, which writes those in parentheses.

    >>> [results(name) for name in ("add.s32", "bar.sync", "bar.red.popc.u32", "tcgen05.dealloc.cta_group::1.b32")]
    [1, 0, 1, 0]
    """
    words = opcode.split(".")
    if words[0] == "call":
        return -1
    if words[0] in ("bar", "barrier"):
        return int("red" in words)
    if words[0] == "tcgen05":
        beside = ("red" in words) + (
            "spcompress" in words
        )  # the reduced value of a load, and the indices of a compressed one
        return 0 if words[1:2] == ["dealloc"] else 1 + beside if words[1:2] == ["ld"] else 1
    return int(words[0] not in _NO_RESULT)


def targets(instruction: Instruction) -> tuple[str, ...]:
    """Return the registers that an instruction writes.

    >>> [targets(Instruction(1, *of)) for of in (("call.uni", operands("(a), f, (b)")), ("st.b32", operands("[a], b")))]
    [('a',), ()]
    """
    count = results(instruction.opcode)
    if not count or not instruction.operands:
        return ()
    first = instruction.operands[0]
    written: tuple[str, ...]
    if isinstance(first, str):
        if count == 1:
            return (first,)
        written = () if count < 0 else (first,)
    elif isinstance(first, Address | int | Negated):
        return ()
    elif isinstance(first, Other):
        written = tuple(WORD.findall(first.text)) if count > 0 or first.text[:1] == "(" else ()
    else:
        written = names(first)
    return (
        written + tuple(name for operand in instruction.operands[1:count] for name in names(operand))
        if count > 1
        else written
    )


class Registers(Mapping[str, str]):
    """The classes of the declared registers: ``b32``, ``f32``, ``pred``.

    A family such as ``%r<100>`` is stored as one entry, because a text may declare far more registers than it uses.

    Args:
        single: classes of registers that are declared one by one.
        families: number of registers and class of each family, by its stem.

    >>> registers = Registers({"p": "pred"}, {"%r": (2, "b32")})
    >>> list(registers.items()), registers.get("%r2"), registers.get("%r01")
    ([('p', 'pred'), ('%r0', 'b32'), ('%r1', 'b32')], None, None)
    """

    def __init__(
        self, single: Mapping[str, str] | None = None, families: Mapping[str, tuple[int, str]] | None = None
    ) -> None:
        self.single, self.families = dict(single or {}), dict(families or {})

    def __getitem__(self, name: str) -> str:
        if name in self.single:
            return self.single[name]
        stem, member, block = _split_family(name)
        count, kind = self.families.get(stem + block, (0, ""))
        if member < 0 or member >= count:
            raise KeyError(name)
        return kind

    def __iter__(self) -> Iterator[str]:
        yield from self.single
        for stem, (count, _) in self.families.items():
            bare, mark, block = stem.partition("#")
            yield from (f"{bare}{member}{mark}{block}" for member in range(count))

    def __len__(self) -> int:
        return len(self.single) + sum(count for count, _ in self.families.values())


def _split_family(name: str) -> tuple[str, int, str]:
    """Split a name into the stem of a family, its number (-1 without one), and the suffix of its block."""
    bare, mark, block = name.partition("#")
    stem = bare.rstrip("0123456789")
    digits = bare[len(stem) :]
    if not digits or len(digits) > 9 or (digits[0] == "0" and digits != "0"):
        return stem, -1, mark + block
    return stem, int(digits), mark + block


@frozen
class Function:
    """A kernel or a device function.

    Args:
        name: its name.
        line: its first line.
        entry: whether it is a kernel.
        head: the text of its parameters and directives, up to the brace.
        code: its instructions.
        labels: index of the instruction after each label.
        tables: lists of labels of ``.branchtargets``.
        variables: variables declared inside, with their alignment in bytes.
        classes: classes of the registers declared inside, such as ``b32``, ``f32``, ``pred``.
        opcodes: indices of the instructions with each opcode.
        names: indices of the instructions that use each register or name as an operand, a part of one, or a guard.
        writes: indices of the instructions that write each register; an index is repeated if it writes it twice.
    """

    name: str
    line: int
    entry: bool
    head: str
    code: tuple[Instruction, ...]
    labels: Mapping[str, int]
    tables: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, int]
    classes: Mapping[str, str] = Registers()
    opcodes: Mapping[str, Sequence[int]] = MappingProxyType({})
    names: Mapping[str, Sequence[int]] = MappingProxyType({})
    writes: Mapping[str, Sequence[int]] = MappingProxyType({})

    def having(self, *beginnings: str) -> list[int]:
        r"""Return the indices of the instructions whose opcode has one of some beginnings, in order.

        >>> parse(".version 8.8\n.entry k() { add.s32 a, a, 1; ret; add.f32 b, b, b; }").functions[0].having("add.")
        [0, 2]
        """
        index_lists = [places for opcode, places in self.opcodes.items() if opcode.startswith(beginnings)]
        return sorted(chain.from_iterable(index_lists))


@frozen
class Module:
    """A parsed PTX text.

    Args:
        version: the number of ``.version``.
        target: the first name of ``.target``, such as ``sm_90a``.
        functions: the functions with a body.
        variables: variables of the module, with their alignment in bytes.
    """

    version: str
    target: str
    functions: tuple[Function, ...]
    variables: Mapping[str, int]

    @property
    def arch(self) -> str:
        """The generation of the target: ``sm90``, ``sm100`` (all targets with tcgen05), or "" for others."""
        try:
            return generation(self.target)
        except ChoiceError:
            return ""


def parse(text: str) -> Module:
    r"""Parse a PTX text.

    Raises:
        DescriptorError: if the text is not PTX, or is cut off.

    >>> parse(".version 8.8\n.target sm_100a\n").arch
    'sm100'
    """
    if not isinstance(text, str):
        raise DescriptorError(f"ptx: the text is not a str but {brief(text)}")
    reader = _Reader()
    for statement in statements(text):
        if statement.kind == "code":
            reader.code(statement)
        else:
            reader.take(statement)
    if not reader.version:
        raise DescriptorError(f"ptx: this is not PTX: it begins with {brief(text[:40])}, not with .version")
    return Module(reader.version, reader.target, tuple(reader.functions), reader.variables)


_HEAD = re.compile(r"\.(entry|func)\s*(?:\([^)]*\)\s*)?([\w$%]+)")
_RETURNS = re.compile(r"\.func\s*(\([^)]*\))")
_REGISTERS = re.compile(r"\.reg\s*(?:\.v\d\s*)?\.(\w+)\s+(.*)", re.DOTALL)
_OF_A_FUNCTION = re.compile(r"\.reg\s*(?:\.v\d\s*)?\.(\w+)\s+([\w$%]+)")
_FAMILY = re.compile(r"([\w$%]+)\s*<\s*(\d{1,9})\s*>\Z")
_VARIABLE = re.compile(r"\.(?:shared|global|const|local)\b(?:::\w+)?(.*)", re.DOTALL)
_NAMED = re.compile(r"\.(?:bf|[busf])\d+(?:x2)?\s+(.*)", re.DOTALL)
_DECLARATOR = re.compile(r"\s*([\w$%]+)\s*(?:<\s*(\d{1,9})\s*>|((?:\[\s*\w*\s*\]\s*)*))")
#: Largest number of variables of one declaration with ``<N>``.
MOST_VARIABLES = 65_536
_ALIGN = re.compile(r"\.align\s+(\d{1,9})(?!\d)")
_WHOLE = r"(?:0[xX][0-9a-fA-F]+|[0-9]+)"
# There may be white space before a qualifier.
_PARTS = re.compile(r"(?:@\s*(!?)\s*([\w$%]+)\s+)?([\w.:]*+(?:\s++\.[\w.:]++)*+)\s*(.*)", re.DOTALL)


class _Scope:
    """A block in braces: the unique names of its registers, labels and variables.

    Args:
        suffix: suffix of the names; "" for the outermost block of a function.
    """

    def __init__(self, suffix: str) -> None:
        self.suffix = suffix
        self.names: dict[str, str] = {}
        self.families: dict[str, int] = {}
        self.branches: list[int] = []  # branches whose label may still follow
        self.tables: list[str] = []

    def own(self, name: str) -> str:
        """Return the unique name of a name that is declared in this block."""
        return self.names.setdefault(name, name + self.suffix)

    def find(self, name: str) -> str | None:
        """Return the unique name of a name if it is declared in this block, else None."""
        if name in self.names or not self.families:
            return self.names.get(name)
        stem, member, _ = _split_family(name)
        return name + self.suffix if 0 <= member < self.families.get(stem, 0) else None


class _Open:
    """A function whose block is still open: the parts of a :class:`Function`."""

    def __init__(self, name: str, line: int, head: str, *, entry: bool) -> None:
        self.name, self.line, self.head, self.entry = name, line, head, entry
        self.code: list[Instruction] = []
        self.labels: dict[str, int] = {}
        self.tables: dict[str, tuple[str, ...]] = {}
        self.variables: dict[str, int] = {}
        self.classes = Registers({name: kind for kind, name in _OF_A_FUNCTION.findall(head)})

    def closed(self) -> Function:
        """Return the function at the end of its block."""
        opcodes, uses, writes = (defaultdict[str, list[int]](list) for _ in range(3))
        for index, instruction in enumerate(self.code):
            opcodes[instruction.opcode].append(index)
            for name in {name for operand in instruction.operands for name in names(operand)} | {instruction.predicate}:
                uses[name].append(index)
            for name in targets(instruction):
                writes[name].append(index)
        return Function(
            self.name, self.line, self.entry, self.head, tuple(self.code), self.labels, self.tables, self.variables,
            self.classes, dict(opcodes), dict(uses), dict(writes),
        )  # fmt: skip


class _Reader:
    """The state of the parser: the module so far, and the open function and blocks."""

    def __init__(self) -> None:
        self.version = self.target = self.last_label = ""
        self.first: Statement | None = None
        self.functions: list[Function] = []
        self.variables: dict[str, int] = {}
        self.open: _Open | None = None
        self.scopes: list[_Scope] = []
        self.blocks = 0

    def take(self, statement: Statement) -> None:
        """Process a statement that is not code."""
        self.first = self.first or statement
        match statement.kind:
            case "label":
                self._label(statement)
            case "line":
                words = statement.text.split(None, 1)
                if words[0] == ".version" and not self.version:
                    self.version = words[1].strip() if len(words) > 1 else "?"
                elif words[0] == ".target" and len(words) > 1:
                    self.target = self.target or words[1].split(",")[0].strip()
            case "open":
                self._open(statement)
            case "close":
                self._close()
            case _:
                self._directive(statement)

    def _open(self, statement: Statement) -> None:
        if not self.version:
            first = self.first or statement
            beginning = "a block" if first.kind == "open" else brief(first.text)
            raise DescriptorError(
                f"ptx: this is not PTX: it begins with {beginning}, not with .version; line {first.line}"
            )
        if self.open is None:
            head = _HEAD.search(statement.text)
            if head is None:
                raise DescriptorError(f"ptx: a block is outside of a function; line {statement.line}")
            self.open = _Open(head[2], statement.line, statement.text, entry=head[1] == "entry")
        self.blocks += 1
        self.scopes.append(_Scope(f"#{self.blocks}" if self.scopes else ""))

    def _close(self) -> None:
        scope, function = self.scopes.pop(), self.open
        if function is None:
            return
        if not self.scopes:
            self.functions.append(function.closed())
            self.open, self.blocks = None, 0
            return
        # Labels after the branches to them are known at the end of their block.
        for index in scope.branches:
            branch = function.code[index]
            target = scope.find(str(branch.operands[-1])) if branch.operands else None
            if target is not None:
                function.code[index] = branch._replace(operands=(*branch.operands[:-1], target))
            else:
                self.scopes[-1].branches.append(index)
        for table in scope.tables:
            function.tables[table] = tuple([scope.find(label) or label for label in function.tables[table]])
            self.scopes[-1].tables.append(table)

    def _own(self, name: str) -> str:
        """Return the unique name of a name that the innermost block declares."""
        return self.scopes[-1].own(name) if len(self.scopes) > 1 else name

    def _label(self, statement: Statement) -> None:
        if self.open is None:
            raise DescriptorError(
                f"ptx: the label {brief(statement.text)} is outside of a function; line {statement.line}"
            )
        self.last_label = self._own(statement.text)
        self.open.labels[self.last_label] = len(self.open.code)

    def _directive(self, statement: Statement) -> None:
        text = statement.text
        if match := _REGISTERS.match(text):
            self._registers(match[1], match[2])
        elif text.startswith(".branchtargets") and self.open is not None:
            self.open.tables[self.last_label] = tuple(n.strip() for n in text[14:].split(","))
            self.scopes[-1].tables.append(self.last_label)
        elif (space := _VARIABLE.search(text)) and (declared := _NAMED.search(space[1])):
            align = _ALIGN.search(text)
            owner = self.variables if self.open is None else self.open.variables
            for name, _ in declarators(declared[1]):
                owner[self._own(name) if self.scopes else name] = int(align[1]) if align else 1

    def _registers(self, kind: str, names: str) -> None:
        """Record a declaration of registers and families of one class."""
        if self.open is None:
            return
        scope, classes = self.scopes[-1], self.open.classes
        for name in map(str.strip, names.split(",")):
            if family := _FAMILY.match(name):
                scope.families[family[1]] = int(family[2])
                classes.families[family[1] + scope.suffix] = int(family[2]), kind
            else:
                classes.single[self._own(name)] = kind

    def code(self, statement: Statement) -> None:
        """Process an instruction."""
        if self.open is None:
            shown = brief(statement.text.split("\n")[0])
            if not self.version:
                raise DescriptorError(
                    f"ptx: this is not PTX: it begins with {shown} and has no .version directive; line {statement.line}"
                )
            raise DescriptorError(f"ptx: the instruction {shown} is outside of a function; line {statement.line}")
        match = _PARTS.match(statement.text)
        assert match is not None  # every part may be empty
        negated, predicate, opcode, rest = match.groups("")
        try:
            parsed_operands = operands(rest.rstrip())
        except DescriptorError as error:
            raise DescriptorError(f"{error}; line {statement.line}") from None
        instruction = Instruction(statement.line, "".join(opcode.split()), parsed_operands, predicate, bool(negated))
        if len(self.scopes) > 1:
            instruction = self._rename_instruction(instruction)
        self.open.code.append(instruction)

    def _rename_instruction(self, instruction: Instruction) -> Instruction:
        """Return an instruction of a nested block with unique names; the label of a branch is resolved later."""
        assert self.open is not None
        renamed_operands, predicate = (
            instruction.operands,
            self._name(instruction.predicate) if instruction.predicate else "",
        )
        if instruction.opcode.startswith("bra"):
            self.scopes[-1].branches.append(len(self.open.code))
        else:
            renamed_operands = tuple([self._rename_operand(operand) for operand in renamed_operands])
        return Instruction(instruction.line, instruction.opcode, renamed_operands, predicate, instruction.negated)

    def _name(self, name: str) -> str:
        for scope in reversed(self.scopes[1:]):
            if unique_name := scope.find(name):
                return unique_name
        return name

    def _rename_operand(self, operand: Operand) -> Any:
        match operand:
            case str():
                return self._name(operand)
            case Vector(items):
                return Vector(tuple([self._rename_operand(item) for item in items]))
            case Address(base, offset, rest):
                return Address(self._name(base) if base else "", offset, tuple([self._rename_operand(r) for r in rest]))
            case Pair(first, second):
                return Pair(self._name(first), self._name(second))
            case Negated(name):
                return Negated(self._name(name))
            case Other(text):
                return Other(WORD.sub(lambda word: self._name(word[0]), text))
        return operand


def declarators(text: str) -> Iterator[tuple[str, str]]:
    """Yield the variables of a declaration, each with its extents as they are written; ``x<2>`` is ``x0`` and ``x1``.

    Args:
        text: what follows the type, up to the semicolon; initializers may follow the last variable.

    Raises:
        DescriptorError: if a parameterized name stands for too many variables.

    >>> list(declarators("a[4][2], b, c<2>"))
    [('a', '[4][2]'), ('b', ''), ('c0', ''), ('c1', '')]
    """
    for part in text.partition("=")[0].split(","):
        match = _DECLARATOR.match(part)
        if match and match[2]:
            count = int(match[2])
            if count > MOST_VARIABLES:
                shown = brief(part.strip())
                raise DescriptorError(f"ptx: {shown} declares more than {MOST_VARIABLES} variables")
            yield from ((f"{match[1]}{number}", "") for number in range(count))
        elif match:
            yield match[1], match[3].strip()


def directive(head: str, name: str) -> tuple[int, ...]:
    """Return the numbers of a directive in the head of a kernel; empty if the head does not have it.

    Args:
        head: the head, as in ``Function``.
        name: name of the directive, such as ``reqntid``, ``maxntid``, ``minnctapersm`` or ``maxnreg``.

    >>> head = ".entry k(.param .u64 p) .reqntid 128, 1, 1 .reqnctapercluster 2"
    >>> directive(head, "reqntid"), directive(head, "reqnctapercluster"), directive(head, "maxntid")
    ((128, 1, 1), (2,), ())
    """
    match = re.search(rf"\.{name}\s+({_WHOLE}(?:\s*,\s*{_WHOLE})*)", head)
    return tuple(number(text.strip()) for text in match[1].split(",")) if match else ()


#: Registers that ptxas needs besides those of multiplications (C7602, C7512: measured).
REST = 26
#: Registers of a multiprocessor, the largest number of a thread, and the step in which they are allocated.
ALL, MOST_REGISTERS, STEP = 65536, 255, 8

_THREADS = re.compile(r"\.(?:maxntid|reqntid)\s+(\d{1,6}(?:\s*,\s*\d{1,6}){0,2})")
_SHARED = re.compile(r"\.minnctapersm\s+(\d{1,6})")
_MOST = re.compile(r"\.maxnreg\s+(\d{1,6})")


def registers(head: str) -> int:
    """Return the number of registers that a thread may have, by the directives in the head of a kernel.

    >>> [registers(f".entry k() {directives}") for directives in ("", ".maxnreg 128", ".reqntid 128 .minnctapersm 4")]
    [255, 128, 128]
    """
    limits = [MOST_REGISTERS]
    if most := _MOST.search(head):
        limits.append(int(most[1]))
    if threads := _THREADS.search(head):
        shared = _SHARED.search(head)
        threads_per_sm = prod(int(n) for n in threads[1].split(",")) * (int(shared[1]) if shared else 1)
        limits.append(ALL // max(1, threads_per_sm) // STEP * STEP)
    return min(limits)


def allowed(function: Function) -> int:
    r"""Return the largest number of registers of a thread of a function; ``setmaxnreg`` may increase it.

    >>> body = ".entry k() .maxntid 384 { setmaxnreg.inc.sync.aligned.u32 240; ret; }"
    >>> allowed(parse(f".version 8.8\n{body}").functions[0])
    240
    """
    sizes = [function.code[index].operands for index in function.having("setmaxnreg")]
    counts = [operands[0] for operands in sizes if operands]
    return max([registers(function.head), *(n for n in counts if isinstance(n, int) and n <= MOST_REGISTERS)])
