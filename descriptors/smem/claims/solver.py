"""Run a claim in a solver, if z3 or cvc5 is installed as a Python package, and convert the answer to an element.

A solver is optional, because a claim is a text (``claim``). With a solver, a wrong word is refuted by an element.

Invariant: the converted element is the one that the values name.

>>> values = {"base": 0, "i": 0, "j": 1, "r": 8, "c": 0, "stored": 64, "(read word r c)": 48}
>>> print(element_of(Answer("z3", "sat", values), "bf16"))
element (8,0) of subtile (0,1) is stored at byte 0x40, read at byte 0x30
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

from descriptors.errors import DescriptorError
from descriptors.records import Option, Record, Row, each
from descriptors.smem.claims.claim import claim
from descriptors.smem.claims.question import Question
from descriptors.smem.claims.terms import BITS
from descriptors.smem.claims.walk_terms import STORED_BITS, Operand, walk
from descriptors.smem.claims.walk_terms import fields as fields_of
from descriptors.smem.debug.diff import Diff
from descriptors.smem.debug.word_text import ELEMENT, record_diff
from descriptors.smem.proof.addresses import fetched_rows, stored_rows
from descriptors.smem.proof.mismatch import Mismatch, first_mismatches
from descriptors.smem.words.descriptor import window_bytes
from descriptors.text import word_text

#: The largest number of elements in the query for a word.
_MOST_ELEMENTS = 64

#: Time limit of a query, in seconds.
_SECONDS = 60


class Answer(NamedTuple):
    """The answer of a solver.

    Args:
        solver: name of the solver.
        outcome: ``"unsat"``, ``"sat"`` or ``"unknown"``.
        values: values of the terms that the question names, if it is sat.
    """

    solver: str
    outcome: str
    values: Mapping[str, int]


def installed() -> tuple[str, ...]:
    """Return which of z3 and cvc5 are installed."""
    return tuple(name for name in _RUNNERS if find_spec(name) is not None)


def ask(question: Question, solver: str | None = None, *, seconds: int = _SECONDS) -> Answer:
    """Run a question in a solver.

    Args:
        question: the question.
        solver: ``"z3"`` or ``"cvc5"``; the default is the first that is installed.
        seconds: time limit.

    Raises:
        DescriptorError: if the solver is not installed.
    """
    names = installed()
    if solver is None and names:
        solver = names[0]
    if solver not in names:
        raise DescriptorError(
            f"solver: {solver or 'neither z3 nor cvc5'} is {'not ' if solver else ''}installed; "
            "use `pip install z3-solver` or `pip install cvc5`; write the claim with --smt2 to run another solver"
        )
    outcome = _RUNNERS[solver](question.script, seconds).split("\n")[0]
    values = dict[str, int]()
    if outcome == "sat" and question.values:
        shown = _RUNNERS[solver](f"{question.script}\n(get-value ({' '.join(question.values)}))", seconds)
        numbers = re.findall(r"#x([0-9a-f]+)\)|#b([01]+)\)", shown)
        values = dict(zip(question.values, (int(x, 16) if x else int(b, 2) for x, b in numbers), strict=True))
    return Answer(solver, outcome, values)


def ask_of_word(difference: Diff, solver: str | None = None) -> Answer:
    """Ask a solver whether the word of a ``diff`` reads the layout wherever both are moved.

    Raises:
        DescriptorError: as ``ask``, or if the claim cannot be stated.
    """
    return ask(claim(difference).questions[0], solver)


def word_that_reads(difference: Diff, solver: str | None = None) -> int | None:
    """Search with a solver for a word that reads the layout of a ``diff``; return None if there is none.

    The query is for a word that reads some elements correctly. The first element that this word reads wrong is added to
    the query, until a word reads all elements, or the query is unsatisfiable. The word is verified with the read model;
    that there is none is the solver's answer.

    Raises:
        DescriptorError: as ``ask``; or if the solver does not decide the query.

    >>> from descriptors import diff
    >>> word_that_reads(diff(1 << 62, "(64,16):(72,1)", "sm90", dtype="bf16", major="K")) if installed() else None
    """
    claim(difference)  # raises for an operand that has no layout of its own
    operand = Operand(difference.arch, difference.element.name, str(difference.major), difference.shape)
    rows = stored_rows(
        difference.layout,
        difference.element,
        base=difference.base,
        pattern_start=difference.pattern_start,
        window=window_bytes(difference.arch),
    )
    scale, sorts = 4 if operand.half else 1, "(define-sort N () (_ BitVec 32))\n(define-sort Word () (_ BitVec 64))"
    premises = [sorts, "(declare-const word Word)", fields_of(operand), walk(operand), "(assert (meaningful word))"]
    coordinate = (0, 0)
    for _ in range(_MOST_ELEMENTS):
        read = f"(read word {BITS.number(coordinate[0])} {BITS.number(coordinate[1])})"
        premises.append(f"(assert (= {read} {BITS.number(rows[coordinate[0]][coordinate[1]] // scale)}))")
        answer = ask(
            Question("word", "QF_BV", "\n".join(premises), "", "Which word reads these elements?", ("word",)), solver
        )
        if answer.outcome == "unsat":
            return None
        if answer.outcome != "sat":
            break
        word = answer.values["word"]
        arguments: dict[str, Any] = {"arch": difference.arch, "element": difference.element, "major": difference.major}
        wrong = first_mismatches(rows, fetched_rows([word], **arguments, shape=difference.shape)[0], unit="", most=1)
        if not wrong:
            return word
        coordinate = wrong[0].coordinate
    raise DescriptorError(f"solver: the solver does not decide whether a word reads {difference.layout}")


def tell_answer(answer: Answer, dtype: str) -> str:
    """Return the answer on a word as a line of text.

    >>> print(tell_answer(Answer("z3", "unsat", {}), "bf16"))
    z3: unsat, every element is read from its address, also if word and layout are moved by a multiple of 1024 bytes
    """
    if answer.outcome == "sat":
        return f"{answer.solver}: sat, {element_of(answer, dtype)}"
    if answer.outcome == "unsat":
        moved = "also if word and layout are moved by a multiple of 1024 bytes"
        return f"{answer.solver}: unsat, every element is read from its address, {moved}"
    return f"{answer.solver}: {answer.outcome}, not decided within {_SECONDS} seconds"


def tell_word(difference: Diff) -> str:
    """Return a line that states whether any word reads a layout without a canonical form; "" for other layouts."""
    if difference.right_word is not None:
        return ""
    word = word_that_reads(difference)
    fact = "no word at all reads this layout" if word is None else f"{word_text(word)} reads this layout"
    return f"\n{installed()[0]}: {fact}"


#: An answer as plain data.
SOLVED = Record(**each(str, "solver outcome"), element=Row((Record(**ELEMENT.rows, base=int), None), Option("element")))
#: A comparison with what a solver answered.
DIFF = Record(**record_diff.rows, symbolic=Row(SOLVED, optional=True))


def record_answer(answer: Answer, dtype: str) -> dict[str, Any]:
    """Return the answer on a word as plain data.

    >>> record_answer(Answer("z3", "unsat", {}), "bf16")
    {'solver': 'z3', 'outcome': 'unsat', 'element': None}
    """
    return SOLVED(answer, element=element_of(answer, dtype) if answer.outcome == "sat" else None)


def _z3(script: str, seconds: int) -> str:
    import z3

    context = z3.Context()
    limited = script.replace("(set-logic", f"(set-option :timeout {1000 * seconds})\n(set-logic", 1)
    return str(z3.Z3_eval_smtlib2_string(context.ref(), limited)).strip()


def _cvc5(script: str, seconds: int) -> str:
    import cvc5

    terms = cvc5.TermManager()
    solver, symbols = cvc5.Solver(terms), cvc5.SymbolManager(terms)
    solver.setOption("tlimit-per", str(1000 * seconds))
    parser = cvc5.InputParser(solver, symbols)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "claim")
    outputs = list[str]()
    while not (command := parser.nextCommand()).isNull():
        outputs.append(command.invoke(solver, symbols))
    return "".join(outputs).strip()


_RUNNERS: Mapping[str, Callable[[str, int], str]] = {"z3": _z3, "cvc5": _cvc5}


def element_of(answer: Answer, dtype: str) -> Mismatch:
    """Convert a solver's counterexample to a mismatch, as ``verify`` and ``diff`` report it.

    Args:
        answer: a *sat* answer to the question whether words read a tile.
        dtype: name of the element type.
    """
    values, bits = answer.values, STORED_BITS[dtype]
    unit, scale = ("bit", 4) if bits < 8 else ("byte", 1)
    subtile = tuple(value for name, value in values.items() if re.fullmatch(r"[ij]|s\d+", name))
    return Mismatch(
        (values["r"], values["c"]),
        scale * values["stored"],
        scale * values["(read word r c)"],
        unit,
        subtile=subtile if any(subtile) else (),
        base=values["base"],
    )
