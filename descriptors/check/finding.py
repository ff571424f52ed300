"""What a check of a kernel finds: rules of form and of words, beside those of the protocol; a finding; a report.

Law: a rule has one name, and no rule of form or of words bears that of a rule of the protocol.

>>> all(name == rule.name for name, rule in ALL_RULES.items()) and not FORMS.keys() & RULES.keys()
True
"""

from __future__ import annotations

from collections.abc import Mapping

from descriptors.check.protocol_rules import RULES, Broken, Level, Rule
from descriptors.frozen import frozen
from descriptors.text import Told, counted

_MMA = "PTX ISA 9.1, wgmma.mma_async; tcgen05"
_TABLES = "descriptors shapes; PTX ISA 9.1, Matrix Shape; ptxas (golden verdicts)"
_E, _A, _P = Level.ERROR, Level.ASKS, Level.PERFORMANCE

_ROWS = (
    Rule("form-target", _E, "the target must have the instruction", "write another .target", f"{_MMA}, Target ISA"),
    Rule("form-qualifier", _E, "qualifiers must be those of the instruction", "correct the qualifier", _MMA),
    Rule("form-types", _E, "types must go together", "take types of one row of descriptors shapes", _TABLES),
    Rule("form-shape", _E, "the shape must exist", "take a shape of descriptors shapes", _TABLES),
    Rule("form-registers", _E, "a vector must have the registers of its shape", "give as many registers", _MMA),
    Rule("form-operands", _E, "operands must be those of the instruction, in its order", "correct the operands", _MMA),
    Rule("form-immediate", _E, "an immediate must be in its range", "correct the immediate", _MMA),
    Rule(
        "form-limit", _E, "a kernel must allow a thread the registers of D and 26 more",
        "raise .maxnreg, take fewer threads a CTA, or a smaller N", "ptxas 12.9, 13.0, 13.5 (C7602)",
    ),
    Rule(
        "form-transpose", _E, "only f16 and bf16 in shared memory may be transposed",
        "store the operand K-major, and leave the transpose out",
        "PTX ISA 9.1, wgmma.mma_async, imm-trans-a, imm-trans-b",
    ),
    Rule(
        "word-idesc", _E, "an instruction descriptor must describe the instruction it goes to",
        "build the word with descriptors idesc",
        "PTX ISA 9.1, tcgen05, Instruction descriptor; descriptors decode-idesc",
    ),
    Rule(
        "word-smem", _E, "a shared-memory descriptor must describe an operand that the instruction reads",
        "derive the word with descriptors derive", "descriptors decode; PTX ISA 9.1, matrix descriptors",
    ),
    Rule(
        "word-unused-bits", _A, "bits of a shared-memory descriptor outside of its fields must be 0",
        "clear them", "PTX ISA 9.1, matrix descriptors",
    ),
    Rule(
        "word-version", _A, "bits [46,49) of an sm100 word must be 1",
        "set bit 46", "PTX ISA 9.1, tcgen05, Shared memory descriptor (Table 40); Triton 3.5.0 leaves them 0",
    ),
    Rule(
        "word-suspect", _A, "a shared-memory descriptor should not look like a mistake",
        "compare the word with descriptors derive", "descriptors decode (warnings)",
    ),
    Rule(
        "word-advance", _E, "words of one accumulation must differ in where they start alone, by whole K blocks",
        "advance the start address as descriptors derive says", "descriptors derive (advance)",
    ),
    Rule(
        "word-repeated", _A, "two instructions of one accumulation should not read the same A and B",
        "advance the start addresses, or leave the second out", "descriptors derive (advance)",
    ),
)  # fmt: skip

#: Rules of form and of words, by name.
FORMS: Mapping[str, Rule] = {rule.name: rule for rule in _ROWS}
#: Every rule that a check has.
ALL_RULES: Mapping[str, Rule] = {**FORMS, **RULES}


@frozen
class Finding:
    """A rule that an instruction breaks.

    Args:
        line: of the instruction, from 1.
        rule: the rule.
        found: what was found.
        instruction: the opcode.
        registers: the registers that it is about, if any.
    """

    line: int
    rule: Rule
    found: str
    instruction: str = ""
    registers: tuple[str, ...] = ()


@frozen
class Report(Told):
    """What a check of a PTX text found.

    Args:
        target: the ``.target``.
        functions: functions with tensor-core instructions, by name.
        multiplications: how many MMA instructions there are.
        words: how many descriptor words they have.
        resolved: how many of those words are constants, or constants but for their start address.
        unresolved: (line, operand) of the other words.
        findings: in the order of the text.
        left_out: how many more there are, which comments or the question leave out.
    """

    target: str
    functions: tuple[str, ...]
    multiplications: int
    words: int
    resolved: int
    unresolved: tuple[tuple[int, str], ...]
    findings: tuple[Finding, ...]
    left_out: int = 0

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings of level error."""
        return tuple(one for one in self.findings if one.rule.level is Level.ERROR)

    @property
    def headline(self) -> str:
        """The answer in one line."""
        found = f"{counted(len(self.errors), 'error')} and {counted(len(self.findings) - len(self.errors), 'remark')}"
        fewer = f", {self.left_out} left out" if self.left_out else ""
        return f"{counted(self.multiplications, 'MMA instruction')} of {self.target or 'no target'}: {found}{fewer}"


def finding(line: int, name: str, found: str, instruction: str = "") -> Finding:
    """A breach of the rule of form or of words that has this name."""
    return Finding(line, FORMS[name], found, instruction)


def of_protocol(line: int, one: Broken, instruction: str) -> Finding:
    """A breach of the protocol at a line.

    >>> from descriptors.check.protocol_rules import broken
    >>> of_protocol(7, broken("wgmma-wait", "found a read"), "st.global.f32").line
    7
    """
    return Finding(line, one.rule, one.found, instruction, one.registers)
