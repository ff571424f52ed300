"""What a guard decides: an instruction under one is executed or not, and its fellow under the same one with it."""

from __future__ import annotations

import pytest

from descriptors.check.inspection import check_ptx
from descriptors.check.paths import path_undecided
from descriptors.check.ptx.constant_folding import fold, observed
from descriptors.check.ptx.ptx_module import parse

HEAD = ".version 8.7\n.target sm_90a\n.entry k() {\n"
FENCE, COMMIT = "wgmma.fence.sync.aligned;", "wgmma.commit_group.sync.aligned;"
WAIT = "wgmma.wait_group.sync.aligned 0;"
MMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"
ADD = MMA.replace("y, 0,", "y, 1,")
READ = "st.global.f32 [q], a;"
ZERO = "mov.f32 a, 0f00000000; mov.f32 b, 0f00000000; mov.f32 c, 0f00000000; mov.f32 d, 0f00000000;"


def errors(*body: str) -> list[str]:
    return [one.rule.name for one in check_ptx(HEAD + "\n".join(body) + "\nret;\n}\n").errors]


def left_open(*body: str) -> list[str]:
    module = parse(HEAD + "\n".join(body) + "\nret;\n}\n")
    function = module.functions[0]
    values = fold(function, module.variables, observed(function))
    return [one[1] for one in path_undecided(function, values, module.variables)]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ((FENCE, MMA, COMMIT, "@p " + WAIT, READ), "wgmma-wait"),
        ((FENCE, MMA, "@p " + COMMIT, WAIT, READ), "wgmma-commit"),
        (("@p " + FENCE, MMA, COMMIT, WAIT, READ), "wgmma-fence"),
    ],
)
def test_an_instruction_under_a_guard_is_never_taken_as_done(body: tuple[str, ...], rule: str) -> None:
    assert errors(*body) == [rule]


def test_under_one_guard_all_is_done_or_nothing() -> None:
    guarded = [f"@p {one}" for one in (FENCE, MMA, COMMIT, WAIT)]
    assert errors(*guarded, READ) == []
    assert errors(*guarded[:3], "setp.eq.s32 p, n, 0;", guarded[3], READ) == ["wgmma-wait"]


@pytest.mark.parametrize(("test", "rules"), [("eq.u32", []), ("ge.s32", []), ("ne.b32", ["wgmma-wait"])])
def test_what_is_compared_with_itself_is_the_same(test: str, rules: list[str]) -> None:
    assert errors(FENCE, MMA, COMMIT, f"setp.{test} p, n, n;", "@p " + WAIT, READ) == rules


@pytest.mark.parametrize(("test", "rules"), [("eq.u32", []), ("ne.u32", ["wgmma-wait"])])
def test_a_predicate_that_is_written_again_is_what_it_was_where_it_is_read(test: str, rules: list[str]) -> None:
    compare, other = f"setp.{test} p, n, n;", "setp.lt.u32 p, n, 7;"
    assert errors(FENCE, MMA, COMMIT, compare, "@p " + WAIT, READ, other) == rules
    assert errors(other, FENCE, MMA, COMMIT, compare, "@q bra L;", "L:", "@p " + WAIT, READ, other) == rules
    # Behind a branch it may be either.
    assert errors(FENCE, MMA, COMMIT, compare, "@q bra L;", other, "L:", "@p " + WAIT, READ) == ["wgmma-wait"]
    # A loop comes back with the other.
    assert errors(compare, "L:", FENCE, MMA, COMMIT, "@p " + WAIT, READ, other, "@p bra L;") == ["wgmma-wait"]


def test_a_branch_and_a_guard_on_one_condition_belong_together() -> None:
    body = ["@!p bra L;", FENCE, MMA, COMMIT, "L:", "@p " + WAIT, READ]
    assert errors(*body) == []
    assert errors(*body[:-2], "@!p " + WAIT, READ) == ["wgmma-wait"]


def test_an_accumulator_that_only_its_own_additions_write_was_never_written() -> None:
    loop = ["L:", FENCE, ADD, COMMIT, WAIT, "@p bra L;", READ]
    assert errors(*loop) == ["wgmma-start"]
    assert errors(ZERO, *loop) == [] == left_open(ZERO, *loop)
    flying = ["L:", FENCE, ADD, COMMIT, WAIT.replace(" 0", " 1"), "@p bra L;", WAIT, READ]
    assert errors(*flying) == ["wgmma-start"] and errors(ZERO, *flying) == []


def test_an_accumulator_that_one_way_alone_writes_is_left_open() -> None:
    body = ["@p bra L;", ZERO, "L:", FENCE, ADD, COMMIT, WAIT, READ]
    assert errors(*body) == [] and left_open(*body) == ["order"]
