"""What a check of a kernel finds: a rule broken at a line, and all of them as a report.

A report may be asked for by level and by rule, and is less what comments in its text say is meant.
A comment ``// descriptors: ignore RULE RULE`` is about its own line, or, alone on a line, about the next one with
code. What it leaves out is counted. Source: the form of the comment is ours.

Law: what is found is found by a rule of the table.

>>> finding(7, "form-shape", "found n7").rule in ALL_RULES.values()
True

Law: a comment leaves out its own line's findings of its rules, and nothing else.

>>> text = "a; // descriptors: ignore wgmma-wait\\n// descriptors: ignore word-smem wgmma-call\\n\\nb;"
>>> {line: sorted(rules) for line, rules in ignored(text).items()}
{1: ['wgmma-wait'], 4: ['wgmma-call', 'word-smem']}
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches

from descriptors.check.rules import ALL_RULES, Broken, Level, Rule
from descriptors.errors import DescriptorError, brief
from descriptors.text import Told, counted
from layoutalg.frozen import frozen, replace


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


_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_COMMENT = re.compile(r"//[ \t]*descriptors:[ \t]*ignore\b([^\n]*)")


def rule_names(names: Iterable[str], where: str) -> frozenset[str]:
    """Names of rules, each of which has to be one.

    Args:
        names: the names.
        where: what they were found in, for the message.

    Raises:
        DescriptorError: if one is none.

    >>> rule_names(["wait"], "--rule")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: a rule must be one of descriptors check --rules, found 'wait'; --rule
    """
    found = frozenset(names)
    for name in sorted(found - ALL_RULES.keys()):
        near = get_close_matches(name, ALL_RULES, 1)
        close = f" (close to {near[0]})" if near else ""
        raise DescriptorError(
            f"check: a rule must be one of descriptors check --rules, found {brief(name)}{close}; {where}"
        )
    return found


def ignored(text: str) -> Mapping[int, frozenset[str]]:
    """The rules that comments leave out, by the line that they are about.

    Raises:
        DescriptorError: if a comment names no rule, or one that there is not.
    """
    found: dict[int, frozenset[str]] = {}
    if "descriptors:" not in text:
        return found
    waiting: frozenset[str] = frozenset()
    code = _BLOCK_COMMENT.sub(lambda one: "\n" * one[0].count("\n"), text).split("\n")
    for line, written in enumerate(text.split("\n"), 1):
        if comment := _COMMENT.search(written):
            names = rule_names(comment[1].replace(",", " ").split(), f"the comment in line {line}")
            if not names:
                raise DescriptorError(f"check: a comment must name the rules to ignore, found none; line {line}")
            waiting |= names
        if waiting and code[line - 1].partition("//")[0].strip():
            found[line], waiting = waiting, frozenset()
    return found


def without_ignored(report: Report, text: str) -> Report:
    """A report less what comments in its text leave out."""
    meant = ignored(text)
    if not meant:
        return report
    kept = tuple(one for one in report.findings if one.rule.name not in meant.get(one.line, ()))
    return _with(report, kept)


def _with(report: Report, kept: tuple[Finding, ...]) -> Report:
    return replace(report, findings=kept, left_out=report.left_out + len(report.findings) - len(kept))


def chosen(
    report: Report, levels: Collection[Level] = (), rules: Collection[str] = (), without: Collection[str] = ()
) -> Report:
    """A report with the findings that are asked for.

    Args:
        report: what was found.
        levels: the levels to keep; all if there are none.
        rules: the rules to keep, by name; all if there are none.
        without: rules to leave out.

    >>> made = Report("sm_80", (), 0, 0, 0, (), (finding(3, "form-target", "found sm_80"),))
    >>> [len(chosen(made, levels).findings) for levels in ((), (Level.ERROR,), (Level.ASKS,))]
    [1, 1, 0]
    >>> chosen(made, without={"form-target"}).headline
    '0 MMA instructions of sm_80: 0 errors and 0 remarks, 1 left out'
    """

    def kept(one: Finding) -> bool:
        name, level = one.rule.name, one.rule.level
        return (not levels or level in levels) and (not rules or name in rules) and name not in without

    return _with(report, tuple(one for one in report.findings if kept(one)))
