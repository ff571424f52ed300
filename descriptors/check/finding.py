"""What a check of a kernel finds: a rule broken at a line, and all of them as a report.

Law: what is found is found by a rule of the table.

>>> finding(7, "form-shape", "found n7").rule in ALL_RULES.values()
True
"""

from __future__ import annotations

from descriptors.check.rules import ALL_RULES, Broken, Level, Rule
from descriptors.frozen import frozen
from descriptors.text import Told, counted


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
    return Finding(line, ALL_RULES[name], found, instruction)


def of_protocol(line: int, one: Broken, instruction: str) -> Finding:
    """A breach of the protocol at a line.

    >>> from descriptors.check.rules import broken
    >>> of_protocol(7, broken("wgmma-wait", "found a read"), "st.global.f32").line
    7
    """
    return Finding(line, one.rule, one.found, instruction, one.registers)
