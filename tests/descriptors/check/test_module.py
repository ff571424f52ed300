"""A module: functions, guards, variables, and names of nested blocks."""

from __future__ import annotations

import pytest

from descriptors.check.ptx.ptx_module import Function, directive, parse
from descriptors.check.ptx.ptx_operands import Address
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


def test_a_branch_goes_to_the_label_of_the_innermost_block_that_has_one() -> None:
    function = only("L: x; { L: { bra L; y; L: z; } } { bra L; }")
    targets = [function.labels[one.operands[0]] for one in function.code if one.opcode == "bra"]
    assert targets == [3, 0]


def test_a_table_of_labels_may_stand_in_a_block_of_its_own() -> None:
    function = only("A: x; { T: .branchtargets A, B; brx.idx i, T; y; B: z; }")
    (branch,) = (one for one in function.code if one.opcode == "brx.idx")
    assert [function.labels[label] for label in function.tables[str(branch.operands[1])]] == [0, 3]


def test_a_family_of_a_block_has_its_own_registers_and_no_more() -> None:
    first, second, third = only("{ .reg .b64 %rd<4>; mov.b64 %rd3, 0; mov.b64 %rd4, %rd40; } mov.b64 %rd3, 1;").code[:3]
    assert first.operands[0] != third.operands[0]
    assert (second.operands, third.operands[0]) == (("%rd4", "%rd40"), "%rd3")


def test_a_block_hides_a_name_from_where_it_is_declared() -> None:
    before, after = only("{ mov.b32 a, b; .reg .b32 a, b; mov.b32 a, [b+4]; }").code[:2]
    assert before.operands == ("a", "b")
    assert after.operands == ("a#2", Address("b#2", 4))


def test_what_a_call_names_is_of_its_block_as_well() -> None:
    (call, *_) = only("{ .reg .b64 r; call.uni (r), f, (r, s); }").code
    assert [str(one.text) for one in call.operands if not isinstance(one, str)] == ["(r#2)", "(r#2, s)"]


def test_registers_have_the_class_that_they_are_declared_with() -> None:
    body = ".reg .b32 %r<3>, a; .reg .pred p, q<2>;.reg.f32 f;{ .reg .b16 a; .reg .f64 %r<2>; x a, %r1, %r2; }"
    function = only(body)
    classes, named = function.classes, function.code[0].operands
    assert [classes.get(name) for name in ("%r0", "%r2", "%r3", "a", "p", "q1", "q", "f")] == [
        "b32", "b32", None, "b32", "pred", "pred", None, "f32",
    ]  # fmt: skip
    assert [classes.get(str(name)) for name in named] == ["b16", "f64", "b32"]


def test_registers_of_the_head_of_a_function_have_classes() -> None:
    (function,) = parse(HEAD + ".func (.reg .f32 r) helper(.reg .b64 x) { ret; }\n").functions
    assert dict(function.classes) == {"r": "f32", "x": "b64"}


def test_a_family_may_be_larger_than_any_memory() -> None:
    classes = only(".reg .b32 %r<999999999>;").classes
    assert len(classes) == 999999999 and classes["%r123456789"] == "b32"


def test_directives_of_the_head_have_numbers() -> None:
    head = ".entry k(.param .u64 p)\n.reqntid 0x80 , 2\n.reqnctapercluster 2,1,1 .minnctapersm 1"
    assert [directive(head, name) for name in ("reqntid", "maxntid", "reqnctapercluster")] == [(128, 2), (), (2, 1, 1)]


@pytest.mark.parametrize("number", ["9" * 10_000, "0x" + "f" * 10_000, "0" + "7" * 10_000])
@pytest.mark.parametrize("body", ["mov.b64 a, {};", "ld.b32 a, [b+{}];", "wgmma.wait_group.sync.aligned {};"])
def test_a_number_that_no_machine_has_is_refused_with_its_line(body: str, number: str) -> None:
    with pytest.raises(DescriptorError, match=r"has more than 1024 digits; line 6"):
        only(body.format(number))


@pytest.mark.parametrize("text", [".shared .align {0} .b8 x[4];", ".reg .b32 r<{0}>;"])
def test_directives_with_such_numbers_are_read(text: str) -> None:
    module = parse(f".version 8.8\n.target sm_{'9' * 5000}\n.entry k() {{ {text.format('9' * 5000)} }}")
    assert module.arch == "" and len(module.functions) == 1


def test_a_variable_of_a_block_is_its_own() -> None:
    function = only("{ .shared .align 16 .b8 x[16]; mov.b32 a, x; } { .shared .align 4 .b8 x[16]; mov.b32 a, x; }")
    assert function.variables == {"x#2": 16, "x#3": 4}
    assert [one.operands[1] for one in function.code[:2]] == ["x#2", "x#3"]


def test_devices_functions_and_declarations() -> None:
    text = HEAD + ".extern .func vprintf(.param .b64 a);\n.func (.reg .f32 r) helper(.reg .f32 x) { ret; }\n"
    assert [(one.name, one.entry) for one in parse(text).functions] == [("helper", False)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "begins with '', not with .version"),
        ("hello world;", "begins with 'hello world' and has no .version directive"),
        ("L:", "the label 'L' is outside of a function"),
        (".version 8.8\n{ }", "a block is outside of a function"),
        (".entry k() { }", "begins with .*, not with .version"),
        (".version 8.8\nhello world;", "the instruction 'hello world' is outside of a function"),
        ("\x00\x01\x02;", "has no .version directive"),
        ("# title\n\ntext;", "begins with '# title' and has no .version directive; line 1"),
    ],
)
def test_what_is_no_ptx_is_refused(text: str, told: str) -> None:
    with pytest.raises(DescriptorError, match=told):
        parse(text)


@pytest.mark.parametrize(("declared", "names"), [
    (".shared .b32 x<3>;", ["x0", "x1", "x2"]),
    (".shared .align 16 .v4 .b32 x<2>, y[4];", ["x0", "x1", "y"]),
    (".global .align 1 .b8 text[3] = {97, 98, 0};", ["text"]),
    (".const .b32 table<2>;", ["table0", "table1"]),
])  # fmt: skip
def test_each_variable_of_a_declaration_is_known(declared: str, names: list[str]) -> None:
    module = parse(HEAD + declared)
    assert list(module.variables) == ["smem", *names]
    assert list(only(declared).variables) == names


def test_a_parameterized_variable_in_a_nested_block_is_its_own() -> None:
    block = "{ .shared .b64 bar<2>; mbarrier.init.shared.b64 [bar1], 1; }\n"
    function = only(block + block)
    first, second, _ = function.code
    assert first.operands[0] != second.operands[0]
    assert len(function.variables) == 4


def test_a_declaration_of_too_many_variables_is_refused() -> None:
    with pytest.raises(DescriptorError, match="declares more than 65536 variables"):
        parse(HEAD + ".shared .b8 x<999999999>;")
