"""The judge judged: it stands apart from the package, it says where an answer breaks first, and spoilt answers fail."""

from __future__ import annotations

import ast
import sys

import pytest
from dsl import answer_of, satisfies, value
from each import each
from oracle_cases import cases
from ours import ours
from places import ROOT
from postconditions import OPERATIONS, REFUSED, broken, fault
from rooms import imports, modules, room

from layoutalg.oracle.service import Affine, Composed

FOLDER = ROOT / "tests" / "judge"

#: The judge, lowest first; each module imports from those before it and from the laws, which call nothing they judge.
JUDGE = "notation judge exact texts house postconditions".split()
#: What draws cases, asks the package or the oracle, and compares.
AROUND = """
    acts assembler bounds browsers cases collisions compiled coq corpus deck demonstrations derived documented drawn
    drawn_operands dsl each emitted errata_evidence event_programs f2 folding gemm_plans kernel_changes kernel_kinds
    kernels lesson_pages oracle_cases ours page_links paper_pages places printed programs ptx_interpreter ptx_programs
    read_arrays records refusals ring_kernels rooms seeds small_kernels spoilt strategies tmem_maps toy_gpu working
""".split()


def imported(module: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse((FOLDER / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("module", JUDGE)
def test_the_judge_imports_nothing_of_what_it_judges(module):
    lower = JUDGE[: JUDGE.index(module)]
    taken = {name for name in imported(module) if name.split(".")[0] not in sys.stdlib_module_names}
    assert {name for name in taken if not name.startswith("layoutalg.laws.")} <= set(lower)


def test_the_laws_share_no_algorithm_with_what_they_judge():
    """The door reads notation and knows a layout when it is given one; what decides imports laws alone."""
    door = {"layoutalg.errors", "layoutalg.notation.expression", "layoutalg.tuples.leaf"}
    door |= {f"layoutalg.layouts.{name}" for name in ("composed", "layout", "modes")}
    for name in (name for name in modules() if room(name) == "layoutalg.laws"):
        taken = {source for source, _ in imports(name) if source.startswith("layoutalg")}
        others = {source for source in taken if not source.startswith(("layoutalg.laws.", "layoutalg.frozen"))}
        assert others == (door if name == "layoutalg.laws.law" else set())


def test_the_comparison_reads_the_dsls_text_and_asks_nobody():
    ours_too = {name for name in imported("dsl") if name.startswith(("layoutalg", "descriptors"))}
    assert ours_too == {"layoutalg.laws.points", "layoutalg.oracle.expressions", "layoutalg.oracle.service"}


def test_every_module_is_known():
    files = {path.stem: path for path in FOLDER.glob("*.py")}
    assert sorted(files) == sorted([*JUDGE, *AROUND])


SENTENCES = [
    ("composition", ("(6,2):(8,2)", "(4,3):(3,1)"), "((2,2),3):((24,2),2)", "is 2 at index 4, must be 8"),
    ("composition", ("(6,2):(8,2)", "(4,3):(3,1)"), "(2,2,3):(24,2,8)", "does not refine (4,3), found (2,2,3)"),
    ("composition", ("(6,2):(1,7)", "(3,2):(2,3)"), "(3,2):(2,3)", "found (3,2):(2,3), but there is no answer"),
    ("logical_divide", ("12:1", 4), "(4,(3)):(1,(4))", "the form is (4,3):(1,4)"),
    ("logical_divide", ("(8,8):(8,1)", "4:2"), "(4,(2,8)):(16,(8,2))", "is 2 at index 8, must be 1"),
    ("complement", ("4:2", 24), "(2,2):(1,8)", "reaches 4 x 4 = 16 offsets, must reach 24"),
    ("complement", ("4:2", 24), "6:1", "reaches offset 2 twice: by (a 0, yours 2) and by (a 1, yours 0)"),
    ("complement", ("4:2", 24), "(2,3):(1,16)", "has no copy at offset 8"),
    ("complement", ("4:2", 24), "((2,3)):((1,8))", "the form is (2,3):(1,8)"),
    ("right_inverse", ("(2,3):(3,1)",), "3:2", "has 3 elements, the longest run has 6"),
    ("left_inverse", ("(4,8):(1,5)",), "4:1", "is 5 at offset 5, must be 4"),
    ("upcast", ("8:1", 2), "4:2", "puts element 2 into unit 2, must be 1"),
    ("downcast", ("8:1", 2), "15:1", "has extents [15], where only the contiguous mode of [8] grows, by 2"),
    ("recast_layout", (8, 6, "8:1"), "8:1", "has extents [8], must have [6]"),
    ("slice_and_offset", ((None, 1), "(4,2):(1,4)"), "(4):(1) + 5", "is 5 at index 0, must be 4"),
    ("slice_and_offset", ((None, 1), "(4,2):(1,4)"), "((2,2)):((1,2)) + 4", "has a shape that does not refine"),
    ("local_tile", ("S<2,2,4> o 0 o (8):(1)", (8,), (0,)), "((2,4)):((1,2)) + 0", "into parts that could be one"),
    ("size", ("(4,2):(1,4)",), "9", "found 9, must be 8"),
    ("get", ("(4,2):(1,4)", 1), "4:1", "found 4:1, must be 2:4"),
    ("is_congruent", ((4, 2), (4, (2,))), "True", "found True, must be False"),
    ("max_common_vector", ("12:1", "12:1"), "6", "is 6, the widest is 12"),
    ("coalesce", ("(2,4):(1,2)",), "(2,4):(1,2)", "has modes that could be one"),
    ("blocked_product", ("2:1", "4:1"), "((2,4)):((1,3))", "is 3 at index 2, must be 2"),
    ("complement", ("4:2", 24), "(0,3):(1,8)", "has an extent of 0"),
]


@each(("operation", "arguments", "answer", "sentence"), SENTENCES)
def test_a_fault_names_the_first_index_where_an_answer_breaks(operation, arguments, answer, sentence):
    assert sentence in fault(operation, value(arguments), answer_of(answer))


REFUSALS = [
    ("composition", ("(6,2):(1,7)", "(3,2):(2,3)"), False),
    ("composition", ("(5,3):(7,1)", "2:3"), True),
    ("left_inverse", ("(2,4):(0,1)",), True),
    ("left_inverse", ("(2,4):(2,1)",), False),
    ("left_inverse", ("(2,4):(0,1)", True), False),
    ("left_inverse", ("(4,8):(1,5)",), True),
    ("upcast", ("8:3", 2), False),
    ("downcast", ("8:3", 2), True),
    ("zipped_divide", ("(8,8):(8,1)", (None, 4)), False),
    ("logical_divide", ("(8,8):(8,1)", (None, 4)), True),
    ("tile_to_shape", ("(8,8):(8,1)", (20, 16)), False),
    ("slice_and_offset", ((None, 8), "(8,8):(8,1)"), False),
    ("local_tile", ("(8,8):(8,1)", (4, 4), (2, None)), False),
    ("local_tile", ("(8,8):(8,1)", (4, 4), (1, None)), True),
    ("local_partition", ("(8,8):(8,1)", "(2,2):(1,1)", 1), False),
    ("group_modes", ("(8,8):(8,1)", 1, 3), False),
    ("get", ("(8,8):(8,1)", 2), False),
    ("size", ("(8,8):(8,1)",), True),
]


@each(("operation", "arguments", "possible"), REFUSALS)
def test_a_refusal_is_a_fault_where_there_is_an_answer(operation, arguments, possible):
    assert bool(fault(operation, value(arguments), REFUSED)) is possible


def test_the_definition_leaves_the_form_free_and_the_house_does_not():
    arguments = value(("4:2", 24))
    assert satisfies("complement", ("4:2", 24), "(2,(3)):(1,(8))")
    assert satisfies("complement", ("4:2", 24), "(3,2):(8,1)")
    assert broken("complement", arguments, answer_of("(2,(3)):(1,(8))")) is None
    assert fault("complement", arguments, answer_of("(2,(3)):(1,(8))"))


def moved(layout):
    """A layout whose first leaf that moves anything moves it one further; None where no leaf does."""
    if isinstance(layout, Composed):
        inner = moved(layout.inner)
        return inner and Composed(layout.outer, layout.offset, inner)
    done = []

    def change(shape, stride):
        if isinstance(shape, tuple):
            return tuple(map(change, shape, stride))
        if done or shape == 1 or not isinstance(stride, int):
            return stride
        done.append(stride)
        return stride + 1

    stride = change(layout.shape, layout.stride)
    return Affine(layout.shape, stride) if done else None


def test_an_answer_with_one_stride_changed_is_never_right():
    changed = 0
    for case in cases("strides", 1200):
        answer = ours(case)
        if answer.status != "ok" or ":" not in answer.text:
            continue
        right = answer_of(answer.text)
        apart = isinstance(right, tuple)
        layout = moved(right[0] if apart else right)
        if layout is None or case.operation in MOVABLE:
            continue
        wrong = (layout, right[1]) if apart else layout
        assert fault(case.operation, value(case.arguments), right) is None, case
        assert fault(case.operation, value(case.arguments), wrong), (case, wrong)
        changed += 1
    assert changed > 500


#: Operations whose definition does not fix the strides: common layouts and, of a repeated offset, which index is meant.
MOVABLE = ("right_inverse", "left_inverse", "max_common_layout", "nullspace")


def test_the_operations_are_those_of_the_algebra():
    assert len(OPERATIONS) == 61
