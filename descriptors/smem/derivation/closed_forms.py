"""Write the closed forms of a family of tiles as text, LaTeX, Python or JSON.

The Python form is a module of plain functions without imports, which take the symbols as keyword arguments. The LaTeX
form is one ``align*`` environment (amsmath).

Invariant: the functions of the Python form return the numbers of ``derive``.

>>> from descriptors import derive, derive_symbolic
>>> module = {}
>>> exec(write_formulas(derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16)), "python"), module)
>>> for m, k in ((1, 1), (2, 1), (1, 3)):
...     number = derive((64 * m, 64 * k), "bf16", "K", "128B", (64, 16))
...     offsets = tuple(tuple(module["start_offset"](i, j, m=m, k=k) for j in range(4 * k)) for i in range(m))
...     assert offsets == number.offsets_bytes()
"""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Mapping
from typing import Any

from descriptors.errors import DescriptorError
from descriptors.records import Record, Row, attributes, each, evidence_row
from descriptors.smem.derivation.explanation import SHORT, unread_mark
from descriptors.smem.derivation.symbolic import Step, SymbolicDerivation, offsets_of, subtiles
from descriptors.smem.operands.operand import DTYPES, choose
from descriptors.text import counted, extents_text, known_line

#: Names of the indices of a subtile in Python.
_INDICES = {"MN": "subtile_mn", "K": "subtile_k", "stage": "subtile_stage"}


def write_formulas(derivation: SymbolicDerivation, format: str = "text") -> str:
    """Write the closed forms of a derivation in a format.

    Args:
        derivation: the result of ``derive_symbolic``.
        format: ``"text"``, ``"latex"``, ``"python"`` or ``"json"``.

    Raises:
        ChoiceError: for another format.
        DescriptorError: if the format is Python, and a symbol cannot be the name of a parameter.

    >>> from descriptors.smem.derivation.symbolic import derive_symbolic
    >>> d = derive_symbolic(("64*m", "64*k"), "bf16", "K", "128B", (64, 16), order=(1, 0))
    >>> print(write_formulas(d, "python").splitlines()[11])
        return 1024*k
    """
    return choose("formulas: format", format, WRITERS)(derivation)


def _title(d: SymbolicDerivation) -> str:
    return (
        f"{d.element}, {d.major}-major, swizzle {d.swizzle}, {extents_text(d.mma)} out of a "
        f"{' x '.join(map(str, d.tile))} tile ({d.arch})"
    )


def tell_formulas(derivation: SymbolicDerivation) -> str:
    """Return the closed forms as text: every step, LBO and SBO, and the loops over the subtiles."""
    d = derivation
    symbols = f", for all positive integers {', '.join(d.symbols)}" if d.symbols else ""
    names = ("MN", "K", "stages")
    stacked = ", then along ".join(names[i] for i in sorted(range(len(d.order)), key=d.order.__getitem__))
    return "\n".join(
        [
            f"Closed forms: {_title(d)}{symbols}",
            f"Atoms are stacked along {stacked}.",
            "",
            f"smem_tile    {d.smem_tile}",
            f"partitioned  {d.partitioned}",
            f"recast       {d.recast}",
            f"canonical    {d.match.layout}",
            f"advance      {d.advance}   (16-byte units)",
            "",
            *(
                f"{SHORT[name]}  {counted(value, 'byte')}{unread_mark(name, d.dont_care)}"
                for name, value in offsets_of(d)
            ),
            "",
            f"Start address: {counted(subtiles(d), 'subtile')}",
            *(f"   {step}" for step in d.steps),
            *known_line(d.arch),
        ]
    )


def _latex(d: SymbolicDerivation) -> str:
    from sympy import latex, sympify

    def math(value: Any) -> str:
        return str(latex(sympify(value)))

    lines = [rf"\mathrm{{{SHORT[name]}}} &= {math(value)}" for name, value in offsets_of(d)]
    levels: dict[str, int] = {}
    for step in d.steps:
        levels[step.dimension] = level = levels.get(step.dimension, -1) + 1
        name = rf"\Delta_{{\mathrm{{{step.dimension}}},{level}}}"
        lines.append(rf"{name} &= {math(step.bytes)}, \quad 0 \le i < {math(step.extent)}")
    body = " \\\\\n".join(f"  {line}" for line in lines)
    note = "in bytes; a start address is the sum of i times Delta over the loops of its subtile, fastest first"
    known = "".join(f"% {line}\n" for line in known_line(d.arch))
    return f"% {_title(d)}\n% {note}\n{known}\\begin{{align*}}\n{body}\n\\end{{align*}}"


def _python(d: SymbolicDerivation) -> str:
    for name in d.symbols:
        if not name.isidentifier() or keyword.iskeyword(name) or name in _INDICES.values():
            raise DescriptorError(f"formulas: symbol {name} cannot be the name of a parameter in Python")
    arguments = ", ".join(d.symbols)
    lines = [f'"""Offsets in bytes: {_title(d)}."""', *(f"# {line}" for line in known_line(d.arch))]
    for name, value in offsets_of(d):
        note = " It changes nothing for this operand." if name in d.dont_care else ""
        head = f"def {name}({f'*, {arguments}' if arguments else ''}):"
        lines += ["", "", head, f'    """The {SHORT[name]}.{note}"""', f"    return {value}"]
    names = [_INDICES[name] for name in ("MN", "K", "stage")[: len(d.tile)]]
    parameters = ", ".join([*names, *(["*", arguments] if arguments else [])])
    lines += ["", "", f"def start_offset({parameters}):"]
    lines += ['    """Start address of a subtile relative to the first."""', f"    return {_start(d.steps)}"]
    return "\n".join(lines)


def _start(steps: tuple[Step, ...]) -> str:
    """Return the start address as a sum over the loops; each index is split by the extents of its dimension."""
    terms, below = [], dict.fromkeys(_INDICES, "")
    last = {step.dimension: i for i, step in enumerate(steps)}
    for i, step in enumerate(steps):
        index = _INDICES[step.dimension] + below[step.dimension]
        if i != last[step.dimension]:
            index += f" % {_factor(step.extent)}"
        terms.append(f"{_factor(index)} * {_factor(step.bytes)}")
        below[step.dimension] += f" // {_factor(step.extent)}"
    return " + ".join(terms) or "0"


def _factor(value: Any) -> str:
    """Return an expression, in parentheses unless it is a single name or number."""
    text = str(value)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


#: A number, or a formula as text.
_FORMULA = (int, str)
#: The closed forms as plain data; formulas as text.
record_formulas = Record(
    "ClosedForms",
    **attributes(SymbolicDerivation, "arch"),
    dtype=Row(DTYPES, "element"),
    **attributes(SymbolicDerivation, "major swizzle"),
    tile=[_FORMULA],
    **attributes(SymbolicDerivation, "mma order symbols smem_tile partitioned recast canonical=match.layout"),
    **attributes(SymbolicDerivation, "form=match.form advance"),
    **each(_FORMULA, "leading_byte_offset stride_byte_offset"),
    dont_care=[str],
    steps=[Record(dimension=str, **each(_FORMULA, "extent bytes"))],
    evidence=evidence_row(),
)


def _json(d: SymbolicDerivation) -> str:
    return json.dumps(record_formulas(d))


#: The writers by format.
WRITERS: Mapping[str, Callable[[SymbolicDerivation], str]] = {
    "text": tell_formulas,
    "latex": _latex,
    "python": _python,
    "json": _json,
}
