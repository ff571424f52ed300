"""What a fuzzer is, what it finds, and which findings are known.

A fuzzer draws cases and checks them. A case is JSON: a line of Python, or a list of arguments; it holds all that is
needed to see the finding again, so that a known one is a case with the pattern of what is told about it.
Law: case n of a seed is the same in every run, whatever else the run does.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

KNOWN = Path(__file__).with_name("known.json")


class Fuzzer(Protocol):
    """A module that draws cases, checks one, and writes it as a line that can be pasted."""

    NAME: str

    def draw(self, rng: random.Random) -> Any: ...

    def check(self, case: Any, seconds: int = 5) -> str | None: ...

    def line(self, case: Any) -> str: ...


@dataclass(frozen=True, slots=True)
class Failure:
    """A case that is not as it must be.

    Args:
        fuzzer: which one found it.
        case: the case.
        found: what was found, in one line.
        line: how to see it again.
        known: why it is known; "" if it is new.
    """

    fuzzer: str
    case: Any
    found: str
    line: str
    known: str = ""

    def __str__(self) -> str:
        return f"{self.fuzzer}: {'known: ' if self.known else ''}{self.found[:300]} | {self.line}"

    def record(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Known:
    """A finding that is not mended yet.

    Args:
        fuzzer: which one finds it.
        pattern: a regular expression that what is found, followed by " | " and its line, matches.
        why: what is wrong, in a few words.
        case: a case that shows it.
    """

    fuzzer: str
    pattern: str
    why: str
    case: Any

    def explains(self, finding: Failure) -> bool:
        text = f"{finding.found} | {finding.line}"
        return self.fuzzer == finding.fuzzer and re.search(self.pattern, text) is not None

    def reproduced(self, fuzzer: Fuzzer) -> bool:
        """Whether the case still shows it. What takes too long takes more than a second."""
        finding = examine(fuzzer, self.case, seconds=1)
        return finding is not None and self.explains(finding)


def known_findings(path: Path = KNOWN) -> list[Known]:
    return [Known(**row) for row in json.loads(path.read_text(encoding="utf-8"))]


def examine(fuzzer: Fuzzer, case: Any, seconds: int = 5) -> Failure | None:
    """The finding that a case is, if it is one."""
    complaint = fuzzer.check(case, seconds)
    return None if complaint is None else Failure(fuzzer.NAME, case, " ".join(complaint.split()), fuzzer.line(case))


def attack(
    fuzzer: Fuzzer, seed: int, cases: int | None, minutes: float | None, known: list[Known]
) -> Iterator[Failure | None]:
    """One value a case: a finding, or None. Without a number of cases or minutes it ends after 1,000 cases."""
    end = None if minutes is None else time.monotonic() + 60 * minutes
    most = cases if cases is not None else None if minutes is not None else 1000
    number = 0
    while (most is None or number < most) and (end is None or time.monotonic() < end):
        case = fuzzer.draw(random.Random(f"{fuzzer.NAME}/{seed}/{number}"))
        finding = examine(fuzzer, case)
        if finding is not None:
            why = next((one.why for one in known if one.explains(finding)), "")
            finding = Failure(finding.fuzzer, case, finding.found, finding.line, why)
        yield finding
        number += 1
