"""Findings that are asked for, and those that a comment leaves out."""

from __future__ import annotations

import pytest

from descriptors.check.inspection import check_ptx
from descriptors.check.kernel_report import chosen, ignored
from descriptors.check.rules import Level
from descriptors.errors import DescriptorError

HEAD = ".version 8.7\n.target sm_90a\n.entry k() {\n"
MMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {a,b,c,d}, x, y, 0, 1, 1, 0, 0;"


def rules(*body: str) -> list[str]:
    return [one.rule.name for one in check_ptx(HEAD + "\n".join(body) + "\nret;\n}\n").findings]


def test_a_comment_leaves_out_its_rule_in_its_line_alone() -> None:
    assert rules(MMA, MMA) == ["wgmma-fence"]
    assert rules(f"{MMA} // descriptors: ignore wgmma-fence") == []
    assert rules(f"{MMA} // descriptors: ignore wgmma-wait") == ["wgmma-fence"]
    assert rules("// descriptors: ignore wgmma-fence", "", MMA) == []
    assert rules("// descriptors: ignore wgmma-fence", "// descriptors: ignore word-smem", "  // why", MMA) == []
    assert rules("ret; // descriptors: ignore wgmma-fence", "L:", "@p bra L;", "bra M;", "M:", MMA) == []
    assert rules("@p bra L; // descriptors: ignore wgmma-fence", "L:", MMA) == ["wgmma-fence"]


def test_a_comment_may_name_several_rules_and_what_it_leaves_out_is_counted() -> None:
    text = HEAD + f"{MMA} // descriptors: ignore wgmma-fence, word-smem wgmma-wait\nst.global.f32 [q], a;\nret;\n}}\n"
    found = check_ptx(text)
    assert found.left_out == 1 and [one.rule.name for one in found.errors] == ["wgmma-wait"]
    assert ignored(text) == {4: {"wgmma-fence", "word-smem", "wgmma-wait"}}


@pytest.mark.parametrize(
    ("comment", "told"),
    [
        ("// descriptors: ignore", "check: the comment in line 4 names no rule to ignore"),
        (
            "// descriptors: ignore wgmma-fnce",
            "'wgmma-fnce' is not a rule (did you mean wgmma-fence?); the comment in line 4",
        ),
        ("// descriptors: ignore everything", "'everything' is not a rule; the comment in line 4"),
        (
            "ret; }\n\n// descriptors: ignore word-smem\n//",
            "the comment in line 6 ignores rules, but no code follows it",
        ),
    ],
)
def test_a_comment_that_ignores_no_rule_is_refused(comment: str, told: str) -> None:
    with pytest.raises(DescriptorError) as error:
        check_ptx(f"{HEAD}{comment}" if "}" in comment else f"{HEAD}{comment}\n{MMA}\nret;\n}}\n")
    assert told in str(error.value)


def test_levels_and_rules_choose_and_what_is_left_out_is_counted() -> None:
    made = check_ptx(HEAD + f"wgmma.fence.sync.aligned;\n@p {MMA}\nmov.f32 z, a;\nst.global.f32 [q], a;\nret;\n}}\n")
    names = [one.rule.name for one in made.findings]
    assert names == ["wgmma-divergent", "wgmma-copied", "wgmma-wait"]
    for level, name in zip((Level.PERFORMANCE, Level.ASKS, Level.ERROR), names, strict=True):
        assert [one.rule.name for one in chosen(made, [level]).findings] == [name]
        assert [one.rule.name for one in chosen(made, rules=[name]).findings] == [name]
        assert name not in [one.rule.name for one in chosen(made, without=[name]).findings]
    assert chosen(made, rules=["wgmma-wait"], without=["wgmma-wait"]).left_out == 3
    assert chosen(made) == made


def test_a_comment_is_about_the_next_line_that_has_code() -> None:
    text = "// descriptors: ignore wgmma-fence\n/* a note\n   of two lines */\n  // another\nret;\n"
    assert ignored(text) == {5: {"wgmma-fence"}}
