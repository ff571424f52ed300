"""A module: functions, guards, variables, and names of nested blocks."""

from __future__ import annotations

import pytest

from descriptors.check.ptx_module import Function, parse
from descriptors.check.ptx_operands import Address
from descriptors.errors import DescriptorError

HEAD = ".version 8.8\n.target sm_100a, debug\n.address_size 64\n.extern .shared .align 1024 .b8 smem[];\n"
WAIT = "{ .reg .pred done; again: mbarrier.try_wait.b64 done, [m], p; @!done bra again; }\n"
SKIP = "{ @p bra over; add.s32 x, x, 1; over: }\n"


def only(body: str) -> Function:
    (function,) = parse(f"{HEAD}.visible .entry k(.param .u64 p) .reqntid 32 {{\n{body}\nret;\n}}").functions
    return function


def test_the_head_of_a_module() -> None:
    module = parse(HEAD)
    assert (module.version, module.target, module.arch, module.variables) == ("8.8", "sm_100a", "sm100", {"smem": 1024})


@pytest.mark.parametrize(("target", "arch"), [("sm_90a", "sm90"), ("sm_103f", "sm100"), ("sm_120a", ""), ("sm_80", "")])
def test_a_target_is_of_an_architecture(target: str, arch: str) -> None:
    assert parse(f".version 8.8\n.target {target}\n").arch == arch


def test_guards_are_read_apart() -> None:
    one, two, _ = only("@%p1 add.s32 a, b, c;\n@!%p2 mov.b32 a, [x];").code
    assert (one.predicate, one.negated, one.opcode, one.line) == ("%p1", False, "add.s32", 6)
    assert (two.predicate, two.negated, two.operands[1]) == ("%p2", True, Address("x"))


def test_a_name_of_a_nested_block_is_its_own() -> None:
    function = only(WAIT + WAIT)
    first, _, second, _, _ = function.code
    assert first.operands[0] != second.operands[0]
    assert sorted(function.labels.values()) == [0, 2]


def test_a_branch_of_a_nested_block_may_go_forward() -> None:
    function = only(SKIP + SKIP)
    assert [function.labels[one.operands[0]] for one in function.code if one.opcode == "bra"] == [2, 4]


def test_devices_functions_and_declarations() -> None:
    text = HEAD + ".extern .func vprintf(.param .b64 a);\n.func (.reg .f32 r) helper(.reg .f32 x) { ret; }\n"
    assert [(one.name, one.entry) for one in parse(text).functions] == [("helper", False)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "must begin with .version"),
        ("hello world;", "an instruction must stand in a function"),
        ("L:", "a label must stand in a function"),
        (".version 8.8\n{ }", "a block must be that of a function"),
        (".entry k() { }", "must begin with .version"),
        ("\x00\x01\x02;", "an instruction must stand in a function"),
    ],
)
def test_what_is_no_ptx_is_refused(text: str, told: str) -> None:
    with pytest.raises(DescriptorError, match=told):
        parse(text)
