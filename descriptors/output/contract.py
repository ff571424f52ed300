"""What a project relies on, written in TOML, held against what is derived: words, offsets, layouts, whole plans.

A section ``[operand.NAME]`` has arguments of ``derive``, a section ``[plan.NAME]`` those of ``plan``; the table
``expect`` in it has keys of the JSON that these commands write, a path with dots where one lies in another. Layouts are
compared as functions, words as numbers.

Law: what is derived for a section without expectations, put into it, holds.

>>> asked = '[operand.a]\\ndtype = "bf16"\\nmajor = "K"\\nswizzle = "128B"\\ntile = "128x64"\\nmma = "64x16"\\n'
>>> print(check_contract(asked + missing(asked)).headline)
5 values hold, of 1 section
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

from descriptors import answers
from descriptors.errors import DescriptorError, LayoutError, brief
from descriptors.frozen import frozen
from descriptors.gemm.planner import plan
from descriptors.output.contract_keys import ARGUMENTS, DEFAULTS, SHORT, arguments, lines_of, read
from descriptors.smem.derivation.derive import derive
from descriptors.text import Told, counted
from layoutalg import Swizzle, parse_layout, size


@frozen
class Held:
    """One value that a project relies on.

    Args:
        section: as in ``operand.a``.
        key: the path, as the file has it.
        line: of the file; 0 if it was not found.
        wanted: what the file has.
        found: what is derived.
        ok: whether they are the same.
        where: the first index at which lists differ; () if they are none.
    """

    section: str
    key: str
    line: int
    wanted: Any
    found: Any
    ok: bool
    where: tuple[int, ...] = ()

    def __str__(self) -> str:
        at = "".join(f"[{index}]" for index in self.where)
        wanted, found = (_at(value, self.where) for value in (self.wanted, self.found))
        return f"{self.section}: {self.key}{at} must be {_text(found)}, found {_text(wanted)}"


@frozen
class ContractReport(Told):
    """What a file relies on, held.

    Args:
        values: every one of them, in the order of the file.
        sections: how many sections there are.
    """

    values: tuple[Held, ...]
    sections: int

    @property
    def ok(self) -> bool:
        """Whether all of it holds."""
        return all(one.ok for one in self.values)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        wrong = sum(not one.ok for one in self.values)
        about = f"of {counted(self.sections, 'section')}"
        if wrong:
            return f"{wrong} of {counted(len(self.values), 'value')} {'is' if wrong == 1 else 'are'} wrong, {about}"
        return f"{counted(len(self.values), 'value')} {'holds' if len(self.values) == 1 else 'hold'}, {about}"


def check_contract(text: str) -> ContractReport:
    """Hold what a file relies on against what is derived, which is proved first.

    Args:
        text: TOML.

    Raises:
        DescriptorError: if it is no TOML, a key is unknown, or a section has no derivation; with the line.

    >>> asked = '[operand.a]\\ndtype = "bf16"\\nmajor = "K"\\nswizzle = "128B"\\ntile = [128, 64]\\nmma = "64x16"\\n'
    >>> print(check_contract(asked + 'expect.word = 0x4000404000010010').values[0])
    operand.a: word must be 0x4000404000010000, found 0x4000404000010010
    """
    lines, values, count = lines_of(text), list[Held](), 0
    for section, asked, expected in _sections(text, lines):
        count += 1
        made = _record(section, asked, lines)
        for path, wanted in _flat(expected):
            line = lines.get(f"{section}.expect.{path}", lines.get(f"{section}.expect", lines.get(section, 0)))
            found = _found(section, made, path, line)
            where = _differs(wanted, found)
            values.append(Held(section, path, line, wanted, found, where is None, where or ()))
    if not values:
        raise DescriptorError("check: the file must rely on something, found no table expect; --init writes one")
    return ContractReport(tuple(values), count)


def missing(text: str) -> str:
    """The tables ``expect`` of the sections that have none, with the values that are derived.

    Args:
        text: TOML.

    Raises:
        DescriptorError: as ``check_contract``.
    """
    lines, parts = lines_of(text), []
    for section, asked, expected in _sections(text, lines):
        if expected:
            continue
        made = _record(section, asked, lines)
        rows = [f"{_key(key)} = {_toml(_found(section, made, key, 0))}" for key in DEFAULTS[section.split(".")[0]]]
        parts.append("\n".join([f"[{section}.expect]", *rows]) + "\n")
    return "\n".join(parts)


def tell(report: ContractReport, name: str = "<toml>") -> str:
    """A report for a person: a line for each value that is wrong, and how many hold.

    >>> print(tell(ContractReport((Held("operand.a", "word", 7, 1, 2, False),), 1), "a.toml"))
    a.toml:7: operand.a: word must be 2, found 1
    a.toml: 1 of 1 value is wrong, of 1 section
    """
    wrong = [f"{name}:{one.line}: {one}" for one in report.values if not one.ok]
    return "\n".join([*wrong, f"{name}: {report.headline}"])


def record(report: ContractReport, name: str = "<toml>") -> dict[str, Any]:
    """A report as plain data.

    >>> record(ContractReport((Held("operand.a", "word", 7, 1, 2, False),), 1))["ok"]
    False
    """
    rows = [
        {
            "section": one.section,
            "key": one.key,
            "line": one.line,
            "ok": one.ok,
            "file": one.wanted,
            "derived": one.found,
        }
        for one in report.values
    ]
    return {"file": name, "ok": report.ok, "sections": report.sections, "values": rows}


def _sections(text: str, lines: dict[str, int]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Name, arguments and expectations of every section."""
    for kind, group in read(text).items():
        where = f"check: line {lines.get(kind, 0)}: " if kind in lines else "check: "
        if kind not in ARGUMENTS or not isinstance(group, dict):
            raise DescriptorError(f"{where}a section must be [operand.NAME] or [plan.NAME], found {brief(kind)}")
        for name, table in group.items():
            section = f"{kind}.{name}"
            if not isinstance(table, dict):
                raise DescriptorError(f"check: [{section}] must be a table, found {brief(table)}")
            expected = table.get("expect", {})
            if not isinstance(expected, dict):
                raise DescriptorError(f"check: {section}.expect must be a table, found {brief(expected)}")
            yield section, arguments(section, table, lines), expected


def _record(section: str, asked: dict[str, Any], lines: dict[str, int]) -> dict[str, Any]:
    """The JSON of what a section asks for."""
    try:
        if section.startswith("plan."):
            return dict(answers.record(plan(**asked)))
        base = asked.pop("base", 0)
        return dict(answers.record(derive(**asked), base=base))
    except LayoutError as error:
        raise DescriptorError(f"check: line {lines.get(section, 0)}: [{section}]: {error}") from None
    except TypeError as error:  # an argument that must be there
        raise DescriptorError(f"check: line {lines.get(section, 0)}: [{section}]: {error}") from None


def _flat(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


def _found(section: str, made: dict[str, Any], path: str, line: int) -> Any:
    """The value that a path leads to."""
    at: Any = made
    for step in (SHORT.get(path, path) if section.startswith("operand.") else path).split("."):
        known = (
            list(at)
            if isinstance(at, dict)
            else [str(i) for i in range(len(at))]
            if isinstance(at, (list, tuple))
            else []
        )
        if step not in known:
            near = get_close_matches(step, [*known, *(SHORT if at is made else ())], n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known[:12])}" if known else ""
            raise DescriptorError(
                f"check: line {line}: {section}.expect.{path} must be a key of its JSON, found {step}{hint}"
            )
        at = at[step] if isinstance(at, dict) else at[int(step)]
    return at["text"] if isinstance(at, dict) and "text" in at else at


def _steps(at: Any) -> list[str]:
    """What a path may go on with: keys, or indices."""
    if isinstance(at, dict):
        return list(at)
    return [str(i) for i in range(len(at))] if isinstance(at, (list, tuple)) else []


def _differs(wanted: Any, found: Any) -> tuple[int, ...] | None:
    """Where two values differ first; () if they are no lists, None if they do not."""
    if isinstance(wanted, (list, tuple)) and isinstance(found, (list, tuple)):
        if len(wanted) != len(found):
            return ()
        for i, (one, other) in enumerate(zip(wanted, found, strict=True)):
            inner = _differs(one, other)
            if inner is not None:
                return (i, *inner)
        return None
    return None if _plain(wanted) == _plain(found) or _same_layout(wanted, found) else ()


def _plain(value: Any) -> Any:
    """A number, whether it is written as one or as text."""
    if isinstance(value, str) and value[:2].casefold() == "0x":
        try:
            return int(value, 16)
        except ValueError:
            return value
    return value if not isinstance(value, bool) else str(value)


def _same_layout(wanted: Any, found: Any) -> bool:
    if not isinstance(wanted, str) or not isinstance(found, str):
        return False
    try:
        one, other = parse_layout(wanted), parse_layout(found)
        if isinstance(one, Swizzle) or isinstance(other, Swizzle):
            return one == other
        return bool(size(one) == size(other)) and all(one(i) == other(i) for i in range(size(one)))
    except LayoutError:
        return False


def _at(value: Any, where: tuple[int, ...]) -> Any:
    for index in where:
        value = value[index]
    return value


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1 << 32:
        return f"{value:#018x}"
    return _toml(value) if isinstance(value, (list, tuple)) else str(value)


def _key(path: str) -> str:
    return path if path.replace("_", "").isalnum() else f'"{path}"'


def _toml(value: Any) -> str:
    """A value as TOML has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
