"""Mutants of a Python source: one small change each, which some test should notice.

An operator is a rule that turns a node of the syntax tree into wrong ones:

    ARITH     + and - change places, * and //, % becomes //, << and >>, & and |, ^ becomes |, ** becomes *, -x becomes x
    BOOL      ``and`` and ``or`` change places
    CMP       < and <= change places, > and >=, == and !=, ``is`` and ``is not``, ``in`` and ``not in``
    DELRAISE  a raise goes
    DELSTMT   a call that stands alone goes, or an assignment inside a function
    DROPKW    a call loses one keyword argument
    FLAG      True and False change places
    INT       an integer is one more, or one less
    MINMAX    min and max change places
    NEG       a condition turns around
    RETNONE   a function returns None
    SWAPARGS  the first two arguments of a call change places

Docstrings, annotations, imports, ``__all__`` and what stands under ``if TYPE_CHECKING`` have no mutants: no run depends
on them. Nor has the ``strict=`` of a ``zip``, an assertion that no right program meets.
"""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

OPERATORS = "ARITH BOOL CMP DELRAISE DELSTMT DROPKW FLAG INT MINMAX NEG RETNONE SWAPARGS".split()

_ARITH = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.Pow: ast.Mult,
}
_CMP = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed place: bytes ``start`` to ``stop`` of the file become ``text``."""

    path: str
    line: int
    last_line: int
    operator: str
    before: str
    after: str
    start: int
    stop: int
    text: str

    def apply(self, source: bytes) -> bytes:
        """The source with this one change."""
        return source[: self.start] + self.text.encode() + source[self.stop :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.operator}  {self.before} -> {self.after}"


def mutants(path: str, source: bytes) -> list[Mutant]:
    """Every mutant of a file, in the order of the places."""
    tree = ast.parse(source)
    starts = _line_starts(source)
    by_place: dict[tuple[int, int, str], Mutant] = {}
    for node, whole, *where in _places(tree):
        for operator, changed in _changed(node, *where):
            text = _text(node, whole, changed)
            if text is None:
                continue
            start = starts[whole.lineno - 1] + whole.col_offset
            stop = starts[whole.end_lineno - 1] + whole.end_col_offset
            by_place.setdefault((start, stop, text), _mutant(path, source, node, operator, (start, stop), text))
    return sorted(by_place.values(), key=lambda m: (m.start, m.stop, m.operator, m.text))


def sample(population: list[Mutant], sources: Mapping[str, bytes], number: int, seed: int) -> list[Mutant]:
    """Some of the mutants that are programs, in random order, the same ones for the same seed and population.

    The first few of a sample are the smaller sample: a run that is cut off has measured something.
    """
    order = random.Random(seed).sample(population, len(population))
    return list(islice((mutant for mutant in order if is_program(mutant, sources[mutant.path])), number))


def is_program(mutant: Mutant, source: bytes) -> bool:
    """Whether the changed file compiles: an operator may put an expression where the grammar has none."""
    try:
        compile(mutant.apply(source), mutant.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _line_starts(source: bytes) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _mutant(path: str, source: bytes, node: Any, operator: str, span: tuple[int, int], text: str) -> Mutant:
    start, stop = span
    head = source.rfind(b"\n", 0, start) + 1
    tail = len(source) if (end := source.find(b"\n", stop)) < 0 else end
    before = " ".join(source[head:tail].decode().split())
    after = " ".join((source[head:start] + text.encode() + source[stop:tail]).decode().split())
    return Mutant(path, node.lineno, node.end_lineno, operator, before, after, start, stop, text)


def _places(tree: ast.Module) -> Iterator[tuple[Any, Any, bool, bool]]:
    """Every node that may change, the node whose text is replaced, whether it stands in a function, and is a condition.

    The parts of an f-string have no places of their own before Python 3.12: the whole f-string is written anew.
    """

    def walk(node: ast.AST, whole: ast.AST | None, inside: bool, condition: bool) -> Iterator[Any]:
        if hasattr(node, "lineno"):
            yield node, whole or node, inside, condition
        if isinstance(node, ast.JoinedStr):
            whole = whole or node
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        conditions = [*getattr(node, "ifs", []), getattr(node, "test", None)]
        for child in _children(node):
            yield from walk(child, whole, inside, any(child is one for one in conditions))

    yield from walk(tree, None, False, False)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The children that a run depends on."""
    body = getattr(node, "body", None)
    docstring = body[0] if isinstance(body, list) and body and _is_text(body[0]) else None
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment", "format_spec"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and child is not docstring and not _left_out(child):
                yield child


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return True
    targets = node.targets if isinstance(node, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)


def _changed(node: Any, in_function: bool, is_condition: bool) -> Iterator[tuple[str, Any]]:
    """What a node becomes, operator by operator."""
    yield from _changed_value(node, in_function)
    yield from _changed_call(node)
    if is_condition and not _is_not(node):
        yield "NEG", ast.UnaryOp(ast.Not(), node)
    match node:
        case ast.Raise():
            yield "DELRAISE", ast.Pass()
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):
            yield "DELSTMT", ast.Pass()
        case ast.Assign() | ast.AugAssign() if in_function:
            yield "DELSTMT", ast.Pass()
        case ast.AnnAssign(value=value) if in_function and value is not None:
            yield "DELSTMT", ast.Pass()
        case ast.Return(value=value) if value is not None and not _is_none(value):
            yield "RETNONE", ast.Return(ast.Constant(None))


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _changed_value(node: Any, in_function: bool) -> Iterator[tuple[str, Any]]:
    match node:
        case ast.BinOp(op=ast.BitOr()) if not in_function:
            return  # a union of types
        case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in _ARITH:
            yield "ARITH", _with(node, op=_ARITH[type(op)]())
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "ARITH", operand
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "NEG", operand
        case ast.BoolOp(op=op):
            yield "BOOL", _with(node, op=ast.Or() if isinstance(op, ast.And) else ast.And())
        case ast.Compare(ops=ops):
            for i, op in enumerate(ops):
                yield "CMP", _with(node, ops=[*ops[:i], _CMP[type(op)](), *ops[i + 1 :]])
        case ast.Constant(value=bool(value)):
            yield "FLAG", ast.Constant(not value)
        case ast.Constant(value=int(value)):
            # One direction a place, told by the place, so that there are as many mutants as places.
            yield "INT", ast.Constant(value + (1 if node.col_offset % 2 else -1))


def _changed_call(node: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(node, ast.Call):
        return
    name = node.func.id if isinstance(node.func, ast.Name) else None
    for i, keyword in enumerate(node.keywords):
        if keyword.arg not in (None, "strict"):
            yield "DROPKW", _with(node, keywords=[*node.keywords[:i], *node.keywords[i + 1 :]])
    if name in ("min", "max"):
        yield "MINMAX", _with(node, func=ast.Name("max" if name == "min" else "min", ast.Load()))
    first = node.args[:2] if name != "isinstance" else []  # with its arguments swapped it can but fail
    alike = len(first) == 2 and ast.dump(first[0]) == ast.dump(first[1])
    if len(first) == 2 and not alike and not any(isinstance(one, ast.Starred) for one in first):
        yield "SWAPARGS", _with(node, args=[first[1], first[0], *node.args[2:]])


def _is_not(node: ast.AST) -> bool:
    """Whether a condition is turned around already: then the change is one of the ``not`` itself."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)


def _with(node: Any, **fields: Any) -> Any:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _text(node: Any, whole: Any, changed: Any) -> str | None:
    """The text that takes the place of ``whole`` when ``node`` inside it becomes ``changed``."""
    if whole is not node:
        changed = _replaced(whole, node, changed)
    try:
        text = ast.unparse(changed)
    except ValueError:  # a backslash inside an f-string's expression
        return None
    if isinstance(node, ast.stmt) and whole is node:
        indent = "\n" + " " * node.col_offset
        return indent.join(text.splitlines())
    return f"({text})"


def _replaced(whole: ast.AST, node: ast.AST, changed: ast.AST) -> Any:
    class Replace(ast.NodeTransformer):
        def visit(self, visited: ast.AST) -> Any:
            return changed if visited is node else super().visit(_with(visited))

        def generic_visit(self, visited: ast.AST) -> ast.AST:
            for name, value in ast.iter_fields(visited):
                if isinstance(value, list):
                    setattr(visited, name, [self.visit(v) if isinstance(v, ast.AST) else v for v in value])
                elif isinstance(value, ast.AST):
                    setattr(visited, name, self.visit(value))
            return visited

    return Replace().visit(whole)
