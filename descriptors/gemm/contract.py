r"""Compare the expected values of a TOML file with derived values: descriptors, offsets, layouts and whole plans.

A section ``[operand.NAME]`` has the arguments of ``derive``. A section ``[plan.NAME]`` has those of ``plan``, or of
``mma_plan`` for an instruction of ``mma.sync``. The table ``expect`` of a section has keys of the JSON that these
commands write, with dots for nested keys. Layouts are compared as functions, descriptors as numbers.

Invariant: the values that ``missing`` writes for a section without expectations agree.

>>> toml = '[operand.a]\ndtype = "bf16"\nmajor = "K"\nswizzle = "128B"\ntile = "128x64"\nmma = "64x16"\n'
>>> print(check_contract(toml + missing(toml)).headline)
5 values hold, of 1 section
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from inspect import signature
from typing import Any

from descriptors import answers
from descriptors.check.sarif import FINGERPRINT, artifact, fingerprint, log, place
from descriptors.errors import DescriptorError, LayoutError, brief
from descriptors.gemm import plan_arguments
from descriptors.gemm.mma_planner import mma_plan
from descriptors.gemm.planner import plan
from descriptors.records import Option, Record, Row, attributes
from descriptors.smem.derivation.arguments import ARGUMENTS
from descriptors.smem.derivation.derive import derive
from descriptors.smem.instructions.instruction_name import is_mma
from descriptors.text import Told, counted
from layoutalg import Swizzle, parse_layout, size
from layoutalg.frozen import frozen

#: The function for each kind of section, and the arguments of a section: those of the function, and for an operand also
#: ``base``. A section ``[plan.NAME]`` for an instruction of ``mma.sync`` has the kind ``mma``.
_DOORS: dict[str, Callable[..., Any]] = {"operand": derive, "plan": plan, "mma": mma_plan}
_KEYS = {kind: tuple(name for name in signature(door).parameters if name != "verify") for kind, door in _DOORS.items()}
_KEYS["operand"] += ("base",)

#: Short names for nested keys of an operand's JSON.
SHORT = {
    "word": "descriptor.word",
    "layout": "smem_tile",
    "offsets": "offsets_bytes",
    "leading_byte_offset": "descriptor.fields.leading_byte_offset",
    "stride_byte_offset": "descriptor.fields.stride_byte_offset",
}
#: The keys that ``missing`` writes for each kind of section.
DEFAULTS = {
    "operand": ("word", "layout", "advance", "transposed", "alignment_bytes"),
    "plan": (
        "operands.A.word", "operands.A.layout", "operands.B.word", "operands.B.layout", "transaction_bytes",
        "shared_memory.used",
    ),
    "mma": (
        "warps", "operands.A.layout", "operands.A.move", "operands.B.layout", "operands.B.move", "shared_memory.used",
    ),
}  # fmt: skip
#: The arguments that may be written like ``128x64`` or as a list.
_EXTENTS = (
    *(name for name, row in ARGUMENTS.items() if row.is_list),
    *(row.name for row in plan_arguments.ARGUMENTS if row.kind == "extents"),
)
_SECTION = re.compile(r"\s*\[\s*([^\[\]]+?)\s*\]")
_KEY = re.compile(r"""\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")


@frozen
class Expectation:
    """One expected value of a file and the derived value.

    Args:
        section: name of the section, such as ``operand.a``.
        key: the key as it is in the file, with dots.
        line: line number in the file; 0 if it was not found.
        stated: the value in the file.
        actual: the derived value.
        ok: whether the values agree.
        where: indices of the first difference of two lists; () if the values are not lists.
    """

    section: str
    key: str
    line: int
    stated: Any
    actual: Any
    ok: bool
    where: tuple[int, ...] = ()

    def __str__(self) -> str:
        index_text = "".join(f"[{index}]" for index in self.where)
        stated, actual = (_at(value, self.where) for value in (self.stated, self.actual))
        return f"{self.section}: {self.key}{index_text} is {_text(stated)}; the derived value is {_text(actual)}"


@frozen
class ContractReport(Told):
    """The result of comparing the expected values of a file with the derived values.

    Args:
        values: the comparison of each value, in the order of the file.
        sections: number of sections.
    """

    values: tuple[Expectation, ...]
    sections: int

    @property
    def ok(self) -> bool:
        """Whether all values agree."""
        return all(value.ok for value in self.values)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        wrong = sum(not value.ok for value in self.values)
        about = f"of {counted(self.sections, 'section')}"
        if wrong:
            return f"{wrong} of {counted(len(self.values), 'value')} {'is' if wrong == 1 else 'are'} wrong, {about}"
        return f"{counted(len(self.values), 'value')} {'holds' if len(self.values) == 1 else 'hold'}, {about}"


#: The message about a file without sections.
_NO_SECTION = "check: the file has no section [operand.NAME] or [plan.NAME]"


def check_contract(text: str) -> ContractReport:
    r"""Compare the expected values of a file with derived values, which are proved first.

    Args:
        text: the file, in TOML.

    Raises:
        DescriptorError: if the text is not TOML, a key is unknown, or nothing can be derived for a section; the message
            has the line number.

    >>> toml = '[operand.a]\ndtype = "bf16"\nmajor = "K"\nswizzle = "128B"\ntile = [128, 64]\nmma = "64x16"\n'
    >>> print(check_contract(toml + 'expect.word = 0x4000404000010010').values[0])
    operand.a: word is 0x4000404000010010; the derived value is 0x4000404000010000
    """
    lines, values, count = lines_of(text), list[Expectation](), 0
    for section, arguments, expected in _sections(text, lines):
        count += 1
        answer = _record(section, arguments, lines)
        for path, stated in _flat(expected):
            line = lines.get(f"{section}.expect.{path}", lines.get(f"{section}.expect", lines.get(section, 0)))
            value = _value(section, answer, path, line)
            difference = _difference(stated, value)
            values.append(Expectation(section, path, line, stated, value, difference is None, difference or ()))
    if not count:
        raise DescriptorError(_NO_SECTION)
    if not values:
        raise DescriptorError("check: the file has no table expect; --init writes one")
    return ContractReport(tuple(values), count)


def missing(text: str) -> str:
    """Return the missing tables ``expect`` of a file, with derived values.

    Args:
        text: the file, in TOML.

    Raises:
        DescriptorError: as for ``check_contract``.
    """
    lines, tables = lines_of(text), []
    sections = list(_sections(text, lines))
    for section, arguments, expected in sections:
        if expected:
            continue
        answer = _record(section, arguments, lines)
        rows = [
            f"{_key(key)} = {_toml(_value(section, answer, key, 0))}" for key in DEFAULTS[_kind(section, arguments)]
        ]
        tables.append("\n".join([f"[{section}.expect]", *rows]) + "\n")
    if not sections:
        raise DescriptorError(_NO_SECTION)
    return "\n".join(tables)


def tell(report: ContractReport, name: str = "<toml>") -> str:
    """Return a report as text: a line for each value that disagrees, then the headline.

    >>> print(tell(ContractReport((Expectation("operand.a", "word", 7, 1, 2, False),), 1), "a.toml"))
    a.toml:7: operand.a: word is 1; the derived value is 2
    a.toml: 1 of 1 value is wrong, of 1 section
    """
    wrong = [f"{name}:{value.line}: {value}" for value in report.values if not value.ok]
    return "\n".join([*wrong, f"{name}: {report.headline}"])


#: A report as plain data; ``name`` is the file name.
record = Record(
    "Contract",
    file=Row(str, Option("name", "<toml>")),
    **attributes(ContractReport, "ok sections"),
    values=[
        Record(
            **attributes(Expectation, "section key line ok"), file=Row(object, "stated"), derived=Row(object, "actual")
        )
    ],
)


#: The SARIF rule for a value that disagrees.
_RULE = {
    "id": "relied-on",
    "shortDescription": {"text": "an expected value differs from the derived value"},
    "help": {"text": "Correct the value, or the code that uses it. Source: descriptors derive and plan, with --json"},
    "defaultConfiguration": {"level": "error"},
}


def sarif(reports: Sequence[tuple[str, ContractReport]], refused: Sequence[tuple[str, str]] = ()) -> dict[str, Any]:
    """Return reports as SARIF 2.1.0, with a result for each value that disagrees.

    Args:
        reports: name and report of each file.
        refused: name of each file that could not be read, and the reason.

    >>> report = ContractReport((Expectation("operand.a", "word", 7, 1, 2, False),), 1)
    >>> [one["message"]["text"] for one in sarif([("a.toml", report)])["runs"][0]["results"]]
    ['operand.a: word is 1; the derived value is 2']
    """
    results = [
        {
            "ruleId": _RULE["id"],
            "level": "error",
            "message": {"text": str(value)},
            "locations": [place(name, value.line)],
            "partialFingerprints": {FINGERPRINT: fingerprint(value.section, value.key, _text(value.stated))},
        }
        for name, report in reports
        for value in report.values
        if not value.ok
    ]
    files = [artifact(name, verdict="clean" if report.ok else "wrong") for name, report in reports]
    return log([_RULE], files, results, [], refused)


#: Limits of the characters of a TOML file, and of a dotted key. The memory that tomllib needs grows with the square of
#: the number of parts of a key.
MOST_TEXT, MOST_KEY = 4 << 20, 1000
#: Limit of the nesting of lists and tables.
MOST_DEPTH = 32
#: Matches everything that may be a dotted key.
_DOTTED = re.compile(r"[\w\-\"'. \t]*\.[\w\-\"'. \t]*")


def read(text: str, operation: str = "check") -> dict[str, Any]:
    r"""Parse TOML.

    Args:
        text: the file.
        operation: the operation that messages name.

    Raises:
        DescriptorError: if the text is not TOML or exceeds a limit.

    >>> read("a = 1\nb = ")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: the file is not TOML; Invalid value (at end of document)
    """
    import tomllib  # imported here so that commands that read no file start faster

    if len(text) > MOST_TEXT:
        raise DescriptorError(f"{operation}: the TOML file has {len(text)} characters, more than {MOST_TEXT}")
    for number, line in enumerate(text.split("\n"), 1):
        if max(map(len, _DOTTED.findall(line)), default=0) > MOST_KEY:
            raise DescriptorError(f"{operation}: line {number}: a key has more than {MOST_KEY} characters")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DescriptorError(f"{operation}: the file is not TOML; {str(error)[:200]}") from None
    except RecursionError:
        raise _too_deep(operation) from None
    except ValueError:  # Python refuses integers of more digits than it converts
        raise DescriptorError(f"{operation}: a number in the TOML file has more than 4300 digits") from None
    level: list[Any] = [tables]
    for _ in range(MOST_DEPTH):
        level = [
            inner for container in level for inner in (container.values() if isinstance(container, dict) else container)
            if isinstance(inner, dict | list)
        ]  # fmt: skip
    if level:
        raise _too_deep(operation)
    return tables


def _too_deep(operation: str) -> DescriptorError:
    return DescriptorError(f"{operation}: lists and tables of the TOML file are nested more than {MOST_DEPTH} deep")


def lines_of(text: str) -> dict[str, int]:
    r"""Return the line number of every section and key, by its path.

    >>> lines_of('[operand.a]\ndtype = "bf16"\nexpect.word = 1')
    {'operand.a': 1, 'operand': 1, 'operand.a.dtype': 2, 'operand.a.expect.word': 3}
    """
    numbers: dict[str, int] = {}
    section = ""
    for number, line in enumerate(text.splitlines(), 1):
        if begun := _SECTION.match(line):
            section = _unquoted(begun[1])
            numbers.setdefault(section, number)
            numbers.setdefault(section.partition(".")[0], number)
        elif key := _KEY.match(line):
            numbers.setdefault(f"{section}.{_unquoted(key[1])}".lstrip("."), number)
    return numbers


def _unquoted(path: str) -> str:
    return re.sub(r"\s*\.\s*", ".", re.sub(r"[\"']", "", path))


def _kind(section: str, table: dict[str, Any]) -> str:
    """Return the kind of a section: a key of ``_DOORS``."""
    kind = section.partition(".")[0]
    return "mma" if kind == "plan" and is_mma(table.get("instruction"), table.get("arch")) else kind


def _arguments(section: str, table: dict[str, Any], lines: dict[str, int]) -> dict[str, Any]:
    """Return the arguments of a section, with extents such as ``128x64`` as tuples."""
    kind, arguments = _kind(section, table), dict[str, Any]()
    for key, value in table.items():
        if key == "expect":
            continue
        place = f"check: line {lines.get(f'{section}.{key}', lines.get(section, 0))}: {section}.{key}"
        if key not in _KEYS[kind]:
            near = get_close_matches(key, _KEYS[kind], n=1)
            hint = f" (did you mean {near[0]}?)" if near else f"; the arguments are {', '.join(_KEYS[kind])}"
            raise DescriptorError(f"{place} is not an argument of {_DOORS[kind].__name__}{hint}")
        if key in _EXTENTS and isinstance(value, str) and re.fullmatch(r"\d{1,9}([x,]\d{1,9})*", value):
            value = tuple(int(number) for number in re.split("[x,]", value))
        elif not isinstance(value, (str, int, bool, list)):
            raise DescriptorError(f"{place} is {brief(value)}, not text, a number, true, false or a list")
        arguments[key] = tuple(value) if isinstance(value, list) else value
    return arguments


def _sections(text: str, lines: dict[str, int]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Yield name, arguments and expected values of every section."""
    for kind, group in read(text).items():
        place = f"check: line {lines.get(kind, 0)}: " if kind in lines else "check: "
        if kind not in ("operand", "plan") or not isinstance(group, dict):
            raise DescriptorError(f"{place}{brief(kind)} is not a section [operand.NAME] or [plan.NAME]")
        for name, table in group.items():
            section = f"{kind}.{name}"
            if not isinstance(table, dict):
                raise DescriptorError(f"check: [{section}] is {brief(table)}, not a table")
            expected = table.get("expect", {})
            if not isinstance(expected, dict):
                raise DescriptorError(f"check: {section}.expect is {brief(expected)}, not a table")
            yield section, _arguments(section, table, lines), expected


def _record(section: str, arguments: dict[str, Any], lines: dict[str, int]) -> dict[str, Any]:
    """Return the JSON of the operand or plan of a section."""
    function = _DOORS[_kind(section, arguments)]
    if function is mma_plan:
        arguments.setdefault("instruction", None)  # the only one of the type
    lacking = [
        name for name, parameter in signature(function).parameters.items()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
        and name not in arguments
    ]  # fmt: skip
    place = f"check: line {lines.get(section, 0)}: [{section}]"
    if lacking:
        raise DescriptorError(f"{place}: {' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} missing")
    try:
        if section.startswith("plan."):
            return dict(answers.record(function(**arguments)))
        base = arguments.pop("base", 0)
        return dict(answers.record(derive(**arguments), base=base))
    except (LayoutError, TypeError) as error:  # TypeError: Python rejects the type of an argument
        raise DescriptorError(f"{place}: {error}") from None


def _flat(table: dict[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield before + key, value


def _value(section: str, answer: dict[str, Any], path: str, line: int) -> Any:
    """Return the value at a path of the JSON."""
    value: Any = answer
    for step in (SHORT.get(path, path) if section.startswith("operand.") else path).split("."):
        keys = _steps(value)
        if step not in keys:
            near = get_close_matches(step, [*keys, *(SHORT if value is answer else ())], n=1)
            hint = f" (did you mean {near[0]}?)" if near else f"; the keys are {', '.join(keys[:12])}" if keys else ""
            raise DescriptorError(
                f"check: line {line}: {section}.expect.{path} is not in the section's JSON, which has no {step}{hint}"
            )
        value = value[step] if isinstance(value, dict) else value[int(step)]
    return value["text"] if isinstance(value, dict) and "text" in value else value


def _steps(value: Any) -> list[str]:
    """Return the possible next steps of a path: keys, or indices."""
    if isinstance(value, dict):
        return list(value)
    return [str(i) for i in range(len(value))] if isinstance(value, (list, tuple)) else []


def _difference(stated: Any, actual: Any) -> tuple[int, ...] | None:
    """Return the indices of the first difference of two values; () if they are not lists, None if they agree."""
    if isinstance(stated, (list, tuple)) and isinstance(actual, (list, tuple)):
        if len(stated) != len(actual):
            return ()
        for i, (first, second) in enumerate(zip(stated, actual, strict=True)):
            inner = _difference(first, second)
            if inner is not None:
                return (i, *inner)
        return None
    return None if _plain(stated) == _plain(actual) or _same_layout(stated, actual) else ()


def _plain(value: Any) -> Any:
    """Return a hexadecimal text as a number, and other values as they are."""
    if isinstance(value, str) and value[:2].casefold() == "0x":
        try:
            return int(value, 16)
        except ValueError:
            return value
    return value if not isinstance(value, bool) else str(value)


def _same_layout(stated: Any, actual: Any) -> bool:
    if not isinstance(stated, str) or not isinstance(actual, str):
        return False
    try:
        first, second = parse_layout(stated), parse_layout(actual)
        if isinstance(first, Swizzle) or isinstance(second, Swizzle):
            return first == second
        return bool(size(first) == size(second)) and all(first(i) == second(i) for i in range(size(first)))
    except LayoutError:
        return False


def _at(value: Any, indices: tuple[int, ...]) -> Any:
    for index in indices:
        value = value[index]
    return value


def _text(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1 << 32:
        return f"{value:#018x}"
    return _toml(value) if isinstance(value, (list, tuple)) else str(value)


def _key(path: str) -> str:
    return path if path.replace("_", "").isalnum() else f'"{path}"'


def _toml(value: Any) -> str:
    """Return a value in TOML notation."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)
