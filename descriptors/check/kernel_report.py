"""What a check of a kernel finds: a rule broken at a line, what was not decided, and all of it as a report.

A report has a verdict for each property of a kernel: *clean*, all there is of it was looked at and no error found;
*wrong*, an error in it; *incomplete*, something of it was not decided, and each such thing is named; *absent*, the
kernel has nothing of it. So nothing is clean that nobody looked at. Who judges a property hands in a ``Judgement``.

A report may be asked for by level and by rule, and is less what comments in its text say is meant.
A comment ``// descriptors: ignore RULE RULE`` is about its own line, or, alone on a line, about the next one with
code. What it leaves out is counted. Source: the form of the comment is ours.

Law: what is found is found by a rule of the table.

>>> finding(7, "form-shape", "found n7").rule in ALL_RULES.values()
True

Law: a property is clean only where all of it was looked at, nothing was left open, and no error stands.

>>> def verdict(number, looked_at, undecided=(), findings=()):
...     scopes = (Scope("forms", number, "instruction", looked_at),)
...     return Report("sm_90a", ("k",), 1, 0, 0, (), findings, scopes, undecided).properties[0].verdict
>>> wrong, open_ = (finding(3, "form-shape", "found n7"),), (Undecided("forms", 3, "n", "a register"),)
>>> verdict(0, 0), verdict(2, 2), verdict(2, 1), verdict(2, 2, open_), verdict(2, 2, (), wrong)
('absent', 'clean', 'incomplete', 'incomplete', 'wrong')

Law: a comment leaves out its own line's findings of its rules, and nothing else.

>>> text = "a; // descriptors: ignore wgmma-wait\\n// descriptors: ignore word-smem wgmma-call\\n\\nb;"
>>> {line: sorted(rules) for line, rules in ignored(text).items()}
{1: ['wgmma-wait'], 4: ['wgmma-call', 'word-smem']}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches

from descriptors.check.rules import ALL_RULES, PROPERTIES, Broken, Level, Rule, fact_and_notes
from descriptors.errors import DescriptorError, brief
from descriptors.text import Told
from layoutalg.frozen import frozen, replace


@frozen
class Moment:
    """When something is wrong, in the run that came to it.

    Args:
        round: how often its warp has reached the instruction, this time included; 0 where no warp is at it.
        rounds: how often it does in all, in a run that comes to its end; else 0.
        other_line: of the other of two events, or of what told an mbarrier something last; 0 for none.
        other_round: how often that warp has reached the other event, that time included.
        parameters: what scalar parameters were, in words; "" where the kernel reads none.
    """

    round: int
    rounds: int
    other_line: int
    other_round: int
    parameters: str

    @property
    def clause(self) -> str:
        """The moment in words; "" where everything is executed once.

        >>> Moment(5, 7, 30, 1, "k = 448").clause, Moment(1, 1, 0, 0, "k = 448").clause
        ('iteration 5 of 7, after line 30 in iteration 1, k = 448', '')
        """
        if max(self.round, self.rounds, self.other_round) < 2:
            return ""
        made = [f"iteration {self.round}{f' of {self.rounds}' if self.rounds else ''}"] if self.round else []
        other = [f"after line {self.other_line} in iteration {self.other_round}"] if self.other_round else []
        return ", ".join([*made, *other, *([self.parameters] if self.parameters else [])])


@frozen
class Finding:
    """A rule that an instruction breaks.

    Args:
        line: of the instruction, from 1.
        rule: the rule.
        found: the detail: the fact, and a note after each "; ".
        instruction: the opcode.
        registers: the registers that it is about, if any.
        function: the function that it stands in.
        moment: when in a run it is so; None where the text says it without one.
    """

    line: int
    rule: Rule
    found: str
    instruction: str = ""
    registers: tuple[str, ...] = ()
    function: str = ""
    moment: Moment | None = None

    @property
    def fact(self) -> str:
        """What is the case, in one clause."""
        return fact_and_notes(self.rule, self.found)[0]

    @property
    def notes(self) -> list[str]:
        """Details of the fact, and the moment of the run in which it is so.

        >>> replace(finding(7, "form-limit", "the limit is 24; m64n8k16 needs 30"), moment=Moment(2, 4, 0, 0, "")).notes
        ['m64n8k16 needs 30', 'iteration 2 of 4']
        """
        clause = self.moment.clause if self.moment else ""
        return fact_and_notes(self.rule, self.found)[1:] + ([clause] if clause else [])

    @property
    def sentence(self) -> str:
        """The fact and its notes in one line."""
        return "; ".join([self.fact, *self.notes])


#: Why nothing is known of what nobody looks at.
NOT_LOOKED_AT = "not checked"


@frozen
class Undecided:
    """What a check could not decide.

    Args:
        property: the property that it leaves open, one of ``PROPERTIES``.
        line: where it stands, from 1.
        what: the operand, the value or the instructions.
        why: where the value is from, or what else hides it.
        decides: what would decide it; "" where nothing here does.
        function: the function that it stands in.
    """

    property: str
    line: int
    what: str
    why: str
    decides: str = ""
    function: str = ""


@frozen
class Scope:
    """How much a kernel has of one property, and how much of it was looked at.

    Args:
        property: one of ``PROPERTIES``.
        number: how many things of it there are.
        unit: what is counted, one of them.
        looked_at: how many of them were looked at; none if left out.
    """

    property: str
    number: int
    unit: str
    looked_at: int = 0


@frozen
class ExecutedLaunch:
    """A launch with which a kernel was executed.

    Args:
        function: the kernel.
        threads: of a CTA, along x, y, z.
        cluster: CTAs of a cluster, along x, y, z.
        parameters: the scalar parameters that it read, with their values.
        completed: whether it came to its end.
        steps: how many instructions of its warps were executed.
    """

    function: str
    threads: tuple[int, int, int]
    cluster: tuple[int, int, int]
    parameters: tuple[tuple[str, int], ...]
    completed: bool
    steps: int


@frozen
class Judgement:
    """What one judge says of the properties that are his.

    Args:
        scopes: one for each of them: all of it looked at is clean, if nothing else is said.
        undecided: what he could not decide.
        findings: what he found.
        notes: how he looked, a sentence each.
        settled: functions of which he saw what every thread does to tensor memory, so that no doubt of it is left.
        launches: the launches with which kernels were executed.
    """

    scopes: tuple[Scope, ...]
    undecided: tuple[Undecided, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    settled: frozenset[str] = frozenset()
    launches: tuple[ExecutedLaunch, ...] = ()


@frozen
class Verdict:
    """What a check says of one property of a kernel.

    Args:
        property: one of ``PROPERTIES``.
        verdict: ``clean``, ``wrong``, ``incomplete`` or ``absent``.
        number: how many things of it the kernel has.
        unit: what is counted, one of them.
        looked_at: how many of them were looked at.
        errors: findings of level error.
        remarks: the other findings.
        undecided: how many things were not decided.
        left_out: findings that comments or the question leave out.
        known: findings that are known and accepted.
    """

    property: str
    verdict: str
    number: int
    unit: str
    looked_at: int
    errors: int = 0
    remarks: int = 0
    undecided: int = 0
    left_out: int = 0
    known: int = 0


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
        scopes: how much there is of each property, and was looked at.
        undecided: what was not decided, in the order of the text.
        hidden: findings that comments or the question leave out.
        known: findings that a baseline has.
        accepted: those of what was not decided that a baseline has.
        notes: how it was looked at: with how many threads and what parameters a kernel was run.
        launches: the launches with which kernels were executed.
    """

    target: str
    functions: tuple[str, ...]
    multiplications: int
    words: int
    resolved: int
    unresolved: tuple[tuple[int, str], ...]
    findings: tuple[Finding, ...]
    scopes: tuple[Scope, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    hidden: tuple[Finding, ...] = ()
    known: tuple[Finding, ...] = ()
    accepted: tuple[Undecided, ...] = ()
    notes: tuple[str, ...] = ()
    launches: tuple[ExecutedLaunch, ...] = ()

    @property
    def left_out(self) -> int:
        """How many findings comments or the question leave out."""
        return len(self.hidden)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings of level error."""
        return tuple(one for one in self.findings if one.rule.level is Level.ERROR)

    @property
    def properties(self) -> tuple[Verdict, ...]:
        """The verdict of each property."""
        return tuple([self._verdict(name) for name in PROPERTIES])

    def _verdict(self, name: str) -> Verdict:
        scope = next((one for one in self.scopes if one.property == name), Scope(name, 0, "instruction"))
        told, hidden, known = (
            [one for one in row if one.rule.property == name] for row in (self.findings, self.hidden, self.known)
        )
        errors = sum(one.rule.level is Level.ERROR for one in told)
        left = sum(one.property == name for one in self.undecided)
        verdict = "clean" if scope.number else "absent"
        if errors:
            verdict = "wrong"
        elif left or scope.looked_at < scope.number:
            verdict = "incomplete"
        return Verdict(
            name, verdict, scope.number, scope.unit, scope.looked_at, errors=errors, remarks=len(told) - errors,
            undecided=left, left_out=len(hidden), known=len(known),
        )  # fmt: skip

    @property
    def verdict(self) -> str:
        """``errors``, ``incomplete`` or ``clean``; what has nothing to look at is not clean."""
        if self.errors:
            return "errors"
        held = {one.verdict for one in self.properties}
        return "clean" if "clean" in held and "incomplete" not in held else "incomplete"


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


_PASSING = re.compile(r"\blines? \d+(?:\.\.\d+)?|%\w*?\d+\b")


def alike(one: Finding) -> tuple[str, ...]:
    """What a finding says, without what a change elsewhere in the text moves: lines, and the numbers of registers.

    >>> first, second = (finding(n, "form-shape", f"found %r{n} of line {n}", "wgmma.fence") for n in (7, 12))
    >>> alike(first) == alike(second), alike(first)
    (True, ('form-shape', '', 'wgmma.fence', 'found * of *'))
    """
    return one.rule.name, one.function, one.instruction, lasting(one.found)


def lasting(text: str) -> str:
    """A text without lines and numbers of registers."""
    return _PASSING.sub("*", text)


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
        DescriptorError: if a comment names no rule, or one that there is not, or has no code after it.
    """
    found: dict[int, frozenset[str]] = {}
    if "descriptors:" not in text:
        return found
    waiting, last = frozenset[str](), 0
    code = _BLOCK_COMMENT.sub(lambda one: "\n" * one[0].count("\n"), text).split("\n")
    for line, written in enumerate(text.split("\n"), 1):
        if comment := _COMMENT.search(written):
            names = rule_names(comment[1].replace(",", " ").split(), f"the comment in line {line}")
            if not names:
                raise DescriptorError(f"check: a comment must name the rules to ignore, found none; line {line}")
            waiting |= names
        if waiting and code[line - 1].partition("//")[0].strip():
            found[line], waiting = waiting, frozenset()
        elif waiting and comment:
            last = line
    if waiting:
        raise DescriptorError(
            f"check: a comment that ignores rules must be about a line of code, found none; line {last}"
        )
    return found


def without_ignored(report: Report, text: str) -> Report:
    """A report less what comments in its text leave out."""
    meant = ignored(text)
    if not meant:
        return report
    return _those(report, lambda one: one.rule.name not in meant.get(one.line, ()))


def _those(report: Report, kept: Callable[[Finding], bool]) -> Report:
    """A report with some of its findings, and the others among those that are left out."""
    told = tuple([one for one in report.findings if kept(one)])
    left = tuple([one for one in report.findings if not kept(one)])
    return replace(report, findings=told, hidden=report.hidden + left)


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
    >>> chosen(made, without={"form-target"}).left_out
    1
    """

    def kept(one: Finding) -> bool:
        name, level = one.rule.name, one.rule.level
        return (not levels or level in levels) and (not rules or name in rules) and name not in without

    return _those(report, kept)
