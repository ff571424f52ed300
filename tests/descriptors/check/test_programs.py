"""The order of tcgen05 against a judge that runs small programs: clean means no run is wrong, an error that one is."""

from __future__ import annotations

import pytest
from event_programs import Line, as_ptx, programs, wrong_loads
from seeds import seeds_of

from descriptors.check.paths import path_findings
from descriptors.check.ptx.constant_folding import fold, observed
from descriptors.check.ptx.ptx_module import parse
from descriptors.check.rules import Broken

ORDER = ("tcgen05-commit", "tcgen05-wait")


def verdicts(lines: list[Line]) -> tuple[set[int], set[int]]:
    """Lines whose load is told as an error, and those whose load is left open."""
    module = parse(as_ptx(lines))
    function = module.functions[0]
    values = fold(function, module.variables, observed(function))
    wrong: set[int] = set()
    left: set[int] = set()
    for index, one in path_findings(function, values, module.variables):
        made = function.code[index]
        if made.opcode.startswith("tcgen05.ld"):
            line = int(str(made.operands[0].items[0])[1:])  # type: ignore[union-attr]
            if isinstance(one, Broken):
                wrong.update({line} if one.rule.name in ORDER else ())
            elif one.property == "order":
                left.add(line)
    return wrong, left


@pytest.mark.parametrize("seed", seeds_of("test_clean_is_right_in_every_run_and_an_error_is_wrong_in_one"))
def test_clean_is_right_in_every_run_and_an_error_is_wrong_in_one(seed: int) -> None:
    decided = 0
    for lines in programs(seed, 60):
        early, come = wrong_loads(lines)
        wrong, left = verdicts(lines)
        assert not (wrong & come) - early, (lines, wrong - early)
        assert early <= wrong | left, (lines, early - wrong - left)
        decided += len(wrong & early) + len(come - early - left)
    assert decided > 30
