r"""The report of a kernel check: findings, undecided items, and a verdict for each property of the kernel.

The verdict of a property is *clean* (all items were checked, and there is no error), *wrong* (it has an error),
*incomplete* (some items are undecided, and the report lists each) or *absent* (the kernel has nothing of this kind).
A property that was not checked is therefore never clean. Each part of the check returns a ``Judgement`` of the
properties that it decides.

A report can be restricted to levels and rules. A comment ``// descriptors: ignore RULE RULE`` removes the findings of
these rules from its own line, or, if it is alone on a line, from the next line with code. Removed findings are counted.
Source: the form of the comment is ours.

Invariant: the rule of a finding is a row of the table of rules.

>>> finding(7, "form-shape", "wgmma has no shape m64n7k16").rule in ALL_RULES.values()
True

Invariant: a property is clean only if all items were checked, no item is undecided, and there is no error.

>>> def verdict(number, looked_at, undecided=(), findings=()):
...     scopes = (Scope("forms", number, "instruction", looked_at),)
...     return Report("sm_90a", ("k",), 1, 0, 0, (), findings, scopes, undecided).properties[0].verdict
>>> wrong, open_ = (finding(3, "form-shape", "N is 7"),), (Undecided("forms", 3, "n", "a register"),)
>>> verdict(0, 0), verdict(2, 2), verdict(2, 1), verdict(2, 2, open_), verdict(2, 2, (), wrong)
('absent', 'clean', 'incomplete', 'incomplete', 'wrong')

Invariant: a comment removes the findings of its rules from one line, and nothing else.

>>> text = "a; // descriptors: ignore wgmma-wait\n// descriptors: ignore word-smem wgmma-call\n\nb;"
>>> {line: sorted(rules) for line, rules in ignored(text).items()}
{1: ['wgmma-wait'], 4: ['wgmma-call', 'word-smem']}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches

from descriptors.check.rules import ALL_RULES, PROPERTIES, Broken, Level, Rule
from descriptors.errors import DescriptorError, brief
from descriptors.text import Told
from layoutalg.frozen import frozen, replace


@frozen
class Moment:
    """The moment of an execution at which a rule is broken.

    Args:
        round: how many times the warp has reached the instruction, including this time; 0 if no warp is at it.
        rounds: how many times it reaches the instruction in the whole execution, if that was completed; else 0.
        other_line: line of the other of two events, or of the last event at an mbarrier; 0 for none.
        other_round: how many times its warp has reached the other event, including that time.
        parameters: the values of the scalar parameters as text; "" if the kernel reads none.
    """

    round: int
    rounds: int
    other_line: int
    other_round: int
    parameters: str

    @property
    def clause(self) -> str:
        """The moment as text; "" if every instruction is executed once.

        >>> Moment(5, 7, 30, 1, "k = 448").clause, Moment(1, 1, 0, 0, "k = 448").clause
        ('in a run with k = 448: this instruction in iteration 5 of 7, after line 30 in iteration 1', '')
        """
        if max(self.round, self.rounds, self.other_round) < 2:
            return ""
        run = f"in a run with {self.parameters}: " if self.parameters else ""
        own = (
            [f"this instruction in iteration {self.round}{f' of {self.rounds}' if self.rounds else ''}"]
            if self.round
            else []
        )
        other = [f"after line {self.other_line} in iteration {self.other_round}"] if self.other_round else []
        return run + ", ".join([*own, *other])


@frozen
class Finding:
    """A rule that an instruction breaks.

    Args:
        line: line of the instruction, from 1.
        rule: the rule.
        found: the detail: the fact, and a note after each "; ".
        instruction: the opcode.
        registers: the registers that the finding names, if any.
        function: the function that has the instruction.
        moment: the moment of the execution; None if the finding does not need an execution.
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
        """The detail up to the first note."""
        return self.found.partition("; ")[0]

    @property
    def notes(self) -> list[str]:
        """Details of the fact, and the moment of the run in which it is so.

        >>> replace(finding(7, "form-limit", "the limit is 24; m64n8k16 needs 30"), moment=Moment(2, 4, 0, 0, "")).notes
        ['m64n8k16 needs 30', 'this instruction in iteration 2 of 4']
        """
        clause = self.moment.clause if self.moment else ""
        return self.found.split("; ")[1:] + ([clause] if clause else [])

    @property
    def sentence(self) -> str:
        """The fact and its notes in one line."""
        return "; ".join([self.fact, *self.notes])


#: The reason why a property that no part of the check looks at is undecided, and its result.
NOT_LOOKED_AT = "not checked"

#: The words for a verdict in the text, where they are others.
_RESULTS = {"absent": "not used", "wrong": "errors"}


@frozen
class Undecided:
    """An item that a check could not decide.

    Args:
        property: the property that this item leaves incomplete, one of ``PROPERTIES``.
        line: its line, from 1.
        what: the operand, the value or the instructions.
        why: why it is not known, for example where the value comes from.
        decides: the information that would decide it; "" if there is none.
        function: the function that has the line.
    """

    property: str
    line: int
    what: str
    why: str
    decides: str = ""
    function: str = ""


@frozen
class Scope:
    """The number of items of one property in a kernel, and how many of them were checked.

    Args:
        property: one of ``PROPERTIES``.
        number: number of items.
        unit: name of one item, in the singular.
        looked_at: number of items that were checked.
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
        threads: threads of a CTA along x, y, z.
        cluster: CTAs of a cluster along x, y, z.
        parameters: the scalar parameters that the kernel read, with their values.
        completed: whether every warp reached its end.
        steps: number of executed instructions of warps.
    """

    function: str
    threads: tuple[int, int, int]
    cluster: tuple[int, int, int]
    parameters: tuple[tuple[str, int], ...]
    completed: bool
    steps: int


@frozen
class Judgement:
    """The result of one part of the check for the properties that it decides.

    Args:
        scopes: one for each property.
        undecided: the items that it could not decide.
        findings: the findings.
        notes: how it checked, one sentence each.
        settled: functions whose accesses of tensor memory it saw for every thread, so that doubts of the path analysis
            are resolved.
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
    """The verdict for one property of a kernel.

    Args:
        property: one of ``PROPERTIES``.
        verdict: ``clean``, ``wrong``, ``incomplete`` or ``absent``.
        result: the word in the text: ``clean``, ``errors``, ``incomplete``, ``not checked`` or ``not used``.
        number: number of items of this property in the kernel.
        unit: name of one item, in the singular.
        looked_at: number of items that were checked.
        errors: number of findings of level error.
        remarks: number of other findings.
        undecided: number of undecided items.
        left_out: number of findings that comments or options removed.
        known: number of findings that are in the baseline.
    """

    property: str
    verdict: str
    result: str
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
    """The report of a check of a PTX text.

    Args:
        target: the ``.target``.
        functions: names of the functions with tensor-core instructions.
        multiplications: number of MMA instructions.
        words: number of descriptors that they use.
        resolved: number of descriptors that are constants, at least apart from the start address.
        unresolved: line and operand of each of the other descriptors.
        findings: the findings, by line.
        scopes: the number of items of each property, and how many of them were checked.
        undecided: the undecided items, by line.
        hidden: findings that comments or options removed.
        known: findings that are in the baseline.
        accepted: undecided items that are in the baseline.
        notes: how each kernel was executed: threads and parameters.
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
        """The number of findings that comments or options removed."""
        return len(self.hidden)

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings of level error."""
        return tuple(row for row in self.findings if row.rule.level is Level.ERROR)

    @property
    def properties(self) -> tuple[Verdict, ...]:
        """The verdict of each property."""
        return tuple([self._verdict(name) for name in PROPERTIES])

    def _verdict(self, name: str) -> Verdict:
        """Return the verdict of one property."""
        scope = next((row for row in self.scopes if row.property == name), Scope(name, 0, "instruction"))
        shown, hidden, known = (
            [finding for finding in row if finding.rule.property == name]
            for row in (self.findings, self.hidden, self.known)
        )
        errors = sum(finding.rule.level is Level.ERROR for finding in shown)
        open_items = [item for item in self.undecided if item.property == name]
        verdict = "clean" if scope.number else "absent"
        if errors:
            verdict = "wrong"
        elif open_items or scope.looked_at < scope.number:
            verdict = "incomplete"
        result = _RESULTS.get(verdict, verdict)
        if verdict == "incomplete" and not scope.looked_at and {item.why for item in open_items} == {NOT_LOOKED_AT}:
            result = NOT_LOOKED_AT
        return Verdict(
            name, verdict, result, scope.number, scope.unit, scope.looked_at, errors=errors,
            remarks=len(shown) - errors, undecided=len(open_items), left_out=len(hidden), known=len(known),
        )  # fmt: skip

    @property
    def verdict(self) -> str:
        """``wrong``, ``incomplete`` or ``clean``; a file with nothing to check is incomplete."""
        if self.errors:
            return "wrong"
        verdicts = {row.verdict for row in self.properties}
        return "clean" if "clean" in verdicts and "incomplete" not in verdicts else "incomplete"

    @property
    def result(self) -> str:
        """The word for the file: ``errors``, ``incomplete``, ``clean`` or ``not checked``.

        A file without tensor-core instructions and without anything to execute is not checked.
        """
        return _RESULTS.get(self.verdict, self.verdict) if self.functions or self.notes else NOT_LOOKED_AT


def finding(line: int, name: str, found: str, instruction: str = "") -> Finding:
    """Return a finding of the rule with this name."""
    return Finding(line, ALL_RULES[name], found, instruction)


def of_protocol(line: int, violation: Broken, instruction: str) -> Finding:
    """Return the finding of a rule of the protocol that an instruction breaks.

    >>> from descriptors.check.rules import broken
    >>> of_protocol(7, broken("wgmma-wait", "an accumulator is read without a wait_group"), "st.global.f32").line
    7
    """
    return Finding(line, violation.rule, violation.found, instruction, violation.registers)


_PASSING = re.compile(r"\blines? \d+(?:\.\.\d+)?|%\w*?\d+\b")


def alike(finding: Finding) -> tuple[str, ...]:
    """Return the content of a finding without line numbers and register names, which change if other code changes.

    >>> first, second = (finding(n, "form-shape", f"%r{n} of line {n} is 7", "wgmma.fence") for n in (7, 12))
    >>> alike(first) == alike(second), alike(first)
    (True, ('form-shape', '', 'wgmma.fence', '* of * is 7'))
    """
    return finding.rule.name, finding.function, finding.instruction, lasting(finding.found)


def lasting(text: str) -> str:
    """Return a text with ``*`` in place of line numbers and register names."""
    return _PASSING.sub("*", text)


_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_COMMENT = re.compile(r"//[ \t]*descriptors:[ \t]*ignore\b([^\n]*)")


def rule_names(names: Iterable[str], source: str) -> frozenset[str]:
    """Return a set of names of rules.

    Args:
        names: the names.
        source: the option or comment that has them, for the message; "" if the user sees it.

    Raises:
        DescriptorError: if there is no rule with one of the names.

    >>> rule_names(["wait"], "--rule")
    Traceback (most recent call last):
    descriptors.errors.DescriptorError: check: 'wait' is not a rule; --rule; descriptors check --rules lists the rules
    """
    known_names = frozenset(names)
    for name in sorted(known_names - ALL_RULES.keys()):
        near = get_close_matches(name, ALL_RULES, 1)
        close = f" (did you mean {near[0]}?)" if near else ""
        place = f"; {source}" if source else ""
        raise DescriptorError(
            f"check: {brief(name)} is not a rule{close}{place}; descriptors check --rules lists the rules"
        )
    return known_names


def ignored(text: str) -> Mapping[int, frozenset[str]]:
    """Return the rules that comments ignore, by the line to which the comment applies.

    Raises:
        DescriptorError: if a comment names no rule or an unknown one, or no code follows it.
    """
    rules_by_line: dict[int, frozenset[str]] = {}
    if "descriptors:" not in text:
        return rules_by_line
    waiting, last = frozenset[str](), 0
    code = _BLOCK_COMMENT.sub(lambda comment_match: "\n" * comment_match[0].count("\n"), text).split("\n")
    for line, source_line in enumerate(text.split("\n"), 1):
        if comment := _COMMENT.search(source_line):
            names = rule_names(comment[1].replace(",", " ").split(), f"the comment in line {line}")
            if not names:
                raise DescriptorError(f"check: the comment in line {line} names no rule to ignore")
            waiting |= names
        if waiting and code[line - 1].partition("//")[0].strip():
            rules_by_line[line], waiting = waiting, frozenset()
        elif waiting and comment:
            last = line
    if waiting:
        raise DescriptorError(f"check: the comment in line {last} ignores rules, but no code follows it")
    return rules_by_line


def without_ignored(report: Report, text: str) -> Report:
    """Return the report without the findings that comments in the text ignore."""
    rules_by_line = ignored(text)
    if not rules_by_line:
        return report
    return _keep_findings(report, lambda finding: finding.rule.name not in rules_by_line.get(finding.line, ()))


def _keep_findings(report: Report, keeps: Callable[[Finding], bool]) -> Report:
    """Return the report with the findings that a predicate accepts; the others become hidden."""
    shown = tuple([finding for finding in report.findings if keeps(finding)])
    hidden = tuple([finding for finding in report.findings if not keeps(finding)])
    return replace(report, findings=shown, hidden=report.hidden + hidden)


def chosen(
    report: Report, levels: Collection[Level] = (), rules: Collection[str] = (), without: Collection[str] = ()
) -> Report:
    """Return the report with the findings of some levels and rules.

    Args:
        report: the report.
        levels: the levels to keep; all if there are none.
        rules: the rules to keep, by name; all if there are none.
        without: names of the rules to leave out.

    >>> report = Report("sm_80", (), 0, 0, 0, (), (finding(3, "form-target", "sm_80 has no wgmma instructions"),))
    >>> [len(chosen(report, levels).findings) for levels in ((), (Level.ERROR,), (Level.ASKS,))]
    [1, 1, 0]
    >>> chosen(report, without={"form-target"}).left_out
    1
    """

    def is_chosen(finding: Finding) -> bool:
        name, level = finding.rule.name, finding.rule.level
        return (not levels or level in levels) and (not rules or name in rules) and name not in without

    return _keep_findings(report, is_chosen)
